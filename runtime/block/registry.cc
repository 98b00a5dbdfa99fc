#include "weft/block/registry.h"

#include <algorithm>

namespace weft {
namespace {

Status CheckPorts(const std::vector<PortSpec>& ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name.empty()) return InvalidArgument("a port needs a name");
    for (size_t j = 0; j < i; ++j) {
      if (ports[i].name == ports[j].name) return InvalidArgument("the port '", ports[i].name, "' is declared twice");
    }
  }
  return {};
}

// Checks a declaration once, so that the layers above can rely on it.
Status CheckDef(const BlockDef& def) {
  if (def.name.empty()) return InvalidArgument("a block needs a name");
  WEFT_RETURN_IF_ERROR(CheckPorts(def.inputs));
  WEFT_RETURN_IF_ERROR(CheckPorts(def.outputs));
  for (const PortSpec& out : def.outputs) {
    if (out.reference_of < 0) continue;
    if (out.reference_of >= static_cast<int>(def.inputs.size()) || def.inputs[out.reference_of].kind != PortKind::kReference) {
      return InvalidArgument("the output '", out.name, "' refers to an input that is no reference");
    }
  }
  if (def.structural == Structural::kNone && !def.plan) return InvalidArgument("a block that computes needs a plan");
  return {};
}

}  // namespace

Registry::Registry(std::span<const CatalogEntry> catalog) {
  blocks_.reserve(catalog.size());
  by_name_.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) {
    BlockDef def = entry.make();
    def.category = entry.category;
    // A block with a faulty declaration is left out; a test of the catalog reports it.
    (void)Add(std::move(def)).ok();
  }
}

Status Registry::Add(BlockDef def) {
  if (Status status = CheckDef(def); !status.ok()) return std::move(status).WithBlock(def.name);
  if (by_name_.contains(def.name)) return AlreadyExists("there is a block '", def.name, "' already");
  blocks_.push_back(std::make_unique<BlockDef>(std::move(def)));
  const BlockDef* added = blocks_.back().get();
  try {
    by_name_.emplace(added->name, added);
    for (const std::string& alias : added->aliases) by_alias_.emplace(alias, added);
  } catch (...) {  // without memory for all of its names it is not there
    const auto is = [added](const auto& entry) { return entry.second == added; };
    std::erase_if(by_name_, is);
    std::erase_if(by_alias_, is);
    blocks_.pop_back();
    throw;
  }
  return {};
}

const BlockDef* Registry::Find(std::string_view name) const {
  if (auto it = by_name_.find(name); it != by_name_.end()) return it->second;
  if (auto it = by_alias_.find(name); it != by_alias_.end()) return it->second;
  return nullptr;
}

std::vector<std::string_view> Registry::Names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, def] : by_name_) names.push_back(name);
  for (const auto& [name, def] : by_alias_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace weft
