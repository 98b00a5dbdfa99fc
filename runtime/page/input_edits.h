// InputEdits: what blocks have at their inputs, as edits change it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/page/edited_page.h"
#include "weft/page/edit.h"

namespace weft::page {

/// Each change notes in `undo` what takes it back. `undoing`: what is put on the page was there before, so that nothing of it is refused.
class InputEdits {
 public:
  InputEdits(EditedPage& page, std::vector<Edit>& undo, bool undoing) : page_(page), undo_(undo), undoing_(undoing) {}

  // Of the block, which is the edit's.
  Status Apply(int block, const Connect& edit);
  Status Apply(int block, const Disconnect& edit);
  Status Apply(int block, const SetInput& edit);

  /// Takes away the wires from `id`; those of the block `keep` stay.
  void Release(const std::string& id, int keep);
  /// Wires from `from` come from `to`.
  void Rename(const std::string& from, const std::string& to);

 private:
  Status Check(const PageInput& input) const;
  PageInput* InputOf(int block, const std::string& port);
  size_t Count(int block, PageInput* input) { return input == nullptr ? 0 : static_cast<size_t>(page_.ItemsOf(block, *input).size()); }
  Status NoInput(int block, const Wire& to);
  /// `has`: how many elements the input has; `end`: how many indices there are.
  static Status CheckIndex(size_t has, const Wire& to, size_t end);

  void Put(int block, size_t place, PageInput input);
  void Replace(int block, PageInput& old, PageInput input);
  void Take(int block, size_t place);
  /// Changes the elements of a faulty input; false, with nothing done, of another.
  bool ChangeFaulty(int block, PageInput& input, const std::function<void(std::vector<InputItem>&)>& change);
  bool RenameWires(int block, PageInput& input, const std::string& from, const std::string& to);

  EditedPage& page_;
  std::vector<Edit>& undo_;
  const bool undoing_;
};

}  // namespace weft::page
