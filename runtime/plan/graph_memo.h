// GraphMemo: results kept for blocks that are like others. Most blocks of a large page are, and nearly all of an edited one. Plain storage
// for reuse.h, which looks things up in it.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/plan/gradient_record.h"
#include "runtime/plan/plan_memo.h"

namespace weft {

/// Shared by the graphs of a page's revisions, of which one at a time is built; plans have a lock of their own.
struct GraphMemo {
  /// The last few of a kind.
  template <class T>
  struct Recent {
    std::vector<T> items;
    size_t oldest = 0;  // the next to give way
    void Keep(T fresh) {
      constexpr size_t kMost = 16;
      if (items.size() < kMost) return items.push_back(std::move(fresh));
      items[oldest] = std::move(fresh);
      oldest = (oldest + 1) % kMost;
    }
  };
  /// See Reuse::FindWritten.
  struct Written {
    std::string text;
    AttrList attrs;
  };
  /// See Reuse::FindGiven.
  struct Given {
    std::vector<std::pair<std::string, AttrValue>> given;
    AttrList attrs;
  };
  /// The types of a node without a fault.
  struct Typed {
    AttrList given;                // settings before types were inferred
    ShortList<uint16_t, 6> inputs;  // Reuse::TypeKeys
    PortTable in_first;
    AttrList attrs;
    ShortList<DType, 8> output_types;
    PortTable out_first;
  };
  struct OfBlock {
    Recent<Written> written;
    Recent<Given> given;
    Recent<Typed> typed;
    Recent<GradientRecord> gradients;
  };

  OfBlock& Of(const BlockDef& def) {
    auto& [last, known] = lately[reinterpret_cast<uintptr_t>(&def) / 64 % lately.size()];
    if (last == &def) return *known;
    known = &by_block[&def];
    last = &def;
    return *known;
  }

  std::unordered_map<const BlockDef*, OfBlock> by_block;
  std::array<std::pair<const BlockDef*, OfBlock*>, 64> lately{};  // those looked up last, by address
  std::unordered_set<uint64_t> reported;                         // serial numbers of blocks that a diagnostic of any revision was about
  PlanMemo plans;
};

}  // namespace weft
