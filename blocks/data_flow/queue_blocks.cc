// The blocks that work on a queue of any kind: QueueEnqueue and QueueEnqueueMany put one element, or one for each row, into it; QueueDequeue,
// QueueDequeueMany and QueueDequeueUpTo take elements out; QueueSize and QueueClose.
#include "blocks/data_flow/queue_blocks.h"

#include "blocks/array/pad.h"
#include "blocks/kernels/stop_check.h"

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

// ---- rows of tensors as elements -----------------------------------------------------------------------------------------------

constexpr int64_t kRowItems = 128;  // simple steps that a row takes as long as, whatever is in it

/// Copies the elements of a row; false where it left since the run is to end.
bool CopyRow(DType dtype, const std::byte* from, void* to, int64_t count, kernels::StopCheck& stop) {
  const size_t size = ElementSize(dtype);
  if (stop(kRowItems)) return false;
  for (int64_t at = 0; at < count; at += kernels::kItemsBetweenLooks) {
    const int64_t part = std::min(count - at, kernels::kItemsBetweenLooks);
    if (stop(part)) return false;
    const size_t offset = static_cast<size_t>(at) * size;
    CopyElements(dtype, from + offset, static_cast<std::byte*>(to) + offset, part);
  }
  return true;
}

/// Cuts a tensor along its first axis: element r has row r of each component. All components have the same number of rows. cancelled where
/// the run of `workers` is to end.
Result<std::vector<QueueElement>> CutRows(std::span<const Tensor> components, const std::shared_ptr<MemoryBudget>& budget,
                                          const Workers& workers) {
  const int64_t rows = components.empty() ? 0 : components[0].shape()[0];
  // Rows without elements are tensors, too.
  const auto row_cost = static_cast<int64_t>(sizeof(QueueElement) + components.size() * sizeof(Tensor));
  if (budget != nullptr && rows > (budget->limit() - budget->used()) / row_cost) {
    return ResourceExhausted("needs room for ", rows, " elements, found a limit of ", budget->limit(), " bytes").WithPort("components");
  }
  std::vector<QueueElement> elements(static_cast<size_t>(rows));
  kernels::StopCheck stop(workers);
  for (const Tensor& component : components) {
    const Shape row(component.shape().dims().subspan(1));
    const size_t row_bytes = static_cast<size_t>(row.count()) * ElementSize(component.dtype());
    const auto* from = static_cast<const std::byte*>(component.data());
    for (QueueElement& element : elements) {
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(component.dtype(), row, budget));
      if (!CopyRow(component.dtype(), from, tensor.data(), row.count(), stop)) return kernels::RunStopped();
      element.push_back(std::move(tensor));
      from += row_bytes;
    }
  }
  return elements;
}

/// The shape that component `k` of each of these elements fits in: unknown sizes are as large as the largest.
Result<Shape> RowShape(const PartialShape& known, std::span<const QueueElement> elements, size_t k) {
  std::vector<int64_t> dims = known.dims();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (known.dim(static_cast<int>(axis)) >= 0) continue;
    dims[axis] = 0;
    for (const QueueElement& element : elements) dims[axis] = std::max(dims[axis], element[k].shape()[static_cast<int>(axis)]);
  }
  return Shape::Make(dims);
}

/// Writes a whole row: the tensor in its corner, zeros or empty strings behind it.
void PadRow(const Tensor& tensor, const Shape& row, std::byte* to, Workers& workers) {
  std::vector<FramedAxis> axes;
  for (int axis = 0; axis < row.rank(); ++axis) axes.push_back({0, tensor.shape()[axis], row[axis] - tensor.shape()[axis]});
  RunFrame(MakeFrame(std::move(axes), tensor.dtype()), static_cast<const std::byte*>(tensor.data()), to, nullptr, workers);
}

/// Joins component `k` of elements along a new first axis.
Result<Tensor> JoinRows(std::span<const QueueElement> elements, size_t k, const QueueSpec& spec, const std::shared_ptr<MemoryBudget>& budget,
                        Workers& workers) {
  const DType dtype = spec.types[k];
  WEFT_ASSIGN_OR_RETURN(const Shape row, RowShape(spec.shapes[k], elements, k));
  std::vector<int64_t> dims{static_cast<int64_t>(elements.size())};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  WEFT_ASSIGN_OR_RETURN(Shape joined, Shape::Make(dims));
  WEFT_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(dtype, std::move(joined), budget));
  auto* to = static_cast<std::byte*>(result.data());
  kernels::StopCheck stop(workers);
  for (const QueueElement& element : elements) {
    if (element[k].shape() == row) {
      if (!CopyRow(dtype, static_cast<const std::byte*>(element[k].data()), to, row.count(), stop)) return kernels::RunStopped();
    } else {
      if (stop(kRowItems)) return kernels::RunStopped();
      PadRow(element[k], row, to, workers);
    }
    to += static_cast<size_t>(row.count()) * ElementSize(dtype);
  }
  return result;
}

// ---- into the queue ------------------------------------------------------------------------------------------------------------

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
  return queue->Enqueue(std::move(elements), *ctx.services().waiter, p.timeout_ms);
};

constexpr auto RunMany = [](const Moved& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  WEFT_ASSIGN_OR_RETURN(QueueElement whole, CopyChecked(*queue, p, ctx, 1));
  WEFT_ASSIGN_OR_RETURN(auto elements, CutRows(whole, ctx.services().budget, ctx.workers()));
  whole.clear();
  return queue->Enqueue(std::move(elements), *ctx.services().waiter, p.timeout_ms, &ctx.workers());
};

template <class Plan, class Run>
BlockDef Declare(const char* name, const char* alias, const char* summary, const InTuple<1>& components, Plan plan, Run run) {
  return Block(name, summary)
      .Ports(handle, components)
      .Attrs(Tcomponents, timeout_ms)
      .Inferred(Tcomponents)
      .Alias(alias)
      .Stateful()
      .NotDifferentiable()
      .Producer(plan, run);
}

}  // namespace enqueue

// ---- out of it -----------------------------------------------------------------------------------------------------------------

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
  for (size_t k = 0; k < p.types.size(); ++k) ctx.Emit(element, std::move(elements[0][k]), static_cast<int>(k));
  return {};
};

Result<std::vector<Tensor>> JoinAll(const Queue& queue, const std::vector<QueueElement>& elements, ProduceContext& ctx) {
  std::vector<Tensor> joined;
  for (size_t k = 0; k < queue.spec().types.size(); ++k) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, JoinRows(elements, k, queue.spec(), ctx.services().budget, ctx.workers()));
    joined.push_back(std::move(tensor));
  }
  return joined;
}

Status TakeMany(const Moved& p, ProduceContext& ctx, bool up_to) {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, FindQueue(p, ctx));
  const int32_t count = ctx.in<int32_t>(n)[0];
  if (count < 0) return ctx.Error(n, "needs 0 or more, found ", count);
  if (!queue->spec().joinable()) {
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

template <bool up_to>
constexpr auto RunMany = [](const Moved& p, ProduceContext& ctx) { return TakeMany(p, ctx, up_to); };

template <class Plan, class Run, class... Ports>
BlockDef Declare(const char* name, const char* alias, const char* summary, Plan plan, Run run, const Ports&... ports) {
  return Block(name, summary)
      .Ports(handle, ports...)
      .Attrs(component_types, timeout_ms)
      .Alias(alias)
      .Waits()
      .NotDifferentiable()
      .Producer(plan, run);
}

}  // namespace dequeue

// ---- its state -----------------------------------------------------------------------------------------------------------------

constexpr Out<0> size{"size", "DT_INT32", "[], the number of elements"};
constexpr Attr<bool> cancel_pending_enqueues{"cancel_pending_enqueues", "false", "whether what waits for room is refused too"};

struct CloseParameters {
  bool cancel_pending;
};

Status PlanSize(PlanContext& ctx) { return CheckHandles(ctx, handle); }

Result<CloseParameters> PlanClose(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  return CloseParameters{ctx.attr(cancel_pending_enqueues)};
}

constexpr auto RunSize = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  ctx.out<int32_t>(size)[0] = static_cast<int32_t>(std::min<int64_t>(queue->size(), INT32_MAX));
  return {};
};

constexpr auto RunClose = [](const CloseParameters& p, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(handle));
  return queue->Close(p.cancel_pending);
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
  return Block("QueueSize", "How many elements a queue holds.")
      .Ports(handle, size)
      .Alias("QueueSizeV2")
      .Stateful()
      .NotDifferentiable()
      .Kernel(PlanSize, RunSize);
}

BlockDef QueueClose() {
  return Block("QueueClose", "Closes a queue: nothing more goes in, and what is inside still comes out.")
      .Ports(handle)
      .Attrs(cancel_pending_enqueues)
      .Alias("QueueCloseV2")
      .Stateful()
      .NotDifferentiable()
      .Kernel(PlanClose, RunClose);
}

}  // namespace weft::blocks
