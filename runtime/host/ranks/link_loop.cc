#include "runtime/host/ranks/link_loop.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace weft {
namespace {

using namespace std::chrono_literals;

// Tags of messages: those of users of collectives follow.
constexpr int kAskTag = 1, kAnswerTag = 2, kFirstUserTag = 3;
// A message goes in parts, of which those that have come show that it moves; the first is so small that it comes as soon as the other is there.
constexpr size_t kFirstPiece = size_t{4} << 10, kPiece = size_t{256} << 10;
// With nothing arriving for so long, who waits sleeps between two looks. Within a message each look moves some of it.
constexpr auto kSpin = 100us, kSpinWithin = 2000us;
constexpr auto kNap = 50us, kLongNap = 200us;
constexpr auto kIdle = 50ms;
constexpr auto kAnswerTime = 1500ms;

}  // namespace

// ---- for callers -----------------------------------------------------------------------------------------------------------------------

Status RankLink::Loop::Start() {
  thread_ = std::thread([this] { Run(); });
  std::unique_lock lock(mutex_);
  if (!done_.wait_for(lock, options_.deadline, [&] { return begun_; })) {
    // Its thread is within MPI, and cannot be called back.
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
  Transfer transfer{user, messages, what, Clock::now(), {}};
  std::unique_lock lock(mutex_);
  if (closing_) return Cancelled("the link to the other ranks is closed");
  const std::chrono::nanoseconds own = deadlines_[static_cast<size_t>(user)];
  transfer.deadline = transfer.start + (own.count() > 0 ? own : options_.deadline);
  waiting_.push_back(&transfer);
  while (!transfer.done) {
    if (driving_) {
      done_.wait(lock, [&] { return transfer.done || !driving_; });
      continue;
    }
    driving_ = true;
    while (!transfer.done) Round(lock);
    driving_ = false;
    done_.notify_all();
  }
  return transfer.status;
}

void RankLink::Loop::SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline) {
  std::lock_guard lock(mutex_);
  deadlines_[static_cast<size_t>(user)] = deadline;
}

void RankLink::Loop::Abort(std::string_view why) {
  options_.tell(why);
  std::unique_lock lock(mutex_);
  if (done_.wait_for(lock, 2s, [&] { return !driving_; })) {
    driving_ = true;
    messages_.abort(1);
  }
  std::_Exit(1);
}

void RankLink::Loop::Close() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
    changed_.notify_one();
    if (!done_.wait_for(lock, options_.deadline, [&] { return left_; })) {
      options_.tell(Cat("rank ", rank_, " waited for the other ranks to leave the job: at least one is stopped, or its machine cannot be reached"));
      std::_Exit(1);
    }
  }
  thread_.join();
}

// ---- the thread ------------------------------------------------------------------------------------------------------------------------

void RankLink::Loop::Run() {
  const bool ok = messages_.begin(&rank_, &size_) == 0;
  {
    std::lock_guard lock(mutex_);
    if (!ok) begin_status_ = Status(Code::kInternal, Cat("the job cannot be joined: ", messages_.error()));
    begun_ = true;
    answers_.resize(static_cast<size_t>(size_));
    done_.notify_all();
  }
  std::unique_lock lock(mutex_);
  while (ok && !closing_) {
    // Whoever waits for messages looks for them; in between, somebody must answer those who ask.
    if (!driving_) {
      driving_ = true;
      Round(lock);
      driving_ = false;
      done_.notify_all();
    }
    changed_.wait_for(lock, kIdle, [&] { return closing_; });
  }
  lock.unlock();
  if (ok) messages_.end();
  lock.lock();
  left_ = true;
  done_.notify_all();
}

// One look at all that is on its way, without the lock.
void RankLink::Loop::Round(std::unique_lock<std::mutex>& lock) {
  while (!waiting_.empty()) {
    moving_.push_back(waiting_.front());
    waiting_.pop_front();
    busy_ = Clock::now();
  }
  lock.unlock();
  bool moved = false;
  std::vector<Transfer*> ended;
  for (Transfer* transfer : moving_) {
    if (transfer->under_way.empty()) Begin(*transfer);
    moved |= Poll(*transfer);
    if (transfer->under_way.empty()) ended.push_back(transfer);
  }
  if (ended.empty()) Rest(moved);
  lock.lock();
  for (Transfer* transfer : ended) {
    std::erase(moving_, transfer);
    transfer->done = true;
  }
  if (!ended.empty()) done_.notify_all();
}

void RankLink::Loop::Begin(Transfer& transfer) {
  const int tag = kFirstUserTag + static_cast<int>(transfer.user);
  for (const bool receive : {true, false}) {  // what is expected before it comes needs no memory between
    for (const Message& message : transfer.messages) {
      if (message.receive != receive) continue;
      for (size_t at = 0, bytes = 0; at < message.bytes; at += bytes) {
        char* const data = static_cast<char*>(message.data) + at;
        bytes = std::min(at == 0 ? kFirstPiece : kPiece, message.bytes - at);
        const int request = receive ? messages_.receive(message.rank, tag, data, bytes) : messages_.send(message.rank, tag, data, bytes);
        if (request < 0) EndJob(Cat("a message ", receive ? "from " : "to ", Name(message.rank), " failed, ", transfer.what, ": ", messages_.error()));
        transfer.under_way.push_back({request, message.rank, receive});
      }
    }
  }
}

/// Whether a piece is there that was not.
bool RankLink::Loop::Poll(Transfer& transfer) {
  const size_t before = transfer.under_way.size();
  std::erase_if(transfer.under_way, [&](const Piece& piece) {
    const int done = messages_.test(piece.request);
    if (done < 0) EndJob(Cat("a message ", piece.receive ? "from " : "to ", Name(piece.rank), " failed, ", transfer.what, ": ", messages_.error()));
    transfer.flows |= done > 0 && piece.receive;
    return done > 0;
  });
  return transfer.under_way.size() != before;
}

// Messages move only while somebody looks (most of MPI's transports are like that), so who waits for them looks; it sleeps between as soon as
// nothing comes, so that a rank that waits for a slow one leaves the core to those that compute.
void RankLink::Loop::Rest(bool moved) {
  const Clock::time_point now = Clock::now();
  if (moved) busy_ = now;
  if (now - looked_ > 10ms) {
    looked_ = now;
    AnswerNotes();
    for (Transfer* transfer : moving_) Watch(*transfer);
  }
  if (moving_.empty() || moved) return;
  const bool flows = std::ranges::any_of(moving_, &Transfer::flows);
  if (now - busy_ < (flows ? kSpinWithin : kSpin)) std::this_thread::yield();
  else std::this_thread::sleep_for(now - busy_ < 5ms ? kNap : kLongNap);
}

// ---- who is late -----------------------------------------------------------------------------------------------------------------------

void RankLink::Loop::SendNote(int to, int tag, std::string_view text) {
  Note& note = notes_.emplace_back();
  const size_t bytes = std::min(text.size(), note.text.size());
  std::memcpy(note.text.data(), text.data(), bytes);
  note.request = messages_.send(to, tag, note.text.data(), bytes);
  if (note.request < 0) notes_.pop_back();
}

bool RankLink::Loop::TakeNote(int tag, int& from, std::string& text) {
  size_t bytes = 0;
  if (messages_.arrived(tag, &from, &bytes) != 1) return false;
  text.resize(bytes);
  const int request = messages_.receive(from, tag, text.data(), bytes);
  if (request < 0) return false;
  while (messages_.test(request) == 0) std::this_thread::yield();  // it has arrived
  return true;
}

void RankLink::Loop::AnswerNotes() {
  std::erase_if(notes_, [&](const Note& note) { return messages_.test(note.request) != 0; });
  int from = 0;
  std::string text;
  while (TakeNote(kAskTag, from, text)) {
    std::string says = options_.where();
    if (!moving_.empty()) says += Cat("; it waits as well, ", moving_.front()->what);
    SendNote(from, kAnswerTag, says);
  }
  while (TakeNote(kAnswerTag, from, text)) answers_[static_cast<size_t>(from)] = text.empty() ? "works" : text;
}

std::set<int> RankLink::Loop::AwaitedBy(const Transfer& transfer) const {
  std::set<int> from, to;
  for (const Piece& piece : transfer.under_way) (piece.receive ? from : to).insert(piece.rank);
  return from.empty() ? to : from;
}

void RankLink::Loop::Ask(Transfer& transfer) {
  std::ranges::fill(answers_, "");
  for (int rank : AwaitedBy(transfer)) SendNote(rank, kAskTag, "?");
  transfer.asked = Clock::now();
}

// A transfer that misses its deadline asks the ranks that it waits for what they do. Who does not answer has stopped, or cannot be reached.
void RankLink::Loop::Watch(Transfer& transfer) {
  const Clock::time_point now = Clock::now();
  if (now < transfer.deadline) return;
  if (!transfer.asked) return Ask(transfer);
  // The ranks that miss the same speak one after another, so that the first speaks alone.
  if (now - *transfer.asked < kAnswerTime + std::min(rank_, 10) * 150ms) return;
  std::string silent, others;
  for (int rank : AwaitedBy(transfer)) {
    const std::string& answer = answers_[static_cast<size_t>(rank)];
    if (answer.empty()) silent += Cat("; ", Name(rank), " does not answer: it is stopped, or its machine cannot be reached");
    else others += Cat("; ", Name(rank), " is at ", answer);
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(transfer.deadline - transfer.start);
  EndJob(Cat(Name(rank_), " waited ", static_cast<double>(waited.count()) / 1000, " s, ", transfer.what, " (", options_.where(), ")", silent, others));
}

void RankLink::Loop::EndJob(std::string_view why) {
  options_.tell(why);
  messages_.abort(1);
  std::_Exit(1);
}

}  // namespace weft
