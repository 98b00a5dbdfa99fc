// Runs in shards, on ranks that are threads.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>

#include "tests/runtime/page_test.h"
#include "tests/runtime/shard_kit.h"

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

const ShardingOptions kFourShards{.shards = 4};

/// The batch, in either order of its two parts.
void FeedBatch(Rank& rank, bool turned) {
  for (const char* name : turned ? std::array{"y.output", "x.output"} : std::array{"x.output", "y.output"}) {
    rank.Feed(name, *name == 'x' ? Floats{1, 2, 3, 4} : Floats{1, 1, 2, 2});
  }
}

/// A rank alone that has its batch.
struct FedRank : Rank {
  explicit FedRank(const std::shared_ptr<Collectives>& with = std::make_shared<LocalCollectives>()) : Rank(SummedBlocks(), with) {
    Open(kFourShards);
    FeedBatch(*this, false);
    REQUIRE(ToString(status) == ToString(Status()));
  }
};

/// Two ranks whose runs are open.
struct OpenJob : Job {
  OpenJob() : Job(SummedBlocks(), kFourShards) {
    for (const Rank& rank : ranks) REQUIRE(ToString(rank.status) == ToString(Status()));
  }
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
  OpenJob job;
  job.OnBoth([](Rank& rank) {
    FeedBatch(rank, rank.collectives->rank() == 1);
    rank.Steps(2);
  });
  for (const Rank& rank : job.ranks) CHECK(ToString(rank.status) == ToString(Status()));
  CHECK(job.ranks[0].page.Var("w") == job.ranks[1].page.Var("w"));
}

TEST_CASE("a first step that ends by an exception has not failed on all ranks", "[ranks]") {
  const auto collectives = std::make_shared<NoMemoryRank>();
  const FedRank rank(collectives);
  collectives->ended = true;
  CHECK_THROWS_AS(rank.run->Step(true), std::bad_alloc);
  CHECK_FALSE(rank.run->all_failed());
}

TEST_CASE("a snapshot that one rank cannot take changes the state of none", "[ranks]") {
  const TempFolder folder;
  const std::string path = folder.path() / "snapshot.weft";
  FedRank alone;
  alone.Steps(3);
  REQUIRE(ToString(alone.status) == ToString(Status()));
  REQUIRE(alone.run->SaveSnapshot(path).ok());
  OpenJob job;
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

TEST_CASE("a part of another page's snapshot is taken by all ranks alike", "[ranks]") {
  const TempFolder folder;
  const std::string path = folder.path() / "snapshot.weft";
  FedRank alone;
  alone.Steps(3);
  REQUIRE(alone.run->SaveSnapshot(path).ok());
  std::vector<std::string> blocks = SummedBlocks();
  blocks.push_back(Variable("v", Scalar(2)));
  Job job(blocks, kFourShards);
  const auto load = [&](bool partial) {
    job.OnBoth([&](Rank& rank) {
      Diagnostics problems;
      RestoreOptions how;
      how.partial = partial;
      rank.status = rank.run->LoadSnapshot(path, problems, how);
    });
  };
  load(false);
  for (const Rank& rank : job.ranks) CHECK(rank.status.code() == Code::kNotFound);
  load(true);
  for (const Rank& rank : job.ranks) {
    CHECK(ToString(rank.status) == ToString(Status()));
    CHECK(rank.page.Var("w") == alone.page.Var("w"));
    CHECK(rank.page.Var("v") == Floats{2});
  }
  alone.Steps(1);
  job.OnBoth([](Rank& rank) {
    FeedBatch(rank, false);
    rank.Steps(1);
  });
  for (const Rank& rank : job.ranks) CHECK(rank.page.Var("w") == alone.page.Var("w"));
}

TEST_CASE("a rank's copy of a snapshot is in nobody's way", "[ranks]") {
  const TempFolder folder, temporary;
  const std::string path = folder.path() / "snapshot.weft";
  FedRank alone;
  alone.Steps(1);
  REQUIRE(alone.run->SaveSnapshot(path).ok());
  // What another process of this number, in a container that shares the folder, may have there.
  std::filesystem::create_directory(temporary.path() / Cat("weft-", getpid(), "-restored"));
  OpenJob job;
  {
    const TemporaryFilesIn shared(temporary.path().c_str());
    job.OnBoth([&](Rank& rank) {
      Diagnostics problems;
      rank.status = rank.run->LoadSnapshot(path, problems);
    });
  }
  for (const Rank& rank : job.ranks) CHECK(ToString(rank.status) == ToString(Status()));
  const std::filesystem::directory_iterator left(temporary.path());
  CHECK(std::distance(begin(left), end(left)) == 1);
}

TEST_CASE("a batch that was refused is refused again, until another is fed", "[ranks]") {
  FedRank rank;
  rank.Feed("x.output", {1, 2, 3});
  rank.Feed("y.output", {1, 2, 3});
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status status = rank.run->Step(true);
    CHECK(status.code() == Code::kInvalidArgument);
    CHECK_THAT(status.message(), Catch::Contains("3 rows"));
  }
  FeedBatch(rank, false);
  rank.Steps(1);
  CHECK(ToString(rank.status) == ToString(Status()));
  CHECK(Values(rank.Result("loss.output")) == Floats{4.25});
}

// (For the sanitizer of threads.)
TEST_CASE("another thread may ask what a rank does while it steps", "[ranks]") {
  FedRank rank;
  std::atomic<bool> done = false, asked = false;
  std::string told;
  std::thread asks([&] {
    while (!done) {
      told = rank.run->where();
      asked = true;
    }
  });
  while (!asked) std::this_thread::yield();
  rank.Steps(200);
  done = true;
  asks.join();
  CHECK(ToString(rank.status) == ToString(Status()));
}

}  // namespace weft::test
