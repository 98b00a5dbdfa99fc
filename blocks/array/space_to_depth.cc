// SpaceToDepth, DepthToSpace: blocks of pixels that become channels, and back. Both are transpositions.
#include "blocks/element_moves.h"
#include "blocks/gradients.h"
#include "weft/block/block.h"

namespace weft {

enum class PixelLayout : uint8_t { NHWC, NCHW, NCHW_VECT_C };
template <>
struct EnumTexts<PixelLayout> {
  static constexpr const char* values[] = {"NHWC", "NCHW", "NCHW_VECT_C"};
};

}  // namespace weft

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T",
                      "[batch, height, width, depth]; for NCHW [batch, depth, height, width]; for NCHW_VECT_C [batch, depth / 4, "
                      "height, width, 4]"};
constexpr Out<0> output{"output", "T", "the same elements with space smaller and depth larger, or the other way round"};
constexpr Attr<int64_t> block_size{"block_size", kRequired, "height and width of a block", nullptr, 2};
constexpr Attr<PixelLayout> data_format{"data_format", "NHWC", "how the channels lie; NCHW_VECT_C: in fours"};

/// The picture's sizes, whatever the layout; `lanes` is the 4 of NCHW_VECT_C.
struct Picture {
  int64_t batch, height, width, depth, lanes;
};

Result<Picture> ReadPicture(const PlanContext& ctx, PixelLayout layout) {
  const Shape& s = ctx.shape(input);
  const int rank = layout == PixelLayout::NCHW_VECT_C ? 5 : 4;
  if (s.rank() != rank) return ctx.Error(input, "needs rank ", rank, ", found ", s);
  if (rank == 5 && s[4] != 4) return ctx.Error(input, "needs a last axis of size 4 for NCHW_VECT_C, found ", s);
  if (layout == PixelLayout::NHWC) return Picture{s[0], s[1], s[2], s[3], 1};
  return Picture{s[0], s[2], s[3], s[1], rank == 5 ? 4 : 1};
}

Status SetPicture(PlanContext& ctx, PixelLayout layout, const Picture& p) {
  std::vector<int64_t> dims = {p.batch, p.depth, p.height, p.width};
  if (layout == PixelLayout::NHWC) dims = {p.batch, p.height, p.width, p.depth};
  if (layout == PixelLayout::NCHW_VECT_C) dims.push_back(4);
  return ctx.set_checked(output, dims, input);
}

BoxMove Transposed(const PlanContext& ctx, std::vector<int64_t> dims, std::vector<int64_t> perm) {
  return TranspositionOf(dims, perm, ctx.dtype(input));
}

Result<BoxMove> PlanToDepth(PlanContext& ctx) {
  const PixelLayout layout = ctx.attr(data_format);
  const int64_t b = ctx.attr(block_size);
  WEFT_ASSIGN_OR_RETURN(const Picture p, ReadPicture(ctx, layout));
  const int64_t height = p.height / b, width = p.width / b;
  if (p.height % b != 0 || p.width % b != 0) {
    return ctx.Error(input, "needs height and width that block_size ", b, " divides, found ", p.height, " and ", p.width);
  }
  const auto cells = CheckedMultiply(b, b);
  const auto depth = cells ? CheckedMultiply(*cells, p.depth) : std::nullopt;
  if (!depth) return ctx.Error(block_size, "needs a depth that fits 63 bits, found ", b);
  WEFT_RETURN_IF_ERROR(SetPicture(ctx, layout, {p.batch, height, width, *depth, p.lanes}));
  if (layout == PixelLayout::NHWC) return Transposed(ctx, {p.batch, height, b, width, b, p.depth}, {0, 1, 3, 2, 4, 5});
  return Transposed(ctx, {p.batch, p.depth, height, b, width, b, p.lanes}, {0, 3, 5, 1, 2, 4, 6});
}

Result<BoxMove> PlanToSpace(PlanContext& ctx) {
  const PixelLayout layout = ctx.attr(data_format);
  const int64_t b = ctx.attr(block_size);
  WEFT_ASSIGN_OR_RETURN(const Picture p, ReadPicture(ctx, layout));
  const auto cells = CheckedMultiply(b, b), height = CheckedMultiply(b, p.height), width = CheckedMultiply(b, p.width);
  if (!cells || !height || !width) return ctx.Error(block_size, "needs height and width that fit 63 bits, found ", b);
  if (p.depth % *cells != 0) {
    return ctx.Error(input, "needs a depth that block_size squared, ", *cells, ", divides, found ", ctx.shape(input));
  }
  const int64_t depth = p.depth / *cells;
  WEFT_RETURN_IF_ERROR(SetPicture(ctx, layout, {p.batch, *height, *width, depth, p.lanes}));
  if (layout == PixelLayout::NHWC) return Transposed(ctx, {p.batch, p.height, p.width, b, b, depth}, {0, 1, 3, 2, 4, 5});
  return Transposed(ctx, {p.batch, b, b, depth, p.height, p.width, p.lanes}, {0, 3, 4, 1, 5, 2, 6});
}

// The gradient of one is the other.
Status GradientBy(GradientBuilder& g, const char* inverse) {
  if (g.attr(data_format) == PixelLayout::NCHW_VECT_C) return Unsupported("has no gradient for NCHW_VECT_C");
  g.Set(input, g.Add(inverse, {{"input", {g.grad(output)}}}, SameAttrs(g, {block_size.name, data_format.name})));
  return {};
}
Status ToDepthGradient(GradientBuilder& g) { return GradientBy(g, "DepthToSpace"); }
Status ToSpaceGradient(GradientBuilder& g) { return GradientBy(g, "SpaceToDepth"); }

}  // namespace

BlockDef SpaceToDepth() {
  return Block("SpaceToDepth", "Moves the pixels of square blocks into the channels.")
      .Ports(input, output).Types("T", kAllTypes).Attrs(block_size, data_format)
      .Gradient(ToDepthGradient).Kernel(PlanToDepth, RunBoxMove);
}

BlockDef DepthToSpace() {
  return Block("DepthToSpace", "Puts square blocks of pixels together from the channels.")
      .Ports(input, output).Types("T", kAllTypes).Attrs(block_size, data_format)
      .Gradient(ToSpaceGradient).Kernel(PlanToSpace, RunBoxMove);
}

}  // namespace weft::blocks
