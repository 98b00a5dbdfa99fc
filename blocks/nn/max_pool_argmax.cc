// MaxPoolWithArgmax and its gradients, which go by the indices that it gives.
#include <atomic>

#include "blocks/kernels/pool/max_pool.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/nn/pooling_plan.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using namespace pooling;
using kernels::Pooling;

constexpr Attr<DType> Targmax{"Targmax", "DT_INT64", "the type of the indices"};
constexpr Attr<DType> index_type{"Targmax", kRequired, "the type of argmax"};
constexpr Attr<bool> include_batch_in_index{"include_batch_in_index", "false",
    "whether indices count from the first picture, not from that of the window"};
constexpr PictureOrder kOrder{2, false};
constexpr char kPictureDoc[] = "[batch, height, width, channels]";
constexpr char kPooledDoc[] = "[batch, out_height, out_width, channels]";

namespace pool {
constexpr In<0> input{"input", "T", kPictureDoc};
constexpr Out<0> output{"output", "T", kPooledDoc};
constexpr Out<1> argmax{"argmax", "Targmax",
    "[batch, out_height, out_width, channels]: where the largest value is, as (row * width + column) * channels + channel of its picture"};

struct Parameters {
  Pooling pooling;
  bool wide, across_pictures;
};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(ReadPooling(ctx, kOrder), ctx.shape(input), input.name));
  const bool wide = ctx.dtype(argmax) == DType::kInt64, across = ctx.attr(include_batch_in_index);
  const int64_t indices = pooled.shape.count() == 0 ? 0 : ctx.shape(input).count() / (across ? 1 : ctx.shape(input)[0]);
  if (!wide && indices > INT32_MAX) return ctx.Error(Targmax, "needs DT_INT64 for indices up to ", indices);
  ctx.set(output, pooled.shape);
  ctx.set(argmax, std::move(pooled.shape));
  return Parameters{pooled.pooling, wide, across};
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  void* const indices = p.wide ? static_cast<void*>(ctx.out<int64_t>(argmax).data()) : ctx.out<int32_t>(argmax).data();
  kernels::MaxPoolWithIndex(p.pooling, ctx.in<T>(input).data(), ctx.out<T>(output).data(), {indices, p.wide, p.across_pictures},
                            ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  GradientAttrs attrs;
  for (const char* name : {ksize.name, strides.name, padding.name, include_batch_in_index.name}) attrs.emplace_back(name, g.AttrOf(name));
  const GradientValue dy = g.grad(output);
  if (!dy.valid()) return {};
  g.Set(input, g.Add("MaxPoolGradWithArgmax", {{"input", {g.in(input)}}, {"grad", {dy}}, {"argmax", {g.out(argmax)}}}, attrs));
  return {};
}
}  // namespace pool

// ---- gradients -----------------------------------------------------------------------------------------------------------------

constexpr In<0> input{"input", "T", "the input of MaxPoolWithArgmax, for its shape: [batch, height, width, channels]"};
constexpr In<2> argmax{"argmax", "Targmax", "its argmax: [batch, out_height, out_width, channels]"};

/// Pictures and their windows, one after another.
struct Parameters {
  int64_t pictures = 0, elements = 0, windows = 0;  // elements and windows of one picture
  bool wide = false, across_pictures = false;

  int64_t grain() const { return std::max<int64_t>(1, 16384 / std::max<int64_t>(elements + windows, 1)); }
  /// Where an index of a picture leads, or -1 where that is outside the picture.
  int64_t Element(const void* indices, int64_t picture, int64_t window) const {
    const int64_t at = picture * windows + window, first = picture * elements;
    const int64_t index = wide ? static_cast<const int64_t*>(indices)[at] : static_cast<const int32_t*>(indices)[at];
    const int64_t low = across_pictures ? first : 0;
    return index < low || index >= low + elements ? -1 : index - low + first;
  }
};

/// `grad` is of the shape of the input or of the pooled pictures.
Result<Parameters> PlanGradient(PlanContext& ctx, const In<1>& grad, bool grad_is_pooled) {
  const Shape& pictures = ctx.shape(input);
  WEFT_ASSIGN_OR_RETURN(const PooledPicture pooled, PlanPooling(ReadPooling(ctx, kOrder), pictures, input.name));
  const Shape& needed = grad_is_pooled ? pooled.shape : pictures;
  if (ctx.shape(grad) != needed) return ctx.Error(grad, "needs shape ", needed, ", found ", ctx.shape(grad));
  if (ctx.shape(argmax) != pooled.shape) return ctx.Error(argmax, "needs shape ", pooled.shape, ", found ", ctx.shape(argmax));
  Parameters p;
  p.wide = ctx.dtype(argmax) == DType::kInt64;
  p.across_pictures = ctx.attr(include_batch_in_index);
  if (pictures.count() == 0 && pooled.shape.count() == 0) return p;
  p.pictures = pictures[0];
  p.elements = pictures.count() / pictures[0];
  p.windows = pooled.shape.count() / pictures[0];
  return p;
}

/// Calls prepare(first element, elements) for each picture and then move(element, window) for each of its windows; both count those of
/// all pictures. Fails where an index is outside its picture.
template <class Prepare, class Move>
Status ForIndices(const Parameters& p, RunContext& ctx, Prepare&& prepare, Move&& move) {
  const void* const indices =
      p.wide ? static_cast<const void*>(ctx.in<int64_t>(argmax).data()) : ctx.in<int32_t>(argmax).data();
  std::atomic<bool> bad = false;
  ctx.workers().For(p.pictures, p.grain(), [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(ctx.workers());
    for (int64_t picture = begin; picture < end; ++picture) {
      prepare(picture * p.elements, p.elements);
      for (int64_t window = 0; window < p.windows && !stop(4); ++window) {
        const int64_t element = p.Element(indices, picture, window);
        if (element >= 0) move(element, picture * p.windows + window);
        else bad.store(true, std::memory_order_relaxed);
      }
    }
  });
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; bad && i < p.pictures * p.windows; ++i) {
    if (stop()) return kernels::RunStopped();
    if (p.Element(indices, i / p.windows, i % p.windows) >= 0) continue;
    const int64_t index = p.wide ? static_cast<const int64_t*>(indices)[i] : static_cast<const int32_t*>(indices)[i];
    return ctx.Error(argmax, "needs indices of elements of their picture, which has ", p.elements, ", found ", index, " at element ", i);
  }
  return {};
}

namespace spread {
constexpr In<1> grad{"grad", "T", "the gradient of its output: [batch, out_height, out_width, channels]"};
constexpr Out<0> output{"output", "T", "the gradient of its input: [batch, height, width, channels]"};

Result<Parameters> Plan(PlanContext& ctx) {
  ctx.set(output, ctx.shape(input));
  return PlanGradient(ctx, grad, true);
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) -> Status {
  const T* const from = ctx.in<T>(grad).data();
  T* const to = ctx.out<T>(output).data();
  return ForIndices(
      p, ctx, [&](int64_t first, int64_t count) { std::fill_n(to + first, count, T(0)); },
      [&](int64_t element, int64_t window) { to[element] = WrapAdd(to[element], from[window]); });
};
}  // namespace spread

namespace collect {
constexpr In<1> grad{"grad", "T", "the gradient of MaxPoolGradWithArgmax's output: [batch, height, width, channels]"};
constexpr Out<0> output{"output", "T", "the gradient of its grad: [batch, out_height, out_width, channels]"};

Result<Parameters> Plan(PlanContext& ctx) {
  ctx.set(output, ctx.shape(argmax));
  return PlanGradient(ctx, grad, false);
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) -> Status {
  const T* const from = ctx.in<T>(grad).data();
  T* const to = ctx.out<T>(output).data();
  return ForIndices(p, ctx, [](int64_t, int64_t) {}, [&](int64_t element, int64_t window) { to[window] = from[element]; });
};
}  // namespace collect

}  // namespace

BlockDef MaxPoolWithArgmax() {
  return Block("MaxPoolWithArgmax", "The largest value under each window of a picture, and where it is.")
      .Details("The first of equal values counts, and a NaN only where it comes first.")
      .Ports(pool::input, pool::output, pool::argmax)
      .Attrs(ksize, strides, Targmax, padding, include_batch_in_index)
      .Types("T", kReals)
      .Types("Targmax", kIndices)
      .Gradient(pool::Gradient)
      .Kernel(pool::Plan, pool::Run);
}

BlockDef MaxPoolGradWithArgmax() {
  using namespace spread;
  return Block("MaxPoolGradWithArgmax", "The gradient of MaxPoolWithArgmax: the element that argmax names takes it.")
      .Ports(input, grad, argmax, output)
      .Attrs(ksize, strides, padding, include_batch_in_index)
      .Types("T", kReals)
      .Types("Targmax", kIndices)
      .Kernel(Plan, Run);
}

BlockDef MaxPoolGradGradWithArgmax() {
  using namespace collect;
  return Block("MaxPoolGradGradWithArgmax", "The gradient of MaxPoolGradWithArgmax: for each window the value that argmax names.")
      .Ports(input, grad, argmax, output)
      .Attrs(ksize, strides, padding, include_batch_in_index, index_type)
      .Inferred(index_type)
      .Types("T", kReals)
      .Types("Targmax", kIndices)
      .Kernel(Plan, Run, kBySize);
}

}  // namespace weft::blocks
