// The arithmetic of sums over shards: types, and loops over elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "weft/base/tensor.h"

namespace weft {

/// What elements are added as, and travel as. Complex numbers are two of them.
enum class SumType : uint8_t { kFloat, kDouble, kInteger };
size_t SizeOf(SumType type);

/// How values of a type are added: half and bfloat16 as float, integers in 64 bits, as which they wrap. Absent for types that cannot be.
struct SumForm {
  SumType type;
  int parts = 1;  // of an element: 2 of complex numbers
  /// Whether the sum's elements are the value's, bit for bit.
  bool same = true;
};
std::optional<SumForm> SumFormOf(DType dtype);

/// What becomes of the values of the shards.
enum class JoinKind : uint8_t { kMean, kSum };

/// A value's elements, into those of a sum.
void StoreElements(const Tensor& from, void* sum);
/// sum = a + b, for `count` elements of the sum from `first` on; `sum` points at the first of them.
void SumElements(const Tensor& a, const Tensor& b, int64_t first, int64_t count, void* sum);
/// to += from.
void AddSums(SumType type, const void* from, void* to, int64_t count);
/// Divides by how many there are.
void DivideSums(SumType type, void* sum, int64_t count, int by);
/// The sum's elements as the value's, rounded once.
void RoundElements(const void* sum, Tensor& to);

}  // namespace weft
