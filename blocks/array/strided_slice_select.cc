#include "blocks/array/strided_slice.h"

#include <bit>

#include "blocks/broadcast.h"

namespace weft::blocks::strided {
namespace {

struct Masks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};

bool Has(int64_t mask, size_t i) { return i < 63 && (mask >> i & 1) != 0; }

// One axis of the tensor: the elements from `first` on, `count` of them.
struct Range {
  int64_t first, count;
};

// Where a number points, cut to the positions that a walk can begin and end at: [0, size] forward, [-1, size - 1] backward.
int64_t Place(int64_t number, int64_t size, bool backward) {
  if (number < 0) number += size;
  return std::clamp<int64_t>(number, backward ? -1 : 0, backward ? size - 1 : size);
}

Range RangeOf(int64_t begin, int64_t end, int64_t stride, bool from_first, bool to_last, int64_t size) {
  const bool backward = stride < 0;
  const int64_t first = from_first ? (backward ? size - 1 : 0) : Place(begin, size, backward);
  const int64_t last = to_last ? (backward ? -1 : size) : Place(end, size, backward);
  const int64_t length = last - first;
  if (length == 0 || (length < 0) != backward) return {first, 0};
  return {first, length / stride + (length % stride != 0)};
}

class Selector {
 public:
  Selector(const PlanContext& ctx, const Shape& shape, const Numbers& numbers)
      : ctx_(ctx), shape_(shape), numbers_(numbers), steps_(kernels::DenseSteps(shape.dims())),
        masks_{ctx.attr(begin_mask), ctx.attr(end_mask), ctx.attr(ellipsis_mask), ctx.attr(new_axis_mask), ctx.attr(shrink_axis_mask)} {}

  Result<Selection> Select() {
    const size_t count = numbers_.begin.size();
    // Bits past the last number count as well.
    if (std::popcount(static_cast<uint64_t>(masks_.ellipsis)) > 1) {
      return ctx_.Error(ellipsis_mask, "needs one bit at most, found ", masks_.ellipsis);
    }
    for (size_t i = 0; i < count; ++i) {
      if (Has(masks_.ellipsis, i)) TakeWhole(shape_.rank() - NumbersAfter(i));
      else if (Has(masks_.new_axis, i)) result_.axes.push_back({1, 0});
      else WEFT_RETURN_IF_ERROR(TakeAxis(i));
    }
    TakeWhole(shape_.rank());
    return std::move(result_);
  }

 private:
  // Axes of the tensor that the numbers behind `i` are for.
  int NumbersAfter(size_t i) const {
    int after = 0;
    while (++i < numbers_.begin.size()) after += !Has(masks_.new_axis, i);
    return after;
  }

  void TakeWhole(int until) {
    for (; axis_ < until; ++axis_) result_.axes.push_back({shape_[axis_], steps_[axis_]});
  }

  Status TakeAxis(size_t i) {
    if (axis_ >= shape_.rank()) {
      return InvalidArgument("needs numbers for the ", shape_.rank(), " axes of ", shape_, ", found ", numbers_.begin.size())
          .WithPort("begin");
    }
    const int64_t begin = numbers_.begin[i], stride = numbers_.strides[i], size = shape_[axis_], step = steps_[axis_];
    if (stride == 0) return InvalidArgument("needs strides other than 0, found 0 at ", i).WithPort("strides");
    if (Has(masks_.shrink, i)) {
      if (stride < 0) return InvalidArgument("needs 1 where the axis is taken out, found ", stride, " at ", i).WithPort("strides");
      const int64_t place = begin < 0 ? begin + size : begin;
      if (place < 0 || place >= size) {
        return InvalidArgument("needs ", -size, " to ", size - 1, " at ", i, " for axis ", axis_, " of ", shape_, ", found ", begin)
            .WithPort("begin");
      }
      result_.start += place * step;
    } else {
      const Range range = RangeOf(begin, numbers_.end[i], stride, Has(masks_.begin, i), Has(masks_.end, i), size);
      // A stride past the end is never walked.
      const int64_t walked = range.count > 1 ? stride * step : 0;
      if (range.count > 0) result_.start += range.first * step;
      result_.axes.push_back({range.count, walked});
    }
    ++axis_;
    return {};
  }

  const PlanContext& ctx_;
  const Shape& shape_;
  const Numbers& numbers_;
  const std::vector<int64_t> steps_;
  const Masks masks_;
  Selection result_;
  int axis_ = 0;
};

}  // namespace

Shape Selection::shape() const {
  std::vector<int64_t> dims;
  for (const SlicedAxis& axis : axes) dims.push_back(axis.size);
  return Shape(std::span<const int64_t>(dims));
}

Result<Selection> Select(const PlanContext& ctx, const Shape& shape, const Numbers& numbers) {
  WEFT_ASSIGN_OR_RETURN(Selection selection, Selector(ctx, shape, numbers).Select());
  if (selection.axes.size() > kMaxRank) {
    return InvalidArgument("needs a slice of at most ", kMaxRank, " axes, found ", selection.axes.size()).WithPort("begin");
  }
  return selection;
}

Result<BoxMove> MoveIntoSlice(const Selection& selection, const Shape& value, DType dtype, const char* port) {
  const Shape slice = selection.shape();
  if (slice.count() == 0) return MoveOf({{0, 0, 0}}, dtype, 0, selection.start);  // takes any value, none of it
  int extra = 0;  // first axes of size 1 that the slice has not
  while (value.rank() - extra > slice.rank() && value[extra] == 1) ++extra;
  const std::vector<int64_t> fitted(value.dims().begin() + extra, value.dims().end());
  if (!BroadcastsTo(Shape(std::span<const int64_t>(fitted)), slice)) {
    return InvalidArgument("needs a shape that can be stretched to that of the slice, ", slice, ", found ", value).WithPort(port);
  }
  const std::vector<int64_t> value_steps = kernels::DenseSteps(fitted);
  const int missing = slice.rank() - static_cast<int>(fitted.size());
  std::vector<kernels::Axis> box;
  for (int i = 0; i < slice.rank(); ++i) {
    const bool repeated = i < missing || fitted[i - missing] == 1;
    box.push_back({slice[i], repeated ? 0 : value_steps[i - missing], selection.axes[i].step});
  }
  return MoveOf(std::move(box), dtype, 0, selection.start);
}

}  // namespace weft::blocks::strided
