#include "tests/fuzz/run_page.h"

#include "runtime/base/call_limit.h"
#include "weft/base/discard.h"
#include "weft/exec/session.h"
#include "weft/host/file_sandbox.h"

namespace weft::fuzz {
namespace {

/// From then on no other session of a page is opened: all may take their whole deadlines.
constexpr double kManySessions = 0.5;  // seconds

Status RunOnce(Session& session) {
  RunOptions limits;
  limits.deadline = std::chrono::steady_clock::now() + kRunDeadline;
  const Stopwatch watch;
  Status status = session.Run(limits);
  // A run that plans anew has both deadlines.
  CheckTime(watch, kRunDeadline + kCallDeadline, "a run");
  CheckStatus(status);
  if (status.code() == Code::kCancelled) CheckTime(watch, session.planned() ? kRunDeadline : kCallDeadline, "a run that was cancelled");
  return status;
}

PageEnd RunSession(Session& session) {
  Diagnostics found;
  session.Prepare(found);
  CheckFindings(found);
  for (int run = 0; run < 2; ++run) {
    if (!RunOnce(session).ok()) return PageEnd::kFailed;
    for (const auto& [name, value] : session.Results()) {
      auto result = session.Get(value);
      if (!result.ok()) continue;
      const size_t printed = ToString(result->tensor).size();
      Require(printed <= kMostValueText, name, " takes ", printed, " bytes as text");
    }
  }
  return PageEnd::kDone;
}

/// As a document is opened and checked, within the limits of such calls.
std::shared_ptr<Scope> OpenScope(Page page, Diagnostics& found) {
  ScopeOptions options;
  const std::filesystem::path& folder = ScratchFolder();
  options.files = std::make_shared<FileSandbox>(FolderRules{folder, {}, {folder}});
  options.budget = SharedRuntime().PageBudget();
  options.stall_limit_ms = 1;
  const Stopwatch watch;
  std::shared_ptr<Scope> scope;
  try {
    const CallLimit limit(SharedRuntime().CallEnd(), nullptr, options.budget);
    scope = Scope::Open(SharedRuntime(), std::make_shared<Page>(std::move(page)), "fuzz", options, found);
    if (scope != nullptr) CheckSessions(scope, found);
  } catch (const CallStopped& stopped) {
    found.Error(stopped.status());
  }
  CheckTime(watch, kCallDeadline, "opening a page");
  CheckFindings(found);
  return found.has_errors() ? nullptr : scope;
}

PageEnd RunOpen(Page page, Diagnostics found, bool keep_all) {
  const auto scope = OpenScope(std::move(page), found);
  if (scope == nullptr) return PageEnd::kRefused;
  std::vector<SessionSpec> sessions = scope->graph().sessions();
  if (sessions.empty()) sessions.push_back(scope->graph().DefaultSession());
  PageEnd end = PageEnd::kDone;
  const Stopwatch watch;
  for (SessionSpec& spec : sessions) {
    if (watch.seconds() > kManySessions) break;
    Session session(scope, std::move(spec), keep_all ? Keep::kAll : Keep::kAsked);
    if (RunSession(session) == PageEnd::kFailed) end = PageEnd::kFailed;
  }
  return end;
}

}  // namespace

PageEnd RunPage(Page page, Diagnostics found, bool keep_all) {
  const PageEnd end = RunOpen(std::move(page), std::move(found), keep_all);
  FinishDiscarding();
  const int64_t held = SharedRuntime().budget()->used();
  Require(held == 0, held, " bytes are still counted when the page has gone");
  return end;
}

}  // namespace weft::fuzz
