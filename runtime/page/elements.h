// Elements of literals: written numbers become values of an element type, exactly or with an error; a store collects them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/tensor.h"

namespace weft::page {

/// A number as a document has it: whole ones exactly, others as the nearest double and the digits that were written.
struct Number {
  enum class Kind : uint8_t { kNegative, kUnsigned, kReal };
  Kind kind = Kind::kReal;
  int64_t negative = 0;
  uint64_t natural = 0;
  double real = 0;             // kReal
  std::string_view text = {};  // kReal: so that a float is rounded once, not by way of a double; may be empty
};

/// The nearest value, ties to even, in one rounding.
half ToHalf(double value);
bfloat16 ToBFloat16(double value);

/// Collects the elements of one tensor in memory of its own, so that nothing is allocated for elements that are not there.
class ElementStore {
 public:
  explicit ElementStore(DType dtype = DType::kInvalid) : dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  size_t count() const { return count_; }

  /// out_of_range where the type cannot hold the number, invalid_argument where it is not whole or the type is not numeric. Also for the
  /// real part.
  Status AddNumber(const Number& number);
  /// The same for both parts of a complex number.
  Status AddComplex(const Number& real, const Number& imaginary);
  /// invalid_argument where the type is not DT_BOOL.
  Status AddBool(bool value);
  /// invalid_argument where the type is not DT_STRING.
  Status AddString(std::string value);

  /// invalid_argument where the shape asks for another count than was added. The store is empty afterwards.
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
