#include "runtime/page/page_editor.h"

#include <cmath>

#include "runtime/page/edit_attrs.h"
#include "runtime/page/edit_checks.h"
#include "runtime/page/edit_keys.h"
#include "runtime/page/report.h"

namespace weft::page {

PageEditor::PageEditor(Page& page, size_t edits, bool undoing) : page_(page, edits), inputs_(page_, undo_, undoing), undoing_(undoing) {
  if (page.edits > 0) return;
  for (size_t i = 0; i < page.blocks.size(); ++i) page.blocks[i].serial = i + 1;
  page.edits = page.blocks.size();
}

const PageBlock* PageEditor::Find(std::string_view id) {
  const int found = page_.blocks().First(id);
  return found < 0 ? nullptr : &block(found);
}

std::vector<Edit> PageEditor::TakeUndo() {
  page_.Finish();
  std::ranges::reverse(undo_);
  return std::move(undo_);
}

Result<int> PageEditor::BlockOf(const std::string& id) {
  const int found = page_.blocks().First(id);
  if (found >= 0) return found;
  std::vector<std::string_view> ids;
  page_.blocks().ForEach([&](int handle) { ids.push_back(block(handle).id); });
  return NotFound("there is no block '", id, "'").WithBlock(id).WithHint(DidYouMean(id, ids));
}

// `known`: the block was on this page, under an id that may be a fault of it.
Status PageEditor::CheckNewId(const std::string& id, bool known) {
  if (undoing_) return {};
  if (!known && !IsIdentifier(id)) {
    bool odd = imported() && id.find_first_of(".[]\"") == id.npos && CheckName("a block id", id).ok();
    if (id.size() > kMostNameBytes) return CheckName("a block id", id);
    if (!odd) return InvalidArgument("a block id needs the form [A-Za-z_][A-Za-z0-9_]*, found '", id, "'").WithBlock(id);
  }
  const int other = page_.blocks().First(id);
  if (other < 0) return {};
  const std::string& of_import = block(other).pointer;
  return AlreadyExists("the id '", id, "' belongs to the block at ", of_import.empty() ? Cat("/blocks/", page_.blocks().PlaceOf(other)) : of_import)
      .WithBlock(id)
      .WithHint("ids are unique on a page: take another");
}

Status PageEditor::PutLayout(const std::string& id, const std::optional<LayoutEntry>& layout, int64_t place) {
  if (!page_.page().layout_text.empty()) {
    return FailedPrecondition("the page's layout is not {\"ID\": [x, y], ...} throughout, so that no entry of it can change").WithBlock(id);
  }
  if (layout && (!std::isfinite(layout->x) || !std::isfinite(layout->y))) {
    return InvalidArgument("a place on the drawing needs finite numbers, found [", layout->x, ", ", layout->y, "]").WithBlock(id);
  }
  EditedList<LayoutEntry>& entries = page_.layout();
  const int entry = entries.First(id);
  if (entry >= 0 && layout) {
    undo_.push_back(MoveBlock{id, entries[entry], -1});
    entries[entry].x = layout->x;
    entries[entry].y = layout->y;
  } else if (entry >= 0) {
    const int64_t former = entries.PlaceOf(entry);
    undo_.push_back(MoveBlock{id, entries.Erase(entry), former});
  } else if (layout) {
    WEFT_RETURN_IF_ERROR(CheckPlace(place, static_cast<size_t>(entries.size()), "entries of the layout"));
    undo_.push_back(MoveBlock{id, std::nullopt, -1});
    entries.Insert(static_cast<int>(place), {id, layout->x, layout->y});
  }
  return {};
}

Status PageEditor::Make(const AddBlock& edit) {
  PageBlock added = edit.block;
  // One that was removed before is itself again.
  const uint64_t serial = added.serial;
  const bool taken = serial == 0 || page_.HasSerial(serial);
  WEFT_RETURN_IF_ERROR(CheckNewId(added.id, !taken && serial <= page_.page().edits));
  if (!undoing_) {
    if (Status status = CheckBlock(added, imported()); !status.ok()) return std::move(status).WithBlock(added.id);
  }
  const auto blocks = static_cast<size_t>(page_.blocks().size());
  if (Status status = CheckPlace(edit.place, blocks, "blocks"); !status.ok()) return std::move(status).WithBlock(added.id);
  const int made = page_.Insert(static_cast<int>(edit.place), std::move(added));
  page_.Touch(made);
  if (taken) block(made).serial = ++page_.page().edits;
  page_.AddSerial(block(made).serial);
  undo_.push_back(RemoveBlock{edit.block.id, true, true});
  return edit.layout ? PutLayout(edit.block.id, edit.layout, -1) : Status();
}

Status PageEditor::Make(const RemoveBlock& edit) {
  WEFT_ASSIGN_OR_RETURN(const int removed, BlockOf(edit.block));
  if (!edit.keep_wires) inputs_.Release(edit.block, removed);
  const int64_t place = page_.blocks().PlaceOf(removed);
  AddBlock undo{page_.Take(removed), place, std::nullopt};
  ++page_.page().edits;
  if (!edit.keep_layout && page_.page().layout_text.empty()) WEFT_RETURN_IF_ERROR(PutLayout(edit.block, std::nullopt, -1));
  undo_.push_back(std::move(undo));
  return {};
}

void PageEditor::PutAttrs(int changed, SetAttrs attrs) {
  PageBlock& of = block(changed);
  SetAttrs old{of.id, of.has_attrs, std::move(of.attrs), std::move(of.attrs_object), of.faulty};
  of.has_attrs = attrs.has_attrs;
  of.attrs = std::move(attrs.attrs);
  of.attrs_object = std::move(attrs.attrs_object);
  of.faulty = attrs.faulty;
  page_.Touch(changed);
  undo_.push_back(std::move(old));
}

Status PageEditor::Make(const SetAttr& edit) {
  WEFT_ASSIGN_OR_RETURN(const int changed, BlockOf(edit.block));
  auto attrs = WithAttr(block(changed), edit);
  if (!attrs.ok()) return std::move(attrs).status().WithBlock(edit.block).WithPort(edit.attr);
  if (Status status = CheckAttrs(*attrs); !status.ok()) return std::move(status).WithBlock(edit.block).WithPort(edit.attr);
  PutAttrs(changed, std::move(*attrs));
  return {};
}

Status PageEditor::Make(const SetAttrs& edit) {
  WEFT_ASSIGN_OR_RETURN(const int changed, BlockOf(edit.block));
  if (!edit.has_attrs && !(edit.attrs.empty() && edit.attrs_object.empty())) {
    return InvalidArgument("attributes are given, but not that there are any").WithBlock(edit.block);
  }
  SetAttrs attrs = edit;
  if (Status status = undoing_ ? Status() : CheckAttrs(attrs); !status.ok()) return std::move(status).WithBlock(edit.block);
  PutAttrs(changed, std::move(attrs));
  return {};
}

Status PageEditor::Make(const RenameBlock& edit) {
  WEFT_ASSIGN_OR_RETURN(const int renamed, BlockOf(edit.block));
  if (edit.to == edit.block) return {};
  if (!edit.faulty) WEFT_RETURN_IF_ERROR(CheckNewId(edit.to));
  inputs_.Rename(edit.block, edit.to);
  EditedList<LayoutEntry>& entries = page_.layout();
  const std::vector<int> own = entries.All(edit.block), other = entries.All(edit.to);
  const auto name = [&](const std::vector<int>& all, const std::string& id) {
    for (const int entry : all) entries.Change(entry, [&](LayoutEntry& changed) { changed.block = id; });
  };
  name(own, edit.to);
  name(other, edit.block);  // of no block; there may not be two of one name
  page_.blocks().Change(renamed, [&](PageBlock& changed) { changed.id = edit.to; });
  page_.Touch(renamed);
  undo_.push_back(RenameBlock{edit.to, edit.block, !CheckNewId(edit.block).ok()});
  return {};
}

Status PageEditor::Make(const MoveBlock& edit) {
  WEFT_RETURN_IF_ERROR(BlockOf(edit.block).status());
  return PutLayout(edit.block, edit.layout, edit.place);
}

Status PageEditor::Make(const SetKey& edit) {
  SetKey undo;
  if (edit.block.empty()) {
    if (edit.key == "layout") page_.FinishLayout();
    WEFT_ASSIGN_OR_RETURN(undo, SetPageKey(page_.page(), edit, undoing_));
    ++page_.page().edits;
  } else {
    WEFT_ASSIGN_OR_RETURN(const int changed, BlockOf(edit.block));
    WEFT_ASSIGN_OR_RETURN(undo, SetBlockKey(block(changed), edit));
    page_.Touch(changed);
  }
  undo_.push_back(std::move(undo));
  return {};
}

}  // namespace weft::page
