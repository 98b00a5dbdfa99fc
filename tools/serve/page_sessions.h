// The sessions of a page that are open: their values, and what is fed to them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/serve/engine.h"
#include "tools/serve/limits.h"
#include "tools/serve/tensor.h"

namespace weft::serve {

class Document;

/// The blocks that an edit has renamed, all at once: from, to.
using Renames = std::unordered_map<std::string, std::string>;
/// Has the id of a block follow it. False where it stays.
bool FollowId(std::string& id, const Renames& renames);
/// The same for the name of a value, or a condition on one.
bool FollowName(std::string& name, const Renames& renames);

/// A session of the engine.
struct OpenSession {
  std::string id;  // of the ClientSession block, "default", or "fetch"
  SessionHandle handle;
  bool of_fetches = false;       // not one of the page: it runs what a client asked for
  BreakpointHandle first_block;  // pauses before the first block of a run that starts paused
};

/// Guarded by the lock of the Runner that has it.
class PageSessions {
 public:
  PageSessions(Document& document, const Limits& limits) : document_(document), limits_(limits) {}

  /// Those of the page, then the one of fetches.
  std::vector<OpenSession*> All();
  /// Those that a run is of: of the page, or of fetches.
  std::vector<OpenSession*> Which(bool of_fetches);
  /// Throws 404.
  OpenSession& Of(const std::string& id);
  bool none() const { return page_.empty() && !fetches_; }
  bool Idle();
  /// The run of all sessions of the page; null before the first.
  weft_page_run* page_run() const { return page_run_.get(); }

  /// Whether the open sessions are those of the page as it is now.
  bool AreThoseOfPage();
  /// Opens those of the page as it is now; throws 422. They become the page's by Replace, for which those of before must be idle.
  PageRunHandle OpenPageRun();
  void Replace(PageRunHandle opened);
  /// Closes those of the page, or the one of fetches, which must be idle.
  void Drop(bool of_fetches);
  /// EDIT and FREEZE are for all that runs, STEP and RUN for the sessions of the page.
  void SetModes(int32_t mode, const weft_run_options& options);
  /// Whether it runs until it is stopped where nothing else is asked for (INFINITE_LOOP).
  bool Loops(const OpenSession& session) const;
  /// Opens a session of the fetches and operations that a body names; throws 422. The one of before goes.
  OpenSession& OpenFetches(const Json& body);
  /// Whose values come first, where several have them.
  void PreferFetches(bool prefer) { fetches_first_ = prefer; }
  /// Takes all sessions out: to close them waits until they have ended.
  struct Taken {
    PageRunHandle run;
    std::vector<OpenSession> sessions;
  };
  Taken TakeAll();

  /// Summaries of the protocol: of these names, or of all that is kept.
  Json Summaries(const std::vector<std::string>& names, bool all, bool statistics, int64_t first);
  /// Calls each(name, session, result, results, index) for the values that there are of these names, null for all; of several sessions
  /// that have a value the first counts. Those that cannot be read have a code.
  using EachResult = std::function<void(const weft_result& result, OpenSession& session, weft_results* results, size_t index)>;
  void ForResults(const std::vector<std::string>* names, const EachResult& each);
  /// The value, and the session that has it. Throws 404, 409.
  ViewHandle View(const std::string& name, const std::string& session, std::string& from);

  Json Feeds() const;
  /// The value counts in the page's memory limit as long as it is fed; throws 507 where that has no room for it. What is refused
  /// leaves what was fed before; that ends where there is no room for it any more either.
  void Feed(const std::string& name, std::unique_ptr<OwnedBuffer> value);
  /// Throws 404.
  void Unfeed(const std::string& name);
  /// Gives a session that was just opened all that is fed; throws 507.
  void FeedTo(OpenSession& session);
  /// What is fed follows, and sessions go by the ids that their blocks have now.
  void Rename(const Renames& renames);

 private:
  std::vector<OpenSession*> ByPreference();
  bool FeedAsBefore(OpenSession& session, const std::string& name);
  void PublishFeeds();
  /// Counts the values that are fed, with `more` bytes; throws 507 where they are too many.
  void CountFeeds(int64_t more);

  Document& document_;
  const Limits& limits_;
  PageRunHandle page_run_;
  std::vector<OpenSession> page_;
  std::optional<OpenSession> fetches_;
  bool fetches_first_ = false;
  std::map<std::string, std::unique_ptr<OwnedBuffer>> feeds_;
};

/// The first elements of a value, as people read them: "{{1,2},{3,4}}". Empty where it cannot be read.
std::string ShortText(const weft_view* view);
/// The protocol's summary of a value.
Json SummaryOf(weft_results* results, size_t index, bool statistics, int64_t first, JsonRoom& room);

}  // namespace weft::serve
