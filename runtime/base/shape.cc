#include "weft/base/shape.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

std::string DimsText(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ",";
    if (dims[i] < 0) out += "?";
    else out += std::to_string(dims[i]);
  }
  return out + "]";
}

// A size of 0 counts as 1 in the product, so that [0, huge, huge] is rejected, as in TensorFlow.
Status CheckDims(std::span<const int64_t> dims, int64_t lowest) {
  if (dims.size() > kMaxRank) return InvalidArgument("needs a rank of at most ", kMaxRank, ", found ", dims.size());
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < lowest && dims.size() == 1) return InvalidArgument("needs sizes of 0 or more, found ", dim);
    if (dim < lowest) return InvalidArgument("needs sizes of 0 or more, found ", dim, " among ", dims.size(), " sizes");
    auto product = CheckedMultiply(count, std::max<int64_t>(dim, 1));
    if (!product) return InvalidArgument("the element count of ", DimsText(dims), " is more than 2^63");
    count = *product;
  }
  return {};
}

}  // namespace

std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  if (rank_ > kInline) heap_ = new int64_t[dims.size()];
  std::copy(dims.begin(), dims.end(), data());
}

Result<Shape> Shape::Make(std::span<const int64_t> dims) {
  WEFT_RETURN_IF_ERROR(CheckDims(dims, 0));
  return Shape(dims);
}

void Shape::CopyHeap(const Shape& other) {
  heap_ = new int64_t[static_cast<size_t>(rank_)];
  std::copy(other.dims().begin(), other.dims().end(), heap_);
}

void Shape::Swap(Shape& other) noexcept {
  std::swap(rank_, other.rank_);
  int64_t copy[kInline];
  std::memcpy(copy, inline_, sizeof copy);
  std::memcpy(inline_, other.inline_, sizeof copy);
  std::memcpy(other.inline_, copy, sizeof copy);
}

int64_t Shape::count() const { return count(0, rank_); }

int64_t Shape::count(int begin, int end) const {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= dim(i);
  return product;
}

std::string ToString(const Shape& shape) { return DimsText(shape.dims()); }

Result<PartialShape> PartialShape::Make(std::vector<int64_t> dims) {
  WEFT_RETURN_IF_ERROR(CheckDims(dims, -1));
  PartialShape result;
  result.known_rank_ = true;
  result.dims_ = std::move(dims);
  return result;
}

bool PartialShape::complete() const {
  return known_rank_ && std::all_of(dims_.begin(), dims_.end(), [](int64_t d) { return d >= 0; });
}

std::optional<Shape> PartialShape::shape() const {
  if (!complete()) return std::nullopt;
  return Shape(std::span<const int64_t>(dims_));
}

bool PartialShape::Accepts(const Shape& shape) const {
  if (!known_rank_) return true;
  if (shape.rank() != rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dims_[i] >= 0 && dims_[i] != shape[i]) return false;
  }
  return true;
}

std::string ToString(const PartialShape& shape) { return shape.known_rank() ? DimsText(shape.dims()) : "?"; }

}  // namespace weft
