// docs/architecture.md and the READMEs of runtime/ agree with the tree: their links and file names exist, and the picture has its folders.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/kit/program.h"

namespace {

namespace fs = std::filesystem;
using weft::kit::FileBytes;
using weft::kit::kSourceFolder;

/// The first groups of all matches.
std::vector<std::string> Matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

/// Text without fenced examples.
std::string WithoutFences(const std::string& text) {
  std::string kept, line;
  bool fenced = false;
  for (std::istringstream in(text); std::getline(in, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    else if (!fenced) kept += line + "\n";
  }
  return kept;
}

std::vector<fs::path> LayerFolders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kSourceFolder / "runtime")) {
    // git leaves the empty folder of files that have moved.
    if (entry.is_directory() && !fs::is_empty(entry.path()) && entry.path().filename() != "include") folders.push_back(entry.path());
  }
  return folders;
}

std::set<std::string> LayerNames() {
  std::set<std::string> names;
  for (const fs::path& folder : LayerFolders()) names.insert(folder.filename().string());
  return names;
}

std::set<std::string> SetOf(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// Whether a file or folder is there; "name.*" stands for any ending, of "folder/*.h" the folder is looked for.
bool Exists(const fs::path& path) {
  if (path.stem().string().find('*') != std::string::npos) return fs::exists(path.parent_path());
  if (path.extension() != ".*") return fs::exists(path);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), error)) {
    if (entry.path().stem() == path.stem()) return true;
  }
  return false;
}

/// "weft/{a,b}.h" as its two names.
std::vector<std::string> Expanded(const std::string& name) {
  const size_t open = name.find('{'), close = name.find('}');
  if (open == std::string::npos || close == std::string::npos) return {name};
  std::vector<std::string> names;
  std::istringstream parts(name.substr(open + 1, close - open - 1));
  for (std::string part; std::getline(parts, part, ',');) names.push_back(name.substr(0, open) + part + name.substr(close + 1));
  return names;
}

/// Links whose target is not there, by the folder of the document.
std::vector<std::string> BrokenLinks(const std::string& text, const fs::path& folder) {
  std::vector<std::string> broken;
  for (std::string target : Matches(WithoutFences(text), R"(\]\(([^)\s]+)\))")) {
    if (target.starts_with("http") || target.starts_with("#")) continue;
    target.resize(std::min(target.find('#'), target.size()));
    if (!Exists(folder / target)) broken.push_back(target);
  }
  return broken;
}

/// Names of source files, headers and documents in code spans that are nowhere where a reader of a layer's README would look.
std::vector<std::string> BrokenNames(const std::string& text, const fs::path& folder) {
  const fs::path places[] = {folder,
                             kSourceFolder,
                             kSourceFolder / "runtime",
                             kSourceFolder / "runtime/include",
                             kSourceFolder / "runtime/include/weft" / folder.filename(),
                             kSourceFolder / "runtime/include/weft",
                             kSourceFolder / "blocks",
                             kSourceFolder / "tests/runtime"};
  std::vector<std::string> broken;
  for (const std::string& span : Matches(WithoutFences(text), R"(`([A-Za-z0-9_./{},*-]+\.(?:h|cc|md|\*))`)")) {
    for (const std::string& name : Expanded(span)) {
      if (std::ranges::none_of(places, [&](const fs::path& place) { return Exists(place / name); })) broken.push_back(name);
    }
  }
  return broken;
}

}  // namespace

TEST_CASE("the architecture's table and picture have the folders of runtime/", "[architecture]") {
  const std::string text = FileBytes(kSourceFolder / "docs/architecture.md"), picture = FileBytes(kSourceFolder / "docs/architecture.svg");
  CHECK(SetOf(Matches(text, R"(\n\| \[([a-z]+)\]\(\.\./runtime/)")) == LayerNames());
  CHECK(SetOf(Matches(picture, R"(class="layer"[^>]*>([a-z]+)<)")) == LayerNames());
  std::set<std::string> with_include = LayerNames();
  with_include.insert("include");
  CHECK(SetOf(Matches(FileBytes(kSourceFolder / "runtime/README.md"), R"(\n\| \[([a-z]+)\]\()")) == with_include);
}

TEST_CASE("links of the architecture and of READMEs lead to files and folders", "[architecture]") {
  std::vector<fs::path> documents{kSourceFolder / "docs/architecture.md", kSourceFolder / "README.md", kSourceFolder / "runtime/README.md"};
  for (const fs::path& folder : LayerFolders()) documents.push_back(folder / "README.md");
  for (const fs::path& document : documents) {
    INFO(document);
    REQUIRE(fs::exists(document));
    CHECK(BrokenLinks(FileBytes(document), document.parent_path()) == std::vector<std::string>());
  }
}

TEST_CASE("files that READMEs of runtime/ name are there", "[architecture]") {
  for (const fs::path& folder : LayerFolders()) {
    INFO(folder);
    CHECK(BrokenNames(FileBytes(folder / "README.md"), folder) == std::vector<std::string>());
  }
}

TEST_CASE("broken links and names are found", "[architecture]") {
  const fs::path folder = kSourceFolder / "runtime/base";
  CHECK(BrokenLinks("[a](README.md) [b](../block/README.md#x) [c](https://x.org) [d](nothing.md)", folder) == std::vector<std::string>{"nothing.md"});
  CHECK(BrokenLinks("```\n[a](nothing.md)\n```\n", folder).empty());
  CHECK(BrokenNames("`status.h` `weft/base/{shape,tensor}.h` `tensor.*` `tensor.cc` `runtime/state/README.md`", folder).empty());
  CHECK(BrokenNames("`weft/base/{shape,nothing}.h` `nothing.*` `nothing.cc` `nothing`", folder) ==
        std::vector<std::string>{"weft/base/nothing.h", "nothing.*", "nothing.cc"});
}

TEST_CASE("Eigen is included where elements are computed, not by the other public headers", "[architecture]") {
  for (const auto& entry : fs::recursive_directory_iterator(kSourceFolder / "runtime/include")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string(), text = FileBytes(entry.path());
    INFO(entry.path());
    CHECK((text.find("#include <Eigen") == std::string::npos || name == "float16.h"));
    CHECK((text.find("#include \"weft/base/float16.h\"") == std::string::npos || name == "block.h"));
  }
}
