// HashBytes: what differs has another hash, wherever it differs.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "weft/base/hash.h"

namespace weft {

TEST_CASE("hashes of bytes differ by every bit, by length and by what came before", "[base]") {
  std::set<uint64_t> seen;
  size_t count = 0;
  const auto add = [&](std::string_view bytes, uint64_t before = 0) {
    seen.insert(HashBytes(bytes, before));
    ++count;
  };
  for (size_t size : {1, 7, 8, 9, 16, 40}) {
    const std::string zeros(size, '\0');
    add(zeros);
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      std::string changed = zeros;
      changed[bit / 8] = static_cast<char>(1 << bit % 8);
      add(changed);
    }
  }
  for (const char* text : {"a", "b", "ab", "ba"}) add(text);
  add("b", HashBytes("a"));
  add("a", HashBytes("b"));
  CHECK(seen.size() == count);
}

TEST_CASE("signs of two numbers do not cancel in a hash", "[base]") {
  const double numbers[] = {1, 2, 3, 4}, negated[] = {-1, -2, 3, 4};
  const auto hash = [](const double(&of)[4]) { return HashBytes({reinterpret_cast<const char*>(of), sizeof of}); };
  CHECK(hash(numbers) != hash(negated));
}

TEST_CASE("a hash is that of other processes", "[base]") {
  CHECK(HashBytes("") == 0);
  CHECK(HashBytes("a page") == HashBytes(std::string("a page")));
}

}  // namespace weft
