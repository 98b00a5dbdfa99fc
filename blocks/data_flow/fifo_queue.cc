// FIFOQueue: a queue whose elements come out in the order they went in.
#include "blocks/data_flow/queue_blocks.h"

namespace weft::blocks {
namespace {

constexpr Out<0> handle{"handle", "DT_RESOURCE", "[], the handle of the queue"};
constexpr Attr<DTypes> component_types{"component_types", kRequired, "the type of each component of an element", nullptr, 1};
constexpr Attr<Shapes> shapes{"shapes", "{}",
                              "the shape of each component; empty lets elements have any shape, but not be taken many at once"};
constexpr Attr<int64_t> capacity{"capacity", "-1", "most elements held at a time; negative for no limit"};
constexpr Attr<std::string> container{"container", "\"\"", "name space of the queue's name"};
constexpr Attr<std::string> shared_name{"shared_name", "\"\"", "blocks of one shared name share the queue; empty means the block's id"};

struct Parameters {
  QueueSpec spec;
  std::string container, shared_name;
};

Result<Parameters> Plan(PlanContext& ctx) {
  Parameters p{{"FIFOQueue", ctx.attr(component_types), ctx.attr(shapes), ctx.attr(capacity)}, ctx.attr(container), ctx.attr(shared_name)};
  if (!p.spec.shapes.empty() && p.spec.shapes.size() != p.spec.types.size()) {
    return ctx.Error(shapes, "needs a shape for each of the ", p.spec.types.size(), " components or none, found ", p.spec.shapes.size());
  }
  for (const PartialShape& shape : p.spec.shapes) {
    if (!shape.complete()) return ctx.Error(shapes, "needs shapes known in full, found ", shape);
  }
  ctx.set(handle, Shape{});
  return p;
}

constexpr auto Run = [](const Parameters&, RunContext& ctx) { ctx.out<ResourceHandle>(handle)[0] = ctx.state_handle(); };
constexpr auto Bind = [](const Parameters& p, BindContext& ctx) {
  return BindQueue(ctx, p.container, p.shared_name, p.spec, MakeFifoStore);
};

}  // namespace

BlockDef FIFOQueue() {
  return Block("FIFOQueue", "A queue whose elements come out in the order they went in.")
      .Ports(handle)
      .Attrs(component_types, shapes, capacity, container, shared_name)
      .Alias("FIFOQueueV2")
      .NotDifferentiable()
      .Kernel(Plan, Run, Bind);
}

}  // namespace weft::blocks
