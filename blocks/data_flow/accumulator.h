// Accumulator: gradients of several runs added up, until one that waits for enough of them takes their sum or mean. How gradients are
// added is the business of a derived class, so that dense and sparse ones share the waiting, the steps and the checks.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "blocks/data_flow/named_handles.h"
#include "blocks/data_flow/taker_line.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

/// What a block says of its accumulator. Blocks that share one must say the same.
struct AccumulatorSpec {
  std::string block;  // the kind: "ConditionalAccumulator"
  DType dtype = DType::kInvalid;
  PartialShape shape;  // of a gradient
  bool mean = true;    // else the sum
};

/// The types that TensorFlow adds up.
inline constexpr TypeList<half, float, double> kAccumulated;

/// Thread-safe. Those who wait to take are served in the order they came; a gradient is added by one run at a time.
class Accumulator : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "gradient accumulator";

  explicit Accumulator(AccumulatorSpec spec) : spec_(std::move(spec)) {}
  std::string_view kind() const override { return kKind; }
  const AccumulatorSpec& spec() const { return spec_; }

  /// invalid_argument where `other` wants an accumulator of another kind, type, shape or reduction.
  Status CheckSame(const AccumulatorSpec& other) const;
  /// invalid_argument where gradients are not of this kind of accumulator and this type.
  Status CheckKind(std::string_view block, DType dtype) const;

  /// How many gradients are in it.
  int64_t count() const;
  /// Gradients of an earlier step are left out from now on.
  void SetStep(int64_t step);

  Status Save(StateWriter& out) const final;
  Result<std::function<void()>> Load(StateReader& in) final;
  void Reset() final;

 protected:
  /// Calls add(first) for a gradient that is not of an earlier step, and counts it where that succeeds. `add` runs without the lock, alone
  /// with the sum, and leaves that as it is where it fails. Waits while another run adds.
  Status Add(int64_t local_step, Waiter& waiter, FunctionRef<Status(bool first)> add);
  /// Waits for `required` gradients, moves a step on, calls take(), which takes the sum out and cannot fail, locked; gives their number.
  Result<int64_t> Take(int64_t required, Waiter& waiter, FunctionRef<void()> take);

  /// The sum of count() > 0 gradients, for snapshots. With the lock held.
  virtual Status SaveSum(StateWriter& out) const = 0;
  /// Reads and checks it; the function that it returns puts it in its place.
  virtual Result<std::function<void()>> LoadSum(StateReader& in) = 0;
  virtual void DropSum() = 0;

 private:
  class Adding;

  const AccumulatorSpec spec_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t count_ = 0;
  int64_t step_ = 0;
  bool adding_ = false;  // a run is in Add's `add`
  TakerLine takers_;
};

}  // namespace weft::blocks
