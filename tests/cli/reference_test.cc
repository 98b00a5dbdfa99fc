// The block reference: a page for each block, with all that its declaration says, and an example that can be loaded.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/kit/program.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Catch::Matchers::Contains;
using kit::ProgramResult;
using kit::RunWeft;

/// The JSON of the example.
std::string ExampleOf(const std::string& page) {
  constexpr std::string_view kOpen = "```json\n";
  const size_t open = page.find(kOpen), close = page.find("```", open + kOpen.size());
  if (open == std::string::npos || close == std::string::npos) return "";
  return page.substr(open + kOpen.size(), close - open - kOpen.size());
}

}  // namespace

TEST_CASE("weft blocks --markdown writes a page for each block and an index", "[cli]") {
  kit::TemporaryFolder folder;
  const fs::path pages = folder.path() / "docs" / "blocks";
  const ProgramResult written = RunWeft({"blocks", "--markdown", pages.string()});
  CHECK(written.status == 0);
  CHECK_THAT(written.out, Contains("README.md is the index"));
  const std::string index = kit::FileBytes(pages / "README.md");
  std::vector<std::string> examples = {"check"};
  for (const Json& block : Json::parse(RunWeft({"blocks", "--json"}).out)) {
    const std::string name = block["block"];
    if (block.value("internal", false)) continue;
    INFO(name);
    const std::string page = kit::FileBytes(pages / (name + ".md"));
    CHECK(page.starts_with("# " + name + "\n"));
    CHECK(page.find(block["summary"].get<std::string>()) != std::string::npos);
    CHECK(index.find("[" + name + "](" + name + ".md)") != std::string::npos);
    for (const char* ports : {"inputs", "outputs"}) {
      for (const Json& port : block[ports]) CHECK(page.find("| `" + port["port"].get<std::string>() + "` |") != std::string::npos);
    }
    for (const Json& attr : block["attrs"]) CHECK(page.find("| `" + attr["name"].get<std::string>() + "_` |") != std::string::npos);
    const std::string example = ExampleOf(page);
    CHECK_FALSE(Json::parse(example, nullptr, false).is_discarded());
    if (example.find("\"weft\": 1") == std::string::npos) continue;  // a line only
    const fs::path file = folder.path() / (name + ".page.json");
    kit::WriteBytes(file, example);
    examples.push_back(file.string());
  }
  const ProgramResult checked = RunWeft(examples);
  INFO(checked.err.substr(0, 4000));
  CHECK(checked.status == 0);
}

TEST_CASE("weft blocks NAME tells of a block that does something that it can be run by itself", "[cli]") {
  CHECK_THAT(RunWeft({"blocks", "AssignAdd"}).out, Contains("\noperation\n  ID.operation  the block itself"));
  for (const char* name : {"ClientSession", "Const", "Variable"}) CHECK_THAT(RunWeft({"blocks", name}).out, !Contains("ID.operation  "));
}

TEST_CASE("weft blocks --markdown takes no misspelt block for a folder", "[cli]") {
  kit::TemporaryFolder folder;
  kit::ProgramOptions there;
  there.folder = folder.path();
  for (const char* name : {"Addd", "matmul_", "-"}) {
    const ProgramResult refused = RunWeft({"blocks", "--markdown", name}, there);
    INFO(name << refused.err);
    CHECK(refused.status == 1);
    CHECK(fs::is_empty(folder.path()));
  }
  CHECK_THAT(RunWeft({"blocks", "--markdown", "Addd"}, there).err, Contains("Add") && Contains("'./Addd' is a folder that is made"));
  CHECK(RunWeft({"blocks", "--markdown", "./Addd"}, there).status == 0);
  CHECK(fs::exists(folder.path() / "Addd" / "README.md"));
}

TEST_CASE("weft blocks --markdown leaves a README.md of somebody else as it is", "[cli]") {
  kit::TemporaryFolder folder;
  const std::string readme = folder.Write("README.md", "# My project\n");
  const ProgramResult refused = RunWeft({"blocks", "--markdown", folder.path().string()});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains(Cat("--markdown needs a folder of its own, found '", readme, "', which is no index of blocks (")));
  CHECK(kit::FileBytes(readme) == "# My project\n");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  for (int again = 0; again < 2; ++again) CHECK(RunWeft({"blocks", "--markdown", folder.Path("reference")}).status == 0);
}

TEST_CASE("weft blocks NAME --markdown prints one page", "[cli]") {
  const ProgramResult page = RunWeft({"blocks", "BiasAddGrad", "--markdown"});
  CHECK(page.status == 0);
  CHECK_THAT(page.out, Contains("# BiasAddGrad") && Contains("| `out_backprop` |") && Contains("| `data_format_` |"));
  CHECK_THAT(page.out, Contains("\"weft\": 1"));
}

TEST_CASE("weft blocks --markdown says where it cannot write", "[cli]") {
  kit::TemporaryFolder folder;
  kit::WriteBytes(folder.path() / "file", "");
  const ProgramResult refused = RunWeft({"blocks", "--markdown", (folder.path() / "file").string()});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("file"));
}

}  // namespace weft
