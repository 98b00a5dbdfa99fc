#include "runtime/host/ranks/shard_start.h"

#include "runtime/state/variable_store.h"
#include "weft/block/stored_state.h"

namespace weft {
namespace {

Status SetFirstValue(Scope& scope, size_t variable, const Tensor& like, const std::string& bytes) {
  WEFT_ASSIGN_OR_RETURN(Tensor fresh, Tensor::Allocate(like.dtype(), like.shape(), scope.budget()));
  WEFT_RETURN_IF_ERROR(ReadElements(bytes, fresh, scope.budget()));
  VariableAccess access(scope.variables());
  scope.revision()->variables[variable]->Set(std::move(fresh), access);
  return {};
}

}  // namespace

Status TakeFirstValues(Scope& scope, Collectives& collectives, Status& own) {
  const std::shared_ptr<Revision> revision = scope.revision();
  const Graph& graph = *revision->graph;
  for (size_t v = 0; v < revision->variables.size(); ++v) {
    Tensor value;
    {
      const VariableAccess access(scope.variables());
      value = revision->variables[v]->value(access);
    }
    const std::string& id = graph.node(graph.variables()[v]).id;
    std::string bytes;
    if (value.defined() && value.dtype() != DType::kResource) AppendElements(value, bytes);
    WEFT_RETURN_IF_ERROR(BroadcastText(collectives, CollectiveUser::kControl, 0, bytes, Cat("for the first value of '", id, "'")));
    if (collectives.rank() == 0 || !value.defined() || value.dtype() == DType::kResource || !own.ok()) continue;
    if (own = SetFirstValue(scope, v, value, bytes); !own.ok()) own = std::move(own).WithBlock(id);
  }
  return {};
}

}  // namespace weft
