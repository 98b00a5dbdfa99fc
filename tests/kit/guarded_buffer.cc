#include "tests/kit/guarded_buffer.h"

#include <cstring>
#include <new>

namespace weft::kit {

Status GuardedBuffer::CheckSize(DType dtype, const Shape& shape) {
  constexpr int64_t kMost = int64_t{4} << 30;
  const auto bytes = CheckedMultiply(shape.count(), static_cast<int64_t>(ElementSize(dtype)));
  if (bytes && *bytes <= kMost) return {};
  return ResourceExhausted("needs memory for ", dtype, " ", shape, ", found ", kMost, " bytes");
}

GuardedBuffer::GuardedBuffer(DType dtype, const Shape& shape, unsigned char fill) : dtype_(dtype), shape_(shape) {
  if (IsManaged(dtype)) {
    managed_ = Tensor::Allocate(dtype, shape).value();
    data_ = managed_.data();
    if (dtype == DType::kString) {
      for (std::string& text : managed_.values<std::string>()) text = Cat("not written ", int{fill});
    }
    return;
  }
  bytes_ = static_cast<size_t>(shape.count()) * ElementSize(dtype);
  raw_ = static_cast<unsigned char*>(::operator new(bytes_ + 2 * kGuard, std::align_val_t{64}));
  for (size_t i = 0; i < kGuard; ++i) raw_[i] = raw_[kGuard + bytes_ + i] = GuardByte(i);
  std::memset(raw_ + kGuard, fill, bytes_);
  data_ = raw_ + kGuard;
}

GuardedBuffer::GuardedBuffer(const Tensor& tensor) : GuardedBuffer(tensor.dtype(), tensor.shape()) {
  CopyElements(tensor.dtype(), tensor.data(), data_, tensor.count());
}

GuardedBuffer::~GuardedBuffer() {
  if (raw_ != nullptr) ::operator delete(raw_, std::align_val_t{64});
}

bool GuardedBuffer::intact() const {
  if (raw_ == nullptr) return true;
  for (size_t i = 0; i < kGuard; ++i) {
    if (raw_[i] != GuardByte(i) || raw_[kGuard + bytes_ + i] != GuardByte(i)) return false;
  }
  return true;
}

}  // namespace weft::kit
