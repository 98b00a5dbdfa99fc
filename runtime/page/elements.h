// Elements of literals: converts written numbers to an element type, exactly or with an error, and collects them into a tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/tensor.h"

namespace weft::page {

/// A number of a document: integers exactly, others as the nearest double together with the digits as written.
struct Number {
  enum class Kind : uint8_t { kNegative, kUnsigned, kReal };
  Kind kind = Kind::kReal;
  int64_t negative = 0;
  uint64_t natural = 0;
  double real = 0;             // kReal
  std::string_view text = {};  // kReal: the digits, so that a float is rounded once and not through a double; may be empty
};

/// The nearest value, ties to even, in one rounding.
half ToHalf(double value);
bfloat16 ToBFloat16(double value);

/// Collects the elements of one tensor. Memory grows with the elements added, not with the shape that a document claims.
class ElementStore {
 public:
  explicit ElementStore(DType dtype = DType::kInvalid) : dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  size_t count() const { return count_; }

  /// out_of_range where the type cannot represent the number, invalid_argument where the type is integer and the number is not, or the
  /// type is not numeric. Of complex types the imaginary part is 0.
  Status AddNumber(const Number& number);
  /// The same for both parts of a complex number.
  Status AddComplex(const Number& real, const Number& imaginary);
  /// invalid_argument where the type is not DT_BOOL.
  Status AddBool(bool value);
  /// invalid_argument where the type is not DT_STRING.
  Status AddString(std::string value);

  /// The tensor; the store is empty afterwards. invalid_argument where the shape has another number of elements than were added.
  Result<Tensor> Take(const Shape& shape);

 private:
  template <class T>
  void Push(T value);

  DType dtype_;
  size_t count_ = 0;
  std::string bytes_;                 // plain types
  std::vector<std::string> strings_;  // DT_STRING
};

}  // namespace weft::page
