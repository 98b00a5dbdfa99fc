// Applying edits. What takes an edit back is collected as it is made, in small steps that each have one inverse.
#include "weft/page/edit.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "runtime/base/call_limit.h"
#include "runtime/page/edit_attrs.h"
#include "runtime/page/edit_checks.h"
#include "runtime/page/edit_keys.h"
#include "runtime/page/report.h"

namespace weft {
namespace {

/// Blocks and inputs of one page as edits change them.
class Editor {
 public:
  /// `undoing`: what is put on the page was there before, so that nothing of it is refused.
  explicit Editor(Page& page, bool undoing = false) : page_(page), undoing_(undoing) {}

  Status Apply(const AddBlock& edit);
  Status Apply(const RemoveBlock& edit);
  Status Apply(const Connect& edit);
  Status Apply(const Disconnect& edit);
  Status Apply(const SetInput& edit);
  Status Apply(const SetAttr& edit);
  Status Apply(const SetAttrs& edit);
  Status Apply(const RenameBlock& edit);
  Status Apply(const MoveBlock& edit);
  Status Apply(const SetKey& edit);

  /// What takes back all that was done, the last first.
  std::vector<Edit> TakeUndo() {
    std::reverse(undo_.begin(), undo_.end());
    return std::move(undo_);
  }

 private:
  Result<PageBlock*> Find(const std::string& id);
  Status CheckNewId(const std::string& id, bool known = false) const;
  Status CheckInput(const PageInput& input) const { return undoing_ ? Status() : page::CheckInput(input, imported()); }
  bool imported() const { return page_.format != Page::Format::kWeft; }
  static Status CheckPlace(int64_t place, size_t size, std::string_view what);
  static PageInput* InputOf(PageBlock& block, const std::string& port);
  static Status NoInput(const PageBlock& block, const Wire& to);
  static Status CheckIndex(const PageInput* input, const Wire& to, size_t end);

  // Each of these notes its inverse.
  void PutInput(PageBlock& block, size_t place, PageInput input);
  void ReplaceInput(PageBlock& block, PageInput& old, PageInput input);
  void TakeInput(PageBlock& block, size_t place);
  void PutAttrs(PageBlock& block, SetAttrs attrs);
  Status PutLayout(const std::string& id, const std::optional<LayoutEntry>& layout, int64_t place);
  template <class Which>
  void TakeItems(PageBlock& block, PageInput& input, Which which);
  void ReleaseReaders(const std::string& id, const PageBlock* keep);
  bool HasSerial(uint64_t serial);

  void Touch(PageBlock& block) { block.version = ++page_.edits; }

  Page& page_;
  const bool undoing_;
  std::vector<Edit> undo_;
  std::unordered_set<uint64_t> serials_;  // of the blocks on the page; empty until one is asked for
};

Result<PageBlock*> Editor::Find(const std::string& id) {
  int index = page_.Find(id);
  if (index >= 0) return &page_.blocks[static_cast<size_t>(index)];
  std::vector<std::string_view> ids;
  for (const PageBlock& block : page_.blocks) ids.push_back(block.id);
  return NotFound("there is no block '", id, "'").WithBlock(id).WithHint(DidYouMean(id, ids));
}

// `known`: the block was on this page, under an id that may be a fault of it.
Status Editor::CheckNewId(const std::string& id, bool known) const {
  if (undoing_) return {};
  if (!known && !page::IsIdentifier(id)) {
    bool odd = imported() && id.find_first_of(".[]\"") == id.npos && page::CheckName("a block id", id).ok();
    if (id.size() > page::kMostNameBytes) return page::CheckName("a block id", id);
    if (!odd) return InvalidArgument("a block id needs the form [A-Za-z_][A-Za-z0-9_]*, found '", id, "'").WithBlock(id);
  }
  int other = page_.Find(id);
  if (other < 0) return {};
  return AlreadyExists("the id '", id, "' belongs to the block at ", BlockPointer(page_, static_cast<size_t>(other)))
      .WithBlock(id)
      .WithHint("ids are unique on a page: take another");
}

Status Editor::CheckPlace(int64_t place, size_t size, std::string_view what) {
  if (place >= -1 && place <= static_cast<int64_t>(size)) return {};
  return OutOfRange("needs a place among ", size, " ", what, ", 0 to ", size, ", found ", place).WithHint("leave it out for the end");
}

PageInput* Editor::InputOf(PageBlock& block, const std::string& port) {
  auto it = std::find_if(block.inputs.begin(), block.inputs.end(), [&](const PageInput& input) { return input.port == port; });
  return it == block.inputs.end() ? nullptr : &*it;
}

Status Editor::NoInput(const PageBlock& block, const Wire& to) {
  std::vector<std::string_view> ports;
  for (const PageInput& input : block.inputs) ports.push_back(input.port);
  return NotFound("nothing is connected to the input '", to.port, "'")
      .WithBlock(block.id)
      .WithPort(to.port)
      .WithHint(DidYouMean(to.port, ports));
}

// `end`: how many indices there are.
Status Editor::CheckIndex(const PageInput* input, const Wire& to, size_t end) {
  if (static_cast<size_t>(to.index) < end) return {};
  size_t has = input == nullptr ? 0 : input->items.size();
  return OutOfRange("needs an index below ", end, ", as the input has ", has, has == 1 ? " element" : " elements", ", found ", to.index)
      .WithBlock(to.block)
      .WithPort(to.port);
}

void Editor::PutInput(PageBlock& block, size_t place, PageInput input) {
  undo_.push_back(Disconnect{{block.id, input.port, -1}});
  block.inputs.insert(block.inputs.begin() + static_cast<ptrdiff_t>(place), std::move(input));
  Touch(block);
}

void Editor::ReplaceInput(PageBlock& block, PageInput& old, PageInput input) {
  std::swap(old, input);
  Wire to{block.id, input.port, -1};
  undo_.push_back(SetInput{std::move(to), std::move(input), -1});
  Touch(block);
}

void Editor::TakeInput(PageBlock& block, size_t place) {
  PageInput old = std::move(block.inputs[place]);
  block.inputs.erase(block.inputs.begin() + static_cast<ptrdiff_t>(place));
  Wire to{block.id, old.port, -1};
  undo_.push_back(SetInput{std::move(to), std::move(old), static_cast<int64_t>(place)});
  Touch(block);
}

Status Editor::PutLayout(const std::string& id, const std::optional<LayoutEntry>& layout, int64_t place) {
  if (!page_.layout_text.empty()) {
    return FailedPrecondition("the page's layout is not {\"ID\": [x, y], ...} throughout, so that no entry of it can change").WithBlock(id);
  }
  if (layout && (!std::isfinite(layout->x) || !std::isfinite(layout->y))) {
    return InvalidArgument("a place on the drawing needs finite numbers, found [", layout->x, ", ", layout->y, "]").WithBlock(id);
  }
  auto entry = std::find_if(page_.layout.begin(), page_.layout.end(), [&](const LayoutEntry& e) { return e.block == id; });
  if (entry != page_.layout.end() && layout) {
    undo_.push_back(MoveBlock{id, *entry, -1});
    entry->x = layout->x;
    entry->y = layout->y;
  } else if (entry != page_.layout.end()) {
    undo_.push_back(MoveBlock{id, *entry, entry - page_.layout.begin()});
    page_.layout.erase(entry);
  } else if (layout) {
    WEFT_RETURN_IF_ERROR(CheckPlace(place, page_.layout.size(), "entries of the layout"));
    undo_.push_back(MoveBlock{id, std::nullopt, -1});
    auto at = place < 0 ? page_.layout.end() : page_.layout.begin() + static_cast<ptrdiff_t>(place);
    page_.layout.insert(at, {id, layout->x, layout->y});
  }
  return {};
}

bool Editor::HasSerial(uint64_t serial) {
  if (serials_.empty()) {
    for (const PageBlock& block : page_.blocks) serials_.insert(block.serial);
  }
  return serials_.contains(serial);
}

Status Editor::Apply(const AddBlock& edit) {
  PageBlock added = edit.block;
  // One that was removed before is itself again.
  const uint64_t serial = added.serial;
  const bool taken = serial == 0 || HasSerial(serial);
  WEFT_RETURN_IF_ERROR(CheckNewId(added.id, !taken && serial <= page_.edits));
  if (!undoing_) {
    if (Status status = page::CheckBlock(added, imported()); !status.ok()) return std::move(status).WithBlock(added.id);
  }
  if (Status status = CheckPlace(edit.place, page_.blocks.size(), "blocks"); !status.ok()) return std::move(status).WithBlock(added.id);
  auto at = page_.blocks.begin() + static_cast<ptrdiff_t>(edit.place < 0 ? page_.blocks.size() : static_cast<size_t>(edit.place));
  PageBlock& block = *page_.blocks.insert(at, std::move(added));
  Touch(block);
  if (taken) block.serial = ++page_.edits;
  if (!serials_.empty()) serials_.insert(block.serial);
  undo_.push_back(RemoveBlock{edit.block.id, true, true});
  return edit.layout ? PutLayout(edit.block.id, edit.layout, -1) : Status();
}

// Each by itself: a copy of the list for each block that is removed would take the square of its length.
template <class Which>
void Editor::TakeItems(PageBlock& block, PageInput& input, Which which) {
  for (size_t i = input.items.size(); i-- > 0;) {
    if (!which(input.items[i])) continue;
    undo_.push_back(Connect{std::move(input.items[i]), {block.id, input.port, static_cast<int>(i)}});
    input.items.erase(input.items.begin() + static_cast<ptrdiff_t>(i));
  }
  Touch(block);
}

// Wires that come from the block; its own to itself stay with it.
void Editor::ReleaseReaders(const std::string& id, const PageBlock* keep) {
  auto reads = [&](const InputItem& item) {
    const Wire* wire = WireOf(item);
    return wire != nullptr && wire->block == id;
  };
  for (PageBlock& block : page_.blocks) {
    if (&block == keep) continue;
    for (size_t p = block.inputs.size(); p-- > 0;) {
      PageInput& input = block.inputs[p];
      if (std::none_of(input.items.begin(), input.items.end(), reads)) continue;
      if (!input.list) {
        TakeInput(block, p);
        continue;
      }
      TakeItems(block, input, reads);
    }
  }
}

Status Editor::Apply(const RemoveBlock& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.block));
  if (!edit.keep_wires) ReleaseReaders(edit.block, block);
  const size_t place = static_cast<size_t>(block - page_.blocks.data());
  serials_.erase(block->serial);
  AddBlock undo{std::move(*block), static_cast<int64_t>(place), std::nullopt};
  page_.blocks.erase(page_.blocks.begin() + static_cast<ptrdiff_t>(place));
  ++page_.edits;
  if (!edit.keep_layout && page_.layout_text.empty()) WEFT_RETURN_IF_ERROR(PutLayout(edit.block, std::nullopt, -1));
  undo_.push_back(std::move(undo));
  return {};
}

Status Editor::Apply(const Connect& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.to.block));
  PageInput fresh{edit.to.port, edit.to.index >= 0, {edit.item}};
  if (Status status = CheckInput(fresh); !status.ok()) return std::move(status).WithBlock(edit.to.block);
  PageInput* input = InputOf(*block, edit.to.port);
  const size_t has = input == nullptr ? 0 : input->items.size();
  if (edit.to.index >= 0) WEFT_RETURN_IF_ERROR(CheckIndex(input, edit.to, has + 1));
  if (input == nullptr) {
    PutInput(*block, block->inputs.size(), std::move(fresh));
  } else if (!input->list && edit.to.index < 0) {
    ReplaceInput(*block, *input, std::move(fresh));
  } else if (!input->list) {
    fresh.items.insert(fresh.items.begin() + (edit.to.index == 0 ? 1 : 0), input->items.begin(), input->items.end());
    ReplaceInput(*block, *input, std::move(fresh));
  } else {
    const int index = edit.to.index < 0 ? static_cast<int>(has) : edit.to.index;
    input->items.insert(input->items.begin() + index, edit.item);
    undo_.push_back(Disconnect{{edit.to.block, edit.to.port, index}});
    Touch(*block);
  }
  return {};
}

Status Editor::Apply(const Disconnect& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.to.block));
  PageInput* input = InputOf(*block, edit.to.port);
  if (input == nullptr) return NoInput(*block, edit.to);
  if (edit.to.index < 0 || !input->list) {
    if (edit.to.index > 0) return CheckIndex(input, edit.to, 1);
    TakeInput(*block, static_cast<size_t>(input - block->inputs.data()));
    return {};
  }
  WEFT_RETURN_IF_ERROR(CheckIndex(input, edit.to, input->items.size()));
  auto item = input->items.begin() + edit.to.index;
  undo_.push_back(Connect{std::move(*item), edit.to});
  input->items.erase(item);
  Touch(*block);
  return {};
}

Status Editor::Apply(const SetInput& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.to.block));
  if (!edit.value) return Apply(Disconnect{edit.to});
  PageInput fresh = *edit.value;
  fresh.port = edit.to.port;
  if (Status status = CheckInput(fresh); !status.ok()) return std::move(status).WithBlock(edit.to.block);
  PageInput* input = InputOf(*block, edit.to.port);
  if (edit.to.index >= 0 && (input == nullptr || input->list)) {
    if (input == nullptr) return NoInput(*block, edit.to);
    WEFT_RETURN_IF_ERROR(CheckIndex(input, edit.to, input->items.size()));
    if (fresh.list) {
      return InvalidArgument("an element of a list needs one wire or value, found a list").WithBlock(edit.to.block).WithPort(edit.to.port);
    }
    InputItem& item = input->items[static_cast<size_t>(edit.to.index)];
    std::swap(item, fresh.items[0]);
    undo_.push_back(SetInput{edit.to, std::move(fresh), -1});
    Touch(*block);
    return {};
  }
  if (edit.to.index > 0) return CheckIndex(input, edit.to, 1);
  if (input != nullptr) {
    ReplaceInput(*block, *input, std::move(fresh));
    return {};
  }
  if (Status status = CheckPlace(edit.place, block->inputs.size(), "inputs"); !status.ok()) {
    return std::move(status).WithBlock(edit.to.block).WithPort(edit.to.port);
  }
  PutInput(*block, edit.place < 0 ? block->inputs.size() : static_cast<size_t>(edit.place), std::move(fresh));
  return {};
}

void Editor::PutAttrs(PageBlock& block, SetAttrs attrs) {
  SetAttrs old{block.id, block.has_attrs, std::move(block.attrs), std::move(block.attrs_object), block.faulty};
  block.has_attrs = attrs.has_attrs;
  block.attrs = std::move(attrs.attrs);
  block.attrs_object = std::move(attrs.attrs_object);
  block.faulty = attrs.faulty;
  Touch(block);
  undo_.push_back(std::move(old));
}

Status Editor::Apply(const SetAttr& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.block));
  auto attrs = page::WithAttr(*block, edit);
  if (!attrs.ok()) return std::move(attrs).status().WithBlock(edit.block).WithPort(edit.attr);
  if (Status status = page::CheckAttrs(*attrs); !status.ok()) return std::move(status).WithBlock(edit.block).WithPort(edit.attr);
  PutAttrs(*block, std::move(*attrs));
  return {};
}

Status Editor::Apply(const SetAttrs& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.block));
  if (!edit.has_attrs && !(edit.attrs.empty() && edit.attrs_object.empty())) {
    return InvalidArgument("attributes are given, but not that there are any").WithBlock(edit.block);
  }
  SetAttrs attrs = edit;
  if (Status status = undoing_ ? Status() : page::CheckAttrs(attrs); !status.ok()) return std::move(status).WithBlock(edit.block);
  PutAttrs(*block, std::move(attrs));
  return {};
}

Status Editor::Apply(const RenameBlock& edit) {
  WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.block));
  if (edit.to == edit.block) return {};
  WEFT_RETURN_IF_ERROR(CheckNewId(edit.to));
  for (PageBlock& reader : page_.blocks) {
    for (PageInput& input : reader.inputs) {
      // Wires to the new id led to nothing so far; from now on they do not, and taking the name back would take them along.
      for (const InputItem& item : input.items) {
        const Wire* wire = WireOf(item);
        if (wire == nullptr || wire->block != edit.to) continue;
        undo_.push_back(SetInput{{reader.id, input.port, -1}, input, -1});
        break;
      }
      for (InputItem& item : input.items) {
        Wire* wire = std::get_if<Wire>(&item);
        if (wire == nullptr || wire->block != edit.block) continue;
        wire->block = edit.to;
        Touch(reader);
      }
    }
  }
  for (LayoutEntry& entry : page_.layout) {
    if (entry.block == edit.block) entry.block = edit.to;
    else if (entry.block == edit.to) entry.block = edit.block;  // of no block; there may not be two of one name
  }
  const std::string old = std::move(block->id);
  block->id = edit.to;
  Touch(*block);
  undo_.push_back(RenameBlock{edit.to, old});
  return {};
}

Status Editor::Apply(const MoveBlock& edit) {
  WEFT_RETURN_IF_ERROR(Find(edit.block).status());
  return PutLayout(edit.block, edit.layout, edit.place);
}

Status Editor::Apply(const SetKey& edit) {
  SetKey undo;
  if (edit.block.empty()) {
    WEFT_ASSIGN_OR_RETURN(undo, page::SetPageKey(page_, edit));
    ++page_.edits;
  } else {
    WEFT_ASSIGN_OR_RETURN(PageBlock* block, Find(edit.block));
    WEFT_ASSIGN_OR_RETURN(undo, page::SetBlockKey(*block, edit));
    Touch(*block);
  }
  undo_.push_back(std::move(undo));
  return {};
}

}  // namespace

Result<std::vector<Edit>> ApplyEdits(Page& page, std::span<const Edit> edits) {
  if (page.edits == 0) {
    for (size_t i = 0; i < page.blocks.size(); ++i) page.blocks[i].serial = i + 1;
    page.edits = page.blocks.size();
  }
  Editor editor(page);
  for (size_t i = 0; i < edits.size(); ++i) {
    CallLimit::Check();
    Status status = std::visit([&](const auto& edit) { return editor.Apply(edit); }, edits[i]);
    if (status.ok()) continue;
    Editor undoing(page, true);
    for (const Edit& undo : editor.TakeUndo()) {
      Status undone = std::visit([&](const auto& edit) { return undoing.Apply(edit); }, undo);
      if (!undone.ok()) return Internal("an edit could not be taken back: ", undone.message());
    }
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
