#include "blocks/data_flow/accumulator.h"

namespace weft::blocks {
namespace {

std::string_view ReductionText(bool mean) { return mean ? "MEAN" : "SUM"; }

}  // namespace

/// A run alone with the sum, for as long as it adds.
class Accumulator::Adding {
 public:
  /// The lock is held.
  explicit Adding(Accumulator& accumulator) : accumulator_(accumulator) { accumulator_.adding_ = true; }
  ~Adding() {
    std::lock_guard lock(accumulator_.mutex_);
    accumulator_.adding_ = false;
    if (succeeded) ++accumulator_.count_;
    accumulator_.changed_.notify_all();
  }
  Adding(const Adding&) = delete;
  Adding& operator=(const Adding&) = delete;

  bool succeeded = false;

 private:
  Accumulator& accumulator_;
};

Status Accumulator::CheckSame(const AccumulatorSpec& other) const {
  auto differ = [](std::string_view what, const auto& needed, const auto& found) {
    return InvalidArgument("needs an accumulator of ", what, " ", needed, ", found one of that name of ", what, " ", found)
        .WithPort("shared_name")
        .WithHint("give the accumulators different names, or the same settings");
  };
  if (other.block != spec_.block) return differ("kind", other.block, spec_.block);
  if (other.dtype != spec_.dtype) return differ("type", other.dtype, spec_.dtype);
  if (other.shape != spec_.shape) return differ("shape", other.shape, spec_.shape);
  if (other.mean != spec_.mean) return differ("reduction", ReductionText(other.mean), ReductionText(spec_.mean));
  return {};
}

Status Accumulator::CheckKind(std::string_view block, DType dtype) const {
  if (block != spec_.block) return InvalidArgument("needs a ", block, ", found a ", spec_.block).WithPort("handle");
  if (dtype == spec_.dtype) return {};
  return InvalidArgument("needs the accumulator's type ", spec_.dtype, ", found ", dtype).WithPort("dtype");
}

int64_t Accumulator::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

void Accumulator::SetStep(int64_t step) {
  std::lock_guard lock(mutex_);
  step_ = step;
}

Status Accumulator::Add(int64_t local_step, Waiter& waiter, FunctionRef<Status(bool first)> add) {
  std::unique_lock lock(mutex_);
  const auto free = [this] { return !adding_; };
  if (!free()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, free, -1, "an accumulator to which another run adds"));
  if (local_step < step_) return {};
  const bool first = count_ == 0;
  Adding adding(*this);
  lock.unlock();
  Status status = add(first);
  adding.succeeded = status.ok();
  return status;
}

Result<int64_t> Accumulator::Take(int64_t required, Waiter& waiter, FunctionRef<void()> take) {
  std::unique_lock lock(mutex_);
  TakerLine::Turn turn(takers_, changed_);
  const auto ready = [&] { return turn.first() && !adding_ && count_ >= required; };
  if (!ready()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, ready, -1, "gradients in an accumulator"));
  const int64_t taken = count_;
  take();
  count_ = 0;
  step_ = static_cast<int64_t>(static_cast<uint64_t>(step_) + 1);
  return taken;
}

// ---- snapshots -------------------------------------------------------------------------------------------------------------------------

Status Accumulator::Save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  if (adding_) return FailedPrecondition("a run adds a gradient to it");
  out.PutText(spec_.block);
  out.PutSigned(step_);
  out.PutSigned(count_);
  return count_ > 0 ? SaveSum(out) : Status();
}

Result<std::function<void()>> Accumulator::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string block, in.Text());
  if (block != spec_.block) return InvalidArgument("needs the state of a ", spec_.block, ", found that of a ", block);
  WEFT_ASSIGN_OR_RETURN(const int64_t step, in.Signed());
  WEFT_ASSIGN_OR_RETURN(const int64_t count, in.Signed());
  if (count < 0) return DataLoss("needs 0 gradients or more, found ", count);
  std::function<void()> put = [this] { DropSum(); };
  if (count > 0) {
    WEFT_ASSIGN_OR_RETURN(put, LoadSum(in));
  }
  return std::function<void()>([this, put = std::move(put), step, count] {
    std::lock_guard lock(mutex_);
    put();
    step_ = step;
    count_ = count;
    changed_.notify_all();
  });
}

void Accumulator::Reset() {
  std::lock_guard lock(mutex_);
  DropSum();
  step_ = count_ = 0;
}

}  // namespace weft::blocks
