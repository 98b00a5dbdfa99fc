#include "tests/kit/weft_headers.h"

#include <algorithm>
#include <regex>

#include "tests/kit/program.h"

namespace weft::test {
namespace fs = std::filesystem;

std::vector<fs::path> HeaderFiles() {
  const fs::path include = fs::path(WEFT_SOURCE_DIR) / "runtime/include";
  std::vector<fs::path> files = {include / "weft.h"};
  for (const auto& entry : fs::directory_iterator(include / "weft/capi")) {
    if (entry.path().extension() == ".h") files.push_back(entry.path());
  }
  std::sort(files.begin() + 1, files.end());
  return files;
}

std::vector<HeaderFunction> FunctionsIn(const std::string& text, const std::string& file) {
  // A prototype begins a line with WEFT_API and ends in a semicolon; its comment ends just before it.
  constexpr std::string_view kStart = "\nWEFT_API ";
  static const std::regex kName("(weft_\\w+)\\s*\\("), kHandle("(weft_\\w+)\\s*\\*\\s*\\w+\\s*[,)]");
  std::vector<HeaderFunction> functions;
  for (size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at + 1)) {
    HeaderFunction function;
    function.file = file;
    std::string prototype = text.substr(at, text.find(';', at) - at);
    std::smatch match;
    if (!std::regex_search(prototype, match, kName)) continue;
    function.name = match[1];
    std::string parameters = match.suffix();
    for (std::sregex_iterator it(parameters.begin(), parameters.end(), kHandle), end; it != end; ++it) function.handles.push_back((*it)[1]);
    if (at >= 2 && text.compare(at - 2, 2, "*/") == 0) {
      size_t begin = text.rfind("/**", at);
      if (begin != std::string::npos) function.comment = text.substr(begin, at - begin);
    }
    functions.push_back(std::move(function));
  }
  return functions;
}

std::vector<HeaderFunction> HeaderFunctions() {
  std::vector<HeaderFunction> all;
  for (const fs::path& path : HeaderFiles()) {
    for (HeaderFunction& function : FunctionsIn(kit::FileBytes(path), path.filename().string())) all.push_back(std::move(function));
  }
  return all;
}

}  // namespace weft::test
