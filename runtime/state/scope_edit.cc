// Edits of an open page: a new revision of it, with the state that the blocks had.
#include <algorithm>
#include <set>
#include <utility>

#include "runtime/plan/id_map.h"
#include "runtime/state/host_call.h"
#include "runtime/state/scope_services.h"
#include "weft/state/scope.h"

namespace weft {
namespace {

/// What a block's wires go by on the page: ports have aliases, and a list that is there under one is not begun under another.
void UseSpellingOfPage(const Page& page, const Registry& registry, Wire& to) {
  const int index = page.Find(to.block);
  if (index < 0) return;
  const PageBlock& block = page.blocks[static_cast<size_t>(index)];
  const BlockDef* def = registry.Find(block.type);
  const int port = def == nullptr ? -1 : def->FindInput(to.port);
  if (port < 0) return;
  const PageInput* other = nullptr;
  for (const PageInput& input : block.inputs) {
    if (input.port == to.port) return;
    if (def->FindInput(input.port) == port) other = &input;
  }
  if (other != nullptr) to.port = other->port;
}

/// Gives what takes the edits back; `edits` become as they were made.
Result<std::vector<Edit>> ApplyToPage(Page& page, const Registry& registry, std::vector<Edit>& edits) {
  std::vector<std::vector<Edit>> undo;
  for (size_t i = 0; i < edits.size(); ++i) {
    Edit& edit = edits[i];
    if (auto* connect = std::get_if<Connect>(&edit)) UseSpellingOfPage(page, registry, connect->to);
    if (auto* disconnect = std::get_if<Disconnect>(&edit)) UseSpellingOfPage(page, registry, disconnect->to);
    auto done = ApplyEdits(page, std::span(&edit, 1));
    if (!done.ok()) {
      const Status& status = done.status();
      const Place& place = status.place();
      return Status(status.code(), status.message())
          .WithHint(status.hint())
          .WithBlock(place.block)
          .WithPort(place.port)
          .WithPointer(Cat("/", i));
    }
    undo.push_back(std::move(*done));
  }
  std::vector<Edit> all;
  for (size_t i = undo.size(); i-- > 0;) std::move(undo[i].begin(), undo[i].end(), std::back_inserter(all));
  return all;
}

/// Errors of a page by what they say; where blocks lie in it does not matter.
std::set<std::string> ErrorsOf(const Diagnostics& diagnostics) {
  std::set<std::string> errors;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const Place& place = diagnostic.status.place();
    if (diagnostic.severity == Severity::kError) errors.insert(Cat(place.block, ".", place.port, ": ", diagnostic.status.message()));
  }
  return errors;
}

Status FirstNewError(const Diagnostics& before, const Diagnostics& after) {
  const std::set<std::string> known = ErrorsOf(before);
  for (const Diagnostic& diagnostic : after.all()) {
    const Place& place = diagnostic.status.place();
    if (diagnostic.severity != Severity::kError) continue;
    if (!known.contains(Cat(place.block, ".", place.port, ": ", diagnostic.status.message()))) return diagnostic.status;
  }
  return {};
}

/// Whether a variable starts with the same value in both.
bool SameStart(const Graph& old, int before, const Graph& fresh, int after) {
  const Node& a = old.node(old.variables()[static_cast<size_t>(before)]);
  const Node& b = fresh.node(fresh.variables()[static_cast<size_t>(after)]);
  if (a.output_types != b.output_types || a.constant.defined() != b.constant.defined() || a.initial.valid() != b.initial.valid())
    return false;
  if (a.constant.defined()) return a.constant.data() == b.constant.data() || SameBits(a.constant, b.constant);
  return !a.initial.valid() || IdMap(old, fresh).Value(a.initial) == b.initial;
}

/// The keys under which a block may have made state.
std::vector<std::string> StateKeys(const Node& node) {
  std::vector<std::string> keys = {ScopeBinder::OwnKey(node.def->name, node.id)};
  auto text = [&](std::string_view name) {
    const int index = node.def->FindAttr(name);
    const auto* value = index < 0 ? nullptr : std::get_if<std::string>(&node.attrs[static_cast<size_t>(index)]);
    return value == nullptr ? std::string() : *value;
  };
  const std::string name = text("shared_name");
  keys.push_back(ScopeBinder::SharedKey(text("container"), name.empty() ? node.id : name));
  return keys;
}

}  // namespace

Result<std::vector<Edit>> Scope::Apply(std::span<const Edit> edits, Diagnostics& diagnostics, EditMode mode, PageChanges* changes) {
  std::lock_guard editing(editing_mutex_);
  const Planning planning(*this);
  const std::shared_ptr<Revision> old = revision();
  std::shared_ptr<Page> page = TakePageToEdit();
  std::vector<Edit> made(edits.begin(), edits.end());
  auto undo = ApplyToPage(*page, runtime_.registry(), made);
  if (!undo.ok()) return std::move(undo).status().WithPage(old->graph->name());
  if (changes != nullptr) *changes = ChangesBetween(old->graph->page(), *page);
  Diagnostics found;
  std::shared_ptr<Revision> fresh = MakeRevision(*old, Graph::Build(page, runtime_.registry(), old->graph->name(), found, old->graph.get()));
  fresh->found = found;
  CheckRevision(*fresh, found, mode != EditMode::kTry);
  Status fault;
  if (mode != EditMode::kApply) {
    Diagnostics before = old->found;
    CheckRevision(*old, before, false);
    fault = FirstNewError(before, found);
  }
  diagnostics.Append(std::move(found));
  if (!fault.ok()) return fault;
  if (mode == EditMode::kTry) return undo;
  MoveState(*old->graph, *fresh->graph);
  spare_ = std::exchange(present_, std::move(page));
  last_edits_ = std::move(made);
  {
    std::lock_guard lock(revision_mutex_);
    revision_ = std::move(fresh);
  }
  edits_.fetch_add(1, std::memory_order_release);
  return undo;
}

// A page that is as the present one, and nobody else's.
std::shared_ptr<Page> Scope::TakePageToEdit() {
  std::shared_ptr<Page> page = std::exchange(spare_, nullptr);
  // What the last owner did before it let go comes before what is done now.
  { const std::shared_ptr<Page> copy = page; }
  if (page != nullptr && page.use_count() == 1 && ApplyEdits(*page, last_edits_).ok()) return page;
  return std::make_shared<Page>(revision()->graph->page());
}

std::shared_ptr<Revision> Scope::MakeRevision(const Revision& old, std::shared_ptr<const Graph> graph) const {
  auto fresh = std::make_shared<Revision>();
  fresh->number = old.number + 1;
  fresh->variables.resize(graph->variables().size());
  const IdMap id_map(*graph, *old.graph);
  std::lock_guard lock(values_mutex_);
  for (size_t v = 0; v < fresh->variables.size(); ++v) {
    // Several blocks may be one variable; the one whose initial value counts stands for it.
    const int block = id_map.Block(graph->variables()[v]);
    const int before = block < 0 ? -1 : old.graph->node(block).variable;
    if (before >= 0 && SameStart(*old.graph, before, *graph, static_cast<int>(v))) {
      const std::shared_ptr<VariableCell>& cell = old.variables[static_cast<size_t>(before)];
      const bool fits = !cell->value().defined() || graph->variable_info(static_cast<int>(v)).declared.Accepts(cell->value().shape());
      if (fits) fresh->variables[v] = cell;
    }
    if (fresh->variables[v] == nullptr) fresh->variables[v] = std::make_shared<VariableCell>();
  }
  fresh->graph = std::move(graph);
  return fresh;
}

// State goes with a block that is renamed; that of blocks that are gone, or whose type or attributes changed, is dropped.
void Scope::MoveState(const Graph& old, const Graph& fresh) {
  const IdMap id_map(old, fresh);
  std::lock_guard lock(resources_mutex_);
  if (resources_.empty() && restored_.empty()) return;
  std::vector<std::pair<std::string, ResourceHandle>> moved;
  std::vector<std::pair<std::string, RestoredState>> moved_restored;
  const auto take = [](auto& states, auto state, bool same, const std::string& now, auto& to) {
    if (state == states.end()) return;
    if (same) to.emplace_back(now, std::move(state->second));
    states.erase(state);
  };
  for (size_t i = 0; i < old.page().blocks.size(); ++i) {
    const Node& before = old.node(static_cast<int>(i));
    if (before.def == nullptr || before.def->structural != Structural::kNone) continue;
    const int block = id_map.Block(static_cast<int>(i));
    const bool same = block >= 0 && SerialOf(fresh.page(), static_cast<size_t>(block)) == SerialOf(old.page(), i) &&
                      fresh.node(block).def == before.def && fresh.node(block).attrs == before.attrs;
    if (same && fresh.node(block).id == before.id) continue;
    const std::vector<std::string> keys = StateKeys(before);
    const std::vector<std::string> now = same ? StateKeys(fresh.node(block)) : std::vector<std::string>();
    for (size_t k = 0; k < keys.size(); ++k) {
      if (same && now[k] == keys[k]) continue;
      const std::string key = same ? now[k] : std::string();
      take(resources_, resources_.find(keys[k]), same, key, moved);
      take(restored_, restored_.find(keys[k]), same, key, moved_restored);
    }
  }
  for (auto& [key, state] : moved) resources_.insert_or_assign(std::move(key), std::move(state));
  for (auto& [key, state] : moved_restored) restored_.insert_or_assign(std::move(key), std::move(state));
}

}  // namespace weft
