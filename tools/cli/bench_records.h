// A file of TensorFlow's records for `weft bench`, and the page that reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "weft/base/status.h"
#include "weft/host/file_sandbox.h"

namespace weft::cli {

/// A file in a new folder of the system's temporary folder; both go at the end.
class RecordFile {
 public:
  static constexpr int64_t kRecordBytes = 10'000;
  /// Records of so many bytes, `bytes` of data in all.
  static Result<RecordFile> Make(int64_t bytes);
  RecordFile(RecordFile&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

  FolderRules rules() const { return FolderRules::OfPage(folder_); }
  /// A run of it takes the file's name from a queue and reads all of its records.
  static std::string Page(const std::string& name);

 private:
  explicit RecordFile(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace weft::cli
