// Ranks that are threads of this process.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "weft/base/text.h"
#include "weft/block/collectives.h"

namespace weft::test {

/// A message waits in a box until its receiver comes.
class Boxes {
 public:
  explicit Boxes(int ranks) : ranks(ranks) {}
  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::string>> boxes;  // from, to
};

class ThreadRank final : public Collectives {
 public:
  ThreadRank(Boxes& boxes, int rank) : boxes_(boxes), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return boxes_.ranks; }
  std::string host(int) const override { return "here"; }
  void SetDeadline(CollectiveUser, std::chrono::nanoseconds) override {}
  Status Move(CollectiveUser, std::span<const Message> messages, std::string_view what) override {
    std::unique_lock lock(boxes_.mutex);
    for (const Message& m : messages) {
      if (!m.receive) boxes_.boxes[{rank_, m.rank}].emplace_back(static_cast<const char*>(m.data), m.bytes);
    }
    boxes_.changed.notify_all();
    for (const Message& m : messages) {
      if (!m.receive) continue;
      auto& box = boxes_.boxes[{m.rank, rank_}];
      if (!boxes_.changed.wait_for(lock, std::chrono::seconds(20), [&] { return !box.empty(); })) return Aborted("waited in vain ", what);
      if (box.front().size() != m.bytes) return Internal("sent ", box.front().size(), " bytes, expected ", m.bytes);
      std::copy(box.front().begin(), box.front().end(), static_cast<char*>(m.data));
      box.pop_front();
    }
    return {};
  }

 private:
  Boxes& boxes_;
  const int rank_;
};

}  // namespace weft::test
