// Bincount and Bucketize: which bin a number falls in, and how many do.
#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr TypeList<int32_t, int64_t, float, double> kCountTypes;

namespace bincount {

constexpr In<0> arr{"arr", "DT_INT32", "any shape: the bin of each value, 0 or more; those from size on are left out"};
constexpr In<1> size{"size", "DT_INT32", "a scalar, 0 or more: how many bins"};
constexpr In<2> weights{"weights", "T", "as many elements as arr: what each value counts; empty: each counts 1"};
constexpr Out<0> bins{"bins", "T", "[size]"};

struct Bins {
  bool weighted = false;
};

Result<Bins> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, size));
  const int64_t count = ctx.shape(arr).count(), weighted = ctx.shape(weights).count();
  if (weighted != 0 && weighted != count) {
    return ctx.Error(weights, "needs as many elements as arr, ", count, ", or none, found ", ctx.shape(weights));
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(bins, ctx.ints(size), size));
  // Floats are summed in double, so that no weight is lost beside a large sum.
  if (ctx.dtype(weights) == DType::kFloat) ctx.set_scratch(ctx.ints(size)[0] * static_cast<int64_t>(sizeof(double)));
  return Bins{weighted != 0};
}

constexpr auto Run = []<class T>(const Bins& p, RunContext& ctx) -> Status {
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;
  const auto out = ctx.out<T>(bins);
  Sum* sums = nullptr;
  if constexpr (std::is_same_v<T, float>) sums = ctx.scratch<double>().data();
  else sums = out.data();
  const auto size = static_cast<int64_t>(out.size());
  kernels::FillLong(ctx.workers(), sums, size, Sum{0});
  kernels::StopCheck stop(ctx.workers());
  const auto values = ctx.in<int32_t>(arr);
  const T* each = p.weighted ? ctx.in<T>(weights).data() : nullptr;
  for (size_t i = 0; i < values.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    const int32_t bin = values[i];
    if (bin < 0) return ctx.Error(arr, "needs bins of 0 or more, found ", bin);
    if (static_cast<size_t>(bin) >= out.size()) continue;
    sums[bin] = WrapAdd(sums[bin], each != nullptr ? static_cast<Sum>(each[i]) : Sum{1});
  }
  if constexpr (std::is_same_v<T, float>) {
    kernels::ForEach(ctx.workers(), size, int64_t{1} << 16, [&](int64_t i) { out[static_cast<size_t>(i)] = static_cast<float>(sums[i]); });
  }
  return {};
};

}  // namespace bincount

namespace bucketize {

constexpr In<0> input{"input", "T", "any shape"};
constexpr Out<0> output{"output", "DT_INT32", "the shape of input: how many boundaries are not above each element"};
constexpr Attr<FloatList> boundaries{"boundaries", kRequired, "the boundaries, in ascending order; one belongs to the bucket above it"};

/// The boundaries as the input's type has them.
struct Buckets {
  FloatList floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;  // the least integer that is not below each; those that no integer reaches are left out

  template <class T>
  const auto& Of() const {
    if constexpr (std::is_same_v<T, float>) return floats;
    else if constexpr (std::is_same_v<T, double>) return doubles;
    else return integers;
  }
};

Result<Buckets> Plan(PlanContext& ctx) {
  Buckets buckets;
  buckets.floats = ctx.attr(boundaries);
  for (size_t i = 0; i < buckets.floats.size(); ++i) {
    const float boundary = buckets.floats[i], before = i == 0 ? boundary : buckets.floats[i - 1];
    if (!(before <= boundary)) return ctx.Error(boundaries, "needs ascending numbers, found ", boundary, " after ", before);
    buckets.doubles.push_back(boundary);
    const double least = std::ceil(static_cast<double>(boundary));
    if (least < 9223372036854775808.0) {
      buckets.integers.push_back(least <= -9223372036854775808.0 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(least));
    }
  }
  ctx.set(output, ctx.shape(input));
  return buckets;
}

constexpr auto Run = []<class T>(const Buckets& buckets, RunContext& ctx) {
  const auto& limits = buckets.Of<T>();
  const T* from = ctx.in<T>(input).data();
  const auto out = ctx.out<int32_t>(output);
  int32_t* to = out.data();
  ctx.workers().For(static_cast<int64_t>(out.size()), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = static_cast<int32_t>(std::upper_bound(limits.begin(), limits.end(), from[i]) - limits.begin());
    }
  });
};

}  // namespace bucketize

}  // namespace

BlockDef Bincount() {
  return Block("Bincount", "Counts how often each integer occurs, or sums its weights.")
      .Ports(bincount::arr, bincount::size, bincount::weights, bincount::bins).Types("T", kCountTypes)
      .ShapedBy(bincount::size)
      .Kernel(bincount::Plan, bincount::Run);
}

BlockDef Bucketize() {
  return Block("Bucketize", "The number of the bucket that each element falls in; the boundaries lie between the buckets.")
      .Details("NaN falls in the last bucket.")
      .Ports(bucketize::input, bucketize::output).Types("T", kCountTypes).Attrs(bucketize::boundaries)
      .Kernel(bucketize::Plan, bucketize::Run);
}

}  // namespace weft::blocks
