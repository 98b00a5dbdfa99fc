#include <array>

#include "blocks/kernels/channel/map_reduce.h"
#include "blocks/kernels/index/broadcast.h"
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
  kernels::ChannelPartition cut;  // of floats
  kernels::BroadcastLoops loops;  // of other types
  std::string implementation() const { return cut.box.count() > 0 ? cut.form() : "broadcast"; }
};

Result<Addition> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, BoxOf(ctx, value, ctx.attr(data_format)));
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, bias, box.channels, "channel of value"));
  ctx.set(output, ctx.shape(value));
  const DType dtype = ctx.dtype(value);
  Addition addition;
  if (IsFloating(dtype)) {
    const int lanes = dtype == DType::kDouble ? kernels::kLanes<double> : kernels::kLanes<float>;
    addition.cut = kernels::PartitionChannels(box, lanes, kTaskElements, false);
  } else {
    addition.loops = kernels::MakeBroadcastLoops(std::array{box.outer, box.channels, box.inner}, std::array{box.channels, int64_t{1}});
  }
  return addition;
}

/// One pass: the value is read and the output written.
template <class T>
void AddByChannel(const kernels::ChannelPartition& cut, RunContext& ctx, const T* x, const T* b, T* to) {
  auto add = [](const auto& v, const auto& p, auto&) { return static_cast<std::remove_cvref_t<decltype(v[0])>>(v[0] + p[0]); };
  const int64_t bytes = cut.box.count() * static_cast<int64_t>(sizeof(T));
  const bool streams = to != x && kernels::IsStreamed(bytes, bytes);
  const kernels::ChannelMapReduce<T, T, 1, 1, 0, decltype(add)> pass{{x}, {b}, {}, to, streams};
  ctx.workers().For(cut.tasks(), kernels::TasksInOneGo(cut, ctx.workers().threads(), streams), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) pass.Run(cut, cut.part(task));
    if (streams) kernels::StreamFence();
  });
}

struct WrappingSum {
  template <class T>
  T operator()(T a, T b) const { return WrapAdd(a, b); }
};

constexpr auto Run = []<class T>(const Addition& addition, RunContext& ctx) {
  const T *x = ctx.in<T>(value).data(), *b = ctx.in<T>(bias).data();
  T* const to = ctx.out<T>(output).data();
  if constexpr (Float<T>) {
    AddByChannel(addition.cut, ctx, x, b, to);
  } else {
    ctx.workers().For(addition.loops.count, kTaskElements, [&](int64_t begin, int64_t end) {
      kernels::RunBroadcast(addition.loops, kernels::kRows<WrappingSum, T, T>, {sizeof(T), sizeof(T), sizeof(T)}, x, b, to, begin, end);
    });
  }
};

void Gradient(GradientBuilder& g) {
  g.Set(value, g.grad(output));
  if (g.wanted(bias)) g.Set(bias, g.Add("BiasAddGrad", {{"out_backprop", {g.grad(output)}}}, {{"data_format", g.AttrOf("data_format")}}));
}

}  // namespace

BlockDef BiasAdd() {
  return Block("BiasAdd", "Adds a bias to each channel.")
      .Ports(value, bias, output).Types("T", kBiasTypes).Attrs(data_format)
      .Elementwise().Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace weft::blocks
