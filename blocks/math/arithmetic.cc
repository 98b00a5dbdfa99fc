// Add, AddV2, Subtract, Multiply, Div, RealDiv, Mod: arithmetic on two operands that are stretched over one another.
#include <cmath>

#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> z{"z", "T", "the common shape of x and y"};

constexpr auto kDivisible = kFloats + kComplexes;
constexpr auto kAddable = kFloats + kSigned + kComplexes + TypeList<uint8_t, std::string>{};
constexpr TypeList<half, bfloat16, float, double, int32_t, int64_t> kModTypes;

struct AddOp {
  template <class T>
  T operator()(T a, T b) const { return WrapAdd(a, b); }
  std::string operator()(const std::string& a, const std::string& b) const { return a + b; }
};
struct SubtractOp {
  template <class T>
  T operator()(T a, T b) const { return WrapSubtract(a, b); }
};
struct MultiplyOp {
  template <class T>
  T operator()(T a, T b) const { return kernels::Product(a, b); }
};

struct DivideOp {
  template <class T>
  T operator()(T a, T b) const { return kernels::Quotient(a, b); }
};
/// The rest of a division towards zero: it has the sign of a.
struct ModOp {
  static constexpr int kCost = 8;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Integer<T>) return WrapSubtract(a, WrapMultiply(kernels::Quotient(a, b), b));
    else return std::fmod(a, b);
  }
};

/// As RunBroadcast, where integers must not be divided by zero.
template <class Op>
constexpr auto RunDivision = []<class T>(const kernels::BroadcastLoops& loops, RunContext& ctx) -> Status {
  if constexpr (Integer<T>) {
    if (loops.count > 0) {
      bool zero = false;
      for (T divisor : ctx.in<T>(y)) zero |= divisor == 0;
      if (zero) return ctx.Error(y, "needs divisors other than 0 for integers, found a 0");
    }
  }
  Broadcast<Op, T>(loops, ctx);
  return {};
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

GradientValue Quotient(GradientBuilder& g, GradientValue a, GradientValue b) { return g.Add("RealDiv", {{"x", {a}}, {"y", {b}}}); }

Status DivideGradient(GradientBuilder& g) {
  const GradientValue cy = Conjugate(g, g.in(y));
  if (g.wanted(x)) g.Set(x, SumLike(g, Quotient(g, g.grad(z), cy), g.in(x)));
  if (g.wanted(y)) {
    const GradientValue slope = Quotient(g, Quotient(g, Negated(g, Conjugate(g, g.in(x))), cy), cy);
    g.Set(y, SumLike(g, Times(g, g.grad(z), slope), g.in(y)));
  }
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
      .Ports(x, y, z).Types("T", kModTypes).Elementwise().Kernel(PlanBroadcast, RunDivision<ModOp>);
}

}  // namespace weft::blocks
