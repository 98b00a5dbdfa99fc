// Conj, Real, Imag, ComplexAbs, Complex: between complex numbers, their parts and their lengths.
#include <complex>

#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using functions::Function, functions::GradientBy, functions::Operands;

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
  auto operator()(auto a) const { return a.real(); }
};
struct ImagOp {
  auto operator()(auto a) const { return a.imag(); }
};
struct ComplexAbsOp {
  auto operator()(const auto& a) const { return std::abs(a); }
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

Term PartOf(const char* block, Term v) {
  const DType type = v.builder->dtype(v) == DType::kComplex64 ? DType::kFloat : DType::kDouble;
  return {v.builder, v.builder->Add(block, {{"input", {v}}}, {{"Tout", AttrValue(type)}})};
}
/// A complex number of the type of `like`.
Term Join(Term re, Term im, Term like) {
  const AttrValue type(like.builder->dtype(like));
  return {re.builder, re.builder->Add("Complex", {{"real", {re}}, {"imag", {im}}}, {{"Tout", type}})};
}

template <class Op, OutputPort O>
BlockDef Part(const char* name, const char* summary, const In<0>& from, const O& to, functions::Slope slope) {
  return Block(name, summary)
      .Ports(from, to).Types("T", kComplexes).Attrs(part_type).Types("Tout", kParts).Gradient(GradientBy(slope))
      .Kernel(PlanPart, RunMap<Op>);
}

}  // namespace

BlockDef Conj() {
  return Function<ConjOp>("Conj", "The complex conjugate of each element.", kComplexes, [](Term, Term, Term dy) { return Conj(dy); }, input,
                          conjugate);
}

BlockDef Real() {
  BlockDef def = Part<RealOp>("Real", "The real part of each element.", input, part,
                              [](Term x, Term, Term dy) { return Join(dy, dy.Scalar(0), x); });
  def.port_aliases.emplace_back("start_52", "input");
  return def;
}

BlockDef Imag() {
  return Part<ImagOp>("Imag", "The imaginary part of each element.", input, part,
                      [](Term x, Term, Term dy) { return Join(dy.Scalar(0), dy, x); });
}

BlockDef ComplexAbs() {
  // The direction of x times the gradient; 0 where x is 0.
  return Part<ComplexAbsOp>("ComplexAbs", "The absolute value of each complex number.", x, length, [](Term x, Term y, Term dy) {
    const Term pull = Join(dy, dy.Scalar(0), x) * x;
    return Term{x.builder, x.builder->Add("DivNoNan", {{"x", {pull}}, {"y", {Join(y, y.Scalar(0), x)}}})};
  });
}

BlockDef Complex() {
  return Block("Complex", "Complex numbers from their real and imaginary parts.")
      .Ports(real, imag, out).Types("T", kParts).Attrs(complex_type).Types("Tout", kComplexes)
      .Gradient(GradientBy([](const Operands& of) { return PartOf("Real", of.dz); },
                           [](const Operands& of) { return PartOf("Imag", of.dz); }))
      .Kernel(PlanComplex, RunBroadcast<ComplexOp>);
}

}  // namespace weft::blocks
