// OneHot: for each index a row that is on_value there and off_value elsewhere.
#include <algorithm>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> indices{"indices", "TI", "of any shape; an index outside [0, depth) gives off_value everywhere"};
constexpr In<1> depth{"depth", "DT_INT32", "a scalar: the size of the new axis"};
constexpr In<2> on_value{"on_value", "T", "a scalar"};
constexpr In<3> off_value{"off_value", "T", "a scalar"};
constexpr Out<0> output{"output", "T", "the shape of indices with an axis of size depth put in"};
constexpr Attr<int64_t> axis{"axis", "-1", "where the new axis goes; -1: last"};

constexpr TypeList<uint8_t, int8_t, int32_t, int64_t> kIndexTypes;

struct Parameters {
  int64_t outer, depth, inner;  // the output is [outer, depth, inner], indices [outer, inner]
  DType index_type;
};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, depth, on_value, off_value));
  const Shape& shape = ctx.shape(indices);
  int64_t at = ctx.attr(axis);
  if (at < -1 || at > shape.rank()) return ctx.Error(axis, "needs -1 to ", shape.rank(), " for indices of shape ", shape, ", found ", at);
  if (at == -1) at = shape.rank();
  int64_t size = ctx.ints(depth)[0];
  if (size < 0) return ctx.Error(depth, "needs 0 or more, found ", size);
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + at, size);
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, depth));
  int split = static_cast<int>(at);
  return Parameters{shape.count(0, split), size, shape.count(split, shape.rank()), ctx.dtype(indices)};
}

constexpr int64_t kLongOneHotRow = 65536;  // elements: a longer one is several tasks, since one of its own would not see the end of the run

// The rows of one index each, where the new axis is the last.
template <class T, class I>
void LastAxis(const Parameters& p, RunContext& ctx, const T& on, const T& off, T* to) {
  const auto index = ctx.in<I>(indices);
  const bool long_rows = p.depth > kLongOneHotRow;
  if (long_rows) kernels::FillLong(ctx.workers(), to, p.outer * p.depth, off);
  ctx.workers().For(p.outer, 1 + kLongOneHotRow / std::max<int64_t>(p.depth, 1), [&](int64_t begin, int64_t end) {
    if (!long_rows) std::fill(to + begin * p.depth, to + end * p.depth, off);
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = static_cast<int64_t>(index[i]);
      if (at >= 0 && at < p.depth) to[i * p.depth + at] = on;
    }
  });
}

template <class T, class I>
void InnerAxis(const Parameters& p, RunContext& ctx, const T& on, const T& off, T* to) {
  const auto index = ctx.in<I>(indices);
  // A task is some of the outer * depth rows of `inner` elements.
  kernels::ForEach(ctx.workers(), p.outer * p.depth, 1 + 32768 / std::max<int64_t>(p.inner, 1), [&](int64_t row) {
    const I* from = index.data() + row / p.depth * p.inner;
    int64_t at = row % p.depth;
    ctx.workers().For(p.inner, kLongOneHotRow, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[row * p.inner + i] = static_cast<int64_t>(from[i]) == at ? on : off;
    });
  });
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  if (p.outer == 0 || p.inner == 0 || p.depth == 0) return;
  const T &on = ctx.in<T>(on_value)[0], &off = ctx.in<T>(off_value)[0];
  T* to = ctx.out<T>(output).data();
  Dispatch(p.index_type, kIndexTypes, [&]<class I>() {
    if (p.inner == 1) LastAxis<T, I>(p, ctx, on, off, to);
    else InnerAxis<T, I>(p, ctx, on, off, to);
  });
};

}  // namespace

BlockDef OneHot() {
  return Block("OneHot", "For each index a row that is on_value at the index and off_value elsewhere.")
      .Ports(indices, depth, on_value, off_value, output).Attrs(axis).Types("T", kAllTypes).Types("TI", kIndexTypes)
      .ShapedBy(depth)
      .NotDifferentiable().Kernel(Plan, Run, kBySize);
}

}  // namespace weft::blocks
