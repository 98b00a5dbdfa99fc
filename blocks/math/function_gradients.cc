// SigmoidGrad, TanhGrad, ReciprocalGrad, SqrtGrad, RsqrtGrad: the gradient of a function with respect to its argument, from the function's
// result y.
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;

template <class T>
T ConjugateOf(const T& a) {
  if constexpr (Complex<T>) return std::conj(a);
  else return a;
}

struct SigmoidGradOp {
  template <class T>
  T operator()(T y, T dy) const { return kernels::Multiplied(kernels::Multiplied(dy, y), T(1) - y); }
  template <class V>
  static V Of(V y, V dy) { return dy * y * (1 - y); }
};
struct TanhGradOp {
  template <class T>
  T operator()(T y, T dy) const { return kernels::Multiplied(dy, T(1) - kernels::Multiplied(y, y)); }
  template <class V>
  static V Of(V y, V dy) { return dy * (1 - y * y); }
};
// A gradient of 0 stays 0, also where the slope is infinite. Takes the conjugate of y itself.
struct ReciprocalGradOp {
  template <class T>
  T operator()(T y, T dy) const {
    y = ConjugateOf(y);
    const T slope = -kernels::Multiplied(kernels::Multiplied(dy, y), y);
    return dy == T(0) ? T(0) : slope;
  }
  template <class V>
  static V Of(V y, V dy) { return dy == V{} ? V{} : -(dy * y * y); }
};
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

constexpr In<0> result{"y", "T", "the function's result, any shape"};
constexpr In<1> gradient{"dy", "T", "the gradient with respect to y, of its shape"};
constexpr Out<0> slope{"z", "T", "the gradient with respect to the argument, of that shape"};

using SecondSlope = Term (*)(Term y, Term dy, Term z, Term dz);

/// An internal block z = Op of y and dy, of one shape, and its gradients; by dy, without `of_dy`, the block of the conjugate of y and dz.
template <class Op>
BlockDef ResultGradient(const char* name, const char* summary, SecondSlope of_y, SecondSlope of_dy = nullptr) {
  const auto second = [=](GradientBuilder& g) -> Status {
    const Term y{&g, g.in(result)}, dy{&g, g.in(gradient)}, z{&g, g.out(slope)}, dz{&g, g.grad(slope)};
    if (g.wanted(result)) g.Set(result, of_y(y, dy, z, dz));
    if (g.wanted(gradient)) g.Set(gradient, of_dy != nullptr ? of_dy(y, dy, z, dz) : FromResult(name, Conj(y), dz));
    return {};
  };
  return Block(name, summary)
      .Ports(result, gradient, slope).Types("T", kAnalytic).Internal().Elementwise().Gradient(second).Kernel(PlanPairs, RunPairs<Op>);
}

}  // namespace

BlockDef SigmoidGrad() {
  return ResultGradient<SigmoidGradOp>("SigmoidGrad", "The gradient of Sigmoid: dy * y * (1 - y).", [](Term y, Term dy, Term, Term dz) {
    const Term slope = dz * Conj(dy);
    return slope - 2 * slope * Conj(y);
  });
}

BlockDef TanhGrad() {
  return ResultGradient<TanhGradOp>("TanhGrad", "The gradient of Tanh: dy * (1 - y * y).",
                                    [](Term y, Term dy, Term, Term dz) { return dz * -2 * Conj(dy) * Conj(y); });
}

BlockDef ReciprocalGrad() {
  return ResultGradient<ReciprocalGradOp>("ReciprocalGrad", "The gradient of Reciprocal: -dy * y * y.",
                                          [](Term y, Term dy, Term, Term dz) { return Conj(dz) * -2 * dy * Conj(y); });
}

BlockDef SqrtGrad() {
  return ResultGradient<SqrtGradOp>("SqrtGrad", "The gradient of Sqrt: dy / (2 y).",
                                    [](Term y, Term, Term z, Term dz) { return -Conj(dz / y) * z; },
                                    [](Term y, Term, Term, Term dz) { return 0.5 * (dz / y); });
}

BlockDef RsqrtGrad() {
  return ResultGradient<RsqrtGradOp>("RsqrtGrad", "The gradient of Rsqrt: -dy * y * y * y / 2.",
                                     [](Term y, Term dy, Term, Term dz) { return -1.5 * Conj(dz) * dy * Of("Square", Conj(y)); });
}

}  // namespace weft::blocks
