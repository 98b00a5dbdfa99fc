#include "runtime/page/input_edits.h"

#include "runtime/page/edit_checks.h"
#include "runtime/page/report.h"

namespace weft::page {

Status InputEdits::Check(const PageInput& input) const {
  return undoing_ ? Status() : CheckInput(input, page_.page().format != Page::Format::kWeft);
}

PageInput* InputEdits::InputOf(int block, const std::string& port) {
  std::vector<PageInput>& inputs = page_.blocks()[block].inputs;
  const auto it = std::ranges::find(inputs, port, &PageInput::port);
  return it == inputs.end() ? nullptr : &*it;
}

Status InputEdits::NoInput(int block, const Wire& to) {
  std::vector<std::string_view> ports;
  for (const PageInput& input : page_.blocks()[block].inputs) ports.push_back(input.port);
  return NotFound("nothing is connected to the input '", to.port, "'")
      .WithBlock(to.block)
      .WithPort(to.port)
      .WithHint(DidYouMean(to.port, ports));
}

Status InputEdits::CheckIndex(size_t has, const Wire& to, size_t end) {
  if (static_cast<size_t>(to.index) < end) return {};
  return OutOfRange("needs an index below ", end, ", as the input has ", has, has == 1 ? " element" : " elements", ", found ", to.index)
      .WithBlock(to.block)
      .WithPort(to.port);
}

void InputEdits::Put(int block, size_t place, PageInput input) {
  PageBlock& changed = page_.blocks()[block];
  undo_.push_back(Disconnect{{changed.id, input.port, -1}});
  changed.inputs.insert(changed.inputs.begin() + static_cast<ptrdiff_t>(place), std::move(input));
  page_.Touch(block);
}

void InputEdits::Replace(int block, PageInput& old, PageInput input) {
  page_.FinishItems(block, old);
  std::swap(old, input);
  Wire to{page_.blocks()[block].id, input.port, -1};
  undo_.push_back(SetInput{std::move(to), std::move(input), -1});
  page_.Touch(block);
}

// With the whole input, so that taking the change back brings the fault back.
bool InputEdits::ChangeFaulty(int block, PageInput& input, const std::function<void(std::vector<InputItem>&)>& change) {
  if (!input.faulty) return false;
  const auto has_unread = [](const PageInput& of) {
    return std::ranges::any_of(of.items, [](const InputItem& item) {
      const Literal* literal = LiteralOf(item);
      return literal != nullptr && literal->form == Literal::Form::kUnread;
    });
  };
  page_.FinishItems(block, input);
  PageInput fresh = input;
  change(fresh.items);
  if (has_unread(input) && !has_unread(fresh)) {
    fresh.faulty = false;
    fresh.faults = nullptr;
  }
  page_.AddReader(fresh, block);
  Replace(block, input, std::move(fresh));
  return true;
}

void InputEdits::Take(int block, size_t place) {
  PageBlock& changed = page_.blocks()[block];
  page_.FinishItems(block, changed.inputs[place]);
  PageInput old = std::move(changed.inputs[place]);
  changed.inputs.erase(changed.inputs.begin() + static_cast<ptrdiff_t>(place));
  Wire to{changed.id, old.port, -1};
  undo_.push_back(SetInput{std::move(to), std::move(old), static_cast<int64_t>(place)});
  page_.Touch(block);
}

Status InputEdits::Apply(int block, const Connect& edit) {
  PageInput fresh{edit.to.port, edit.to.index >= 0, {edit.item}};
  if (Status status = Check(fresh); !status.ok()) return std::move(status).WithBlock(edit.to.block);
  PageInput* input = InputOf(block, edit.to.port);
  const size_t has = Count(block, input);
  if (edit.to.index >= 0) WEFT_RETURN_IF_ERROR(CheckIndex(has, edit.to, has + 1));
  page_.AddReader(fresh, block);
  if (input == nullptr) {
    Put(block, page_.blocks()[block].inputs.size(), std::move(fresh));
  } else if (!input->list && edit.to.index < 0) {
    Replace(block, *input, std::move(fresh));
  } else if (!input->list) {
    page_.FinishItems(block, *input);
    fresh.items.insert(fresh.items.begin() + (edit.to.index == 0 ? 1 : 0), input->items.begin(), input->items.end());
    Replace(block, *input, std::move(fresh));
  } else {
    const int index = edit.to.index < 0 ? static_cast<int>(has) : edit.to.index;
    const auto insert = [&](std::vector<InputItem>& items) { items.insert(items.begin() + index, edit.item); };
    if (ChangeFaulty(block, *input, insert)) return {};
    page_.ItemsOf(block, *input).Insert(index, edit.item);
    undo_.push_back(Disconnect{{edit.to.block, edit.to.port, index}});
    page_.Touch(block);
  }
  return {};
}

Status InputEdits::Apply(int block, const Disconnect& edit) {
  PageInput* input = InputOf(block, edit.to.port);
  if (input == nullptr) return NoInput(block, edit.to);
  if (edit.to.index < 0 || !input->list) {
    if (edit.to.index > 0) return CheckIndex(Count(block, input), edit.to, 1);
    Take(block, static_cast<size_t>(input - page_.blocks()[block].inputs.data()));
    return {};
  }
  WEFT_RETURN_IF_ERROR(CheckIndex(Count(block, input), edit.to, Count(block, input)));
  if (ChangeFaulty(block, *input, [&](std::vector<InputItem>& items) { items.erase(items.begin() + edit.to.index); })) return {};
  undo_.push_back(Connect{page_.ItemsOf(block, *input).EraseAt(edit.to.index), edit.to});
  page_.Touch(block);
  return {};
}

Status InputEdits::Apply(int block, const SetInput& edit) {
  if (!edit.value) return Apply(block, Disconnect{edit.to});
  PageInput fresh = *edit.value;
  fresh.port = edit.to.port;
  if (Status status = Check(fresh); !status.ok()) return std::move(status).WithBlock(edit.to.block);
  PageInput* input = InputOf(block, edit.to.port);
  if (edit.to.index >= 0 && (input == nullptr || input->list)) {
    if (input == nullptr) return NoInput(block, edit.to);
    WEFT_RETURN_IF_ERROR(CheckIndex(Count(block, input), edit.to, Count(block, input)));
    if (fresh.list || fresh.items.size() != 1) {
      return InvalidArgument("an element of a list needs one wire or value, found a list").WithBlock(edit.to.block).WithPort(edit.to.port);
    }
    const auto set = [&](std::vector<InputItem>& list) { list[static_cast<size_t>(edit.to.index)] = fresh.items[0]; };
    if (ChangeFaulty(block, *input, set)) return {};
    page_.AddReader(fresh, block);
    ItemList& items = page_.ItemsOf(block, *input);
    items.Change(items.HandleAt(edit.to.index), [&](InputItem& item) { std::swap(item, fresh.items[0]); });
    undo_.push_back(SetInput{edit.to, std::move(fresh), -1});
    page_.Touch(block);
    return {};
  }
  if (edit.to.index > 0) return CheckIndex(Count(block, input), edit.to, 1);
  page_.AddReader(fresh, block);
  if (input != nullptr) {
    Replace(block, *input, std::move(fresh));
    return {};
  }
  const size_t inputs = page_.blocks()[block].inputs.size();
  if (Status status = CheckPlace(edit.place, inputs, "inputs"); !status.ok()) {
    return std::move(status).WithBlock(edit.to.block).WithPort(edit.to.port);
  }
  Put(block, edit.place < 0 ? inputs : static_cast<size_t>(edit.place), std::move(fresh));
  return {};
}

void InputEdits::Release(const std::string& id, int keep) {
  for (const int reader : page_.TakeReadersOf({id})) {
    if (reader == keep) continue;
    PageBlock& block = page_.blocks()[reader];
    for (size_t p = block.inputs.size(); p-- > 0;) {
      PageInput& input = block.inputs[p];
      ItemList& items = page_.ItemsOf(reader, input);
      const std::vector<int> wires = items.All(id);
      if (wires.empty()) continue;
      if (!input.list) {
        Take(reader, p);
        continue;
      }
      items.EraseAll(wires, [&](int place, InputItem item) { undo_.push_back(Connect{std::move(item), {block.id, input.port, place}}); });
      page_.Touch(reader);
    }
  }
}

void InputEdits::Rename(const std::string& from, const std::string& to) {
  for (const int reader : page_.TakeReadersOf({from, to})) {
    bool reads = false;
    for (PageInput& input : page_.blocks()[reader].inputs) reads |= RenameWires(reader, input, from, to);
    if (reads) page_.AddReader(to, reader);
  }
}

// Wires to the new id led to nothing so far; from now on they do not, and taking the name back would take them along.
bool InputEdits::RenameWires(int block, PageInput& input, const std::string& from, const std::string& to) {
  const std::string& id = page_.blocks()[block].id;
  const std::vector<int> lost = page_.ItemsOf(block, input).All(to);
  // Of a long list, each by itself: many edits that copy it would take the square of its length. A faulty one has what no edit may set.
  const bool each = page_.ItemsOf(block, input).many() && !input.faulty && page_.blocks().First(id) == block;
  if (!lost.empty() && !each) {
    page_.FinishItems(block, input);
    undo_.push_back(SetInput{{id, input.port, -1}, input, -1});
  }
  ItemList& items = page_.ItemsOf(block, input);
  for (const int item : lost) {
    if (each) undo_.push_back(SetInput{{id, input.port, items.PlaceOf(item)}, PageInput{input.port, false, {items[item]}}, -1});
  }
  const std::vector<int> wires = items.All(from);
  for (const int item : wires) {
    items.Change(item, [&](InputItem& wire) { std::get<Wire>(wire).block = to; });
    page_.Touch(block);
  }
  return !lost.empty() || !wires.empty();
}

}  // namespace weft::page
