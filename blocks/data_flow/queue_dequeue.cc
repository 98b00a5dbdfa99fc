// QueueDequeue, QueueDequeueMany and QueueDequeueUpTo: elements come out of a queue.
#include "blocks/data_flow/queue_blocks.h"

namespace weft::blocks {
namespace {

constexpr In<0> handle{"handle", "DT_RESOURCE", "[], the queue"};
constexpr In<1> n{"n", "DT_INT32", "one element: how many to take"};
constexpr OutTuple<0> components{"components", "component_types", "the element: a tensor for each component of the queue"};
constexpr OutTuple<0> rows{"components", "component_types", "[n, ...] each: the elements, one in each row"};
constexpr Attr<DTypes> component_types{"component_types", kRequired, "the type of each component of an element", nullptr, 1};

struct Parameters {
  DTypes types;
  int64_t timeout_ms;
};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandle(ctx, handle));
  for (int k = 0; k < ctx.count(components); ++k) ctx.set_unknown(components, k);
  return Parameters{ctx.attr(component_types), ctx.attr(kQueueTimeout)};
}

Result<Parameters> PlanMany(PlanContext& ctx) {
  if (ctx.shape(n).count() != 1) return ctx.Error(n, "needs one number, found the shape ", ctx.shape(n));
  return Plan(ctx);
}

Result<Queue*> FindQueue(const Parameters& p, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  if (Status status = queue->CheckTypes(p.types); !status.ok()) return std::move(status).WithPort(component_types.name);
  return queue;
}

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, FindQueue(p, ctx));
  WEFT_ASSIGN_OR_RETURN(auto elements, queue->Dequeue(1, false, *ctx.services().waiter, p.timeout_ms));
  for (size_t k = 0; k < p.types.size(); ++k) ctx.Emit(components, std::move(elements[0][k]), static_cast<int>(k));
  return {};
};

Result<std::vector<Tensor>> JoinAll(const Queue& queue, const std::vector<QueueElement>& elements, ProduceContext& ctx) {
  std::vector<Tensor> joined;
  for (size_t k = 0; k < queue.spec().types.size(); ++k) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, JoinRows(elements, static_cast<int>(k), queue.spec().types[k], *queue.spec().shapes[k].shape(),
                                                  ctx.services().budget, ctx.workers()));
    joined.push_back(std::move(tensor));
  }
  return joined;
}

Status TakeMany(const Parameters& p, ProduceContext& ctx, bool up_to) {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, FindQueue(p, ctx));
  const int32_t count = ctx.in<int32_t>(n)[0];
  if (count < 0) return ctx.Error(n, "needs 0 or more, found ", count);
  if (queue->spec().shapes.empty()) {
    return ctx.Error(handle, "needs a queue whose shapes are given, found one without, whose elements may differ in shape");
  }
  WEFT_ASSIGN_OR_RETURN(auto elements, queue->Dequeue(count, up_to, *ctx.services().waiter, p.timeout_ms, &ctx.workers()));
  Result<std::vector<Tensor>> joined = std::vector<Tensor>();
  try {
    joined = JoinAll(*queue, elements, ctx);
  } catch (...) {  // of too little memory
    queue->Return(std::move(elements));
    throw;
  }
  if (!joined.ok()) {
    queue->Return(std::move(elements));
    return std::move(joined).status();
  }
  for (size_t k = 0; k < joined->size(); ++k) ctx.Emit(rows, std::move((*joined)[k]), static_cast<int>(k));
  return {};
}

constexpr auto RunMany = [](const Parameters& p, ProduceContext& ctx) { return TakeMany(p, ctx, false); };
constexpr auto RunUpTo = [](const Parameters& p, ProduceContext& ctx) { return TakeMany(p, ctx, true); };

}  // namespace

BlockDef QueueDequeue() {
  return Block("QueueDequeue", "Takes one element out of a queue; waits while the queue is empty.")
      .Ports(handle, components)
      .Attrs(component_types, kQueueTimeout)
      .Alias("QueueDequeueV2")
      .Waits()
      .NotDifferentiable()
      .Producer(Plan, Run);
}

BlockDef QueueDequeueMany() {
  return Block("QueueDequeueMany", "Takes n elements out of a queue, as the rows of a tensor for each component; waits until it has them.")
      .Ports(handle, n, rows)
      .Attrs(component_types, kQueueTimeout)
      .Alias("QueueDequeueManyV2")
      .Waits()
      .NotDifferentiable()
      .Producer(PlanMany, RunMany);
}

BlockDef QueueDequeueUpTo() {
  return Block("QueueDequeueUpTo", "Takes n elements out of a queue as rows, or fewer where the queue is closed and has at least one left.")
      .Ports(handle, n, rows)
      .Attrs(component_types, kQueueTimeout)
      .Alias("QueueDequeueUpToV2")
      .Waits()
      .NotDifferentiable()
      .Producer(PlanMany, RunUpTo);
}

}  // namespace weft::blocks
