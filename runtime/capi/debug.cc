// Breakpoints, their lease, and values of a run that is paused.
#include "runtime/capi/run_options.h"
#include "runtime/capi/watching.h"

using namespace weft;
using namespace weft::capi;

namespace weft::capi {

BreakpointObject::~BreakpointObject() {
  if (id != 0) (void)session->watching->breakpoints().Remove(id).ok();
}

}  // namespace weft::capi

namespace {

static_assert(static_cast<int32_t>(BreakKind::kCondition) == WEFT_BREAK_CONDITION && static_cast<int32_t>(BreakKind::kNotFinite) == WEFT_BREAK_NOT_FINITE);

Result<BreakSpec> ReadBreak(const weft_breakpoint_options* options) {
  WEFT_RETURN_IF_ERROR(NeedPointer(options, "options"));
  weft_breakpoint_options known = WEFT_BREAKPOINT_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_breakpoint_options"));
  if (known.kind < WEFT_BREAK_BEFORE || known.kind > WEFT_BREAK_CONDITION) {
    return InvalidArgument("needs WEFT_BREAK_BEFORE, _NOT_FINITE or _CONDITION, found ", known.kind).WithPort("kind");
  }
  const auto text = [](const char* given) { return given == nullptr ? std::string() : std::string(given); };
  BreakSpec spec;
  spec.kind = static_cast<BreakKind>(known.kind);
  spec.block = text(known.block);
  spec.port = text(known.port);
  spec.condition = text(known.condition);
  if (known.from_hit > 0) spec.from_hit = known.from_hit;
  spec.once = known.once != 0;
  return spec;
}

}  // namespace

weft_status weft_session_break(weft_session* session, const weft_breakpoint_options* options, weft_breakpoint** breakpoint,
                               weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(breakpoint, "breakpoint"));
    *breakpoint = nullptr;
    auto made = std::make_shared<BreakpointObject>();
    WEFT_ASSIGN_OR_RETURN(made->session, Find(session));
    WEFT_ASSIGN_OR_RETURN(BreakSpec spec, ReadBreak(options));
    WEFT_ASSIGN_OR_RETURN(made->id, made->session->watching->breakpoints().Add(std::move(spec)));
    return Give(std::move(made), breakpoint);
  });
}

weft_status weft_breakpoint_close(weft_breakpoint* breakpoint) {
  return Guard(nullptr, [&]() -> Status { return breakpoint == nullptr ? Status() : Close(breakpoint).status(); });
}

weft_status weft_breakpoint_enable(weft_breakpoint* breakpoint, int32_t enabled, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(breakpoint));
    return object->session->watching->breakpoints().Enable(object->id, enabled != 0);
  });
}

weft_status weft_breakpoint_get_info(weft_breakpoint* breakpoint, weft_breakpoint_info* info, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    weft_breakpoint_info filled = WEFT_BREAKPOINT_INFO_INIT;
    WEFT_RETURN_IF_ERROR(FillStruct(filled, info, "weft_breakpoint_info"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(breakpoint));
    Breakpoints& all = object->session->watching->breakpoints();
    for (const BreakInfo& one : all.All()) {
      if (one.id != object->id) continue;
      filled.enabled = one.enabled ? 1 : 0;
      filled.hits = one.hits;
    }
    filled.paused = all.hit().id == object->id ? 1 : 0;
    return FillStruct(filled, info, "weft_breakpoint_info");
  });
}

weft_status weft_session_lease(weft_session* session, int64_t lease_ms, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    if (lease_ms < 0) return InvalidArgument("needs a time of 0 or more, found ", lease_ms).WithPort("lease_ms");
    object->watching->breakpoints().SetLease(std::chrono::milliseconds(std::min(lease_ms, kLongestMs)));
    return {};
  });
}

weft_status weft_session_heartbeat(weft_session* session, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    return object->watching->breakpoints().Heartbeat();
  });
}

weft_status weft_session_override(weft_session* session, const char* name, const weft_buffer* value, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_RETURN_IF_ERROR(NeedPointer(value, "value"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, CopyBuffer(value, object->page->scope->budget()));
    return object->runner->Override(name, tensor);
  });
}
