// Sums over shards: one order whatever the number of ranks, and blocks of shards that are nodes of one tree.
#include <catch2/catch.hpp>

#include <atomic>
#include <random>
#include <thread>

#include "runtime/host/ranks/value_join.h"
#include "tests/runtime/thread_ranks.h"
#include "weft/base/float16.h"

namespace weft::test {
namespace {

constexpr int64_t kJoined = 10'007;  // no multiple of anything

/// What shard `shard` has: numbers of very different sizes, whose sum depends on the order.
Tensor ValueOf(DType dtype, int shard) {
  Tensor tensor = Tensor::Allocate(dtype, Shape{kJoined}).value();
  std::mt19937 random(static_cast<unsigned>(shard) + 1);
  Dispatch(dtype, TypeList<float, double, half, bfloat16, int32_t>{}, [&]<class T>() {
    for (T& value : tensor.values<T>()) {
      const auto whole = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
      value = static_cast<T>(whole / (random() % 3 == 0 ? 1000.0f : 1.0f));
    }
  });
  return tensor;
}

/// The values of all shards joined by so many ranks, as rank 0 and the last one have them.
std::vector<Tensor> Joined(int ranks, int shards, DType dtype, JoinKind kind) {
  Boxes boxes(ranks);
  std::vector<Tensor> results(static_cast<size_t>(ranks));
  std::atomic<bool> fine{true};  // (Catch's checks are for one thread.)
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const auto check = [&](const Status& status) { fine = fine && status.ok(); };
      ThreadRank rank(boxes, r);
      const ShardTree tree(shards, ranks);
      const std::atomic<bool> cancelled{false};
      ValueJoin join(rank, tree, cancelled);
      // (Small ones between, which lie beside it in its bucket.)
      check(join.Make({{"a", dtype, Shape{3}, kind}, {"b", dtype, Shape{kJoined}, kind}}, nullptr));
      for (int step = 0; step < 2; ++step) {
        join.Begin();
        for (int shard = tree.Of(r).begin; shard < tree.Of(r).end; ++shard) {
          const Tensor value = ValueOf(dtype, shard);
          check(join.Add(0, shard, Tensor::View(dtype, Shape{3}, const_cast<void*>(value.data()), value.owner())));
          check(join.Add(1, shard, value));
        }
        check(join.Finish());
      }
      results[static_cast<size_t>(r)] = join.result(1).Clone().value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(fine);
  return results;
}

}  // namespace

TEST_CASE("a join has the same bits on any number of ranks", "[ranks]") {
  for (DType dtype : {DType::kFloat, DType::kDouble, DType::kHalf, DType::kBFloat16}) {
    for (int shards : {1, 6, 7, 8, 12}) {
      const Tensor alone = Joined(1, shards, dtype, JoinKind::kMean)[0];
      for (int ranks = 2; ranks <= shards; ++ranks) {
        INFO(Cat(dtype) << ", " << shards << " shards, " << ranks << " ranks");
        for (const Tensor& other : Joined(ranks, shards, dtype, JoinKind::kMean)) REQUIRE(SameBits(alone, other));
      }
    }
  }
}

TEST_CASE("the order of a join is that of its tree, and no other", "[ranks]") {
  const Tensor joined = Joined(2, 4, DType::kFloat, JoinKind::kSum)[0];
  std::vector<Tensor> shards;
  for (int shard = 0; shard < 4; ++shard) shards.push_back(ValueOf(DType::kFloat, shard));
  int differs = 0;
  for (int64_t i = 0; i < kJoined; ++i) {
    const auto at = [&](int shard) { return shards[static_cast<size_t>(shard)].values<float>()[static_cast<size_t>(i)]; };
    REQUIRE(joined.values<float>()[static_cast<size_t>(i)] == (at(0) + at(1)) + (at(2) + at(3)));
    differs += joined.values<float>()[static_cast<size_t>(i)] != ((at(0) + at(1)) + at(2)) + at(3);
  }
  CHECK(differs > 0);  // so that the order can be seen at all
}

TEST_CASE("sums of integers wrap, and have no mean", "[ranks]") {
  const Tensor sum = Joined(3, 5, DType::kInt32, JoinKind::kSum)[2];
  int32_t expected = 0;
  for (int shard = 0; shard < 5; ++shard) expected += ValueOf(DType::kInt32, shard).values<int32_t>()[17];
  CHECK(sum.values<int32_t>()[17] == expected);
  LocalCollectives local;
  const std::atomic<bool> cancelled{false};
  ValueJoin join(local, ShardTree(2, 1), cancelled);
  const Status refused = join.Make({{"count", DType::kInt32, Shape{}, JoinKind::kMean}}, nullptr);
  CHECK(refused.code() == Code::kInvalidArgument);
  CHECK(refused.message().find("'count'") != std::string_view::npos);
}

TEST_CASE("neighbouring shards are blocks of the tree", "[ranks]") {
  for (int shards = 1; shards <= 40; ++shards) {
    for (int ranks = 1; ranks <= shards; ++ranks) {
      const ShardTree tree(shards, ranks);
      int next = 0;
      for (int r = 0; r < ranks; ++r) {
        for (const ShardBlock& block : tree.BlocksOf(r)) {
          REQUIRE(block.begin == next);
          next = block.end;
          // It is reached from the root by going left and right.
          ShardBlock node{0, shards};
          while (!(node == block)) {
            REQUIRE(node.size() > 1);
            const int middle = ShardTree::Middle(node);
            node = block.begin < middle ? ShardBlock{node.begin, middle} : ShardBlock{middle, node.end};
          }
        }
        // Its shards are those of its blocks, and neighbours of the next rank's.
        REQUIRE(tree.Of(r).end == next);
        REQUIRE((r + 1 == ranks || tree.Of(r + 1).begin == next));
      }
      REQUIRE(next == shards);
    }
  }
}

TEST_CASE("every process gets what one broadcasts, and learns of a failure", "[ranks]") {
  for (int ranks : {1, 2, 3, 5, 8}) {
    for (int root = 0; root < ranks; ++root) {
      Boxes boxes(ranks);
      std::vector<std::string> got(static_cast<size_t>(ranks));
      std::vector<Status> agreed(static_cast<size_t>(ranks));
      std::vector<std::thread> threads;
      for (int r = 0; r < ranks; ++r) {
        threads.emplace_back([&, r] {
          ThreadRank rank(boxes, r);
          std::string text = r == root ? "what the root has" : "";
          static_cast<void>(BroadcastText(rank, CollectiveUser::kControl, root, text, "").ok());
          got[static_cast<size_t>(r)] = text;
          agreed[static_cast<size_t>(r)] = AgreeOnStatus(rank, CollectiveUser::kControl, r == root ? NotFound("no page") : Status(), "");
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (int r = 0; r < ranks; ++r) {
        CHECK(got[static_cast<size_t>(r)] == "what the root has");
        const Status& status = agreed[static_cast<size_t>(r)];
        CHECK(status.code() == (r == root ? Code::kNotFound : Code::kAborted));
        if (r != root) CHECK(status.message() == Cat("rank ", root, " (here) failed: no page"));
      }
    }
  }
}

}  // namespace weft::test
