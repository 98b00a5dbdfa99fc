// Reads tensors, or parts of them, from a version 2 checkpoint. Nothing in its files is trusted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "blocks/io/checkpoint/table_reader.h"
#include "blocks/io/checkpoint_v2/bundle_format.h"
#include "blocks/io/file_access.h"
#include "weft/base/tensor.h"

namespace weft::blocks::checkpoint_v2 {

/// The index of a checkpoint. Its entries count in the memory budget.
struct BundleIndex {
  BundleHeader header;
  std::map<std::string, BundleEntry, std::less<>> entries;  // by key; the header's is left out
  MemoryCharge charge;
};

/// not_found without such a file; data_loss where it is no index, or damaged; unsupported for a newer format or a big endian machine's.
/// `workers` and the budget may be null: cancelled once their run is to end, resource_exhausted where it refuses.
Result<BundleIndex> ReadIndex(const Files& files, std::string_view prefix, const Workers* workers,
                              const std::shared_ptr<MemoryBudget>& budget);

/// Used by one thread.
class BundleReader {
 public:
  /// `files` and `workers` outlive the reader. Errors as of ReadIndex.
  static Result<BundleReader> Open(const Files& files, std::string_view prefix, const Workers* workers,
                                   const std::shared_ptr<MemoryBudget>& budget);

  /// Null where there is no tensor of that name. Lives as long as the reader.
  const BundleEntry* Find(std::string_view name) const;
  /// A part of a tensor that Find found, of the part's shape. invalid_argument: the part does not fit, or the checkpoint does not hold all of it;
  /// data_loss: it is damaged; not_found: a file of its elements is missing.
  Result<Tensor> Read(std::string_view name, const BundleEntry& entry, const TensorSlice& part);

 private:
  BundleReader(const Files& files, std::string_view prefix, BundleIndex index, const Workers* workers, std::shared_ptr<MemoryBudget> budget)
      : files_(files), prefix_(prefix), index_(std::move(index)), workers_(workers), budget_(std::move(budget)) {}
  Result<const InputFile*> Shard(int64_t number);
  /// The file of an entry's elements, which holds as many bytes as the entry says and as elements need.
  Result<const InputFile*> FileOf(std::string_view name, const BundleEntry& entry);
  Status ReadElements(std::string_view name, const BundleEntry& entry, void* elements);
  Status ReadStrings(std::string_view name, const BundleEntry& entry, const InputFile& file, std::span<String> elements) const;
  Status Damaged(std::string_view name, std::string_view what) const;

  const Files& files_;
  const std::string prefix_;
  BundleIndex index_;
  const Workers* workers_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::map<int64_t, InputFile> shards_;  // those that were opened
};

}  // namespace weft::blocks::checkpoint_v2
