#include "runtime/state/page_edit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/page/page_editor.h"
#include "runtime/plan/id_map.h"
#include "runtime/plan/open_input.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/unread_blocks.h"
#include "runtime/state/host_call.h"

namespace weft {
namespace {

/// What a block's wires go by on the page: ports have aliases, and a list that is there under one is not begun under another.
void UseSpellingOfPage(page::PageEditor& editor, const Registry& registry, Wire& to) {
  const PageBlock* block = editor.Find(to.block);
  const BlockDef* def = block == nullptr ? nullptr : registry.Find(block->type);
  const int port = def == nullptr ? -1 : def->FindInput(to.port);
  if (port < 0) return;
  const PageInput* other = nullptr;
  for (const PageInput& input : block->inputs) {
    if (input.port == to.port) return;
    if (def->FindInput(input.port) == port) other = &input;
  }
  if (other != nullptr) to.port = other->port;
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

/// Whether the error is of an input that has neither a wire nor a value.
bool IsErrorOfOpenInput(const Page& page, const Registry& registry, const Place& place) {
  const int index = page.Find(place.block);
  if (index < 0) return false;
  const PageBlock& block = page.blocks[static_cast<size_t>(index)];
  return IsOpenInput(block, registry.Find(block.type), place.port);
}

/// How many errors there are, also of those that are not kept. `open_inputs`: of those that connecting found, but for inputs that have nothing.
size_t CountErrors(const Revision& revision, const Diagnostics& found, bool open_inputs) {
  const size_t connecting = revision.found.errors();
  return open_inputs ? connecting - std::min(revision.graph->open_inputs(), connecting) : found.errors();
}

/// The input that an edit gives something, and what it gives: the last item, where it gives a list; null where it gives nothing.
std::pair<const Wire*, const InputItem*> WiredBy(const Edit& edit) {
  if (const auto* connect = std::get_if<Connect>(&edit)) return {&connect->to, &connect->item};
  const auto* set = std::get_if<SetInput>(&edit);
  if (set == nullptr || !set->value || set->value->items.empty()) return {nullptr, nullptr};
  return {&set->to, &set->value->items.back()};
}

DType TypeOf(const Graph& graph, const InputItem& item) {
  if (const Literal* literal = LiteralOf(item)) return literal->dtype.value_or(DType::kInvalid);
  const auto value = graph.FindValue(ToString(*WireOf(item)));
  return value.ok() ? graph.TypeOf(*value) : DType::kInvalid;
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
  return {ResourceStore::OwnKey(node.def->name, node.id), ResourceStore::SharedKey(node)};
}

/// Adds what plans find, each finding once.
class AddedOnce {
 public:
  explicit AddedOnce(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void Add(Diagnostics found) {
    if (found.all().empty()) return;
    found.SetPhase(Phase::kCompile);
    if (seen_.empty()) {
      for (const Diagnostic& diagnostic : diagnostics_.all()) seen_.insert(ToString(diagnostic));
    }
    for (const Diagnostic& diagnostic : found.all()) {
      if (seen_.insert(ToString(diagnostic)).second) diagnostics_.Add(diagnostic.severity, diagnostic.status);
    }
  }

 private:
  Diagnostics& diagnostics_;
  std::set<std::string> seen_;
};

}  // namespace

Result<std::vector<Edit>> ApplyToPage(Page& page, const Registry& registry, std::vector<Edit>& edits) {
  page::PageEditor editor(page, edits.size());
  for (size_t i = 0; i < edits.size(); ++i) {
    CallLimit::Check();
    Edit& edit = edits[i];
    if (auto* connect = std::get_if<Connect>(&edit)) UseSpellingOfPage(editor, registry, connect->to);
    if (auto* disconnect = std::get_if<Disconnect>(&edit)) UseSpellingOfPage(editor, registry, disconnect->to);
    const Status status = editor.Apply(edit);
    if (status.ok()) continue;
    const Place& place = status.place();
    return Status(status.code(), status.message())
        .WithHint(status.hint())
        .WithBlock(place.block)
        .WithPort(place.port)
        .WithPointer(Cat("/", i));
  }
  return editor.TakeUndo();
}

Status FirstNewError(const Revision& old, const Diagnostics& before, const Revision& fresh, const Diagnostics& after, bool open_inputs) {
  const Page& page = fresh.graph->page();
  const std::set<std::string> known = ErrorsOf(before);
  for (const Diagnostic& diagnostic : after.all()) {
    const Place& place = diagnostic.status.place();
    if (diagnostic.severity != Severity::kError || (open_inputs && IsErrorOfOpenInput(page, fresh.graph->registry(), place))) continue;
    if (!known.contains(Cat(place.block, ".", place.port, ": ", diagnostic.status.message()))) return diagnostic.status;
  }
  // Of a page with very many errors not all are kept.
  const size_t errors = CountErrors(fresh, after, open_inputs), had = CountErrors(old, before, open_inputs);
  if (errors > had && after.errors() > Diagnostics::kLimit) {
    const char* which = open_inputs ? "errors besides inputs without a wire" : "errors";
    return InvalidArgument("the page would have ", errors, " ", which, "; before the edit it has ", had).WithPage(page.name);
  }
  return {};
}

Status ToldOfEdits(const Graph& graph, std::span<const Edit> edits, Status fault) {
  const int block = fault.place().block.empty() ? -1 : graph.IndexOf(fault.place().block);
  const BlockDef* def = block < 0 ? nullptr : graph.node(block).def;
  if (def == nullptr || IsErrorOfOpenInput(graph.page(), graph.registry(), fault.place())) return fault;
  const int told = def->FindInput(fault.place().port);
  const Wire* to = nullptr;
  const InputItem* item = nullptr;
  for (const Edit& edit : edits) {
    const auto [port, given] = WiredBy(edit);
    if (port == nullptr || port->block != fault.place().block) continue;
    if (def->FindInput(port->port) == told) return fault;
    to = port;
    item = given;
  }
  if (to == nullptr) return fault;
  return PlaceAtNode(graph, block, AtWiredPort(*def, to->port, TypeOf(graph, *item), std::move(fault)));
}

std::shared_ptr<Revision> NextRevision(const Revision& old, std::shared_ptr<const Graph> graph, VariableStore& store) {
  auto fresh = std::make_shared<Revision>();
  fresh->number = old.number + 1;
  fresh->variables.resize(graph->variables().size());
  const IdMap id_map(*graph, *old.graph);
  const VariableAccess access(store);
  for (size_t v = 0; v < fresh->variables.size(); ++v) {
    // Several blocks may be one variable; the one whose initial value counts stands for it.
    const int block = id_map.Block(graph->variables()[v]);
    const int before = block < 0 ? -1 : old.graph->node(block).variable;
    if (before >= 0 && SameStart(*old.graph, before, *graph, static_cast<int>(v))) {
      const std::shared_ptr<VariableCell>& cell = old.variables[static_cast<size_t>(before)];
      const Tensor& value = cell->value(access);
      const bool fits = !value.defined() || graph->variable_info(static_cast<int>(v)).declared.Accepts(value.shape());
      if (fits) fresh->variables[v] = cell;
    }
    if (fresh->variables[v] == nullptr) fresh->variables[v] = std::make_shared<VariableCell>();
  }
  fresh->graph = std::move(graph);
  return fresh;
}

void CheckRevision(const Scope& scope, Revision& revision, Diagnostics& diagnostics, bool keep_plans) {
  const Graph& graph = *revision.graph;
  if (!graph.page().complete) return;
  const Planning planning(scope);
  std::vector<SessionSpec> sessions = graph.sessions();
  const bool named = !sessions.empty();
  if (!named) sessions.push_back(graph.DefaultSession());
  AddedOnce added(diagnostics);  // sessions share blocks, and so their faults; some were found without planning
  UnreadBlocks unread(graph);
  for (const SessionSpec& spec : sessions) {
    PlanRequest request = RequestFor(spec, scope.last_keep());
    request.shape_of = ShapesNow(revision, scope.variables());
    Diagnostics found;
    Plan plan = MakePlan(graph, request, found);
    if (named) unread.Note(plan);
    request.shape_of = nullptr;
    if (keep_plans && found.all().empty()) revision.OfferPlan(std::move(request), std::move(plan));
    added.Add(std::move(found));
  }
  if (!named) return;  // the default session reads all
  Diagnostics found;
  unread.Check(ShapesNow(revision, scope.variables()), found);
  added.Add(std::move(found));
}

void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics) {
  CheckRevision(*scope, *scope->revision(), diagnostics, false);
}

void MoveResources(const Graph& old, const Graph& fresh, ResourceStore& store) {
  const IdMap id_map(old, fresh);
  ResourceStore::Access access(store);
  if (access.empty()) return;
  std::vector<ResourceStore::Rename> renames;
  for (size_t i = 0; i < old.page().blocks.size(); ++i) {
    const Node& before = old.node(static_cast<int>(i));
    if (before.def == nullptr || before.def->structural != Structural::kNone) continue;
    const int block = id_map.Block(static_cast<int>(i));
    const bool same = block >= 0 && SerialOf(fresh.page(), static_cast<size_t>(block)) == SerialOf(old.page(), i) &&
                      fresh.node(block).def == before.def && fresh.node(block).attrs == before.attrs;
    if (same && fresh.node(block).id == before.id) continue;
    const std::vector<std::string> keys = StateKeys(before);
    const std::vector<std::string> now = same ? StateKeys(fresh.node(block)) : std::vector<std::string>(keys.size());
    for (size_t k = 0; k < keys.size(); ++k) {
      if (now[k] != keys[k]) renames.push_back({keys[k], now[k]});
    }
  }
  access.Move(renames);
}

}  // namespace weft
