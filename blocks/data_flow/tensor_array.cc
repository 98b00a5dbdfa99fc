#include "blocks/data_flow/tensor_array.h"

#include <algorithm>

#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/float16.h"

namespace weft::blocks {
namespace {

constexpr auto kAddable = kNumbers;

/// to[i] += from[i]
template <class T>
void AddElements(const T* from, T* to, int64_t n, Workers& workers) {
  kernels::ForEach(workers, n, int64_t{1} << 16, [&](int64_t i) {
    using A = Accumulator<T>;
    to[i] = static_cast<T>(WrapAdd(static_cast<A>(to[i]), static_cast<A>(from[i])));
  });
}

Status Add(const Tensor& value, Tensor& sum, Workers& workers) {
  const bool added = Dispatch(sum.dtype(), kAddable, [&]<class T>() {
    AddElements(value.values<T>().data(), sum.values<T>().data(), sum.count(), workers);
    return true;
  });
  if (added) return {};
  return InvalidArgument("is the second value of an element of a gradient, which needs a type that can be added, found ", sum.dtype())
      .WithPort("value");
}

/// What two shapes have in common; nullopt where no shape fits both.
std::optional<PartialShape> Merged(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank()) return b;
  if (!b.known_rank()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  std::vector<int64_t> dims = a.dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0 && b.dims()[i] >= 0 && dims[i] != b.dims()[i]) return std::nullopt;
    dims[i] = std::max(dims[i], b.dims()[i]);
  }
  Result<PartialShape> merged = PartialShape::Make(std::move(dims));
  return merged.ok() ? std::optional(std::move(*merged)) : std::nullopt;
}

}  // namespace

Status TensorArray::CheckOpen() const {
  if (!closed_) return {};
  return InvalidArgument("needs an array that is open, found one that was closed").WithPort("handle");
}

Status TensorArray::CheckIndex(int64_t index) const {
  WEFT_RETURN_IF_ERROR(CheckOpen());
  if (index >= 0 && (index < size_ || spec_.dynamic_size)) return {};
  return InvalidArgument("needs an index in [0, ", size_, "), found ", index)
      .WithHint(index < 0 ? "" : "make the array larger, or set dynamic_size_ = true");
}

Result<int64_t> TensorArray::size() const {
  const std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(CheckOpen());
  return size_;
}

PartialShape TensorArray::element_shape() const {
  const std::lock_guard lock(mutex_);
  return spec_.element_shape;
}

Status TensorArray::NarrowShape(const PartialShape& shape) {
  const std::lock_guard lock(mutex_);
  std::optional<PartialShape> merged = Merged(spec_.element_shape, shape);
  if (!merged) return InvalidArgument("needs the shape of the array's elements, ", spec_.element_shape, ", found ", shape);
  spec_.element_shape = std::move(*merged);
  return {};
}

Status TensorArray::Extend(int64_t size) {
  const std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(CheckOpen());
  if (size <= size_) return {};
  if (!spec_.dynamic_size) return CheckIndex(size - 1);
  size_ = size;
  return {};
}

// The element, which may be new.
Result<TensorArray::Element*> TensorArray::Touch(int64_t index) {
  constexpr int64_t kEntry = sizeof(Element) + 4 * sizeof(void*);  // with its node in the table
  const auto found = elements_.find(index);
  if (found != elements_.end()) return &found->second;
  WEFT_RETURN_IF_ERROR(charge_.Hold(charge_.bytes() + kEntry));
  return &elements_[index];
}

// The element has a value of this shape from now on.
Status TensorArray::MarkWritten(Element& element, const Shape& shape) {
  if (element.written) return {};
  WEFT_RETURN_IF_ERROR(charge_.Hold(charge_.bytes() + shape.heap_bytes()));
  element.shape = shape;
  element.written = true;
  return {};
}

Status TensorArray::Write(int64_t index, const Tensor& value, Workers& workers) {
  const std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(CheckIndex(index));
  if (!spec_.element_shape.Accepts(value.shape())) {
    return InvalidArgument("needs the shape of the array's elements, ", spec_.element_shape, ", found ", value.shape()).WithPort("value");
  }
  WEFT_ASSIGN_OR_RETURN(Element * element, Touch(index));
  if (element->read) return InvalidArgument("needs an element that was not read yet, found ", index, ", which was");
  if (element->written && !sums_) return InvalidArgument("needs an element that was not written yet, found ", index, ", which was");
  if (element->written && element->shape != value.shape()) {
    return InvalidArgument("needs ", element->shape, ", the shape of element ", index, ", found ", value.shape()).WithPort("value");
  }
  size_ = std::max(size_, index + 1);
  if (element->tensor.defined()) {
    summed_ = true;
    return Add(value, element->tensor, workers);
  }
  WEFT_ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(spec_.dtype, value.shape(), budget_));
  WEFT_RETURN_IF_ERROR(MarkWritten(*element, value.shape()));
  MovesOf(spec_.dtype).CopyLong(value.data(), copy.data(), value.count(), workers);
  element->tensor = std::move(copy);
  if (spec_.identical_shapes && !spec_.element_shape.complete()) spec_.element_shape = value.shape();
  return {};
}

Result<Tensor> TensorArray::Read(int64_t index, Workers& workers) {
  const std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || index >= size_) return InvalidArgument("needs an index in [0, ", size_, "), found ", index);
  WEFT_ASSIGN_OR_RETURN(Element * element, Touch(index));
  if (element->cleared) {
    return InvalidArgument("needs an element that was not read yet, found ", index, ", which was")
        .WithHint("set clear_after_read_ = false to read elements more than once");
  }
  if (!element->written) {
    const std::optional<Shape> shape = spec_.element_shape.shape();
    if (!shape) {
      return InvalidArgument("needs an element that was written, found ", index, ", which was not, and whose shape is not known in full")
          .WithHint("where element_shape_ is known in full, such an element is zero");
    }
    WEFT_RETURN_IF_ERROR(MarkWritten(*element, *shape));
  }
  if (!element->tensor.defined()) {
    if (IsManaged(spec_.dtype)) return InvalidArgument("needs an element that was written, found ", index, ", which was not");
    WEFT_ASSIGN_OR_RETURN(element->tensor, Tensor::Allocate(spec_.dtype, element->shape, budget_));
    MovesOf(spec_.dtype).FillLong(element->tensor.data(), element->tensor.count(), nullptr, workers);
  }
  element->read = true;
  element->cleared = spec_.clear_after_read;
  if (!element->cleared) return element->tensor;
  return std::exchange(element->tensor, Tensor());
}

void TensorArray::Close() {
  const std::lock_guard lock(mutex_);
  elements_.clear();
  charge_.Resize(0);
  closed_ = true;
}

void TensorArray::EndRun() noexcept {
  Close();
  const std::lock_guard lock(mutex_);
  for (auto& [source, gradient] : gradients_) gradient->EndRun();
  gradients_.clear();
}

// What was written to has a gradient of its shape, which is zero until something is written to that.
Status TensorArray::TakeShapes(const TensorArray& from, const Workers& workers) {
  constexpr int64_t kItemsOfEntry = 64;
  kernels::StopCheck stop(workers);
  for (const auto& [index, element] : from.elements_) {
    if (stop(kItemsOfEntry)) return kernels::RunStopped();
    if (!element.written) continue;
    WEFT_ASSIGN_OR_RETURN(Element * own, Touch(index));
    WEFT_RETURN_IF_ERROR(MarkWritten(*own, element.shape));
  }
  return {};
}

Result<std::shared_ptr<TensorArray>> TensorArray::Gradient(const std::string& source, const Workers& workers) {
  const std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(CheckOpen());
  if (sums_) return InvalidArgument("needs an array that is no gradient itself, found the gradient of another").WithPort("handle");
  if (summed_) return InvalidArgument("needs an array whose elements were written once, found one that was written twice").WithPort("handle");
  spec_.dynamic_size = false;
  if (const auto known = gradients_.find(source); known != gradients_.end()) return known->second;
  TensorArraySpec spec = spec_;
  spec.clear_after_read = true;
  auto made = std::make_shared<TensorArray>(std::move(spec), size_, budget_);
  made->sums_ = true;
  WEFT_RETURN_IF_ERROR(made->TakeShapes(*this, workers));
  gradients_.emplace(source, made);  // now that it is whole
  return made;
}

}  // namespace weft::blocks
