// RandomNormal: normal random numbers, TensorFlow's own for the same seeds.
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> shape{"shape", "T", "[rank]: the sizes of the output"};
constexpr Out<0> output{"output", "dtype", "of the given shape"};
constexpr Attr<int64_t> seed{"seed", "0", "the seed; where both are 0 the numbers differ from session to session"};
constexpr Attr<int64_t> seed2{"seed2", "0", "a second seed"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the elements"};

Result<Seeds> Plan(PlanContext& ctx) {
  if (ctx.shape(shape).rank() != 1) return ctx.Error(shape, "needs a vector of sizes, found ", ctx.shape(shape));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, ctx.ints(shape), shape));
  return Seeds{ctx.attr(seed), ctx.attr(seed2)};
}

constexpr auto Run = []<class T>(const Seeds&, RunContext& ctx) {
  auto to = ctx.out<T>(output);
  const auto count = static_cast<int64_t>(to.size());
  const kernels::Philox stretch = ctx.state<RandomStream>().Reserve(count);
  const kernels::Normal<T> distribution;
  const int64_t groups = (count + distribution.kCount - 1) / distribution.kCount;
  ctx.workers().For(groups, 512, [&](int64_t begin, int64_t end) {
    kernels::FillGroups(stretch, distribution, to.data(), count, begin, end);
  });
};

constexpr auto Bind = [](const Seeds& seeds, BindContext& ctx) { return BindStream(seeds, ctx); };

}  // namespace

BlockDef RandomNormal() {
  return Block("RandomNormal", "Normal random numbers of mean 0 and deviation 1.")
      .Details("With seeds, the numbers that TensorFlow draws; they go on from run to run.")
      .Ports(shape, output)
      .Attrs(seed, seed2, dtype)
      .Types("dtype", kFloats)
      .Types("T", kIndices)
      .ShapedBy(shape)
      .Alias("RandomStandardNormal")
      .NotDifferentiable()
      .Kernel(Plan, Run, Bind);
}

}  // namespace weft::blocks
