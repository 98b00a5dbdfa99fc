#include "blocks/data_flow/named_handles.h"

#include "weft/block/named_bind.h"

namespace weft::blocks {

void NamedHandles::Add(std::string_view container, std::string_view name, const ResourceHandle& resource) {
  std::lock_guard lock(mutex_);
  Names& names = containers_.try_emplace(std::string(container)).first->second;
  std::erase_if(names, [](const auto& entry) { return entry.second.expired(); });
  names.insert_or_assign(std::string(name), resource);
}

ResourceHandle NamedHandles::Find(std::string_view container, std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto names = containers_.find(container);
  if (names == containers_.end()) return nullptr;
  const auto entry = names->second.find(name);
  return entry == names->second.end() ? nullptr : entry->second.lock();
}

Result<ResourceHandle> BindHandles(BindContext& ctx) { return BindTable<NamedHandles>(ctx); }

Result<ResourceHandle> BindNamed(BindContext& ctx, const std::string& container, const std::string& shared_name,
                                 const BindContext::Factory& make) {
  WEFT_ASSIGN_OR_RETURN(const ResourceHandle handles, BindHandles(ctx));
  auto named = std::make_shared<NamedResource>();
  WEFT_ASSIGN_OR_RETURN(named->target, ctx.Shared(container, shared_name, make));
  named->container = container.empty() ? "localhost" : container;
  named->name = shared_name.empty() ? std::string(BlockIdOf(ctx)) : shared_name;
  static_cast<NamedHandles&>(*handles).Add(named->container, named->name, named->target);
  return ResourceHandle(std::move(named));
}

}  // namespace weft::blocks
