// Pow: two operands that are stretched over one another.
#include <limits>

#include "blocks/gradients.h"
#include "blocks/vector_broadcast.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "the base; any shape"};
constexpr In<1> y{"y", "T", "the exponent; a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "T", "the common shape of x and y"};

constexpr auto kPowTypes = kFloats + kSigned + kComplexes;

/// Integers by repeated squaring, wrapping; exponents are not negative.
struct PowOp {
  static constexpr int kCost = 8;
  template <class T>
  T operator()(T base, T exponent) const {
    if constexpr (Integer<T>) {
      T power = 1;
      for (; exponent > 0; exponent = static_cast<T>(exponent >> 1)) {
        if (exponent & 1) power = WrapMultiply(power, base);
        base = WrapMultiply(base, base);
      }
      return power;
    } else {
      return std::pow(base, exponent);
    }
  }
};

constexpr auto RunPow = []<class T>(const kernels::BroadcastLoops& loops, RunContext& ctx) -> Status {
  if constexpr (Float<T>) {
    BroadcastVectors<kernels::Pow, T>(loops, ctx);
  } else if constexpr (Integer<T>) {
    if (!BroadcastUnless<PowOp, T>(loops, ctx, [](T exponent) { return exponent < 0; })) {
      return ctx.Error(y, "needs exponents of 0 or more for integers, found a negative one");
    }
  } else {
    Broadcast<PowOp, T>(loops, ctx);
  }
  return {};
};

/// The exponent's gradient is 0 where the base has no real logarithm.
Status PowGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(z), a = Conjugate(g, g.in(x)), b = Conjugate(g, g.in(y));
  if (g.wanted(x)) {
    const GradientValue power = g.Add("Pow", {{"x", {a}}, {"y", {Minus(g, b, g.Scalar(b, 1))}}});
    g.Set(x, SumLike(g, Times(g, Times(g, grad, b), power), g.in(x)));
  }
  if (g.wanted(y)) {
    const GradientValue zero = g.Scalar(a, 0);
    const GradientValue valid = g.Add(IsComplex(g.dtype(a)) ? "NotEqual" : "Greater", {{"x", {a}}, {"y", {zero}}});
    const GradientValue log = Chosen(g, valid, Applied(g, "Log", Chosen(g, valid, a, g.Scalar(a, 1))), zero);
    g.Set(y, SumLike(g, Times(g, Times(g, grad, Conjugate(g, g.out(z))), log), g.in(y)));
  }
  return {};
}

}  // namespace

BlockDef Pow() {
  return Block("Pow", "x to the power of y, element by element.")
      .Details("Integers wrap, and their exponents must not be negative. A negative float to a broken power is NaN.")
      .Ports(x, y, z).Types("T", kPowTypes).Elementwise().Gradient(PowGradient).Kernel(PlanBroadcast, RunPow);
}

}  // namespace weft::blocks
