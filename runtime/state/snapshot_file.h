// The file of a snapshot: sections with a size and a checksum each, and an end that says how many there were. The README has the format.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "weft/base/file.h"
#include "weft/base/status.h"

namespace weft {

enum class SectionTag : uint32_t { kScope = 1, kVariable = 2, kElements = 3, kResource = 4, kEnd = 5 };

/// Writes beside the file, and puts what it wrote in the file's place when it is whole. Of several writers of a path the last one counts.
class SnapshotWriter {
 public:
  Status Open(const std::filesystem::path& path);
  Status Add(SectionTag tag, std::string_view payload);
  /// The end; then the file is synchronised and renamed, and its folder synchronised.
  Status Finish();
  int64_t bytes() const { return bytes_; }

 private:
  Status Write(const void* data, size_t size);
  Status Failed(int error) const;

  std::filesystem::path path_;
  NewFile file_;
  int64_t bytes_ = 0;
  uint64_t sections_ = 0;
};

/// Reads a file from its start. Sizes are checked against the file's before memory is taken.
class SnapshotReader {
 public:
  struct Section {
    SectionTag tag = SectionTag::kEnd;
    uint64_t size = 0;
  };

  /// `name` is what messages call it.
  Status Open(const std::filesystem::path& path, std::string name);
  const std::string& name() const { return name_; }
  /// The next section's head. At the end checks that it is one.
  Result<Section> Next();
  /// The payload of the section that Next gave, into `to` of its size. `what` names it in errors: "variable 'w'".
  Status Read(void* to, std::string_view what);
  Result<std::string> ReadText(std::string_view what);
  int64_t bytes() const { return size_; }

 private:
  Status Take(void* to, uint64_t size, std::string_view what);
  Status Damaged(std::string_view what) const;

  std::string name_;
  Descriptor file_;
  int64_t size_ = 0, offset_ = 0;
  Section section_;
  uint32_t checksum_ = 0;
  uint64_t sections_ = 0;
};

}  // namespace weft
