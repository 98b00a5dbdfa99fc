// Shape: the sizes of a tensor's dimensions. PartialShape: a shape of which rank or sizes may be unknown. Both are values.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weft/base/status.h"

namespace weft {

/// TensorFlow's limit on the rank of a tensor.
inline constexpr int kMaxRank = 254;

/// Sizes in row-major order, each >= 0; when made by Make, their product fits an int64_t. Rank 0 is a scalar. Up to kInline dimensions are
/// stored in the object, more in allocated memory.
class Shape {
 public:
  static constexpr int kInline = 6;

  Shape() = default;
  /// For sizes known to be valid (tests, and sizes derived from valid shapes); input goes through Make.
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  Shape(const Shape& other) : rank_(other.rank_) {
    if (rank_ > kInline) CopyHeap(other);
    else CopyInline(other);
  }
  Shape(Shape&& other) noexcept : rank_(other.rank_) {
    CopyInline(other);  // also copies heap_, which shares this memory
    other.rank_ = 0;
  }
  Shape& operator=(const Shape& other) {
    if (rank_ > kInline || other.rank_ > kInline) return *this = Shape(other);
    rank_ = other.rank_;
    CopyInline(other);
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Shape() {
    if (rank_ > kInline) delete[] heap_;
  }

  /// invalid_argument where a size is negative, the rank is over kMaxRank, or the element count overflows.
  static Result<Shape> Make(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  bool scalar() const { return rank_ == 0; }
  int64_t dim(int i) const { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  std::span<const int64_t> dims() const { return {data(), static_cast<size_t>(rank_)}; }
  /// The number of elements; 1 for a scalar.
  int64_t count() const;
  /// The product of dims [begin, end).
  int64_t count(int begin, int end) const;
  void set_dim(int i, int64_t size) { data()[i] = size; }
  /// Of memory outside of the object.
  int64_t heap_bytes() const { return rank_ > kInline ? rank_ * static_cast<int64_t>(sizeof(int64_t)) : 0; }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  const int64_t* data() const { return rank_ > kInline ? heap_ : inline_; }
  int64_t* data() { return rank_ > kInline ? heap_ : inline_; }
  void Swap(Shape& other) noexcept;
  void CopyHeap(const Shape& other);
  void CopyInline(const Shape& other) {
    int64_t copy[kInline];  // allows self-assignment, and compiles to loads and stores of whole registers
    std::memcpy(copy, other.inline_, sizeof copy);
    std::memcpy(inline_, copy, sizeof copy);
  }

  int rank_ = 0;
  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
};

/// "[2,3]"; "[]" for a scalar.
std::string ToString(const Shape& shape);

/// A shape whose rank, or some of whose sizes (-1), may be unknown.
class PartialShape {
 public:
  PartialShape() = default;  // nothing known
  PartialShape(const Shape& shape) : known_rank_(true), dims_(shape.dims().begin(), shape.dims().end()) {}
  /// Sizes of -1 are unknown. invalid_argument as for Shape::Make.
  static Result<PartialShape> Make(std::vector<int64_t> dims);

  bool known_rank() const { return known_rank_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  const std::vector<int64_t>& dims() const { return dims_; }
  /// Whether every size is known.
  bool complete() const;
  /// The shape, where complete.
  std::optional<Shape> shape() const;
  /// Whether a tensor of `shape` has this shape.
  bool Accepts(const Shape& shape) const;

  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  bool known_rank_ = false;
  std::vector<int64_t> dims_;
};

/// "?" for unknown rank, "[?,3]" with an unknown size.
std::string ToString(const PartialShape& shape);

/// a * b, or nullopt where that overflows. Both must be >= 0.
std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b);

}  // namespace weft
