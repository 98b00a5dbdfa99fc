// The runs of a page, as clients know them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/breakpoints.h"
#include "tools/serve/client.h"
#include "tools/serve/page_sessions.h"

namespace weft::serve {

/// One start of one session or of all.
struct RunRecord {
  std::string id, target, by;
  bool ended = false, stop_asked = false, by_page_run = false;
  std::string state = "running", outcome, mode = "RUN";
  Json error;
  int64_t started = 0;  // seconds since 1970
  Clock::time_point began = Clock::now();
  int64_t elapsed_ms = 0;
  uint64_t revision = 0;
  Json sessions = Json::array();
};

/// Guarded by the lock of the Runner that has it. Clients are told how the latest run is.
class PageRuns {
 public:
  PageRuns(Document& document, PageSessions& sessions, Breakpoints& breakpoints, const Limits& limits)
      : document_(document), sessions_(sessions), breakpoints_(breakpoints), limits_(limits) {}

  /// A new run, which is the latest from now on; `target`: "page", "session" or "fetches".
  RunRecord& Add(const std::string& target, const std::string& by);
  /// The latest could not be started.
  void Withdraw() { runs_.pop_front(); }
  void PublishStart();
  /// The latest; null before the first.
  RunRecord* latest() { return runs_.empty() ? nullptr : &runs_.front(); }
  std::string latest_id() const { return runs_.empty() ? "" : runs_.front().id; }

  /// Looks how the latest run is, and tells when that is new.
  void Refresh();
  /// All sessions are idle, and the page's run is about to be.
  bool settling() const { return settling_; }
  bool active() const { return !runs_.empty() && !runs_.front().ended; }

  /// The protocol's Run: of the latest or null, of all, of one.
  Json Latest() const;
  Json List() const;
  std::optional<Json> Find(const std::string& id) const;
  /// pause, resume, stop, step, cancel, override. Throws 400, 404, 409.
  Json Control(const std::string& id, const std::string& action, const Json& body);

 private:
  std::vector<OpenSession*> SessionsFor(const Json& body);
  void LookAtSessions(RunRecord& run, bool& running, bool& paused);
  void End(RunRecord& run);
  Json Describe(const RunRecord& run) const;
  Json SessionJson(OpenSession& session, bool& running, bool& paused) const;
  Json PauseJson(OpenSession& session, const weft_session_info& info) const;

  Document& document_;
  PageSessions& sessions_;
  Breakpoints& breakpoints_;
  const Limits& limits_;
  std::deque<RunRecord> runs_;  // the latest first
  uint64_t next_ = 1;
  bool settling_ = false;
};

/// "EDIT", "FREEZE", "STEP" or "RUN".
const char* ModeName(int32_t mode);

}  // namespace weft::serve
