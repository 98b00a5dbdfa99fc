// Blocks of one element-wise function in a few lines: name, summary, types, operation, and the gradient as a formula.
//
//   BlockDef Sin() {
//     return Function<VectorOp<Sin>>("Sin", "The sine of each element.", kAnalytic, [](Term x, Term, Term dy) { return dy * Of("Cos", Conj(x)); });
//   }
#pragma once

#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks::functions {

inline constexpr auto kAnalytic = kFloats + kComplexes;

// ---- of one argument ------------------------------------------------------------------------------------------------------

inline constexpr In<0> x{"x", "T", "any shape"};
inline constexpr Out<0> y{"y", "T", "the shape of x"};

/// The gradient with respect to the argument, of the argument, the result and the gradient with respect to that.
using Slope = Term (*)(Term x, Term y, Term dy);
inline GradientFunction GradientBy(Slope slope) {
  return [slope](GradientBuilder& g) -> Status {
    g.Set(In<0>{}, slope({&g, g.in(In<0>{})}, {&g, g.out(Out<0>{})}, {&g, g.grad(Out<0>{})}));
    return {};
  };
}

/// Output y = Op of input x. Without a slope gradients stop here.
template <class Op, class Types>
BlockDef Function(const char* name, const char* summary, Types types, Slope slope = nullptr, const In<0>& argument = x,
                  const Out<0>& result = y) {
  auto block = Block(name, summary).Ports(argument, result).Types("T", types).Elementwise();
  if (slope == nullptr) return std::move(block).NotDifferentiable().Kernel(PlanMap, RunMap<Op>);
  return std::move(block).Gradient(GradientBy(slope)).Kernel(PlanMap, RunMap<Op>);
}

// ---- of two, which are stretched over one another -------------------------------------------------------------------------

inline constexpr In<1> y_operand{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
inline constexpr Out<0> z{"z", "T", "the common shape of x and y"};

struct Operands {
  Term x, y, z, dz;
};
/// The gradient with respect to one operand, before it is summed to its shape.
using Partial = Term (*)(const Operands& of);
/// A null pointer: the operand has no gradient.
inline GradientFunction GradientBy(Partial of_x, Partial of_y) {
  return [of_x, of_y](GradientBuilder& g) -> Status {
    const In<0> x{};
    const In<1> y{};
    const Operands operands{{&g, g.in(x)}, {&g, g.in(y)}, {&g, g.out(Out<0>{})}, {&g, g.grad(Out<0>{})}};
    if (of_x != nullptr && g.wanted(x)) g.Set(x, SumLike(g, of_x(operands), operands.x));
    if (of_y != nullptr && g.wanted(y)) g.Set(y, SumLike(g, of_y(operands), operands.y));
    return {};
  };
}

auto OfTwo(const char* name, const char* summary, auto types) {
  return Block(name, summary).Ports(x, y_operand, z).Types("T", types).Elementwise();
}

// ---- gradients that go by the result --------------------------------------------------------------------------------------

/// The block of the gradient of a function with respect to its argument, from the function's result y; see function_gradients.cc.
inline Term FromResult(std::string_view block, Term y, Term dy) {
  return {y.builder, y.builder->Add(block, {{"y", {y}}, {"dy", {dy}}})};
}

}  // namespace weft::blocks::functions
