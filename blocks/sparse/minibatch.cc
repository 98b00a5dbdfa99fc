#include "blocks/sparse/minibatch.h"

#include <algorithm>

#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

/// The places [begin, end) as a tensor without the first axis.
Result<SparseValue> Element(const Minibatch& batch, const int64_t* indices, const void* values, int64_t begin, int64_t end,
                            Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t count = end - begin, rank = static_cast<int64_t>(batch.places.rank()) - 1;
  WEFT_ASSIGN_OR_RETURN(SparseValue element, AllocateSparse(batch.dtype, count, std::span(batch.places.size).subspan(1), budget));
  int64_t* to = element.indices.values<int64_t>().data();
  kernels::ForEach(workers, count, 65536, [&](int64_t i) {
    const int64_t* from = indices + (begin + i) * (rank + 1) + 1;
    std::copy(from, from + rank, to + i * rank);
  });
  const auto* from = static_cast<const std::byte*>(values) + begin * static_cast<int64_t>(ElementSize(batch.dtype));
  MovesOf(batch.dtype).CopyLong(from, element.values.data(), count, workers);
  return element;
}

/// Whether it can be one of those that are stacked.
Status CheckStacked(const SparseValue& tensor, DType dtype, const Shape& first, const char* port) {
  const auto fail = [&](const auto&... parts) { return InvalidArgument(parts...).WithPort(port); };
  const Shape &indices = tensor.indices.shape(), &values = tensor.values.shape(), &shape = tensor.shape.shape();
  if (tensor.indices.dtype() != DType::kInt64 || indices.rank() != 2) return fail("needs a matrix of DT_INT64 as indices, found ", indices);
  if (tensor.shape.dtype() != DType::kInt64 || shape.rank() != 1 || shape[0] != indices[1]) {
    return fail("needs a shape of ", indices[1], " sizes of DT_INT64, as indices ", indices, " have columns, found ", shape);
  }
  if (tensor.values.dtype() != dtype) {
    return fail("needs values of ", DTypeName(dtype), ", as dtype says, found ", DTypeName(tensor.values.dtype()));
  }
  if (values.rank() != 1 || values[0] != indices[0]) return fail("needs [", indices[0], "] values, one for each place, found ", values);
  if (shape != first) return fail("needs tensors of one rank, found ranks ", first[0], " and ", shape[0]);
  const auto sizes = tensor.shape.values<int64_t>();
  if (std::ranges::any_of(sizes, [](int64_t size) { return size < 0; })) {
    return fail("needs sizes of 0 or more, found ", ToString(tensor.shape));
  }
  return {};
}

}  // namespace

Status Minibatch::ForElements(const int64_t* indices, const void* values, Workers& workers, const std::shared_ptr<MemoryBudget>& budget,
                              FunctionRef<Status(int64_t, SparseValue)> take) const {
  WEFT_RETURN_IF_ERROR(places.Check(indices, nullptr, workers));
  WEFT_RETURN_IF_ERROR(places.CheckOrder(indices, true, workers));
  const int64_t rank = static_cast<int64_t>(places.rank());
  kernels::StopCheck stop(workers);
  int64_t begin = 0;
  for (int64_t k = 0; k < elements(); ++k) {
    int64_t end = begin;
    while (end < places.count && indices[end * rank] == k) ++end;
    if (stop(256 + (end - begin) * (rank + 8))) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(SparseValue element, Element(*this, indices, values, begin, end, workers, budget));
    WEFT_RETURN_IF_ERROR(take(k, std::move(element)));
    begin = end;
  }
  return {};
}

void SetStackedShapes(PlanContext& ctx) {
  ctx.set_unknown(stacked::indices, 0, PartialShape::Make({-1, -1}).value());
  ctx.set_unknown(stacked::values, 0, PartialShape::Make({-1}).value());
  ctx.set_unknown(stacked::shape, 0, PartialShape::Make({-1}).value());
}

Status EmitStacked(std::span<const SparseValue> tensors, DType dtype, const char* port, ProduceContext& ctx) {
  if (tensors.empty()) return InvalidArgument("needs 1 tensor or more, found none").WithPort(port);
  int64_t count = 0;
  for (const SparseValue& tensor : tensors) {
    WEFT_RETURN_IF_ERROR(CheckStacked(tensor, dtype, tensors[0].shape.shape(), port));
    count += tensor.values.count();
  }
  const int64_t rank = tensors[0].shape.count();
  if (auto shape = Shape::Make(Ints{count, rank + 1}); !shape.ok()) return std::move(shape).status().WithPort(port);
  std::vector<int64_t> size(static_cast<size_t>(rank) + 1);
  size[0] = static_cast<int64_t>(tensors.size());
  for (const SparseValue& tensor : tensors) {
    for (size_t i = 1; i < size.size(); ++i) size[i] = std::max(size[i], tensor.shape.values<int64_t>()[i - 1]);
  }
  if (!ProductOf(size)) {
    return InvalidArgument("needs tensors whose stack has sizes with a product that fits 63 bits, found ", PlaceText(size)).WithPort(port);
  }
  WEFT_ASSIGN_OR_RETURN(SparseValue all, AllocateSparse(dtype, count, size, ctx.services().budget));
  int64_t* index = all.indices.values<int64_t>().data();
  auto* value = static_cast<std::byte*>(all.values.data());
  for (size_t k = 0; k < tensors.size() && !ctx.cancelled(); ++k) {
    const SparseValue& tensor = tensors[k];
    const int64_t* from = tensor.indices.values<int64_t>().data();
    const int64_t own = tensor.values.count();
    kernels::ForEach(ctx.workers(), own, 65536, [&](int64_t i) {
      index[i * (rank + 1)] = static_cast<int64_t>(k);
      std::copy(from + i * rank, from + (i + 1) * rank, index + i * (rank + 1) + 1);
    });
    MovesOf(dtype).CopyLong(tensor.values.data(), value, own, ctx.workers());
    index += own * (rank + 1);
    value += own * static_cast<int64_t>(ElementSize(dtype));
  }
  if (ctx.cancelled()) return kernels::RunStopped();
  EmitSparse(ctx, stacked::indices, stacked::values, stacked::shape, std::move(all));
  return {};
}

}  // namespace weft::blocks
