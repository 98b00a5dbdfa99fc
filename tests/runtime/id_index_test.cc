// The index of ids: what pages name by counting, and ids that look alike.
#include "weft/page/id_index.h"

#include <catch2/catch.hpp>

#include "weft/base/text.h"

namespace weft {
namespace {

std::vector<PageBlock> Named(const std::vector<std::string>& ids) {
  std::vector<PageBlock> blocks;
  for (const std::string& id : ids) blocks.emplace_back().id = id;
  return blocks;
}

}  // namespace

TEST_CASE("Ids that look alike are blocks of their own", "[page]") {
  const std::vector<std::string> ids = {"b1", "b01", "b001", "b", "1", "01", "", "b1000000000", "b10000000000", "b2", "c1", "b1b", "b1b1"};
  const std::vector<PageBlock> blocks = Named(ids);
  IdIndex index;
  for (size_t i = 0; i < blocks.size(); ++i) REQUIRE(index.Add(blocks, i));
  for (size_t i = 0; i < blocks.size(); ++i) REQUIRE(index.Find(blocks, ids[i]) == static_cast<int>(i));
  for (const char* other : {"b3", "b0", "0", "b0001", "c", "b9", "b1000000001"}) REQUIRE(index.Find(blocks, other) == -1);
}

TEST_CASE("An index of ids grows with what is added, and knows the first of several", "[page]") {
  std::vector<std::string> ids;
  for (int i = 0; i < 5000; ++i) ids.insert(ids.end(), {Cat("w", i), Cat("m", i), Cat("layer_", i / 10, "_", i % 10)});
  const size_t fresh = ids.size();
  ids.insert(ids.end(), {"w0", "m4999", "layer_499_9"});
  const std::vector<PageBlock> blocks = Named(ids);
  for (size_t reserved : {size_t{0}, fresh}) {
    IdIndex index;
    index.Reserve(reserved);
    for (size_t i = 0; i < blocks.size(); ++i) REQUIRE(index.Add(blocks, i) == (i < fresh));
    for (size_t i = 0; i < fresh; ++i) REQUIRE(index.Find(blocks, ids[i]) == static_cast<int>(i));
    REQUIRE(index.Find(blocks, "w5000") == -1);
  }
}

}  // namespace weft
