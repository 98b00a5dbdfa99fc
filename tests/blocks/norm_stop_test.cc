// Batch normalisation in groups ends soon after its run is stopped, as by a deadline: after the group at hand.
#include <catch2/catch.hpp>
#include <vector>

#include "blocks/kernels/simd/non_temporal.h"
#include "blocks/nn/batch_norm.h"

namespace weft::blocks {
namespace {

/// On one thread; hands out so many tasks, those inside of tasks counted too.
class FewTasks : public Workers {
 public:
  explicit FewTasks(int64_t most) : left_(most) {}
  int threads() const override { return 1; }
  void Run(int64_t count, FunctionRef<void(int64_t)> task) override {
    for (int64_t i = 0; i < count && left_-- > 0; ++i) task(i);
  }
  bool Stopped() const override { return stopped; }

  bool stopped = false;

 private:
  int64_t left_;
};

int64_t GroupsDone(const NormCut& norm, int64_t most_tasks) {
  FewTasks workers(most_tasks);
  Services services;
  services.workers = &workers;
  RunContext ctx;
  FrameOf(ctx).services = &services;
  int64_t finished = 0;
  TwoPasses(
      ctx, norm, [](int64_t) {}, [&](int64_t, int64_t) { ++finished; }, [](int64_t) {});
  return finished;
}

TEST_CASE("A stopped run gets no more groups of channels", "[norm]") {
  const NormCut norm({16, 64, 112 * 112}, DType::kFloat, 1, true, true);
  REQUIRE(norm.in_groups);
  REQUIRE(norm.cut.tiles > 8);  // groups
  CHECK(GroupsDone(norm, 1 << 20) == norm.cut.tiles);
  CHECK(GroupsDone(norm, 5) <= 5);
}

TEST_CASE("Pipelined groups have each pass once, and end after the one at hand", "[norm]") {
  kernels::SetResultCacheBytes(0);  // the output goes past the cache
  const NormCut norm({16, 64, 112 * 112}, DType::kFloat, 1, true, true), short_norm({16, 64, 112 * 112}, DType::kBFloat16, 1, true, true);
  kernels::SetResultCacheBytes(-1);
  REQUIRE(norm.pipelined);
  CHECK(short_norm.stream);
  CHECK_FALSE(short_norm.pipelined);
  for (const int64_t most : {norm.cut.tiles, int64_t{3}}) {
    FewTasks workers(1 << 20);
    Services services;
    services.workers = &workers;
    RunContext ctx;
    FrameOf(ctx).services = &services;
    const auto tasks = static_cast<size_t>(norm.cut.tasks());
    std::vector<int> first(tasks), last(tasks);
    int64_t finished = 0, pipelined = 0;
    TwoPasses(
        ctx, norm, [&](int64_t task) { ++first[static_cast<size_t>(task)]; },
        [&](int64_t, int64_t) { workers.stopped = ++finished == most; }, [&](int64_t task) { ++last[static_cast<size_t>(task)]; },
        [&](int64_t task, int64_t next) { ++pipelined, ++last[static_cast<size_t>(task)], ++first[static_cast<size_t>(next)]; });
    CHECK(finished == most);
    CHECK(pipelined > 0);
    if (most == norm.cut.tiles) {
      CHECK(first == std::vector<int>(tasks, 1));
      CHECK(last == std::vector<int>(tasks, 1));
    }
  }
}

}  // namespace
}  // namespace weft::blocks
