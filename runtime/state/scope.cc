#include "weft/state/scope.h"

#include <algorithm>

#include "runtime/state/host_call.h"
#include "runtime/state/thread_pool.h"

namespace weft {

namespace {

int ThreadsOf(const RuntimeOptions& options) {
  const int processors = options.processors > 0 ? options.processors : UsableProcessors();
  return options.threads > 0 ? std::min(options.threads, processors) : processors;
}

}  // namespace

Runtime::Runtime(Registry registry, RuntimeOptions options)
    : registry_(std::move(registry)),
      budget_(options.memory_limit > 0 ? std::make_shared<MemoryBudget>(options.memory_limit) : MemoryBudget::ForMachine()),
      pool_(std::make_unique<ThreadPool>(ThreadsOf(options))) {}

Runtime::~Runtime() = default;

int Runtime::threads() const { return pool_->threads(); }

std::shared_ptr<Scope> Scope::Open(Runtime& runtime, std::shared_ptr<const Page> page, std::string_view name, ScopeOptions options,
                                   Diagnostics& diagnostics) {
  std::shared_ptr<Scope> scope(new Scope(runtime, std::move(options)));
  const Planning planning(*scope);
  auto revision = std::make_shared<Revision>();
  revision->graph = Graph::Build(std::move(page), runtime.registry(), name, revision->found);
  diagnostics.Append(revision->found);
  revision->variables.resize(revision->graph->variables().size());
  for (auto& cell : revision->variables) cell = std::make_shared<VariableCell>();
  scope->revision_ = std::move(revision);
  return scope;
}

std::shared_ptr<Revision> Scope::revision() const {
  std::lock_guard lock(revision_mutex_);
  return revision_;
}

Result<int> Scope::FindVariable(const Graph& graph, std::string_view id) {
  WEFT_ASSIGN_OR_RETURN(int node, graph.FindNode(id));
  int variable = graph.node(node).variable;
  if (variable < 0 || !graph.variable_info(variable).temporary.empty()) return NotFound("the block '", id, "' is no variable");
  return variable;
}

Result<Tensor> Scope::GetVariable(std::string_view id) const {
  const std::shared_ptr<Revision> revision = this->revision();
  WEFT_ASSIGN_OR_RETURN(int variable, FindVariable(*revision->graph, id));
  std::lock_guard lock(values_mutex_);
  const Tensor& value = revision->variables[variable]->value();
  if (!value.defined()) return FailedPrecondition("the variable has no value yet").WithBlock(id);
  return value;
}

Status Scope::SetVariable(std::string_view id, Tensor value) {
  const std::shared_ptr<Revision> revision = this->revision();
  auto variable = FindVariable(*revision->graph, id);
  if (!variable.ok()) return std::move(variable).status();
  DType needed = revision->graph->node(revision->graph->variables()[*variable]).output_types[0];
  if (value.dtype() != needed) return InvalidArgument("the variable needs ", needed, ", found ", value.dtype()).WithBlock(id);
  std::lock_guard lock(values_mutex_);
  revision->variables[*variable]->Set(std::move(value), value_changes_);
  return {};
}

}  // namespace weft
