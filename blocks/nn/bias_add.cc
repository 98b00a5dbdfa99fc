#include "blocks/kernels/channel/map_reduce.h"
#include "blocks/nn/bias.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> value{"value", "T", "[N, ..., C]; for NCHW [N, C, ...]"};
constexpr In<1> bias{"bias", "T", "[C]: what is added to each channel"};
constexpr Out<0> output{"output", "T", "the shape of value"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "where the channel is: the last axis for NHWC, axis 1 for NCHW", "NHWC|NCHW"};

constexpr int64_t kTaskElements = 32 * 1024;

struct Addition {
  kernels::ChannelPartition cut;
};

template <class T>
kernels::ChannelPartition CutOf(kernels::ChannelBox box) {
  if constexpr (Complex<T>) {
    // As pairs of numbers; runs of one complex channel are left to a loop of their own.
    if (box.count() > 0) (box.inner == 1 ? box.channels : box.inner) *= 2;
    const bool pairs = box.inner > 1;
    return kernels::PartitionChannels(box, kernels::kLanes<typename T::value_type>, 2 * kTaskElements, pairs);
  } else {
    return kernels::PartitionChannels(box, kernels::kLanes<kernels::VecElement<T>>, kTaskElements, false);
  }
}

Result<Addition> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, BoxOf(ctx, value, ctx.attr(data_format)));
  if (ctx.shape(bias).rank() != 1) return ctx.Error(bias, "needs rank 1, found ", ctx.shape(bias));
  if (ctx.shape(bias)[0] != box.channels) {
    return ctx.Error(bias, "needs one element for each channel of value, [", box.channels, "], found ", ctx.shape(bias));
  }
  ctx.set(output, ctx.shape(value));
  return Addition{Dispatch(ctx.dtype(value), kBiasTypes, [&]<class T>() { return CutOf<T>(box); })};
}

/// One pass: the value is read and the output written. kPair: the numbers that make up a channel's bias.
template <int kPair, class T>
void AddToRows(const kernels::ChannelPartition& cut, RunContext& ctx, const T* x, const T* b, T* to) {
  auto add = [](const auto& v, const auto& p, auto&) { return static_cast<std::remove_cvref_t<decltype(v[0])>>(v[0] + p[0]); };
  const int64_t bytes = cut.box.count() * static_cast<int64_t>(sizeof(T));
  const bool streams = to != x && kernels::IsStreamed(bytes, bytes);
  const kernels::ChannelMapReduce<T, T, 1, 1, 0, decltype(add), kPair> pass{{x}, {b}, {}, to, streams};
  ctx.workers().For(cut.tasks(), kernels::TasksInOneGo(cut, ctx.workers().threads(), streams), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) pass.Run(cut, cut.part(task));
    if (streams) kernels::StreamFence();
  });
}

template <class T>
void AddToComplexRuns(const kernels::ChannelPartition& cut, RunContext& ctx) {
  const T *x = ctx.in<T>(value).data(), *b = ctx.in<T>(bias).data();
  T* to = ctx.out<T>(output).data();
  const int64_t length = cut.box.inner / 2, grain = std::max<int64_t>(1, kTaskElements / length);
  ctx.workers().For(cut.box.outer * cut.box.channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) {
      const T add = b[run % cut.box.channels];
      for (int64_t i = run * length; i < (run + 1) * length; ++i) to[i] = x[i] + add;
    }
  });
}

constexpr auto Run = []<class T>(const Addition& addition, RunContext& ctx) {
  const kernels::ChannelPartition& cut = addition.cut;
  if constexpr (Complex<T>) {
    if (cut.runs) return AddToComplexRuns<T>(cut, ctx);
    using Part = typename T::value_type;
    const Part *x = reinterpret_cast<const Part*>(ctx.in<T>(value).data()), *b = reinterpret_cast<const Part*>(ctx.in<T>(bias).data());
    Part* const to = reinterpret_cast<Part*>(ctx.out<T>(output).data());
    if (cut.box.inner == 1) return AddToRows<1>(cut, ctx, x, b, to);
    AddToRows<2>(cut, ctx, x, b, to);
  } else {
    AddToRows<1>(cut, ctx, ctx.in<T>(value).data(), ctx.in<T>(bias).data(), ctx.out<T>(output).data());
  }
};

Status Gradient(GradientBuilder& g) {
  g.Set(value, g.grad(output));
  if (g.wanted(bias)) g.Set(bias, g.Add("BiasAddGrad", {{"out_backprop", {g.grad(output)}}}, {{"data_format", g.AttrOf("data_format")}}));
  return {};
}

}  // namespace

BlockDef BiasAdd() {
  return Block("BiasAdd", "Adds a bias to each channel.")
      .Ports(value, bias, output)
      .Types("T", kBiasTypes)
      .Attrs(data_format)
      .Elementwise()
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
