// Where, InvertPermutation and BroadcastDynamicShape: positions and shapes as data.
#include <algorithm>
#include <bit>
#include <utility>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

// ---- Where -------------------------------------------------------------------------------------------------------------------

constexpr In<0> condition{"condition", "T", "of rank 1 or more"};
constexpr Out<0> index{"index", "DT_INT64", "[n, rank]: the position of each element that is not 0, row by row"};

constexpr auto kTested = kNumbers + kQuantized + TypeList<bool>{};

/// The smallest numbers count in every type but float and double, where arithmetic takes them for 0.
template <class T>
bool NotZero(const T& value) {
  if constexpr (std::is_same_v<T, bfloat16>) return (std::bit_cast<uint16_t>(value) & 0x7fff) != 0;
  else return value != T(0);
}

Result<DType> PlanWhere(PlanContext& ctx) {
  const int rank = ctx.shape(condition).rank();
  if (rank == 0) return ctx.Error(condition, "needs rank 1 or more, found a scalar");
  ctx.set_unknown(index, 0, PartialShape::Make({-1, rank}).value());
  return ctx.dtype(condition);
}

/// Writes the positions of the flags [begin, end) that are set, one after another. Only a row's first is divided out.
void WritePositions(const Shape& shape, const bool* flag, int64_t begin, int64_t end, int64_t* to) {
  const int rank = shape.rank();
  const int64_t row = shape[rank - 1];
  while (begin < end) {
    const int64_t column = begin % row, stop = std::min(row, column + end - begin);
    int64_t outer[kMaxRank];
    int64_t rest = begin / row;
    for (int d = rank - 2; d >= 0; --d) {
      outer[d] = rest % shape[d];
      rest /= shape[d];
    }
    for (int64_t j = column; j < stop; ++j, ++begin) {
      if (!flag[begin]) continue;
      for (int d = 0; d < rank - 1; ++d) *to++ = outer[d];
      *to++ = j;
    }
  }
}

constexpr auto RunWhere = [](const DType& dtype, ProduceContext& ctx) -> Status {
  constexpr int64_t kTask = int64_t{1} << 15;
  const Shape& shape = ctx.shape(condition);
  const int64_t n = shape.count(), tasks = DivideUp(n, kTask);
  WEFT_ASSIGN_OR_RETURN(Tensor flags, ctx.Allocate(DType::kBool, Shape{n}));
  WEFT_ASSIGN_OR_RETURN(Tensor firsts, ctx.Allocate(DType::kInt64, Shape{tasks}));  // where a task's positions begin
  bool* const flag = flags.values<bool>().data();
  const std::span<int64_t> first = firsts.values<int64_t>();
  Dispatch(dtype, kTested, [&]<class T>() {
    const T* from = ctx.in<T>(condition).data();
    ctx.workers().For(n, kTask, [&](int64_t begin, int64_t end) {
      int64_t found = 0;
      for (int64_t i = begin; i < end; ++i) {
        flag[i] = NotZero(from[i]);
        found += flag[i];
      }
      first[begin / kTask] = found;
    });
  });
  if (ctx.cancelled()) return kernels::RunStopped();  // not every flag was written
  int64_t found = 0;
  for (int64_t& task : first) found += std::exchange(task, found);
  WEFT_ASSIGN_OR_RETURN(Tensor positions, ctx.Allocate(DType::kInt64, Shape{found, shape.rank()}));
  int64_t* const to = positions.values<int64_t>().data();
  ctx.workers().For(n, kTask, [&](int64_t begin, int64_t end) { WritePositions(shape, flag, begin, end, to + first[begin / kTask] * shape.rank()); });
  return Emitted(ctx, index, std::move(positions));
};

// ---- InvertPermutation -------------------------------------------------------------------------------------------------------

constexpr In<0> x{"x", "T", "[n]: each of 0 ... n - 1 once"};
constexpr Out<0> y{"y", "T", "[n]: y[x[i]] = i"};

Status PlanInvert(PlanContext& ctx) {
  if (ctx.shape(x).rank() != 1) return ctx.Error(x, "needs a vector, found shape ", ctx.shape(x));
  ctx.set(y, ctx.shape(x));
  return {};
}

constexpr auto RunInvert = []<class T>(const NoParameters&, RunContext& ctx) -> Status {
  const auto from = ctx.in<T>(x);
  const auto to = ctx.out<T>(y);
  kernels::FillLong(ctx.workers(), to.data(), static_cast<int64_t>(to.size()), T{-1});
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < from.size(); ++i) {
    if (stop(4)) return kernels::RunStopped();
    const T value = from[i];
    if (value < 0 || static_cast<size_t>(value) >= from.size()) {
      return ctx.Error(x, "needs values in [0, ", from.size(), "), found ", value, " at position ", i);
    }
    if (to[value] >= 0) return ctx.Error(x, "needs each value once, found ", value, " again at position ", i);
    to[value] = static_cast<T>(i);
  }
  return {};
};

// ---- BroadcastDynamicShape ---------------------------------------------------------------------------------------------------

constexpr In<0> s0{"s0", "T", "[n]: a shape"};
constexpr In<1> s1{"s1", "T", "[m]: a shape that fits it: sizes equal or 1, from the last on"};
constexpr Out<0> r0{"r0", "T", "[max(n, m)]: the common shape"};

Status PlanShapes(PlanContext& ctx) {
  if (ctx.shape(s0).rank() != 1) return ctx.Error(s0, "needs a vector, found shape ", ctx.shape(s0));
  if (ctx.shape(s1).rank() != 1) return ctx.Error(s1, "needs a vector, found shape ", ctx.shape(s1));
  ctx.set(r0, Shape{std::max(ctx.shape(s0)[0], ctx.shape(s1)[0])});
  return {};
}

constexpr auto RunShapes = []<class T>(const NoParameters&, RunContext& ctx) -> Status {
  const auto a = ctx.in<T>(s0), b = ctx.in<T>(s1);
  const auto to = ctx.out<T>(r0);
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 1; i <= to.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    const T left = i <= a.size() ? a[a.size() - i] : T{1}, right = i <= b.size() ? b[b.size() - i] : T{1};
    if (left != right && left != 1 && right != 1) {
      return ctx.Error(s1, "needs sizes that equal those of s0 or are 1, from the last on, found ", right, " for ", left);
    }
    to[to.size() - i] = left == 1 ? right : left;
  }
  return {};
};

}  // namespace

BlockDef Where() {
  return Block("Where", "The positions of the elements that are true, or not 0.")
      .Details("NaN is not 0.")
      .Ports(condition, index).Types("T", kTested).NotDifferentiable().Producer(PlanWhere, RunWhere);
}

BlockDef InvertPermutation() {
  return Block("InvertPermutation", "The permutation that undoes another one.")
      .Ports(x, y).Types("T", kIndices).NotDifferentiable().Kernel(PlanInvert, RunInvert);
}

BlockDef BroadcastDynamicShape() {
  return Block("BroadcastDynamicShape", "The common shape of two tensors that are stretched over one another, from their shapes.")
      .Alias("BroadcastArgs").Ports(s0, s1, r0).Types("T", kIndices).NotDifferentiable().Kernel(PlanShapes, RunShapes);
}

}  // namespace weft::blocks
