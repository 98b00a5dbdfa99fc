#include "blocks/io/lmdb/cursor.h"

#include <algorithm>

#include "blocks/io/byte_window.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::lmdb {

using protobuf::LoadFixed;

Result<Store> Store::Open(InputFile file) {
  // The second meta page lies where the first says how large a page is; where that is damaged it is looked for.
  std::optional<Meta> newest;
  char bytes[kMetaBytes];
  const auto look = [&](uint64_t at) -> Status {
    if (file.size() < at + kPageHead + kMetaBytes) return {};
    WEFT_RETURN_IF_ERROR(file.ReadAt(at + kPageHead, bytes));
    const auto meta = ReadMeta(bytes);
    if (meta && (at == 0 || meta->page_bytes == at) && (!newest || meta->transaction > newest->transaction)) newest = meta;
    return {};
  };
  WEFT_RETURN_IF_ERROR(look(0));
  const size_t known = newest ? newest->page_bytes : 0;
  for (size_t at = known != 0 ? known : kLeastPage; at <= (known != 0 ? known : kMostPage); at *= 2) WEFT_RETURN_IF_ERROR(look(at));
  if (!newest) return DataLoss("needs an LMDB file, found '", file.path().native(), "', which is none or damaged");
  return Store(std::move(file), *newest);
}

Status Store::Damaged(std::string_view what) const {
  return DataLoss("needs an LMDB file, found ", what, " in '", file_.path().native(), "'");
}

Result<Page> Store::ReadPage(uint64_t number) {
  if (number >= pages()) return Damaged("a page outside of it");
  if (read_ >= pages()) return Damaged("a page in several places");
  std::vector<char> bytes(page_bytes_);
  WEFT_RETURN_IF_ERROR(file_.ReadAt(number * page_bytes_, bytes));
  auto page = Page::Make(std::move(bytes), number);
  if (!page) return Damaged("a damaged page");
  ++read_;
  return std::move(*page);
}

Result<String> Store::ReadBigValue(uint64_t page, uint64_t bytes, const Services& services) const {
  const uint64_t begin = page * page_bytes_ + kPageHead;
  if (page >= pages() || bytes > file_.size() - page * page_bytes_ - kPageHead) return Damaged("a value outside of it");
  WEFT_ASSIGN_OR_RETURN(String value, String::Uninitialized(static_cast<size_t>(bytes), services.budget));
  WEFT_RETURN_IF_ERROR(file_.ReadLong(begin, {value.mutable_data(), value.size()}, services.workers));
  return value;
}

Status Tree::Begin(uint64_t root) {
  if (root == kNoPage) return {};
  WEFT_ASSIGN_OR_RETURN(Page page, store_.ReadPage(root));
  Begin(std::move(page));
  return {};
}

Result<bool> Tree::Next(const Services& services) {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.next == level.page.count()) {
      levels_.pop_back();
      continue;
    }
    if (!level.page.is_branch()) {
      ++level.next;
      return true;
    }
    if (IsStopped(services)) return kernels::RunStopped();
    if (levels_.size() == kMostLevels) return store_.Damaged("a tree of too many levels");
    WEFT_ASSIGN_OR_RETURN(Page child, store_.ReadPage(level.page.child(level.next)));
    ++level.next;
    Begin(std::move(child));
  }
  return false;
}

Result<std::unique_ptr<Cursor>> Cursor::Open(InputFile file) {
  WEFT_ASSIGN_OR_RETURN(Store store, Store::Open(std::move(file)));
  std::unique_ptr<Cursor> cursor(new Cursor(std::move(store)));
  WEFT_RETURN_IF_ERROR(cursor->records_.Begin(cursor->store_.root()));
  return cursor;
}

Status Cursor::BeginValues() {
  const Item item = records_.item();
  auto values = std::make_unique<Tree>(store_);
  if ((item.flags & kDatabase) != 0) {
    if (item.value.size() != kDatabaseBytes) return store_.Damaged("a damaged list of values");
    WEFT_RETURN_IF_ERROR(values->Begin(ReadDatabase(item.value.data()).root));
  } else {
    auto page = Page::Make({item.value.begin(), item.value.end()}, std::nullopt);
    if (!page || page->is_branch()) return store_.Damaged("a damaged list of values");
    values->Begin(std::move(*page));
  }
  values_ = std::move(values);
  return {};
}

Result<bool> Cursor::Next(const Services& services) {
  for (;;) {
    if (values_begin_) WEFT_RETURN_IF_ERROR(BeginValues());
    values_begin_ = false;
    if (values_ != nullptr) {
      WEFT_ASSIGN_OR_RETURN(const bool more, values_->Next(services));
      if (more) return true;
      values_ = nullptr;
    }
    WEFT_ASSIGN_OR_RETURN(const bool found, records_.Next(services));
    if (!found) return false;
    values_begin_ = (records_.item().flags & kDuplicates) != 0;
    if (!values_begin_) return true;
  }
}

Result<String> Cursor::Value(const Services& services) const {
  const Item item = values_ != nullptr ? values_->item() : records_.item();
  if (values_ != nullptr) return String(item.key);
  if ((item.flags & kBigValue) != 0) return store_.ReadBigValue(LoadFixed<uint64_t>(item.value.data()), item.value_bytes, services);
  return String(item.value);
}

}  // namespace weft::blocks::lmdb
