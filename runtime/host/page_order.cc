// Findings in the order of the page.
#include <algorithm>
#include <charconv>
#include <numeric>

#include "weft/host/document.h"

namespace weft {
namespace {

/// The place of the finding's block on the page; -1 for what is of no block.
int BlockOf(const Place& place, const Page& page) {
  for (std::string_view list : {"/blocks/", "/object/", "/use/"}) {
    if (!place.pointer.starts_with(list)) continue;
    int index = -1;
    const char* end = place.pointer.data() + place.pointer.size();
    if (std::from_chars(place.pointer.data() + list.size(), end, index).ec == std::errc()) return index;
  }
  return place.block.empty() ? -1 : page.Find(place.block);
}

}  // namespace

Diagnostics InPageOrder(const Diagnostics& found, const Page& page) {
  const std::vector<Diagnostic>& all = found.all();
  std::vector<int> blocks;
  blocks.reserve(all.size());
  for (const Diagnostic& one : all) blocks.push_back(BlockOf(one.status.place(), page));
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return blocks[a] < blocks[b]; });
  Diagnostics sorted;
  for (size_t i : order) sorted.Add(all[i].severity, all[i].status);
  // Those that were only counted are counted again: they exist where as many are kept as can be.
  while (sorted.errors() < found.errors()) sorted.Error(Internal("a finding that was not kept"));
  while (sorted.warnings() < found.warnings()) sorted.Warning(Internal("a finding that was not kept"));
  return sorted;
}

}  // namespace weft
