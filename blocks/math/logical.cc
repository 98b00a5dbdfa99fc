// LogicalAnd, LogicalOr, LogicalNot.
#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "DT_BOOL", "any shape"};
constexpr In<1> y{"y", "DT_BOOL", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "DT_BOOL", "the common shape of x and y"};
constexpr Out<0> negation{"y", "DT_BOOL", "the shape of x"};

struct AndOp {
  bool operator()(bool a, bool b) const { return static_cast<bool>(a & b); }
};
struct OrOp {
  bool operator()(bool a, bool b) const { return static_cast<bool>(a | b); }
};
struct NotOp {
  bool operator()(bool a) const { return !a; }
};

template <class Op>
constexpr auto RunBooleans = [](const kernels::BroadcastLoops& loops, RunContext& ctx) { Broadcast<Op, bool>(loops, ctx); };
constexpr auto RunNot = [](const NoParameters& none, RunContext& ctx) { RunMap<NotOp>.template operator()<bool>(none, ctx); };

}  // namespace

BlockDef LogicalAnd() {
  return Block("LogicalAnd", "Whether x and y are both true, element by element.")
      .Ports(x, y, z).Elementwise().NotDifferentiable().Kernel(PlanBroadcast, RunBooleans<AndOp>);
}

BlockDef LogicalOr() {
  return Block("LogicalOr", "Whether x or y or both are true, element by element.")
      .Ports(x, y, z).Elementwise().NotDifferentiable().Kernel(PlanBroadcast, RunBooleans<OrOp>);
}

BlockDef LogicalNot() {
  return Block("LogicalNot", "Whether x is false, element by element.")
      .Ports(x, negation).Elementwise().NotDifferentiable().Kernel(PlanMap, RunNot);
}

}  // namespace weft::blocks
