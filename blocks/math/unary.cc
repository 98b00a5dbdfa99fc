// Exp, Expm1, Log, Log1p, Sinh, Cosh, Tanh, Sigmoid, Sqrt, Rsqrt, Square, Reciprocal, Negate: one result for each element.

#include "blocks/kernels/simd/vector_math.h"
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;
using kernels::VectorOp;

constexpr auto kNegatable = kFloats + kSigned + kComplexes;

struct Expm1Op : VectorOp<kernels::Expm1> {
  /// exp(a + bi) - 1 without losing the digits of a small argument: expm1(a) cos(b) + (cos(b) - 1) + i exp(a) sin(b).
  template <class T>
  T operator()(const T& z) const {
    if constexpr (Complex<T>) {
      const auto half_sine = std::sin(z.imag() / 2);
      return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine, std::exp(z.real()) * std::sin(z.imag())};
    } else {
      return std::expm1(z);
    }
  }
};
struct Log1pOp : VectorOp<kernels::Log1p> {
  /// log|1 + z| from |1 + z|^2 - 1 = a (2 + a) + b^2 where that neither overflows nor comes near -1.
  template <class T>
  T operator()(const T& z) const {
    if constexpr (Complex<T>) {
      using Part = typename T::value_type;
      const double a = z.real(), b = z.imag(), square = a * (2 + a) + b * b;
      if (!(square > -0.5 && square < 1e300)) return std::log(T(1) + z);
      return {static_cast<Part>(std::log1p(square) / 2), static_cast<Part>(std::atan2(b, 1 + a))};
    } else {
      return std::log1p(z);
    }
  }
};
struct RsqrtOp {
  static constexpr int kCost = 2;
  template <class V>
  static V Of(V a) { return 1 / kernels::Sqrt::Of(a); }
  template <class T>
  T operator()(const T& a) const { return T(1) / std::sqrt(a); }
};
struct SquareOp {
  template <class T>
  T operator()(T a) const { return kernels::Multiplied(a, a); }
  template <class V>
  static V Of(V a) { return a * a; }
};
struct ReciprocalOp {
  template <class T>
  T operator()(T a) const { return T(1) / a; }
  template <class V>
  static V Of(V a) { return 1 / a; }
};
struct NegateOp {
  template <class T>
  T operator()(T a) const {
    if constexpr (Integer<T>) return WrapSubtract(T{0}, a);
    else return -a;
  }
  template <class V>
  static V Of(V a) { return -a; }
};

}  // namespace

BlockDef Exp() {
  return Function<VectorOp<kernels::Exp>>("Exp", "e to the power of each element.", kAnalytic,
                                          [](Term, Term y, Term dy) { return dy * Conj(y); });
}

BlockDef Expm1() {
  return Function<Expm1Op>("Expm1", "exp(x) - 1 for each element, exact also near 0.", kAnalytic,
                           [](Term x, Term, Term dy) { return dy * Of("Exp", Conj(x)); });
}

BlockDef Log() {
  return Function<VectorOp<kernels::Log>>("Log", "The natural logarithm of each element.", kAnalytic,
                                          [](Term x, Term, Term dy) { return dy * Of("Reciprocal", Conj(x)); });
}

BlockDef Log1p() {
  return Function<Log1pOp>("Log1p", "The natural logarithm of 1 + x for each element, exact also near 0.", kAnalytic,
                           [](Term x, Term, Term dy) { return dy * Of("Reciprocal", 1 + Conj(x)); });
}

BlockDef Sinh() {
  return Function<VectorOp<kernels::Sinh>>("Sinh", "The hyperbolic sine of each element.", kAnalytic,
                                           [](Term x, Term, Term dy) { return dy * Of("Cosh", Conj(x)); });
}

BlockDef Cosh() {
  return Function<VectorOp<kernels::Cosh>>("Cosh", "The hyperbolic cosine of each element.", kAnalytic,
                                           [](Term x, Term, Term dy) { return dy * Of("Sinh", Conj(x)); });
}

BlockDef Tanh() {
  return Function<VectorOp<kernels::Tanh>>("Tanh", "The hyperbolic tangent of each element.", kAnalytic,
                                           [](Term, Term y, Term dy) { return FromResult("TanhGrad", Conj(y), dy); });
}

BlockDef Sigmoid() {
  return Function<VectorOp<kernels::Sigmoid>>("Sigmoid", "1 / (1 + exp(-x)) for each element.", kAnalytic,
                                              [](Term, Term y, Term dy) { return FromResult("SigmoidGrad", Conj(y), dy); });
}

BlockDef Sqrt() {
  return Function<VectorOp<kernels::Sqrt>>("Sqrt", "The square root of each element; NaN of negative ones.", kAnalytic,
                                           [](Term, Term y, Term dy) { return FromResult("SqrtGrad", y, dy); });
}

BlockDef Rsqrt() {
  return Function<RsqrtOp>("Rsqrt", "1 / sqrt(x) for each element.", kAnalytic,
                           [](Term, Term y, Term dy) { return FromResult("RsqrtGrad", y, dy); });
}

BlockDef Square() {
  return Function<SquareOp>("Square", "The square of each element.", kNumbers,
                            [](Term x, Term, Term dy) { return dy * (Conj(x) * 2); });
}

BlockDef Reciprocal() {
  return Function<ReciprocalOp>("Reciprocal", "1 / x for each element.", kAnalytic,
                                [](Term, Term y, Term dy) { return FromResult("ReciprocalGrad", y, dy); });
}

BlockDef Negate() {
  BlockDef def = Function<NegateOp>("Negate", "The negative of each element.", kNegatable, [](Term, Term, Term dy) { return -dy; });
  def.aliases.emplace_back("Neg");
  return def;
}

}  // namespace weft::blocks
