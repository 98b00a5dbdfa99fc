#include <array>

#include "blocks/kernels/channel/sums.h"
#include "blocks/kernels/reduce/sum.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/nn/bias.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> out_backprop{"out_backprop", "T", "[N, ..., C]; for NCHW [N, C, ...]: the gradient of BiasAdd's output"};
constexpr Out<0> output{"output", "T", "[C]: the gradient of the bias"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "where the channel is: the last axis for NHWC, axis 1 for NCHW", "NHWC|NCHW"};

/// Wide rows have many partial sums, which go from core to core: their tasks are longer.
constexpr int64_t kTaskElements = 64 * 1024, kWideTaskElements = 192 * 1024, kWideRow = 1024;

struct Sums {
  kernels::ChannelPartition cut;  // of floats
  kernels::ReduceLayout layout;   // of other types
  std::string implementation() const { return cut.box.count() > 0 ? cut.form() : "reduction"; }
};

/// Whether the sums of the only block are the results: nothing is added up, or rounded.
template <Float T>
bool SumsAreResults(const kernels::ChannelPartition& cut) { return cut.blocks == 1 && !ShortFloat<T>; }

Result<Sums> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, BoxOf(ctx, out_backprop, ctx.attr(data_format)));
  ctx.set(output, Shape{box.channels});
  Sums sums;
  if (IsFloating(ctx.dtype(out_backprop))) {
    Dispatch(ctx.dtype(out_backprop), kFloats, [&]<class T>() {
      sums.cut = kernels::PartitionForSums<T>(box, box.inner == 1 && box.channels > kWideRow ? kWideTaskElements : kTaskElements);
      if (!SumsAreResults<T>(sums.cut)) ctx.set_scratch(sums.cut.partials() * static_cast<int64_t>(sizeof(kernels::VecElement<T>)));
    });
  } else {
    sums.layout = kernels::ReduceLayout::Make(std::array{box.outer, box.channels, box.inner}, {true, false, true});
    ctx.set_scratch(sums.layout.ScratchBytes());
  }
  return sums;
}

/// The sums of channels [first, end): those of the blocks, added up in double and rounded once.
template <class T, class A>
void JoinSums(const kernels::ChannelPartition& cut, const A* partial, int64_t first, int64_t end, T* to) {
  // So many blocks are added up by themselves first: of doubles, too, long chains lose digits.
  constexpr int64_t kSide = 64, kChain = 32;
  double total[kSide], some[kSide];
  A rounded[kSide];
  kernels::ChannelPartition chain = cut;
  for (; first < end; first += kSide) {
    const int64_t count = std::min(end - first, kSide);
    std::fill_n(total, count, 0.0);
    for (int64_t block = 0; block < cut.blocks; block += kChain) {
      chain.blocks = std::min(cut.blocks - block, kChain);
      kernels::AddBlocks(chain, partial + block * cut.box.channels, first, first + count, some);
      for (int64_t i = 0; i < count; ++i) total[i] += some[i];
    }
    std::copy_n(total, count, rounded);
    kernels::Narrow(rounded, to + first, count);
  }
}

/// Tasks that a thread takes at once: those of short planes are small.
int64_t Grain(const kernels::ChannelPartition& cut) {
  constexpr int64_t kGoes = 16;
  const int64_t task = DivideUp(cut.box.count(), std::max<int64_t>(cut.tasks(), 1));
  return std::clamp<int64_t>(kTaskElements / std::max<int64_t>(task, 1), 1, std::max<int64_t>(cut.tasks() / kGoes, 1));
}

/// One pass: each element is read once.
template <class T>
void SumChannels(const kernels::ChannelPartition& cut, RunContext& ctx, const T* x, T* to) {
  using A = kernels::VecElement<T>;
  const bool results = SumsAreResults<T>(cut);
  A* const partial = results ? reinterpret_cast<A*>(to) : ctx.scratch<A>().data();
  const kernels::SumByChannel<T> sums{x, partial};
  const int64_t channels = cut.box.channels;
  const auto finish = [&](int64_t first, int64_t end) { JoinSums(cut, partial, first, end, to); };
  kernels::ForEach(ctx.workers(), cut.tasks(), Grain(cut), [&](int64_t task) {
    sums.Run(cut, task);
    if (cut.blocks == 1 && !results) finish(task * cut.tile, std::min(channels, (task + 1) * cut.tile));
  });
  constexpr int64_t kJoined = 16 * 1024;  // partial sums that are worth a task
  if (cut.blocks != 1) ctx.workers().For(channels, std::max<int64_t>(64, kJoined / std::max<int64_t>(1, cut.blocks)), finish);
}

constexpr auto Run = []<class T>(const Sums& sums, RunContext& ctx) {
  const T* x = ctx.in<T>(out_backprop).data();
  T* to = ctx.out<T>(output).data();
  if constexpr (Float<T>) SumChannels(sums.cut, ctx, x, to);
  else kernels::ReduceSum(sums.layout, x, to, ctx.scratch().data(), ctx.workers());
};

void Gradient(GradientBuilder& g) {
  g.Set(out_backprop, g.Add("BiasAdd", {{"value", {g.Add("ZerosLike", {{"x", {g.in(out_backprop)}}})}}, {"bias", {g.grad(output)}}},
                            {{"data_format", g.AttrOf("data_format")}}));
}

}  // namespace

BlockDef BiasAddGrad() {
  return Block("BiasAddGrad", "Sums a gradient over every axis but the channel.")
      .Details("Floats, halves and bfloat16 are summed in float in blocks and rounded once; integers, quantized ones too, wrap.")
      .Ports(out_backprop, output).Types("T", kBiasTypes).Attrs(data_format).Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace weft::blocks
