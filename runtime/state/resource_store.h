// ResourceStore: the state that blocks keep in a scope besides variables (queues, readers, random streams), by name.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/context.h"
#include "weft/plan/graph.h"

namespace weft {

/// Keys are "own/TYPE/BLOCK" and "shared/CONTAINER/NAME".
class ResourceStore {
 public:
  /// What a snapshot holds of a resource that no session has made yet: the block that makes it takes it over.
  struct Saved {
    std::string kind, state;
  };
  using Resources = std::map<std::string, ResourceHandle, std::less<>>;
  using SavedStates = std::map<std::string, Saved, std::less<>>;
  /// Puts a saved state into a resource that was just made.
  using Restore = FunctionRef<Status(Resource&, const Saved&)>;
  struct Rename {
    std::string from, to;  // empty: the state is dropped
  };

  /// With the type: an edit may put another block in a block's place, whose state is of another kind.
  static std::string OwnKey(std::string_view type, std::string_view block);
  static std::string SharedKey(std::string_view container, std::string_view name);
  /// That of what a block shares, by its attributes `container` and `shared_name`, where it has them.
  static std::string SharedKey(const Node& node);

  Result<ResourceHandle> FindOrMake(std::string key, const BindContext::Factory& make, Restore restore);
  /// Called with each resource that is made from here on, before anybody uses it; empty: nothing is. Not while a run is in progress.
  using Made = std::function<Status(const std::string& key, Resource& made)>;
  void SetMade(Made made);

  /// While one lives, its thread alone uses the store.
  class Access {
   public:
    explicit Access(ResourceStore& store) : store_(store), lock_(store.mutex_) {}
    const Resources& resources() const { return store_.resources_; }
    const SavedStates& saved() const { return store_.saved_; }
    bool empty() const { return resources().empty() && saved().empty(); }
    /// In the place of all that are there.
    void SwapSaved(SavedStates& saved) noexcept { store_.saved_.swap(saved); }
    /// All at once: names may be exchanged.
    void Move(const std::vector<Rename>& renames);

   private:
    ResourceStore& store_;
    std::lock_guard<std::mutex> lock_;
  };

 private:
  std::mutex mutex_;
  Made made_;
  Resources resources_;
  SavedStates saved_;
};

}  // namespace weft
