// Add, AddV2, Subtract, Multiply, SquaredDifference: arithmetic on two operands that are stretched over one another.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "T", "the common shape of x and y"};

constexpr auto kAddable = kFloats + kSigned + kComplexes + TypeList<uint8_t, std::string>{};
constexpr auto kSquarable = kFloats + TypeList<int32_t, int64_t>{} + kComplexes;

struct AddOp {
  template <class T>
  T operator()(T a, T b) const { return WrapAdd(a, b); }
  std::string operator()(const std::string& a, const std::string& b) const { return a + b; }
  template <class V>
  static V Of(V a, V b) { return a + b; }
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
      .Ports(x, y, z).Types("T", kAddable).Elementwise().Gradient(AddGradient).Kernel(PlanBroadcast, RunBroadcast<AddOp>);
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
