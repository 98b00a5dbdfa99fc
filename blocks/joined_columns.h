// Several tensors side by side in one: how Concat, Stack, Split, Unstack and their gradients see them.
#pragma once

#include <vector>

#include "blocks/element_moves.h"

namespace weft::blocks {

/// A tensor of `rows` rows whose columns are shared out among parts: part k has those from first[k] to first[k + 1] - 1.
struct JoinedColumns {
  int64_t rows = 1;
  std::vector<int64_t> first = {0};  // a number more than there are parts
  const ElementMoves* moves = nullptr;

  int64_t width() const { return first.back(); }
  int64_t width(size_t part) const { return first[part + 1] - first[part]; }
  void AddPart(int64_t columns) { first.push_back(first.back() + columns); }
};

/// Writes the whole tensor from its parts.
void JoinColumns(const JoinedColumns& columns, FunctionRef<const std::byte*(size_t)> part, std::byte* whole, Workers& workers);

/// Writes the parts.
void SplitColumns(const JoinedColumns& columns, const std::byte* whole, FunctionRef<std::byte*(size_t)> part, Workers& workers);

}  // namespace weft::blocks
