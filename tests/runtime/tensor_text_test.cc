// Values as text for people: bounded, whatever the value holds.
#include <catch2/catch.hpp>

#include "runtime/host/ranks/fingerprint.h"
#include "tests/runtime/session_kit.h"
#include "weft/base/difference.h"
#include "weft/base/tensor.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("A long string element is shown as its beginning and how much more there is", "[base][text]") {
  const auto shown = [](std::string_view text) { return ElementText(Tensor::Scalar<String>(text), 0); };
  const std::string most(kMostShownBytes, 'x');
  CHECK(shown(most) == Cat("\"", most, "\""));
  CHECK(shown(most + "y") == Cat("\"", most, "\"... (1 more bytes)"));
  CHECK(ToString(Tensor::Of<String>({most + "yz", "b"})) == Cat("DT_STRING [2] {\"", most, "\"... (2 more bytes),\"b\"}"));
  // Nothing of what is left out is escaped.
  const std::string zeros = ToString(Tensor::Scalar<String>(std::string(100'000'000, '\0')));
  CHECK(zeros.size() < 6 * kMostShownBytes + 100);
  CHECK_THAT(zeros, Contains(Cat("... (", 100'000'000 - kMostShownBytes, " more bytes)")));
}

TEST_CASE("Strings that differ late are shown from a little before that", "[base][text]") {
  const auto shown = [](const std::string& a, const std::string& b) { return DifferentElements(Tensor::Scalar<String>(a), Tensor::Scalar<String>(b), 0); };
  CHECK(shown("a", "b") == std::pair<std::string, std::string>("\"a\"", "\"b\""));
  const std::string alike(5000, 'x'), before = Cat("(4960 bytes)...\"", std::string(40, 'x'));
  CHECK(shown(alike + "a", alike + "b") == std::pair(before + "a\"", before + "b\""));
  CHECK(shown(alike, alike + "b") == std::pair(before + "\"", before + "b\""));
  CHECK(shown(alike + "a", alike + "b" + alike).second == Cat(before, "b", std::string(kMostShownBytes - 41, 'x'), "\"... (945 more bytes)"));
}

TEST_CASE("A long string element is cut between the characters of UTF-8", "[base][text]") {
  const std::string before(kMostShownBytes - 2, 'x'), euro = "\xE2\x82\xAC";
  CHECK(ElementText(Tensor::Scalar<String>(before + euro + euro), 0) == Cat("\"", before, "\"... (6 more bytes)"));
  CHECK(ElementText(Tensor::Scalar<String>("x" + before.substr(2) + euro + euro), 0) == Cat("\"x", before.substr(2), euro, "\"... (3 more bytes)"));
  // Bytes that are no UTF-8 are as many as may be shown.
  const std::string tails(2 * kMostShownBytes, '\x80');
  CHECK(BeginningOf(tails, kMostShownBytes).size() == kMostShownBytes);
  CHECK(BeginningOf("abc", 3) == "abc");
  CHECK(BeginningOf(euro, 2).empty());
}

TEST_CASE("Lists without elements are shown up to a number, whatever the caller would take", "[base][text]") {
  const Tensor rows = Tensor::Allocate(DType::kFloat, Shape{int64_t{1} << 62, 0}).value();
  const std::string text = ToString(rows, 1'000'000'000);
  CHECK(text.size() < 3 * kMostShownEmpty + 100);
  CHECK(text.ends_with("{},...}"));
  const Tensor few = Tensor::Allocate(DType::kFloat, Shape{kMostShownEmpty, 0}).value();
  CHECK_THAT(ToString(few, 1'000'000'000), !Contains("..."));
}

TEST_CASE("Feeds of long strings that differ at their end are different feeds", "[base][text][ranks]") {
  const TestPage page({Block("p", "Placeholder", {}, "dtype_ = DT_STRING;shape_ = [2];")});
  const Graph& graph = page.scope()->graph();
  const auto fingerprint = [&](std::initializer_list<String> texts) {
    SessionSpec spec;
    spec.feeds.push_back({{0, 0}, Tensor::Of<String>(texts)});
    return FingerprintOfFeeds(graph, spec).second;
  };
  const std::string text(2 * kMostShownBytes, 'x');
  CHECK(fingerprint({text + "a", "b"}) == fingerprint({text + "a", "b"}));
  CHECK(fingerprint({text + "a", "b"}) != fingerprint({text + "b", "b"}));
  CHECK(fingerprint({"a", "bc"}) != fingerprint({"ab", "c"}));
}

}  // namespace
}  // namespace weft::test
