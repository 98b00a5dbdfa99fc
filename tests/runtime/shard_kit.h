// Ranks that are threads of a test, each with its own copy of a page that runs in shards.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/runtime/session_kit.h"
#include "tests/runtime/thread_ranks.h"
#include "weft/host/session_choice.h"
#include "weft/host/sharded_run.h"

namespace weft::test {

inline Tensor Rows(const std::vector<float>& values) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, Shape{static_cast<int64_t>(values.size())}).value();
  std::ranges::copy(values, tensor.values<float>().begin());
  return tensor;
}

/// A rank with its own copy of the page. (Catch's checks are for one thread: `status` is for them, and keeps the first failure.)
struct Rank {
  explicit Rank(const std::vector<std::string>& blocks, std::shared_ptr<Collectives> with = std::make_shared<LocalCollectives>(),
                ScopeOptions scope = {})
      : collectives(std::move(with)), page(blocks, {.threads = 2, .memory_limit = 0}, std::move(scope)) {}

  void Open(ShardingOptions options) {
    options.feeds_later = true;
    auto opened = ShardedRun::Open(page.scope(), ChooseSession(page.graph(), {}).value(), std::move(options), collectives);
    status = opened.status();
    if (opened.ok()) run = std::move(*opened);
  }
  void Feed(std::string_view name, const std::vector<float>& rows) {
    if (status.ok()) status = run->Feed(name, Rows(rows));
  }
  void Steps(int count) {
    for (int i = 0; i < count && status.ok(); ++i) status = run->Step(true);
  }

  Tensor Result(std::string_view name) const {
    for (const auto& [of, tensor] : run->results()) {
      if (of == name) return tensor;
    }
    FAIL("no result '" << name << "'");
    return {};
  }

  const std::shared_ptr<Collectives> collectives;
  TestPage page;
  std::unique_ptr<ShardedRun> run;
  Status status;
};

/// Two ranks whose runs have been opened.
struct Job {
  Job(const std::vector<std::string>& blocks, const ShardingOptions& options)
      : ranks{Rank(blocks, std::make_shared<ThreadRank>(boxes, 0)), Rank(blocks, std::make_shared<ThreadRank>(boxes, 1))} {
    OnBoth([&](Rank& rank) { rank.Open(options); });
  }
  void OnBoth(const std::function<void(Rank&)>& work) {
    std::thread other([&] { work(ranks[1]); });
    work(ranks[0]);
    other.join();
  }

  Boxes boxes{2};
  Rank ranks[2];
};

}  // namespace weft::test
