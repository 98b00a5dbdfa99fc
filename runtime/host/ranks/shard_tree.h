// ShardTree: which shards a rank has, and the one order in which values of shards are added, whatever the number of ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

namespace weft {

/// Shards [begin, end) whose sum is a node of the tree.
struct ShardBlock {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
  friend bool operator==(const ShardBlock&, const ShardBlock&) = default;
};

/// The tree over S shards: a node of n shards has the largest power of two below n on its left and the others on its right. So every block of
/// 2^k shards that begins at a multiple of 2^k is a node, and any run of neighbouring shards is a row of such blocks.
class ShardTree {
 public:
  ShardTree(int shards, int ranks) : shards_(shards), ranks_(ranks) {}
  int shards() const { return shards_; }
  int ranks() const { return ranks_; }

  /// The shards of a rank: neighbours, in the order of ranks. None has more than one shard more than another.
  ShardBlock Of(int rank) const { return {Begin(rank), Begin(rank + 1)}; }
  /// A rank's shards as the largest nodes, from the left.
  std::vector<ShardBlock> BlocksOf(int rank) const {
    std::vector<ShardBlock> blocks;
    for (int shard = Of(rank).begin; shard < Of(rank).end; ++shard) Push(blocks, shard);
    return blocks;
  }

  /// Puts a shard behind blocks that end where it begins, and joins what has become a node. Gives how many joins were made: each time the last
  /// block was added to the one before.
  static int Push(std::vector<ShardBlock>& blocks, int shard) {
    blocks.push_back({shard, shard + 1});
    int joins = 0;
    for (size_t n = blocks.size(); n >= 2; n = blocks.size(), ++joins) {
      const ShardBlock left = blocks[n - 2], right = blocks[n - 1];
      if (left.size() != right.size() || left.begin % (2 * left.size()) != 0) break;
      blocks.pop_back();
      blocks.back() = {left.begin, right.end};
    }
    return joins;
  }
  /// Where a node of more than one shard is divided.
  static int Middle(ShardBlock node) { return node.begin + static_cast<int>(std::bit_floor(static_cast<unsigned>(node.size() - 1))); }

 private:
  int Begin(int rank) const { return static_cast<int>(static_cast<int64_t>(shards_) * rank / ranks_); }
  int shards_, ranks_;
};

}  // namespace weft
