#include "blocks/sparse/places.h"

#include <algorithm>
#include <span>

#include "blocks/kernels/first_where.h"
#include "blocks/kernels/index/strided_copy.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

template <class I>
std::string PlaceText(const I* index, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) text += Cat(i > 0 ? "," : "", static_cast<int64_t>(index[i]));
  return text + "]";
}

/// The first of the places [begin, end) that is outside, or -1.
template <class I>
int64_t FirstOutside(const Places& p, const I* indices, int64_t begin, int64_t end, int64_t* offsets) {
  const size_t rank = p.rank();
  const int64_t *size = p.size.data(), *step = p.step.data();
  for (int64_t place = begin; place < end; ++place) {
    const I* index = indices + place * static_cast<int64_t>(rank);
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t at = static_cast<int64_t>(index[i]);
      if (at < 0 || at >= size[i]) return place;
      if (offsets != nullptr) offset += at * step[i];
    }
    if (offsets != nullptr) offsets[place] = offset;
  }
  return -1;
}

template <class I>
Status CheckPlaces(const Places& p, const I* indices, int64_t* offsets, Workers& workers) {
  kernels::LeastFound outside;
  workers.For(p.count, 8192, [&](int64_t begin, int64_t end) { outside.Found(FirstOutside(p, indices, begin, end, offsets)); });
  if (workers.Stopped()) return kernels::RunStopped();  // not every offset was written
  const int64_t bad = outside.number();
  if (bad < 0) return {};
  const I* index = indices + bad * static_cast<int64_t>(p.rank());
  return InvalidArgument("needs indices inside ", p.SizeText(), ", found ", PlaceText(index, p.rank()), " at place ", bad)
      .WithPort(p.port);
}

Status CheckPlaceOrder(const Places& p, const auto* indices, bool once, const Workers& workers) {
  const int64_t rank = static_cast<int64_t>(p.rank());
  kernels::StopCheck stop(workers);
  for (int64_t place = 1; place < p.count; ++place) {
    if (stop(rank)) return kernels::RunStopped();
    const int order = CompareIndices(indices + (place - 1) * rank, indices + place * rank, p.rank());
    if (order < 0 || (order == 0 && !once)) continue;
    return InvalidArgument("needs places in row-major order", once ? " and each once" : "", ", found place ", place,
                           order == 0 ? " to repeat" : " out of order after", " place ", place - 1)
        .WithPort(p.port);
  }
  return {};
}

}  // namespace

std::string Places::SizeText() const { return PlaceText(size.data(), rank()); }

std::string PlaceText(const std::vector<int64_t>& sizes) { return PlaceText(sizes.data(), sizes.size()); }

std::optional<int64_t> ProductOf(const std::vector<int64_t>& sizes) {
  if (std::ranges::count(sizes, 0) > 0) return 0;
  std::optional<int64_t> product = 1;
  for (size_t i = 0; i < sizes.size() && product; ++i) product = CheckedMultiply(*product, sizes[i]);
  return product;
}

Result<SparseValue> AllocateSparse(DType dtype, int64_t count, std::span<const int64_t> size, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t rank = std::ssize(size);
  SparseValue value;
  WEFT_ASSIGN_OR_RETURN(value.indices, Tensor::Allocate(DType::kInt64, Shape{count, rank}, budget));
  WEFT_ASSIGN_OR_RETURN(value.values, Tensor::Allocate(dtype, Shape{count}, budget));
  constexpr auto kInLists = static_cast<int64_t>(2 * sizeof(SparseValue));  // what keeps many of them has at most so much for each
  WEFT_ASSIGN_OR_RETURN(value.shape, Tensor::Allocate(DType::kInt64, Shape{rank}, budget, kInLists));
  std::ranges::copy(size, value.shape.values<int64_t>().begin());
  return value;
}

void Places::SetDenseSteps() {
  if (std::ranges::count(size, 0) == 0) step = kernels::DenseSteps(size);  // else no place is inside, whatever the steps
}

bool Places::SetStretchedSteps(const Shape& dense) {
  if (static_cast<size_t>(dense.rank()) > rank()) return false;
  const size_t missing = rank() - static_cast<size_t>(dense.rank());
  const bool empty = dense.count() == 0;  // then no place is inside, whatever the steps
  int64_t steps = 1;
  for (size_t i = rank(); i-- > missing;) {
    const int64_t found = dense[static_cast<int>(i - missing)];
    if (found != size[i] && found != 1) return false;
    step[i] = found == 1 ? 0 : steps;
    if (!empty) steps *= found;
  }
  return true;
}

Status Places::Check(const void* indices, int64_t* offsets, Workers& workers) const {
  if (index_type == DType::kInt32) return CheckPlaces(*this, static_cast<const int32_t*>(indices), offsets, workers);
  return CheckPlaces(*this, static_cast<const int64_t*>(indices), offsets, workers);
}

Status Places::CheckOrder(const void* indices, bool once, const Workers& workers) const {
  if (index_type == DType::kInt32) return CheckPlaceOrder(*this, static_cast<const int32_t*>(indices), once, workers);
  return CheckPlaceOrder(*this, static_cast<const int64_t*>(indices), once, workers);
}

Result<Places> MakePlaces(PlaceInputs inputs, DType index_type, PlaceForms forms) {
  const Shape& places = inputs.indices;
  const auto fail = [](const char* port, const auto&... parts) { return InvalidArgument(parts...).WithPort(port); };
  if (forms == PlaceForms::kMatrix && places.rank() != 2) {
    return fail(inputs.indices_port, "needs a matrix with a row for each place, found shape ", places);
  }
  if (places.rank() > 2) return fail(inputs.indices_port, "needs a scalar, a vector or a matrix, found ", places);
  if (inputs.shape.rank() != 1) return fail(inputs.shape_port, "needs a vector of sizes, found ", inputs.shape);
  Places p;
  p.count = places.rank() == 0 ? 1 : places[0];
  const int64_t rank = places.rank() == 2 ? places[1] : 1;
  p.size = std::move(inputs.size);
  if (static_cast<int64_t>(p.size.size()) != rank) {
    return fail(inputs.shape_port, "needs ", rank, " sizes, as places of shape ", places, " have indices, found ", p.size.size());
  }
  for (int64_t size : p.size) {
    if (size < 0) return fail(inputs.shape_port, "needs sizes of 0 or more, found ", p.SizeText());
  }
  const auto bytes = CheckedMultiply(p.count, sizeof(int64_t));
  if (!bytes) return fail(inputs.indices_port, "needs fewer places, found ", p.count);
  p.offset_bytes = *bytes;
  p.step.resize(p.size.size());
  p.index_type = index_type;
  p.port = inputs.indices_port;
  return p;
}

}  // namespace weft::blocks
