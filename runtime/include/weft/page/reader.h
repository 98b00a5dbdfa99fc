// Readers: the bytes of a page document -> Page, with every diagnostic placed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "weft/base/diagnostic.h"
#include "weft/page/page.h"

namespace weft {

struct ReadOptions {
  std::string name;  // what diagnostics call the page: its path, as the user wrote it
  /// Gives the bytes [offset, offset + size) of a file that the page names (a literal's `file`, or "<page>.dat"); a size of -1 means the rest.
  /// Without it such literals are an error (failed_precondition).
  std::function<Result<std::string>(const std::string& file, int64_t offset, int64_t size)> read_file;
};

struct ReadPageResult {
  Page page;  // what could be read; run only where there are no errors
  Diagnostics diagnostics;
};

/// Reads any of the three formats, told apart by their content. Never throws; any bytes give a report.
ReadPageResult ReadPage(std::string_view bytes, const ReadOptions& options);

/// Reads one tensor {"dtype", "shape", "values"} (or "text"), as WriteTensor writes it and case files hold it. Pointers start at the tensor.
Result<Tensor> ReadTensor(std::string_view json);

}  // namespace weft
