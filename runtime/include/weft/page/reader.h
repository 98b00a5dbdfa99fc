// Readers: the bytes of a page document -> Page, with every diagnostic placed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "weft/base/diagnostic.h"
#include "weft/page/page.h"

namespace weft {

struct ReadOptions {
  std::string name;  // what diagnostics call the page: its path, as the user wrote it
  /// Gives the bytes [offset, offset + size) of a file beside the page (a literal's `file`, or "<page>.dat"); a size of -1 means the rest.
  /// Without it such literals are an error (failed_precondition).
  std::function<Result<std::string>(const std::string& file, int64_t offset, int64_t size)> read_file;
};

struct ReadPageResult {
  Page page;  // what could be read; run only where there are no errors
  Diagnostics diagnostics;
};

/// Reads any of the three formats, told apart by their content. Never throws; any bytes give a report.
ReadPageResult ReadPage(std::string_view bytes, const ReadOptions& options);

/// Reads a page file. Without a name in the options diagnostics call it by its path; without a read_file, files beside it are read from its
/// folder, and from nowhere else.
ReadPageResult ReadPageFile(const std::filesystem::path& path, ReadOptions options = {});

/// A ReadOptions::read_file that reads what lies in the folder, and nothing else. permission_denied for names that leave it.
std::function<Result<std::string>(const std::string&, int64_t, int64_t)> FilesInFolder(std::filesystem::path folder);

/// Reads one tensor {"dtype", "shape", "values"} (or "text"), as WriteTensor writes it and case files hold it. Pointers start at the tensor.
Result<Tensor> ReadTensor(std::string_view json);

}  // namespace weft
