// Reads tensors, or parts of them, from the files (shards) of a version 1 checkpoint. Nothing in the files is trusted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/io/checkpoint/slice.h"
#include "blocks/io/checkpoint/table_reader.h"
#include "weft/base/tensor.h"

namespace weft::blocks::checkpoint_v1 {

using namespace checkpoint;

/// What the files hold of one tensor.
struct SavedTensor {
  struct Piece {
    TensorSlice slice;
    Box box;
    size_t file;
  };
  DType dtype = DType::kInvalid;  // kInvalid: a type that Weft has not
  Shape shape;                    // of the whole tensor
  std::vector<Piece> pieces;
};

/// Used by one thread at a time.
class CheckpointReader {
 public:
  /// not_found for a missing file; data_loss where one is no checkpoint, damaged, or contradicts another; unsupported for a newer format.
  /// `workers`, where given: this and Read give cancelled once their run is to end. What the reader holds counts in the budget, which may be
  /// null: this and Read give resource_exhausted where it refuses.
  static Result<CheckpointReader> Open(const std::vector<std::filesystem::path>& files, const Workers* workers = nullptr,
                                       std::shared_ptr<MemoryBudget> budget = nullptr);

  /// Null where the files hold nothing of that name. Lives as long as the reader.
  const SavedTensor* Find(std::string_view name) const;
  /// A part of a tensor, of the part's shape. not_found: no such tensor; invalid_argument: the part does not fit, or the files do not
  /// hold all of it; data_loss: they are damaged.
  Result<Tensor> Read(std::string_view name, const TensorSlice& part, const std::shared_ptr<MemoryBudget>& budget);

 private:
  CheckpointReader() = default;
  Status AddFile(const std::filesystem::path& path);
  Status AddMeta(std::string_view meta, size_t file);
  Status AddTensor(std::string_view message, size_t file);
  Status ReadPiece(std::string_view name, const SavedTensor& tensor, const SavedTensor::Piece& piece, void* elements);
  Status Damaged(std::string_view what) const;

  const Workers* workers_ = nullptr;
  std::shared_ptr<MemoryBudget> budget_;
  MemoryCharge charge_;  // of tensors_
  std::vector<TableReader> tables_;
  std::string first_file_;  // for messages
  uint64_t file_bytes_ = 0;
  std::map<std::string, SavedTensor, std::less<>> tensors_;
};

}  // namespace weft::blocks::checkpoint_v1
