// Calls of the functions of inspect.h with a handle to be tried.
#include "tests/kit/handle_calls.h"

namespace weft::test {
namespace {

weft_results* MakeResults(weft_session* session) {
  weft_results* results = nullptr;
  REQUIRE(weft_session_read_results(session, nullptr, 0, &results, nullptr) == WEFT_OK);
  return results;
}

/// A call of a function that gives texts of a page.
template <auto Function, class... Arguments>
HandleCall Texts(const char* name, Arguments... arguments) {
  return {name, "weft_page", false, [=](void* handle, weft_diagnostics** problems) {
            OwnedStrings texts;
            return Function(static_cast<weft_page*>(handle), arguments..., texts.out(), problems);
          }};
}

}  // namespace

void* ClosedResults(LiveHandles& live) {
  weft_results* results = MakeResults(live.session);
  REQUIRE(weft_results_release(results) == WEFT_OK);
  return results;
}

std::vector<HandleCall> InspectCalls(LiveHandles&) {
  using P = weft_diagnostics**;
  return {
      Texts<weft_page_block_json>("weft_page_block_json", "n"),
      Texts<weft_page_wires_json>("weft_page_wires_json"),
      Texts<weft_page_layout_json>("weft_page_layout_json", WEFT_LAYOUT_AUTO),
      Texts<weft_page_picture>("weft_page_picture", WEFT_LAYOUT_AUTO),
      Texts<weft_page_types_json>("weft_page_types_json"),
      Texts<weft_page_plan_json>("weft_page_plan_json", "run"),
      Texts<weft_page_inputs_for>("weft_page_inputs_for", "n.ref"),
      Texts<weft_page_outputs_for>("weft_page_outputs_for", "next.ref"),
      {"weft_page_port_type", "weft_page", false,
       [](void* h, P p) {
         weft_port_type type = WEFT_PORT_TYPE_INIT;
         return weft_page_port_type(static_cast<weft_page*>(h), "n.ref", &type, p);
       }},
      {"weft_page_why_not", "weft_page", false,
       [](void* h, P p) {
         OwnedProblems reasons;
         return weft_page_why_not(static_cast<weft_page*>(h), "n", reasons.out(), p);
       }},
      {"weft_page_check_wire", "weft_page", false, [](void* h, P p) { return weft_page_check_wire(static_cast<weft_page*>(h), "n.ref", "next.ref", p); }},
      {"weft_session_read_results", "weft_session", false,
       [](void* h, P p) {
         OwnedResults results;
         return weft_session_read_results(static_cast<weft_session*>(h), nullptr, 0, results.out(), p);
       }},
      {"weft_results_all", "weft_results", false,
       [](void* h, P) {
         const weft_result* array = nullptr;
         size_t count = 0;
         return weft_results_all(static_cast<weft_results*>(h), &array, &count);
       }},
      {"weft_results_view", "weft_results", false,
       [](void* h, P p) {
         OwnedView view;
         return weft_results_view(static_cast<weft_results*>(h), 0, view.out(), p);
       }},
      {"weft_results_release", "weft_results", true, [](void* h, P) { return weft_results_release(static_cast<weft_results*>(h)); }},
      {"weft_strings_all", "weft_strings", false,
       [](void* h, P) {
         const char* const* texts = nullptr;
         size_t count = 0;
         return weft_strings_all(static_cast<weft_strings*>(h), &texts, &count);
       }},
  };
}

}  // namespace weft::test
