// Values in a .dat file beside an imported page. The first line describes them, as the page would: type, shape and position, with spaces
// between them ("double [2][3] 8"); the rest is the file.
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

namespace weft::fuzz {
namespace {

/// The text up to the next space, which is taken away; JSON's own characters and bytes that are not ASCII are left out.
std::string Word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  std::string word;
  for (const char c : line.substr(0, end)) {
    if (c > ' ' && c != '"' && c != '\\' && c != 0x7F) word += c;
  }
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

}  // namespace

void DatFile(std::string_view bytes) {
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string_view line = bytes.substr(0, end);
  const std::string_view file = bytes.substr(std::min(end + 1, bytes.size()));
  const std::string type = Word(line), shape = Word(line), position = Word(line);
  const std::string page = Cat(R"({"object": [{"symbol-name": "#Const", "id": "c", "input": [{"pin-name": "value", "pin-type": ")", type,
                               R"(", "pin-save": "binary", "pin-binary-pos": ")", position, R"(", "pin-shape": ")", shape, R"("}]}]})");
  ReadOptions options;
  options.name = "p.json";
  options.read_file = [&](const std::string&, int64_t offset, int64_t size) -> Result<std::string> {
    Require(offset >= 0, "a file is read from ", offset);
    const size_t from = std::min(static_cast<size_t>(offset), file.size());
    return std::string(file.substr(from, size < 0 ? std::string::npos : static_cast<size_t>(size)));
  };
  const ReadPageResult read = ReadPage(page, options);
  CheckFindings(read.diagnostics);
  (void)WritePage(read.page);
}

}  // namespace weft::fuzz
