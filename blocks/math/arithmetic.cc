// Add, AddV2, Subtract, Multiply, SquaredDifference: arithmetic on two operands that are stretched over one another.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "T", "the common shape of x and y"};

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
      const int64_t bytes = BroadcastBytes(ctx.in<T>(x), loops.count) + BroadcastBytes(ctx.in<T>(y), loops.count);
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

Status AddGradient(GradientBuilder& g) {
  if (g.wanted(x)) g.Set(x, SumLike(g, g.grad(z), g.in(x)));
  if (g.wanted(y)) g.Set(y, SumLike(g, g.grad(z), g.in(y)));
  return {};
}

Status SubtractGradient(GradientBuilder& g) {
  if (g.wanted(x)) g.Set(x, SumLike(g, g.grad(z), g.in(x)));
  if (g.wanted(y)) g.Set(y, SumLike(g, Negated(g, g.grad(z)), g.in(y)));
  return {};
}

Status MultiplyGradient(GradientBuilder& g) {
  if (g.wanted(x)) g.Set(x, SumLike(g, Times(g, g.grad(z), Conjugate(g, g.in(y))), g.in(x)));
  if (g.wanted(y)) g.Set(y, SumLike(g, Times(g, Conjugate(g, g.in(x)), g.grad(z)), g.in(y)));
  return {};
}

/// Without a conjugate, also for complex numbers.
Status SquaredDifferenceGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(z), slope = Times(g, Times(g, g.Scalar(grad, 2), grad), Minus(g, g.in(x), g.in(y)));
  if (g.wanted(x)) g.Set(x, SumLike(g, slope, g.in(x)));
  if (g.wanted(y)) g.Set(y, SumLike(g, Negated(g, slope), g.in(y)));
  return {};
}

}  // namespace

BlockDef Add() {
  return Block("Add", "Adds two tensors element by element; strings are joined.")
      .Ports(x, y, z).Types("T", kAddable).Elementwise().Gradient(AddGradient).Kernel(PlanBroadcast, AddRun{});
}

BlockDef AddV2() {
  return Block("AddV2", "Adds two tensors of numbers element by element.")
      .Ports(x, y, z).Types("T", kNumbers).Elementwise().Gradient(AddGradient).Kernel(PlanBroadcast, RunBroadcast<AddOp>);
}

BlockDef Subtract() {
  return Block("Subtract", "Subtracts y from x element by element.")
      .Alias("Sub").Ports(x, y, z).Types("T", kNumbers).Elementwise().Gradient(SubtractGradient)
      .Kernel(PlanBroadcast, RunBroadcast<SubtractOp>);
}

BlockDef Multiply() {
  return Block("Multiply", "Multiplies two tensors element by element.")
      .Alias("Mul").Ports(x, y, z).Types("T", kNumbers).Elementwise().Gradient(MultiplyGradient)
      .Kernel(PlanBroadcast, RunBroadcast<MultiplyOp>);
}

BlockDef SquaredDifference() {
  return Block("SquaredDifference", "The square of x - y, element by element; of complex numbers the square of its absolute value.")
      .Ports(x, y, z).Types("T", kSquarable).Elementwise().Gradient(SquaredDifferenceGradient)
      .Kernel(PlanBroadcast, RunBroadcast<SquaredDifferenceOp>);
}

}  // namespace weft::blocks
