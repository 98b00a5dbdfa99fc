// What gradients of the segment blocks are built of.
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

/// The elements of data that equal the extreme of their segment share its gradient evenly.
inline GradientValue SegmentExtremeGradient(GradientBuilder& g, GradientValue data, GradientValue ids, GradientValue extreme,
                                            GradientValue grad) {
  const GradientValue equal = g.Add("Equal", {{"x", {data}}, {"y", {SegmentSpread(g, extreme, ids)}}});
  const GradientValue chosen = g.Add("Cast", {{"x", {equal}}}, {{"DstT", g.dtype(data)}});
  const GradientValue count = SegmentSumLike(g, chosen, ids, extreme);
  // Of a segment without rows the gradient goes nowhere; it is not divided by 0.
  const GradientValue divisor = g.Add("Maximum", {{"x", {count}}, {"y", {g.Scalar(count, 1)}}});
  return Times(g, chosen, SegmentSpread(g, g.Add("RealDiv", {{"x", {grad}}, {"y", {divisor}}}), ids));
}

}  // namespace weft::blocks
