// The breakpoints of a page.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "tools/serve/page_sessions.h"

namespace weft::serve {

/// A breakpoint of the page: one of the engine in each session.
struct PageBreakpoint {
  struct InSession {
    std::string session;
    bool of_fetches;
    BreakpointHandle handle;
  };
  std::string id, kind, block, port, condition, by;
  uint64_t from_hit = 1;
  bool once = false, enabled = true;
  std::vector<InSession> in_sessions;
};

/// Guarded by the lock of the Runner that has it. Clients are told what changes.
class Breakpoints {
 public:
  Breakpoints(Document& document, PageSessions& sessions, const Limits& limits) : document_(document), sessions_(sessions), limits_(limits) {}

  /// A new one, of the client `by`, in all sessions that are open. Throws 400, 422, 429.
  Json Add(const Json& body, const std::string& by);
  /// Throw 404.
  Json Change(const std::string& id, const Json& body);
  void Remove(const std::string& id);
  Json All();
  void Clear() { breakpoints_.clear(); }

  /// Puts all into a session that was just opened.
  void InsertAll(OpenSession& session);
  /// The sessions of the page, or the one of fetches, go.
  void Detach(bool of_fetches);
  void Rename(const Renames& renames);
  /// The page has changed: those that a session could not take before, it may now.
  void Resume();
  /// The id of the one that pauses the session; empty where none does.
  std::string Pausing(const OpenSession& session) const;
  /// The client is gone: its breakpoints go, and what they pause goes on. False where it had none.
  bool Release(const std::string& client);
  /// Tells clients how often each was hit.
  void PublishHits();

 private:
  void Insert(PageBreakpoint& breakpoint, OpenSession& session);
  void Publish();

  Document& document_;
  PageSessions& sessions_;
  const Limits& limits_;
  std::deque<PageBreakpoint> breakpoints_;
  uint64_t next_ = 1;
};

/// Whether the breakpoint of the engine pauses its session now.
bool Pauses(const BreakpointHandle& breakpoint);

}  // namespace weft::serve
