// QueueSize and QueueClose: how many elements a queue holds, and its end.
#include "blocks/data_flow/queue_blocks.h"

namespace weft::blocks {
namespace {

constexpr In<0> handle{"handle", "DT_RESOURCE", "[], the queue"};
constexpr Out<0> size{"size", "DT_INT32", "[], the number of elements"};
constexpr Attr<bool> cancel_pending_enqueues{"cancel_pending_enqueues", "false", "whether what waits for room is refused too"};

struct CloseParameters {
  bool cancel_pending;
};

Status PlanSize(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandle(ctx, handle));
  ctx.set(size, Shape{});
  return {};
}

Result<CloseParameters> PlanClose(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandle(ctx, handle));
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
