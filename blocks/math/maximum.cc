// Maximum and Minimum of two operands that are stretched over one another.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "T", "the common shape of x and y"};

/// NaN where either is NaN.
struct MaximumOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return a < b ? b : a;
    else return a >= b || a != a ? a : b;
  }
  template <class V>
  static V Of(V a, V b) { return (a >= b) | (a != a) ? a : b; }
};
struct MinimumOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return b < a ? b : a;
    else return a <= b || a != a ? a : b;
  }
  template <class V>
  static V Of(V a, V b) { return (a <= b) | (a != a) ? a : b; }
};

/// Where the comparison says that x was taken, ties included, its gradient is that of the result; elsewhere it goes to y.
Status ChoiceGradient(GradientBuilder& g, std::string_view takes_x) {
  const GradientValue grad = g.grad(z), zero = g.Scalar(grad, 0);
  const GradientValue takes = g.Add(takes_x, {{"x", {g.in(x)}}, {"y", {g.in(y)}}});
  if (g.wanted(x)) g.Set(x, SumLike(g, Chosen(g, takes, grad, zero), g.in(x)));
  if (g.wanted(y)) g.Set(y, SumLike(g, Chosen(g, takes, zero, grad), g.in(y)));
  return {};
}
Status MaximumGradient(GradientBuilder& g) { return ChoiceGradient(g, "GreaterEqual"); }
Status MinimumGradient(GradientBuilder& g) { return ChoiceGradient(g, "LessEqual"); }

}  // namespace

BlockDef Maximum() {
  return Block("Maximum", "The larger of x and y, element by element; NaN where either is NaN.")
      .Ports(x, y, z).Types("T", kReals).Elementwise().Gradient(MaximumGradient).Kernel(PlanBroadcast, RunBroadcast<MaximumOp>);
}

BlockDef Minimum() {
  return Block("Minimum", "The smaller of x and y, element by element; NaN where either is NaN.")
      .Ports(x, y, z).Types("T", kReals).Elementwise().Gradient(MinimumGradient).Kernel(PlanBroadcast, RunBroadcast<MinimumOp>);
}

}  // namespace weft::blocks
