// The index of ids: what pages name by counting, and ids that look alike.
#include "weft/page/id_index.h"

#include <ctime>
#include <functional>

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

// As a page may have them that is made to take long: their places in the table are those of eight neighbours.
TEST_CASE("Ids that all belong at one place are found in little more time than others", "[page]") {
  constexpr size_t kCount = 40000;
  const std::string prefix = "a_";
  std::vector<std::string> close, apart;
  for (uint32_t group = 0; group < 125000000 && close.size() < kCount; ++group) {
    const uint64_t hash = ((std::hash<std::string_view>()(prefix) + 9) ^ group) * 0x9E3779B97F4A7C15u;
    if ((hash >> 32 & 0x3FFF) != 0) continue;
    for (uint32_t k = 0; k < 8; ++k) {
      const std::string number = std::to_string(group * 8 + k);
      close.push_back(prefix + std::string(9 - number.size(), '0') + number);
    }
  }
  REQUIRE(close.size() == kCount);
  for (size_t i = 0; i < kCount; ++i) apart.push_back(Cat("n", i));
  const auto seconds = [](const std::vector<std::string>& ids, size_t reserved) {
    const std::vector<PageBlock> blocks = Named(ids);
    const std::clock_t begin = std::clock();
    IdIndex index;
    index.Reserve(reserved);
    size_t right = 0;
    for (size_t i = 0; i < blocks.size(); ++i) right += index.Add(blocks, i);
    for (size_t i = 0; i < blocks.size(); ++i) right += !index.Add(blocks, i) && index.Find(blocks, ids[i]) == static_cast<int>(i);
    REQUIRE(right == 2 * kCount);
    REQUIRE(index.Find(blocks, "a_999999999") == -1);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  for (size_t reserved : {size_t{0}, kCount}) {
    const double needed = seconds(close, reserved), usual = seconds(apart, reserved);
    INFO(needed << " s, " << usual << " s");
    CHECK(needed < 0.1 + 10 * usual);
  }
}

}  // namespace weft
