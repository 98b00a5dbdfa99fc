// The places of a sparse tensor: a matrix of indices, a row for each place, into a tensor of given sizes. What the sparse blocks check of
// them, and where the places are in dense memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "weft/block/block.h"

namespace weft::blocks {

/// Of the values of a sparse tensor, where they are only moved.
inline constexpr auto kSparseTypes = kNumbers + TypeList<bool, String, ResourceHandle>{};

/// A vector of indices names places of a tensor of rank 1, and a scalar one place there, where a block allows that.
enum class PlaceForms : uint8_t { kMatrix, kAny };

struct Places {
  int64_t count = 0;
  std::vector<int64_t> size;  // of each axis of the tensor, none below 0
  std::vector<int64_t> step;  // one for each axis: the offset of a place is the sum of index * step
  DType index_type = DType::kInt64;
  const char* port = "";  // that of the indices, for errors
  int64_t offset_bytes = 0;  // of an offset for each place

  size_t rank() const { return size.size(); }
  /// "[2,3]".
  std::string SizeText() const;
  /// Steps of the dense tensor of these sizes, whose product must be the count of a valid shape.
  void SetDenseSteps();
  /// Steps of a tensor of `dense` that is stretched over these sizes: aligned at the last axis, sizes agree or are 1 there.
  bool SetStretchedSteps(const Shape& dense);
  /// invalid_argument at the port for the first place outside of the sizes. Writes the offset of each place where `offsets` is given.
  Status Check(const void* indices, int64_t* offsets, Workers& workers) const;
  /// invalid_argument for the first place that is before the one in front of it in row-major order, or, with `once`, repeats it.
  Status CheckOrder(const void* indices, bool once, const Workers& workers) const;
};

/// One sparse tensor. The shape is a vector of DT_INT64.
struct SparseValue {
  Tensor indices, values, shape;
};
/// One of these sizes with `count` places, whose indices and values are yet to be written.
Result<SparseValue> AllocateSparse(DType dtype, int64_t count, std::span<const int64_t> size, const std::shared_ptr<MemoryBudget>& budget);
void EmitSparse(ProduceContext& ctx, const auto& indices, const auto& values, const auto& shape, SparseValue value, int k = 0) {
  ctx.Emit(indices, std::move(value.indices), k);
  ctx.Emit(values, std::move(value.values), k);
  ctx.Emit(shape, std::move(value.shape), k);
}

/// What values of a type are summed in.
template <class T>
using SumType = std::conditional_t<Integer<T>, T, std::conditional_t<Complex<T>, complex128, double>>;

/// Below 0, 0 or above it where a comes before, at, or behind b in row-major order.
template <class I>
int CompareIndices(const I* a, const I* b, size_t rank) {
  for (size_t i = 0; i < rank; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

/// What MakePlaces needs to know of the ports.
struct PlaceInputs {
  const Shape& indices;
  const Shape& shape;         // the shape of the port that holds the sizes
  std::vector<int64_t> size;  // its value
  const char *indices_port, *shape_port;
};
Result<Places> MakePlaces(PlaceInputs inputs, DType index_type, PlaceForms forms);

/// The places of a sparse tensor. The block must be ShapedBy(sizes).
Result<Places> PlanPlaces(PlanContext& ctx, const auto& indices, const auto& sizes, PlaceForms forms = PlaceForms::kMatrix) {
  const bool vector = ctx.shape(sizes).rank() == 1;
  return MakePlaces({ctx.shape(indices), ctx.shape(sizes), vector ? ctx.ints(sizes) : Ints{}, indices.name, sizes.name}, ctx.dtype(indices), forms);
}

/// Refuses values that are not one for each place.
Status CheckValues(PlanContext& ctx, const Places& places, const auto& values) {
  const Shape& found = ctx.shape(values);
  if (found.rank() == 1 && found[0] == places.count) return {};
  return ctx.Error(values, "needs [", places.count, "], a value for each place in ", places.port, ", found ", found);
}

/// The same for all of indices, sizes and values.
Result<Places> PlanSparse(PlanContext& ctx, const auto& indices, const auto& values, const auto& sizes) {
  WEFT_ASSIGN_OR_RETURN(Places places, PlanPlaces(ctx, indices, sizes));
  WEFT_RETURN_IF_ERROR(CheckValues(ctx, places, values));
  return places;
}

/// "[2,3]".
std::string PlaceText(const std::vector<int64_t>& sizes);
/// The product of sizes that are 0 or more, if it can be counted.
std::optional<int64_t> ProductOf(const std::vector<int64_t>& sizes);

/// Refuses the sizes of a dense tensor whose elements cannot be counted.
Status CheckCounted(PlanContext& ctx, const Places& places, const auto& sizes) {
  if (ProductOf(places.size)) return {};
  return ctx.Error(sizes, "needs sizes whose product fits 63 bits, found ", places.SizeText());
}

/// The axis that a number names, which counts from the end where it is negative.
Result<int64_t> AxisOf(PlanContext& ctx, int64_t axis, int64_t rank, const auto& named) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return ctx.Error(named, "needs an axis in [", -rank, ", ", rank, "), found ", axis);
}

/// The elements of an input, whatever they are.
const void* BytesOf(const auto& ctx, const auto& port) { return ctx.template in<std::byte>(port).data(); }

}  // namespace weft::blocks
