// Tensor: an element type, a shape, and shared, aligned memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "weft/base/dtype.h"
#include "weft/base/memory.h"
#include "weft/base/shape.h"

namespace weft {

/// Memory for elements, aligned to 64 bytes, owned through shared_ptr. Elements of managed types (strings, handles) are constructed empty;
/// other memory is uninitialised. At least 64 bytes after the last element may be read, not written.
class Buffer {
  struct Key {  // makes the constructor callable by Allocate alone
    explicit Key() = default;
  };

 public:
  explicit Buffer(Key) {}
  /// resource_exhausted, with the size asked for, where the budget or the machine lacks that much memory. `budget` may be null: no limit.
  /// `companions` are bytes that the caller allocates and that live as long as the buffer: they count with it.
  static Result<std::shared_ptr<Buffer>> Allocate(DType dtype, int64_t count, const std::shared_ptr<MemoryBudget>& budget,
                                                  int64_t companions = 0);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  /// What elements of so many bytes count in a budget: their memory and the object that owns it. (Strings count their own, see String.)
  static int64_t HeldBytes(int64_t element_bytes);

 private:
  DType dtype_ = DType::kInvalid;
  int64_t count_ = 0;
  int64_t bytes_ = 0;
  void* data_ = nullptr;
  MemoryCharge charge_;
};

/// A value type: copies share the memory. By convention memory that more than one Tensor refers to is no longer written, so that it may be
/// read from any thread.
class Tensor {
 public:
  Tensor() = default;
  /// A tensor of uninitialised memory (managed types: empty elements). resource_exhausted as for Buffer::Allocate. A shape that takes memory
  /// counts with the elements.
  static Result<Tensor> Allocate(DType dtype, Shape shape, const std::shared_ptr<MemoryBudget>& budget = nullptr, int64_t companions = 0);
  /// A tensor over shape.count() elements at `data`, which `owner` keeps alive; `owner` may be null for memory that outlives the tensor.
  static Tensor View(DType dtype, Shape shape, void* data, std::shared_ptr<const void> owner);

  /// For small values known to be valid: of shape [values.size()], or of `shape`.
  template <class T>
  static Tensor Of(std::initializer_list<T> values, std::optional<Shape> shape = std::nullopt);
  template <class T>
  static Tensor Scalar(T value) { return Of<T>({value}, Shape{}); }

  bool defined() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_.count(); }
  int64_t bytes() const { return count() * static_cast<int64_t>(ElementSize(dtype_)); }
  void* data() { return data_; }
  const void* data() const { return data_; }
  /// Prefetches the reference count, which copying or destroying this tensor changes. For loops over many tensors.
  void PrefetchOwner() const { __builtin_prefetch(owner_.get(), 1); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// The elements; T must be the storage type of dtype().
  template <class T>
  std::span<T> values() { return {static_cast<T*>(data_), static_cast<size_t>(count())}; }
  template <class T>
  std::span<const T> values() const { return {static_cast<const T*>(data_), static_cast<size_t>(count())}; }

  /// The same elements under another shape of the same count.
  Tensor Reshaped(Shape shape) const;
  /// A copy in memory of its own.
  Result<Tensor> Clone(const std::shared_ptr<MemoryBudget>& budget = nullptr) const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// Copies `count` elements between constructed elements that do not overlap: by assignment for managed types, else as bytes.
void CopyElements(DType dtype, const void* from, void* to, int64_t count);

constexpr size_t kMostShownBytes = 4096;   // of a string element in ElementText and ToString
constexpr int64_t kMostShownEmpty = 1000;  // lists without elements in ToString

/// One element as text: the shortest number that reads back as the same value, true/false, "quoted" (see Quote), 1+2j. Of a longer string
/// than kMostShownBytes the beginning: "quoted"... (17 more bytes).
std::string ElementText(const Tensor& tensor, int64_t index);
/// "DT_FLOAT [2,2] {{1,2},{3,4}}", with "..." after `limit` elements. For people: not all that a value has.
std::string ToString(const Tensor& tensor, int64_t limit = 16);

/// Whether types, shapes and the bits of all elements are equal (a NaN equals itself, 0 is not -0). Handles: whether they refer to the same
/// resource.
bool SameBits(const Tensor& a, const Tensor& b);

template <class T>
Tensor Tensor::Of(std::initializer_list<T> values, std::optional<Shape> shape) {
  Tensor tensor = Allocate(kDTypeOf<T>, shape.value_or(Shape{static_cast<int64_t>(values.size())})).value();
  std::copy(values.begin(), values.end(), tensor.values<T>().begin());
  return tensor;
}

}  // namespace weft
