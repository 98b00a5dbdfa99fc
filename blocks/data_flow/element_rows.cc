#include "blocks/data_flow/element_rows.h"

#include <optional>

#include "blocks/array/pad.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/discard.h"

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

// A tensor of its own costs some 200 bytes and two allocations: rows of less than that share a buffer, a few so that one that stays keeps
// little alive.
constexpr int64_t kSharedBytes = 64, kRowsOfBuffer = 256;

// Of a row, beside its elements and its shape's memory: the tensor, and its part of the element that holds it. Rows without elements have
// them, too.
constexpr auto kRowBytes = static_cast<int64_t>(sizeof(Tensor) + sizeof(QueueElement) + 2 * sizeof(void*));

/// Gives the elements from `first` on, those that have just been added, their rows of a component.
Status CutComponent(const Tensor& component, int64_t first, std::vector<QueueElement>& elements, const std::shared_ptr<MemoryBudget>& budget,
                    kernels::StopCheck& stop) {
  const Shape row(component.shape().dims().subspan(1));
  const DType dtype = component.dtype();
  const int64_t row_bytes = row.count() * static_cast<int64_t>(ElementSize(dtype)), end = static_cast<int64_t>(elements.size());
  const bool managed = dtype == DType::kString || dtype == DType::kResource;
  const int64_t together = managed || row_bytes > kSharedBytes ? 1 : kRowsOfBuffer;
  const auto* from = static_cast<const std::byte*>(component.data());
  for (; first < end; first += together) {
    const int64_t count = std::min(together, end - first);
    const int64_t companions = count * (kRowBytes + row.heap_bytes());
    WEFT_ASSIGN_OR_RETURN(Tensor buffer, Tensor::Allocate(dtype, Shape{count * row.count()}, budget, companions));
    if (!CopyRow(dtype, from + first * row_bytes, buffer.data(), count * row.count(), stop)) return kernels::RunStopped();
    auto* to = static_cast<std::byte*>(buffer.data());
    for (int64_t i = 0; i < count; ++i) {
      if (stop(kRowItems)) return kernels::RunStopped();
      elements[static_cast<size_t>(first + i)].push_back(Tensor::View(dtype, row, to + i * row_bytes, buffer.owner()));
    }
  }
  return {};
}

/// A few elements after the others, so that none is far ahead of what is looked at between two of them.
Status CutSome(std::span<const Tensor> components, int64_t end, std::vector<QueueElement>& elements,
               const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
  const auto first = static_cast<int64_t>(elements.size());
  for (int64_t e = first; e < end; ++e) elements.emplace_back().reserve(components.size());
  for (const Tensor& component : components) WEFT_RETURN_IF_ERROR(CutComponent(component, first, elements, budget, stop));
  return {};
}

constexpr size_t kAhead = 16;  // elements

/// The shape that component `k` of each of these elements fits in: unknown sizes are as large as the largest.
Result<Shape> RowShape(const PartialShape& known, std::span<const QueueElement> elements, size_t k) {
  std::vector<int64_t> dims = known.dims();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (known.dim(static_cast<int>(axis)) >= 0) continue;
    dims[axis] = 0;
    for (const QueueElement& element : elements) dims[axis] = std::max(dims[axis], element[k].shape()[static_cast<int>(axis)]);
  }
  return Shape::Make(dims);
}

/// Writes a whole row: the tensor in its corner, zeros or empty strings behind it.
void PadRow(const Tensor& tensor, const Shape& row, std::byte* to, Workers& workers) {
  std::vector<FramedAxis> axes;
  for (int axis = 0; axis < row.rank(); ++axis) axes.push_back({0, tensor.shape()[axis], row[axis] - tensor.shape()[axis]});
  RunFrame(MakeFrame(std::move(axes), tensor.dtype()), static_cast<const std::byte*>(tensor.data()), to, nullptr, workers);
}

/// Component `k` of each, along a new first axis.
Result<Tensor> JoinRows(std::span<const QueueElement> elements, size_t k, const QueueSpec& spec,
                        const std::shared_ptr<MemoryBudget>& budget, Workers& workers) {
  const DType dtype = spec.types[k];
  WEFT_ASSIGN_OR_RETURN(const Shape row, RowShape(spec.shapes[k], elements, k));
  std::vector<int64_t> dims{static_cast<int64_t>(elements.size())};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  WEFT_ASSIGN_OR_RETURN(Shape joined, Shape::Make(dims));
  WEFT_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(dtype, std::move(joined), budget));
  auto* to = static_cast<std::byte*>(result.data());
  kernels::StopCheck stop(workers);
  for (size_t e = 0; e < elements.size(); ++e) {
    const QueueElement& element = elements[e];
    // Shuffled elements lie anywhere: the tensor's object first, then what it refers to.
    if (e + 2 * kAhead < elements.size()) __builtin_prefetch(&elements[e + 2 * kAhead][k]);
    if (e + kAhead < elements.size()) __builtin_prefetch(elements[e + kAhead][k].data());
    if (element[k].shape() == row) {
      if (!CopyRow(dtype, static_cast<const std::byte*>(element[k].data()), to, row.count(), stop)) return kernels::RunStopped();
    } else {
      if (stop(kRowItems)) return kernels::RunStopped();
      PadRow(element[k], row, to, workers);
    }
    to += static_cast<size_t>(row.count()) * ElementSize(dtype);
  }
  return result;
}

}  // namespace

Result<std::vector<QueueElement>> CutRows(std::span<const Tensor> components, const std::shared_ptr<MemoryBudget>& budget,
                                          const Workers& workers) {
  const int64_t rows = components.empty() ? 0 : components[0].shape()[0];
  constexpr auto kListed = static_cast<int64_t>(sizeof(QueueElement));  // in the list that they leave in
  const std::optional<int64_t> cost = CheckedMultiply(rows, kListed + std::ssize(components) * kRowBytes);
  if (!cost) return ResourceExhausted("needs memory for ", rows, " elements, more than any machine has");
  MemoryCharge room(budget);
  WEFT_RETURN_IF_ERROR(room.Hold(*cost));  // before any is made
  room.Resize(rows * kListed);             // each row counts with its elements
  std::vector<QueueElement> elements;
  const DiscardAtEnd discard(elements);
  elements.reserve(static_cast<size_t>(rows));
  kernels::StopCheck stop(workers);
  for (int64_t end = 0; end < rows;) {
    end = std::min(end + kRowsOfBuffer, rows);
    WEFT_RETURN_IF_ERROR(CutSome(components, end, elements, budget, stop));
  }
  return elements;
}

Result<QueueElement> AsOwnTensors(const QueueElement& element, const std::shared_ptr<MemoryBudget>& budget) {
  constexpr uintptr_t kAlignment = 64;  // of a Buffer's elements
  QueueElement own;
  for (const Tensor& component : element) {
    const bool aligned = reinterpret_cast<uintptr_t>(component.data()) % kAlignment == 0;
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, aligned ? Result<Tensor>(component) : component.Clone(budget));
    own.push_back(std::move(tensor));
  }
  return own;
}

Result<std::vector<Tensor>> JoinElements(std::span<const QueueElement> elements, const QueueSpec& spec,
                                         const std::shared_ptr<MemoryBudget>& budget, Workers& workers) {
  std::vector<Tensor> joined;
  for (size_t k = 0; k < spec.types.size(); ++k) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, JoinRows(elements, k, spec, budget, workers));
    joined.push_back(std::move(tensor));
  }
  return joined;
}

}  // namespace weft::blocks
