// A host in C++ with its own event loop: one poll() on a timer of 60 Hz and on the engine's event queue. All pages run in it side by side,
// a round of their sessions at each tick, and are edited between rounds while others run. It prints the digests that host.c prints: an
// edit that is taken back leaves no trace, and one that changes no value changes no bit.
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <weft.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 5;
constexpr long kTick = 1'000'000'000 / 60;  // nanoseconds

void Check(weft_status status, weft_diagnostics* problems, const char* phase) {
  if (status == WEFT_OK) return;
  const char* text = "";
  weft_diagnostics_text(problems, &text);
  std::fprintf(stderr, "%s: %s\n%s\n", phase, weft_status_name(status), text);
  std::exit(1);
}

/// weft_..._close and _release as deleters.
template <auto kClose>
struct Closer {
  template <typename T>
  void operator()(T* handle) const { kClose(handle); }
};
using Runtime = std::unique_ptr<weft_runtime, Closer<weft_runtime_close>>;
using PageHandle = std::unique_ptr<weft_page, Closer<weft_page_close>>;
using Session = std::unique_ptr<weft_session, Closer<weft_session_close>>;
using Events = std::unique_ptr<weft_events, Closer<weft_events_close>>;
using Strings = std::unique_ptr<weft_strings, Closer<weft_strings_release>>;
using View = std::unique_ptr<weft_view, Closer<weft_view_release>>;

std::vector<std::string> Texts(weft_strings* handle) {
  Strings strings(handle);
  std::vector<std::string> texts;
  size_t count = 0;
  weft_strings_count(strings.get(), &count);
  for (size_t i = 0; i < count; ++i) {
    const char* text = "";
    size_t bytes = 0;
    weft_strings_get(strings.get(), i, &text, &bytes);
    texts.emplace_back(text, bytes);
  }
  return texts;
}

class Digest {  // FNV-1a
 public:
  void Add(const void* data, size_t count) {
    for (size_t i = 0; i < count; ++i) value_ = (value_ ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  }
  void Add(const char* name, const weft_view* view) {
    weft_view_info info = WEFT_VIEW_INFO_INIT;
    weft_view_get_info(view, &info);
    Add(name, std::strlen(name) + 1);
    const char* dtype = weft_dtype_name(info.dtype);
    Add(dtype, std::strlen(dtype) + 1);
    if (info.rank > 0) Add(info.shape, static_cast<size_t>(info.rank) * sizeof(int64_t));
    if (info.data != nullptr) Add(info.data, static_cast<size_t>(info.bytes));
    for (int64_t i = 0; info.dtype == WEFT_STRING && i < info.count; ++i) {
      weft_bytes element{};
      weft_view_string(view, i, &element);
      Add(element.data, element.size);
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

/// A page that is run a round at each tick, and edited between rounds.
class HostedPage {
 public:
  HostedPage(weft_runtime* runtime, weft_events* events, const char* path, const char* write_folder) : path_(path) {
    weft_diagnostics* problems = nullptr;
    weft_page* page = nullptr;
    weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
    options.write_folders = &write_folder;
    options.write_count = write_folder != nullptr;
    Check(weft_page_load_file(runtime, path, &options, &page, &problems), problems, "load");
    page_.reset(page);
    weft_strings* ids = nullptr;
    Check(weft_page_sessions(page, &ids, &problems), problems, "sessions");
    for (const std::string& id : Texts(ids)) Open(events, id);
    FindWire();
  }

  bool done() const { return round_ == kRounds; }

  /// A tick: begins the next round, unless the last one still goes on.
  void Tick() {
    if (done() || running_) return;
    Edit();
    running_ = true;
    next_ = 0;
    StartNext();
  }

  /// A session may have become idle: the next one's turn, or the end of the round. (Events tell of the past: the state is asked for.)
  void OnState() {
    weft_diagnostics* problems = nullptr;
    int32_t state = WEFT_RUNNING;
    if (!running_) return;
    Check(weft_session_wait(sessions_[next_].get(), 0, &state, &problems), problems, "run");
    if (state != WEFT_IDLE) return;
    if (++next_ < sessions_.size()) return StartNext();
    running_ = false;
    ++round_;
  }

  void PrintDigest() const {
    Digest digest;
    for (const Session& session : sessions_) {
      weft_diagnostics* problems = nullptr;
      weft_strings* results = nullptr;
      Check(weft_session_results(session.get(), &results, &problems), problems, "results");
      std::vector<std::string> names = Texts(results);
      std::ranges::sort(names);
      std::vector<const char*> pointers;
      for (const std::string& name : names) pointers.push_back(name.c_str());
      std::vector<weft_view*> views(names.size());
      if (names.empty()) continue;
      Check(weft_session_views(session.get(), pointers.data(), pointers.size(), views.data(), &problems), problems, "views");
      for (size_t i = 0; i < names.size(); ++i) {
        View view(views[i]);
        if (view) digest.Add(pointers[i], view.get());
      }
    }
    std::printf("%s %016llx\n", path_, static_cast<unsigned long long>(digest.value()));
  }

 private:
  void Open(weft_events* events, const std::string& id) {
    weft_diagnostics* problems = nullptr;
    weft_session* session = nullptr;
    weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
    options.session = id.c_str();
    Check(weft_session_open(page_.get(), &options, &session, &problems), problems, "open");
    sessions_.emplace_back(session);
    const uint32_t kinds = WEFT_EVENT_BIT(WEFT_EVENT_STATE);
    Check(weft_events_add(events, session, kinds, reinterpret_cast<uintptr_t>(this), &problems), problems, "events");
  }

  void StartNext() {
    weft_diagnostics* problems = nullptr;
    Check(weft_session_start(sessions_[next_].get(), nullptr, &problems), problems, "start");
  }

  /// Finds a wire on which a block that hands its input on can be set: the first that goes to arithmetic.
  void FindWire() {
    weft_diagnostics* problems = nullptr;
    weft_strings* json = nullptr;
    Check(weft_page_write(page_.get(), &json, &problems), problems, "write");
    const std::string text = Texts(json).at(0);
    const std::regex block(R"re(\{"id": "(\w+)", "block": "(?:Add|Multiply|MatMul|Conv2D|BiasAddGrad|FusedBatchNormV3)")re"
                           R"re(.*"inputs": \{"(\w+)": ("[\w.\[\]]+"))re");
    if (std::smatch found; std::regex_search(text, found, block)) {
      to_ = found.str(1) + "." + found.str(2);
      from_ = found.str(3);
    }
  }

  /// Applies edits and gives those that take them back.
  std::string Apply(const std::string& edits) {
    weft_diagnostics* problems = nullptr;
    weft_strings* inverse = nullptr;
    Check(weft_page_edit(page_.get(), edits.c_str(), WEFT_EDIT_STRICT, &inverse, &problems), problems, "edit");
    return Texts(inverse).at(0);
  }

  /// Before the rounds 1 to 4: a block comes on a wire, gets another name and a place, and all of it is taken back.
  void Edit() {
    if (to_.empty()) return;
    if (round_ == 1) undo_.push_back(Apply(R"([{"op": "add", "block": {"id": "probe", "block": "Identity", "inputs": {"input": )" + from_ +
                                           R"(}}}, {"op": "connect", "from": "probe.output", "to": ")" + to_ + R"("}])"));
    if (round_ == 2) undo_.push_back(Apply(R"([{"op": "rename", "block": "probe", "to": "watched"},
                                               {"op": "move", "block": "watched", "layout": [40, 80]}])"));
    if (round_ >= 3) {
      Apply(undo_.back());
      undo_.pop_back();
    }
  }

  const char* path_;
  PageHandle page_;
  std::vector<Session> sessions_;
  std::string from_, to_;  // the wire that is edited
  std::vector<std::string> undo_;
  int round_ = 0;
  size_t next_ = 0;  // the session that runs, or runs next
  bool running_ = false;
};

/// Takes all events and tells the pages.
void TakeEvents(weft_events* events) {
  std::vector<weft_event> taken(64, weft_event WEFT_EVENT_INIT);
  size_t count = 0;
  do {
    weft_diagnostics* problems = nullptr;
    Check(weft_events_poll(events, taken.data(), taken.size(), &count, &problems), problems, "poll");
    for (size_t i = 0; i < count; ++i) {
      if (taken[i].kind == WEFT_EVENT_STATE) reinterpret_cast<HostedPage*>(static_cast<uintptr_t>(taken[i].source))->OnState();
    }
  } while (count > 0);
}

void Loop(weft_events* events, std::vector<std::unique_ptr<HostedPage>>& pages) {
  weft_diagnostics* problems = nullptr;
  int32_t events_fd = -1;
  Check(weft_events_fd(events, &events_fd, &problems), problems, "events");
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec tick{{0, kTick}, {0, kTick}};
  timerfd_settime(timer, 0, &tick, nullptr);
  while (!std::ranges::all_of(pages, [](const auto& page) { return page->done(); })) {
    pollfd waits[2] = {{timer, POLLIN, 0}, {events_fd, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) TakeEvents(events);
    uint64_t ticks = 0;
    if (waits[0].revents != 0 && read(timer, &ticks, sizeof ticks) > 0) {
      for (const auto& page : pages) page->Tick();
    }
  }
  close(timer);
}

}  // namespace

int main(int argc, char** argv) {
  weft_diagnostics* problems = nullptr;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.threads = 2;
  weft_runtime* made = nullptr;
  weft_events* queue = nullptr;
  Check(weft_runtime_open(&options, &made, &problems), problems, "runtime");
  Check(weft_events_open(nullptr, &queue, &problems), problems, "events");
  Runtime runtime(made);
  Events events(queue);
  std::vector<std::unique_ptr<HostedPage>> pages;
  const char* write_folder = argc > 2 && std::string_view(argv[1]) == "--write" ? argv[2] : nullptr;  // pages may write there
  for (int i = write_folder != nullptr ? 3 : 1; i < argc; ++i) {
    pages.push_back(std::make_unique<HostedPage>(runtime.get(), events.get(), argv[i], write_folder));
  }
  Loop(events.get(), pages);
  for (const auto& page : pages) page->PrintDigest();
}
