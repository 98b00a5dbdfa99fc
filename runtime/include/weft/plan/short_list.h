// Lists of a graph's nodes. There are many nodes, and most of their lists are short or like those of another node.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/block/attr.h"

namespace weft {

/// A list of plain values, of which up to N lie in place.
template <class T, uint32_t N>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> values) : ShortList(std::span<const T>(values.begin(), values.size())) {}
  ShortList(const std::vector<T>& values) : ShortList(std::span<const T>(values)) {}
  explicit ShortList(std::span<const T> values) { append(values); }
  ShortList(const ShortList& other) : ShortList(std::span<const T>(other)) {}
  ShortList(ShortList&& other) noexcept : size_(std::exchange(other.size_, 0)), capacity_(std::exchange(other.capacity_, N)) {
    if (capacity_ > N) heap_ = other.heap_;
    else std::copy_n(other.inline_, N, inline_);
  }
  ShortList& operator=(const ShortList& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    this->~ShortList();
    return *new (this) ShortList(std::move(other));
  }
  ~ShortList() {
    if (capacity_ > N) delete[] heap_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return capacity_ > N ? heap_ : inline_; }
  T* data() { return capacity_ > N ? heap_ : inline_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& operator[](size_t i) { return data()[i]; }

  void clear() { size_ = 0; }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    T* heap = new T[capacity];
    std::copy_n(data(), size_, heap);
    if (capacity_ > N) delete[] heap_;
    heap_ = heap;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void push_back(T value) { append(std::span<const T>(&value, 1)); }
  /// `values` must not be of this list.
  void append(std::span<const T> values) {
    if (size_ + values.size() > capacity_) reserve(std::max(size_ + values.size(), size_t{capacity_} * 2));
    std::copy(values.begin(), values.end(), data() + size_);
    size_ += static_cast<uint32_t>(values.size());
  }
  void append(size_t count, T value) {
    reserve(size_ + count);
    std::fill_n(data() + size_, count, value);
    size_ += static_cast<uint32_t>(count);
  }

  friend bool operator==(const ShortList& a, const ShortList& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  uint32_t size_ = 0, capacity_ = N;
  union {
    T inline_[N] = {};
    T* heap_;
  };
};

/// A value on the heap, or none, that is copied with its owner.
template <class T>
class Copied {
 public:
  Copied() = default;
  explicit Copied(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Copied(const Copied& other) : value_(other.value_ == nullptr ? nullptr : std::make_unique<T>(*other.value_)) {}
  Copied(Copied&&) noexcept = default;
  Copied& operator=(Copied other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  T* get() { return value_.get(); }
  const T* get() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

/// A list that most of its many owners have empty: then it takes the place of a pointer.
template <class T>
class RareList {
 public:
  bool empty() const { return items_.get() == nullptr; }
  size_t size() const { return empty() ? 0 : items_.get()->size(); }
  const T* begin() const { return empty() ? nullptr : items_.get()->data(); }
  const T* end() const { return begin() + size(); }
  const T& operator[](size_t i) const { return (*items_.get())[i]; }
  void push_back(T item) {
    if (empty()) items_ = Copied(std::vector<T>());
    items_.get()->push_back(std::move(item));
  }

 private:
  Copied<std::vector<T>> items_;  // none, or not empty
};

/// The settings of a node, a value for each AttrSpec of its block. Nodes may share them.
class AttrList {
 public:
  AttrList() = default;
  AttrList(std::vector<AttrValue> values) : shared_(new Shared{{1}, std::move(values)}) {}
  AttrList(const AttrList& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  AttrList(AttrList&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  AttrList& operator=(AttrList other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~AttrList() {
    if (shared_ != nullptr && shared_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared_;
  }

  size_t size() const { return shared_ == nullptr ? 0 : shared_->values.size(); }
  const AttrValue& operator[](size_t i) const { return shared_->values[i]; }
  operator std::span<const AttrValue>() const { return shared_ == nullptr ? std::span<const AttrValue>() : std::span(shared_->values); }
  /// Other lists that share the settings keep their value.
  void Set(size_t i, AttrValue value) {
    std::vector<AttrValue> own = shared_->values;
    own[i] = std::move(value);
    *this = AttrList(std::move(own));
  }
  bool Shares(const AttrList& other) const { return shared_ == other.shared_; }

  friend bool operator==(const AttrList& a, const AttrList& b) {
    if (a.Shares(b)) return true;
    std::span<const AttrValue> x = a, y = b;
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  // One pointer and not two, since every node has one.
  struct Shared {
    std::atomic<size_t> owners;
    const std::vector<AttrValue> values;
  };
  Shared* shared_ = nullptr;
};

}  // namespace weft
