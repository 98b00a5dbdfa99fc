#include "runtime/page/unread.h"

#include <algorithm>
#include <charconv>

#include "runtime/base/call_limit.h"
#include "runtime/page/edit_attrs.h"
#include "runtime/page/json_text.h"
#include "runtime/page/json_walk.h"
#include "runtime/page/report.h"
#include "weft/page/id_index.h"

namespace weft::page {
namespace {

/// Walks over a document as WeftReader does, and so counts blocks, inputs and items as it does.
class UnreadWalk : public JsonSink {
 public:
  explicit UnreadWalk(Page& page) : page_(page), walk_(*this) {}
  void Run(std::string_view document) { walk_.Run(document); }

  void Scalar(JsonScalar& value) override {
    if (AtItem()) BeginItem();
    if (unread_ == nullptr) return;
    recorder_.Scalar(value);
    EndItem();
  }
  void Start(bool object) override {
    if (AtItem() && (object || depth_ == kItems)) BeginItem();
    if (unread_ != nullptr) recorder_.Start(object);
    if (depth_ == kBlocks && object) {
      ++block_;
      input_ = -1;
    }
    ++depth_;
  }
  void Key(std::string& key) override {
    if (unread_ != nullptr) recorder_.Key(key);
    if (depth_ == kPage) in_blocks_ = key == "blocks";
    if (depth_ == kBlock) in_inputs_ = in_blocks_ && key == "inputs";
    if (depth_ == kInputs && in_inputs_) {
      ++input_;
      item_ = -1;
    }
  }
  void End(bool object) override {
    --depth_;
    if (unread_ == nullptr) return;
    recorder_.End(object);
    EndItem();
  }
  void Fault(Status) override {}

 private:
  // How many objects and arrays are open inside of each of these.
  static constexpr int kPage = 1, kBlocks = 2, kBlock = 3, kInputs = 4, kItems = 5;

  bool AtItem() const { return unread_ == nullptr && in_blocks_ && in_inputs_ && input_ >= 0 && (depth_ == kInputs || depth_ == kItems); }
  void BeginItem() {
    ++item_;
    if (block_ < 0 || static_cast<size_t>(block_) >= page_.blocks.size()) return;
    auto& inputs = page_.blocks[static_cast<size_t>(block_)].inputs;
    if (static_cast<size_t>(input_) >= inputs.size()) return;
    auto& items = inputs[static_cast<size_t>(input_)].items;
    if (static_cast<size_t>(item_) >= items.size()) return;
    auto* literal = std::get_if<Boxed<Literal>>(&items[static_cast<size_t>(item_)]);
    if (literal != nullptr && (**literal).form == Literal::Form::kUnread && (**literal).text.empty()) unread_ = &**literal;
  }
  void EndItem() {
    if (!recorder_.complete()) return;
    unread_->text = recorder_.Take();
    CallLimit::Grow(static_cast<int64_t>(unread_->text.size()));
    unread_ = nullptr;
  }

  Page& page_;
  JsonWalk walk_;
  JsonRecorder recorder_;
  Literal* unread_ = nullptr;  // that is being recorded
  int depth_ = 0;
  int64_t block_ = -1, input_ = -1, item_ = -1;
  bool in_blocks_ = false, in_inputs_ = false;
};

// Pointers in a block of what may be wrong with it and is mended by edits.
constexpr std::string_view kId = "/id", kAttrs = "/attrs", kInputs = "/inputs";

/// Adds to what is shared with other versions of the page.
template <class T, class Change>
void ChangeShared(std::shared_ptr<const T>& shared, Change&& change) {
  auto changed = shared == nullptr ? std::make_shared<T>() : std::make_shared<T>(*shared);
  change(*changed);
  shared = std::move(changed);
}

/// Whether an error of the block itself, which edits may have mended, and taken that back, is there. Those of its id are not looked at.
bool Holds(const PageBlock& block, const Status& fault) {
  const std::string& pointer = fault.place().pointer;
  if (fault.code() == Code::kAlreadyExists) return true;  // a repeated key
  if (pointer == kInputs) return UnreadOf(block, "inputs") != nullptr;
  if (!pointer.starts_with(kAttrs)) return true;
  return block.faulty && (UnreadOf(block, "attrs") != nullptr || (!block.attrs_object.empty() && !AttrsOfObject(block.attrs_object).ok()));
}

/// What was noted, as it is now; OK where it is no more.
Status Now(const Page& page, size_t block, const Status& fault) {
  const PageBlock& of = page.blocks[block];
  if (fault.place().pointer != kId) return Holds(of, fault) ? fault : Status();
  if (fault.code() != Code::kAlreadyExists) return IsIdentifier(of.id) ? Status() : fault;
  const int earlier = page.Find(of.id);
  return earlier == static_cast<int>(block) ? Status() : RepeatedId(page, block, earlier).WithPointer(kId);
}

/// The block that a reader's error is about; of blocks with one id, or without any, by the place. -1 where there is none.
int BlockOf(const Page& page, const IdIndex& index, const Place& place) {
  constexpr std::string_view kBlocks = "/blocks/";
  std::string_view pointer = place.pointer;
  if (pointer.starts_with(kBlocks)) {
    pointer.remove_prefix(kBlocks.size());
    size_t number = 0;
    const auto [end, error] = std::from_chars(pointer.data(), pointer.data() + pointer.size(), number);
    if (error == std::errc() && number < page.blocks.size() && page.blocks[number].pointer.empty()) return static_cast<int>(number);
  }
  return index.Find(page.blocks, place.block);
}

void Note(const Status& fault, std::string_view pointer, PageBlock& block) {
  const Status noted = Status(fault.code(), fault.message()).WithHint(fault.hint()).WithPointer(pointer);
  const std::string& port = fault.place().port;
  if (port.empty()) {
    if (block.faulty || pointer == kId) ChangeShared(block.faults, [&](BlockFaults& faults) { faults.errors.push_back(noted); });
    return;
  }
  const auto input = std::ranges::find_if(block.inputs, [&](const PageInput& one) { return one.faulty && one.port == port; });
  if (input != block.inputs.end()) ChangeShared(input->faults, [&](std::vector<Status>& faults) { faults.push_back(noted); });
}

}  // namespace

void FillUnread(std::string_view document, Page& page) { UnreadWalk(page).Run(document); }

void KeepUnread(PageBlock& block, std::string key, std::string json) {
  ChangeShared(block.faults, [&](BlockFaults& faults) { faults.unread.emplace_back(std::move(key), std::move(json)); });
}

const std::string* UnreadOf(const PageBlock& block, std::string_view key) {
  if (block.faults == nullptr) return nullptr;
  const bool taken = key == "id" ? !block.id.empty() : key == "block" ? !block.type.empty() : key == "attrs" ? block.has_attrs
                                                                                            : block.has_inputs || !block.inputs.empty();
  if (taken) return nullptr;
  const auto& unread = block.faults->unread;
  const auto found = std::ranges::find(unread, key, [](const auto& member) { return std::string_view(member.first); });
  return found == unread.end() ? nullptr : &found->second;
}

void NoteFaults(const Diagnostics& found, Page& page) {
  if (!found.has_errors()) return;
  IdIndex index;
  index.Reserve(page.blocks.size());
  for (size_t b = 0; b < page.blocks.size(); ++b) index.Add(page.blocks, b);
  for (const Diagnostic& fault : found.all()) {
    if (fault.severity != Severity::kError) continue;
    const Place& place = fault.status.place();
    const int block = BlockOf(page, index, place);
    if (block < 0) continue;
    const std::string of_block = BlockPointer(page, static_cast<size_t>(block));
    std::string_view pointer = place.pointer;
    if (!pointer.starts_with(of_block)) continue;
    pointer.remove_prefix(of_block.size());
    if (pointer.empty() || pointer[0] == '/') Note(fault.status, pointer, page.blocks[static_cast<size_t>(block)]);
  }
}

void AddNotedFaults(const Page& page, std::string_view name, Diagnostics& to) {
  const auto add = [&](const Status& fault, size_t block, std::string_view port) {
    to.Error(Status(fault.code(), fault.message())
                 .WithHint(fault.hint())
                 .WithPage(name)
                 .WithPointer(BlockPointer(page, block) + fault.place().pointer)
                 .WithBlock(page.blocks[block].id)
                 .WithPort(port));
  };
  for (size_t b = 0; b < page.blocks.size(); ++b) {
    const PageBlock& block = page.blocks[b];
    if (block.faults != nullptr) {
      for (const Status& fault : block.faults->errors) {
        if (const Status now = Now(page, b, fault); !now.ok()) add(now, b, "");
      }
    }
    for (const PageInput& input : block.inputs) {
      if (!input.faulty || input.faults == nullptr) continue;
      for (const Status& fault : *input.faults) add(fault, b, input.port);
    }
  }
}

}  // namespace weft::page

namespace weft {

bool IsFaulty(const PageBlock& block) {
  if (block.faults == nullptr) return block.faulty;
  return std::ranges::any_of(block.faults->errors,
                             [&](const Status& fault) { return fault.place().pointer != page::kId && page::Holds(block, fault); });
}

}  // namespace weft
