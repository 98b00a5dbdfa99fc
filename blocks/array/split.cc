// Split, SplitV, Unstack: a tensor cut into pieces along an axis.
#include "blocks/gradients.h"
#include "blocks/joined_columns.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr const char* kAxis = "a scalar: the axis that is cut; a negative one counts from the end";

constexpr In<0> axis{"axis", "DT_INT32", kAxis};
constexpr In<1> value{"value", "T", "of rank 1 or more"};
constexpr OutList<0> output{"output", "T", "num_split", "the pieces, in the order of the axis"};
constexpr Attr<int64_t> num_split{"num_split", kRequired, "how many pieces there are", nullptr, 1};

constexpr In<0> value_v{"value", "T", "of rank 1 or more"};
constexpr In<1> size_splits{"size_splits", "Tlen", "[num_split]: the size of each piece along the axis; one may be -1: the rest"};
constexpr In<2> axis_v{"axis", "DT_INT32", kAxis};

constexpr OutList<0> slices{"output", "T", "num", "the shape of value without the axis"};
constexpr Attr<int64_t> num{"num", kRequired, "the size of the axis", nullptr, 0};
constexpr Attr<int64_t> slice_axis{"axis", "0", "the axis that is taken apart; a negative one counts from the end"};

constexpr TypeList<int32_t, int64_t, int8_t> kLengths;

/// The pieces of a tensor, as many elements along axis `at` as `sizes` says.
JoinedColumns PiecesOf(const PlanContext& ctx, const InputPort auto& port, int at, const std::vector<int64_t>& sizes) {
  const Shape& shape = ctx.shape(port);
  JoinedColumns columns;
  columns.rows = shape.count(0, at);
  columns.moves = &MovesOf(ctx.dtype(port));
  const int64_t inner = shape.count(at + 1, shape.rank());
  for (int64_t size : sizes) columns.AddPart(size * inner);
  return columns;
}

/// The same, which are the outputs.
JoinedColumns CutAlong(PlanContext& ctx, const InputPort auto& port, int at, const std::vector<int64_t>& sizes) {
  for (size_t k = 0; k < sizes.size(); ++k) {
    Shape piece = ctx.shape(port);
    piece.set_dim(at, sizes[k]);
    ctx.set(output, std::move(piece), static_cast<int>(k));
  }
  return PiecesOf(ctx, port, at, sizes);
}

/// Of input number kValue.
template <int kValue>
constexpr auto Run = [](const JoinedColumns& columns, RunContext& ctx) {
  const auto part = [&](size_t k) { return ctx.out<std::byte>(output, static_cast<int>(k)).data(); };
  SplitColumns(columns, ctx.in<std::byte>(In<kValue>{}).data(), part, ctx.workers());
};

GradientValue Joined(GradientBuilder& g, GradientValue at) {
  const std::vector<GradientValue> pieces = GradientsOrZeros(g, output);
  return pieces.size() == 1 ? pieces[0] : g.Add("Concat", {{"values", pieces}, {"axis", {at}}});
}

// ---- Split -----------------------------------------------------------------------------------------------------------------

Result<JoinedColumns> PlanSplit(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value);
  if (shape.scalar()) return ctx.Error(value, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, axis, shape));
  const int64_t pieces = ctx.count(output);
  if (shape[at] % pieces != 0) {
    return ctx.Error(num_split, "needs a number that divides the size of axis ", at, " of ", shape, ", found ", pieces);
  }
  return CutAlong(ctx, value, at, std::vector<int64_t>(static_cast<size_t>(pieces), shape[at] / pieces));
}

// ---- SplitV ----------------------------------------------------------------------------------------------------------------

// The sizes of the pieces of an axis of `size`, with what is left in the place of -1.
Status CheckSizes(const PlanContext& ctx, std::vector<int64_t>& sizes, int64_t size) {
  int64_t left = size;
  int64_t* rest = nullptr;
  for (int64_t& piece : sizes) {
    if (piece == -1) {
      if (rest != nullptr) return ctx.Error(size_splits, "needs one -1 at most, found more");
      rest = &piece;
    } else if (piece < 0 || piece > left) {
      return ctx.Error(size_splits, "needs sizes of 0 or more that add up to ", size, ", found ", piece, " with ", left, " left");
    } else {
      left -= piece;
    }
  }
  if (rest != nullptr) *rest = left;
  else if (left > 0) return ctx.Error(size_splits, "needs sizes that add up to ", size, ", found ", size - left);
  return {};
}

Result<JoinedColumns> PlanSplitV(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value_v);
  const int pieces = ctx.count(output);
  if (shape.scalar()) return ctx.Error(value_v, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, axis_v, shape));
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, size_splits, pieces, "of the num_split pieces"));
  std::vector<int64_t> sizes = ctx.ints(size_splits);
  if (pieces == 1 && sizes[0] == -1) return ctx.Error(size_splits, "needs the size of the only piece, ", shape[at], ", found -1");
  WEFT_RETURN_IF_ERROR(CheckSizes(ctx, sizes, shape[at]));
  return CutAlong(ctx, value_v, at, sizes);
}

// ---- Unstack ---------------------------------------------------------------------------------------------------------------

Result<JoinedColumns> PlanUnstack(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value_v);
  if (shape.scalar()) return ctx.Error(value_v, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(const int at, AxisOf(ctx, slice_axis, ctx.attr(slice_axis), shape));
  const int64_t count = ctx.count(slices);
  if (shape[at] != count) return ctx.Error(value_v, "needs size num = ", count, " on axis ", at, ", found ", shape);
  JoinedColumns columns = PiecesOf(ctx, value_v, at, std::vector<int64_t>(static_cast<size_t>(count), 1));
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + at);
  for (int k = 0; k < count; ++k) ctx.set(slices, Shape(std::span<const int64_t>(dims)), k);
  return columns;
}

void UnstackGradient(GradientBuilder& g) {
  const std::vector<GradientValue> pieces = GradientsOrZeros(g, output);
  if (!pieces.empty()) g.Set(value_v, g.Add("Stack", {{"values", pieces}}, {{"axis", g.AttrOf("axis")}}));
}

}  // namespace

BlockDef Split() {
  return Block("Split", "Cuts a tensor into equal pieces along an axis.")
      .Ports(axis, value, output).Attrs(num_split).Types("T", kAllTypes).ShapedBy(axis)
      .Gradient([](GradientBuilder& g) { g.Set(value, Joined(g, g.in(axis))); }).Kernel(PlanSplit, Run<value.index>);
}

BlockDef SplitV() {
  return Block("SplitV", "Cuts a tensor into pieces of given sizes along an axis.")
      .Ports(value_v, size_splits, axis_v, output).Attrs(num_split).Types("T", kAllTypes).Types("Tlen", kLengths)
      .ShapedBy(size_splits, axis_v)
      .Gradient([](GradientBuilder& g) { g.Set(value_v, Joined(g, g.in(axis_v))); }).Kernel(PlanSplitV, Run<value_v.index>);
}

BlockDef Unstack() {
  return Block("Unstack", "Takes a tensor apart along an axis, which goes.")
      .Alias("Unpack").Ports(value_v, slices).Attrs(num).Types("T", kAllTypes).Attrs(slice_axis)
      .Gradient(UnstackGradient).Kernel(PlanUnstack, Run<value_v.index>);
}

}  // namespace weft::blocks
