// Fused steps: element-wise steps that run together, a tile of elements at a time, and reductions of what they make. What lies between
// them stays in the cache, and needs memory for a tile instead of for the whole. An element's result does not depend on its place in a
// tensor, so that a block's own kernel gives the same bits on a tile as on the whole.
#pragma once

#include <vector>

#include "weft/base/divide.h"
#include "weft/base/chain.h"
#include "weft/block/partial_reduction.h"
#include "weft/plan/graph.h"

namespace weft {

/// Steps `first` to `last` of a plan: each makes `count` elements from inputs of as many or of one, or reduces as many to one.
struct FusedSteps {
  /// A value as the steps see it.
  struct Operand {
    enum class Kind : uint8_t {
      kOne,     // a single element, the same in each tile
      kSliced,  // elements in memory that outlives the group: a tile is a part of it
      kTile,    // read in the group only
      kCopied,  // made by the group as a tile, which is then copied past the cache to memory that outlives the group
    };
    uint32_t slot = 0;
    Kind kind = Kind::kSliced;
    int64_t element_bytes = 0;
    int64_t offset = 0;  // kTile, kCopied: where it begins in a thread's memory, in bytes for each element of a tile
    Shape shape;         // kOne
    /// Whether kernels see it in memory of their thread's.
    bool InThread() const { return kind == Kind::kTile || kind == Kind::kCopied; }
  };
  /// An element-wise step, planned for each of `shapes`.
  struct Member {
    int step = 0;
    std::vector<PlannedBlock> blocks;
    uint32_t first_input = 0, first_output = 0;  // into `table`
    PortTable in_first, out_first;
  };
  /// Members that run on elements in registers (weft/base/chain.h), one after another.
  struct Chain {
    struct Link {
      ChainFunction run = nullptr;
      ChainOp::Use use = ChainOp::Use::kNothing;
      uint32_t operand = 0;  // unless kNothing: whose memory; of what is streamed, where it outlives the group
    };
    const ChainKind* kind = nullptr;
    size_t first = 0, end = 0;  // members
    std::vector<Link> links;
  };
  /// A reduction, run after the members. No step of the group reads its result.
  struct Reduction {
    int step = 0;
    PartialReduction partial;
    std::shared_ptr<const void> parameters;
    uint32_t operand = 0;
    uint32_t output = 0;  // a slot
  };
  int first = 0, last = 0;
  int64_t count = 0;
  int64_t tile = 0;           // elements of a tile; that at the end of a part is shorter
  int64_t part = 0;           // elements that one thread takes at a time: those of a part of a reduction, else a tile
  int64_t element_bytes = 0;  // of kTile and kCopied operands that live at one time: a thread needs tile * element_bytes
  std::vector<Shape> shapes;  // of tiles: the full one, then shorter ones
  std::vector<Operand> operands;
  std::vector<uint32_t> table;  // operands of each member's inputs and output
  std::vector<Member> members;  // in the order of steps
  std::vector<Chain> chains;    // in the order of members; members of none run alone
  std::vector<Reduction> reductions;

  int64_t parts() const { return DivideUp(count, part); }
  /// About how much memory it takes.
  int64_t bytes() const {
    size_t sum = sizeof(*this) + shapes.size() * sizeof(Shape) + operands.size() * sizeof(Operand) + table.size() * sizeof(uint32_t) +
                 members.size() * sizeof(Member) + chains.size() * sizeof(Chain) + reductions.size() * sizeof(Reduction);
    for (const Member& member : members) sum += member.blocks.size() * sizeof(PlannedBlock);
    for (const Chain& chain : chains) sum += chain.links.size() * sizeof(Chain::Link);
    return static_cast<int64_t>(sum);
  }
};

}  // namespace weft
