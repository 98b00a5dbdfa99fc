// SparseTensorsMap: sparse tensors that blocks of a page keep under numbers, until others take them.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "blocks/sparse/minibatch.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

/// Thread-safe. What it keeps counts in the budget that its tensors were allocated from.
class SparseTensorsMap final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "map of sparse tensors";
  std::string_view kind() const override { return kKind; }

  /// Keeps the tensors under numbers that follow one another; returns the first of these.
  int64_t Add(std::vector<SparseValue> tensors);
  /// Takes the tensors of these numbers out. invalid_argument, with nothing taken, where one is not there.
  Result<std::vector<SparseValue>> Take(std::span<const int64_t> numbers);

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override;

 private:
  using Tensors = std::map<int64_t, SparseValue>;

  mutable std::mutex mutex_;
  Tensors tensors_;
  int64_t next_ = 0;
};

}  // namespace weft::blocks
