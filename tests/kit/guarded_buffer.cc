#include "tests/kit/guarded_buffer.h"

#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (void)(address)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (void)(address)
#endif

namespace weft::kit {

Status GuardedBuffer::CheckSize(DType dtype, const Shape& shape, int64_t most) {
  const auto bytes = CheckedMultiply(shape.count(), static_cast<int64_t>(ElementSize(dtype)));
  if (bytes && *bytes <= most) return {};
  return ResourceExhausted("needs memory for ", dtype, " ", shape, ", found ", most, " bytes");
}

GuardedBuffer::GuardedBuffer(DType dtype, const Shape& shape, unsigned char fill) : dtype_(dtype), shape_(shape) {
  if (IsManaged(dtype)) {
    managed_ = Tensor::Allocate(dtype, shape).value();
    data_ = managed_.data();
    if (dtype == DType::kString) {
      for (String& text : managed_.values<String>()) text = Cat("not written ", int{fill});
    }
    return;
  }
  bytes_ = static_cast<size_t>(shape.count()) * ElementSize(dtype);
  raw_ = static_cast<unsigned char*>(::operator new(bytes_ + 2 * kGuard, std::align_val_t{64}));
  for (size_t i = 0; i < kGuard; ++i) raw_[i] = raw_[kGuard + bytes_ + i] = GuardByte(i);
  std::memset(raw_ + kGuard, fill, bytes_);
  data_ = raw_ + kGuard;
  ASAN_POISON_MEMORY_REGION(raw_, kGuard);
  ASAN_POISON_MEMORY_REGION(raw_ + kGuard + bytes_, kGuard);
}

GuardedBuffer::GuardedBuffer(const Tensor& tensor) : GuardedBuffer(tensor.dtype(), tensor.shape()) {
  CopyElements(tensor.dtype(), tensor.data(), data_, tensor.count());
}

GuardedBuffer::~GuardedBuffer() {
  if (raw_ == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(raw_, bytes_ + 2 * kGuard);
  ::operator delete(raw_, std::align_val_t{64});
}

bool GuardedBuffer::intact() const {
  if (raw_ == nullptr) return true;
  ASAN_UNPOISON_MEMORY_REGION(raw_, bytes_ + 2 * kGuard);
  bool same = true;
  for (size_t i = 0; i < kGuard; ++i) same = same && raw_[i] == GuardByte(i) && raw_[kGuard + bytes_ + i] == GuardByte(i);
  ASAN_POISON_MEMORY_REGION(raw_, kGuard);
  ASAN_POISON_MEMORY_REGION(raw_ + kGuard + bytes_, kGuard);
  return same;
}

}  // namespace weft::kit
