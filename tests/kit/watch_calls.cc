// Calls of the functions on events, samples, breakpoints and snapshots with a handle to be tried.
#include "tests/kit/handle_calls.h"

namespace weft::test {
namespace {

weft_events* MakeEvents() {
  weft_events* events = nullptr;
  REQUIRE(weft_events_open(nullptr, &events, nullptr) == WEFT_OK);
  return events;
}
weft_subscription* MakeSubscription(weft_session* session) {
  weft_subscription* subscription = nullptr;
  REQUIRE(weft_session_subscribe(session, "n.ref", nullptr, &subscription, nullptr) == WEFT_OK);
  return subscription;
}
weft_breakpoint_options OnRun() {
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.kind = WEFT_BREAK_CONDITION;
  options.condition = "run == 1000000";
  return options;
}
weft_breakpoint* MakeBreakpoint(weft_session* session) {
  weft_breakpoint* breakpoint = nullptr;
  const weft_breakpoint_options options = OnRun();
  REQUIRE(weft_session_break(session, &options, &breakpoint, nullptr) == WEFT_OK);
  return breakpoint;
}

void Ignore(void*, const weft_event*) {}

}  // namespace

std::vector<HandleCall> WatchCalls(LiveHandles& live) {
  weft_session* session = live.session;
  weft_page* page = live.page;
  auto events = std::make_shared<OwnedEvents>(MakeEvents());
  using P = weft_diagnostics**;
  return {
      {"weft_events_close", "weft_events", true, [](void* h, P) { return weft_events_close(As<weft_events>(h)); }},
      {"weft_events_add", "weft_events", false, [=](void* h, P p) { return weft_events_add(As<weft_events>(h), session, WEFT_ALL_EVENTS, 1, p); }},
      {"weft_events_add", "weft_session", false,
       [=](void* h, P p) { return weft_events_add(*events, As<weft_session>(h), WEFT_ALL_EVENTS, 1, p); }},
      {"weft_events_remove", "weft_events", false, [=](void* h, P p) { return weft_events_remove(As<weft_events>(h), session, p); }},
      {"weft_events_remove", "weft_session", false, [=](void* h, P p) { return weft_events_remove(*events, As<weft_session>(h), p); }},
      {"weft_events_poll", "weft_events", false,
       [](void* h, P p) {
         weft_event event = WEFT_EVENT_INIT;
         size_t count = 0;
         return weft_events_poll(As<weft_events>(h), &event, 1, &count, p);
       }},
      {"weft_events_wait", "weft_events", false, [](void* h, P p) { return weft_events_wait(As<weft_events>(h), 0, nullptr, p); }},
      {"weft_events_interrupt", "weft_events", false, [](void* h, P p) { return weft_events_interrupt(As<weft_events>(h), p); }},
      {"weft_events_fd", "weft_events", false,
       [](void* h, P p) {
         int32_t fd = 0;
         return weft_events_fd(As<weft_events>(h), &fd, p);
       }},
      {"weft_session_on_event", "weft_session", false,
       [](void* h, P p) { return weft_session_on_event(As<weft_session>(h), Ignore, nullptr, WEFT_ALL_EVENTS, 0, p); }},
      {"weft_session_subscribe", "weft_session", false,
       [](void* h, P p) {
         OwnedSubscription subscription;
         return weft_session_subscribe(As<weft_session>(h), "n.ref", nullptr, subscription.out(), p);
       }},
      {"weft_subscription_close", "weft_subscription", true, [](void* h, P) { return weft_subscription_close(As<weft_subscription>(h)); }},
      {"weft_session_samples", "weft_session", false,
       [](void* h, P p) {
         weft_sample sample = WEFT_SAMPLE_INIT;
         size_t count = 0;
         return weft_session_samples(As<weft_session>(h), &sample, 1, &count, p);
       }},
      {"weft_subscription_samples", "weft_subscription", false,
       [](void* h, P p) {
         weft_sample sample = WEFT_SAMPLE_INIT;
         size_t count = 0;
         return weft_subscription_samples(As<weft_subscription>(h), &sample, 1, &count, p);
       }},
      {"weft_session_break", "weft_session", false,
       [](void* h, P p) {
         OwnedBreakpoint breakpoint;
         const weft_breakpoint_options options = OnRun();
         return weft_session_break(As<weft_session>(h), &options, breakpoint.out(), p);
       }},
      {"weft_breakpoint_close", "weft_breakpoint", true, [](void* h, P) { return weft_breakpoint_close(As<weft_breakpoint>(h)); }},
      {"weft_breakpoint_enable", "weft_breakpoint", false, [](void* h, P p) { return weft_breakpoint_enable(As<weft_breakpoint>(h), 1, p); }},
      {"weft_breakpoint_get_info", "weft_breakpoint", false,
       [](void* h, P p) {
         weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
         return weft_breakpoint_get_info(As<weft_breakpoint>(h), &info, p);
       }},
      {"weft_session_lease", "weft_session", false, [](void* h, P p) { return weft_session_lease(As<weft_session>(h), 0, p); }},
      {"weft_session_heartbeat", "weft_session", false, [](void* h, P p) { return weft_session_heartbeat(As<weft_session>(h), p); }},
      {"weft_session_faults", "weft_session", false,
       [](void* h, P p) {
         OwnedProblems faults;
         return weft_session_faults(As<weft_session>(h), faults.out(), p);
       }},
      {"weft_subscription_name", "weft_subscription", false,
       [](void* h, P p) {
         OwnedStrings name;
         return weft_subscription_name(As<weft_subscription>(h), name.out(), p);
       }},
      {"weft_events_add_page", "weft_events", false, [=](void* h, P p) { return weft_events_add_page(As<weft_events>(h), page, 1, p); }},
      {"weft_events_add_page", "weft_page", false, [=](void* h, P p) { return weft_events_add_page(*events, As<weft_page>(h), 1, p); }},
      {"weft_events_remove_page", "weft_events", false, [=](void* h, P p) { return weft_events_remove_page(As<weft_events>(h), page, p); }},
      {"weft_events_remove_page", "weft_page", false, [=](void* h, P p) { return weft_events_remove_page(*events, As<weft_page>(h), p); }},
      {"weft_page_on_event", "weft_page", false, [](void* h, P p) { return weft_page_on_event(As<weft_page>(h), nullptr, nullptr, p); }},
      {"weft_page_save_state", "weft_page", false,
       [](void* h, P p) { return weft_page_save_state(As<weft_page>(h), "/nowhere/at/all", nullptr, nullptr, p); }},
      {"weft_page_restore_state", "weft_page", false,
       [](void* h, P p) { return weft_page_restore_state(As<weft_page>(h), "/nowhere/at/all", nullptr, nullptr, p); }},
  };
}

void* ClosedEvents(LiveHandles&) {
  weft_events* events = MakeEvents();
  REQUIRE(weft_events_close(events) == WEFT_OK);
  return events;
}
void* ClosedSubscription(LiveHandles& live) {
  weft_subscription* subscription = MakeSubscription(live.session);
  REQUIRE(weft_subscription_close(subscription) == WEFT_OK);
  return subscription;
}
void* ClosedBreakpoint(LiveHandles& live) {
  weft_breakpoint* breakpoint = MakeBreakpoint(live.session);
  REQUIRE(weft_breakpoint_close(breakpoint) == WEFT_OK);
  return breakpoint;
}

}  // namespace weft::test
