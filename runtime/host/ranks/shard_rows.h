// ShardRows: the batches of a step, whole and cut into the rows of shards.
#pragma once

#include <memory>
#include <vector>

#include "runtime/host/ranks/shard_parts.h"
#include "runtime/host/ranks/shard_tree.h"

namespace weft {

/// The shape of `rows` rows like those of another.
Shape WithRows(const Shape& shape, int64_t rows);
/// Whether `whole` is what `shards` values of the shape `part` make one below the other.
bool IsRows(const Shape& whole, const Shape& part, int shards);

/// The sources of a division, for the shards of one rank. For one thread.
class ShardRows {
 public:
  /// `divided` outlives it.
  ShardRows(const ShardParts& divided, std::shared_ptr<Scope> scope, int shards, ShardBlock own)
      : divided_(divided), scope_(std::move(scope)), shards_(shards), own_(own) {}

  /// The division is another.
  void Forget();
  /// Takes the values of a step: those that are fed, and those that were `read` before the shards. invalid_argument, with the block, for rows
  /// that the shards do not divide, and for rows where there were none, or none where there were some. What is not fed `anew` (by feed) stays
  /// cut.
  Status Take(const SessionSpec& spec, const std::vector<char>& anew, const std::vector<SessionSpec::Feed>& read);
  /// By source.
  const std::vector<Tensor>& whole() const { return whole_; }
  /// What a shard of this rank gets of a source.
  const Tensor& Of(size_t source, int shard) const;
  /// `count` shards' rows of a source, from those of `shard` on.
  Result<Tensor> Cut(size_t source, int shard, int count = 1) const;
  /// Whether the value of a shard has as many rows as the shard has of some source.
  bool HasRowsOfASource(const Shape& of_shard) const;

 private:
  Result<Tensor> ValueOf(const ShardSource& source, const SessionSpec& spec, const std::vector<SessionSpec::Feed>& read) const;
  Status Check(size_t source, const Shape& shape) const;

  const ShardParts& divided_;
  const std::shared_ptr<Scope> scope_;
  const int shards_;
  const ShardBlock own_;
  std::vector<Tensor> whole_;              // by source
  std::vector<std::vector<Tensor>> rows_;  // by source: of each shard of this rank; empty where it is whole
};

}  // namespace weft
