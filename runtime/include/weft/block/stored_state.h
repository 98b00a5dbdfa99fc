// StoredState: a Resource whose state can be saved to a snapshot and restored from it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "weft/block/services.h"

namespace weft {

/// Serialises a state: numbers, texts and tensors, one after another.
class StateWriter {
 public:
  void Put(uint64_t number);
  void PutSigned(int64_t number) { Put(static_cast<uint64_t>(number)); }
  void PutText(std::string_view text);
  /// Type, shape and elements. unsupported for handles.
  Status PutTensor(const Tensor& tensor);
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a StateWriter wrote, in the same order. data_loss where the bytes do not match or end early. The bytes are untrusted: every
/// size is checked before memory is allocated. They must outlive the reader.
class StateReader {
 public:
  StateReader(std::string_view bytes, const Files& files, std::shared_ptr<MemoryBudget> budget)
      : bytes_(bytes), files_(files), budget_(std::move(budget)) {}

  Result<uint64_t> Number();
  Result<int64_t> Signed();
  /// A number up to and including `most`.
  Result<uint64_t> NumberUpTo(uint64_t most);
  Result<std::string> Text();
  Result<Tensor> ReadTensor();
  /// data_loss where bytes remain.
  Status End() const;

  /// Which files a state that is restored may open again.
  const Files& files() const { return files_; }
  /// What a state that is kept counts in; may be null.
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

 private:
  std::string_view bytes_;
  const Files& files_;
  const std::shared_ptr<MemoryBudget> budget_;
};

/// Implemented by a Resource whose state belongs in snapshots. As thread-safe as the Resource.
class StoredState {
 public:
  virtual ~StoredState() = default;
  /// failed_precondition where a run uses it in a way that cannot be saved.
  virtual Status Save(StateWriter& out) const = 0;
  /// Reads what Save wrote and checks that it fits, without changing this state. The function it returns makes the change; it cannot fail
  /// and is called while no run is in progress. invalid_argument where the state is that of another kind of block.
  virtual Result<std::function<void()>> Load(StateReader& in) = 0;
  /// Returns to the state of a new resource. Called while no run is in progress.
  virtual void Reset() = 0;
};

/// Appends the elements of a tensor as bytes in the byte order of this machine; each string is preceded by its length (8 bytes).
void AppendElements(const Tensor& tensor, std::string& to);
/// The inverse, into a tensor of that type and shape; the texts of strings count in the budget, which may be null. data_loss where `bytes` are not
/// exactly its elements; resource_exhausted.
Status ReadElements(std::string_view bytes, Tensor& to, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace weft
