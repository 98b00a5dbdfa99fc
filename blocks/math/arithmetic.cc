// Add, AddV2, Subtract, Multiply, SquaredDifference, Maximum, Minimum: two operands that are stretched over one another.
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;

constexpr auto kAddable = kFloats + kSigned + kComplexes + TypeList<uint8_t, String>{};
constexpr auto kSquarable = kFloats + TypeList<int32_t, int64_t>{} + kComplexes;
constexpr int64_t kMostBytes = int64_t{1} << 61;  // more than there is memory, also twice

struct AddOp {
  template <class T>
  T operator()(T a, T b) const { return WrapAdd(a, b); }
  String operator()(const String& a, const String& b) const { return a + b; }
  template <class V>
  static V Of(V a, V b) { return a + b; }
};

/// The bytes of strings that a broadcast reads `count` of, each as often as the others.
int64_t BroadcastBytes(std::span<const String> strings, int64_t count) {
  uint64_t bytes = 0;
  for (const String& text : strings) bytes += text.size();
  const uint64_t times = strings.empty() ? 0 : static_cast<uint64_t>(count) / strings.size();
  return CheckedMultiply(static_cast<int64_t>(bytes), static_cast<int64_t>(times)).value_or(kMostBytes);
}

/// Strings grow as they are joined: what the memory has no room for is refused before it is made.
struct AddRun : BroadcastRun<AddOp> {
  template <class T>
  Status operator()(const kernels::BroadcastLoops& loops, RunContext& ctx) const {
    if constexpr (std::is_same_v<T, String>) {
      const int64_t bytes = BroadcastBytes(ctx.in<T>(x), loops.count) + BroadcastBytes(ctx.in<T>(y_operand), loops.count);
      if (ctx.budget() != nullptr && bytes > ctx.budget()->available()) return ctx.budget()->Refusal(bytes);
    }
    Broadcast<AddOp, T>(loops, ctx);
    return {};
  }
};

struct SubtractOp {
  template <class T>
  T operator()(T a, T b) const { return WrapSubtract(a, b); }
  template <class V>
  static V Of(V a, V b) { return a - b; }
};
struct MultiplyOp {
  template <class T>
  T operator()(T a, T b) const { return kernels::Multiplied(a, b); }
  template <class V>
  static V Of(V a, V b) { return a * b; }
};

/// Of complex numbers the square of the distance.
struct SquaredDifferenceOp {
  template <class T>
  T operator()(const T& a, const T& b) const {
    const T difference = WrapSubtract(a, b);
    if constexpr (Complex<T>) return {difference.real() * difference.real() + difference.imag() * difference.imag(), 0};
    else return WrapMultiply(difference, difference);
  }
  template <class V>
  static V Of(V a, V b) { return (a - b) * (a - b); }
};

Term SameGradient(const Operands& of) { return of.dz; }
Term NegatedGradient(const Operands& of) { return -of.dz; }

/// Without a conjugate, also for complex numbers.
void SquaredDifferenceGradient(GradientBuilder& g) {
  const Term a{&g, g.in(x)}, b{&g, g.in(y_operand)}, dz{&g, g.grad(z)}, slope = 2 * dz * (a - b);
  if (g.wanted(x)) g.Set(x, SumLike(g, slope, a));
  if (g.wanted(y_operand)) g.Set(y_operand, SumLike(g, -slope, b));
}

/// NaN where either is NaN.
struct MaximumOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return a < b ? b : a;
    else return a >= b || a != a ? a : b;
  }
  template <class V>
  static V Of(V a, V b) { return (a >= b) | (a != a) ? a : b; }
};
struct MinimumOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return b < a ? b : a;
    else return a <= b || a != a ? a : b;
  }
  template <class V>
  static V Of(V a, V b) { return (a <= b) | (a != a) ? a : b; }
};

/// Where the comparison says that x was taken, ties included, its gradient is that of the result; elsewhere it goes to y.
template <class Op>
BlockDef Choice(const char* name, const char* summary, const char* takes_x) {
  const auto gradient = [takes_x](GradientBuilder& g) -> Status {
    const GradientValue grad = g.grad(z), zero = g.Scalar(grad, 0);
    const GradientValue takes = g.Add(takes_x, {{"x", {g.in(x)}}, {"y", {g.in(y_operand)}}});
    if (g.wanted(x)) g.Set(x, SumLike(g, Chosen(g, takes, grad, zero), g.in(x)));
    if (g.wanted(y_operand)) g.Set(y_operand, SumLike(g, Chosen(g, takes, zero, grad), g.in(y_operand)));
    return {};
  };
  return OfTwo(name, summary, kReals).Gradient(gradient).Kernel(PlanBroadcast, RunBroadcast<Op>);
}

}  // namespace

BlockDef Add() {
  return OfTwo("Add", "Adds two tensors element by element; strings are joined.", kAddable)
      .Gradient(GradientBy(SameGradient, SameGradient)).Kernel(PlanBroadcast, AddRun{});
}

BlockDef AddV2() {
  return OfTwo("AddV2", "Adds two tensors of numbers element by element.", kNumbers)
      .Gradient(GradientBy(SameGradient, SameGradient)).Kernel(PlanBroadcast, RunBroadcast<AddOp>);
}

BlockDef Subtract() {
  return OfTwo("Subtract", "Subtracts y from x element by element.", kNumbers)
      .Alias("Sub").Gradient(GradientBy(SameGradient, NegatedGradient)).Kernel(PlanBroadcast, RunBroadcast<SubtractOp>);
}

BlockDef Multiply() {
  return OfTwo("Multiply", "Multiplies two tensors element by element.", kNumbers)
      .Alias("Mul")
      .Gradient(GradientBy([](const Operands& of) { return of.dz * Conj(of.y); }, [](const Operands& of) { return Conj(of.x) * of.dz; }))
      .Kernel(PlanBroadcast, RunBroadcast<MultiplyOp>);
}

BlockDef SquaredDifference() {
  return OfTwo("SquaredDifference", "The square of x - y, element by element; of complex numbers the square of its absolute value.",
               kSquarable)
      .Gradient(SquaredDifferenceGradient).Kernel(PlanBroadcast, RunBroadcast<SquaredDifferenceOp>);
}

BlockDef Maximum() {
  return Choice<MaximumOp>("Maximum", "The larger of x and y, element by element; NaN where either is NaN.", "GreaterEqual");
}

BlockDef Minimum() {
  return Choice<MinimumOp>("Minimum", "The smaller of x and y, element by element; NaN where either is NaN.", "LessEqual");
}

}  // namespace weft::blocks
