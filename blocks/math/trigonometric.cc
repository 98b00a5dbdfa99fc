// Sin, Cos, Tan, Asin, Acos, Atan: one result for each element; Atan2 of two operands that are stretched over one another.
#include "blocks/kernels/simd/vector_math.h"
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;
using kernels::VectorOp;

constexpr In<0> radians{"x", "T", "any shape; radians"};
constexpr Out<0> angle{"y", "T", "the shape of x; radians"};

constexpr In<0> rise{"y", "T", "any shape"};
constexpr In<1> run{"x", "T", "a shape that fits y: sizes equal or 1, from the last axis on"};
constexpr Out<0> direction{"z", "T", "the common shape of y and x; radians"};

/// 1 / sqrt(1 - x^2)
Term ArcSlope(Term x) { return Of("Reciprocal", Of("Sqrt", 1 - Of("Square", Conj(x)))); }
/// dz / (y^2 + x^2)
Term OverDistance(const Operands& of) { return of.dz / (Of("Square", of.x) + Of("Square", of.y)); }

}  // namespace

BlockDef Sin() {
  return Function<VectorOp<kernels::Sin>>("Sin", "The sine of each element.", kAnalytic,
                                          [](Term x, Term, Term dy) { return dy * Of("Cos", Conj(x)); }, radians);
}

BlockDef Cos() {
  return Function<VectorOp<kernels::Cos>>("Cos", "The cosine of each element.", kAnalytic,
                                          [](Term x, Term, Term dy) { return -dy * Of("Sin", Conj(x)); }, radians);
}

BlockDef Tan() {
  return Function<VectorOp<kernels::Tan>>(
      "Tan", "The tangent of each element.", kAnalytic,
      [](Term x, Term, Term dy) { return Of("Square", Of("Reciprocal", Of("Cos", Conj(x)))) * dy; }, radians);
}

BlockDef Asin() {
  return Function<VectorOp<kernels::Asin>>("Asin", "The angle whose sine each element is; NaN of real numbers beyond -1 and 1.", kAnalytic,
                                           [](Term x, Term, Term dy) { return dy * ArcSlope(x); }, functions::x, angle);
}

BlockDef Acos() {
  return Function<VectorOp<kernels::Acos>>("Acos", "The angle whose cosine each element is; NaN of real numbers beyond -1 and 1.",
                                           kAnalytic, [](Term x, Term, Term dy) { return -dy * ArcSlope(x); }, functions::x, angle);
}

BlockDef Atan() {
  return Function<VectorOp<kernels::Atan>>(
      "Atan", "The angle whose tangent each element is.", kAnalytic,
      [](Term x, Term, Term dy) { return dy * Of("Reciprocal", 1 + Of("Square", Conj(x))); }, functions::x, angle);
}

BlockDef Atan2() {
  const auto gradient = GradientBy([](const Operands& of) { return of.y * OverDistance(of); },
                                   [](const Operands& of) { return -of.x * OverDistance(of); });
  return Block("Atan2", "The angle of the point (x, y), from -pi to pi, element by element.")
      .Ports(rise, run, direction).Types("T", kFloats).Elementwise().Gradient(gradient).Kernel(PlanBroadcast, RunBroadcast<kernels::Atan2>);
}

}  // namespace weft::blocks
