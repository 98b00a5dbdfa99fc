// String: the element of DT_STRING tensors.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "weft/base/memory.h"

namespace weft {

template <class T>
class Result;

/// A sequence of bytes that does not change; a value type of 16 bytes. Copies share the bytes (short ones are stored in place), so that
/// tensors of equal strings hold them once. Distinct objects may be used by several threads, also where they share bytes.
class String {
 public:
  String() noexcept = default;
  String(std::string_view text) : String(text, {}) {}  // NOLINT: texts convert
  String(const std::string& text) : String(std::string_view(text)) {}
  String(const char* text) : String(std::string_view(text)) {}
  String(const char* text, size_t size) : String(std::string_view(text, size)) {}
  /// One string after the other.
  String(std::string_view first, std::string_view second);
  /// `size` bytes yet to be written, by mutable_data(), that count in a budget, which may be null: resource_exhausted, before anything is
  /// allocated, where it refuses.
  static Result<String> Uninitialized(size_t size, const std::shared_ptr<MemoryBudget>& budget);
  ~String() {
    if (is_shared()) Drop();
  }
  String(const String& from) noexcept : words_{from.words_[0], from.words_[1]} {
    if (is_shared()) Share();
  }
  String(String&& from) noexcept : words_{std::exchange(from.words_[0], 0), std::exchange(from.words_[1], 0)} {}
  String& operator=(String from) noexcept {
    swap(*this, from);
    return *this;
  }
  friend void swap(String& a, String& b) noexcept { std::swap(a.words_, b.words_); }

  const char* data() const { return is_shared() ? shared_data() : reinterpret_cast<const char*>(words_); }
  size_t size() const { return is_shared() ? shared_size() : tag(); }
  bool empty() const { return words_[1] == 0; }
  std::string_view view() const { return {data(), size()}; }
  operator std::string_view() const { return view(); }  // NOLINT: strings convert
  explicit operator std::string() const { return std::string(view()); }

  friend bool operator==(const String& a, const String& b) {
    return (a.words_[0] == b.words_[0] && a.words_[1] == b.words_[1]) || a.view() == b.view();
  }
  template <std::convertible_to<std::string_view> Text>
    requires(!std::is_same_v<Text, String>)
  friend bool operator==(const String& a, const Text& b) { return a.view() == std::string_view(b); }
  friend auto operator<=>(const String& a, const String& b) { return a.view() <=> b.view(); }
  friend std::ostream& operator<<(std::ostream& out, const String& text) { return out << text.view(); }

  /// The bytes of memory that it holds beside its own 16, together with its copies.
  size_t heap_bytes() const { return is_shared() ? kHeader + shared_size() : 0; }
  /// Counts heap_bytes() in a budget, which may be null, until the last copy ends, once for all copies: resource_exhausted, with nothing
  /// counted, where the budget refuses.
  Status Hold(const std::shared_ptr<MemoryBudget>& budget) const;
  /// The bytes of what Uninitialized made, as long as there is no copy of it.
  char* mutable_data() { return const_cast<char*>(data()); }

  /// How many bytes are stored in place.
  static constexpr size_t kInPlace = 15;

 private:
  struct Shared;
  static constexpr size_t kHeader = 40;       // of the shared bytes, in memory
  static constexpr uint8_t kSharedTag = 255;  // of strings that share their bytes; others have their size there

  explicit String(size_t size);  // bytes yet to be written

  // The last byte is the tag, so that the bytes of a short string begin where the object does.
  uint8_t tag() const { return reinterpret_cast<const uint8_t*>(words_)[15]; }
  bool is_shared() const { return tag() == kSharedTag; }
  Shared* shared() const { return reinterpret_cast<Shared*>(words_[0]); }
  const char* shared_data() const;
  size_t shared_size() const;
  void Share() const;
  void Drop() const;

  uint64_t words_[2] = {0, 0};  // the bytes and the tag; or the address of the shared bytes, and the tag
};

inline String operator+(const String& a, const String& b) { return {a.view(), b.view()}; }
inline std::string ToString(const String& text) { return std::string(text.view()); }

}  // namespace weft
