// What sessions report, on its way to clients.
#include <array>

#include "tools/serve/document.h"
#include "tools/serve/runner.h"

namespace weft::serve {
namespace {

constexpr auto kBetweenDrains = std::chrono::milliseconds(15);
constexpr std::chrono::milliseconds kBetweenTicks{16}, kUnwatched{200}, kSettling{3};
constexpr int kPrintsPerSecond = 100;
constexpr size_t kPrintBytes = 4096;

const char* ProgressName(int32_t progress) {
  static constexpr const char* kNames[] = {"none", "began", "ended", "skipped", "failed", "cancelled"};
  return progress >= 0 && progress < 6 ? kNames[progress] : "none";
}

void Put(Json& object, const char* name, const char* text) {
  if (text != nullptr && *text != '\0') object[name] = text;
}

Json ErrorJson(const weft_event& event) {
  static constexpr const char* kPhases[] = {"none", "load", "connect", "compile", "run"};
  Json error = {{"code", weft_status_name(event.code)}, {"severity", "error"}, {"message", event.text}};
  Put(error, "hint", event.hint);
  Put(error, "page", event.page);
  Put(error, "pointer", event.pointer);
  Put(error, "block", event.block);
  Put(error, "port", event.port);
  Put(error, "needed", event.needed);
  Put(error, "found", event.found);
  if (event.phase > 0 && event.phase < 5) error["phase"] = kPhases[event.phase];
  if (event.causes != nullptr && *event.causes != '\0') {
    Json causes = Json::array();
    std::string_view rest = event.causes;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      if (end != 0) causes.push_back({{"code", weft_status_name(event.code)}, {"severity", "note"}, {"message", std::string(rest.substr(0, end))}});
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    error["causes"] = std::move(causes);
  }
  return error;
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

void Runner::Arm() {
  if (watch_) watch_->Arm();
}

void Runner::Drain() {
  if (draining_.exchange(true)) return;
  {
    const Lock lock(mutex_);
    if (closed_) return;
    std::array<weft_event, 128> events;
    for (int round = 0; round < 16; ++round) {
      events[0] = WEFT_EVENT_INIT;
      size_t count = 0;
      if (weft_events_poll(events_.get(), events.data(), events.size(), &count, nullptr) != WEFT_OK || count == 0) break;
      for (size_t i = 0; i < count; ++i) Take(events[i]);
    }
    Refresh(true);
  }
  KeepTicking();
  draining_ = false;
  // The sessions are idle, the run of the page is about to be.
  if (settling_) {
    context_.After(kSettling, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Drain();
    });
  }
  // Not at once: events of the next milliseconds come together.
  if (context_.net != nullptr) {
    context_.net->After(kBetweenDrains, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Arm();
    });
  }
}

void Runner::Take(const weft_event& event) {
  const std::string run = runs_.empty() ? "" : runs_.front().id;
  switch (event.kind) {
    case WEFT_EVENT_ERROR:
      document_.log().Publish({{"type", "run.error"}, {"run", run}, {"session", event.session}, {"error", ErrorJson(event)}});
      break;
    case WEFT_EVENT_PRINT: Print(event); break;
    case WEFT_EVENT_VALUES: TakeSamples(); break;
    default: break;  // states: Refresh looks
  }
}

void Runner::Print(const weft_event& event) {
  const Clock::time_point now = Clock::now();
  if (now - print_window_ > std::chrono::seconds(1)) {
    print_window_ = now;
    prints_ = 0;
  }
  if (++prints_ > kPrintsPerSecond) {
    ++prints_dropped_;
    return;
  }
  Json message = {{"type", "run.print"}, {"run", runs_.empty() ? Json(nullptr) : Json(runs_.front().id)}, {"session", event.session}, {"block", event.block},
                  {"text", std::string(event.text).substr(0, kPrintBytes)}};
  if (prints_dropped_ > 0) message["dropped"] = std::exchange(prints_dropped_, 0);
  document_.log().Publish(std::move(message));
}

/// Sends ticks as long as a run is in progress.
void Runner::KeepTicking() {
  if (context_.net == nullptr || ticking_.exchange(true)) return;
  // Without anyone who watches only the end of the run is looked for, in case that its event was missed.
  context_.After(watched_ ? kBetweenTicks : kUnwatched, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->ticking_ = false;
    if (self->Tick()) self->KeepTicking();
  });
}

/// Has something sent soon, whatever ticks.
void Runner::TickSoon() {
  watched_ = true;
  context_.After(kBetweenTicks, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->Tick()) self->KeepTicking();
  });
}

/// True where another one is needed.
bool Runner::Tick() {
  const Lock lock(mutex_);
  if (closed_) return false;
  Refresh(true);
  const bool active = !runs_.empty() && !runs_.front().ended;
  TakeProgress();
  const bool waits = SendTicks(Clock::now(), !active);
  SendSummaries(Clock::now(), !active);
  watched_ = !ticks_.empty() || !summaries_.empty();
  return (active && (watched_ || runs_.front().state == "running")) || waits;
}

/// Blocks report only while someone wants to see it: each report costs.
void Runner::ChooseProgress() {
  bool blocks = false, timings = false;
  for (const TickWatch& watch : ticks_) {
    blocks = blocks || watch.blocks;
    timings = timings || watch.timings;
  }
  const uint32_t kind = WEFT_EVENT_BIT(WEFT_EVENT_PROGRESS);
  if (blocks && !progress_) weft_events_open(nullptr, progress_.out(), nullptr);
  for (OpenSession* session : AllSessions()) {
    weft_session* handle = session->handle.get();
    if (blocks) weft_events_add(progress_.get(), handle, kind, 1, nullptr);  // where it is not yet
    else if (progress_) weft_events_remove(progress_.get(), handle, nullptr);
    if (timings && !timings_on_) {
      const auto add = [](void* user, const weft_event* event) { static_cast<BlockTimes*>(user)->Add(*event); };
      weft_session_on_event(handle, add, &times_, kind, -1, nullptr);
    } else if (!timings && timings_on_) {
      weft_session_on_event(handle, nullptr, nullptr, kind, 0, nullptr);
    }
  }
  if (!blocks) progress_.reset();
  progress_on_ = blocks;
  timings_on_ = timings;
}

void Runner::TakeProgress() {
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
    }
  }
}

/// True where something waits for its time.
bool Runner::SendTicks(Clock::time_point now, bool last) {
  bool waits = false;
  std::erase_if(ticks_, [](const TickWatch& watch) { return watch.client.expired(); });
  for (TickWatch& watch : ticks_) {
    if (runs_.empty()) continue;
    const bool active = !last || !watch.progress.empty() || watch.last_runs != UINT64_MAX;
    if (!active) continue;
    if (now - watch.last < watch.interval && !last) {
      waits = true;
      continue;
    }
    SendTick(watch, now);
    // After the end of a run there is one last tick.
    if (last) watch.last_runs = UINT64_MAX;
  }
  return waits;
}

void Runner::SendTick(TickWatch& watch, Clock::time_point now) {
  const std::shared_ptr<Client> client = watch.client.lock();
  if (!client) return;
  uint64_t runs = 0;
  for (const Json& session : runs_.front().sessions) runs += session.value("runs", uint64_t{0});
  const double seconds = std::chrono::duration<double>(now - watch.last).count();
  Json tick = {{"type", "run.tick"}, {"page", document_.id()}, {"run", RunJson(runs_.front())}, {"fraction", nullptr}, {"runs_per_second", nullptr}};
  if (watch.last_runs != UINT64_MAX && runs >= watch.last_runs && seconds < 10) {
    tick["runs_per_second"] = static_cast<double>(runs - watch.last_runs) / seconds;
  }
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

}  // namespace weft::serve
