// State that a snapshot can hold: what a Resource says to be saved to a file and to be as it was again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "weft/block/services.h"

namespace weft {

/// Collects what a state is made of: numbers, texts and tensors, one after another.
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

/// Gives it back in the same order. data_loss where there is something else or too little; nothing that the bytes say is trusted.
class StateReader {
 public:
  StateReader(std::string_view bytes, const Files& files, std::shared_ptr<MemoryBudget> budget)
      : bytes_(bytes), files_(files), budget_(std::move(budget)) {}

  Result<uint64_t> Number();
  Result<int64_t> Signed();
  /// A number of 0 to `most`.
  Result<uint64_t> NumberUpTo(uint64_t most);
  Result<std::string> Text();
  Result<Tensor> ReadTensor();
  /// data_loss where something is left.
  Status End() const;

  /// Which files a state that is restored may open again.
  const Files& files() const { return files_; }

 private:
  std::string_view bytes_;
  const Files& files_;
  const std::shared_ptr<MemoryBudget> budget_;
};

/// What a Resource also is where its state belongs to a snapshot. Thread-safe as the Resource is.
class StoredState {
 public:
  virtual ~StoredState() = default;
  /// failed_precondition where a run has it in use in a way that cannot be written down.
  virtual Status Save(StateWriter& out) const = 0;
  /// Reads what Save wrote and checks that it fits this state, which stays as it is. The function that it gives makes the change, and cannot
  /// fail; it is called while no run goes on. invalid_argument where the state is that of another kind of block.
  virtual Result<std::function<void()>> Load(StateReader& in) = 0;
  /// As it was when it was made. Called while no run goes on.
  virtual void Reset() = 0;
};

/// The elements of a tensor as bytes in the order of this machine; strings each with their length before them.
void AppendElements(const Tensor& tensor, std::string& to);
/// The inverse, into a tensor of that type and shape. data_loss where `bytes` are not just its elements.
Status ReadElements(std::string_view bytes, Tensor& to);

}  // namespace weft
