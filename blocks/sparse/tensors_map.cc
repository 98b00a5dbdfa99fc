#include "blocks/sparse/tensors_map.h"

#include <utility>

namespace weft::blocks {

int64_t SparseTensorsMap::Add(std::vector<SparseValue> tensors) {
  Tensors added;  // made first: what fails then leaves the map as it was
  for (SparseValue& tensor : tensors) added.emplace_hint(added.end(), static_cast<int64_t>(added.size()), std::move(tensor));
  std::lock_guard lock(mutex_);
  const int64_t first = next_;
  while (!added.empty()) {
    auto node = added.extract(added.begin());
    node.key() = next_++;
    tensors_.insert(tensors_.end(), std::move(node));
  }
  return first;
}

Result<std::vector<SparseValue>> SparseTensorsMap::Take(std::span<const int64_t> numbers) {
  const auto fail = [&](size_t i) {
    return InvalidArgument("needs numbers of tensors in the map, each once, found ", numbers[i], " at position ", i);
  };
  std::lock_guard lock(mutex_);
  // Before memory is taken for them: what is asked for may be much more than there is.
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i == tensors_.size() || !tensors_.contains(numbers[i])) return fail(i);
  }
  std::vector<SparseValue> taken(numbers.size());
  std::vector<Tensors::node_type> nodes(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    nodes[i] = tensors_.extract(numbers[i]);
    if (!nodes[i].empty()) continue;
    for (size_t k = 0; k < i; ++k) tensors_.insert(std::move(nodes[k]));
    return fail(i);
  }
  for (size_t i = 0; i < numbers.size(); ++i) taken[i] = std::move(nodes[i].mapped());
  return taken;
}

Status SparseTensorsMap::Save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  out.PutText(kKind);
  out.PutSigned(next_);
  out.Put(tensors_.size());
  for (const auto& [number, tensor] : tensors_) {
    out.PutSigned(number);
    for (const Tensor* part : {&tensor.indices, &tensor.values, &tensor.shape}) WEFT_RETURN_IF_ERROR(out.PutTensor(*part));
  }
  return {};
}

Result<std::function<void()>> SparseTensorsMap::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string kind, in.Text());
  if (kind != kKind) return InvalidArgument("needs the state of a ", kKind, ", found that of a ", kind);
  WEFT_ASSIGN_OR_RETURN(const int64_t next, in.Signed());
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  auto tensors = std::make_shared<Tensors>();
  for (uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const int64_t number, in.Signed());
    SparseValue tensor;
    for (Tensor* part : {&tensor.indices, &tensor.values, &tensor.shape}) {
      WEFT_ASSIGN_OR_RETURN(*part, in.ReadTensor());
    }
    const bool fits = tensor.indices.dtype() == DType::kInt64 && tensor.indices.shape().rank() == 2 && tensor.values.shape().rank() == 1 &&
                      tensor.shape.dtype() == DType::kInt64 && tensor.shape.shape().rank() == 1;
    if (!fits || number < 0 || number >= next || !tensors->emplace(number, std::move(tensor)).second) {
      return InvalidArgument("needs sparse tensors under numbers from 0 to ", next, ", found another one under ", number);
    }
  }
  return std::function<void()>([this, tensors = std::move(tensors), next] {
    std::lock_guard lock(mutex_);
    tensors_.swap(*tensors);
    next_ = next;
  });
}

void SparseTensorsMap::Reset() {
  std::lock_guard lock(mutex_);
  tensors_.clear();
  next_ = 0;
}

}  // namespace weft::blocks
