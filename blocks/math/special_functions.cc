// Betainc, Digamma, Erf, Erfc, Igamma, IgammaGradA, Igammac, Lgamma, Polygamma, RandomGammaGrad, Zeta: functions of statistics and number
// theory. Computed in double, Erf and Erfc apart, so that floats are right to their last digit.
#include "blocks/kernels/simd/vector_math.h"
#include "blocks/kernels/special/special_functions.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;

constexpr TypeList<float, double> kWideFloats;

// ---- of one number --------------------------------------------------------------------------------------------------------

/// A function of doubles for numbers of any type.
template <double (*function)(double)>
struct OfOne {
  static constexpr int kCost = 32;
  template <class T>
  T operator()(T a) const { return static_cast<T>(function(static_cast<double>(a))); }
};

/// dy factor exp(-x^2): the derivative of erf is 2 / sqrt(pi) exp(-x^2).
Term BellTimes(double factor, Term x, Term dy) {
  const Term bell = Of("Exp", -Of("Square", x));
  return dy * (factor * bell);
}

// ---- of two ---------------------------------------------------------------------------------------------------------------

template <double (*function)(double, double)>
struct OfDoubles {
  static constexpr int kCost = 128;
  template <class T>
  T operator()(T a, T b) const { return static_cast<T>(function(static_cast<double>(a), static_cast<double>(b))); }
};
template <double (*function)(double, double)>
constexpr auto RunDoubles = RunBroadcast<OfDoubles<function>>;

namespace gamma {
constexpr In<0> a{"a", "T", "any shape: the shape parameter, above 0"};
constexpr In<1> x{"x", "T", "any shape that fits a's, sizes equal or 1: the limit, 0 or more"};
constexpr Out<0> z{"z", "T", "the common shape of a and x"};

/// x^(a-1) e^-x / Gamma(a), as TensorFlow forms it.
Term Density(Term a, Term x) { return Of("Exp", (a - 1) * Of("Log", x) - x - Of("Lgamma", a)); }
Term ByShape(const Operands& of) { return {of.x.builder, of.x.builder->Add("IgammaGradA", {{"a", {of.x}}, {"x", {of.y}}})}; }
}  // namespace gamma

namespace sample {
constexpr In<0> alpha{"alpha", "T", "any shape: the shape parameter, above 0"};
constexpr In<1> drawn{"sample", "T", "any shape that fits alpha's: numbers of its gamma distribution"};
constexpr Out<0> output{"output", "T", "the common shape of alpha and sample"};
}  // namespace sample

namespace polygamma {
constexpr In<0> a{"a", "T", "any shape: the order of the derivative, a whole number of 0 or more"};
constexpr In<1> x{"x", "T", "any shape that fits a's, sizes equal or 1"};
constexpr Out<0> z{"z", "T", "the common shape of a and x"};

Term Of(Term a, Term x) { return {x.builder, x.builder->Add("Polygamma", {{"a", {a}}, {"x", {x}}})}; }
}  // namespace polygamma

namespace zeta {
constexpr In<0> x{"x", "T", "any shape: the exponent, above 1"};
constexpr In<1> q{"q", "T", "any shape that fits x's, sizes equal or 1: the first base"};
constexpr Out<0> z{"z", "T", "the common shape of x and q"};

Term Of(Term x, Term q) { return {x.builder, x.builder->Add("Zeta", {{"x", {x}}, {"q", {q}}})}; }
}  // namespace zeta

namespace beta {

constexpr In<0> a{"a", "T", "a scalar or of the common shape; above 0"};
constexpr In<1> b{"b", "T", "a scalar or of the common shape; above 0"};
constexpr In<2> x{"x", "T", "a scalar or of the common shape: the limit, from 0 to 1"};
constexpr Out<0> z{"z", "T", "the common shape"};

struct Steps {
  int64_t a = 0, b = 0, x = 0;  // 0 for a scalar
};

/// The step of an input; the first that is no scalar gives the common shape.
Status Join(PlanContext& ctx, const InputPort auto& port, Shape& common, int64_t& step) {
  const Shape& shape = ctx.shape(port);
  if (shape.scalar()) return {};
  if (!common.scalar() && shape != common) {
    return ctx.Error(port, "needs a scalar or the shape ", common, " of another input, found ", shape);
  }
  common = shape;
  step = 1;
  return {};
}

Result<Steps> Plan(PlanContext& ctx) {
  Shape common;
  Steps steps;
  if (ctx.shape(b) == ctx.shape(x)) WEFT_RETURN_IF_ERROR(Join(ctx, x, common, steps.x));  // two that agree are right, the third is not
  WEFT_RETURN_IF_ERROR(Join(ctx, a, common, steps.a));
  WEFT_RETURN_IF_ERROR(Join(ctx, b, common, steps.b));
  WEFT_RETURN_IF_ERROR(Join(ctx, x, common, steps.x));
  ctx.set(z, std::move(common));
  return steps;
}

constexpr auto Run = []<class T>(const Steps& steps, RunContext& ctx) {
  const T *as = ctx.in<T>(a).data(), *bs = ctx.in<T>(b).data(), *xs = ctx.in<T>(x).data();
  const auto to = ctx.out<T>(z);
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(to.size()), 256, [&](int64_t i) {
    const double value = kernels::Betainc(as[i * steps.a], bs[i * steps.b], xs[i * steps.x]);
    to[static_cast<size_t>(i)] = static_cast<T>(value);
  });
};

/// A factor times a logarithm: 0 where the factor is 0, also where the logarithm is infinite.
Term Weighted(Term factor, Term logarithm) {
  GradientBuilder& g = *factor.builder;
  const Term zero = factor.Scalar(0);
  return {&g, Chosen(g, g.Add("Equal", {{"x", {factor}}, {"y", {zero}}}), zero, factor * logarithm)};
}

/// By x alone: x^(a-1) (1-x)^(b-1) / B(a, b).
void Gradient(GradientBuilder& g) {
  const Term at{&g, g.in(x)}, shape_a{&g, g.in(a)}, shape_b{&g, g.in(b)}, dz{&g, g.grad(z)};
  if (!g.wanted(x)) return;
  const Term log_beta = Of("Lgamma", shape_a) + Of("Lgamma", shape_b) - Of("Lgamma", shape_a + shape_b);
  const Term density = Of("Exp", Weighted(shape_a - 1, Of("Log", at)) + Weighted(shape_b - 1, Of("Log1p", -at)) - log_beta);
  g.Set(x, SumLike(g, dz * density, at));
}

}  // namespace beta

}  // namespace

BlockDef Betainc() {
  return Block("Betainc", "The regularised incomplete beta function: the integral of t^(a-1) (1-t)^(b-1) up to x, over that up to 1.")
      .Details("NaN where a or b is not above 0, or x outside [0, 1].")
      .Ports(beta::a, beta::b, beta::x, beta::z).PortAlias("y", "a").Types("T", kWideFloats).Gradient(beta::Gradient)
      .Kernel(beta::Plan, beta::Run);
}

BlockDef Digamma() {
  return Function<OfOne<kernels::Digamma>>("Digamma", "The derivative of Lgamma for each element; NaN at the poles 0, -1, -2, ...", kFloats,
                                           [](Term x, Term, Term dy) { return dy * polygamma::Of(x.Scalar(1), x); });
}

BlockDef Erf() {
  return Function<kernels::VectorOp<kernels::Erf>>("Erf", "Gauss's error function of each element.", kFloats,
                                                 [](Term x, Term, Term dy) { return BellTimes(M_2_SQRTPI, x, dy); });
}

BlockDef Erfc() {
  return Function<kernels::VectorOp<kernels::Erfc>>("Erfc", "1 - erf(x) for each element, right also where that is tiny.", kFloats,
                                                  [](Term x, Term, Term dy) { return BellTimes(-M_2_SQRTPI, x, dy); });
}

BlockDef Igamma() {
  return Block("Igamma", "The lower regularised incomplete gamma function: the integral of t^(a-1) e^-t up to x, over Gamma(a).")
      .Details("NaN where a is not above 0, or x below 0.")
      .Ports(gamma::a, gamma::x, gamma::z).Types("T", kFloats)
      .Gradient(GradientBy([](const Operands& of) { return of.dz * gamma::ByShape(of); },
                           [](const Operands& of) { return of.dz * gamma::Density(of.x, of.y); }))
      .Kernel(PlanBroadcast, RunDoubles<kernels::Igamma>);
}

BlockDef IgammaGradA() {
  return Block("IgammaGradA", "The derivative of Igamma(a, x) with respect to a.")
      .Ports(gamma::a, gamma::x, gamma::z).Types("T", kFloats).Internal().Kernel(PlanBroadcast, RunDoubles<kernels::IgammaGradA>);
}

BlockDef Igammac() {
  return Block("Igammac", "The upper regularised incomplete gamma function: 1 - Igamma(a, x), right also where that is tiny.")
      .Details("NaN where a is not above 0, or x below 0.")
      .Ports(gamma::a, gamma::x, gamma::z).Types("T", kFloats)
      .Gradient(GradientBy([](const Operands& of) { return -of.dz * gamma::ByShape(of); },
                           [](const Operands& of) { return -of.dz * gamma::Density(of.x, of.y); }))
      .Kernel(PlanBroadcast, RunDoubles<kernels::Igammac>);
}

BlockDef Lgamma() {
  return Function<OfOne<kernels::LogGamma>>("Lgamma", "ln |Gamma(x)| for each element; inf at the poles 0, -1, -2, ...", kFloats,
                                            [](Term x, Term, Term dy) { return dy * Of("Digamma", x); });
}

BlockDef Polygamma() {
  return Block("Polygamma", "The derivative of order a of Digamma at x; order 0 is Digamma itself.")
      .Details("NaN where a is not a whole number of 0 or more.")
      .Ports(polygamma::a, polygamma::x, polygamma::z).PortAlias("y", "a").Types("T", kWideFloats)
      .Gradient(GradientBy(nullptr, [](const Operands& of) { return of.dz * polygamma::Of(of.x + 1, of.y); }))
      .Kernel(PlanBroadcast, RunDoubles<kernels::Polygamma>);
}

BlockDef RandomGammaGrad() {
  return Block("RandomGammaGrad", "How a number of a gamma distribution moves with the shape parameter alpha.")
      .Ports(sample::alpha, sample::drawn, sample::output).Types("T", kFloats).Internal()
      .Kernel(PlanBroadcast, RunDoubles<kernels::GammaSampleGrad>);
}

BlockDef Zeta() {
  return Block("Zeta", "Hurwitz's zeta function: the sum of (q + k)^-x over k = 0, 1, 2, ...")
      .Details("inf for x = 1, NaN below; q below 0 needs a whole x.")
      .Ports(zeta::x, zeta::q, zeta::z).PortAlias("y", "q").Types("T", kWideFloats)
      .Gradient(GradientBy(nullptr, [](const Operands& of) { return of.dz * (-of.x * zeta::Of(of.x + 1, of.y)); }))
      .Kernel(PlanBroadcast, RunDoubles<kernels::Zeta>);
}

}  // namespace weft::blocks
