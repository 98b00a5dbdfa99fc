// Cast: from one element type to another.
#include "blocks/kernels/elementwise/cast.h"

#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "SrcT", "any shape"};
constexpr Out<0> y{"y", "DstT", "the shape of x"};
constexpr Attr<DType> dst_type{"DstT", kRequired, "the type to cast to"};
constexpr Attr<bool> truncate{"Truncate", "false",
                              "cut instead of round: double or float to half, float to bfloat16, double to float, complex128 to complex64 "
                              "or float, a complex number to half"};

/// Quantized types cast as the integers they are stored as.
constexpr auto kCastable = kNumbers + kQuantized + TypeList<bool>{};

struct CastPlan {
  kernels::MapFunction cast = nullptr;
  size_t from_size = 0, to_size = 0;
};

template <class S, class D>
void CastRow(const void* from, void* to, int64_t n) {
  kernels::CastElements(static_cast<const S*>(from), static_cast<D*>(to), n);
}
template <class S, class D>
void TruncateRow(const void* from, void* to, int64_t n) {
  kernels::TruncateElements(static_cast<const S*>(from), static_cast<D*>(to), n);
}

kernels::MapFunction FindCast(DType from, DType to, bool truncated) {
  if (from == to && from == DType::kString) return CastRow<String, String>;
  return Dispatch(from, kCastable, [&]<class S>() {
    return Dispatch(to, kCastable, [&]<class D>() -> kernels::MapFunction {
      if constexpr (kernels::kDroppedBits<S, D> > 0) {
        if (truncated) return TruncateRow<S, D>;
      }
      return CastRow<S, D>;
    });
  });
}

Result<CastPlan> Plan(PlanContext& ctx) {
  const DType from = ctx.dtype(x), to = ctx.attr(dst_type);
  CastPlan plan{FindCast(from, to, ctx.attr(truncate)), ElementSize(from), ElementSize(to)};
  if (plan.cast == nullptr) return ctx.ErrorOf(Code::kUnsupported, x, "needs types of numbers or booleans, found ", from, " to ", to);
  WEFT_RETURN_IF_ERROR(PlanMap(ctx));
  return plan;
}

constexpr auto Run = [](const CastPlan& plan, RunContext& ctx) {
  const std::byte* from = ctx.in<std::byte>(x).data();
  const std::span<std::byte> out = ctx.out<std::byte>(y);
  std::byte* to = out.data();
  ctx.workers().For(static_cast<int64_t>(out.size()), 32768, [&](int64_t begin, int64_t end) {
    plan.cast(from + begin * static_cast<int64_t>(plan.from_size), to + begin * static_cast<int64_t>(plan.to_size), end - begin);
  });
};

void Gradient(GradientBuilder& g) {
  const auto has_gradient = [](DType type) { return IsFloating(type) || IsComplex(type); };
  const DType from = g.dtype(g.in(x));
  if (has_gradient(from) && has_gradient(g.dtype(g.grad(y)))) g.Set(x, g.Add("Cast", {{"x", {g.grad(y)}}}, {{"DstT", AttrValue(from)}}));
}

}  // namespace

BlockDef Cast() {
  return Block("Cast", "Casts each element to another type.")
      .Details("Floats are cut towards zero to become integers; integers that do not fit wrap; a complex number loses its imaginary part; "
               "all but 0 is true. Strings are only cast to strings.")
      .Ports(x, y).Types("SrcT", kAllTypes).Attrs(dst_type, truncate).Types("DstT", kAllTypes).Elementwise().Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
