#include <array>
#include <atomic>

#include "blocks/kernels/channel/map_reduce.h"
#include "blocks/kernels/channel/sums.h"
#include "blocks/kernels/simd/widen.h"
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
  kernels::ChannelPartition cut;
  int64_t scratch;  // bytes of partial sums
};

/// A complex number is two numbers side by side: two channels where the channel is innermost, else two sums a channel. Integers wrap, with
/// a sign or without.
template <class T>
struct PartOf {
  using Type = T;
  static constexpr int kPair = 1;
};
template <Integer T>
struct PartOf<T> {
  using Type = std::make_unsigned_t<T>;
  static constexpr int kPair = 1;
};
template <Complex T>
struct PartOf<T> {
  using Type = typename T::value_type;
  static constexpr int kPair = 2;
};

/// Sums of floats are added up in double at the end, integers wrap.
template <class A>
using Total = std::conditional_t<std::is_same_v<A, float>, double, A>;

/// Whether the sums of the only block are the results: nothing is added up, or rounded.
template <class Part>
bool SumsAreResults(const kernels::ChannelPartition& cut) {
  return cut.blocks == 1 && sizeof(kernels::VecElement<Part>) == sizeof(Part);
}

template <class T>
Sums CutSums(kernels::ChannelBox box) {
  using Part = typename PartOf<T>::Type;
  using A = kernels::VecElement<Part>;
  constexpr int kPair = PartOf<T>::kPair;
  if (kPair == 2 && box.count() > 0) (box.inner == 1 ? box.channels : box.inner) *= 2;
  const int64_t task_elements = box.inner == 1 && box.channels > kWideRow ? kWideTaskElements : kTaskElements;
  const kernels::ChannelPartition cut = kernels::PartitionForSums<Part>(box, task_elements);
  return {cut, SumsAreResults<Part>(cut) ? 0 : cut.partials() * kPair * static_cast<int64_t>(sizeof(A))};
}

Result<Sums> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, BoxOf(ctx, out_backprop, ctx.attr(data_format)));
  ctx.set(output, Shape{box.channels});
  const Sums sums = Dispatch(ctx.dtype(out_backprop), kBiasTypes, [&]<class T>() { return CutSums<T>(box); });
  ctx.set_scratch(sums.scratch);
  return sums;
}

/// The sums of channels [first, end): those of the blocks, added up and rounded once.
template <class T, int kPair, class A>
void JoinSums(const kernels::ChannelPartition& cut, const A* partial, int64_t first, int64_t end, T* to) {
  // So many blocks are added up by themselves first: of doubles, too, long chains lose digits.
  constexpr int64_t kSide = 64 / kPair, kChain = 32;
  Total<A> total[64], some[64];
  kernels::ChannelPartition chain = cut;
  for (; first < end; first += kSide) {
    const int64_t last = std::min(end, first + kSide), count = (last - first) * kPair;
    std::fill_n(total, count, Total<A>{});
    for (int64_t block = 0; block < cut.blocks; block += kChain) {
      chain.blocks = std::min(cut.blocks - block, kChain);
      kernels::AddBlocks<kPair>(chain, partial + block * cut.box.channels * kPair, first, last, some);
      for (int64_t i = 0; i < count; ++i) total[i] = static_cast<Total<A>>(total[i] + some[i]);
    }
    if constexpr (ShortFloat<T>) {
      float rounded[64];
      std::copy_n(total, count, rounded);
      kernels::Narrow(rounded, to + first * kPair, count);
    } else {
      for (int64_t i = 0; i < count; ++i) to[first * kPair + i] = kernels::FromVecElement<T>(total[i]);
    }
  }
}

/// Of so many tiles of channels at most it is counted how many blocks are done: the thread that does the last one adds them up. Every other
/// block goes through its tiles backwards, so that two threads do not come to the same one last.
constexpr int64_t kCounted = 64;

/// Tasks that a thread takes at once: those of short planes are small.
int64_t Grain(const kernels::ChannelPartition& cut) {
  constexpr int64_t kGoes = 16;
  const int64_t task = DivideUp(cut.box.count(), std::max<int64_t>(cut.tasks(), 1));
  return std::clamp<int64_t>(kTaskElements / std::max<int64_t>(task, 1), 1, std::max<int64_t>(cut.tasks() / kGoes, 1));
}

/// One pass: each element is read once.
template <class T, int kPair>
void SumChannels(const Sums& sums, RunContext& ctx, const T* x, T* to, int64_t channels) {
  using A = kernels::VecElement<T>;
  const kernels::ChannelPartition& cut = sums.cut;
  const bool results = SumsAreResults<T>(cut);
  A* const partial = results ? reinterpret_cast<A*>(to) : ctx.scratch<A>().data();
  const kernels::SumByChannel<T, kPair> plain{x, partial};
  const auto finish = [&](int64_t first, int64_t end) { JoinSums<T, kPair>(cut, partial, first, end, to); };
  constexpr int64_t kJoined = 16 * 1024;  // partial sums that are worth a task
  std::array<std::atomic<int64_t>, kCounted> done{};
  const bool counts = cut.blocks > 1 && cut.tiles > 1 && cut.tiles <= kCounted && cut.tile * cut.blocks <= kJoined;
  ctx.workers().For(cut.tasks(), Grain(cut), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task / cut.tiles, place = task % cut.tiles, tile = block % 2 == 0 ? place : cut.tiles - 1 - place;
      plain.Run(cut, block * cut.tiles + tile);
      const bool last = counts ? done[tile].fetch_add(1, std::memory_order_acq_rel) + 1 == cut.blocks : cut.blocks == 1;
      if (last && !results) finish(tile * cut.tile, std::min(channels, (tile + 1) * cut.tile));
    }
  });
  if (counts || cut.blocks == 1) return;
  ctx.workers().For(channels, std::max<int64_t>(64, kJoined / std::max<int64_t>(1, cut.blocks)), finish);
}

constexpr auto Run = []<class T>(const Sums& sums, RunContext& ctx) {
  using Part = typename PartOf<T>::Type;
  const Part* x = reinterpret_cast<const Part*>(ctx.in<T>(out_backprop).data());
  Part* to = reinterpret_cast<Part*>(ctx.out<T>(output).data());
  const kernels::ChannelBox& box = sums.cut.box;
  if (PartOf<T>::kPair == 1 || (box.inner == 1 && box.outer > 0)) return SumChannels<Part, 1>(sums, ctx, x, to, box.channels);
  SumChannels<Part, PartOf<T>::kPair>(sums, ctx, x, to, box.channels);
};

Status Gradient(GradientBuilder& g) {
  g.Set(out_backprop, g.Add("BiasAdd", {{"value", {g.Add("ZerosLike", {{"x", {g.in(out_backprop)}}})}}, {"bias", {g.grad(output)}}},
                            {{"data_format", g.AttrOf("data_format")}}));
  return {};
}

}  // namespace

BlockDef BiasAddGrad() {
  return Block("BiasAddGrad", "Sums a gradient over every axis but the channel.")
      .Details("Floats, halves and bfloat16 are summed in float in blocks and rounded once; integers, quantized ones too, wrap.")
      .Ports(out_backprop, output)
      .Types("T", kBiasTypes)
      .Attrs(data_format)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
