// PlanMemo: plans of blocks, by all that they depend on. Storage for PlanReuse (reuse.h).
#pragma once

#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

/// What it holds is not in the memory budget, which is that of tensors: it has a bound of its own.
class PlanMemo {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  /// Of what it holds, as far as it knows: what a block's plan points to is counted as kParameters.
  size_t bytes() const { return bytes_; }

 private:
  friend class PlanReuse;
  struct Input {
    DType dtype;
    bool has_shape, is_variable;
    Shape shape;
    VariableInfo variable;
    bool Is(const InputInfo& info) const;
  };
  struct Planned {
    const BlockDef* def;
    AttrList attrs;
    std::vector<Input> inputs;
    ShortList<DType, 8> outputs;
    PortTable in_first, out_first;
    PlannedBlock block;
    PlannedShapes shapes;
    bool Is(const Node& node, std::span<const InputInfo> infos) const;
    size_t bytes() const;
  };
  static bool MayShare(const Node& node, std::span<const InputInfo> inputs);
  static size_t HashOf(const Node& node, std::span<const InputInfo> inputs);

  static constexpr size_t kParameters = 256;
  static constexpr size_t kMostAlike = 64;  // of one hash, which differ in their settings alone: each look-up goes through them
  std::mutex mutex_;
  std::unordered_multimap<size_t, Planned> planned_;
  size_t bytes_ = 0;
};

}  // namespace weft
