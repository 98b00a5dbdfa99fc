// Sqrt, Rsqrt and the blocks of their gradients.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/kernels/simd/vector_math.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> root{"y", "T", "the shape of x"};

constexpr In<0> y{"y", "T", "the function's result, any shape"};
constexpr In<1> dy{"dy", "T", "the gradient with respect to y, of its shape"};
constexpr Out<0> z{"z", "T", "the gradient with respect to the argument, of that shape"};

constexpr auto kAnalytic = kFloats + kComplexes;

using SqrtOp = kernels::VectorOp<kernels::Sqrt>;
struct RsqrtOp {
  static constexpr int kCost = 2;
  template <class V>
  static V Of(V a) { return 1 / kernels::Sqrt::Of(a); }
  template <class T>
  T operator()(const T& a) const { return T(1) / std::sqrt(a); }
};

template <class T>
T ConjugateOf(const T& a) {
  if constexpr (Complex<T>) return std::conj(a);
  else return a;
}
// A gradient of 0 stays 0, also where the slope is infinite.
/// y is the root: dy / (2 conj(y)).
struct SqrtGradOp {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    const T slope = kernels::Quotient(T(0.5) * dy, ConjugateOf(y));
    return dy == T(0) ? T(0) : slope;
  }
  template <class V>
  static V Of(V y, V dy) { return dy == V{} ? V{} : (V{} + 0.5f) * dy / y; }
};
/// y is 1 / root: -dy conj(y)^3 / 2.
struct RsqrtGradOp {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    const T c = ConjugateOf(y);
    const T slope = kernels::Multiplied(T(-0.5) * kernels::Multiplied(dy, c), kernels::Multiplied(c, c));
    return dy == T(0) ? T(0) : slope;
  }
  template <class V>
  static V Of(V y, V dy) { return dy == V{} ? V{} : (V{} - 0.5f) * (dy * y) * (y * y); }
};

GradientValue FromResult(GradientBuilder& g, std::string_view block, GradientValue result, GradientValue grad) {
  return g.Add(block, {{"y", {result}}, {"dy", {grad}}});
}

Status SqrtGradient(GradientBuilder& g) {
  g.Set(x, FromResult(g, "SqrtGrad", g.out(root), g.grad(root)));
  return {};
}
Status RsqrtGradient(GradientBuilder& g) {
  g.Set(x, FromResult(g, "RsqrtGrad", g.out(root), g.grad(root)));
  return {};
}
Status SqrtGradGradient(GradientBuilder& g) {
  const GradientValue ratio = Divided(g, g.grad(z), g.in(y));
  if (g.wanted(y)) g.Set(y, Times(g, Negated(g, Conjugate(g, ratio)), g.out(z)));
  if (g.wanted(dy)) g.Set(dy, Times(g, g.Scalar(ratio, 0.5), ratio));
  return {};
}
Status RsqrtGradGradient(GradientBuilder& g) {
  const GradientValue c = Conjugate(g, g.in(y)), grad = g.grad(z);
  if (g.wanted(y)) {
    const GradientValue cg = Conjugate(g, grad);
    g.Set(y, Times(g, Times(g, Times(g, g.Scalar(cg, -1.5), cg), g.in(dy)), Applied(g, "Square", c)));
  }
  if (g.wanted(dy)) g.Set(dy, FromResult(g, "RsqrtGrad", c, grad));
  return {};
}

}  // namespace

BlockDef Sqrt() {
  return Block("Sqrt", "The square root of each element; NaN of negative ones.")
      .Ports(x, root).Types("T", kAnalytic).Elementwise().Gradient(SqrtGradient).Kernel(PlanMap, RunMap<SqrtOp>);
}

BlockDef Rsqrt() {
  return Block("Rsqrt", "1 / sqrt(x) for each element.")
      .Ports(x, root).Types("T", kAnalytic).Elementwise().Gradient(RsqrtGradient).Kernel(PlanMap, RunMap<RsqrtOp>);
}

BlockDef SqrtGrad() {
  return Block("SqrtGrad", "The gradient of Sqrt: dy / (2 y).")
      .Ports(y, dy, z).Types("T", kAnalytic).Internal().Elementwise().Gradient(SqrtGradGradient)
      .Kernel(PlanPairs, RunPairs<SqrtGradOp>);
}

BlockDef RsqrtGrad() {
  return Block("RsqrtGrad", "The gradient of Rsqrt: -dy * y * y * y / 2.")
      .Ports(y, dy, z).Types("T", kAnalytic).Internal().Elementwise().Gradient(RsqrtGradGradient)
      .Kernel(PlanPairs, RunPairs<RsqrtGradOp>);
}

}  // namespace weft::blocks
