// Memory for tests: elements between guard bytes, filled before use with bytes that are a NaN in every float type.
#pragma once

#include <memory>
#include <string>

#include "weft/base/tensor.h"

namespace weft::kit {

/// Elements aligned to 64 bytes. Reading outside them finds NaNs (or negative integers), writing outside them is found by intact();
/// AddressSanitizer finds both where it happens.
/// Strings and handles have no guards, but start with a value that no block gives.
class GuardedBuffer {
 public:
  static constexpr unsigned char kNaNFill = 0xFF;
  static constexpr int64_t kMostBytes = int64_t{4} << 30;

  /// resource_exhausted, as the engine has it, where elements take more memory than a test may have.
  static Status CheckSize(DType dtype, const Shape& shape, int64_t most = kMostBytes);

  /// For sizes that pass CheckSize. `fill`: the byte that elements are made of until they are written.
  GuardedBuffer(DType dtype, const Shape& shape, unsigned char fill = kNaNFill);
  /// A copy of the tensor's elements.
  explicit GuardedBuffer(const Tensor& tensor);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  void* data() const { return data_; }
  bool intact() const;
  /// A tensor over the memory; lives as long as the buffer.
  Tensor view() const { return Tensor::View(dtype_, shape_, data_, nullptr); }

 private:
  static constexpr size_t kGuard = 128;
  static unsigned char GuardByte(size_t i) { return i % 2 == 0 ? 0xFD : 0xFF; }

  DType dtype_;
  Shape shape_;
  size_t bytes_ = 0;
  unsigned char* raw_ = nullptr;  // guard, elements, guard
  Tensor managed_;                // strings and handles
  void* data_ = nullptr;
};

}  // namespace weft::kit
