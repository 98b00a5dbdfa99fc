// CheckNumerics: fails the run where a value is infinite or NaN.
#include <atomic>
#include <cmath>
#include <limits>

#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> tensor{"tensor", "T", "any shape"};
constexpr Out<0> output{"output", "T", "the shape of tensor"};
constexpr Attr<std::string> message{"message", kRequired, "begins the error's message"};

constexpr int64_t kTile = 32768;

Result<std::string> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(PlanMap(ctx));
  return ctx.attr(message);
}

/// Copies n elements where they are not in place; whether all are finite.
template <class T>
bool CopyFinite(const T* from, T* to, int64_t n) {
  using A = Accumulator<T>;
  bool finite = true;
#pragma omp simd reduction(& : finite)
  for (int64_t i = 0; i < n; ++i) finite &= std::abs(kernels::WidenOne<A>(from[i])) <= std::numeric_limits<A>::max();
  if (from != to) std::copy_n(from, n, to);
  return finite;
}

template <class T>
Status Refusal(const std::string& text, std::span<const T> values, const RunContext& ctx) {
  std::atomic<bool> infinite = false, nan = false;
  ctx.workers().For(static_cast<int64_t>(values.size()), kTile, [&](int64_t begin, int64_t end) {
    if (infinite && nan) return;
    bool has_infinite = false, has_nan = false;
    for (int64_t i = begin; i < end; ++i) {
      has_infinite |= std::isinf(static_cast<double>(values[i]));
      has_nan |= std::isnan(static_cast<double>(values[i]));
    }
    if (has_infinite) infinite = true;
    if (has_nan) nan = true;
  });
  const char* found = infinite && nan ? "infinities and NaN" : infinite ? "infinities" : "NaN";
  return ctx.Error(tensor, text, text.empty() ? "" : ": ", "needs finite numbers, found ", found);
}

constexpr auto Run = []<class T>(const std::string& text, RunContext& ctx) -> Status {
  const auto in = ctx.in<T>(tensor);
  T* to = ctx.out<T>(output).data();
  std::atomic<bool> finite = true;
  ctx.workers().For(static_cast<int64_t>(in.size()), kTile, [&](int64_t begin, int64_t end) {
    if (!CopyFinite(in.data() + begin, to + begin, end - begin)) finite.store(false, std::memory_order_relaxed);
  });
  return finite ? Status() : Refusal<T>(text, ctx.out<T>(output), ctx);
};

void Gradient(GradientBuilder& g) {
  const std::string text = "Infinities or NaN in the gradient. " + g.attr(message);
  g.Set(tensor, g.Add("CheckNumerics", {{"tensor", {g.grad(output)}}}, {{"message", AttrValue(text)}}));
}

}  // namespace

BlockDef CheckNumerics() {
  return Block("CheckNumerics", "The input as it is; fails the run where an element is infinite or NaN.")
      .Ports(tensor, output).Types("T", kFloats).Attrs(message).Stateful().Elementwise().Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace weft::blocks
