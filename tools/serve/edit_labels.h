// The labels of the edits of a page that can be undone and made again. The edits themselves are the engine's.
#pragma once

#include <string>
#include <vector>

#include "tools/serve/engine.h"

namespace weft::serve {

/// Guarded by the lock of the Document that has it.
class EditLabels {
 public:
  explicit EditLabels(weft_page* page) : page_(page) {}

  /// An edit was made; those that had been undone are gone.
  void Add(std::string label);
  /// The last edit was undone, or made again; its label.
  std::string Move(bool redo);
  /// Fills in undo, redo and their labels, as the protocol's Page and Change have them.
  void Put(Json& object);

 private:
  weft_page* const page_;
  std::vector<std::string> undo_, redo_;
};

}  // namespace weft::serve
