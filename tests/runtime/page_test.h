// What the tests of the page layer share.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "weft/page/literal.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

namespace weft {

inline ReadPageResult ReadText(std::string_view text, std::string name = "p.page.json") {
  ReadOptions options;
  options.name = std::move(name);
  return ReadPage(text, options);
}

/// A Weft page with these blocks: the text between the brackets.
inline std::string PageWith(std::string_view blocks) { return Cat("{\"weft\": 1, \"page\": \"p\", \"blocks\": [", blocks, "]}"); }
/// One Const block "c" whose input "value" is this.
inline std::string ConstWith(std::string_view value) {
  return PageWith(Cat("{\"id\": \"c\", \"block\": \"Const\", \"inputs\": {\"value\": ", value, "}}"));
}

/// "code pointer block.port: message (hint)" of the finding at `index`; "none" where there is none.
inline std::string Finding(const ReadPageResult& result, size_t index = 0) {
  if (index >= result.diagnostics.all().size()) return "none";
  const Status& status = result.diagnostics.all()[index].status;
  const Place& place = status.place();
  return Cat(CodeName(status.code()), " ", place.pointer, " ", place.block, place.port.empty() ? "" : ".", place.port, ": ",
             status.message(), status.hint().empty() ? "" : Cat(" (", status.hint(), ")"));
}

inline std::string Utf16(std::string_view ascii, bool big_endian, bool mark = true) {
  std::string out = !mark ? "" : big_endian ? "\xFE\xFF" : "\xFF\xFE";
  for (const char c : ascii) {
    if (big_endian) out += '\0';
    out += c;
    if (!big_endian) out += '\0';
  }
  return out;
}

/// An empty folder that goes with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-page-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path Write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft
