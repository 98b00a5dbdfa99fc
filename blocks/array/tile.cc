// Tile: a tensor repeated along its axes.
#include "blocks/element_moves.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> multiples{"multiples", "Tmultiples", "[rank]: how often the input is repeated along each axis"};
constexpr Out<0> output{"output", "T", "the sizes of the input times the multiples"};

Result<StretchMove> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  if (ctx.shape(multiples).rank() != 1 || ctx.shape(multiples)[0] != shape.rank()) {
    return ctx.Error(multiples, "needs a vector of ", shape.rank(), " numbers for an input of shape ", shape, ", found ",
                     ctx.shape(multiples));
  }
  const std::vector<int64_t> times = ctx.ints(multiples);
  // Each axis becomes two, of which the first is stretched.
  std::vector<int64_t> dims, from, to;
  for (int i = 0; i < shape.rank(); ++i) {
    if (times[i] < 0) return ctx.Error(multiples, "needs numbers of 0 or more, found ", times[i]);
    const auto size = CheckedMultiply(times[i], shape[i]);
    if (!size) return ctx.Error(multiples, "needs sizes that fit 63 bits, found ", times[i], " times ", shape[i]);
    dims.push_back(*size);
    from.insert(from.end(), {1, shape[i]});
    to.insert(to.end(), {times[i], shape[i]});
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, multiples));
  return StretchMove{kernels::MakeBroadcastLoops(from, to), &MovesOf(ctx.dtype(input))};
}

}  // namespace

BlockDef Tile() {
  return Block("Tile", "Repeats a tensor along its axes.")
      .Ports(input, multiples, output)
      .Types("T", kAllTypes)
      .Types("Tmultiples", kIndices)
      .ShapedBy(multiples)
      .Gradient([](GradientBuilder& g) {
        g.Set(input, g.Add("TileGrad", {{"grad", {g.grad(output)}}, {"multiples", {g.in(multiples)}}, {"like", {g.in(input)}}}));
      })
      .Kernel(Plan, RunStretchMove);
}

}  // namespace weft::blocks
