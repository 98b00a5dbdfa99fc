// Registry: the block types of a Runtime. Built once from a catalog; a host adds its own blocks before it loads pages.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weft/block/def.h"

namespace weft {

/// A line of blocks/catalog.cc.
struct CatalogEntry {
  const char* category;
  BlockDef (*make)();
};

/// Owns its BlockDefs. Reading from several threads is safe while no thread adds.
class Registry {
 public:
  Registry() = default;
  explicit Registry(std::span<const CatalogEntry> catalog);
  Registry(Registry&&) = default;
  Registry& operator=(Registry&&) = default;

  /// already_exists for a name that is taken; invalid_argument for an inconsistent declaration (an empty name, a repeated port, a reference
  /// output of an input that is no reference).
  Status Add(BlockDef def);

  /// The block of that name, or of that alias where no block has the name; null where there is none. Lives as long as the registry.
  const BlockDef* Find(std::string_view name) const;
  /// Names and aliases, for suggestions.
  std::vector<std::string_view> Names() const;
  /// In the order added.
  const std::vector<std::unique_ptr<BlockDef>>& blocks() const { return blocks_; }

 private:
  std::vector<std::unique_ptr<BlockDef>> blocks_;
  std::unordered_map<std::string_view, const BlockDef*> by_name_;
  std::unordered_map<std::string_view, const BlockDef*> by_alias_;
};

/// All of Weft's blocks (blocks/catalog.cc).
Registry MakeCatalog();

}  // namespace weft
