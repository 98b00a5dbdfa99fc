#include "weft/page/edit_changes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/page/edit_attrs.h"
#include "runtime/page/json_text.h"

namespace weft {
namespace {

/// A block's number, which stays: until the first edit its place.
uint64_t SerialOf(const Page& page, size_t block) { return page.blocks[block].serial != 0 ? page.blocks[block].serial : block + 1; }

void CompareBlocks(const Page& before, const Page& after, PageChanges& changes) {
  const auto compare = [&](const PageBlock& a, const PageBlock& b) {
    if (a.id != b.id) changes.renamed.emplace_back(a.id, b.id);
    else if (a.version != b.version) changes.changed.push_back(b.id);
  };
  // Most blocks are where they were.
  size_t same = 0;
  const size_t both = std::min(before.blocks.size(), after.blocks.size());
  for (; same < both && SerialOf(before, same) == SerialOf(after, same); ++same) compare(before.blocks[same], after.blocks[same]);
  std::unordered_map<uint64_t, size_t> gone;
  for (size_t i = same; i < before.blocks.size(); ++i) gone.emplace(SerialOf(before, i), i);
  for (size_t i = same; i < after.blocks.size(); ++i) {
    auto it = gone.find(SerialOf(after, i));
    if (it == gone.end()) {
      changes.added.push_back(after.blocks[i].id);
      continue;
    }
    compare(before.blocks[it->second], after.blocks[i]);
    gone.erase(it);
  }
  for (size_t i = same; i < before.blocks.size(); ++i) {
    if (gone.contains(SerialOf(before, i))) changes.removed.push_back(before.blocks[i].id);
  }
}

void CompareLayouts(const Page& before, const Page& after, PageChanges& changes) {
  if (before.layout_text != after.layout_text) changes.keys.emplace_back("layout");
  const auto equal = [](const LayoutEntry& a, const LayoutEntry& b) { return a.block == b.block && a.x == b.x && a.y == b.y; };
  if (std::ranges::equal(before.layout, after.layout, equal)) return;
  std::unordered_map<std::string_view, const LayoutEntry*> was;
  for (const LayoutEntry& entry : before.layout) was.emplace(entry.block, &entry);
  std::unordered_map<std::string_view, std::string_view> former;  // ids of renamed blocks
  for (const auto& [from, to] : changes.renamed) former.emplace(to, from);
  for (const LayoutEntry& entry : after.layout) {
    auto id = former.find(entry.block);
    auto it = was.find(id == former.end() ? std::string_view(entry.block) : id->second);
    if (it == was.end() || it->second->x != entry.x || it->second->y != entry.y) changes.moved.push_back(entry.block);
    if (it != was.end()) was.erase(it);
  }
  const std::unordered_set<std::string_view> removed(changes.removed.begin(), changes.removed.end());
  for (const LayoutEntry& entry : before.layout) {
    if (was.contains(entry.block) && !removed.contains(entry.block)) changes.moved.push_back(entry.block);
  }
}

void CompareKeys(const Page& before, const Page& after, PageChanges& changes) {
  if (before.name != after.name) changes.keys.emplace_back("page");
  if (before.extra == after.extra) return;
  const auto old = page::JsonMembers(Cat("{", before.extra, "}")), now = page::JsonMembers(Cat("{", after.extra, "}"));
  if (!old.ok() || !now.ok()) return;
  for (const page::JsonMember& member : *now) {
    auto it = std::ranges::find(*old, member.key, &page::JsonMember::key);
    if (it == old->end() || it->value != member.value) changes.keys.push_back(member.key);
  }
  for (const page::JsonMember& member : *old) {
    if (std::ranges::find(*now, member.key, &page::JsonMember::key) == now->end()) changes.keys.push_back(member.key);
  }
}

std::string IdsJson(const std::vector<std::string>& ids) {
  std::string out = "[";
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ", ";
    page::AppendJsonString(out, ids[i]);
  }
  return out + "]";
}

}  // namespace

PageChanges ChangesBetween(const Page& before, const Page& after) {
  PageChanges changes;
  CompareBlocks(before, after, changes);
  CompareLayouts(before, after, changes);
  CompareKeys(before, after, changes);
  return changes;
}

std::string WriteChanges(const PageChanges& changes, uint64_t edits) {
  std::string renamed;
  for (const auto& [from, to] : changes.renamed) renamed += Cat(renamed.empty() ? "" : ", ", IdsJson({from, to}));
  return Cat("{\"edits\": ", edits, ", \"added\": ", IdsJson(changes.added), ", \"removed\": ", IdsJson(changes.removed),
             ", \"changed\": ", IdsJson(changes.changed), ", \"renamed\": [", renamed, "], \"moved\": ", IdsJson(changes.moved),
             ", \"keys\": ", IdsJson(changes.keys), "}\n");
}

}  // namespace weft
