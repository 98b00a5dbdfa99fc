#include "tools/serve/breakpoints.h"

#include <algorithm>

#include "tools/serve/document.h"

namespace weft::serve {
namespace {

/// What the engine is asked for; the texts are those of the breakpoint.
weft_breakpoint_options OptionsOf(const PageBreakpoint& breakpoint) {
  const auto text = [](const std::string& value) { return value.empty() ? nullptr : value.c_str(); };
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.kind = breakpoint.kind == "before" ? WEFT_BREAK_BEFORE : breakpoint.kind == "not_finite" ? WEFT_BREAK_NOT_FINITE : WEFT_BREAK_CONDITION;
  options.block = text(breakpoint.block);
  options.port = text(breakpoint.port);
  options.condition = text(breakpoint.condition);
  options.from_hit = breakpoint.from_hit;
  options.once = breakpoint.once ? 1 : 0;
  return options;
}

PageBreakpoint Read(const Json& body) {
  PageBreakpoint breakpoint;
  breakpoint.kind = TextField(body, "kind");
  breakpoint.block = TextField(body, "block", "");
  breakpoint.port = TextField(body, "port", "");
  breakpoint.condition = TextField(body, "condition", "");
  breakpoint.from_hit = static_cast<uint64_t>(NumberField(body, "from_hit", 1, 1, INT64_MAX));
  breakpoint.once = FlagField(body, "once", false);
  breakpoint.enabled = FlagField(body, "enabled", true);
  if (breakpoint.kind != "before" && breakpoint.kind != "not_finite" && breakpoint.kind != "condition") {
    throw ApiError(400, "invalid_argument", "'" + breakpoint.kind + "' is no kind of breakpoint", "before, not_finite or condition");
  }
  if (breakpoint.kind == "before" && breakpoint.block.empty()) throw ApiError(400, "invalid_argument", "a breakpoint before a block needs 'block'");
  if (breakpoint.kind == "condition" && breakpoint.condition.empty()) throw ApiError(400, "invalid_argument", "'condition' is missing", "\"loss.output < 0.5\"");
  return breakpoint;
}

Json Describe(const PageBreakpoint& breakpoint) {
  uint64_t hits = 0;
  bool enabled = breakpoint.in_sessions.empty() && breakpoint.enabled;
  for (const auto& [session, of_fetches, handle] : breakpoint.in_sessions) {
    weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
    if (weft_breakpoint_get_info(handle.get(), &info, nullptr) != WEFT_OK) continue;
    hits += info.hits;
    enabled = enabled || info.enabled != 0;
  }
  return {{"id", breakpoint.id}, {"kind", breakpoint.kind}, {"block", TextOrNull(breakpoint.block)}, {"port", TextOrNull(breakpoint.port)},
          {"condition", TextOrNull(breakpoint.condition)}, {"from_hit", breakpoint.from_hit}, {"once", breakpoint.once}, {"enabled", enabled}, {"hits", hits},
          {"by", breakpoint.by}, {"lease", "held"}};
}

}  // namespace

bool Pauses(const BreakpointHandle& breakpoint) {
  weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
  return breakpoint && weft_breakpoint_get_info(breakpoint.get(), &info, nullptr) == WEFT_OK && info.paused != 0;
}

void Breakpoints::Insert(PageBreakpoint& breakpoint, OpenSession& session) {
  const weft_breakpoint_options options = OptionsOf(breakpoint);
  BreakpointHandle handle;
  if (weft_session_break(session.handle.get(), &options, handle.out(), nullptr) != WEFT_OK) return;
  if (!breakpoint.enabled) weft_breakpoint_enable(handle.get(), 0, nullptr);
  breakpoint.in_sessions.push_back({session.id, session.of_fetches, std::move(handle)});
}

void Breakpoints::InsertAll(OpenSession& session) {
  for (PageBreakpoint& breakpoint : breakpoints_) Insert(breakpoint, session);
}

Json Breakpoints::Add(const Json& body, const std::string& by) {
  PageBreakpoint breakpoint = Read(body);
  breakpoint.by = by;
  if (breakpoints_.size() >= limits_.breakpoints) throw ApiError(429, "resource_exhausted", "the page has too many breakpoints");
  const std::vector<OpenSession*> sessions = sessions_.All();
  for (OpenSession* session : sessions) Insert(breakpoint, *session);
  if (!sessions.empty() && breakpoint.in_sessions.empty()) {
    // No session takes it: the first says why.
    const weft_breakpoint_options options = OptionsOf(breakpoint);
    BreakpointHandle refused;
    Call([&](weft_diagnostics** problems) { return weft_session_break(sessions[0]->handle.get(), &options, refused.out(), problems); }, Refusal::kEngine);
  }
  breakpoint.id = "b" + std::to_string(next_++);
  breakpoints_.push_back(std::move(breakpoint));
  Publish();
  return Describe(breakpoints_.back());
}

Json Breakpoints::Change(const std::string& id, const Json& body) {
  for (PageBreakpoint& breakpoint : breakpoints_) {
    if (breakpoint.id != id) continue;
    breakpoint.enabled = FlagField(body, "enabled", breakpoint.enabled);
    for (const auto& in : breakpoint.in_sessions) weft_breakpoint_enable(in.handle.get(), breakpoint.enabled ? 1 : 0, nullptr);
    Publish();
    return Describe(breakpoint);
  }
  throw ApiError(404, "not_found", "there is no breakpoint '" + id + "'");
}

void Breakpoints::Remove(const std::string& id) {
  if (std::erase_if(breakpoints_, [&](const PageBreakpoint& breakpoint) { return breakpoint.id == id; }) == 0) {
    throw ApiError(404, "not_found", "there is no breakpoint '" + id + "'");
  }
  Publish();
}

Json Breakpoints::All() {
  Json list = Json::array();
  for (const PageBreakpoint& breakpoint : breakpoints_) list.push_back(Describe(breakpoint));
  return list;
}

void Breakpoints::Detach(bool of_fetches) {
  for (PageBreakpoint& breakpoint : breakpoints_) {
    std::erase_if(breakpoint.in_sessions, [&](const auto& in) { return in.of_fetches == of_fetches; });
  }
}

void Breakpoints::Rename(const Renames& renames) {
  bool renamed = false;
  for (PageBreakpoint& breakpoint : breakpoints_) {
    renamed |= FollowId(breakpoint.block, renames);
    renamed |= FollowName(breakpoint.condition, renames);
    for (PageBreakpoint::InSession& in : breakpoint.in_sessions) FollowId(in.session, renames);
  }
  if (renamed) Publish();
}

void Breakpoints::Resume() {
  for (OpenSession* session : sessions_.All()) {
    const auto has = [&](const PageBreakpoint::InSession& in) { return in.session == session->id && in.of_fetches == session->of_fetches; };
    for (PageBreakpoint& breakpoint : breakpoints_) {
      if (std::none_of(breakpoint.in_sessions.begin(), breakpoint.in_sessions.end(), has)) Insert(breakpoint, *session);
    }
  }
}

std::string Breakpoints::Pausing(const OpenSession& session) const {
  for (const PageBreakpoint& breakpoint : breakpoints_) {
    for (const auto& in : breakpoint.in_sessions) {
      if (in.session == session.id && in.of_fetches == session.of_fetches && Pauses(in.handle)) return breakpoint.id;
    }
  }
  return "";
}

bool Breakpoints::Release(const std::string& client) {
  std::vector<OpenSession*> paused;
  for (OpenSession* session : sessions_.All()) {
    const std::string by = Pausing(*session);
    const auto mine = [&](const PageBreakpoint& breakpoint) { return breakpoint.id == by && breakpoint.by == client; };
    if (std::any_of(breakpoints_.begin(), breakpoints_.end(), mine)) paused.push_back(session);
  }
  if (std::erase_if(breakpoints_, [&](const PageBreakpoint& breakpoint) { return breakpoint.by == client; }) == 0) return false;
  for (OpenSession* session : paused) weft_session_resume(session->handle.get(), WEFT_GO_ON, nullptr);
  Publish();
  return true;
}

void Breakpoints::Publish() { document_.log().Publish({{"type", "breakpoints"}, {"breakpoints", All()}}); }

void Breakpoints::PublishHits() {
  if (!breakpoints_.empty()) Publish();
}

}  // namespace weft::serve
