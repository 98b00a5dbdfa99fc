// Div, RealDiv, DivNoNan, FloorDiv, TruncateDiv and the remainders of division, Mod, FloorMod, TruncateMod: two operands that are stretched
// over one another.
#include "blocks/kernels/elementwise/cast.h"
#include "blocks/kernels/elementwise/fmod.h"
#include "blocks/kernels/simd/rounding.h"
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;
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
  static T Whole(T quotient) { return kernels::TruncateOf(quotient); }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return kernels::Quotient(a, b);
    else return Whole(a / b);
  }
};
/// Towards minus infinity.
struct FloorDivOp {
  template <class T>
  static T Whole(T quotient) { return kernels::FloorOf(quotient); }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) {
      const T quotient = kernels::Quotient(a, b);
      const T remainder = WrapSubtract(a, WrapMultiply(quotient, b));
      return remainder != 0 && (remainder < 0) != (b < 0) ? WrapSubtract(quotient, T{1}) : quotient;
    } else {
      return Whole(a / b);
    }
  }
};
/// Of half and bfloat16 the quotient is rounded to its type before it is cut, as Div and then Floor do.
template <class Op, ShortFloat S>
struct OfRounded {
  static constexpr int kBits = kernels::kDroppedBits<float, S>;
  /// By the bits, which keeps the loop one of vectors; only the denormals that are no half are zeros besides.
  static float Rounded(float a) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, a), odd = bits >> kBits & 1, kept = ~((uint32_t{1} << kBits) - 1);
    const float rounded = __builtin_bit_cast(float, (bits + (uint32_t{1} << (kBits - 1)) - 1 + odd) & kept);
    return std::is_same_v<S, half> && std::abs(a) <= 0x1p-25f ? std::copysign(0.0f, a) : rounded;
  }
  float operator()(float a, float b) const { return Op::Whole(Rounded(a / b)); }
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
        return ctx.Error(y_operand, "needs divisors other than 0 for integers, found a 0");
      }
    } else if constexpr (ShortFloat<T> && requires(float quotient) { Op::Whole(quotient); }) {
      Broadcast<OfRounded<Op, T>, T>(loops, ctx);
    } else {
      Broadcast<Op, T>(loops, ctx);
    }
    return {};
  }
};
template <class Op>
constexpr DivisionRun<Op> RunDivision{};

template <class F, class Op>
struct ModRun : LinkedPairs<F> {
  template <class T>
  Status operator()(const kernels::BroadcastLoops& loops, RunContext& ctx) const {
    if constexpr (Integer<T>) {
      return RunDivision<Op>.template operator()<T>(loops, ctx);
    } else {
      Broadcast<F, T>(loops, ctx);
      return {};
    }
  }
};
template <class F, class Op>
constexpr ModRun<F, Op> RunMod{};
constexpr auto RunTruncateMod = RunMod<kernels::TruncatedFmod, TruncateModOp>;

constexpr char kZeroDivisor[] =
    "An integer divided by 0 is an error; floats give infinities and NaN. The lowest integer divided by -1 is itself.";
constexpr char kZeroModulus[] = "An integer modulo 0 is an error; floats give NaN.";

/// Gradients of a quotient by the block that divides.
template <const char* block>
Term Quotient(Term a, Term b) { return {a.builder, a.builder->Add(block, {{"x", {a}}, {"y", {b}}})}; }
template <const char* block>
GradientFunction QuotientGradient() {
  return GradientBy([](const Operands& of) { return Quotient<block>(of.dz, Conj(of.y)); },
                    [](const Operands& of) {
                      const Term cy = Conj(of.y);
                      return of.dz * Quotient<block>(Quotient<block>(-Conj(of.x), cy), cy);
                    });
}
constexpr char kRealDiv[] = "RealDiv", kDivNoNan[] = "DivNoNan", kFloorDiv[] = "FloorDiv";

}  // namespace

BlockDef Div() {
  return OfTwo("Div", "Divides x by y element by element; integers towards zero.", kNumbers)
      .Details(kZeroDivisor).Gradient(QuotientGradient<kRealDiv>()).Kernel(PlanBroadcast, RunDivision<DivideOp>);
}

BlockDef RealDiv() {
  return OfTwo("RealDiv", "Divides x by y element by element, for floats and complex numbers.", kAnalytic)
      .Gradient(QuotientGradient<kRealDiv>()).Kernel(PlanBroadcast, RunBroadcast<DivideOp>);
}

BlockDef Mod() {
  return OfTwo("Mod", "The rest of dividing x by y towards zero, element by element; it has the sign of x.", kModTypes)
      .Details(kZeroModulus).Kernel(PlanBroadcast, RunTruncateMod);
}

BlockDef DivNoNan() {
  return OfTwo("DivNoNan", "Divides x by y element by element; 0 where y is 0.", kAnalytic)
      .Internal().Gradient(QuotientGradient<kDivNoNan>()).Kernel(PlanBroadcast, RunBroadcast<DivNoNanOp>);
}

BlockDef FloorDiv() {
  return OfTwo("FloorDiv", "Divides x by y towards minus infinity, element by element.", kReals)
      .Details(kZeroDivisor).NotDifferentiable().Kernel(PlanBroadcast, RunDivision<FloorDivOp>);
}

BlockDef FloorMod() {
  // x - y floor(x / y), where the floor is a constant.
  return OfTwo("FloorMod", "The rest of dividing x by y towards minus infinity, element by element; it has the sign of y.", kReals)
      .Details(kZeroModulus)
      .Gradient(GradientBy([](const Operands& of) { return of.dz; },
                           [](const Operands& of) { return of.dz * -Quotient<kFloorDiv>(of.x, of.y); }))
      .Kernel(PlanBroadcast, RunMod<kernels::FlooredFmod, FloorModOp>);
}

BlockDef TruncateDiv() {
  return OfTwo("TruncateDiv", "Divides x by y towards zero, element by element.", kReals)
      .Details(kZeroDivisor).NotDifferentiable().Kernel(PlanBroadcast, RunDivision<TruncateDivOp>);
}

BlockDef TruncateMod() {
  return OfTwo("TruncateMod", "The rest of dividing x by y towards zero, element by element; it has the sign of x.", kModTypes)
      .Details(kZeroModulus).Kernel(PlanBroadcast, RunTruncateMod);
}

}  // namespace weft::blocks
