// A shared library of blocks, as the system loads it.
#pragma once

#include <string>
#include <utility>

#include "weft/base/status.h"

namespace weft {

/// Unloaded at the end.
class SharedLibrary {
 public:
  /// A path without a slash is searched for as the system searches for libraries. not_found with the system's reason. What the library does
  /// when it is loaded is its own affair: it runs in this process.
  /// `kShared`: what it exports, and what it needs, is there for libraries that are loaded later; it stays loaded.
  enum class Symbols : uint8_t { kOwn, kShared };
  static Result<SharedLibrary> Load(const std::string& path, Symbols symbols = Symbols::kOwn);
  SharedLibrary(SharedLibrary&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SharedLibrary& operator=(SharedLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SharedLibrary();

  /// The address of what the library exports under the name, or null.
  void* Find(const char* name) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace weft
