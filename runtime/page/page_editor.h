// PageEditor: makes edits of a page, and knows what takes them back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/page/edited_page.h"
#include "runtime/page/input_edits.h"
#include "weft/page/edit.h"

namespace weft::page {

/// The page is whole again after TakeUndo. An edit that is refused may be made in part: what it did is to be taken back, too, or the page to be
/// dropped; so where an exception passes.
class PageEditor {
 public:
  /// `edits`: about how many there will be. `undoing`: what is put on the page was there before, so that nothing of it is refused.
  PageEditor(Page& page, size_t edits, bool undoing = false);

  Status Apply(const Edit& edit) {
    return std::visit([this](const auto& one) { return Make(one); }, edit);
  }
  /// The block as it is now, or null. Its lists may be in another order; valid until the next edit.
  const PageBlock* Find(std::string_view id);
  /// What takes back all that was done, in the order in which it is to be applied.
  std::vector<Edit> TakeUndo();

 private:
  Status Make(const AddBlock& edit);
  Status Make(const RemoveBlock& edit);
  template <class OfInput>  // Connect, Disconnect, SetInput
  Status Make(const OfInput& edit) {
    WEFT_ASSIGN_OR_RETURN(const int changed, BlockOf(edit.to.block));
    return inputs_.Apply(changed, edit);
  }
  Status Make(const SetAttr& edit);
  Status Make(const SetAttrs& edit);
  Status Make(const RenameBlock& edit);
  Status Make(const MoveBlock& edit);
  Status Make(const SetKey& edit);

  Result<int> BlockOf(const std::string& id);
  PageBlock& block(int handle) { return page_.blocks()[handle]; }
  bool imported() { return page_.page().format != Page::Format::kWeft; }
  Status CheckNewId(const std::string& id, bool known = false);
  void PutAttrs(int block, SetAttrs attrs);
  Status PutLayout(const std::string& id, const std::optional<LayoutEntry>& layout, int64_t place);

  EditedPage page_;
  std::vector<Edit> undo_;  // the last one is to be applied first
  InputEdits inputs_;
  const bool undoing_;
};

}  // namespace weft::page
