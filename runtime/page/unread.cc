#include "runtime/page/unread.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/page/json_text.h"
#include "runtime/page/json_walk.h"
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

}  // namespace

void FillUnread(std::string_view document, Page& page) { UnreadWalk(page).Run(document); }

void NoteFaults(const Diagnostics& found, Page& page) {
  if (!found.has_errors()) return;
  IdIndex index;
  index.Reserve(page.blocks.size());
  for (size_t b = 0; b < page.blocks.size(); ++b) index.Add(page.blocks, b);
  for (const Diagnostic& fault : found.all()) {
    const Place& place = fault.status.place();
    const int block = place.port.empty() || fault.severity != Severity::kError ? -1 : index.Find(page.blocks, place.block);
    if (block < 0) continue;
    auto& inputs = page.blocks[static_cast<size_t>(block)].inputs;
    const auto input = std::ranges::find_if(inputs, [&](const PageInput& one) { return one.faulty && one.port == place.port; });
    if (input == inputs.end()) continue;
    auto faults = input->faults == nullptr ? std::make_shared<std::vector<Status>>() : std::make_shared<std::vector<Status>>(*input->faults);
    const std::string of_block = BlockPointer(page, static_cast<size_t>(block));
    const std::string_view pointer = place.pointer;
    faults->push_back(Status(fault.status.code(), fault.status.message())
                          .WithHint(fault.status.hint())
                          .WithPointer(pointer.substr(pointer.starts_with(of_block) ? of_block.size() : 0)));
    input->faults = std::move(faults);
  }
}

void AddNotedFaults(const Page& page, std::string_view name, Diagnostics& to) {
  for (size_t b = 0; b < page.blocks.size(); ++b) {
    for (const PageInput& input : page.blocks[b].inputs) {
      if (!input.faulty || input.faults == nullptr) continue;
      for (const Status& fault : *input.faults) {
        to.Error(Status(fault.code(), fault.message())
                     .WithHint(fault.hint())
                     .WithPage(name)
                     .WithPointer(BlockPointer(page, b) + fault.place().pointer)
                     .WithBlock(page.blocks[b].id)
                     .WithPort(input.port));
      }
    }
  }
}

}  // namespace weft::page
