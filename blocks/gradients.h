// Short names for what gradient functions build again and again, and formulas of values: dy * Of("Cos", x).
#pragma once

#include <string_view>
#include <vector>

#include "weft/block/gradient.h"

namespace weft::blocks {

/// The complex conjugate; real values as they are.
inline GradientValue Conjugate(GradientBuilder& g, GradientValue v) { return IsComplex(g.dtype(v)) ? g.Add("Conj", {{"input", {v}}}) : v; }
inline GradientValue Times(GradientBuilder& g, GradientValue a, GradientValue b) { return g.Add("Multiply", {{"x", {a}}, {"y", {b}}}); }
inline GradientValue Plus(GradientBuilder& g, GradientValue a, GradientValue b) { return g.Add("AddV2", {{"x", {a}}, {"y", {b}}}); }
inline GradientValue Minus(GradientBuilder& g, GradientValue a, GradientValue b) { return g.Add("Subtract", {{"x", {a}}, {"y", {b}}}); }
inline GradientValue Divided(GradientBuilder& g, GradientValue a, GradientValue b) { return g.Add("RealDiv", {{"x", {a}}, {"y", {b}}}); }
/// A function of one argument, x.
inline GradientValue Applied(GradientBuilder& g, std::string_view block, GradientValue v) { return g.Add(block, {{"x", {v}}}); }
inline GradientValue Negated(GradientBuilder& g, GradientValue v) { return g.Add("Negate", {{"x", {v}}}); }
/// Elements of t where the condition holds, of e elsewhere; all three are stretched over one another.
inline GradientValue Chosen(GradientBuilder& g, GradientValue condition, GradientValue t, GradientValue e) {
  return g.Add("SelectV2", {{"condition", {condition}}, {"t", {t}}, {"e", {e}}});
}
/// A gradient summed over the axes along which `like` was repeated.
inline GradientValue SumLike(GradientBuilder& g, GradientValue grad, GradientValue like) {
  return g.Add("SumLike", {{"grad", {grad}}, {"like", {like}}});
}

/// 1 where a and b are equal, 0 elsewhere, in the type of a.
inline GradientValue OneWhereEqual(GradientBuilder& g, GradientValue a, GradientValue b) {
  return g.Add("Cast", {{"x", {g.Add("Equal", {{"x", {a}}, {"y", {b}}})}}}, {{"DstT", g.dtype(a)}});
}

/// The gradients of a list of outputs, zeros for those that nothing depends on.
std::vector<GradientValue> GradientsOrZeros(GradientBuilder& g, const OutputPort auto& list) {
  std::vector<GradientValue> gradients;
  for (int k = 0; k < g.count(list); ++k) {
    const GradientValue given = g.grad(list, k);
    gradients.push_back(given.valid() ? given : Applied(g, "ZerosLike", g.out(list, k)));
  }
  return gradients;
}

/// Attributes as the block has them.
inline GradientAttrs SameAttrs(const GradientBuilder& g, const std::vector<std::string_view>& names) {
  GradientAttrs attrs;
  for (std::string_view name : names) attrs.emplace_back(name, g.AttrOf(name));
  return attrs;
}

/// A value in a formula.
struct Term {
  GradientBuilder* builder;
  GradientValue value;
  operator GradientValue() const { return value; }
  /// A scalar of its type.
  Term Scalar(double number) const { return {builder, builder->Scalar(value, number)}; }
};
inline Term operator+(Term a, Term b) { return {a.builder, Plus(*a.builder, a, b)}; }
inline Term operator-(Term a, Term b) { return {a.builder, Minus(*a.builder, a, b)}; }
inline Term operator*(Term a, Term b) { return {a.builder, Times(*a.builder, a, b)}; }
inline Term operator/(Term a, Term b) { return {a.builder, Divided(*a.builder, a, b)}; }
inline Term operator-(Term a) { return {a.builder, Negated(*a.builder, a)}; }
inline Term operator+(double a, Term b) { return b.Scalar(a) + b; }
inline Term operator-(double a, Term b) { return b.Scalar(a) - b; }
inline Term operator*(double a, Term b) { return b.Scalar(a) * b; }
inline Term operator+(Term a, double b) { return a + a.Scalar(b); }
inline Term operator-(Term a, double b) { return a - a.Scalar(b); }
inline Term operator*(Term a, double b) { return a * a.Scalar(b); }
/// A function of one argument, x.
inline Term Of(std::string_view block, Term x) { return {x.builder, Applied(*x.builder, block, x)}; }
inline Term Conj(Term a) { return {a.builder, Conjugate(*a.builder, a)}; }

}  // namespace weft::blocks
