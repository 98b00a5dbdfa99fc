#include "runtime/host/ranks/late_ranks.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

namespace weft {
namespace {

using namespace std::chrono_literals;
using Clock = Transfer::Clock;

// Tags of the link's own messages: a question is its number and the user of the transfer, an answer that number, how many milliseconds ago the
// answering rank's transfer of this user moved (-1: there is none, or it has not), and what the rank does.
constexpr int kAskTag = 1, kAnswerTag = 2;
// How long an answer may take. While the transfer moves with other ranks, messages may be queued before it: then longer.
constexpr auto kAnswerTime = 1500ms, kBusyAnswerTime = 10'000ms;

/// Takes a number and the space behind it off the text.
int64_t TakeNumber(std::string_view& text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::min(static_cast<size_t>(end - text.data()) + 1, text.size()));
  return error == std::errc() ? number : -1;
}

}  // namespace

void LateRanks::Send(int to, int tag, std::string_view text) {
  Note& note = notes_.emplace_back();
  const size_t bytes = std::min(text.size(), note.text.size());
  std::memcpy(note.text.data(), text.data(), bytes);
  note.request = library_.send(to, tag, note.text.data(), bytes);
  if (note.request < 0) notes_.pop_back();
}

bool LateRanks::Take(int tag, int& from, std::string& text) {
  size_t bytes = 0;
  if (library_.arrived(tag, &from, &bytes) != 1) return false;
  text.resize(bytes);
  const int request = library_.receive(from, tag, text.data(), bytes);
  if (request < 0) return false;
  while (library_.test(request) == 0) std::this_thread::yield();  // it has arrived
  return true;
}

void LateRanks::Exchange(std::list<Transfer*>& moving) {
  std::erase_if(notes_, [&](const Note& note) { return library_.test(note.request) != 0; });
  int from = 0;
  std::string text;
  while (Take(kAskTag, from, text)) Answer(from, text, moving);
  while (Take(kAnswerTag, from, text)) Learn(text, moving);
}

void LateRanks::Answer(int to, std::string_view question, const std::list<Transfer*>& moving) {
  const int64_t number = TakeNumber(question), user = TakeNumber(question);
  const auto same = std::ranges::find_if(moving, [&](const Transfer* transfer) { return static_cast<int64_t>(transfer->user()) == user; });
  int64_t age = -1;
  if (same != moving.end() && (*same)->moved()) age = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *(*same)->moved()).count();
  std::string says = where_();
  if (says.empty()) says = "work";
  if (!moving.empty()) says += Cat("; it waits as well, ", moving.front()->what());
  Send(to, kAnswerTag, Cat(number, " ", age, " ", says));
}

void LateRanks::Learn(std::string_view answer, std::list<Transfer*>& moving) {
  const int64_t number = TakeNumber(answer), age = TakeNumber(answer);
  for (Transfer* transfer : moving) {
    for (Transfer::Peer& peer : transfer->peers()) {
      if (peer.question != number) continue;
      peer.answer = answer;
      // From when it was asked on, not from when it answers: so no time passes in what ranks that wait for each other say of each other.
      if (age >= 0) transfer->Note(peer, peer.asked - std::chrono::milliseconds(age));
    }
  }
}

std::string LateRanks::Check(Transfer& transfer, int rank) {
  const Clock::time_point now = Clock::now();
  // The ranks that miss the same speak one after another, so that the first speaks alone.
  const auto turn = std::min(rank, 10) * 150ms;
  bool over = false;
  std::string silent, others;
  for (Transfer::Peer& peer : transfer.peers()) {
    if (now - peer.moved < transfer.deadline()) {
      peer.question = 0;
      continue;
    }
    if (peer.question == 0) {
      peer.question = ++questions_;
      peer.asked = now;
      peer.answer.clear();
      Send(peer.rank, kAskTag, Cat(peer.question, " ", static_cast<int>(transfer.user())));
      continue;
    }
    const Clock::time_point quiet = std::max(peer.asked, transfer.moved().value_or(peer.asked));
    const bool had_time = now >= std::min(quiet + kAnswerTime, peer.asked + kBusyAnswerTime) + turn;
    over |= had_time;
    if (!peer.answer.empty()) others += Cat("; ", Name(peer.rank), " is at ", peer.answer);
    else if (had_time) silent += Cat("; ", Name(peer.rank), " does not answer: it is stopped, or its machine cannot be reached");
  }
  if (!over) return "";
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(transfer.deadline());
  return Cat(Name(rank), " waited ", static_cast<double>(waited.count()) / 1000, " s, ", transfer.what(), " (", where_(), ")", silent,
             others);
}

}  // namespace weft
