// What the blocks of an optimiser share: Apply..., ResourceApply..., SparseApply... and ResourceSparseApply... come from one declaration.
#pragma once

#include <vector>

#include "blocks/kernels/optimise/optimisers.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// An input of an optimiser's blocks.
struct OptimiserInput {
  enum class Role : uint8_t {
    kValue,     // the variable, first, or a slot
    kScalar,
    kGradient,  // in the sparse blocks the indices of its rows come next
    kStep,      // an int64 scalar
  };
  enum class Limit : uint8_t { kNone, kPositive, kNotNegative, kNotPositive };
  Role role;
  const char *name, *doc;
  Limit limit = Limit::kNone;         // of a scalar, in the dense blocks
  Limit sparse_limit = Limit::kNone;  // and in the sparse ones
};

struct OptimiserOption {
  const char *name = nullptr, *initial = nullptr, *doc = nullptr;
};

/// All that the four blocks of an optimiser have in common.
struct OptimiserBlocks {
  const char *name, *summary;  // "Adam", and a sentence without its end
  kernels::Optimiser optimiser;
  std::vector<OptimiserInput> inputs;
  std::vector<DType> types;
  OptimiserOption option = {};
  bool needs_wide_rows = false;  // the sparse blocks refuse rows without elements, as TensorFlow's do
};

/// Which of the four.
struct OptimiserForm {
  bool sparse, resource;
};

BlockDef DeclareOptimiser(OptimiserBlocks blocks, OptimiserForm form);

}  // namespace weft::blocks
