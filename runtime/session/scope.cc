#include "weft/session/scope.h"

#include <thread>

#include "runtime/session/thread_pool.h"

namespace weft {

Runtime::Runtime(Registry registry, RuntimeOptions options)
    : registry_(std::move(registry)),
      budget_(options.memory_limit > 0 ? std::make_shared<MemoryBudget>(options.memory_limit) : MemoryBudget::ForMachine()),
      pool_(std::make_unique<ThreadPool>(options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency()))) {}

Runtime::~Runtime() = default;

int Runtime::threads() const { return pool_->threads(); }

std::shared_ptr<Scope> Scope::Open(Runtime& runtime, std::shared_ptr<const Page> page, std::string_view name, ScopeOptions options,
                                   Diagnostics& diagnostics) {
  std::shared_ptr<Scope> scope(new Scope(runtime, std::move(options)));
  scope->graph_ = Graph::Build(std::move(page), runtime.registry(), name, diagnostics);
  scope->variables_.resize(scope->graph_->variables().size());
  return scope;
}

Result<int> Scope::FindVariable(std::string_view id) const {
  WEFT_ASSIGN_OR_RETURN(int node, graph_->FindNode(id));
  int variable = graph_->node(node).variable;
  if (variable < 0 || !graph_->variable_info(variable).temporary.empty()) return NotFound("the block '", id, "' is no variable");
  return variable;
}

Result<Tensor> Scope::GetVariable(std::string_view id) const {
  WEFT_ASSIGN_OR_RETURN(int variable, FindVariable(id));
  std::lock_guard lock(values_mutex_);
  if (!variables_[variable].defined()) return FailedPrecondition("the variable has no value yet").WithBlock(id);
  return variables_[variable];
}

Status Scope::SetVariable(std::string_view id, Tensor value) {
  auto variable = FindVariable(id);
  if (!variable.ok()) return std::move(variable).status();
  DType needed = graph_->node(graph_->variables()[*variable]).output_types[0];
  if (value.dtype() != needed) return InvalidArgument("the variable needs ", needed, ", found ", value.dtype()).WithBlock(id);
  std::lock_guard lock(values_mutex_);
  variables_[*variable] = std::move(value);
  return {};
}

}  // namespace weft
