// Breakpoints, and the leases of those who set them.
#include <algorithm>

#include "tools/serve/document.h"
#include "tools/serve/runner.h"

namespace weft::serve {

void Runner::InsertBreakpoint(PageBreakpoint& breakpoint, OpenSession& session) {
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.kind = breakpoint.kind == "before" ? WEFT_BREAK_BEFORE : breakpoint.kind == "not_finite" ? WEFT_BREAK_NOT_FINITE : WEFT_BREAK_CONDITION;
  if (!breakpoint.block.empty()) options.block = breakpoint.block.c_str();
  if (!breakpoint.port.empty()) options.port = breakpoint.port.c_str();
  if (!breakpoint.condition.empty()) options.condition = breakpoint.condition.c_str();
  options.from_hit = breakpoint.from_hit;
  options.once = breakpoint.once ? 1 : 0;
  BreakpointHandle handle;
  if (weft_session_break(session.handle.get(), &options, handle.out(), nullptr) != WEFT_OK) return;
  if (!breakpoint.enabled) weft_breakpoint_enable(handle.get(), 0, nullptr);
  breakpoint.in_sessions.emplace_back(session.id, std::move(handle));
}

Json Runner::BreakpointJson(PageBreakpoint& breakpoint) {
  uint64_t hits = 0;
  bool enabled = breakpoint.in_sessions.empty() && breakpoint.enabled;
  for (const auto& [id, handle] : breakpoint.in_sessions) {
    weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
    if (weft_breakpoint_get_info(handle.get(), &info, nullptr) != WEFT_OK) continue;
    hits += info.hits;
    enabled = enabled || info.enabled != 0;
  }
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  return {{"id", breakpoint.id}, {"kind", breakpoint.kind}, {"block", text(breakpoint.block)}, {"port", text(breakpoint.port)},
          {"condition", text(breakpoint.condition)}, {"from_hit", breakpoint.from_hit}, {"once", breakpoint.once}, {"enabled", enabled}, {"hits", hits},
          {"by", breakpoint.by}, {"lease", "held"}};
}

Json Runner::AllBreakpoints() {
  Json list = Json::array();
  for (PageBreakpoint& breakpoint : breakpoints_) list.push_back(BreakpointJson(breakpoint));
  return list;
}

Json Runner::BreakpointsJson() {
  const Lock lock(mutex_);
  return AllBreakpoints();
}

void Runner::PublishBreakpoints() {
  if (!breakpoints_.empty()) document_.log().Publish({{"type", "breakpoints"}, {"breakpoints", AllBreakpoints()}});
}

Json Runner::AddBreakpoint(const Json& body, const std::shared_ptr<Client>& client) {
  PageBreakpoint breakpoint;
  breakpoint.kind = TextField(body, "kind");
  breakpoint.block = TextField(body, "block", "");
  breakpoint.port = TextField(body, "port", "");
  breakpoint.condition = TextField(body, "condition", "");
  breakpoint.from_hit = static_cast<uint64_t>(NumberField(body, "from_hit", 1, 1, INT64_MAX));
  breakpoint.once = FlagField(body, "once", false);
  breakpoint.enabled = FlagField(body, "enabled", true);
  breakpoint.by = client->id();
  if (breakpoint.kind != "before" && breakpoint.kind != "not_finite" && breakpoint.kind != "condition") {
    throw ApiError(400, "invalid_argument", "'" + breakpoint.kind + "' is no kind of breakpoint", "before, not_finite or condition");
  }
  if (breakpoint.kind == "before" && breakpoint.block.empty()) throw ApiError(400, "invalid_argument", "a breakpoint before a block needs 'block'");
  if (breakpoint.kind == "condition" && breakpoint.condition.empty()) throw ApiError(400, "invalid_argument", "'condition' is missing", "\"loss.output < 0.5\"");
  const Lock lock(mutex_);
  if (breakpoints_.size() >= limits_.breakpoints) throw ApiError(429, "resource_exhausted", "the page has too many breakpoints");
  if (sessions_.empty() && !fetches_) {
    try {
      OpenSessions();
    } catch (const ApiError&) {
      // The page has faults: the breakpoint waits for its first run.
    }
  }
  const std::vector<OpenSession*> sessions = AllSessions();
  for (OpenSession* session : sessions) InsertBreakpoint(breakpoint, *session);
  if (!sessions.empty() && breakpoint.in_sessions.empty()) {
    weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
    options.kind = breakpoint.kind == "before" ? WEFT_BREAK_BEFORE : breakpoint.kind == "not_finite" ? WEFT_BREAK_NOT_FINITE : WEFT_BREAK_CONDITION;
    options.block = breakpoint.block.empty() ? nullptr : breakpoint.block.c_str();
    options.port = breakpoint.port.empty() ? nullptr : breakpoint.port.c_str();
    options.condition = breakpoint.condition.empty() ? nullptr : breakpoint.condition.c_str();
    BreakpointHandle refused;
    Call([&](weft_diagnostics** problems) { return weft_session_break(sessions[0]->handle.get(), &options, refused.out(), problems); }, Refusal::kEngine);
  }
  breakpoint.id = "b" + std::to_string(next_breakpoint_++);
  breakpoints_.push_back(std::move(breakpoint));
  PublishBreakpoints();
  return BreakpointJson(breakpoints_.back());
}

Json Runner::ChangeBreakpoint(const std::string& id, const Json& body) {
  const Lock lock(mutex_);
  for (PageBreakpoint& breakpoint : breakpoints_) {
    if (breakpoint.id != id) continue;
    breakpoint.enabled = FlagField(body, "enabled", breakpoint.enabled);
    for (const auto& [session, handle] : breakpoint.in_sessions) weft_breakpoint_enable(handle.get(), breakpoint.enabled ? 1 : 0, nullptr);
    PublishBreakpoints();
    return BreakpointJson(breakpoint);
  }
  throw ApiError(404, "not_found", "there is no breakpoint '" + id + "'");
}

void Runner::RemoveBreakpoint(const std::string& id) {
  const Lock lock(mutex_);
  if (std::erase_if(breakpoints_, [&](const PageBreakpoint& breakpoint) { return breakpoint.id == id; }) == 0) {
    throw ApiError(404, "not_found", "there is no breakpoint '" + id + "'");
  }
  document_.log().Publish({{"type", "breakpoints"}, {"breakpoints", AllBreakpoints()}});
}

void Runner::Release(const Client& client) {
  const Lock lock(mutex_);
  std::vector<OpenSession*> paused;
  for (OpenSession* session : AllSessions()) {
    for (const PageBreakpoint& breakpoint : breakpoints_) {
      if (breakpoint.by != client.id()) continue;
      for (const auto& [id, handle] : breakpoint.in_sessions) {
        weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
        if (id == session->id && weft_breakpoint_get_info(handle.get(), &info, nullptr) == WEFT_OK && info.paused != 0) paused.push_back(session);
      }
    }
  }
  if (std::erase_if(breakpoints_, [&](const PageBreakpoint& breakpoint) { return breakpoint.by == client.id(); }) == 0) return;
  for (OpenSession* session : paused) weft_session_resume(session->handle.get(), WEFT_GO_ON, nullptr);
  document_.log().Publish({{"type", "breakpoints"}, {"breakpoints", AllBreakpoints()}});
  Refresh(true);
}

}  // namespace weft::serve
