#include "runtime/state/resource_store.h"

#include <utility>

#include "weft/base/text.h"

namespace weft {
namespace {

/// Takes the states out, and gives them their new keys: by the nodes of the map, so that once those and the keys are there nothing fails.
template <class States>
class Mover {
 public:
  Mover(States& states, const std::vector<ResourceStore::Rename>& renames) : states_(states) {
    keys_.reserve(renames.size());
    nodes_.reserve(renames.size());
    for (const ResourceStore::Rename& rename : renames) keys_.push_back(rename.to);
  }
  void Move(const std::vector<ResourceStore::Rename>& renames) noexcept {
    for (size_t i = 0; i < renames.size(); ++i) {
      auto state = states_.find(renames[i].from);
      if (state == states_.end()) continue;
      auto node = states_.extract(state);
      if (keys_[i].empty()) continue;
      node.key() = std::move(keys_[i]);
      nodes_.push_back(std::move(node));
    }
    for (auto& node : nodes_) {
      states_.erase(node.key());
      states_.insert(std::move(node));
    }
  }

 private:
  States& states_;
  std::vector<std::string> keys_;
  std::vector<typename States::node_type> nodes_;
};

}  // namespace

std::string ResourceStore::OwnKey(std::string_view type, std::string_view block) { return Cat("own/", type, "/", block); }
std::string ResourceStore::SharedKey(std::string_view container, std::string_view name) { return Cat("shared/", container, "/", name); }

std::string ResourceStore::SharedKey(const Node& node) {
  const auto text = [&](std::string_view name) {
    const int attr = node.def->FindAttr(name);
    const auto* value = attr < 0 ? nullptr : std::get_if<std::string>(&node.attrs[static_cast<size_t>(attr)]);
    return value == nullptr ? std::string() : *value;
  };
  const std::string name = text("shared_name");
  return SharedKey(text("container"), name.empty() ? node.id : name);
}

Result<ResourceHandle> ResourceStore::FindOrMake(std::string key, const BindContext::Factory& make, Restore restore) {
  std::lock_guard lock(mutex_);
  if (auto it = resources_.find(key); it != resources_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(ResourceHandle made, make());
  if (auto saved = saved_.find(key); saved != saved_.end()) {
    WEFT_RETURN_IF_ERROR(restore(*made, saved->second));
    if (made_) WEFT_RETURN_IF_ERROR(made_(key, *made));
    const auto place = resources_.emplace(std::move(key), made).first;
    saved_.erase(saved);
    return place->second;
  }
  if (made_) WEFT_RETURN_IF_ERROR(made_(key, *made));
  resources_.emplace(std::move(key), made);
  return made;
}

void ResourceStore::SetMade(Made made) {
  std::lock_guard lock(mutex_);
  made_ = std::move(made);
}

void ResourceStore::Access::Move(const std::vector<Rename>& renames) {
  Mover made(store_.resources_, renames);
  Mover saved(store_.saved_, renames);
  made.Move(renames);
  saved.Move(renames);
}

}  // namespace weft
