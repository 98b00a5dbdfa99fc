#include "weft/block/block_lists.h"

#include <unordered_set>

#include "weft/block/context.h"

namespace weft {
namespace {

using Names = std::unordered_set<std::string_view>;  // of the registry's blocks

/// The blocks that the entries of a list stand for. `port` is the list's name, for errors.
Result<Names> Listed(const Registry& registry, const std::vector<std::string>& list, std::string_view port) {
  Names names;
  for (const std::string& entry : list) {
    bool category = false;
    for (const auto& def : registry.blocks()) {
      if (def->category != entry) continue;
      category = true;
      names.insert(def->name);
    }
    if (category) continue;
    const BlockDef* def = registry.Find(entry);
    if (def == nullptr) {
      return NotFound("there is no block or category '", entry, "'").WithPort(port).WithHint(DidYouMean(entry, registry.Names()));
    }
    if (def->structural != Structural::kNone && port == "refused_blocks") {
      return InvalidArgument("the block '", def->name, "' computes nothing and cannot be refused").WithPort(port);
    }
    names.insert(def->name);
  }
  return names;
}

/// What plans a block that is refused: by this it is known as one.
struct RefuseToPlan {
  Status refusal;
  Result<PlannedBlock> operator()(PlanContext&) const { return refusal; }
};

BlockDef Refused(const BlockDef& def, std::string_view why) {
  BlockDef refused = def;
  refused.plan = RefuseToPlan{PermissionDenied("the host refuses blocks of the type ", def.name, ": ", why)};
  return refused;
}

}  // namespace

Result<Registry> ApplyLists(Registry all, const BlockLists& lists) {
  if (lists.allowed.empty() && lists.refused.empty()) return all;
  WEFT_ASSIGN_OR_RETURN(const Names allowed, Listed(all, lists.allowed, "allowed_blocks"));
  WEFT_ASSIGN_OR_RETURN(const Names refused, Listed(all, lists.refused, "refused_blocks"));
  Registry some;
  for (const auto& def : all.blocks()) {
    const bool structural = def->structural != Structural::kNone;
    if (!structural && refused.contains(def->name)) {
      WEFT_RETURN_IF_ERROR(some.Add(Refused(*def, "it is on the list of refused blocks")));
    } else if (!structural && !lists.allowed.empty() && !allowed.contains(def->name)) {
      WEFT_RETURN_IF_ERROR(some.Add(Refused(*def, "it is not on the list of allowed blocks")));
    } else {
      WEFT_RETURN_IF_ERROR(some.Add(*def));
    }
  }
  return some;
}

Status RefusalOf(const BlockDef& def) {
  const auto* refuse = def.plan.target<RefuseToPlan>();
  return refuse == nullptr ? Status() : refuse->refusal;
}

}  // namespace weft
