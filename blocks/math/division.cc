// Div, RealDiv, DivNoNan, FloorDiv, TruncateDiv and the remainders of division, Mod, FloorMod, TruncateMod: two operands that are stretched
// over one another.
#include "blocks/gradients.h"
#include "blocks/kernels/elementwise/fmod.h"
#include "blocks/kernels/simd/rounding.h"
#include "blocks/vector_broadcast.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "T", "the common shape of x and y"};

constexpr auto kDivisible = kFloats + kComplexes;
constexpr TypeList<half, bfloat16, float, double, int32_t, int64_t> kModTypes;

struct DivideOp {
  template <class T>
  T operator()(T a, T b) const { return kernels::Quotient(a, b); }
  template <class V>
  static V Of(V a, V b) { return a / b; }
};
/// Towards zero.
struct TruncateDivOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return kernels::Quotient(a, b);
    else return kernels::TruncateOf(a / b);
  }
};
/// Towards minus infinity.
struct FloorDivOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) {
      const T quotient = kernels::Quotient(a, b);
      const T remainder = WrapSubtract(a, WrapMultiply(quotient, b));
      return remainder != 0 && (remainder < 0) != (b < 0) ? WrapSubtract(quotient, T{1}) : quotient;
    } else {
      return kernels::FloorOf(a / b);
    }
  }
};
/// 0 where b is 0, whatever a is.
struct DivNoNanOp {
  template <class T>
  T operator()(const T& a, const T& b) const { return b == T(0) ? T(0) : kernels::Quotient(a, b); }
  template <class V>
  static V Of(V a, V b) { return b == V{} ? V{} : a / b; }
};
// Remainders of integers; those of floats are in kernels/elementwise/fmod.h.
struct TruncateModOp {
  template <class T>
  T operator()(T a, T b) const { return WrapSubtract(a, WrapMultiply(kernels::Quotient(a, b), b)); }
};
struct FloorModOp {
  template <class T>
  T operator()(T a, T b) const {
    const T remainder = TruncateModOp{}(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? WrapAdd(remainder, b) : remainder;
  }
};

/// As RunBroadcast, where integers must not be divided by zero.
template <class Op>
struct DivisionRun : BroadcastRun<Op> {
  template <class T>
  Status operator()(const kernels::BroadcastLoops& loops, RunContext& ctx) const {
    if constexpr (Integer<T>) {
      if (!BroadcastUnless<Op, T>(loops, ctx, [](T divisor) { return divisor == 0; })) {
        return ctx.Error(y, "needs divisors other than 0 for integers, found a 0");
      }
    } else {
      Broadcast<Op, T>(loops, ctx);
    }
    return {};
  }
};
template <class Op>
constexpr DivisionRun<Op> RunDivision{};

template <class F, class Op>
struct ModRun : VectorsRun<F> {
  template <class T>
  Status operator()(const kernels::BroadcastLoops& loops, RunContext& ctx) const {
    if constexpr (Integer<T>) {
      return RunDivision<Op>.template operator()<T>(loops, ctx);
    } else {
      BroadcastVectors<F, T>(loops, ctx);
      return {};
    }
  }
};
template <class F, class Op>
constexpr ModRun<F, Op> RunMod{};
constexpr auto RunTruncateMod = RunMod<kernels::TruncatedFmod, TruncateModOp>;

/// `block` divides.
Status QuotientGradient(GradientBuilder& g, std::string_view block) {
  const auto quotient = [&](GradientValue a, GradientValue b) { return g.Add(block, {{"x", {a}}, {"y", {b}}}); };
  const GradientValue cy = Conjugate(g, g.in(y));
  if (g.wanted(x)) g.Set(x, SumLike(g, quotient(g.grad(z), cy), g.in(x)));
  if (g.wanted(y)) {
    const GradientValue slope = quotient(quotient(Negated(g, Conjugate(g, g.in(x))), cy), cy);
    g.Set(y, SumLike(g, Times(g, g.grad(z), slope), g.in(y)));
  }
  return {};
}
Status DivideGradient(GradientBuilder& g) { return QuotientGradient(g, "RealDiv"); }
Status DivNoNanGradient(GradientBuilder& g) { return QuotientGradient(g, "DivNoNan"); }

/// x - y floor(x / y), where the floor is a constant.
Status FloorModGradient(GradientBuilder& g) {
  if (g.wanted(x)) g.Set(x, SumLike(g, g.grad(z), g.in(x)));
  if (g.wanted(y)) {
    const GradientValue floor = g.Add("FloorDiv", {{"x", {g.in(x)}}, {"y", {g.in(y)}}});
    g.Set(y, SumLike(g, Times(g, g.grad(z), Negated(g, floor)), g.in(y)));
  }
  return {};
}

}  // namespace

BlockDef Div() {
  return Block("Div", "Divides x by y element by element; integers towards zero.")
      .Details("An integer divided by 0 is an error; floats give infinities and NaN. The lowest integer divided by -1 is itself.")
      .Ports(x, y, z).Types("T", kNumbers).Elementwise().Gradient(DivideGradient).Kernel(PlanBroadcast, RunDivision<DivideOp>);
}

BlockDef RealDiv() {
  return Block("RealDiv", "Divides x by y element by element, for floats and complex numbers.")
      .Ports(x, y, z).Types("T", kDivisible).Elementwise().Gradient(DivideGradient).Kernel(PlanBroadcast, RunBroadcast<DivideOp>);
}

BlockDef Mod() {
  return Block("Mod", "The rest of dividing x by y towards zero, element by element; it has the sign of x.")
      .Details("An integer modulo 0 is an error; floats give NaN.")
      .Ports(x, y, z).Types("T", kModTypes).Elementwise().Kernel(PlanBroadcast, RunTruncateMod);
}

BlockDef DivNoNan() {
  return Block("DivNoNan", "Divides x by y element by element; 0 where y is 0.")
      .Ports(x, y, z).Types("T", kDivisible).Internal().Elementwise().Gradient(DivNoNanGradient)
      .Kernel(PlanBroadcast, RunBroadcast<DivNoNanOp>);
}

BlockDef FloorDiv() {
  return Block("FloorDiv", "Divides x by y towards minus infinity, element by element.")
      .Details("An integer divided by 0 is an error; floats give infinities and NaN. The lowest integer divided by -1 is itself.")
      .Ports(x, y, z).Types("T", kReals).Elementwise().NotDifferentiable().Kernel(PlanBroadcast, RunDivision<FloorDivOp>);
}

BlockDef FloorMod() {
  return Block("FloorMod", "The rest of dividing x by y towards minus infinity, element by element; it has the sign of y.")
      .Details("An integer modulo 0 is an error; floats give NaN.")
      .Ports(x, y, z).Types("T", kReals).Elementwise().Gradient(FloorModGradient)
      .Kernel(PlanBroadcast, RunMod<kernels::FlooredFmod, FloorModOp>);
}

BlockDef TruncateDiv() {
  return Block("TruncateDiv", "Divides x by y towards zero, element by element.")
      .Details("An integer divided by 0 is an error; floats give infinities and NaN. The lowest integer divided by -1 is itself.")
      .Ports(x, y, z).Types("T", kReals).Elementwise().NotDifferentiable().Kernel(PlanBroadcast, RunDivision<TruncateDivOp>);
}

BlockDef TruncateMod() {
  return Block("TruncateMod", "The rest of dividing x by y towards zero, element by element; it has the sign of x.")
      .Details("An integer modulo 0 is an error; floats give NaN.")
      .Ports(x, y, z).Types("T", kModTypes).Elementwise().Kernel(PlanBroadcast, RunTruncateMod);
}

}  // namespace weft::blocks
