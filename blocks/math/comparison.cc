// Equal, Greater: comparisons of two operands that are stretched over one another.
#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "DT_BOOL", "the common shape of x and y"};

constexpr Attr<bool> incompatible_shape_error{"incompatible_shape_error", "true",
                                              "whether shapes that do not fit are an error; false: the result is then a single element"};

constexpr auto kComparable = kNumbers + kQuantized + TypeList<bool, std::string>{};

struct EqualOp {
  template <class T>
  bool operator()(const T& a, const T& b) const { return a == b; }
};
struct GreaterOp {
  template <class T>
  bool operator()(T a, T b) const { return a > b; }
};

struct Equality {
  kernels::BroadcastLoops loops;
  bool fits = true;
};

Result<Equality> PlanEquality(PlanContext& ctx) {
  if (!ctx.attr(incompatible_shape_error) && !BroadcastShape(ctx.shape(x), ctx.shape(y))) {
    ctx.set(z, Shape{});
    return Equality{{}, false};
  }
  WEFT_ASSIGN_OR_RETURN(auto loops, PlanBroadcast(ctx));
  return Equality{std::move(loops), true};
}

/// Tensors whose shapes do not fit are not equal.
constexpr auto RunEqual = []<class T>(const Equality& plan, RunContext& ctx) {
  if (plan.fits) Broadcast<EqualOp, T>(plan.loops, ctx);
  else ctx.out<bool>(z)[0] = false;
};

}  // namespace

BlockDef Equal() {
  return Block("Equal", "Whether x equals y, element by element; NaN equals nothing.")
      .Ports(x, y, z).Types("T", kComparable).Attrs(incompatible_shape_error).NotDifferentiable().Kernel(PlanEquality, RunEqual);
}

BlockDef Greater() {
  return Block("Greater", "Whether x is greater than y, element by element; false where either is NaN.")
      .Ports(x, y, z).Types("T", kReals).NotDifferentiable().Kernel(PlanBroadcast, RunBroadcast<GreaterOp>);
}

}  // namespace weft::blocks
