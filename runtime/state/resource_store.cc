#include "runtime/state/resource_store.h"

#include <utility>

#include "weft/base/text.h"

namespace weft {
namespace {

template <class States>
void MoveIn(States& states, const std::vector<ResourceStore::Rename>& renames) {
  std::vector<std::pair<std::string, typename States::mapped_type>> moved;
  for (const ResourceStore::Rename& rename : renames) {
    auto state = states.find(rename.from);
    if (state == states.end()) continue;
    if (!rename.to.empty()) moved.emplace_back(rename.to, std::move(state->second));
    states.erase(state);
  }
  for (auto& [key, state] : moved) states.insert_or_assign(std::move(key), std::move(state));
}

}  // namespace

std::string ResourceStore::OwnKey(std::string_view type, std::string_view block) { return Cat("own/", type, "/", block); }
std::string ResourceStore::SharedKey(std::string_view container, std::string_view name) { return Cat("shared/", container, "/", name); }

Result<ResourceHandle> ResourceStore::FindOrMake(std::string key, const BindContext::Factory& make, Restore restore) {
  std::lock_guard lock(mutex_);
  if (auto it = resources_.find(key); it != resources_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(ResourceHandle made, make());
  if (auto saved = saved_.find(key); saved != saved_.end()) {
    WEFT_RETURN_IF_ERROR(restore(*made, saved->second));
    saved_.erase(saved);
  }
  resources_.emplace(std::move(key), made);
  return made;
}

void ResourceStore::Access::Move(const std::vector<Rename>& renames) {
  MoveIn(store_.resources_, renames);
  MoveIn(store_.saved_, renames);
}

}  // namespace weft
