// EditedPage: the blocks, wires and layout of a page while edits change them.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/page/edited_list.h"

namespace weft::page {

using ItemList = EditedList<InputItem>;

/// Finds blocks by id, the readers of a block, and places in long lists, each without a walk over the page where many edits are to come. The
/// page is whole again after Finish; where an exception passes before, it is to be dropped.
class EditedPage {
 public:
  EditedPage(Page& page, size_t edits);

  Page& page() { return page_; }
  EditedList<PageBlock>& blocks() { return blocks_; }
  EditedList<LayoutEntry>& layout();
  /// Before the layout is changed as a whole.
  void FinishLayout();

  int Insert(int place, PageBlock block);
  PageBlock Take(int block);
  bool HasSerial(uint64_t serial);
  void AddSerial(uint64_t serial) {
    if (serials_) serials_->insert(serial);
  }
  void Touch(int block) { blocks_[block].version = ++page_.edits; }

  /// The blocks, in order, that have wires from one of `ids`, and maybe others that had. Those that still have some afterwards are to be added
  /// again.
  std::vector<int> TakeReadersOf(std::initializer_list<std::string_view> ids);
  /// The block has a wire from `id` now.
  void AddReader(std::string_view id, int block);
  /// The block has what the input has.
  void AddReader(const PageInput& input, int block);

  /// What an input has. Another call may end the list.
  ItemList& ItemsOf(int block, PageInput& input);
  /// Before the input's items are looked at, moved or replaced as a whole.
  void FinishItems(int block, PageInput& input);
  void Finish();

 private:
  void FindReaders();

  Page& page_;
  const bool many_;
  EditedList<PageBlock> blocks_;
  std::optional<EditedList<LayoutEntry>> layout_;
  std::optional<std::unordered_set<uint64_t>> serials_;  // of the blocks on the page
  std::optional<std::unordered_map<std::string, std::vector<int>, NameHash, std::equal_to<>>> readers_;  // by the block that they read, or did
  std::map<std::pair<int, std::string>, ItemList> long_lists_;  // by block and port
  std::optional<ItemList> short_list_;
};

}  // namespace weft::page
