// Fill: a tensor of one value.
#include <algorithm>

#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> dims{"dims", "index_type", "[rank]: the sizes of the output"};
constexpr In<1> value{"value", "T", "a scalar"};
constexpr Out<0> output{"output", "T", "the value in every element, of shape dims"};

Status Plan(PlanContext& ctx) {
  if (ctx.shape(dims).rank() > 1) return ctx.Error(dims, "needs a vector of sizes, found ", ctx.shape(dims));
  if (!ctx.shape(value).scalar()) return ctx.Error(value, "needs a scalar, found ", ctx.shape(value));
  return ctx.set_checked(output, ctx.ints(dims), dims);
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  const T& element = ctx.in<T>(value)[0];
  auto to = ctx.out<T>(output);
  ctx.workers().For(static_cast<int64_t>(to.size()), (int64_t{1} << 18) / static_cast<int64_t>(sizeof(T)),
                    [&](int64_t begin, int64_t end) { std::fill(to.begin() + begin, to.begin() + end, element); });
};

}  // namespace

BlockDef Fill() {
  return Block("Fill", "A tensor of one value.")
      .Ports(dims, value, output)
      .Types("T", kAllTypes)
      .Types("index_type", kIndices)
      .ShapedBy(dims)
      .Gradient([](GradientBuilder& g) { g.Set(value, g.Add("SumLike", {{"grad", {g.grad(output)}}, {"like", {g.in(value)}}})); })
      .Kernel(Plan, Run, kBySize);
}

}  // namespace weft::blocks
