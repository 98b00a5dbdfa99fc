// Batch normalisation in groups ends soon after its run is stopped, as by a deadline: each group is a task of its own.
#include <catch2/catch.hpp>

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
  const NormCut norm({16, 64, 112 * 112}, 4, 1, true, true);
  REQUIRE(norm.in_groups);
  REQUIRE(norm.cut.tiles > 8);  // groups
  CHECK(GroupsDone(norm, 1 << 20) == norm.cut.tiles);
  CHECK(GroupsDone(norm, 5) <= 5);
}

}  // namespace
}  // namespace weft::blocks
