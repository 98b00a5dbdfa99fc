#include "weft/base/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "weft/base/discard.h"
#include "weft/base/float16.h"

namespace weft {
namespace {

constexpr std::align_val_t kAlignment{64};
// Buffers of this size and more use huge pages (2 MB) where the machine has them: kernels with large strides are up to twice as fast.
constexpr std::align_val_t kHugePage{size_t{2} << 20};

// Where there is no memory even for so few bytes, there is none for anything: that is no matter of this tensor's size.
constexpr int64_t kSmall = 64 << 10;

std::align_val_t AlignmentOf(int64_t bytes) { return bytes < static_cast<int64_t>(kHugePage) ? kAlignment : kHugePage; }

// Large buffers begin at different offsets in a 4 KB page, chosen by their address. If all began at the same offset, elements of equal index
// would map to the same set of the cache, and a kernel over ten tensors would evict its own lines.
constexpr size_t kStagger = 256, kStaggers = 16;  // bytes between offsets, and their number

size_t StaggerOf(const void* huge_page) {
  const uint64_t page = reinterpret_cast<uintptr_t>(huge_page) / static_cast<size_t>(kHugePage);
  // Fibonacci hashing: multiples of the golden ratio are distributed evenly.
  return (page * 0x9E3779B97F4A7C15 >> 60) % kStaggers * kStagger;
}

/// Rounds up to whole huge pages where that adds at most a third. On small pages a buffer is not contiguous in physical memory, and its lines
/// evict one another from caches that are indexed by physical address.
size_t InHugePages(size_t size) {
  const size_t page = static_cast<size_t>(kHugePage), whole = (size + page - 1) / page * page;
  return whole - size <= size / 3 ? whole : size;
}

/// Padded so that a kernel may read a whole register at the end; also makes the address of an empty tensor valid.
size_t Padded(int64_t bytes) { return (static_cast<size_t>(bytes) + 127) / 64 * 64; }

void* AllocateAligned(size_t size, std::align_val_t alignment) {
  const bool huge = alignment == kHugePage;
  if (huge) size = InHugePages(size + (kStaggers - 1) * kStagger);
  void* data = ::operator new(size, alignment, std::nothrow);
  if (data == nullptr || !huge) return data;
#ifdef MADV_HUGEPAGE
  madvise(data, size, MADV_HUGEPAGE);  // only advice: its failure does not matter
#endif
  return static_cast<std::byte*>(data) + StaggerOf(data);
}

void FreeAligned(void* data, std::align_val_t alignment) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  ::operator delete(static_cast<std::byte*>(data) - address % static_cast<size_t>(alignment), alignment);
}

/// Memory of zeros. Where it is much it comes from the system, which zeroes a page when it is first touched: nothing takes long here.
void* AllocateZeroed(size_t size) {
  constexpr auto kAlign = static_cast<size_t>(kAlignment);
  void* whole = std::calloc(size + 2 * kAlign, 1);
  if (whole == nullptr) return nullptr;
#ifdef MADV_HUGEPAGE
  constexpr auto kPage = static_cast<uintptr_t>(kHugePage);
  const uintptr_t first = (reinterpret_cast<uintptr_t>(whole) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(whole) + size) / kPage * kPage;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // only advice, as above
#endif
  void** data = reinterpret_cast<void**>((reinterpret_cast<uintptr_t>(whole) / kAlign + 2) * kAlign);
  data[-1] = whole;
  return data;
}

void FreeZeroed(void* data) { std::free(static_cast<void**>(data)[-1]); }

// Of strings, whose zeros are empty strings. Few come zeroed from the system, so that they are set here.
bool IsZeroed(DType dtype, int64_t bytes) { return dtype == DType::kString && bytes >= static_cast<int64_t>(kHugePage); }

void* AllocateElements(DType dtype, int64_t count, int64_t bytes) {
  if (IsZeroed(dtype, bytes)) return AllocateZeroed(Padded(bytes));
  void* data = AllocateAligned(Padded(bytes), AlignmentOf(bytes));
  if (data != nullptr && dtype == DType::kString) std::uninitialized_value_construct_n(static_cast<String*>(data), count);
  if (data != nullptr && dtype == DType::kResource) std::uninitialized_value_construct_n(static_cast<ResourceHandle*>(data), count);
  return data;
}

/// What a buffer owned, on its way out.
struct OwnedElements {
  OwnedElements(DType type, int64_t n, int64_t size, void* elements, MemoryCharge held)
      : dtype(type), count(n), bytes(size), data(elements), charge(std::move(held)) {}
  OwnedElements(OwnedElements&& from) noexcept
      : dtype(from.dtype), count(from.count), bytes(from.bytes), data(std::exchange(from.data, nullptr)), charge(std::move(from.charge)) {}
  OwnedElements& operator=(OwnedElements&&) = delete;
  ~OwnedElements() {
    if (data == nullptr) return;
    if (dtype == DType::kString) std::destroy_n(static_cast<String*>(data), count);
    if (dtype == DType::kResource) std::destroy_n(static_cast<ResourceHandle*>(data), count);
    if (IsZeroed(dtype, bytes)) FreeZeroed(data);
    else FreeAligned(data, AlignmentOf(bytes));
  }

  const DType dtype;
  const int64_t count, bytes;
  void* data;
  MemoryCharge charge;
};

/// Cut before it is quoted: a long string's text would be several times as large, and is in no budget.
void AppendShown(std::string& out, std::string_view text) {
  const std::string_view shown = BeginningOf(text, kMostShownBytes);
  out += Quote(shown);
  if (shown.size() < text.size()) out += Cat("... (", text.size() - shown.size(), " more bytes)");
}

void AppendElement(std::string& out, const Tensor& tensor, int64_t i) {
  Dispatch(tensor.dtype(), kAllTypes, [&]<class T>() {
    const T& value = tensor.values<T>()[i];
    if constexpr (std::is_same_v<T, String>) {
      AppendShown(out, value);
    } else if constexpr (std::is_same_v<T, ResourceHandle>) {
      out += value ? "<handle>" : "<no handle>";
    } else if constexpr (ShortFloat<T>) {
      AppendText(out, static_cast<float>(value));
    } else if constexpr (Complex<T>) {
      out += Cat(value.real(), std::signbit(value.imag()) && !std::isnan(value.imag()) ? "" : "+", value.imag(), "j");
    } else {
      AppendText(out, value);
    }
  });
}

/// `left` counts the elements, and the lists without any, that may still be written: shapes may have 2^62 of those.
void AppendNested(std::string& out, const Tensor& tensor, int axis, int64_t& next, int64_t& left) {
  if (left <= 0) {
    out += "...";
    return;
  }
  if (axis == tensor.shape().rank()) {
    AppendElement(out, tensor, next++);
    --left;
    return;
  }
  const int64_t size = tensor.shape()[axis];
  if (size == 0) --left;
  out += "{";
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out += ",";
    AppendNested(out, tensor, axis + 1, next, left);
    if (left <= 0 && i + 1 < size) {
      out += ",...";
      break;
    }
  }
  out += "}";
}

}  // namespace

int64_t Buffer::HeldBytes(int64_t element_bytes) {
  constexpr auto kObject = static_cast<int64_t>(sizeof(Buffer) + 2 * sizeof(void*));  // with the reference counts
  return kObject + static_cast<int64_t>(Padded(element_bytes));
}

Result<std::shared_ptr<Buffer>> Buffer::Allocate(DType dtype, int64_t count, const std::shared_ptr<MemoryBudget>& budget,
                                                 int64_t companions) {
  auto bytes = CheckedMultiply(count, static_cast<int64_t>(ElementSize(dtype)));
  if (!bytes) return ResourceExhausted("needs memory for ", count, " elements of ", dtype, ", more than any machine has");
  auto buffer = std::make_shared<Buffer>(Key());  // one allocation together with the reference count
  buffer->charge_ = MemoryCharge(budget);
  if (!buffer->charge_.Resize(HeldBytes(*bytes) + companions)) {
    return budget->Refusal((*bytes > 0 ? *bytes : HeldBytes(0)) + companions);
  }
  buffer->dtype_ = dtype;
  buffer->bytes_ = *bytes;
  buffer->data_ = AllocateElements(dtype, count, *bytes);
  if (buffer->data_ == nullptr && *bytes < kSmall) throw std::bad_alloc();
  if (buffer->data_ == nullptr) return ResourceExhausted("the machine has not the ", *bytes, " bytes of memory that are needed");
  buffer->count_ = count;
  return buffer;
}

Buffer::~Buffer() {
  constexpr int64_t kManyStrings = int64_t{1} << 17;  // each of which may be memory of its own to free: milliseconds
  OwnedElements owned(dtype_, count_, bytes_, data_, std::move(charge_));
  if (dtype_ == DType::kString && count_ >= kManyStrings) Discard(std::move(owned));
}

Result<Tensor> Tensor::Allocate(DType dtype, Shape shape, const std::shared_ptr<MemoryBudget>& budget, int64_t companions) {
  companions += shape.heap_bytes();
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, Buffer::Allocate(dtype, shape.count(), budget, companions));
  void* data = buffer->data();
  return View(dtype, std::move(shape), data, std::move(buffer));
}

Tensor Tensor::View(DType dtype, Shape shape, void* data, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.data_ = data;
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::Reshaped(Shape shape) const {
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

Result<Tensor> Tensor::Clone(const std::shared_ptr<MemoryBudget>& budget) const {
  WEFT_ASSIGN_OR_RETURN(Tensor copy, Allocate(dtype_, shape_, budget));
  CopyElements(dtype_, data_, copy.data(), count());
  return copy;
}

void CopyElements(DType dtype, const void* from, void* to, int64_t count) {
  if (dtype == DType::kString) {
    std::copy_n(static_cast<const String*>(from), count, static_cast<String*>(to));
  } else if (dtype == DType::kResource) {
    std::copy_n(static_cast<const ResourceHandle*>(from), count, static_cast<ResourceHandle*>(to));
  } else if (count > 0) {
    std::memcpy(to, from, static_cast<size_t>(count) * ElementSize(dtype));
  }
}

std::string ElementText(const Tensor& tensor, int64_t index) {
  std::string out;
  AppendElement(out, tensor, index);
  return out;
}

std::string ToString(const Tensor& tensor, int64_t limit) {
  if (!tensor.defined()) return "nothing";
  std::string out = Cat(tensor.dtype(), " ", tensor.shape(), " ");
  if (tensor.count() == 0) limit = std::min(limit, kMostShownEmpty);  // however many elements the caller would take
  int64_t next = 0;
  AppendNested(out, tensor, 0, next, limit);
  return out;
}

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::kString) return std::ranges::equal(a.values<String>(), b.values<String>());
  if (a.dtype() == DType::kResource) return std::ranges::equal(a.values<ResourceHandle>(), b.values<ResourceHandle>());
  return a.count() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0;
}

}  // namespace weft
