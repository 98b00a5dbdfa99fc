// RandomNormal, RandomUniform, RandomUniformInt, TruncatedNormal: independent numbers of one distribution, TensorFlow's own for the same
// seeds. RandomNormal_ex: RandomNormal whose shape is an attribute.
#include "blocks/kernels/random/distributions.h"
#include "blocks/limits.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> shape{"shape", "T", "[rank]: the sizes of the output"};
constexpr Out<0> output{"output", "dtype", "of the given shape"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the elements"};

struct Parameters {
  Seeds seeds;
};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Shape sizes, ShapeGiven(ctx, shape));
  ctx.set(output, std::move(sizes));
  return Parameters{SeedsOf(ctx)};
}

template <class Distribution, class T>
void Fill(const Distribution& distribution, std::span<T> to, RunContext& ctx) {
  const auto count = static_cast<int64_t>(to.size());
  const kernels::Philox stretch = ctx.state<RandomStream>().Reserve(count);
  const int64_t groups = (count + Distribution::kCount - 1) / Distribution::kCount;
  ctx.workers().For(groups, 512, [&](int64_t begin, int64_t end) {
    kernels::FillGroups(stretch, distribution, to.data(), count, begin, end);
  });
}

template <template <class> class Distribution>
constexpr auto Run = []<class T>(const Parameters&, RunContext& ctx) { Fill(Distribution<T>{}, ctx.out<T>(output), ctx); };

template <template <class> class Distribution>
BlockDef Declare(const char* name, const char* summary) {
  return RandomBlock(name, summary, shape, output)
      .Attrs(dtype).Types("dtype", kFloats).Types("T", kIndices).ShapedBy(shape)
      .NotDifferentiable().Kernel(Plan, Run<Distribution>, kBindStream);
}

namespace whole {

constexpr In<1> minval{"minval", "Tout", "a scalar: the least number"};
constexpr In<2> maxval{"maxval", "Tout", "a scalar above minval: one more than the greatest number"};
constexpr Out<0> output{"output", "Tout", "of the given shape"};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, minval, maxval));
  return blocks::Plan(ctx);
}

constexpr auto Run = []<class T>(const Parameters&, RunContext& ctx) -> Status {
  const auto to = ctx.out<T>(output);
  const T low = ctx.in<T>(minval)[0], high = ctx.in<T>(maxval)[0];
  if (to.empty()) return {};
  if (low >= high) return ctx.Error(maxval, "needs a number above minval ", low, ", found ", high);
  using U = std::make_unsigned_t<T>;
  Fill(kernels::UniformInt<T>{low, static_cast<U>(static_cast<U>(high) - static_cast<U>(low))}, to, ctx);
  return {};
};

}  // namespace whole

constexpr Out<0> fixed_output{"output", "dtype", "of the given shape"};
constexpr Attr<PartialShape> fixed_shape{"shape", kRequired, "the shape of the output, fully known"};
constexpr Attr<DType> fixed_dtype{"dtype", "DT_DOUBLE", "the type of the elements"};

}  // namespace

BlockDef RandomNormal() {
  BlockDef def = Declare<kernels::Normal>("RandomNormal", "Normal random numbers of mean 0 and deviation 1.");
  def.aliases.emplace_back("RandomStandardNormal");
  return def;
}

BlockDef RandomUniform() {
  return Declare<kernels::Uniform>("RandomUniform", "Random numbers that are equally likely everywhere in [0, 1).");
}

BlockDef TruncatedNormal() {
  return Declare<kernels::TruncatedNormal>("TruncatedNormal",
                                           "Normal random numbers of mean 0 and deviation 1, those beyond 2 drawn again.");
}

BlockDef RandomUniformInt() {
  return RandomBlock("RandomUniformInt", "Random integers in [minval, maxval).", shape, whole::minval, whole::maxval, whole::output)
      .Types("Tout", kIndices).Types("T", kIndices).ShapedBy(shape)
      .NotDifferentiable().Kernel(whole::Plan, whole::Run, kBindStream);
}

BlockDef RandomNormal_ex() {
  return Block("RandomNormal_ex", "Normal random numbers of mean 0 and deviation 1, in a fixed shape.")
      .Details("The same numbers as RandomNormal gives: with seeds those that TensorFlow draws, without other numbers every time.")
      .Ports(fixed_output)
      .Attrs(fixed_shape, fixed_dtype, kSeed, kSeed2)
      .Types("dtype", kFloats)
      .Structure(Structural::kAlias)
      .Stateful()
      .NotDifferentiable()
      .NoKernel();
}

}  // namespace weft::blocks
