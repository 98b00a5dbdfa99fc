// QueueEnqueue and QueueEnqueueMany: one element, or one for each row, goes into a queue.
#include "blocks/data_flow/queue_blocks.h"

namespace weft::blocks {
namespace {

constexpr In<0> handle{"handle", "DT_RESOURCE", "[], the queue"};
constexpr InTuple<1> components{"components", "Tcomponents", "the element: a tensor for each component of the queue"};
constexpr InTuple<1> rows{"components", "Tcomponents", "[N, ...] each: the elements, one in each row"};
constexpr Attr<DTypes> Tcomponents{"Tcomponents", kRequired, "the type of each component; follows from the wires", nullptr, 1};

struct Parameters {
  DTypes types;
  int64_t timeout_ms;
};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandle(ctx, handle));
  if (ctx.count(components) == 0) return ctx.Error(components, "needs at least one component, found none");
  return Parameters{TypesOf(ctx, components), ctx.attr(kQueueTimeout)};
}

Result<Parameters> PlanMany(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Parameters p, Plan(ctx));
  for (int k = 0; k < ctx.count(rows); ++k) {
    const Shape& shape = ctx.shape(rows, k);
    if (shape.scalar()) return ctx.Error(rows, "component ", k, " needs rank 1 or more, found a scalar");
    if (shape[0] != ctx.shape(rows, 0)[0]) {
      return ctx.Error(rows, "needs as many rows in every component as the ", ctx.shape(rows, 0)[0], " of component 0, found ", shape[0],
                       " in component ", k);
    }
  }
  return p;
}

/// Copies of the inputs, checked against the queue; `skip` leading axes are not part of an element.
Result<QueueElement> CopyChecked(const Queue& queue, const Parameters& p, ProduceContext& ctx, int skip) {
  if (Status status = queue.CheckTypes(p.types); !status.ok()) return std::move(status).WithPort(components.name);
  QueueElement element;
  for (int k = 0; k < ctx.count(components); ++k) {
    Status status = queue.CheckShape(k, Shape(ctx.shape(components, k).dims().subspan(skip)));
    if (!status.ok()) return std::move(status).WithPort(components.name);
    WEFT_ASSIGN_OR_RETURN(Tensor copy, ctx.Copy(components, p.types[k], k));
    element.push_back(std::move(copy));
  }
  return element;
}

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  WEFT_ASSIGN_OR_RETURN(QueueElement element, CopyChecked(*queue, p, ctx, 0));
  std::vector<QueueElement> elements;
  elements.push_back(std::move(element));
  return queue->Enqueue(std::move(elements), *ctx.services().waiter, p.timeout_ms);
};

constexpr auto RunMany = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  WEFT_ASSIGN_OR_RETURN(QueueElement whole, CopyChecked(*queue, p, ctx, 1));
  WEFT_ASSIGN_OR_RETURN(auto elements, CutRows(whole, ctx.services().budget, ctx.workers()));
  whole.clear();
  return queue->Enqueue(std::move(elements), *ctx.services().waiter, p.timeout_ms, &ctx.workers());
};

}  // namespace

BlockDef QueueEnqueue() {
  return Block("QueueEnqueue", "Puts one element into a queue; waits while the queue is full.")
      .Ports(handle, components)
      .Attrs(Tcomponents, kQueueTimeout)
      .Inferred(Tcomponents)
      .Alias("QueueEnqueueV2")
      .Stateful()
      .NotDifferentiable()
      .Producer(Plan, Run);
}

BlockDef QueueEnqueueMany() {
  return Block("QueueEnqueueMany", "Puts each row of its components into a queue as one element; waits while the queue is full.")
      .Ports(handle, rows)
      .Attrs(Tcomponents, kQueueTimeout)
      .Inferred(Tcomponents)
      .Alias("QueueEnqueueManyV2")
      .Stateful()
      .NotDifferentiable()
      .Producer(PlanMany, RunMany);
}

}  // namespace weft::blocks
