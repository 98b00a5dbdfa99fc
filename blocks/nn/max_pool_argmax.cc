// MaxPoolWithArgmax and its gradients, which go by the indices that it gives.
#include <atomic>

#include "blocks/kernels/pool/max_pool.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/nn/pooling_plan.h"

namespace weft::blocks {
namespace {

using namespace pooling;
using kernels::Pooling;

constexpr Attr<DType> Targmax{"Targmax", "DT_INT64", "the type of the indices"};
constexpr Attr<DType> index_type{"Targmax", kRequired, "the type of argmax"};
constexpr Attr<bool> include_batch_in_index{"include_batch_in_index", "false",
    "whether indices count from the first picture, not from that of the window"};
constexpr char kInDoc[] = "[batch, height, width, channels]", kOutDoc[] = "[batch, out_height, out_width, channels]";

constexpr In<0> input{"input", "T", kInDoc};
constexpr Out<0> output{"output", "T", kOutDoc};
constexpr Out<1> argmax{"argmax", "Targmax",
    "[batch, out_height, out_width, channels]: where the largest value is, as (row * width + column) * channels + channel of its picture"};

constexpr In<0> orig_input{"input", "T", "the input of MaxPoolWithArgmax, for its shape: [batch, height, width, channels]"};
constexpr In<1> grad{"grad", "T", "the gradient of its output: [batch, out_height, out_width, channels]"};
constexpr In<2> indices{"argmax", "Targmax", "its argmax: [batch, out_height, out_width, channels]"};
constexpr Out<0> scattered{"output", "T", "the gradient of its input: [batch, height, width, channels]"};
constexpr In<1> second_grad{"grad", "T", "the gradient of MaxPoolGradWithArgmax's output: [batch, height, width, channels]"};
constexpr Out<0> gathered{"output", "T", "the gradient of its grad: [batch, out_height, out_width, channels]"};

struct Parameters {
  Pooling pooling;
  bool wide, across_pictures;                       // indices have 64 bits, and count from the first picture
  int64_t pictures = 0, elements = 0, windows = 0;  // elements and windows of one picture

  int64_t grain() const { return std::max<int64_t>(1, 16384 / std::max<int64_t>(elements + windows, 1)); }
  int64_t Index(const void* indices, int64_t i) const {
    return wide ? static_cast<const int64_t*>(indices)[i] : static_cast<const int32_t*>(indices)[i];
  }
  /// Where an index of a picture leads, or -1 where that is outside the picture.
  int64_t Element(const void* indices, int64_t picture, int64_t window) const {
    const int64_t index = Index(indices, picture * windows + window), first = picture * elements;
    const int64_t low = across_pictures ? first : 0;
    return index < low || index >= low + elements ? -1 : index - low + first;
  }
};

struct Geometry {
  Parameters p;
  Shape pooled;
};
Result<Geometry> PlanGeometry(const PlanContext& ctx, DType index_type, bool may_have_none) {
  const Shape& pictures = ctx.shape(input);
  PoolingSettings settings = ReadPooling(ctx, {2, false});
  settings.sizes_first = true;
  settings.may_have_none = may_have_none;
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, pictures, input.name));
  Parameters p{pooled.pooling, index_type == DType::kInt64, ctx.attr(include_batch_in_index)};
  if (pictures.count() != 0 || pooled.shape.count() != 0) {
    p.pictures = pictures[0];
    p.elements = pictures.count() / pictures[0];
    p.windows = pooled.shape.count() / pictures[0];
  }
  return Geometry{p, std::move(pooled.shape)};
}

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Geometry g, PlanGeometry(ctx, ctx.dtype(argmax), false));
  const int64_t count = g.pooled.count() == 0 ? 0 : g.p.elements * (g.p.across_pictures ? g.p.pictures : 1);
  if (!g.p.wide && count > INT32_MAX) return ctx.Error(Targmax, "needs DT_INT64 for indices up to ", count);
  ctx.set(output, g.pooled);
  ctx.set(argmax, g.pooled);
  return g.p;
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  kernels::MaxPoolWithIndex(p.pooling, ctx.in<T>(input).data(), ctx.out<T>(output).data(),
                            {ctx.out<std::byte>(argmax).data(), p.wide, p.across_pictures}, ctx.workers());
};

/// Of the gradient, which scatters by the indices, or of the second gradient, which gathers.
template <bool kScatter>
Result<Parameters> PlanGradient(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Geometry g, PlanGeometry(ctx, ctx.dtype(indices), kScatter));
  const Shape &pictures = ctx.shape(input), &needed = kScatter ? g.pooled : pictures;
  if (ctx.shape(grad) != needed) return ctx.Error(grad, "needs shape ", needed, ", found ", ctx.shape(grad));
  if (ctx.shape(indices) != g.pooled) return ctx.Error(indices, "needs shape ", g.pooled, ", found ", ctx.shape(indices));
  ctx.set(scattered, kScatter ? pictures : g.pooled);
  return g.p;
}

/// Names the first index that is outside its picture.
Status RefuseIndices(const Parameters& p, RunContext& ctx, const void* at) {
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < p.pictures * p.windows; ++i) {
    if (stop()) break;
    if (p.Element(at, i / p.windows, i % p.windows) >= 0) continue;
    return ctx.Error(indices, "needs indices of elements of their picture, which has ", p.elements, ", found ", p.Index(at, i), " at element ", i);
  }
  return kernels::RunStopped();
}

template <bool kScatter>
constexpr auto RunGradient = []<class T>(const Parameters& p, RunContext& ctx) -> Status {
  const T* const from = ctx.in<T>(grad).data();
  T* const to = ctx.out<T>(scattered).data();
  const void* const at = ctx.in<std::byte>(indices).data();
  std::atomic<bool> bad = false;
  kernels::ForEach(ctx.workers(), p.pictures, p.grain(), [&](int64_t picture, kernels::StopCheck& stop) {
    if constexpr (kScatter) kernels::FillUntilStopped(stop, to + picture * p.elements, p.elements, T(0));
    for (int64_t window = 0; window < p.windows && !stop(4); ++window) {
      const int64_t element = p.Element(at, picture, window), pooled = picture * p.windows + window;
      if (element < 0) bad.store(true, std::memory_order_relaxed);
      else if constexpr (kScatter) to[element] = WrapAdd(to[element], from[pooled]);
      else to[pooled] = from[element];
    }
  });
  return bad ? RefuseIndices(p, ctx, at) : Status();
};

}  // namespace

BlockDef MaxPoolWithArgmax() {
  return Block("MaxPoolWithArgmax", "The largest value under each window of a picture, and where it is.")
      .Details("The first of equal values counts, and a NaN only where it comes first.")
      .Ports(input, output, argmax).Attrs(ksize, strides, Targmax, padding, include_batch_in_index).Types("T", kReals)
      .Types("Targmax", kIndices)
      .Gradient(GradientBlock(input, "MaxPoolGradWithArgmax", {{"input", input}, {"grad", Grad(output)}, {"argmax", argmax}},
                              {ksize.name, strides.name, padding.name, include_batch_in_index.name}))
      .Kernel(Plan, Run);
}

BlockDef MaxPoolGradWithArgmax() {
  return Block("MaxPoolGradWithArgmax", "The gradient of MaxPoolWithArgmax: the element that argmax names takes it.")
      .Ports(orig_input, grad, indices, scattered).Attrs(ksize, strides, padding, include_batch_in_index)
      .Types("T", kReals).Types("Targmax", kIndices)
      .Kernel(PlanGradient<true>, RunGradient<true>);
}

BlockDef MaxPoolGradGradWithArgmax() {
  return Block("MaxPoolGradGradWithArgmax", "The gradient of MaxPoolGradWithArgmax: for each window the value that argmax names.")
      .Ports(orig_input, second_grad, indices, gathered)
      .Attrs(ksize, strides, padding, include_batch_in_index, index_type).Inferred(index_type).Types("T", kReals)
      .Types("Targmax", kIndices)
      .Kernel(PlanGradient<false>, RunGradient<false>, kBySize);
}

}  // namespace weft::blocks
