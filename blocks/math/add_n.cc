// AddN: the sum of a list of tensors.
#include <algorithm>

#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr InList<0> inputs{"inputs", "T", "N", "one tensor or more, all of one shape"};
constexpr Attr<int64_t> length{"N", kRequired, "how many tensors there are", nullptr, 1};
constexpr Out<0> sum{"sum", "T", "the shape of the inputs"};

constexpr auto kAddable = kNumbers + kQuantized;

Status Plan(PlanContext& ctx) {
  if (ctx.count(inputs) == 0) return ctx.Error(inputs, "needs one tensor or more, found none");
  const Shape& shape = ctx.shape(inputs, 0);
  for (int k = 1; k < ctx.count(inputs); ++k) {
    if (ctx.shape(inputs, k) != shape) {
      return ctx.Error(inputs, "needs tensors of one shape, found ", shape, " first and ", ctx.shape(inputs, k), " at index ", k);
    }
  }
  ctx.set(sum, shape);
  return {};
}

/// to[i] = a[i] + b[i]; `to` may be a or b.
template <class T>
void AddRows(const T* a, const T* b, T* to, int64_t n) {
  if constexpr (Complex<T>) {
    for (int64_t i = 0; i < n; ++i) to[i] = a[i] + b[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = WrapAdd(a[i], b[i]);
  }
}

/// Elements [begin, end) of the sum, in blocks, each read from every input before it is written: the output may be an input's memory.
template <class T>
void SumBlocks(RunContext& ctx, int64_t begin, int64_t end) {
  using A = Accumulator<T>;
  constexpr int64_t kBlock = kernels::kFloatBlock;
  T* to = ctx.out<T>(sum).data();
  const int count = ctx.count(inputs);
  const auto input = [&](int k, int64_t at) { return ctx.in<T>(inputs, k).data() + at; };
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    A acc[kBlock];
    if constexpr (ShortFloat<T>) {
      float wide[kBlock];
      kernels::Widen(input(0, at), acc, n);
      for (int k = 1; k < count; ++k) {
        kernels::Widen(input(k, at), wide, n);
        AddRows(acc, wide, acc, n);
      }
      kernels::Narrow(acc, to + at, n);
    } else if (count == 1) {
      if (input(0, at) != to + at) std::copy_n(input(0, at), n, to + at);
    } else {
      const A* first = input(0, at);
      for (int k = 1; k + 1 < count; ++k, first = acc) AddRows(first, input(k, at), acc, n);
      AddRows(first, input(count - 1, at), to + at, n);
    }
  }
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  const int64_t size = static_cast<int64_t>(ctx.out<T>(sum).size());
  const int count = ctx.count(inputs);
  if (size == 1) {
    Accumulator<T> total = static_cast<Accumulator<T>>(ctx.in<T>(inputs, 0)[0]);
    for (int k = 1; k < count; ++k) total = WrapAdd(total, static_cast<Accumulator<T>>(ctx.in<T>(inputs, k)[0]));
    ctx.out<T>(sum)[0] = static_cast<T>(total);
    return;
  }
  const int64_t grain = std::max<int64_t>(65536 / (count + 1), 4096);
  ctx.workers().For(size, grain, [&](int64_t begin, int64_t end) { SumBlocks<T>(ctx, begin, end); });
};

void Gradient(GradientBuilder& g) {
  for (int k = 0; k < g.count(inputs); ++k) g.Set(inputs, g.grad(sum), k);
}

}  // namespace

BlockDef AddN() {
  return Block("AddN", "The sum of tensors of one shape.")
      .Ports(inputs, sum).Attrs(length).Inferred(length).Types("T", kAddable).Elementwise().Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace weft::blocks
