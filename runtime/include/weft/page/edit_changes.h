// What is different on a page after edits, by ids: for who draws it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/page/page.h"

namespace weft {

struct PageChanges {
  std::vector<std::string> added, removed;
  std::vector<std::string> changed;  // wires, values, attributes or other keys; also readers of a renamed block. Not those above and below
  std::vector<std::pair<std::string, std::string>> renamed;  // from, to; may be changed besides
  std::vector<std::string> moved;  // another place on the drawing, or none any more; ids may be of no block
  std::vector<std::string> keys;   // of the page: "page" for its name, "layout" for one that is not of the usual form, unknown ones

  bool empty() const { return added.empty() && removed.empty() && changed.empty() && renamed.empty() && moved.empty() && keys.empty(); }
};

/// `after` comes from `before` by edits (ApplyEdits). Takes little more than a look at each block.
PageChanges ChangesBetween(const Page& before, const Page& after);

/// {"edits": 7, "added": ["y"], "removed": [], "changed": ["z"], "renamed": [["a", "b"]], "moved": [], "keys": ["note"]}, on one line;
/// `edits` counts the page's edits.
std::string WriteChanges(const PageChanges& changes, uint64_t edits);

}  // namespace weft
