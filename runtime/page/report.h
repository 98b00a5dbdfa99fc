// Shared by the readers: diagnostics with their places, checks of names and ids, values from files beside the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/page/id_index.h"
#include "weft/page/reader.h"

namespace weft::page {

/// Collects the diagnostics of one page. Those of a block are kept until the block ends, because its id may be its last key.
class Report {
 public:
  Report(Diagnostics& out, std::string page) : out_(out), page_(std::move(page)) {}
  ~Report() { EndBlock(""); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  void Error(Status status, std::string_view pointer, std::string_view port = {}) {
    Add(Severity::kError, std::move(status), pointer, port);
  }
  void Warning(Status status, std::string_view pointer, std::string_view port = {}) {
    Add(Severity::kWarning, std::move(status), pointer, port);
  }
  void Note(Status status, std::string_view pointer, std::string_view port = {}) { Add(Severity::kNote, std::move(status), pointer, port); }
  /// Adds the pending diagnostics to the output, with this block id.
  void EndBlock(std::string_view id);

 private:
  void Add(Severity severity, Status status, std::string_view pointer, std::string_view port);
  Diagnostics& out_;
  std::string page_;
  Diagnostics pending_;
};

/// The most bytes of an id, a type or the name of a port: messages and results repeat them.
inline constexpr size_t kMostNameBytes = 1024;

/// [A-Za-z_][A-Za-z0-9_]*, of at most kMostNameBytes.
bool IsIdentifier(std::string_view text);

/// Checks a block's id. In Weft's own pages other ids than identifiers are errors; in imported ones they are warnings where a wire can name
/// them.
void CheckId(Report& report, std::string_view id, std::string_view pointer, bool imported);

/// invalid_argument where a type or port name is empty, longer than kMostNameBytes, holds NUL or another control character, or is not UTF-8. `what`: "a block type".
Status CheckName(std::string_view what, std::string_view name);
/// The same for the name of an input port, which a wire must be able to spell ("ID.port[2]"): no spaces, '.', '[' and ']'.
Status CheckPort(std::string_view name);

/// already_exists, for a block with the id of an earlier one.
Status RepeatedId(const Page& page, size_t block, int earlier);

/// Finds blocks with the id of an earlier block.
class UniqueIds {
 public:
  void Reserve(size_t blocks) { index_.Reserve(blocks); }
  /// Adds the blocks appended to the page since the last call. Their ids must not change afterwards.
  void Add(const Page& page);
  /// Adds the remaining blocks and reports every repeated id.
  void ReportRepeated(Report& report, const Page& page);

 private:
  IdIndex index_;
  size_t added_ = 0;
  std::vector<size_t> repeated_;
};

/// Little-endian, row-major elements of `file` from byte `offset`. data_loss where the file is too short.
Result<Tensor> ReadBinary(const ReadOptions& options, const std::string& file, int64_t offset, DType dtype, const Shape& shape);

/// `name` without folders and its last extension, and without ".page" before that.
std::string PageStem(std::string_view name);

}  // namespace weft::page
