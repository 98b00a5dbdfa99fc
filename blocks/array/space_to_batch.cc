// SpaceToBatch, BatchToSpace and their forms for any number of axes: blocks of space that become entries of the batch, and back.
#include <algorithm>

#include "blocks/array/pad.h"
#include "blocks/gradient_block.h"
#include "blocks/kernels/stop_check.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr const char* kBlockShape = "[M]: the size of a block along each of the axes 1 to M";

constexpr In<0> input{"input", "T", "[batch, height, width, depth]"};
constexpr In<0> input_nd{"input", "T", "[batch, M axes of space, ...]"};
constexpr In<1> paddings{"paddings", "Tpaddings", "[2, 2]: zeros in front of and behind height and width"};
constexpr In<1> crops{"crops", "Tidx", "[2, 2]: how much is cut off in front of and behind height and width"};
constexpr In<1> block_shape{"block_shape", "Tblock_shape", kBlockShape};
constexpr In<2> paddings_nd{"paddings", "Tpaddings", "[M, 2]: zeros in front of and behind each axis of space"};
constexpr In<2> crops_nd{"crops", "Tcrops", "[M, 2]: how much is cut off in front of and behind each axis of space"};
constexpr Out<0> output{"output", "T", "the batch larger, space smaller by the size of a block, or the other way round"};
constexpr Attr<int64_t> block_size{"block_size", kRequired, "height and width of a block", nullptr, 2};

/// An axis of space. Place p of space, counted without the padding, is cell o of block offset k where p = o * block + k - before.
struct BlockAxis {
  int64_t block, space, cells, before;

  /// The cells [first, last) whose places exist for block offset k.
  int64_t first(int64_t k) const { return k >= before ? 0 : std::min(cells, DivideUp(before - k, block)); }
  int64_t last(int64_t k) const {
    const int64_t places = space + before - k;  // from cell 0 to the end of space
    return places <= 0 ? first(k) : std::clamp(DivideUp(places, block), first(k), cells);
  }
};

/// The tensor as [batch, space of each axis..., inner] and as [offsets in a block, batch, cells of each axis..., inner].
struct Blocks {
  int64_t batch = 0, inner = 1;
  std::vector<BlockAxis> axes;  // one at least
  int64_t rows = 0;             // of cells of the last axis
  const ElementMoves* moves = nullptr;
};

/// What both directions read: block sizes and pairs of paddings or crops.
struct Settings {
  std::vector<int64_t> block;
  std::vector<FramedAxis> frames;  // sizes are the input's
};

Result<Settings> ReadSettings(const PlanContext& ctx, const InputPort auto& pairs, std::vector<int64_t> block) {
  const Shape& shape = ctx.shape(input);
  const int64_t count = static_cast<int64_t>(block.size());
  const Shape space(shape.dims().subspan(1, block.size()));
  if (ctx.shape(pairs) != Shape{count, 2}) return ctx.Error(pairs, "needs [", count, ",2], found ", ctx.shape(pairs));
  WEFT_ASSIGN_OR_RETURN(std::vector<FramedAxis> frames, ReadPaddings(ctx, pairs, space));
  return Settings{std::move(block), std::move(frames)};
}

Result<Settings> ReadSquare(const PlanContext& ctx, const InputPort auto& pairs) {
  if (ctx.shape(input).rank() != 4) return ctx.Error(input, "needs [batch, height, width, depth], found ", ctx.shape(input));
  const int64_t size = ctx.attr(block_size);
  return ReadSettings(ctx, pairs, {size, size});
}

Result<Settings> ReadAnyRank(const PlanContext& ctx, const InputPort auto& pairs) {
  const Shape& sizes = ctx.shape(block_shape);
  if (sizes.rank() != 1) return ctx.Error(block_shape, "needs a vector of sizes, found ", sizes);
  if (ctx.shape(input).rank() < sizes[0] + 1) {
    return ctx.Error(input_nd, "needs rank ", sizes[0] + 1, " or more for blocks of ", sizes[0], " axes, found ", ctx.shape(input));
  }
  std::vector<int64_t> block = ctx.ints(block_shape);
  for (int64_t size : block) {
    if (size < 1) return ctx.Error(block_shape, "needs sizes of 1 or more, found ", size);
  }
  return ReadSettings(ctx, pairs, std::move(block));
}

// The product of the block's sizes.
Result<int64_t> BlockCount(const PlanContext& ctx, const std::vector<int64_t>& block) {
  int64_t count = 1;
  for (int64_t size : block) {
    const auto product = CheckedMultiply(count, size);
    if (!product) return ctx.Error(input, "needs blocks of fewer elements than 2^63");
    count = *product;
  }
  return count;
}

// The parameters, where `axes` and the batch of the space are known.
Blocks Finish(const PlanContext& ctx, int64_t batch, std::vector<BlockAxis> axes) {
  Blocks blocks;
  const Shape& shape = ctx.shape(input);
  blocks.moves = &MovesOf(ctx.dtype(input));
  if (shape.count() == 0 || ctx.planned().outputs[0].count() == 0) blocks.inner = 0;
  else blocks.inner = shape.count(1 + static_cast<int>(axes.size()), shape.rank());
  blocks.batch = batch;
  // Axes that are left whole belong to the elements that move together.
  while (!axes.empty() && axes.back().block == 1 && axes.back().space == axes.back().cells) {
    blocks.inner *= axes.back().space;
    axes.pop_back();
  }
  if (axes.empty()) axes.push_back({1, 1, 1, 0});
  if (blocks.inner > 0) {
    blocks.rows = batch;
    for (size_t a = 0; a < axes.size(); ++a) blocks.rows *= a + 1 < axes.size() ? axes[a].cells * axes[a].block : axes[a].block;
  }
  blocks.axes = std::move(axes);
  return blocks;
}

Result<Blocks> PlanToBatch(PlanContext& ctx, Result<Settings> read, const char* port) {
  if (!read.ok()) return std::move(read).status();
  const Settings& settings = *read;
  const Shape& shape = ctx.shape(input);
  WEFT_ASSIGN_OR_RETURN(const int64_t count, BlockCount(ctx, settings.block));
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  std::vector<BlockAxis> axes;
  for (size_t a = 0; a < settings.block.size(); ++a) {
    const FramedAxis& frame = settings.frames[a];
    const int64_t block = settings.block[a];
    if (frame.total() % block != 0) {
      return ctx.Error(input, "needs a size with padding, ", frame.total(), " of axis ", a + 1, ", that blocks of ", block, " divide");
    }
    dims[a + 1] = frame.total() / block;
    axes.push_back({block, frame.size, dims[a + 1], frame.before});
  }
  const auto batch = CheckedMultiply(shape[0], count);
  if (!batch) return ctx.Error(input, "needs a batch of fewer than 2^63 blocks");
  dims[0] = *batch;
  if (Status status = ctx.set_checked(output, dims, input); !status.ok()) return std::move(status).WithPort(port);
  return Finish(ctx, shape[0], std::move(axes));
}

Result<Blocks> PlanToSpace(PlanContext& ctx, Result<Settings> read, const char* port) {
  if (!read.ok()) return std::move(read).status();
  const Settings& settings = *read;
  const Shape& shape = ctx.shape(input);
  WEFT_ASSIGN_OR_RETURN(const int64_t count, BlockCount(ctx, settings.block));
  if (shape[0] % count != 0) return ctx.Error(input, "needs a batch that ", count, " divides, found ", shape);
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] /= count;
  std::vector<BlockAxis> axes;
  for (size_t a = 0; a < settings.block.size(); ++a) {
    const FramedAxis& frame = settings.frames[a];
    const auto whole = CheckedMultiply(frame.size, settings.block[a]);
    const int64_t cropped = frame.before + frame.after;
    if (!whole || cropped > *whole) {
      return InvalidArgument("needs to leave 0 or more of axis ", a + 1, " of ", shape, " in blocks of ", settings.block[a], ", found ",
                             cropped).WithPort(port);
    }
    dims[a + 1] = *whole - cropped;
    axes.push_back({settings.block[a], dims[a + 1], frame.size, frame.before});
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, input));
  return Finish(ctx, dims[0], std::move(axes));
}

/// One row of cells: where it starts, the row of space that it is part of (-1: padding), and the offset in the block along the last axis.
struct Row {
  int64_t space, offset;
};

Row RowAt(const Blocks& blocks, int64_t row) {
  const size_t last = blocks.axes.size() - 1;
  int64_t cells[kMaxRank];
  for (size_t a = last; a-- > 0;) {
    cells[a] = row % blocks.axes[a].cells;
    row /= blocks.axes[a].cells;
  }
  const int64_t batch = row % blocks.batch;
  int64_t offsets = row / blocks.batch, space = 0, step = 1;
  const int64_t offset = offsets % blocks.axes[last].block;
  offsets /= blocks.axes[last].block;
  for (size_t a = last; a-- > 0;) {
    const BlockAxis& axis = blocks.axes[a];
    const int64_t place = cells[a] * axis.block + offsets % axis.block - axis.before;
    if (place < 0 || place >= axis.space) return {-1, offset};
    space += place * step;
    step *= axis.space;
    offsets /= axis.block;
  }
  return {batch * step + space, offset};
}

// Calls move(cells of the row, cells [first, last) that lie in space, the elements of space that they are) for every row of cells.
void ForRows(const Blocks& blocks, Workers& workers, const auto& move) {
  const BlockAxis& axis = blocks.axes.back();
  const int64_t width = axis.cells * blocks.inner;
  kernels::ForEach(workers, blocks.rows, width == 0 ? blocks.rows : 1 + 32768 / width, [&](int64_t row) {
    const Row at = RowAt(blocks, row);
    const int64_t first = at.space < 0 ? 0 : axis.first(at.offset), last = at.space < 0 ? 0 : axis.last(at.offset);
    const int64_t place = first * axis.block + at.offset - axis.before;
    move(row * width, first, last, first < last ? (at.space * axis.space + place) * blocks.inner : 0);
  });
}

constexpr auto RunToBatch = [](const Blocks& blocks, RunContext& ctx) {
  const ElementMoves& moves = *blocks.moves;
  const std::byte* from = ctx.in<std::byte>(input).data();
  const auto out = ctx.out<std::byte>(output);
  if (blocks.rows == 0) return moves.FillLong(out.data(), static_cast<int64_t>(out.size()), nullptr, ctx.workers());
  const int64_t inner = blocks.inner, step = inner * blocks.axes.back().block, cells = blocks.axes.back().cells;
  ForRows(blocks, ctx.workers(), [&](int64_t row, int64_t first, int64_t last, int64_t space) {
    std::byte* to = out.data() + row * moves.size;
    if (first > 0) moves.FillLong(to, first * inner, nullptr, ctx.workers());
    if (last > first) {
      moves.RowsLong(from + space * moves.size, step, to + first * inner * moves.size, inner, last - first, inner, ctx.workers());
    }
    if (last < cells) moves.FillLong(to + last * inner * moves.size, (cells - last) * inner, nullptr, ctx.workers());
  });
};

constexpr auto RunToSpace = [](const Blocks& blocks, RunContext& ctx) {
  const ElementMoves& moves = *blocks.moves;
  const std::byte* from = ctx.in<std::byte>(input).data();
  std::byte* to = ctx.out<std::byte>(output).data();
  const int64_t inner = blocks.inner, step = inner * blocks.axes.back().block;
  ForRows(blocks, ctx.workers(), [&](int64_t row, int64_t first, int64_t last, int64_t space) {
    if (last == first) return;
    moves.RowsLong(from + (row + first * inner) * moves.size, inner, to + space * moves.size, step, last - first, inner, ctx.workers());
  });
};

constexpr auto PlanSpaceToBatch = [](PlanContext& ctx) { return PlanToBatch(ctx, ReadSquare(ctx, paddings), "paddings"); };
constexpr auto PlanBatchToSpace = [](PlanContext& ctx) { return PlanToSpace(ctx, ReadSquare(ctx, crops), "crops"); };
constexpr auto PlanSpaceToBatchNd = [](PlanContext& ctx) { return PlanToBatch(ctx, ReadAnyRank(ctx, paddings_nd), "paddings"); };
constexpr auto PlanBatchToSpaceNd = [](PlanContext& ctx) { return PlanToSpace(ctx, ReadAnyRank(ctx, crops_nd), "crops"); };

}  // namespace

BlockDef SpaceToBatch() {
  return Block("SpaceToBatch", "Moves the pixels of square blocks into the batch, after zeros were put round the pictures.")
      .Ports(input, paddings, output).Types("T", kAllTypes).Types("Tpaddings", kIndices).Attrs(block_size)
      .ShapedBy(paddings).Gradient(GradientBlock(input, "BatchToSpace", {{"input", Grad(output)}, {"crops", paddings}}, {block_size.name}))
      .Kernel(PlanSpaceToBatch, RunToBatch);
}

BlockDef BatchToSpace() {
  return Block("BatchToSpace", "Puts square blocks of pixels together from the batch, and crops the pictures.")
      .Ports(input, crops, output).Types("T", kAllTypes).Attrs(block_size).Types("Tidx", kIndices).ShapedBy(crops)
      .Gradient(GradientBlock(input, "SpaceToBatch", {{"input", Grad(output)}, {"paddings", crops}}, {block_size.name}))
      .Kernel(PlanBatchToSpace, RunToSpace);
}

BlockDef SpaceToBatchND() {
  return Block("SpaceToBatchND", "Moves the elements of blocks into the batch, after zeros were put round the axes of space.")
      .Ports(input_nd, block_shape, paddings_nd, output).Types("T", kAllTypes).Types("Tblock_shape", kIndices)
      .Types("Tpaddings", kIndices).ShapedBy(block_shape, paddings_nd)
      .Gradient(GradientBlock(input_nd, "BatchToSpaceND", {{"input", Grad(output)}, {"block_shape", block_shape}, {"crops", paddings_nd}}))
      .Kernel(PlanSpaceToBatchNd, RunToBatch);
}

BlockDef BatchToSpaceND() {
  return Block("BatchToSpaceND", "Puts blocks of elements together from the batch, and crops the axes of space.")
      .Ports(input_nd, block_shape, crops_nd, output).Types("T", kAllTypes).Types("Tblock_shape", kIndices)
      .Types("Tcrops", kIndices).ShapedBy(block_shape, crops_nd)
      .Gradient(GradientBlock(input_nd, "SpaceToBatchND", {{"input", Grad(output)}, {"block_shape", block_shape}, {"paddings", crops_nd}}))
      .Kernel(PlanBatchToSpaceNd, RunToSpace);
}

}  // namespace weft::blocks
