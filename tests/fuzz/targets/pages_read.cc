// Documents of pages, in each of the three formats: any bytes give a report, and what is read can be written and read again.
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

namespace weft::fuzz {
namespace {

ReadOptions Options() {
  ReadOptions options;
  options.name = "p.json";
  options.read_file = [](const std::string&, int64_t offset, int64_t size) -> Result<std::string> {
    static const std::string kFile(256, '\x41');
    const size_t from = std::min(static_cast<size_t>(std::max<int64_t>(offset, 0)), kFile.size());
    return kFile.substr(from, size < 0 ? std::string::npos : static_cast<size_t>(size));
  };
  return options;
}

void ReadAndWrite(std::string_view bytes) {
  const ReadOptions options = Options();
  const ReadPageResult read = ReadPage(bytes, options);
  CheckFindings(read.diagnostics);
  const std::string written = WritePage(read.page);
  if (read.diagnostics.has_errors()) return;
  const ReadPageResult again = ReadPage(written, options);
  CheckFindings(again.diagnostics);
  // An imported page may have ids that Weft's own pages do not take.
  if (again.diagnostics.has_errors() && read.page.format != Page::Format::kWeft) return;
  Require(!again.diagnostics.has_errors(), "what was written is refused: ", ToString(again.diagnostics.FirstError()), "\n", written);
  Require(WritePage(again.page) == written, "read again, it is written otherwise: ", written, "\nand ", WritePage(again.page));
}

}  // namespace

void WeftPage(std::string_view bytes) { ReadAndWrite(bytes); }
void RuntimePage(std::string_view bytes) { ReadAndWrite(bytes); }
void DesignPage(std::string_view bytes) { ReadAndWrite(bytes); }

}  // namespace weft::fuzz
