// Betainc, Digamma, Erf, Erfc, Igamma, IgammaGradA, Igammac, Lgamma, Polygamma, RandomGammaGrad, Zeta: functions of statistics and number
// theory. Computed in double, Erf and Erfc apart, so that floats are right to their last digit.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/kernels/simd/vector_math.h"
#include "blocks/kernels/special/special_functions.h"

namespace weft::blocks {
namespace {

constexpr TypeList<float, double> kWideFloats;

// ---- of one number --------------------------------------------------------------------------------------------------------

constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> y{"y", "T", "the shape of x"};

using ErfOp = kernels::VectorOp<kernels::Erf>;
using ErfcOp = kernels::VectorOp<kernels::Erfc>;

/// A function of doubles for numbers of any type.
template <double (*function)(double)>
struct OfOne {
  static constexpr int kCost = 32;
  template <class T>
  T operator()(T a) const { return static_cast<T>(function(static_cast<double>(a))); }
};

/// d/dx erf(x) = 2 / sqrt(pi) exp(-x^2).
void SetErfGradient(GradientBuilder& g, double factor) {
  const GradientValue bell = Applied(g, "Exp", Negated(g, Applied(g, "Square", g.in(x))));
  g.Set(x, Times(g, g.grad(y), Times(g, g.Scalar(bell, factor), bell)));
}
Status ErfGradient(GradientBuilder& g) {
  SetErfGradient(g, M_2_SQRTPI);
  return {};
}
Status ErfcGradient(GradientBuilder& g) {
  SetErfGradient(g, -M_2_SQRTPI);
  return {};
}
Status LgammaGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Applied(g, "Digamma", g.in(x))));
  return {};
}
Status DigammaGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), g.Add("Polygamma", {{"a", {g.Scalar(g.in(x), 1)}}, {"x", {g.in(x)}}})));
  return {};
}

// ---- of two ---------------------------------------------------------------------------------------------------------------

template <double (*function)(double, double)>
struct OfTwo {
  static constexpr int kCost = 128;
  template <class T>
  T operator()(T a, T b) const { return static_cast<T>(function(static_cast<double>(a), static_cast<double>(b))); }
};

namespace gamma {

constexpr In<0> a{"a", "T", "any shape: the shape parameter, above 0"};
constexpr In<1> x{"x", "T", "any shape that fits a's, sizes equal or 1: the limit, 0 or more"};
constexpr Out<0> z{"z", "T", "the common shape of a and x"};

/// x^(a-1) e^-x / Gamma(a), as TensorFlow forms it.
GradientValue Density(GradientBuilder& g) {
  const GradientValue power = Times(g, Minus(g, g.in(a), g.Scalar(g.in(a), 1)), Applied(g, "Log", g.in(x)));
  return Applied(g, "Exp", Minus(g, Minus(g, power, g.in(x)), Applied(g, "Lgamma", g.in(a))));
}
Status Gradient(GradientBuilder& g, GradientValue grad) {
  if (g.wanted(a)) g.Set(a, SumLike(g, Times(g, grad, g.Add("IgammaGradA", {{"a", {g.in(a)}}, {"x", {g.in(x)}}})), g.in(a)));
  if (g.wanted(x)) g.Set(x, SumLike(g, Times(g, grad, Density(g)), g.in(x)));
  return {};
}
Status LowerGradient(GradientBuilder& g) { return Gradient(g, g.grad(z)); }
Status UpperGradient(GradientBuilder& g) { return Gradient(g, Negated(g, g.grad(z))); }

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

Status Gradient(GradientBuilder& g) {
  if (!g.wanted(x)) return {};
  const GradientValue next = g.Add("Polygamma", {{"a", {Plus(g, g.in(a), g.Scalar(g.in(a), 1))}}, {"x", {g.in(x)}}});
  g.Set(x, SumLike(g, Times(g, g.grad(z), next), g.in(x)));
  return {};
}

}  // namespace polygamma

namespace zeta {

constexpr In<0> x{"x", "T", "any shape: the exponent, above 1"};
constexpr In<1> q{"q", "T", "any shape that fits x's, sizes equal or 1: the first base"};
constexpr Out<0> z{"z", "T", "the common shape of x and q"};

Status Gradient(GradientBuilder& g) {
  if (!g.wanted(q)) return {};
  const GradientValue next = g.Add("Zeta", {{"x", {Plus(g, g.in(x), g.Scalar(g.in(x), 1))}}, {"q", {g.in(q)}}});
  g.Set(q, SumLike(g, Times(g, g.grad(z), Times(g, Negated(g, g.in(x)), next)), g.in(q)));
  return {};
}

}  // namespace zeta

// ---- of three -------------------------------------------------------------------------------------------------------------

namespace beta {

constexpr In<0> a{"a", "T", "a scalar or of the common shape; above 0"};
constexpr In<1> b{"b", "T", "a scalar or of the common shape; above 0"};
constexpr In<2> x{"x", "T", "a scalar or of the common shape: the limit, from 0 to 1"};
constexpr Out<0> z{"z", "T", "the common shape"};

struct Steps {
  int64_t a = 0, b = 0, x = 0;  // 0 for a scalar
};

/// The step of an input; the first that is no scalar gives the common shape.
template <InputPort P>
Status Join(PlanContext& ctx, const P& port, Shape& common, int64_t& step) {
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
  ctx.workers().For(static_cast<int64_t>(to.size()), 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double value = kernels::Betainc(as[i * steps.a], bs[i * steps.b], xs[i * steps.x]);
      to[static_cast<size_t>(i)] = static_cast<T>(value);
    }
  });
};

/// By x alone: x^(a-1) (1-x)^(b-1) / B(a, b).
Status Gradient(GradientBuilder& g) {
  if (!g.wanted(x)) return {};
  const auto less_one = [&](GradientValue v) { return Minus(g, v, g.Scalar(v, 1)); };
  const auto log_gamma = [&](GradientValue v) { return Applied(g, "Lgamma", v); };
  const GradientValue log_beta = Minus(g, Plus(g, log_gamma(g.in(a)), log_gamma(g.in(b))), log_gamma(Plus(g, g.in(a), g.in(b))));
  const GradientValue left = Times(g, less_one(g.in(a)), Applied(g, "Log", g.in(x)));
  const GradientValue right = Times(g, less_one(g.in(b)), Applied(g, "Log1p", Negated(g, g.in(x))));
  const GradientValue density = Applied(g, "Exp", Minus(g, Plus(g, left, right), log_beta));
  g.Set(x, SumLike(g, Times(g, g.grad(z), density), g.in(x)));
  return {};
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
  return Block("Digamma", "The derivative of Lgamma for each element; NaN at the poles 0, -1, -2, ...")
      .Ports(x, y).Types("T", kFloats).Elementwise().Gradient(DigammaGradient).Kernel(PlanMap, RunMap<OfOne<kernels::Digamma>>);
}

BlockDef Erf() {
  return Block("Erf", "Gauss's error function of each element.")
      .Ports(x, y).Types("T", kFloats).Elementwise().Gradient(ErfGradient).Kernel(PlanMap, RunMap<ErfOp>);
}

BlockDef Erfc() {
  return Block("Erfc", "1 - erf(x) for each element, right also where that is tiny.")
      .Ports(x, y).Types("T", kFloats).Elementwise().Gradient(ErfcGradient).Kernel(PlanMap, RunMap<ErfcOp>);
}

BlockDef Igamma() {
  return Block("Igamma", "The lower regularised incomplete gamma function: the integral of t^(a-1) e^-t up to x, over Gamma(a).")
      .Details("NaN where a is not above 0, or x below 0.")
      .Ports(gamma::a, gamma::x, gamma::z).Types("T", kFloats).Gradient(gamma::LowerGradient)
      .Kernel(PlanBroadcast, RunBroadcast<OfTwo<kernels::Igamma>>);
}

BlockDef IgammaGradA() {
  return Block("IgammaGradA", "The derivative of Igamma(a, x) with respect to a.")
      .Ports(gamma::a, gamma::x, gamma::z).Types("T", kFloats).Internal().Kernel(PlanBroadcast, RunBroadcast<OfTwo<kernels::IgammaGradA>>);
}

BlockDef Igammac() {
  return Block("Igammac", "The upper regularised incomplete gamma function: 1 - Igamma(a, x), right also where that is tiny.")
      .Details("NaN where a is not above 0, or x below 0.")
      .Ports(gamma::a, gamma::x, gamma::z).Types("T", kFloats).Gradient(gamma::UpperGradient)
      .Kernel(PlanBroadcast, RunBroadcast<OfTwo<kernels::Igammac>>);
}

BlockDef Lgamma() {
  return Block("Lgamma", "ln |Gamma(x)| for each element; inf at the poles 0, -1, -2, ...")
      .Ports(x, y).Types("T", kFloats).Elementwise().Gradient(LgammaGradient).Kernel(PlanMap, RunMap<OfOne<kernels::LogGamma>>);
}

BlockDef Polygamma() {
  return Block("Polygamma", "The derivative of order a of Digamma at x; order 0 is Digamma itself.")
      .Details("NaN where a is not a whole number of 0 or more.")
      .Ports(polygamma::a, polygamma::x, polygamma::z).PortAlias("y", "a").Types("T", kWideFloats).Gradient(polygamma::Gradient)
      .Kernel(PlanBroadcast, RunBroadcast<OfTwo<kernels::Polygamma>>);
}

BlockDef RandomGammaGrad() {
  return Block("RandomGammaGrad", "How a number of a gamma distribution moves with the shape parameter alpha.")
      .Ports(sample::alpha, sample::drawn, sample::output).Types("T", kFloats).Internal()
      .Kernel(PlanBroadcast, RunBroadcast<OfTwo<kernels::GammaSampleGrad>>);
}

BlockDef Zeta() {
  return Block("Zeta", "Hurwitz's zeta function: the sum of (q + k)^-x over k = 0, 1, 2, ...")
      .Details("inf for x = 1, NaN below; q below 0 needs a whole x.")
      .Ports(zeta::x, zeta::q, zeta::z).PortAlias("y", "q").Types("T", kWideFloats).Gradient(zeta::Gradient)
      .Kernel(PlanBroadcast, RunBroadcast<OfTwo<kernels::Zeta>>);
}

}  // namespace weft::blocks
