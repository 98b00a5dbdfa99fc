// What the blocks that work on a queue by its handle have in common.
#pragma once

#include "blocks/data_flow/queue.h"
#include "weft/block/block.h"

namespace weft::blocks {

inline constexpr Attr<int64_t> kQueueTimeout{"timeout_ms", "-1",
                                             "longest time to wait, in milliseconds; -1 waits until it comes or the run ends"};

/// A handle is one element; its kind only a run can tell.
template <class P>
Status CheckHandle(PlanContext& ctx, const P& handle) {
  if (ctx.shape(handle).count() == 1) return {};
  return ctx.Error(handle, "needs one handle, found the shape ", ctx.shape(handle));
}

/// The component types of a tuple port.
template <class P>
DTypes TypesOf(PlanContext& ctx, const P& components) {
  DTypes types;
  for (int k = 0; k < ctx.count(components); ++k) types.push_back(ctx.dtype(components, k));
  return types;
}

/// Finds or makes the queue of a block in the page's scope; refuses one of that name with other settings.
Result<ResourceHandle> BindQueue(BindContext& ctx, const std::string& container, const std::string& shared_name, const QueueSpec& spec,
                                 std::unique_ptr<QueueStore> (*make_store)());

/// Cuts a tensor along its first axis: element r has row r of each component. All components have the same number of rows. cancelled where
/// the run of `workers` is to end.
Result<std::vector<QueueElement>> CutRows(std::span<const Tensor> components, const std::shared_ptr<MemoryBudget>& budget,
                                          const Workers& workers);

/// Joins component `k` of elements of one shape along a new first axis. `shape` is that of one element.
Result<Tensor> JoinRows(std::span<const QueueElement> elements, int k, DType dtype, const Shape& shape,
                        const std::shared_ptr<MemoryBudget>& budget, const Workers& workers);

}  // namespace weft::blocks
