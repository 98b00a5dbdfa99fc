// Tensors that a checkpoint holds whole or in parts: what is to be written, and what is read put together.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "blocks/io/checkpoint/slice.h"
#include "weft/base/tensor.h"
#include "weft/base/workers.h"

namespace weft::blocks::checkpoint {

/// A part of a tensor, and the shape of all of it.
struct PartSpec {
  Shape whole;
  TensorSlice slice;
};

/// Reads "4 3 0,2:-": the whole's shape, then each axis's start and length (-: all). invalid_argument where it is none or does not fit.
Result<PartSpec> ParsePartSpec(std::string_view text);

/// A tensor, or a part of one, to be saved.
struct NamedTensor {
  std::string name;
  Tensor tensor;
  std::optional<PartSpec> part = {};  // that `tensor` holds; nothing where it is whole

  const Shape& whole() const { return part ? part->whole : tensor.shape(); }
  TensorSlice slice() const { return part ? part->slice : TensorSlice::Whole(tensor.shape().rank()); }
};

/// invalid_argument where a tensor, or a part of one, comes twice, or tensors of one name are not parts of one whole.
Status CheckNames(std::span<const NamedTensor> tensors);

/// What ReadParts needs to know. `most_elements`: no honest files hold more.
struct PartsRead {
  std::string_view name;
  DType dtype;
  const Shape& whole;
  uint64_t most_elements;
  const Workers* workers;  // may be null
  const std::shared_ptr<MemoryBudget>& budget;
};

/// A part of a tensor out of the pieces in which it was saved: box(k) is the place of piece k, read(k, elements) fills memory with its
/// elements. invalid_argument: the part does not fit, or the pieces do not hold all of it; data_loss: they overlap, or cannot be so large.
Result<Tensor> ReadParts(const PartsRead& from, const TensorSlice& part, size_t pieces, FunctionRef<const Box&(size_t)> box,
                         FunctionRef<Status(size_t, void*)> read);

}  // namespace weft::blocks::checkpoint
