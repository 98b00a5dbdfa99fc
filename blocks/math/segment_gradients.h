// What gradients of the segment blocks are built of. Inputs 0 and 1 of these blocks are the data and its ids, output 0 is the result.
#pragma once

#include "blocks/gradients.h"

namespace weft::blocks {

/// Row i of the result is the row ids[i] of `values`, divided by the number of its ids for scale "mean", by the root of that for "sqrt_n".
inline GradientValue SegmentSpread(GradientBuilder& g, GradientValue values, GradientValue ids, const char* scale = "one") {
  return g.Add("SegmentSpread", {{"values", {values}}, {"segment_ids", {ids}}}, {{"scale", std::string(scale)}});
}
/// The rows of `data` added up by their ids, in the shape of `like`.
inline GradientValue SegmentSumLike(GradientBuilder& g, GradientValue data, GradientValue ids, GradientValue like) {
  return g.Add("SegmentSumLike", {{"data", {data}}, {"segment_ids", {ids}}, {"like", {like}}});
}

inline void SegmentSumGradient(GradientBuilder& g) { g.Set(In<0>{}, SegmentSpread(g, g.grad(Out<0>{}), g.in(In<1>{}))); }

/// The elements of data that equal the extreme of their segment share its gradient evenly.
inline void SegmentExtremeGradient(GradientBuilder& g) {
  const GradientValue ids = g.in(In<1>{}), extreme = g.out(Out<0>{});
  const GradientValue chosen = OneWhereEqual(g, g.in(In<0>{}), SegmentSpread(g, extreme, ids));
  const GradientValue count = SegmentSumLike(g, chosen, ids, extreme);
  // Of a segment without rows the gradient goes nowhere; it is not divided by 0.
  const GradientValue divisor = g.Add("Maximum", {{"x", {count}}, {"y", {g.Scalar(count, 1)}}});
  g.Set(In<0>{}, Times(g, chosen, SegmentSpread(g, Divided(g, g.grad(Out<0>{}), divisor), ids)));
}

}  // namespace weft::blocks
