#include "weft/state/scope.h"

#include "runtime/base/failure.h"
#include "runtime/page/unread.h"
#include "runtime/state/host_call.h"
#include "runtime/state/kept_blocks.h"
#include "runtime/state/page_edit.h"
#include "runtime/state/resource_store.h"
#include "runtime/state/revision_history.h"
#include "runtime/state/run_gate.h"
#include "runtime/state/turn_line.h"
#include "runtime/state/variable_store.h"

namespace weft {
namespace {

Result<int> FindVariable(const Graph& graph, std::string_view id) {
  WEFT_ASSIGN_OR_RETURN(int node, graph.FindNode(id));
  int variable = graph.node(node).variable;
  if (variable < 0 || !graph.variable_info(variable).temporary.empty()) return NotFound("the block '", id, "' is no variable");
  return variable;
}

}  // namespace

struct Scope::Parts {
  RevisionHistory history;
  KeptBlocks kept_blocks{history};
  VariableStore variables;
  ResourceStore resources;
  RunGate runs;
  TurnLine updating, starting;
};

Scope::Scope(Runtime& runtime, ScopeOptions options) : runtime_(runtime), options_(std::move(options)), parts_(std::make_unique<Parts>()) {}
Scope::~Scope() = default;

std::shared_ptr<Scope> Scope::Open(Runtime& runtime, std::shared_ptr<const Page> page, std::string_view name, ScopeOptions options,
                                   Diagnostics& diagnostics) {
  if (options.budget == nullptr) options.budget = runtime.PageBudget();
  std::shared_ptr<Scope> scope(new Scope(runtime, std::move(options)));
  const Planning planning(*scope);
  auto revision = std::make_shared<Revision>();
  Diagnostics found;
  revision->graph = Graph::Build(std::move(page), runtime.registry(), name, found);
  revision->found = found;
  weft::page::AddNotedFaults(revision->graph->page(), name, revision->found);
  if (Status held = revision->Hold(scope->budget()); !held.ok()) {
    diagnostics.Error(std::move(held).WithPage(name));
    revision = std::make_shared<Revision>();
    found = Diagnostics();
    revision->graph = Graph::Build(std::make_shared<Page>(), runtime.registry(), name, found);
    revision->found = found;
  }
  diagnostics.Append(std::move(found));  // the reader has told of the inputs that it could not read
  revision->variables.resize(revision->graph->variables().size());
  for (auto& cell : revision->variables) cell = std::make_shared<VariableCell>();
  scope->parts_->history.Begin(std::move(revision));
  return scope;
}

VariableStore& Scope::variables() const { return parts_->variables; }
ResourceStore& Scope::resources() const { return parts_->resources; }
RunGate& Scope::runs() const { return parts_->runs; }
KeptBlocks& Scope::kept_blocks() const { return parts_->kept_blocks; }
TurnLine& Scope::updating() const { return parts_->updating; }
TurnLine& Scope::starting() const { return parts_->starting; }
std::shared_ptr<Revision> Scope::revision() const { return parts_->history.present(); }
uint64_t Scope::edits() const { return parts_->history.edits(); }

uint64_t Scope::NumberPlan(Keep keep) {
  last_keep_.store(keep, std::memory_order_relaxed);
  return ++plans_;
}

Result<std::vector<Edit>> Scope::Apply(std::span<const Edit> edits, Diagnostics& diagnostics, EditMode mode, PageChanges* changes,
                                       const Prepare& prepare) {
  RevisionHistory::Editing editing(parts_->history);
  const Planning planning(*this);
  const std::shared_ptr<Revision> old = revision();
  std::shared_ptr<Page> page = editing.TakePage();
  std::vector<Edit> made(edits.begin(), edits.end());
  auto undo = ApplyToPage(*page, runtime_.registry(), made);
  if (!undo.ok()) return std::move(undo).status().WithPage(old->graph->name());
  if (changes != nullptr) *changes = ChangesBetween(old->graph->page(), *page);
  Diagnostics found;
  std::shared_ptr<const Graph> graph = Graph::Build(page, runtime_.registry(), old->graph->name(), found, old->graph.get());
  weft::page::AddNotedFaults(*page, old->graph->name(), found);
  std::shared_ptr<Revision> fresh = NextRevision(*old, std::move(graph), variables());
  found.SetPhase(Phase::kConnect);
  fresh->found = found;
  if (Status held = fresh->Hold(budget()); !held.ok()) return std::move(held).WithPage(old->graph->name());
  CheckRevision(*this, *fresh, found, mode != EditMode::kTry);
  // A page has no fault because the machine lacks memory, and keeps none: the edit is refused.
  WEFT_RETURN_IF_ERROR(FirstNoMemory(found));
  Status fault;
  if (mode != EditMode::kApply) {
    Diagnostics before = old->found;
    CheckRevision(*this, *old, before, false);
    fault = FirstNewError(*old, before, *fresh, found, mode == EditMode::kOpenInputs);
    fault = ToldOfEdits(*fresh->graph, made, std::move(fault));
  }
  diagnostics.Append(std::move(found));
  if (!fault.ok()) return fault;
  if (mode == EditMode::kTry) return undo;
  if (prepare) WEFT_RETURN_IF_ERROR(prepare(*undo, *page));
  MoveResources(*old->graph, *fresh->graph, resources());
  editing.Commit(std::move(fresh), std::move(page), std::move(made));
  parts_->kept_blocks.Follow(*revision()->graph);
  return undo;
}

Result<Tensor> Scope::GetVariable(std::string_view id) const {
  const std::shared_ptr<Revision> revision = this->revision();
  WEFT_ASSIGN_OR_RETURN(int variable, FindVariable(*revision->graph, id));
  const VariableAccess access(variables());
  const Tensor& value = revision->variables[variable]->value(access);
  if (!value.defined()) return FailedPrecondition("the variable has no value yet").WithBlock(id);
  return value;
}

Status Scope::SetVariable(std::string_view id, Tensor value) {
  const std::shared_ptr<Revision> revision = this->revision();
  auto variable = FindVariable(*revision->graph, id);
  if (!variable.ok()) return std::move(variable).status();
  DType needed = revision->graph->node(revision->graph->variables()[*variable]).output_types[0];
  if (value.dtype() != needed) return InvalidArgument("the variable needs ", needed, ", found ", value.dtype()).WithBlock(id);
  VariableAccess access(variables());
  revision->variables[*variable]->Set(std::move(value), access);
  return {};
}

}  // namespace weft
