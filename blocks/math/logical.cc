// LogicalAnd, LogicalOr, LogicalNot.
#include <functional>

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

constexpr auto RunNot = [](const NoParameters& none, RunContext& ctx) { RunMap<std::logical_not<>>.template operator()<bool>(none, ctx); };

template <class Op>
BlockDef OfBooleans(const char* name, const char* summary) {
  constexpr auto kRun = [](const kernels::BroadcastLoops& loops, RunContext& ctx) { Broadcast<Op, bool>(loops, ctx); };
  return Block(name, summary).Ports(x, y, z).Elementwise().NotDifferentiable().Kernel(PlanBroadcast, kRun);
}

}  // namespace

BlockDef LogicalAnd() { return OfBooleans<AndOp>("LogicalAnd", "Whether x and y are both true, element by element."); }
BlockDef LogicalOr() { return OfBooleans<OrOp>("LogicalOr", "Whether x or y or both are true, element by element."); }

BlockDef LogicalNot() {
  return Block("LogicalNot", "Whether x is false, element by element.")
      .Ports(x, negation).Elementwise().NotDifferentiable().Kernel(PlanMap, RunNot);
}

}  // namespace weft::blocks
