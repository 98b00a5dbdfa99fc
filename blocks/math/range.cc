// LinSpace and Range: numbers at equal distances.

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

namespace lin_space {

constexpr In<0> start{"start", "T", "a scalar: the first number"};
constexpr In<1> stop{"stop", "T", "a scalar: the last number"};
constexpr In<2> num{"num", "Tidx", "a scalar above 0: how many; only start where 1"};
constexpr Out<0> output{"output", "T", "[num]: the numbers"};

Status Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, start, stop, num));
  const auto count = ctx.ints(num);
  if (count[0] <= 0) return ctx.Error(num, "needs a number above 0, found ", count[0]);
  return ctx.set_checked(output, count, num);
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  using A = Accumulator<T>;
  const auto out = ctx.out<T>(output);
  T* to = out.data();
  const auto last = static_cast<int64_t>(out.size()) - 1;
  const auto first = static_cast<A>(ctx.in<T>(start)[0]), end = static_cast<A>(ctx.in<T>(stop)[0]);
  const A step = last > 0 ? (end - first) / static_cast<A>(last) : A(0);
  kernels::ForEach(ctx.workers(), last, 32768, [&](int64_t i) { to[i] = static_cast<T>(first + step * static_cast<A>(i)); });
  to[last] = static_cast<T>(end);
  to[0] = static_cast<T>(first);  // exactly, whatever the step: 0 times infinity is none
};

}  // namespace lin_space

namespace range {

constexpr In<0> start{"start", "Tidx", "a scalar: the first number"};
constexpr In<1> limit{"limit", "Tidx", "a scalar: where to end; it is not part of the numbers"};
constexpr In<2> delta{"delta", "Tidx", "a scalar, not 0: from one number to the next"};
constexpr Out<0> output{"output", "Tidx", "[n], n = (limit - start) / delta, rounded up"};

constexpr auto kRangeTypes = kFloats + TypeList<int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t>{};

/// How many numbers; negative where 63 bits do not hold it.
template <class T>
int64_t CountOf(T first, T end, T step) {
  if constexpr (Integer<T>) {
    const auto magnitude = [](T above, T below) { return static_cast<uint64_t>(above) - static_cast<uint64_t>(below); };
    const uint64_t span = first < end ? magnitude(end, first) : magnitude(first, end);
    const uint64_t size = step > 0 ? magnitude(step, 0) : magnitude(0, step);
    return static_cast<int64_t>(span / size + (span % size != 0));
  } else {
    const auto count = static_cast<double>(Eigen::numext::ceil(Eigen::numext::abs(T((end - first) / step))));
    return count < 9e18 ? static_cast<int64_t>(count) : -1;
  }
}

template <class T>
Result<int64_t> Count(PlanContext& ctx) {
  const T first = ctx.value(start).values<T>()[0], end = ctx.value(limit).values<T>()[0], step = ctx.value(delta).values<T>()[0];
  const auto text = [](T v) { return ElementText(Tensor::Scalar<T>(v), 0); };
  if constexpr (Float<T>) {
    if (!(Eigen::numext::isfinite)(first)) return ctx.Error(start, "needs a finite number, found ", text(first));
    if (!(Eigen::numext::isfinite)(end)) return ctx.Error(limit, "needs a finite number, found ", text(end));
  }
  if (!(step > T(0)) && !(step < T(0))) return ctx.Error(delta, "needs a step other than 0, found ", text(step));
  if (step > T(0) && first > end) return ctx.Error(limit, "needs a limit not below start ", text(first), ", found ", text(end));
  if (step < T(0) && first < end) {
    return ctx.Error(limit, "needs a limit not above start ", text(first), " for a step below 0, found ", text(end));
  }
  const int64_t count = CountOf(first, end, step);
  if (count < 0) return ctx.Error(limit, "needs fewer than 2^63 numbers, found ", text(first), " to ", text(end), " by ", text(step));
  return count;
}

Status Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, start, limit, delta));
  int64_t count = 0;
  const Status status = Dispatch(ctx.dtype(start), kRangeTypes, [&]<class T>() -> Status {
    WEFT_ASSIGN_OR_RETURN(count, Count<T>(ctx));
    return {};
  });
  WEFT_RETURN_IF_ERROR(status);
  return ctx.set_checked(output, std::span<const int64_t>(&count, 1), limit);
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  const auto out = ctx.out<T>(output);
  T* to = out.data();
  const T first = ctx.in<T>(start)[0], step = ctx.in<T>(delta)[0];
  ctx.workers().For(static_cast<int64_t>(out.size()), 32768, [&](int64_t from, int64_t until) {
    if constexpr (Integer<T>) {
      for (int64_t i = from; i < until; ++i) to[i] = WrapAdd(first, WrapMultiply(static_cast<T>(i), step));
    } else {
      // In double, so that floats are rounded once.
      const auto begin = static_cast<double>(first), by = static_cast<double>(step);
      for (int64_t i = from; i < until; ++i) to[i] = static_cast<T>(begin + static_cast<double>(i) * by);
    }
  });
};

}  // namespace range

}  // namespace

BlockDef LinSpace() {
  return Block("LinSpace", "A number of values at equal distances from start to stop, both included.")
      .Ports(lin_space::start, lin_space::stop, lin_space::num, lin_space::output).PortAlias("Input", "stop")
      .Types("T", kFloats).Types("Tidx", kIndices).ShapedBy(lin_space::num)
      .NotDifferentiable().Kernel(lin_space::Plan, lin_space::Run);
}

BlockDef Range() {
  return Block("Range", "The numbers start, start + delta, ... before limit.")
      .Ports(range::start, range::limit, range::delta, range::output).Types("Tidx", range::kRangeTypes)
      .ShapedBy(range::start, range::limit, range::delta)
      .NotDifferentiable().Kernel(range::Plan, range::Run);
}

}  // namespace weft::blocks
