// QuantizedConcat and QuantizedReshape: quantized integers moved about, with their ranges.
#include <cmath>

#include "blocks/array/reshape.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr TypeList<qint32, quint8> kMoved;

namespace concat {
constexpr In<0> concat_dim{"concat_dim", "DT_INT32", "a scalar: the axis along which values are joined, 0 or more"};
constexpr InList<1> values{"values", "T", "N", "two or more, equal in every size but that of the axis"};
constexpr InList<2> input_mins{"input_mins", "DT_FLOAT", "N", "for each value a scalar: the number that its lowest integer stands for"};
constexpr InList<3> input_maxes{"input_maxes", "DT_FLOAT", "N", "for each value a scalar: the number that its highest integer stands for"};
constexpr Out<0> output{"output", "T", "the shape of values, their sizes along the axis added up"};
constexpr RangeOut output_ends{"output_min", "output_max"};
constexpr Attr<int64_t> count{"N", kRequired, "how many values", nullptr, 2};

struct Joint {
  int64_t outer = 0, row = 0;  // rows of the output, and their length
  bool is_signed = false;
};

Status CheckEnds(const PlanContext& ctx) {
  for (int k = 0; k < ctx.count(values); ++k) {
    const Shape &low = ctx.shape(input_mins, k), &high = ctx.shape(input_maxes, k);
    if (!low.scalar()) return ctx.Error(input_mins, "needs scalars, found shape ", low, " at ", k);
    if (!high.scalar()) return ctx.Error(input_maxes, "needs scalars, found shape ", high, " at ", k);
  }
  return {};
}

Result<Joint> Plan(PlanContext& ctx) {
  if (!ctx.shape(concat_dim).scalar()) return ctx.Error(concat_dim, "needs a scalar, found shape ", ctx.shape(concat_dim));
  WEFT_RETURN_IF_ERROR(CheckEnds(ctx));
  const int64_t axis = ctx.ints(concat_dim)[0];
  const Shape& first = ctx.shape(values);
  if (axis < 0 || axis >= first.rank()) return ctx.Error(concat_dim, "needs an axis of values ", first, ", found ", axis);
  const int at = static_cast<int>(axis);
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  for (int k = 1; k < ctx.count(values); ++k) {
    const Shape& other = ctx.shape(values, k);
    Shape fitted = other;
    if (other.rank() == first.rank()) fitted.set_dim(at, first[at]);
    if (fitted != first) return ctx.Error(values, "needs shapes that agree but for axis ", axis, ", found ", first, " and ", other);
    if (__builtin_add_overflow(dims[at], other[at], &dims[at])) return ctx.Error(values, "needs sizes that can be added up");
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, values));
  const Shape& joined = ctx.planned().outputs[0];
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(joined, values.name));
  Joint joint;
  joint.is_signed = ctx.dtype(values) == DType::kQInt32;
  if (joined.count() > 0) {
    joint.outer = joined.count(0, at);
    joint.row = joined.count() / joint.outer;
  }
  return joint;
}

/// Holds all ranges, and no number above zero is its least; of signed integers it lies the same way on both sides of zero.
QuantizedRange CommonRange(const Joint& joint, const RunContext& ctx) {
  QuantizedRange all{0.0f, std::numeric_limits<float>::lowest()};
  for (int k = 0; k < ctx.count(values); ++k) {
    all.min = std::min(all.min, ctx.in<float>(input_mins, k)[0]);
    all.max = std::max(all.max, ctx.in<float>(input_maxes, k)[0]);
  }
  if (!joint.is_signed) return all;
  const float largest = std::max(std::fabs(all.min), std::fabs(all.max));
  return {-largest, largest};
}

constexpr auto Run = []<class T>(const Joint& joint, RunContext& ctx) {
  const QuantizedRange to_range = CommonRange(joint, ctx);
  const kernels::Quantizer quantizer = kernels::MakeQuantizer(to_range, LimitsOf<T>());
  T* to = ctx.out<T>(output).data();
  for (int k = 0; joint.outer > 0 && k < ctx.count(values); ++k) {
    const auto from = ctx.in<T>(values, k);
    const int64_t piece = static_cast<int64_t>(from.size()) / joint.outer;
    const QuantizedRange range{ctx.in<float>(input_mins, k)[0], ctx.in<float>(input_maxes, k)[0]};
    const bool same = range.min == to_range.min && range.max == to_range.max;
    const kernels::Dequantizer dequantizer = kernels::MakeDequantizer(range, LimitsOf<T>());
    kernels::ForEach(ctx.workers(), joint.outer, std::max<int64_t>(1, kQuantizedGrain / std::max<int64_t>(piece, 4)), [&](int64_t row) {
      const T* source = from.data() + row * piece;
      T* target = to + row * joint.row;
      ctx.workers().For(piece, 2 * kQuantizedGrain, [&](int64_t begin, int64_t end) {
        if (same) std::copy(source + begin, source + end, target + begin);
        else kernels::Requantize(dequantizer, quantizer, source + begin, target + begin, end - begin);
      });
    });
    to += piece;
  }
  SetRange(ctx, output_ends, to_range);
};
}  // namespace concat

namespace reshape {
constexpr In<0> tensor{"tensor", "T", "of any shape"};
constexpr In<1> shape{"shape", "Tshape", "[rank]: the new sizes; one of them may be -1, and is then what the others leave"};
constexpr RangeIn<2> input_ends{"input_min", "input_max"};
constexpr Out<0> output{"output", "T", "the same elements in the new shape"};
constexpr RangeOut output_ends{"output_min", "output_max", "input_min", "input_max"};

Status Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, input_ends));
  return PlanReshape(ctx);
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  const auto from = ctx.in<T>(tensor);
  const auto to = ctx.out<T>(output);
  ctx.workers().For(static_cast<int64_t>(from.size()), 8 * kQuantizedGrain,
                    [&](int64_t begin, int64_t end) { std::copy_n(from.data() + begin, end - begin, to.data() + begin); });
  SetRange(ctx, output_ends, RangeOf(ctx, input_ends));
};
}  // namespace reshape

}  // namespace

BlockDef QuantizedConcat() {
  using namespace concat;
  return Block("QuantizedConcat", "Joins quantized tensors along an axis, in a range that holds all of theirs.")
      .Ports(concat_dim, values, input_mins, input_maxes, output, output_ends.min, output_ends.max).Attrs(count)
      .Inferred(count).Types("T", kMoved).ShapedBy(concat_dim)
      .Kernel(Plan, Run);
}

BlockDef QuantizedReshape() {
  using namespace reshape;
  return Block("QuantizedReshape", "The same quantized elements under another shape, with their range.")
      .Ports(tensor, shape, input_ends.min, input_ends.max, output, output_ends.min, output_ends.max).Types("T", kMoved)
      .Types("Tshape", kIndices).ShapedBy(shape)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
