// What candidate samplers keep from run to run goes into a snapshot and comes back.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "tests/runtime/session_kit.h"
#include "weft/state/snapshot.h"

namespace weft::test {
namespace {

std::string Classes(const std::vector<int64_t>& classes) {
  std::string text;
  for (int64_t one : classes) text += Cat(text.empty() ? "" : ", ", one);
  return Cat(R"({"dtype": "DT_INT64", "shape": [)", classes.size(), R"(, 1], "values": [)", text, "]}");
}

std::vector<std::string> SamplerPage(std::string_view block) {
  return {Block("s", block, {{"true_classes", Classes({5, 5, 2, 5})}},
                "num_true_ = 1;num_sampled_ = 6;unique_ = false;range_max_ = 8;seed_ = 7;seed2_ = 13;")};
}

struct Drawn {
  std::vector<int64_t> classes;
  Floats expected;
  bool operator==(const Drawn&) const = default;
};
Drawn Draw(const TestPage& page) {
  auto session = page.Open({"s.sampled_candidates", "s.true_expected_count"});
  RunOk(*session);
  return {test::Get<int64_t>(*session, "s.sampled_candidates"), test::Get(*session, "s.true_expected_count")};
}

void Restore(const TestPage& page, const std::filesystem::path& file) {
  Diagnostics problems;
  const Status status = RestoreSnapshot(*page.scope(), file, {}, problems).status();
  INFO(ToString(status));
  REQUIRE(status.ok());
}

}  // namespace

TEST_CASE("What a sampler learned and where its numbers stand comes back from a snapshot", "[candidates]") {
  const auto file = std::filesystem::temp_directory_path() / Cat("weft_candidates_", getpid(), ".snap");
  for (const char* block : {"LearnedUnigramCandidateSampler", "LogUniformCandidateSampler", "UniformCandidateSampler"}) {
    INFO(block);
    TestPage page(SamplerPage(block)), fresh(SamplerPage(block));
    const Drawn first = Draw(page);
    CHECK(Draw(page) != first);
    REQUIRE(SaveSnapshot(*page.scope(), file).ok());
    const Drawn third = Draw(page);
    Restore(page, file);
    CHECK(Draw(page) == third);
    Restore(fresh, file);
    REQUIRE(SaveSnapshot(*fresh.scope(), file).ok());  // restored, and not used yet
    CHECK(Draw(fresh) == third);
    TestPage again(SamplerPage(block));
    Restore(again, file);
    CHECK(Draw(again) == third);
    CHECK(Draw(again) == Draw(fresh));
  }
  std::filesystem::remove(file);
}

TEST_CASE("The state of a sampler of another number of classes is refused", "[candidates]") {
  const auto file = std::filesystem::temp_directory_path() / Cat("weft_candidates_other_", getpid(), ".snap");
  const std::string attrs = "num_true_ = 1;num_sampled_ = 2;unique_ = true;seed_ = 1;";
  TestPage eight({Block("s", "LearnedUnigramCandidateSampler", {{"true_classes", Classes({1})}}, attrs + "range_max_ = 8;")});
  TestPage nine({Block("s", "LearnedUnigramCandidateSampler", {{"true_classes", Classes({1})}}, attrs + "range_max_ = 9;")});
  Draw(eight);
  Draw(nine);
  REQUIRE(SaveSnapshot(*eight.scope(), file).ok());
  Diagnostics problems;
  CHECK_FALSE(RestoreSnapshot(*nine.scope(), file, {}, problems).ok());
  std::filesystem::remove(file);
}

}  // namespace weft::test
