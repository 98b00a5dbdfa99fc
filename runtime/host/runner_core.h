// What a Runner and its thread share.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "weft/host/runner.h"

namespace weft {

/// Every field without a remark belongs to `mutex_`. Calls to listeners, blocks and outputs are made without it.
class Runner::Core final : public Observer, public std::enable_shared_from_this<Runner::Core> {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Core(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  Session& session() { return *session_; }
  Status Run(const RunRequest& request);
  Status Start(const RunRequest& request);
  Status Wait(std::chrono::nanoseconds timeout, RunState* state);
  Status Pause(bool after_run);
  Status Resume(GoOn how);
  void Stop();
  void Cancel();
  Status CancelStart(uint64_t start);
  void Close();

  RunnerState state() const;
  Status last_status() const;
  int64_t steps_left() const { return steps_left_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds elapsed() const;
  bool on_running_thread() const;

  Status Feed(std::string_view name, std::optional<Tensor> tensor);
  void SetOutput(std::string_view name, std::function<Status(const ResultValue&)> take);

  void AddListener(std::shared_ptr<RunListener> listener);
  void RemoveListener(const RunListener* listener);
  void Attend(int change) { attention_.fetch_add(static_cast<uint32_t>(change), std::memory_order_relaxed); }
  Status Hold(PauseReason reason, std::string_view block, std::string_view detail);
  RunView& view() const { return *view_; }
  void SetLease(std::optional<Clock::time_point> until);
  Result<Tensor> Peek(std::string_view name) const;
  Status Override(std::string_view name, const Tensor& tensor);

  // Of the session's runs, on the thread that runs.
  const std::atomic<uint32_t>* attention() const override { return &attention_; }
  Status OnRunStart(uint64_t run, RunView& view) override;
  void OnRunBegin(uint64_t run, size_t steps) override;
  Status OnStep(size_t step, const Node& node) override;
  void OnStepEnd(size_t step, const Node& node, bool dead) override;
  void OnPrint(std::string_view text) override;
  void OnRunEnd(uint64_t run, const Status& status) override;

 private:
  using Listeners = std::vector<std::shared_ptr<RunListener>>;
  struct Output {
    std::string name;
    std::function<Status(const ResultValue&)> take;
  };
  /// What is, or is to be, fed.
  struct Pending {
    std::shared_ptr<const Graph> graph;  // that the value was found in
    ValueRef value;
    std::optional<Tensor> tensor;  // absent: the page's own value again
    /// The same value of the page as it is now, whatever it is called there.
    ValueRef In(const Graph& now) const;
  };

  Status Begin(const RunRequest& request);
  void Execute();
  Status RunAll();
  Status Between(int64_t made, bool& go_on);
  Status WaitForTurn(std::unique_lock<std::mutex>& lock);
  void WaitHeld(std::unique_lock<std::mutex>& lock);
  Status GiveOutputs();
  void Finish(Status status);
  void Work();
  void CancelLocked();
  Status ApplyFeeds();
  PauseReason ReasonBefore(const Node& node);
  void AttendOwn();
  bool OnRunningThread() const;
  bool Late() const { return request_.deadline && Clock::now() >= *request_.deadline; }
  std::shared_ptr<const Listeners> TakeListeners() const;
  void TellState();
  Status CheckIdle() const;
  void SetState(RunState state, PauseReason reason = PauseReason::kNone, std::string_view block = {}, std::string_view detail = {});
  void TellJoining();

  const std::shared_ptr<Session> session_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;

  RunnerState state_;
  uint64_t starts_ = 0;
  Status last_status_;
  RunRequest request_;
  Clock::time_point started_{}, ended_{};
  Clock::time_point next_start_{};  // of the running thread
  bool closed_ = false, cancelled_ = false, stopped_ = false;
  bool pause_asked_ = false;
  bool pause_after_run_ = false;
  bool block_step_ = false;   // pause before a step
  int skip_ = 0;              // after so many
  std::optional<GoOn> go_on_;
  std::optional<Clock::time_point> lease_;  // when pauses end by themselves
  bool held_in_steps_ = false;              // the running thread waits within a run
  bool own_attention_ = false;
  std::vector<Pending> pending_;
  std::vector<Pending> fed_;  // without their tensors
  std::vector<Output> outputs_;
  std::shared_ptr<const Listeners> listeners_;

  std::thread worker_;
  bool job_ = false;
  std::thread::id running_thread_, worker_id_;

  std::atomic<uint32_t> attention_{0};
  std::atomic<bool> asked_{false};  // there is something to do between runs
  std::atomic<bool> has_outputs_{false}, has_listeners_{false};
  std::atomic<bool> joining_{false};  // a listener was added while a run went on
  std::atomic<int64_t> steps_left_{0};

  // Of the running thread.
  RunView* view_ = nullptr;
  bool in_steps_ = false, before_step_ = false;
  uint64_t holds_ = 0;
};

}  // namespace weft
