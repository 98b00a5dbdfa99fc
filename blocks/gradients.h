// Short names for what gradient functions build again and again.
#pragma once

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

}  // namespace weft::blocks
