// The blocks that work on a queue of any kind: QueueEnqueue and QueueEnqueueMany put one element, or one for each row, into it;
// QueueDequeue, QueueDequeueMany and QueueDequeueUpTo take elements out; QueueSize and QueueClose.
#include "blocks/data_flow/queue_blocks.h"

#include "blocks/data_flow/element_rows.h"

namespace weft::blocks {
namespace {

constexpr In<0> handle{"handle", "DT_RESOURCE", "[], the queue"};
constexpr const auto& component_types = kComponentTypes;
constexpr Attr<int64_t> timeout_ms{"timeout_ms", "-1", "longest time to wait, in milliseconds; -1 waits until it comes or the run ends"};

/// What goes into a queue or comes out.
struct Moved {
  DTypes types;
  int64_t timeout_ms;
};

namespace enqueue {

constexpr InTuple<1> element{"components", "Tcomponents", "the element: a tensor for each component of the queue"};
constexpr InTuple<1> rows{"components", "Tcomponents", "[N, ...] each: the elements, one in each row"};
constexpr Attr<DTypes> Tcomponents{"Tcomponents", kRequired, "the type of each component; follows from the wires", nullptr, 1};

Result<Moved> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  if (ctx.count(element) == 0) return ctx.Error(element, "needs at least one component, found none");
  return Moved{DTypesOf(ctx, element), ctx.attr(timeout_ms)};
}

Result<Moved> PlanMany(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Moved p, Plan(ctx));
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
Result<QueueElement> CopyChecked(const Queue& queue, const Moved& p, ProduceContext& ctx, int skip) {
  if (Status status = queue.CheckTypes(p.types); !status.ok()) return std::move(status).WithPort(element.name);
  QueueElement copies;
  for (int k = 0; k < ctx.count(element); ++k) {
    Status status = queue.CheckShape(k, Shape(ctx.shape(element, k).dims().subspan(skip)));
    if (!status.ok()) return std::move(status).WithPort(element.name);
    WEFT_ASSIGN_OR_RETURN(Tensor copy, ctx.Copy(element, p.types[k], k));
    copies.push_back(std::move(copy));
  }
  return copies;
}

constexpr auto Run = [](const Moved& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  std::vector<QueueElement> elements(1);
  WEFT_ASSIGN_OR_RETURN(elements[0], CopyChecked(*queue, p, ctx, 0));
  return queue->Enqueue(std::move(elements), *ctx.services().waiter, p.timeout_ms, nullptr, ctx.in<ResourceHandle>(handle)[0]);
};

constexpr auto RunMany = [](const Moved& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  WEFT_ASSIGN_OR_RETURN(QueueElement whole, CopyChecked(*queue, p, ctx, 1));
  WEFT_ASSIGN_OR_RETURN(auto elements, AtPort(rows, CutRows(whole, ctx.services().budget, ctx.workers())));
  whole.clear();
  return queue->Enqueue(std::move(elements), *ctx.services().waiter, p.timeout_ms, &ctx.workers(), ctx.in<ResourceHandle>(handle)[0]);
};

BlockDef Declare(const char* name, const char* alias, const char* summary, const InTuple<1>& components, auto plan, auto run) {
  return StateBlock(name, summary)
      .Ports(handle, components)
      .Attrs(Tcomponents, timeout_ms)
      .Inferred(Tcomponents)
      .Alias(alias)
      .Producer(plan, run);
}

}  // namespace enqueue

namespace dequeue {

constexpr In<1> n{"n", "DT_INT32", "one element: how many to take"};
constexpr OutTuple<0> element{"components", "component_types", "the element: a tensor for each component of the queue"};
constexpr OutTuple<0> rows{"components", "component_types", "[n, ...] each: the elements, one in each row"};

Result<Moved> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  for (int k = 0; k < ctx.count(element); ++k) ctx.set_unknown(element, k);
  return Moved{ctx.attr(component_types), ctx.attr(timeout_ms)};
}

Result<Moved> PlanMany(PlanContext& ctx) {
  if (ctx.shape(n).count() != 1) return ctx.Error(n, "needs one number, found the shape ", ctx.shape(n));
  return Plan(ctx);
}

Result<Queue*> FindQueue(const Moved& p, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  if (Status status = queue->CheckTypes(p.types); !status.ok()) return std::move(status).WithPort(component_types.name);
  return queue;
}

constexpr auto Run = [](const Moved& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, FindQueue(p, ctx));
  WEFT_ASSIGN_OR_RETURN(auto elements, queue->Dequeue(1, false, *ctx.services().waiter, p.timeout_ms));
  WEFT_ASSIGN_OR_RETURN(QueueElement own, MakeOrReturn(*queue, elements, [&] { return AsOwnTensors(elements[0], ctx.services().budget); }));
  for (size_t k = 0; k < own.size(); ++k) ctx.Emit(element, std::move(own[k]), static_cast<int>(k));
  return {};
};

Status TakeMany(const Moved& p, ProduceContext& ctx, bool up_to) {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, FindQueue(p, ctx));
  const int32_t count = ctx.in<int32_t>(n)[0];
  if (count < 0) return ctx.Error(n, "needs 0 or more, found ", count);
  if (!queue->spec().joinable()) {
    return ctx.Error(handle, "needs a queue whose shapes are given, found one without, whose elements may differ in shape");
  }
  WEFT_ASSIGN_OR_RETURN(auto elements, queue->Dequeue(count, up_to, *ctx.services().waiter, p.timeout_ms, &ctx.workers()));
  const DiscardAtEnd discard(elements);
  WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> joined, MakeOrReturn(*queue, elements, [&] {
                          return JoinElements(elements, queue->spec(), ctx.services().budget, ctx.workers());
                        }));
  for (size_t k = 0; k < joined.size(); ++k) ctx.Emit(rows, std::move(joined[k]), static_cast<int>(k));
  return {};
}

template <bool up_to>
constexpr auto RunMany = [](const Moved& p, ProduceContext& ctx) { return TakeMany(p, ctx, up_to); };

BlockDef Declare(const char* name, const char* alias, const char* summary, auto plan, auto run, const auto&... ports) {
  return StateBlock(name, summary)
      .Ports(handle, ports...)
      .Attrs(component_types, timeout_ms)
      .Alias(alias)
      .Waits()
      .Producer(plan, run);
}

}  // namespace dequeue

// ---- its state -----------------------------------------------------------------------------------------------------------------

constexpr Out<0> size{"size", "DT_INT32", "[], the number of elements"};
constexpr Attr<bool> cancel_pending_enqueues{"cancel_pending_enqueues", "false", "whether what waits for room is refused too"};

Status PlanSize(PlanContext& ctx) { return CheckHandles(ctx, handle); }

Result<bool> PlanClose(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  return ctx.attr(cancel_pending_enqueues);
}

constexpr auto RunSize = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  ctx.out<int32_t>(size)[0] = static_cast<int32_t>(std::min<int64_t>(queue->size(), INT32_MAX));
  return {};
};

constexpr auto RunClose = [](const bool& cancel_pending, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  return queue->Close(cancel_pending);
};

}  // namespace

BlockDef QueueEnqueue() {
  return enqueue::Declare("QueueEnqueue", "QueueEnqueueV2", "Puts one element into a queue; waits while the queue is full.",
                          enqueue::element, enqueue::Plan, enqueue::Run);
}

BlockDef QueueEnqueueMany() {
  return enqueue::Declare("QueueEnqueueMany", "QueueEnqueueManyV2",
                          "Puts each row of its components into a queue as one element; waits while the queue is full.", enqueue::rows,
                          enqueue::PlanMany, enqueue::RunMany);
}

BlockDef QueueDequeue() {
  return dequeue::Declare("QueueDequeue", "QueueDequeueV2", "Takes one element out of a queue; waits while the queue is empty.",
                          dequeue::Plan, dequeue::Run, dequeue::element);
}

BlockDef QueueDequeueMany() {
  return dequeue::Declare("QueueDequeueMany", "QueueDequeueManyV2",
                          "Takes n elements out of a queue, as the rows of a tensor for each component; waits until it has them.",
                          dequeue::PlanMany, dequeue::RunMany<false>, dequeue::n, dequeue::rows);
}

BlockDef QueueDequeueUpTo() {
  return dequeue::Declare("QueueDequeueUpTo", "QueueDequeueUpToV2",
                          "Takes n elements out of a queue as rows, or fewer where the queue is closed and has at least one left.",
                          dequeue::PlanMany, dequeue::RunMany<true>, dequeue::n, dequeue::rows);
}

BlockDef QueueSize() {
  return StateBlock("QueueSize", "How many elements a queue holds.")
      .Ports(handle, size)
      .Alias("QueueSizeV2")
      .Kernel(PlanSize, RunSize);
}

BlockDef QueueClose() {
  return StateBlock("QueueClose", "Closes a queue: nothing more goes in, and what is inside still comes out.")
      .Ports(handle)
      .Attrs(cancel_pending_enqueues)
      .Alias("QueueCloseV2")
      .Kernel(PlanClose, RunClose);
}

}  // namespace weft::blocks
