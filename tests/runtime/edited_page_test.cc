// What edits of a page are found by: places in order, names, readers; and that many edits in one call are as each of them by itself.
#include <random>

#include <catch2/catch.hpp>

#include "runtime/page/edited_list.h"
#include "tests/kit/random_edits.h"
#include "tests/runtime/page_test.h"
#include "weft/block/registry.h"
#include "weft/page/edit.h"
#include "weft/state/runtime.h"

namespace weft {
namespace {

/// Blocks of which each eighth reads a long list, wires to blocks that are not there, and a layout with entries of no block.
Page ManyReaders(std::mt19937& random, int blocks) {
  std::string text, layout;
  for (int i = 0; i < blocks; ++i) {
    const auto wire = [&] { return Cat("\"", random() % 8 == 0 ? "new" : "n", random() % static_cast<uint32_t>(blocks), ".y\""); };
    std::string inputs = Cat("\"x\": ", wire());
    if (i % 8 == 0) {
      std::string items;
      for (int k = 0; k < 100; ++k) items += Cat(k ? ", " : "", k % 9 == 0 ? "{\"dtype\": \"DT_FLOAT\", \"shape\": [], \"values\": [1]}" : wire());
      inputs = Cat("\"inputs\": [", items, "]");
    }
    text += Cat(i ? ", " : "", "{\"id\": \"n", i, "\", \"block\": \"", i % 8 ? "Negate" : "AddN", "\", \"inputs\": {", inputs, "}}");
    layout += Cat(i ? ", " : "", "\"", i % 5 ? "n" : "new", i, "\": [", i, ", 2]");
  }
  return ReadText(Cat("{\"weft\": 1, \"page\": \"p\", \"blocks\": [", text, "], \"layout\": {", layout, "}}")).page;
}

/// Edits that can be made one after the other, each of them made on the page.
std::vector<Edit> MadeOneByOne(Page& page, const Registry& registry, std::mt19937& random, std::vector<std::vector<Edit>>& undo) {
  kit::RandomEdits edits(registry, static_cast<uint32_t>(random()));
  std::vector<Edit> made;
  while (made.size() < 200) {
    Edit edit = edits.Next(page);
    if (auto* rename = std::get_if<RenameBlock>(&edit); rename != nullptr && random() % 2) rename->to = Cat("new", random() % 40);
    if (auto* move = std::get_if<MoveBlock>(&edit)) move->place = static_cast<int64_t>(random() % (page.layout.size() + 1));
    auto done = ApplyEdits(page, std::span(&edit, 1));
    if (!done.ok()) continue;
    made.push_back(std::move(edit));
    undo.push_back(std::move(*done));
  }
  return made;
}

std::string StateOf(const Page& page) {
  std::string state = WritePage(page);
  for (const PageBlock& block : page.blocks) state += Cat(block.id, " ", block.serial, " ", block.version, "\n");
  return Cat(state, page.edits);
}

}  // namespace

TEST_CASE("edits: many in one call are as each of them by itself", "[edit]") {
  const Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  for (uint32_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Page first = ManyReaders(random, 10 + static_cast<int>(seed) * 2);
    Page one_by_one = first, at_once = first, refused = first;
    std::vector<std::vector<Edit>> undo;
    std::vector<Edit> edits = MadeOneByOne(one_by_one, runtime.registry(), random, undo);
    auto undo_at_once = ApplyEdits(at_once, edits);
    REQUIRE(undo_at_once.ok());
    CHECK(StateOf(at_once) == StateOf(one_by_one));
    while (!undo.empty()) {
      REQUIRE(ApplyEdits(one_by_one, undo.back()).ok());
      undo.pop_back();
    }
    CHECK(WritePage(one_by_one) == WritePage(first));
    auto redo = ApplyEdits(at_once, *undo_at_once);
    INFO(ToString(redo.status()));
    REQUIRE(redo.ok());
    CHECK(WritePage(at_once) == WritePage(first));
    edits.push_back(RemoveBlock{"no such block"});
    CHECK(ApplyEdits(refused, edits).status().place().pointer == "/200");
    CHECK(WritePage(refused) == WritePage(first));
  }
}

TEST_CASE("edits: of two blocks of one id, many edits in one call find the first, as one does", "[edit]") {
  std::string blocks = "{\"id\": \"b\", \"block\": \"NoOp\", \"n\": 0}";
  for (int i = 1; i < 30; ++i) blocks += Cat(", {\"id\": \"", i % 3 ? "b" : "c", "\", \"block\": \"NoOp\", \"n\": ", i, "}");
  const Page first = ReadText(PageWith(blocks)).page;
  Page one_by_one = first, at_once = first;
  std::vector<Edit> edits(18, RemoveBlock{"b"});
  edits.emplace_back(SetKey{"b", "note", "1", -1});
  edits.emplace_back(RenameBlock{"c", "d"});
  for (const Edit& edit : edits) REQUIRE(ApplyEdits(one_by_one, std::span(&edit, 1)).ok());
  REQUIRE(ApplyEdits(at_once, edits).ok());
  CHECK(StateOf(at_once) == StateOf(one_by_one));
  const std::vector<Edit> taken = {RenameBlock{"d", "e"}, RenameBlock{"e", "b"}};
  CHECK(ApplyEdits(at_once, taken).status().message() == ApplyEdits(one_by_one, taken).status().message());
}

TEST_CASE("an order tree finds places and handles as a list does", "[edit]") {
  std::mt19937 random(7);
  for (const int begin : {0, 1, 2, 3, 100}) {
    page::OrderTree tree(begin);
    std::vector<int> list(static_cast<size_t>(begin));
    for (int i = 0; i < begin; ++i) list[static_cast<size_t>(i)] = i;
    int next = begin;
    for (int step = 0; step < 2000; ++step) {
      const size_t place = random() % (list.size() + 1);
      if (place == list.size() || random() % 2) {
        REQUIRE(tree.Insert(static_cast<int>(place)) == next);
        list.insert(list.begin() + static_cast<ptrdiff_t>(place), next++);
      } else {
        const int handle = list[place];
        CHECK(tree.Has(handle));
        tree.Erase(handle);
        CHECK(!tree.Has(handle));
        list.erase(list.begin() + static_cast<ptrdiff_t>(place));
      }
      REQUIRE(tree.size() == static_cast<int>(list.size()));
      if (list.empty()) continue;
      const size_t asked = random() % list.size();
      REQUIRE(tree.At(static_cast<int>(asked)) == list[asked]);
      REQUIRE(tree.PlaceOf(list[asked]) == static_cast<int>(asked));
    }
    CHECK(tree.InOrder() == list);
  }
}

}  // namespace weft
