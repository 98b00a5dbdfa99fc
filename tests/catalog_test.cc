// The catalog as a whole: every block is tested and documented, the build's blocks.json is up to date, the lists agree.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/kit/program.h"
#include "weft/block/manifest.h"
#include "weft/block/registry.h"

using namespace weft;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

void AddPageBlocks(const json& page, const Registry& registry, std::set<std::string>& used) {
  if (!page.is_object() || !page.contains("blocks")) return;
  for (const json& block : page["blocks"]) {
    if (const BlockDef* def = registry.Find(block.value("block", ""))) used.insert(def->name);
  }
}

/// Block types that a case file tests, alone or on a page.
std::set<std::string> TestedBlocks(const Registry& registry) {
  std::set<std::string> tested;
  for (const auto& entry : fs::recursive_directory_iterator(kit::kSourceFolder / "tests" / "blocks")) {
    if (!entry.path().filename().string().ends_with(".cases.json")) continue;
    json file = json::parse(kit::FileBytes(entry.path()), nullptr, false);
    if (!file.is_object()) continue;
    if (file.contains("block")) {
      if (const BlockDef* def = registry.Find(file["block"].get<std::string>())) tested.insert(def->name);
    }
    for (const json& test : file.value("cases", json::array())) {
      if (test.contains("page")) AddPageBlocks(test["page"], registry, tested);
    }
  }
  return tested;
}

std::set<std::string> BlocksOnPages(const Registry& registry) {
  std::set<std::string> used;
  for (const auto& entry : fs::directory_iterator(kit::kSourceFolder / "graphs")) {
    if (entry.path().filename().string().ends_with(".page.json"))
      AddPageBlocks(json::parse(kit::FileBytes(entry.path()), nullptr, false), registry, used);
  }
  return used;
}

std::vector<std::string> CatalogLines() {
  std::vector<std::string> names;
  std::istringstream lines(kit::FileBytes(kit::kSourceFolder / "blocks" / "catalog.cc"));
  for (std::string line; std::getline(lines, line);) {
    size_t open = line.find("BLOCK("), comma = line.find(", "), close = line.find(") \\");
    if (line.starts_with("  BLOCK(") && comma != std::string::npos && close != std::string::npos && open < comma) {
      names.push_back(line.substr(comma + 2, close - comma - 2));
    }
  }
  return names;
}

}  // namespace

TEST_CASE("every block has cases, every structural block is on a sample page", "[catalog]") {
  Registry registry = MakeCatalog();
  std::set<std::string> tested = TestedBlocks(registry), on_pages = BlocksOnPages(registry);
  for (const auto& def : registry.blocks()) {
    INFO(def->name);
    if (def->structural != Structural::kNone) CHECK(on_pages.contains(def->name));
    else if (!def->internal) CHECK(tested.contains(def->name));
  }
}

TEST_CASE("every block is documented, and its defaults can be read", "[catalog]") {
  Registry registry = MakeCatalog();
  for (const auto& def : registry.blocks()) {
    INFO(def->name);
    CHECK(!def->summary.empty());
    CHECK(def->summary.ends_with("."));
    CHECK(!def->category.empty());
    for (const auto* ports : {&def->inputs, &def->outputs}) {
      for (const PortSpec& port : *ports) {
        INFO(port.name);
        CHECK(!port.doc.empty());
      }
    }
    for (const AttrSpec& attr : def->attrs) {
      INFO(attr.name);
      CHECK(!attr.doc.empty());
      CHECK(attr.doc.find("the declared default cannot be read") == std::string::npos);
      if (attr.default_value) CHECK(CheckAttr(attr, *attr.default_value).ok());
    }
  }
}

TEST_CASE("the catalog is sorted by name, a line each", "[catalog]") {
  std::vector<std::string> names = CatalogLines();
  Registry registry = MakeCatalog();
  CHECK(names.size() == registry.blocks().size());
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  for (const std::string& name : names) {
    INFO(name);
    CHECK(registry.Find(name) != nullptr);
  }
}

TEST_CASE("the blocks.json of the build is what the blocks declare", "[catalog]") {
  const fs::path written = fs::path(WEFT_PROGRAM).parent_path().parent_path() / "schemas/blocks.json";
  bool same = WriteManifest(MakeCatalog()) == kit::FileBytes(written);
  INFO("linking weft_cli writes " << written);
  CHECK(same);
}
