// The blocks that make a queue, one for each kind: FIFOQueue, PaddingFIFOQueue, PriorityQueue, RandomShuffleQueue.
#include "blocks/data_flow/named_handles.h"
#include "blocks/data_flow/queue_blocks.h"
#include "blocks/random/random_stream.h"

namespace weft::blocks {
namespace {

constexpr Out<0> made{"handle", "DT_RESOURCE", "[], the handle of the queue"};
constexpr Attr<Shapes> shapes{"shapes", "{}",
                              "the shape of each component; empty lets elements have any shape, but not be taken many at once"};
constexpr Attr<int64_t> capacity{"capacity", "-1", "most elements held at a time; negative for no limit"};
constexpr Attr<std::string> container{"container", "\"\"", "name space of the queue's name"};
constexpr Attr<std::string> shared_name{"shared_name", "\"\"", "blocks of one shared name share the queue; empty means the block's id"};

struct Parameters {
  QueueSpec spec;
  std::string container, shared_name;
};

/// What is the same for all kinds; `types` and `shapes` are those of the attributes.
Result<Parameters> PlanKind(PlanContext& ctx, const char* block, const auto& types, const auto& shapes) {
  QueueSpec spec;
  spec.block = block;
  spec.types = ctx.attr(types);
  spec.shapes = ctx.attr(shapes);
  spec.capacity = ctx.attr(capacity);
  if (!spec.shapes.empty() && spec.shapes.size() != spec.types.size()) {
    return ctx.Error(shapes, "needs a shape for each of the ", spec.types.size(), " components or none, found ", spec.shapes.size());
  }
  return Parameters{std::move(spec), ctx.attr(container), ctx.attr(shared_name)};
}

Status CheckKnown(const PlanContext& ctx, const auto& port, const Shapes& shapes) {
  for (const PartialShape& shape : shapes) {
    if (!shape.complete()) return ctx.Error(port, "needs shapes known in full, found ", shape);
  }
  return {};
}

constexpr auto Run = [](const Parameters&, RunContext& ctx) { ctx.out<ResourceHandle>(made)[0] = ctx.state_handle(); };

template <std::unique_ptr<QueueStore> (*make_store)()>
constexpr auto Bind = [](const Parameters& p, BindContext& ctx) { return BindQueue(ctx, p.container, p.shared_name, p.spec, make_store); };

namespace fifo {

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Parameters p, PlanKind(ctx, "FIFOQueue", kComponentTypes, shapes));
  WEFT_RETURN_IF_ERROR(CheckKnown(ctx, shapes, p.spec.shapes));
  return p;
}

}  // namespace fifo

namespace padding {

constexpr Attr<Shapes> shapes{"shapes", "{}", "the shape of each component, with ? for sizes that differ from element to element"};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Parameters p, PlanKind(ctx, "PaddingFIFOQueue", kComponentTypes, shapes));
  if (p.spec.shapes.empty()) return ctx.Error(shapes, "needs a shape for each of the ", p.spec.types.size(), " components, found none");
  for (const PartialShape& shape : p.spec.shapes) {
    if (!shape.known_rank()) return ctx.Error(shapes, "needs shapes of known rank, found ", shape);
  }
  p.spec.padded = true;
  return p;
}

}  // namespace padding

namespace priority {

constexpr Attr<DTypes> component_types{"component_types", "{}", "the type of each component of an element beside its priority"};
constexpr Attr<Shapes> shapes{"shapes", kRequired, "the shape of each component beside the priority; empty lets them have any shape"};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Parameters p, PlanKind(ctx, "PriorityQueue", component_types, shapes));
  WEFT_RETURN_IF_ERROR(CheckKnown(ctx, shapes, p.spec.shapes));
  if (p.spec.types.empty()) return ctx.Error(component_types, "needs the type of one component or more beside the priority, found none");
  if (p.spec.shapes.empty()) p.spec.shapes.resize(p.spec.types.size());
  p.spec.types.insert(p.spec.types.begin(), DType::kInt64);
  p.spec.shapes.insert(p.spec.shapes.begin(), PartialShape(Shape{}));
  return p;
}

}  // namespace priority

namespace shuffle {

constexpr Attr<int64_t> min_after_dequeue{"min_after_dequeue", "0",
                                          "how many elements stay behind until the queue is closed, for the order to be by chance"};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Parameters p, PlanKind(ctx, "RandomShuffleQueue", kComponentTypes, shapes));
  WEFT_RETURN_IF_ERROR(CheckKnown(ctx, shapes, p.spec.shapes));
  QueueSpec& spec = p.spec;
  spec.min_after_dequeue = ctx.attr(min_after_dequeue);
  spec.seed = ctx.attr(kSeed);
  spec.seed2 = ctx.attr(kSeed2);
  if (spec.min_after_dequeue < 0) return ctx.Error(min_after_dequeue, "needs 0 or more, found ", spec.min_after_dequeue);
  if (spec.capacity >= 0 && spec.min_after_dequeue >= spec.capacity) {
    return ctx.Error(min_after_dequeue, "needs less than the capacity of ", spec.capacity, ", found ", spec.min_after_dequeue);
  }
  return p;
}

constexpr auto Bind = [](const Parameters& p, BindContext& ctx) {
  return BindQueue(ctx, p.container, p.shared_name, p.spec, [&p] {
    return MakeShuffleStore(StartOf({p.spec.seed, p.spec.seed2}), p.spec.min_after_dequeue);
  });
};

}  // namespace shuffle

BlockDef Declare(const char* name, const char* alias, const char* summary, const char* details, auto plan, auto bind,
                 const auto&... attrs) {
  return Block(name, summary)
      .Details(details)
      .Ports(made)
      .Attrs(attrs..., container, shared_name)
      .Alias(alias)
      .NotDifferentiable()
      .Kernel(plan, Run, bind);
}

}  // namespace

Result<ResourceHandle> BindQueue(BindContext& ctx, const std::string& container, const std::string& shared_name, const QueueSpec& spec,
                                 const std::function<std::unique_ptr<QueueStore>()>& make_store) {
  auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Queue>(spec, make_store())); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle handle, ctx.Shared(container, shared_name, make));
  WEFT_ASSIGN_OR_RETURN(const Queue* queue, FoundAs<Queue>(handle));
  WEFT_RETURN_IF_ERROR(queue->CheckSame(spec));
  return handle;
}

BlockDef FIFOQueue() {
  return Declare("FIFOQueue", "FIFOQueueV2", "A queue whose elements come out in the order they went in.", "", fifo::Plan,
                 Bind<MakeFifoStore>, kComponentTypes, shapes, capacity);
}

BlockDef PaddingFIFOQueue() {
  return Declare("PaddingFIFOQueue", "PaddingFIFOQueueV2",
                 "A first-in, first-out queue of elements whose sizes may differ: taken many at once they are padded to the largest.",
                 "Padding is zeros, false, or empty strings, behind the element. An element taken alone is not padded.", padding::Plan,
                 Bind<MakeFifoStore>, kComponentTypes, padding::shapes, capacity);
}

BlockDef PriorityQueue() {
  return Declare("PriorityQueue", "PriorityQueueV2", "A queue whose element of the smallest priority comes out first.",
                 "An element's first component is its priority, a DT_INT64 scalar, beside those that component_types lists. Many at once "
                 "are taken when all of them are there, so that they are sorted.",
                 priority::Plan, Bind<MakePriorityStore>, priority::component_types, priority::shapes, capacity);
}

BlockDef RandomShuffleQueue() {
  return Declare("RandomShuffleQueue", "RandomShuffleQueueV2", "A queue whose elements come out in random order.",
                 "With seeds, TensorFlow's own order, going on from run to run; without (both 0), another order every time.", shuffle::Plan,
                 shuffle::Bind, kComponentTypes, shapes, capacity, shuffle::min_after_dequeue, kSeed, kSeed2);
}

}  // namespace weft::blocks
