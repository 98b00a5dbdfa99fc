// What was found out about blocks, for others that are like them: most blocks of a large page are, and nearly all of an edited one.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

class GraphMemo;

/// Whether settings are the same to the bit: -0 is not 0, though they are equal.
bool SameSetting(const AttrValue& a, const AttrValue& b);
bool SameSettings(const AttrList& a, const AttrList& b);

/// Plans of blocks by all that they depend on. Blocks that keep state, or wait, have plans of their own. What it holds is not in the memory
/// budget, which is that of tensors: it is bounded by itself.
class PlanMemo {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  /// Of what it holds, as far as it knows: what a block's plan keeps besides is counted as kParameters.
  size_t bytes() const { return bytes_; }

 private:
  friend class PlanMemoUser;
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
  static constexpr size_t kMostAlike = 64;  // that differ in their settings alone: each look-up goes through them
  std::mutex mutex_;
  std::unordered_multimap<size_t, Planned> planned_;
  size_t bytes_ = 0;
};

/// Has a memo for itself; while another has it, one of its own.
class PlanMemoUser {
 public:
  explicit PlanMemoUser(GraphMemo& memo);
  struct Made {
    PlannedBlock block;
    const PlannedShapes* shapes;  // until the next call
  };
  /// As PlanNode does.
  Result<Made> Plan(const Node& node, std::span<const InputInfo> inputs);

 private:
  PlanMemo own_;
  std::unique_lock<std::mutex> lock_;
  PlanMemo& memo_;
  PlannedShapes shapes_;
};

/// Shared by the revisions of a page.
class GraphMemo {
 public:
  /// Settings as they are written, without a fault in them.
  struct Parsed {
    std::string text;
    AttrList attrs;
  };
  /// Settings that are given by value, the rest left to defaults.
  struct Given {
    std::vector<std::pair<std::string, AttrValue>> given;
    AttrList attrs;
  };
  /// The types of a block without a fault.
  struct Typed {
    AttrList given;
    ShortList<uint16_t, 6> inputs;  // by value: its type, and what kind of reference it is
    PortTable in_first;
    AttrList attrs;
    ShortList<DType, 8> output_types;
    PortTable out_first;
  };
  /// What the gradient of a block adds. Depends on the block's settings and types alone, and on which gradients there are and are wanted.
  struct Gradient {
    /// One of the values that the block has itself: its inputs, its outputs, their gradients. Or an output of what was added.
    struct Value {
      int added = -1;  // index into `added`, or -1
      int place = 0;   // among the block's own, or the output
    };
    struct Added {
      std::string block;  // by the name that it was added by; empty for a constant
      Node node;          // but for its id, inputs and places
      std::vector<Value> inputs;
    };
    AttrList attrs;
    PortTable in_first, out_first;
    ShortList<uint16_t, 12> values;  // of the block itself: what DescribeInputs says, and whether they are there and wanted
    std::vector<Added> added;
    std::vector<std::pair<int, Value>> set;  // input value, and its gradient
  };
  struct OfBlock {
    std::vector<Given> given;
    std::vector<Parsed> parsed;
    std::vector<Typed> typed;
    std::vector<Gradient> gradients;
    size_t oldest_given = 0, oldest_parsed = 0, oldest_typed = 0, oldest_gradient = 0;  // the next to give way
  };

  /// Only for those who build a graph, one at a time.
  OfBlock& Of(const BlockDef* def) {
    auto& [last, known] = lately_[reinterpret_cast<uintptr_t>(def) / 64 % lately_.size()];
    if (last == def) return *known;
    known = &blocks_[def];
    last = def;
    return *known;
  }

  template <class T>
  static void Keep(std::vector<T>& list, size_t& oldest, T fresh) {
    constexpr size_t kMost = 16;
    if (list.size() < kMost) return list.push_back(std::move(fresh));
    list[oldest] = std::move(fresh);
    oldest = (oldest + 1) % kMost;
  }

  PlanMemo& plans() { return plans_; }
  /// The serial numbers of blocks that something was said of, in whichever revision.
  std::unordered_set<uint64_t>& reported() { return reported_; }

 private:
  std::unordered_map<const BlockDef*, OfBlock> blocks_;
  std::array<std::pair<const BlockDef*, OfBlock*>, 64> lately_{};
  PlanMemo plans_;
  std::unordered_set<uint64_t> reported_;
};

}  // namespace weft
