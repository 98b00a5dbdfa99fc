// Opening what lies below a folder, whatever links another process puts in its way.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "weft/base/status.h"

namespace weft {

/// A descriptor of the system, closed at the end; negative for none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

/// Opens `relative`, a path without links and "..", below a folder; it does not wait for the other end of a pipe. No link on the way is
/// followed: where there is one, the descriptor is not valid and errno is ELOOP. `flags` as of open(2); no file is made.
Descriptor OpenBeneath(const Descriptor& folder, const std::filesystem::path& relative, int flags);

/// The same without openat2(2), for kernels before Linux 5.6: component by component.
Descriptor OpenBeneathByComponents(const Descriptor& folder, const std::filesystem::path& relative, int flags);

/// What open(2) and its like say of a file that the user calls `name`.
Status OpenError(const std::string& name, int error);

/// Up to `size` bytes from `offset` on; -1: all that is left. `name` is for errors. invalid_argument for a folder, a device, and a pipe
/// unless `pipes`; resource_exhausted for more than 4 GiB. Nothing is allocated for bytes that the file does not have.
Result<std::string> ReadBytes(const Descriptor& file, const std::string& name, int64_t offset, int64_t size, bool pipes);

/// Puts a file into the folder, in place of the one of that name; until all is written and on the disk, and on failure, that one stays.
/// `name` is for errors.
Status ReplaceFile(const Descriptor& folder, const std::string& file, std::string_view bytes, const std::string& name);

}  // namespace weft
