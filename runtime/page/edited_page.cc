#include "runtime/page/edited_page.h"

namespace weft::page {
namespace {

constexpr size_t kFewEdits = 16;   // up to so many walk over the page: an index of all blocks takes the time of several walks
constexpr size_t kShortList = 64;  // an input with no more items is walked by many edits, too

bool ReadsAny(const PageBlock& block, std::initializer_list<std::string_view> ids) {
  for (const PageInput& input : block.inputs) {
    for (const InputItem& item : input.items) {
      for (const std::string_view id : ids) {
        if (IsNamed(item, id)) return true;
      }
    }
  }
  return false;
}

}  // namespace

EditedPage::EditedPage(Page& page, size_t edits) : page_(page), many_(edits > kFewEdits), blocks_(page.blocks, many_) {}

EditedList<LayoutEntry>& EditedPage::layout() {
  if (!layout_) layout_.emplace(page_.layout, many_);
  return *layout_;
}

void EditedPage::FinishLayout() {
  if (layout_) layout_->Finish();
  layout_.reset();
}

int EditedPage::Insert(int place, PageBlock block) {
  const int inserted = blocks_.Insert(place, std::move(block));
  for (const PageInput& input : blocks_[inserted].inputs) AddReader(input, inserted);
  return inserted;
}

PageBlock EditedPage::Take(int block) {
  for (PageInput& input : blocks_[block].inputs) FinishItems(block, input);
  if (serials_) serials_->erase(blocks_[block].serial);
  return blocks_.Erase(block);
}

bool EditedPage::HasSerial(uint64_t serial) {
  if (!serials_) {
    serials_.emplace();
    blocks_.ForEach([&](int block) { serials_->insert(blocks_[block].serial); });
  }
  return serials_->contains(serial);
}

void EditedPage::FindReaders() {
  readers_.emplace();
  blocks_.ForEach([&](int block) {
    for (PageInput& input : blocks_[block].inputs) AddReader(input, block);
  });
}

std::vector<int> EditedPage::TakeReadersOf(std::initializer_list<std::string_view> ids) {
  std::vector<int> readers;
  if (!many_) {
    blocks_.ForEach([&](int block) {
      if (ReadsAny(blocks_[block], ids)) readers.push_back(block);
    });
    return readers;
  }
  if (!readers_) FindReaders();
  std::map<int, int> by_place;
  for (const std::string_view id : ids) {
    const auto it = readers_->find(id);
    if (it == readers_->end()) continue;
    for (const int block : it->second) {
      if (blocks_.Has(block)) by_place.emplace(blocks_.PlaceOf(block), block);
    }
    readers_->erase(it);
  }
  for (const auto& [place, block] : by_place) readers.push_back(block);
  return readers;
}

void EditedPage::AddReader(std::string_view id, int block) {
  if (!readers_) return;
  auto it = readers_->find(id);
  if (it == readers_->end()) it = readers_->emplace(id, std::vector<int>()).first;
  if (it->second.empty() || it->second.back() != block) it->second.push_back(block);
}

void EditedPage::AddReader(const PageInput& input, int block) {
  for (const InputItem& item : input.items) {
    if (const Wire* wire = WireOf(item)) AddReader(wire->block, block);
  }
}

ItemList& EditedPage::ItemsOf(int block, PageInput& input) {
  if (many_) {
    if (const auto it = long_lists_.find({block, input.port}); it != long_lists_.end()) {
      it->second.Rebind(input.items);
      return it->second;
    }
    if (input.items.size() > kShortList) {
      return long_lists_.try_emplace({block, input.port}, input.items, true).first->second;
    }
  }
  return short_list_.emplace(input.items, false);
}

void EditedPage::FinishItems(int block, PageInput& input) {
  const auto it = long_lists_.find({block, input.port});
  if (it == long_lists_.end()) return;
  it->second.Rebind(input.items);
  it->second.Finish();
  long_lists_.erase(it);
}

void EditedPage::Finish() {
  while (!long_lists_.empty()) {
    const auto& [block, port] = long_lists_.begin()->first;
    FinishItems(block, *std::ranges::find(blocks_[block].inputs, port, &PageInput::port));
  }
  FinishLayout();
  blocks_.Finish();
}

}  // namespace weft::page
