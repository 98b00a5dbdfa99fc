// QuantizeAndDequantizeV2: what numbers become when they are quantized and back.

#include "blocks/kernels/first_where.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {

enum class TripRounding : uint8_t { HALF_TO_EVEN, HALF_UP };

}  // namespace weft::blocks

namespace weft {

template <>
struct EnumTexts<blocks::TripRounding> {
  static constexpr const char* values[] = {"HALF_TO_EVEN", "HALF_UP"};
};

}  // namespace weft

namespace weft::blocks {
namespace {

using kernels::RoundTrip;

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> input_min{"input_min", "T", "the least number, where the range is given: a scalar, or [slices] where an axis is given"};
constexpr In<2> input_max{"input_max", "T", "the largest number, of the same shape"};
constexpr Out<0> output{"output", "T", "the shape of input"};
constexpr Attr<bool> signed_input{"signed_input", "true", "integers below zero as well; false: from 0 on"};
constexpr Attr<int64_t> num_bits{"num_bits", "8", "bits of an integer: 1 to 61, or 62 where signed_input is false"};
constexpr Attr<bool> range_given{"range_given", "false",
    "use input_min and input_max, and cut numbers to them; false: the range of the input"};
constexpr Attr<TripRounding> round_mode{"round_mode", "HALF_TO_EVEN", "where halves go"};
constexpr Attr<bool> narrow_range{"narrow_range", "false", "the lowest integer is not used"};
constexpr Attr<int64_t> axis{"axis", "-1", "the axis along which each slice has a range of its own; -1: one range for all"};

constexpr int64_t kLongSlice = 4 * kQuantizedGrain;  // elements
bool HasLongSlices(const SlicedTensor& t) { return t.outer * t.inner > kLongSlice; }

/// How a long slice is cut where its ends are looked for: pieces of several of its rows, or of a part of one.
struct SliceCut {
  int64_t rows, width;    // of a piece
  int64_t parts, pieces;  // of a row, of a slice

  explicit SliceCut(const SlicedTensor& t)
      : rows(std::max<int64_t>(1, kLongSlice / t.inner)), width(std::min(t.inner, kLongSlice)), parts(DivideUp(t.inner, width)),
        pieces(DivideUp(t.outer, rows) * parts) {}
};

struct Trips {
  SlicedTensor tensor;
  int64_t bits = 8;
  bool is_signed = true, given = false, even = true, narrow = false;
};

Result<Trips> Plan(PlanContext& ctx) {
  Trips trips;
  trips.is_signed = ctx.attr(signed_input);
  trips.bits = ctx.attr(num_bits);
  const int64_t most = trips.is_signed ? 61 : 62;
  if (trips.bits < 1 || trips.bits > most) return ctx.Error(num_bits, "needs 1 to ", most, ", found ", trips.bits);
  WEFT_ASSIGN_OR_RETURN(trips.tensor, PlanSlices(ctx, input, input_min, input_max, axis));
  trips.given = ctx.attr(range_given);
  trips.even = ctx.attr(round_mode) == TripRounding::HALF_TO_EVEN;
  trips.narrow = ctx.attr(narrow_range);
  ctx.set(output, ctx.shape(input));
  const int64_t element = static_cast<int64_t>(ElementSize(ctx.dtype(input)));
  int64_t pieces = 1;  // whose ends are looked for apart
  if (!trips.given && trips.tensor.rows() == 1) pieces = EndPieces(trips.tensor.inner);
  else if (!trips.given && HasLongSlices(trips.tensor)) pieces = trips.tensor.slices * SliceCut(trips.tensor).pieces;
  ctx.set_scratch(trips.tensor.slices * (4 * element + 8) + 2 * pieces * element);
  return trips;
}

/// The least and the largest number of columns [first, first + width) of rows [begin, end) of a slice.
template <class T>
Ends<T> EndsOf(const SlicedTensor& t, int64_t slice, const T* from, int64_t begin, int64_t end, int64_t first, int64_t width) {
  Ends<T> ends;
  for (int64_t o = begin; o < end; ++o) ends.Include(from + (o * t.slices + slice) * t.inner + first, width);
  return ends;
}

/// Calls prepare(slice, its ends) for slices that are cut into pieces, for which `found` has memory.
template <class T>
void ForLongSlices(const SlicedTensor& t, const T* from, Ends<T>* found, Workers& workers, const auto& prepare) {
  const SliceCut cut(t);
  kernels::ForEach(workers, t.slices * cut.pieces, 1, [&](int64_t i) {
    const int64_t piece = i % cut.pieces, row = piece / cut.parts * cut.rows, column = piece % cut.parts * cut.width;
    found[i] = EndsOf(t, i / cut.pieces, from, row, std::min(t.outer, row + cut.rows), column, std::min(cut.width, t.inner - column));
  });
  kernels::ForEach(workers, t.slices, 1, [&](int64_t s) { prepare(s, Together(found + s * cut.pieces, cut.pieces)); });
}

constexpr auto Run = []<class T>(const Trips& trips, RunContext& ctx) -> Status {
  const SlicedTensor& t = trips.tensor;
  const T *from = ctx.in<T>(input).data(), *lows = ctx.in<T>(input_min).data(), *highs = ctx.in<T>(input_max).data();
  auto* made = ctx.scratch<RoundTrip<T>>().data();
  auto* pieces = reinterpret_cast<Ends<T>*>(made + t.slices);
  const auto prepare = [&](int64_t s, Ends<T> ends) {
    made[s] = kernels::MakeRoundTrip(ends.min, ends.max, trips.is_signed, trips.bits, trips.narrow);
    made[s].clamp = trips.given;
    made[s].even = trips.even;
  };
  if (trips.given) {
    WEFT_ASSIGN_OR_RETURN(const int64_t bad, kernels::FirstWhere(ctx.workers(), t.slices, [&](int64_t s) { return !(lows[s] <= highs[s]); }));
    if (bad >= 0) return ctx.Error(input_max, "needs no less than input_min, which is ", lows[bad], ", found ", highs[bad]);
    kernels::ForEach(ctx.workers(), t.slices, kSlicesTogether, [&](int64_t s) { prepare(s, {lows[s], highs[s]}); });
  } else if (t.rows() == 1) {
    prepare(0, EndsOfAll(from, t.inner, pieces, ctx.workers()));
  } else if (HasLongSlices(t)) {
    ForLongSlices(t, from, pieces, ctx.workers(), prepare);
  } else {
    const int64_t grain = std::max<int64_t>(1, kQuantizedGrain / std::max<int64_t>(t.outer * t.inner, 1));
    kernels::ForEach(ctx.workers(), t.slices, grain, [&](int64_t s) { prepare(s, EndsOf(t, s, from, 0, t.outer, 0, t.inner)); });
  }
  T* to = ctx.out<T>(output).data();
  ForSlices(ctx, t, [&](int64_t s, int64_t first, int64_t n) { kernels::RunRoundTrip(made[s], from + first, to + first, n); });
  return {};
};

}  // namespace

BlockDef QuantizeAndDequantizeV2() {
  return Block("QuantizeAndDequantizeV2", "What numbers become when they are quantized and back.")
      .Details("The scale is the largest at which both ends of the range are integers of num_bits; zero stays zero. The gradient is "
               "handed on as it is.")
      .Ports(input, input_min, input_max, output).Attrs(signed_input, num_bits, range_given)
      .Types("T", TypeList<float, double>{}).Attrs(round_mode, narrow_range, axis)
      .Gradient([](GradientBuilder& g) { g.Set(input, g.grad(output)); }).Kernel(Plan, Run);
}

}  // namespace weft::blocks
