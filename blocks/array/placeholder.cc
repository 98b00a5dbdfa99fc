// Placeholder: an output that a session feeds.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Out<0> output{"output", "dtype", "the value that was fed"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the elements"};
constexpr Attr<PartialShape> shape{"shape", "?", "the shape that a fed value must have; unknown sizes take any"};

Status Plan(PlanContext& ctx) {
  PartialShape wanted = ctx.attr(shape);
  if (auto known = wanted.shape()) ctx.set(output, *known);
  else ctx.set_unknown(output, 0, std::move(wanted));
  return {};
}

constexpr auto Run = [](const NoParameters&, ProduceContext& ctx) {
  return ctx.Error(output, "needs a value for this run, found none").WithHint("feed it: a placeholder has no value of its own");
};

}  // namespace

BlockDef Placeholder() {
  return Block("Placeholder", "An output whose value a session feeds.")
      .Details("A run that reads it without feeding it fails.")
      .Ports(output)
      .Attrs(dtype, shape)
      .Types("dtype", kAllTypes)
      .Stateful()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
