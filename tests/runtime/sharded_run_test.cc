// Runs in shards, on ranks that are threads.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "tests/runtime/thread_ranks.h"
#include "weft/host/session_choice.h"
#include "weft/host/sharded_run.h"

namespace weft::test {
namespace {

/// loss = mean(x * y * w), and w -= 0.5 * the gradient of that.
std::vector<std::string> SummedBlocks() {
  return {Block("x", "Placeholder", {}, "dtype = DT_FLOAT;"), Block("y", "Placeholder", {}, "dtype = DT_FLOAT;"), Variable("w", Scalar(1)),
          Block("pairs", "Multiply", {{"x", "x.output"}, {"y", "y.output"}}), Block("line", "Multiply", {{"x", "pairs.z"}, {"y", "w.ref"}}),
          Block("loss", "Mean", {{"input", "line.z"}, {"axis", Ints({0})}}),
          Block("gradients", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"w.ref\"]"}}),
          Block("train", "ApplyGradientDescent", {{"var", "w.ref"}, {"alpha", Scalar(0.5)}, {"delta", "gradients.grad_outputs[0]"}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"loss.output\"]"}, {"run_outputs", "[\"train.operation\"]"}})};
}

Tensor Rows(const std::vector<float>& values) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, Shape{static_cast<int64_t>(values.size())}).value();
  std::ranges::copy(values, tensor.values<float>().begin());
  return tensor;
}

/// A rank with its own copy of the page. (Catch's checks are for one thread: `status` is for them.)
struct Rank {
  explicit Rank(std::shared_ptr<Collectives> with) : collectives(std::move(with)), page(SummedBlocks()) {}

  void Open() {
    auto opened = ShardedRun::Open(page.scope(), ChooseSession(page.graph(), {}).value(), {.shards = 4, .feeds_later = true}, collectives);
    status = opened.status();
    if (opened.ok()) run = std::move(*opened);
  }
  void Feed(bool turned) {
    for (const char* name : turned ? std::array{"y.output", "x.output"} : std::array{"x.output", "y.output"}) {
      if (status.ok()) status = run->Feed(name, Rows(*name == 'x' ? Floats{1, 2, 3, 4} : Floats{1, 1, 2, 2}));
    }
  }
  void Steps(int count) {
    for (int i = 0; i < count && status.ok(); ++i) status = run->Step(true);
  }

  const std::shared_ptr<Collectives> collectives;
  TestPage page;
  std::unique_ptr<ShardedRun> run;
  Status status;
};

/// Two ranks whose runs are open.
struct Job {
  Job() {
    OnBoth([](Rank& rank) { rank.Open(); });
    for (const Rank& rank : ranks) REQUIRE(ToString(rank.status) == ToString(Status()));
  }
  void OnBoth(const std::function<void(Rank&)>& work) {
    std::thread other([&] { work(ranks[1]); });
    work(ranks[0]);
    other.join();
  }

  Boxes boxes{2};
  Rank ranks[2] = {Rank(std::make_shared<ThreadRank>(boxes, 0)), Rank(std::make_shared<ThreadRank>(boxes, 1))};
};

/// The folder for temporary files of this process, until it is gone.
struct TemporaryFilesIn {
  explicit TemporaryFilesIn(const char* folder) { setenv("TMPDIR", folder, 1); }
  ~TemporaryFilesIn() {
    if (before.empty()) unsetenv("TMPDIR");
    else setenv("TMPDIR", before.c_str(), 1);
  }
  const std::string before = std::getenv("TMPDIR") == nullptr ? "" : std::getenv("TMPDIR");
};

/// A rank of one whose memory ends.
class NoMemoryRank final : public Collectives {
 public:
  bool ended = false;
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string host(int) const override { return "here"; }
  void SetDeadline(CollectiveUser, std::chrono::nanoseconds) override {}
  Status Move(CollectiveUser, std::span<const Message>, std::string_view) override {
    if (ended) throw std::bad_alloc();
    return {};
  }
};

}  // namespace

TEST_CASE("ranks may be fed in different orders", "[ranks]") {
  Job job;
  job.OnBoth([](Rank& rank) {
    rank.Feed(rank.collectives->rank() == 1);
    rank.Steps(2);
  });
  for (const Rank& rank : job.ranks) CHECK(ToString(rank.status) == ToString(Status()));
  CHECK(job.ranks[0].page.Var("w") == job.ranks[1].page.Var("w"));
}

TEST_CASE("a first step that ends by an exception has not failed on all ranks", "[ranks]") {
  const auto collectives = std::make_shared<NoMemoryRank>();
  Rank rank(collectives);
  rank.Open();
  rank.Feed(false);
  REQUIRE(rank.status.ok());
  collectives->ended = true;
  CHECK_THROWS_AS(rank.run->Step(true), std::bad_alloc);
  CHECK_FALSE(rank.run->all_failed());
}

TEST_CASE("a snapshot that one rank cannot take changes the state of none", "[ranks]") {
  const TempFolder folder;
  const std::string path = folder.path() / "snapshot.weft";
  Rank alone(std::make_shared<LocalCollectives>());
  alone.Open();
  alone.Feed(false);
  alone.Steps(3);
  REQUIRE(ToString(alone.status) == ToString(Status()));
  REQUIRE(alone.run->SaveSnapshot(path).ok());
  Job job;
  const auto load = [&](Rank& rank) {
    Diagnostics problems;
    rank.status = rank.run->LoadSnapshot(path, problems);
  };
  {
    const TemporaryFilesIn nowhere("/proc");  // which takes no files
    job.OnBoth(load);
  }
  CHECK(job.ranks[0].status.code() == Code::kAborted);
  CHECK_FALSE(job.ranks[1].status.ok());
  for (const Rank& rank : job.ranks) {
    CHECK(rank.run->all_failed());
    CHECK(rank.run->steps() == 0);
    CHECK(rank.page.Var("w") == Floats{1});
  }
  job.OnBoth(load);
  for (const Rank& rank : job.ranks) {
    CHECK(ToString(rank.status) == ToString(Status()));
    CHECK(rank.run->steps() == 3);
    CHECK(rank.page.Var("w") == alone.page.Var("w"));
  }
}

}  // namespace weft::test
