// Hashes of texts from outside.
#include "weft/base/keyed_hash.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "weft/base/text.h"

namespace weft {
namespace {

TEST_CASE("A keyed hash tells texts apart by every byte and by their length", "[base]") {
  std::set<uint64_t> seen;
  std::string text;
  size_t count = 0;
  for (size_t length = 0; length <= 20; ++length, text += '\0') {
    for (size_t at = 0; at < length; ++at, ++count) {
      std::string other = text;
      other[at] = 'x';
      seen.insert(KeyedHash(other));
      CHECK(KeyedHash(other) == KeyedHash(std::string(other)));
    }
    seen.insert(KeyedHash(text));
    ++count;
  }
  CHECK(seen.size() == count);
}

TEST_CASE("Texts that fall on one place by the library's hash spread by the keyed one", "[base]") {
  constexpr size_t kPlaces = 4096, kTexts = 500;
  std::set<uint64_t> places;
  size_t texts = 0;
  for (size_t i = 0; texts < kTexts; ++i) {
    const std::string text = Cat("k", i);
    if (std::hash<std::string_view>()(text) % kPlaces != 5) continue;
    places.insert(KeyedHash(text) % kPlaces);
    ++texts;
  }
  CHECK(places.size() > kTexts * 3 / 4);  // of 500 on 4096 places 29 meet another in the mean
}

}  // namespace
}  // namespace weft
