// Maximum and Minimum of two operands that are stretched over one another.
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;

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
template <class Op>
BlockDef Choice(const char* name, const char* summary, const char* takes_x) {
  const auto gradient = [takes_x](GradientBuilder& g) -> Status {
    const GradientValue grad = g.grad(z), zero = g.Scalar(grad, 0);
    const GradientValue takes = g.Add(takes_x, {{"x", {g.in(x)}}, {"y", {g.in(y_operand)}}});
    if (g.wanted(x)) g.Set(x, SumLike(g, Chosen(g, takes, grad, zero), g.in(x)));
    if (g.wanted(y_operand)) g.Set(y_operand, SumLike(g, Chosen(g, takes, zero, grad), g.in(y_operand)));
    return {};
  };
  return OfTwo(name, summary, kReals).Gradient(gradient).Kernel(PlanBroadcast, RunBroadcast<Op>);
}

}  // namespace

BlockDef Maximum() {
  return Choice<MaximumOp>("Maximum", "The larger of x and y, element by element; NaN where either is NaN.", "GreaterEqual");
}

BlockDef Minimum() {
  return Choice<MinimumOp>("Minimum", "The smaller of x and y, element by element; NaN where either is NaN.", "LessEqual");
}

}  // namespace weft::blocks
