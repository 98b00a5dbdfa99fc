#include "tools/serve/progress.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "tools/serve/document.h"

namespace weft::serve {
namespace {

constexpr int64_t kFirst = 8;  // elements in each summary

const char* ProgressName(int32_t progress) {
  static constexpr const char* kNames[] = {"none", "began", "ended", "skipped", "failed", "cancelled"};
  return progress >= 0 && progress < 6 ? kNames[progress] : "none";
}

/// Whether the client has it, or is gone.
template <class Watch>
auto IsOf(const Client& client) {
  return [&client](const Watch& watch) {
    const auto owner = watch.client.lock();
    return !owner || owner.get() == &client;
  };
}

}  // namespace

void BlockTimes::Add(const weft_event& event) {
  if (event.kind != WEFT_EVENT_PROGRESS || event.block == nullptr || *event.block == '\0') return;
  const std::lock_guard lock(mutex_);
  Times& times = blocks_[event.block];
  if (event.progress == WEFT_BEGAN) {
    times.began = event.t_ns;
  } else if (event.progress == WEFT_ENDED && times.began != 0) {
    const int64_t took = event.t_ns - times.began;
    times.began = 0;
    times.total += took;
    times.most = std::max(times.most, took);
    ++times.count;
    if (first_run_ == 0) first_run_ = event.run;
    last_run_ = std::max(last_run_, event.run);
  }
}

void BlockTimes::Clear() {
  const std::lock_guard lock(mutex_);
  blocks_.clear();
  first_run_ = last_run_ = 0;
}

Json BlockTimes::Report() const {
  const std::lock_guard lock(mutex_);
  int64_t total = 0;
  for (const auto& [block, times] : blocks_) total += times.total;
  Json blocks = Json::object();
  for (const auto& [block, times] : blocks_) {
    if (times.count == 0) continue;
    blocks[block] = {{"ns", times.total / times.count}, {"most_ns", times.most}, {"count", times.count},
                     {"share", total == 0 ? 0 : static_cast<double>(times.total) / static_cast<double>(total)}};
  }
  return {{"runs", first_run_ == 0 ? 0 : last_run_ - first_run_ + 1}, {"blocks", std::move(blocks)}};
}

void ProgressWatches::AddTicks(const std::shared_ptr<Client>& client, const Json& call) {
  TickWatch watch;
  watch.client = client;
  watch.interval = std::chrono::milliseconds(NumberField(call, "interval_ms", 100, 16, 60000));
  watch.blocks = FlagField(call, "blocks", false);
  watch.timings = FlagField(call, "timings", false);
  if (watch.blocks) {
    TakeProgress();
    // (One that had begun may have ended while nobody looked.)
    std::ranges::copy_if(last_, std::inserter(watch.progress, watch.progress.end()), [](const auto& block) { return block.second["progress"] != "began"; });
  }
  std::erase_if(ticks_, IsOf<TickWatch>(*client));
  ticks_.push_back(std::move(watch));
  ChooseEvents();
}

void ProgressWatches::AddSummaries(const std::shared_ptr<Client>& client, const Json& call) {
  SummaryWatch watch;
  watch.client = client;
  watch.interval = std::chrono::milliseconds(NumberField(call, "interval_ms", 250, 16, 60000));
  watch.names = TextsField(call, "names", limits_.names);
  for (SummaryWatch& other : summaries_) {
    if (other.client.lock() == client) watch.sent = std::move(other.sent);
  }
  std::erase_if(summaries_, IsOf<SummaryWatch>(*client));
  summaries_.push_back(std::move(watch));
}

void ProgressWatches::Remove(const Client& client, const std::string& topic) {
  if (topic.empty() || topic == "summaries") std::erase_if(summaries_, IsOf<SummaryWatch>(client));
  if (!topic.empty() && topic != "run") return;
  std::erase_if(ticks_, IsOf<TickWatch>(client));
  ChooseEvents();
}

void ProgressWatches::Rename(const Renames& renames) {
  for (SummaryWatch& watch : summaries_) {
    for (std::string& name : watch.names) FollowName(name, renames);
  }
}

void ProgressWatches::RunStarts() {
  TakeProgress();
  times_.Clear();
  last_.clear();
}

void ProgressWatches::SessionsChanged() {
  timed_ = false;
  ChooseEvents();
}

/// Blocks report only while someone wants to see it: each report costs.
void ProgressWatches::ChooseEvents() {
  const bool blocks = std::any_of(ticks_.begin(), ticks_.end(), [](const TickWatch& watch) { return watch.blocks; });
  const bool timings = std::any_of(ticks_.begin(), ticks_.end(), [](const TickWatch& watch) { return watch.timings; });
  const uint32_t kind = WEFT_EVENT_BIT(WEFT_EVENT_PROGRESS);
  if (blocks && !progress_) weft_events_open(nullptr, progress_.out(), nullptr);
  for (OpenSession* session : sessions_.All()) {
    weft_session* handle = session->handle.get();
    if (blocks) weft_events_add(progress_.get(), handle, kind, 1, nullptr);  // where it is not yet
    else if (progress_) weft_events_remove(progress_.get(), handle, nullptr);
    if (timings && !timed_) {
      const auto add = [](void* user, const weft_event* event) { static_cast<BlockTimes*>(user)->Add(*event); };
      weft_session_on_event(handle, add, &times_, kind, -1, nullptr);
    } else if (!timings && timed_) {
      weft_session_on_event(handle, nullptr, nullptr, kind, 0, nullptr);
    }
  }
  if (!blocks) {
    TakeProgress();
    progress_.reset();
  }
  timed_ = timings;
}

void ProgressWatches::TakeProgress() {
  if (!progress_) return;
  std::array<weft_event, 256> events;
  for (int round = 0; round < 64; ++round) {
    events[0] = WEFT_EVENT_INIT;
    size_t count = 0;
    if (weft_events_poll(progress_.get(), events.data(), events.size(), &count, nullptr) != WEFT_OK || count == 0) return;
    for (size_t i = 0; i < count; ++i) {
      if (events[i].kind != WEFT_EVENT_PROGRESS || *events[i].block == '\0') continue;
      Json entry = {{"progress", ProgressName(events[i].progress)}, {"run", events[i].run}};
      if (events[i].fraction >= 0) entry["fraction"] = events[i].fraction;
      for (TickWatch& watch : ticks_) {
        if (watch.blocks) watch.progress[events[i].block] = entry;
      }
      entry.erase("fraction");
      last_[events[i].block] = std::move(entry);
    }
  }
}

bool ProgressWatches::Send(const Json& run, Clock::time_point now) {
  TakeProgress();
  const bool ended = run.is_null() || run["state"] == "ended", paused = !run.is_null() && run["state"] == "paused";
  bool waits = false;
  std::erase_if(ticks_, [](const TickWatch& watch) { return watch.client.expired(); });
  for (TickWatch& watch : ticks_) {
    // After the end of a run there is one last tick.
    if (run.is_null() || (ended && watch.after_end && watch.progress.empty())) continue;
    if (!ended && now - watch.last < watch.interval) {
      waits = true;
      continue;
    }
    SendTick(watch, run, now);
    watch.after_end = ended;
  }
  std::erase_if(summaries_, [](const SummaryWatch& watch) { return watch.client.expired(); });
  for (SummaryWatch& watch : summaries_) {
    if (!ended && now - watch.last < watch.interval) continue;
    watch.last = now;
    SendSummaries(watch, paused);
    waits = waits || watch.more;
  }
  return waits;
}

void ProgressWatches::SendTick(TickWatch& watch, const Json& run, Clock::time_point now) {
  const std::shared_ptr<Client> client = watch.client.lock();
  if (!client) return;
  uint64_t runs = 0;
  for (const Json& session : run["sessions"]) runs += session.value("runs", uint64_t{0});
  const double seconds = std::chrono::duration<double>(now - watch.last).count();
  Json tick = {{"type", "run.tick"}, {"page", document_.id()}, {"run", run}, {"fraction", nullptr}, {"runs_per_second", nullptr}};
  // (Not across the pause between two runs.)
  if (!watch.after_end && runs >= watch.last_runs && seconds < 10) tick["runs_per_second"] = static_cast<double>(runs - watch.last_runs) / seconds;
  if (watch.blocks) {
    for (const auto& [block, entry] : watch.progress) {
      if (entry.contains("fraction")) tick["fraction"] = entry["fraction"];
    }
    tick["blocks"] = watch.progress;
    watch.progress.clear();
  }
  if (watch.timings) tick["timings"] = times_.Report();
  watch.last = now;
  watch.last_runs = runs;
  client->Offer(std::make_shared<const std::string>(Dump(tick)), false, "run");
}

/// Summaries of what the client has not; of a paused run all, since its values may have been replaced. What is too much for one message
/// comes in the next.
void ProgressWatches::SendSummaries(SummaryWatch& watch, bool paused) {
  const std::shared_ptr<Client> client = watch.client.lock();
  if (!client) return;
  Json different = Json::object();
  JsonRoom room{limits_.queue_bytes / 2, limits_.string_bytes};
  const bool again = paused && !watch.more;
  watch.more = false;
  std::set<std::string> had;
  sessions_.ForResults(&watch.names, [&](const weft_result& result, OpenSession& session, weft_results* results, size_t index) {
    if (result.code != WEFT_OK || !had.insert(result.name).second) return;
    // What is the same run's is the same value: nothing is read of it.
    const std::string key = session.id + std::to_string(result.generation) + (result.stale != 0 ? "s" : "");
    std::string& sent = watch.sent[result.name];
    if (sent == key && !again) return;
    watch.more = watch.more || room.bytes < static_cast<size_t>(kFirst) * (limits_.string_bytes + sizeof(Json));
    if (watch.more) return sent.clear();
    sent = key;
    Json summary = SummaryOf(results, index, false, kFirst, room);
    summary["session"] = session.id;
    different[result.name] = std::move(summary);
  });
  if (different.empty()) return;
  const Json message = {{"type", "values"}, {"page", document_.id()}, {"revision", document_.revision()}, {"values", std::move(different)}};
  if (!client->Offer(std::make_shared<const std::string>(Dump(message)), false, "summaries")) watch.sent.clear();
}

}  // namespace weft::serve
