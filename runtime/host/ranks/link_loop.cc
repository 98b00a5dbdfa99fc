#include "runtime/host/ranks/link_loop.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace weft {
namespace {

using namespace std::chrono_literals;

// With nothing arriving for so long, who waits sleeps between two looks; within a message, too, as most go while shards compute on the same cores.
constexpr auto kSpin = 100us;
// Looks at a message that comes before the core is offered to others: a look is short, and may find nothing while a piece is copied.
constexpr int kLooksWithin = 32;
constexpr auto kNap = 50us, kLongNap = 200us;
constexpr auto kIdle = 50ms;
// How long the end of a job waits for the thread that calls the library, and then for the library.
constexpr auto kHandOverTime = 2s, kAbortTime = 2s;

}  // namespace

// ---- for callers -----------------------------------------------------------------------------------------------------------------------

Status RankLink::Loop::Start() {
  thread_ = std::thread([this] { Run(); });
  std::unique_lock lock(mutex_);
  if (!done_.wait_for(lock, options_.deadline, [&] { return begun_; })) {
    // Its thread is within MPI, and cannot be called back; a job that has not begun cannot be aborted either.
    const std::string waited = Cat(std::chrono::duration_cast<std::chrono::seconds>(options_.deadline).count(), " s");
    const std::optional<Launch> launch = FindLaunch();
    options_.tell(Cat("rank ", launch ? launch->rank : 0, " of ", launch ? launch->size : 1, " waited ", waited,
                      " for the other ranks to start: at least one of them has not begun"));
    std::_Exit(1);
  }
  return begin_status_;
}

Status RankLink::Loop::Move(CollectiveUser user, std::span<const Message> messages, std::string_view what) {
  if (messages.empty()) return {};
  std::unique_lock lock(mutex_);
  if (closing_) return Cancelled("the link to the other ranks is closed");
  const std::chrono::nanoseconds own = deadlines_[static_cast<size_t>(user)];
  Transfer transfer(user, messages, what, own.count() > 0 ? own : options_.deadline);
  waiting_.push_back(&transfer);
  while (!transfer.ended) {
    if (driving_ || ending_) {
      done_.wait(lock, [&] { return transfer.ended || (!driving_ && !ending_); });
      continue;
    }
    driving_ = true;
    while (!transfer.ended) Drive(lock);
    driving_ = false;
    done_.notify_all();
  }
  return {};
}

void RankLink::Loop::SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline) {
  std::lock_guard lock(mutex_);
  deadlines_[static_cast<size_t>(user)] = deadline;
}

void RankLink::Loop::Close() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
    changed_.notify_one();
    if (!done_.wait_for(lock, options_.deadline, [&] { return left_; })) {
      // (A library that is leaving the job cannot abort it any more.)
      options_.tell(Cat("rank ", rank_, " waited for the other ranks to leave the job: at least one is stopped, or its machine cannot be reached"));
      std::_Exit(1);
    }
  }
  thread_.join();
}

// ---- the end of the job ----------------------------------------------------------------------------------------------------------------

// The library takes calls of one thread at a time, and a thread that waits for messages calls it all the time, under `driving_` and without the
// lock. It stops between two looks, a millisecond after it was told, and calls the library no more: then this thread may. One that has not
// stopped after kHandOverTime hangs within a call, and will not come back. Then the library's abort is called beside it all the same: on what
// MPI's own state is by then no result depends, and without it ranks on other machines may wait for their deadlines where the launcher does not
// end them. Should that hang as well, EndProcess ends this process after kAbortTime; the launcher sees that.
void RankLink::Loop::Abort(std::string_view why) {
  options_.tell(why);
  std::unique_lock lock(mutex_);
  if (ending_) WaitForTheEnd(lock);
  ending_ = true;
  if (leaving_) std::_Exit(1);  // MPI takes no calls after MPI_Finalize, and none beside it
  done_.wait_for(lock, kHandOverTime, [&] { return !driving_; });
  driving_ = true;
  lock.unlock();
  EndProcess();
}

/// The end of the job by the thread that drives: it is between two calls of the library.
void RankLink::Loop::EndJob(std::string_view why) {
  options_.tell(why);
  std::unique_lock lock(mutex_);
  if (ending_) StopDriving(lock);
  ending_ = true;
  lock.unlock();
  EndProcess();
}

/// For one thread, under `driving_`.
void RankLink::Loop::EndProcess() {
  try {
    std::thread([] {
      std::this_thread::sleep_for(kAbortTime);
      std::_Exit(1);
    }).detach();
  } catch (const std::system_error&) {  // no more threads: the library alone ends the process
  }
  messages_.abort(1);
  std::_Exit(1);
}

/// Another thread ends the job.
void RankLink::Loop::WaitForTheEnd(std::unique_lock<std::mutex>& lock) {
  for (;;) done_.wait(lock);
}

void RankLink::Loop::StopDriving(std::unique_lock<std::mutex>& lock) {
  driving_ = false;
  done_.notify_all();
  WaitForTheEnd(lock);
}

// ---- the thread ------------------------------------------------------------------------------------------------------------------------

void RankLink::Loop::Run() {
  const bool ok = messages_.begin(&rank_, &size_) == 0;
  std::unique_lock lock(mutex_);
  if (!ok) begin_status_ = Status(Code::kInternal, Cat("the job cannot be joined: ", messages_.error()));
  begun_ = true;
  done_.notify_all();
  while (ok && !closing_) {
    // Whoever waits for messages looks for them; in between, somebody must answer those who ask.
    if (!driving_ && !ending_) {
      driving_ = true;
      Drive(lock);
      driving_ = false;
      done_.notify_all();
    }
    changed_.wait_for(lock, kIdle, [&] { return closing_; });
  }
  // Calls of Move that have begun come to their end before.
  done_.wait(lock, [&] { return !driving_ && moving_.empty() && waiting_.empty(); });
  if (ending_) WaitForTheEnd(lock);
  leaving_ = true;
  lock.unlock();
  if (ok) messages_.end();
  lock.lock();
  left_ = true;
  done_.notify_all();
}

// One look at all that is on its way, without the lock.
void RankLink::Loop::Drive(std::unique_lock<std::mutex>& lock) {
  while (!waiting_.empty()) {
    moving_.push_back(waiting_.front());
    waiting_.pop_front();
    busy_ = Clock::now();
  }
  lock.unlock();
  bool moved = false, ended = false;
  for (Transfer* transfer : moving_) {
    Look(*transfer, moved);
    ended |= transfer->done();
  }
  if (!ended) Rest(moved);
  lock.lock();
  if (ended) {
    std::erase_if(moving_, [](Transfer* transfer) { return transfer->ended = transfer->done(); });
    done_.notify_all();
  }
  if (ending_) StopDriving(lock);
}

void RankLink::Loop::Look(Transfer& transfer, bool& moved) {
  if (!transfer.begun()) transfer.Begin(messages_, size_);
  bool here = false;
  for (int look = 0; look < (transfer.flows() ? kLooksWithin : 1) && !here && !transfer.fault(); ++look) here = transfer.Look(messages_);
  moved |= here;
  if (const auto& fault = transfer.fault()) {
    EndJob(Cat("a message ", fault->receive ? "from " : "to ", Name(fault->rank), " failed, ", transfer.what(), ": ", messages_.error()));
  }
}

// Messages move only while somebody looks (most of MPI's transports are like that), so who waits for them looks; it sleeps between as soon as
// nothing comes, so that a rank that waits for a slow one leaves the core to those that compute.
void RankLink::Loop::Rest(bool moved) {
  const Clock::time_point now = Clock::now();
  if (moved) busy_ = now;
  if (now - looked_ > 10ms) {
    looked_ = now;
    late_.Exchange(moving_);
    for (Transfer* transfer : moving_) {
      if (const std::string why = late_.Check(*transfer, rank_); !why.empty()) EndJob(why);
    }
  }
  if (moving_.empty() || moved) return;
  if (now - busy_ < kSpin) std::this_thread::yield();
  else std::this_thread::sleep_for(now - busy_ < 5ms ? kNap : kLongNap);
}

}  // namespace weft
