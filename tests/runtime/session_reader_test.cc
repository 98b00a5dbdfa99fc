// Readers of a page that runs: what they hold stays as it is, while memory that they have let go is used again.
#include <atomic>
#include <thread>

#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

/// In run r, counted from 1, every element of big.product, and small.z, is r - 0.5.
std::vector<std::string> Growing() {
  return {Variable("v", Literal("DT_FLOAT", {1, 100}, std::vector<double>(100, 0.5))),
          Block("ones", "Fill", {{"dims", Ints({100, 1})}, {"value", Scalar(1)}}),
          Block("big", "MatMul", {{"a", "ones.output"}, {"b", "v.ref"}}),
          Block("small", "Mean", {{"input", "v.ref"}, {"axis", Ints({0, 1})}}),
          Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", Literal("DT_FLOAT", {1, 100}, std::vector<double>(100, 1))}})};
}

constexpr std::string_view kNames[] = {"big.product", "small.output", "v.ref"};

/// Whether all elements are those of their run.
bool Right(const std::vector<Result<ResultValue>>& results) {
  for (const Result<ResultValue>& result : results) {
    if (!result.ok()) return false;
    for (float value : result->tensor.values<float>()) {
      if (value != static_cast<float>(result->run) - 0.5f) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("Results that a reader holds stay as they are, however many runs follow", "[session-api]") {
  for (size_t held : {1u, 2u, 3u, 5u}) {
    TestPage page(Growing());
    auto session = page.Open({"big.product", "small.output", "v.ref"}, {"up"});
    std::vector<std::vector<Result<ResultValue>>> reads;
    for (int run = 1; run <= 30; ++run) {
      RunOk(*session);
      reads.push_back(session->GetAll(kNames));
      if (reads.size() > held) reads.erase(reads.begin());
      for (const auto& read : reads) REQUIRE(Right(read));
    }
  }
}

TEST_CASE("Threads that read all results, and hold them for a while, see whole runs only", "[session-api]") {
  TestPage page(Growing());
  auto session = page.Open({"big.product", "small.output", "v.ref"}, {"up"});
  RunOk(*session);
  std::atomic<bool> ended{false};
  std::atomic<int> wrong{0}, read{0};
  std::vector<std::thread> readers;
  for (size_t held : {1u, 2u, 4u}) {
    readers.emplace_back([&, held] {
      std::vector<std::vector<Result<ResultValue>>> reads;
      while (!ended) {
        reads.push_back(session->GetAll(kNames));
        if (reads.size() > held) reads.erase(reads.begin());
        for (const auto& one : reads) wrong += Right(one) ? 0 : 1;
        ++read;
      }
    });
  }
  Status status;
  const Clock::time_point start = Clock::now();
  for (int run = 0; status.ok() && (run < 500 || read < 100) && MillisecondsSince(start) < 5000; ++run) status = session->Run();
  ended = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(status.ok());
  CHECK(wrong == 0);
  CHECK(read > 0);
}

}  // namespace weft::test
