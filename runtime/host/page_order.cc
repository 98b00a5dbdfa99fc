// Findings in the order of the page.
#include <charconv>

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

void SortByPage(Diagnostics& found, const Page& page) {
  found.SortBy([&](const Status& status) { return BlockOf(status.place(), page); });
}

}  // namespace weft
