// Breakpoints: where the runs of a session are paused, by what block comes next or by what values are.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/host/runner.h"

namespace weft {

enum class BreakKind : uint8_t {
  kBefore,     // before the block runs
  kNotFinite,  // after a block, where a floating or complex output holds a NaN or an infinity
  kCondition,  // where the condition holds: after the block whose value it compares, or before a run's first block
};

struct BreakSpec {
  BreakKind kind = BreakKind::kBefore;
  std::string block;      // kBefore: needed; kNotFinite: empty for any
  std::string port;       // kNotFinite: empty for any output
  std::string condition;  // kCondition: `run >= 100`, `loss.output < 0.5`, `w.ref[0][2] == 0`; without indices any element does
  uint64_t from_hit = 1;  // pauses from this time on that it comes true
  bool once = false;      // removed by its first pause
};

struct BreakInfo {
  uint64_t id = 0;
  BreakSpec spec;
  bool enabled = true;
  uint64_t hits = 0;  // times that it came true, since it was added
};

/// Where a run is paused by a breakpoint.
struct BreakHit {
  uint64_t id = 0;  // 0: by none
  uint64_t run = 0;
  std::string block, port;
  std::string text;  // "loss.output is nan", as a person reads it
};

/// Thread-safe. To be added to the session's runner as a listener; the runner must outlive it. While no breakpoint is enabled, runs cost
/// what they cost without.
class Breakpoints final : public RunListener {
 public:
  explicit Breakpoints(Runner& runner);
  ~Breakpoints() override;

  /// Its number, never used again. not_found for a block, port or value that the page has not; invalid_argument for a condition that is
  /// none, or a value that has no numbers. A breakpoint stays with its block, or its value's, when an edit renames that; while the page has no
  /// such block it pauses nothing, and does again when a block with the id that it had last is back.
  Result<uint64_t> Add(BreakSpec spec);
  /// not_found for a number that is none, as below.
  Status Remove(uint64_t id);
  Status Enable(uint64_t id, bool enabled);
  /// With the names that the page has now.
  std::vector<BreakInfo> All() const;
  /// By which one the run is paused now.
  BreakHit hit() const;

  /// For debuggers that may be lost: breakpoints are enabled, and runs stay paused (for whatever reason), only for this time from now or
  /// from the last Heartbeat. Then the breakpoints are disabled and runs continue. 0: for ever.
  void SetLease(std::chrono::nanoseconds lease);
  /// failed_precondition where there is no lease, or it is over; SetLease then begins another, and Enable gives breakpoints back.
  Status Heartbeat();

  // Of the thread that runs.
  void OnRunBegin(uint64_t run, size_t steps) override;
  Status OnStep(size_t step, const Node& node) override;
  void OnStepEnd(size_t step, const Node& node, bool dead) override;

 private:
  struct Breakpoint;
  using Clock = std::chrono::steady_clock;

  void Changed();
  void Compile(const RunView& view);
  bool LeaseOver();
  bool Counts(Breakpoint& point);
  bool FindsAfter(const Breakpoint& point, const RunView& view, int node, BreakHit& hit) const;
  Status Pause(const BreakHit& hit, const std::string& block);

  Runner& runner_;
  std::atomic<uint64_t> version_{1};

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Breakpoint>> points_;
  uint64_t last_id_ = 0;
  BreakHit hit_;
  std::chrono::nanoseconds lease_{0};
  Clock::time_point lease_end_{};
  bool leased_ = false;

  // Of the thread that runs.
  bool first_step_ = false;
  uint64_t compiled_version_ = 0, compiled_plan_ = 0;
  std::vector<uint8_t> before_, after_;  // by node: whether there may be one
};

}  // namespace weft
