// LockedFile: a file that one process at a time writes.
#pragma once

#include <string>
#include <string_view>

#include "weft/base/file.h"
#include "weft/base/status.h"

namespace weft {

/// A file that is open to be read and appended to, with an exclusive lock (flock(2)) until this object or the process ends, however that ends.
/// The lock is the file's and not its name's: CheckPlace tells whether the name is still this file's. Used by one thread at a time.
class LockedFile {
 public:
  /// Opens the file, or makes it. `what` stands before its name in messages: "the journal". failed_precondition where another process has
  /// it; unsupported on a file system without locks; invalid_argument for what is no regular file; else what the system says.
  static Result<LockedFile> Open(const std::string& path, std::string_view what);

  int number() const { return file_.number(); }
  /// failed_precondition where the file was moved away, removed, or replaced by another since it was opened.
  Status CheckPlace() const;

 private:
  LockedFile(std::string path, std::string_view what) : path_(std::move(path)), what_(what) {}
  bool IsInPlace() const;

  std::string path_, what_;
  Descriptor file_;
};

}  // namespace weft
