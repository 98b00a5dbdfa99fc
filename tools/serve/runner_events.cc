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

Json ErrorJson(const weft_event& event) {
  weft_diagnostic diagnostic = WEFT_DIAGNOSTIC_INIT;
  diagnostic.severity = WEFT_ERROR;
  diagnostic.code = event.code;
  diagnostic.message = event.text;
  diagnostic.hint = event.hint;
  diagnostic.page = event.page;
  diagnostic.pointer = event.pointer;
  diagnostic.block = event.block;
  diagnostic.port = event.port;
  diagnostic.phase = event.phase;
  diagnostic.needed = event.needed;
  diagnostic.found = event.found;
  Json error = DiagnosticJson(diagnostic);
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

void Prints::Send(EventLog& log, const weft_event& event, const std::string& run) {
  if (sent_.Count() > kPrintsPerSecond) {
    ++dropped_;
    return;
  }
  Json message = {{"type", "run.print"}, {"run", TextOrNull(run)}, {"session", event.session}, {"block", event.block},
                  {"text", std::string(event.text).substr(0, kPrintBytes)}};
  if (dropped_ > 0) message["dropped"] = std::exchange(dropped_, 0);
  log.Publish(std::move(message));
}

/// Has the descriptor of the events looked at from the first session on.
void Runner::WatchEvents() {
  if (watch_ || context_.net == nullptr) return;
  int32_t fd = -1;
  Call([&](weft_diagnostics** problems) { return weft_events_fd(events_.get(), &fd, problems); });
  watch_ = context_.net->MakeWatch(fd, [weak = weak_from_this(), work = &context_.work] {
    const bool taken = (*work)([weak] {
      if (auto self = weak.lock()) self->Drain();
    });
    if (taken) return;
    if (auto self = weak.lock()) self->ArmSoon();
  });
  watch_->Arm();
}

void Runner::Drain() {
  if (draining_.exchange(true)) return;
  try {
    TakeEvents();
    KeepTicking();
  } catch (...) {
    // As for want of memory: the rest is taken later.
    draining_ = false;
    ArmSoon();
    throw;
  }
  draining_ = false;
  ArmSoon();
}

/// Not at once: events of the next milliseconds come together, and a pool that is full becomes free.
void Runner::ArmSoon() {
  if (context_.net == nullptr) return;
  context_.net->After(kBetweenDrains, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->watch_) self->watch_->Arm();
  });
}

void Runner::TakeEvents() {
  const Lock lock(mutex_);
  if (closed_) return;
  std::array<weft_event, 128> events;
  for (int round = 0; round < 16; ++round) {
    events[0] = WEFT_EVENT_INIT;
    size_t count = 0;
    if (weft_events_poll(events_.get(), events.data(), events.size(), &count, nullptr) != WEFT_OK || count == 0) break;
    for (size_t i = 0; i < count; ++i) Take(events[i]);
  }
  runs_.Refresh();
  if (!runs_.settling()) return;
  // The sessions are idle, the run of the page is about to be.
  context_.After(kSettling, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Drain();
  });
}

void Runner::Take(const weft_event& event) {
  switch (event.kind) {
    case WEFT_EVENT_ERROR:
      document_.log().Publish({{"type", "run.error"}, {"run", runs_.latest_id()}, {"session", event.session}, {"error", ErrorJson(event)}});
      break;
    case WEFT_EVENT_PRINT: prints_.Send(document_.log(), event, runs_.latest_id()); break;
    case WEFT_EVENT_VALUES: values_.SendSamples(); break;
    default: break;  // states: Refresh looks
  }
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
  runs_.Refresh();
  const bool waits = progress_.Send(progress_.any() ? runs_.Latest() : Json(nullptr), Clock::now());
  watched_ = progress_.any();
  return waits || (runs_.active() && (watched_ || runs_.latest()->state == "running"));
}

}  // namespace weft::serve
