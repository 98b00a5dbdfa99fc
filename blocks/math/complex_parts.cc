// Conj, Real, Imag, ComplexAbs, Complex: between complex numbers, their parts and their lengths.
#include <complex>

#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "any shape"};
constexpr Out<0> conjugate{"output", "T", "the shape of input"};
constexpr Out<0> part{"output", "Tout", "the shape of input"};
constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> length{"y", "Tout", "the shape of x"};
constexpr In<0> real{"real", "T", "the real parts, any shape"};
constexpr In<1> imag{"imag", "T", "the imaginary parts, a shape that fits real"};
constexpr Out<0> out{"out", "Tout", "the common shape of real and imag"};

constexpr Attr<DType> part_type{"Tout", "DT_FLOAT", "the type of the parts: DT_FLOAT of DT_COMPLEX64, DT_DOUBLE of DT_COMPLEX128"};
constexpr Attr<DType> complex_type{"Tout", "DT_COMPLEX64", "the type of the result: DT_COMPLEX64 of DT_FLOAT, DT_COMPLEX128 of DT_DOUBLE"};

constexpr TypeList<float, double> kParts;

struct ConjOp {
  template <class T>
  T operator()(T a) const { return std::conj(a); }
};
struct RealOp {
  template <class T>
  auto operator()(T a) const { return a.real(); }
};
struct ImagOp {
  template <class T>
  auto operator()(T a) const { return a.imag(); }
};
struct ComplexAbsOp {
  template <class T>
  auto operator()(const T& a) const { return std::abs(a); }
};
struct ComplexOp {
  template <class T>
  std::complex<T> operator()(T a, T b) const { return {a, b}; }
};

Status PlanPart(PlanContext& ctx) {
  const DType expected = ctx.dtype(input) == DType::kComplex64 ? DType::kFloat : DType::kDouble;
  if (ctx.attr(part_type) != expected) {
    return ctx.Error(part_type, "needs ", expected, " for ", ctx.dtype(input), ", found ", ctx.attr(part_type));
  }
  return PlanMap(ctx);
}

Result<kernels::BroadcastLoops> PlanComplex(PlanContext& ctx) {
  const DType expected = ctx.dtype(real) == DType::kFloat ? DType::kComplex64 : DType::kComplex128;
  if (ctx.attr(complex_type) != expected) {
    return ctx.Error(complex_type, "needs ", expected, " for ", ctx.dtype(real), ", found ", ctx.attr(complex_type));
  }
  return PlanBroadcast(ctx);
}

GradientValue PartOf(GradientBuilder& g, const char* block, GradientValue v) {
  const DType type = g.dtype(v) == DType::kComplex64 ? DType::kFloat : DType::kDouble;
  return g.Add(block, {{"input", {v}}}, {{"Tout", AttrValue(type)}});
}

GradientValue Join(GradientBuilder& g, GradientValue re, GradientValue im, DType type) {
  return g.Add("Complex", {{"real", {re}}, {"imag", {im}}}, {{"Tout", AttrValue(type)}});
}

Status ConjGradient(GradientBuilder& g) {
  g.Set(input, g.Add("Conj", {{"input", {g.grad(conjugate)}}}));
  return {};
}
Status RealGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(part);
  g.Set(input, Join(g, grad, g.Scalar(grad, 0), g.dtype(g.in(input))));
  return {};
}
Status ImagGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(part);
  g.Set(input, Join(g, g.Scalar(grad, 0), grad, g.dtype(g.in(input))));
  return {};
}
/// The direction of x times the gradient; 0 where x is 0.
Status ComplexAbsGradient(GradientBuilder& g) {
  const auto complex = [&](GradientValue real) { return Join(g, real, g.Scalar(real, 0), g.dtype(g.in(x))); };
  const GradientValue pull = Times(g, complex(g.grad(length)), g.in(x));
  g.Set(x, g.Add("DivNoNan", {{"x", {pull}}, {"y", {complex(g.out(length))}}}));
  return {};
}
Status ComplexGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(out);
  if (g.wanted(real)) g.Set(real, SumLike(g, PartOf(g, "Real", grad), g.in(real)));
  if (g.wanted(imag)) g.Set(imag, SumLike(g, PartOf(g, "Imag", grad), g.in(imag)));
  return {};
}

}  // namespace

BlockDef Conj() {
  return Block("Conj", "The complex conjugate of each element.")
      .Ports(input, conjugate).Types("T", kComplexes).Elementwise().Gradient(ConjGradient).Kernel(PlanMap, RunMap<ConjOp>);
}

BlockDef Real() {
  return Block("Real", "The real part of each element.")
      .Ports(input, part).PortAlias("start_52", "input").Types("T", kComplexes).Attrs(part_type).Types("Tout", kParts)
      .Gradient(RealGradient).Kernel(PlanPart, RunMap<RealOp>);
}

BlockDef Imag() {
  return Block("Imag", "The imaginary part of each element.")
      .Ports(input, part).Types("T", kComplexes).Attrs(part_type).Types("Tout", kParts)
      .Gradient(ImagGradient).Kernel(PlanPart, RunMap<ImagOp>);
}

BlockDef ComplexAbs() {
  return Block("ComplexAbs", "The absolute value of each complex number.")
      .Ports(x, length).Types("T", kComplexes).Attrs(part_type).Types("Tout", kParts).Gradient(ComplexAbsGradient)
      .Kernel(PlanPart, RunMap<ComplexAbsOp>);
}

BlockDef Complex() {
  return Block("Complex", "Complex numbers from their real and imaginary parts.")
      .Ports(real, imag, out).Types("T", kParts).Attrs(complex_type).Types("Tout", kComplexes)
      .Gradient(ComplexGradient).Kernel(PlanComplex, RunBroadcast<ComplexOp>);
}

}  // namespace weft::blocks
