// What the blocks that work on a queue or a reader by its handle have in common.
#pragma once

#include <functional>

#include "blocks/data_flow/queue.h"
#include "blocks/data_flow/state_block.h"
#include "blocks/limits.h"

namespace weft::blocks {

inline constexpr Attr<DTypes> kComponentTypes{"component_types", kRequired, "the type of each component of an element", nullptr, 1};

/// A handle is one element; its kind only a run can tell.
Status CheckHandles(const PlanContext& ctx, const auto&... handles) {
  Status status;
  const auto check = [&](const auto& handle) {
    if (status.ok() && ctx.shape(handle).count() != 1) status = ctx.Error(handle, "needs one handle, found the shape ", ctx.shape(handle));
  };
  (check(handles), ...);
  return status;
}

/// Finds or makes the queue of a block in the page's scope; refuses one of that name with other settings.
Result<ResourceHandle> BindQueue(BindContext& ctx, const std::string& container, const std::string& shared_name, const QueueSpec& spec,
                                 const std::function<std::unique_ptr<QueueStore>()>& make_store);

/// What make() makes of elements that were taken from a queue or barrier; where it fails or throws, that gets them back.
auto MakeOrReturn(auto& source, std::vector<QueueElement>& elements, auto&& make) -> decltype(make()) {
  try {
    auto made = make();
    if (!made.ok()) source.Return(std::move(elements));
    return made;
  } catch (...) {  // of too little memory
    source.Return(std::move(elements));
    throw;
  }
}

}  // namespace weft::blocks
