// Pow: two operands that are stretched over one another.

#include "blocks/kernels/simd/vector_math.h"
#include "blocks/math/functions.h"

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
    Broadcast<kernels::Pow, T>(loops, ctx);
  } else if constexpr (Integer<T>) {
    if (!BroadcastUnless<PowOp, T>(loops, ctx, [](T exponent) { return exponent < 0; })) {
      return ctx.Error(y, "needs exponents of 0 or more for integers, found a negative one");
    }
  } else {
    Broadcast<PowOp, T>(loops, ctx);
  }
  return {};
};

Term BaseGradient(const functions::Operands& of) {
  const Term a = Conj(of.x), b = Conj(of.y);
  return of.dz * b * Term{a.builder, a.builder->Add("Pow", {{"x", {a}}, {"y", {b - 1}}})};
}
/// 0 where the base has no real logarithm.
Term ExponentGradient(const functions::Operands& of) {
  const Term a = Conj(of.x), zero = a.Scalar(0);
  GradientBuilder& g = *a.builder;
  const GradientValue valid = g.Add(IsComplex(g.dtype(a)) ? "NotEqual" : "Greater", {{"x", {a}}, {"y", {zero}}});
  const Term log{&g, Chosen(g, valid, Applied(g, "Log", Chosen(g, valid, a, a.Scalar(1))), zero)};
  return of.dz * Conj(of.z) * log;
}

}  // namespace

BlockDef Pow() {
  return Block("Pow", "x to the power of y, element by element.")
      .Details("Integers wrap, and their exponents must not be negative. A negative float to a broken power is NaN.")
      .Ports(x, y, z).Types("T", kPowTypes).Elementwise().Gradient(functions::GradientBy(BaseGradient, ExponentGradient))
      .Kernel(PlanBroadcast, RunPow);
}

}  // namespace weft::blocks
