#include "blocks/data_flow/queue_blocks.h"

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr int64_t kRowItems = 128;  // simple steps that a row takes as long as, whatever is in it

/// Copies the elements of a row; false where it left since the run is to end.
bool CopyRow(DType dtype, const std::byte* from, void* to, int64_t count, kernels::StopCheck& stop) {
  const size_t size = ElementSize(dtype);
  if (stop(kRowItems)) return false;
  for (int64_t at = 0; at < count; at += kernels::kItemsBetweenLooks) {
    const int64_t part = std::min(count - at, kernels::kItemsBetweenLooks);
    if (stop(part)) return false;
    const size_t offset = static_cast<size_t>(at) * size;
    CopyElements(dtype, from + offset, static_cast<std::byte*>(to) + offset, part);
  }
  return true;
}

}  // namespace

Result<ResourceHandle> BindQueue(BindContext& ctx, const std::string& container, const std::string& shared_name, const QueueSpec& spec,
                                 std::unique_ptr<QueueStore> (*make_store)()) {
  auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Queue>(spec, make_store())); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle handle, ctx.Shared(container, shared_name, make));
  const auto* queue = dynamic_cast<const Queue*>(handle.get());
  if (queue == nullptr) {
    return InvalidArgument("needs a queue, found a ", handle->kind(), " of that name").WithPort("shared_name");
  }
  WEFT_RETURN_IF_ERROR(queue->CheckSame(spec));
  return handle;
}

Result<std::vector<QueueElement>> CutRows(std::span<const Tensor> components, const std::shared_ptr<MemoryBudget>& budget,
                                          const Workers& workers) {
  const int64_t rows = components.empty() ? 0 : components[0].shape()[0];
  // Rows without elements are tensors, too.
  const auto row_cost = static_cast<int64_t>(sizeof(QueueElement) + components.size() * sizeof(Tensor));
  if (budget != nullptr && rows > (budget->limit() - budget->used()) / row_cost) {
    return ResourceExhausted("needs room for ", rows, " elements, found a limit of ", budget->limit(), " bytes").WithPort("components");
  }
  std::vector<QueueElement> elements(static_cast<size_t>(rows));
  kernels::StopCheck stop(workers);
  for (const Tensor& component : components) {
    const Shape row(component.shape().dims().subspan(1));
    const size_t row_bytes = static_cast<size_t>(row.count()) * ElementSize(component.dtype());
    const auto* from = static_cast<const std::byte*>(component.data());
    for (QueueElement& element : elements) {
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(component.dtype(), row, budget));
      if (!CopyRow(component.dtype(), from, tensor.data(), row.count(), stop)) return kernels::RunStopped();
      element.push_back(std::move(tensor));
      from += row_bytes;
    }
  }
  return elements;
}

Result<Tensor> JoinRows(std::span<const QueueElement> elements, int k, DType dtype, const Shape& shape,
                        const std::shared_ptr<MemoryBudget>& budget, const Workers& workers) {
  std::vector<int64_t> dims{static_cast<int64_t>(elements.size())};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  WEFT_ASSIGN_OR_RETURN(Shape joined, Shape::Make(dims));
  WEFT_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(dtype, std::move(joined), budget));
  auto* to = static_cast<std::byte*>(result.data());
  kernels::StopCheck stop(workers);
  for (const QueueElement& element : elements) {
    if (!CopyRow(dtype, static_cast<const std::byte*>(element[k].data()), to, shape.count(), stop)) return kernels::RunStopped();
    to += static_cast<size_t>(shape.count()) * ElementSize(dtype);
  }
  return result;
}

}  // namespace weft::blocks
