#include "weft/page/edit.h"

#include "runtime/base/call_limit.h"
#include "runtime/page/page_editor.h"

namespace weft {

Result<std::vector<Edit>> ApplyEdits(Page& page, std::span<const Edit> edits) {
  page::PageEditor editor(page, edits.size());
  for (size_t i = 0; i < edits.size(); ++i) {
    CallLimit::Check();
    Status status = editor.Apply(edits[i]);
    if (status.ok()) continue;
    const std::vector<Edit> undo = editor.TakeUndo();
    page::PageEditor undoing(page, undo.size(), true);
    Status undone;
    for (size_t k = 0; k < undo.size() && undone.ok(); ++k) undone = undoing.Apply(undo[k]);
    undoing.TakeUndo();
    if (!undone.ok()) return Internal("an edit could not be taken back: ", undone.message());
    return std::move(status).WithPage(page.name).WithPointer(Cat("/", i));
  }
  return editor.TakeUndo();
}

const std::string& BlockOf(const Edit& edit) {
  return std::visit(
      [](const auto& e) -> const std::string& {
        if constexpr (requires { e.to.block; }) return e.to.block;
        else if constexpr (requires { e.block.id; }) return e.block.id;
        else return e.block;
      },
      edit);
}

}  // namespace weft
