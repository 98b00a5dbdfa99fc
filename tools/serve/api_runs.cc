// Calls about runs and breakpoints.
#include "tools/serve/routes.h"
#include "tools/serve/runner.h"
#include "tools/serve/server.h"

namespace weft::serve {
namespace {

Response Start(const Called& called) {
  const Json body = called.Body();
  const auto page = called.server.pages().Find(TextField(body, "page"));
  return JsonResponse(page->runner().Start(body, called.By()), 201);
}

Response Runs(const Called& called) {
  const std::string id = called.Get("page");
  Json runs = Json::array();
  for (const auto& document : id.empty() ? called.server.pages().All() : std::vector{called.server.pages().Find(id)}) {
    for (Json& run : document->runner().runs()->List()) runs.push_back(std::move(run));
  }
  return JsonResponse({{"runs", std::move(runs)}});
}

/// The page that a run is of: ids of runs begin with its id.
std::shared_ptr<Document> PageOf(const Called& called) {
  const std::string& run = called.parts[0];
  const size_t at = run.find('r');
  if (at == std::string::npos) throw ApiError(404, "not_found", "there is no run '" + run.substr(0, 100) + "'");
  return called.server.pages().Find(run.substr(0, at));
}

Response Run(const Called& called) {
  const auto run = PageOf(called)->runner().runs()->Find(called.parts[0]);
  if (!run) throw ApiError(404, "not_found", "there is no run '" + called.parts[0].substr(0, 100) + "'");
  return JsonResponse(*run);
}

template <const char* kAction>
Response Control(const Called& called) {
  return JsonResponse(PageOf(called)->runner().Control(called.parts[0], kAction, called.Body()));
}
constexpr char kPause[] = "pause", kResume[] = "resume", kStop[] = "stop", kStep[] = "step", kCancel[] = "cancel", kOverride[] = "override";

Response Delete(const Called& called) { return JsonResponse(PageOf(called)->runner().Control(called.parts[0], kCancel, Json::object())); }

Response Mode(const Called& called) { return JsonResponse(called.Page()->runner().SetMode(called.Body(), called.By())); }

Response Timings(const Called& called) { return JsonResponse(called.Page()->runner().Timings()); }

Response ListBreakpoints(const Called& called) { return JsonResponse({{"breakpoints", called.Page()->runner().breakpoints()->All()}}); }

Response AddBreakpoint(const Called& called) {
  const auto page = called.Page();
  if (!called.client || !called.client->connected()) {
    throw ApiError(400, "invalid_argument", "a breakpoint belongs to a client that is connected by WebSocket", "send its id as the header Weft-Client");
  }
  return JsonResponse(page->runner().AddBreakpoint(called.Body(), called.client->id()), 201);
}

Response ChangeBreakpoint(const Called& called) { return JsonResponse(called.Page()->runner().breakpoints()->Change(called.parts[1], called.Body())); }

Response RemoveBreakpoint(const Called& called) {
  called.Page()->runner().breakpoints()->Remove(called.parts[1]);
  return EmptyResponse();
}

}  // namespace

void AddRunRoutes(std::vector<Route>& routes) {
  routes.insert(routes.end(), {
      {"POST", "/v1/runs", Route::kJson, true, Start},
      {"GET", "/v1/runs", Route::kNone, false, Runs},
      {"GET", "/v1/runs/*", Route::kNone, false, Run},
      {"DELETE", "/v1/runs/*", Route::kNone, true, Delete},
      {"POST", "/v1/runs/*/pause", Route::kJson, true, Control<kPause>},
      {"POST", "/v1/runs/*/resume", Route::kJson, true, Control<kResume>},
      {"POST", "/v1/runs/*/stop", Route::kJson, true, Control<kStop>},
      {"POST", "/v1/runs/*/step", Route::kJson, true, Control<kStep>},
      {"POST", "/v1/runs/*/cancel", Route::kJson, true, Control<kCancel>},
      {"POST", "/v1/runs/*/override", Route::kJson, true, Control<kOverride>},
      {"POST", "/v1/pages/*/mode", Route::kJson, true, Mode},
      {"GET", "/v1/pages/*/timings", Route::kNone, false, Timings},
      {"GET", "/v1/pages/*/breakpoints", Route::kNone, false, ListBreakpoints},
      {"POST", "/v1/pages/*/breakpoints", Route::kJson, true, AddBreakpoint},
      {"PATCH", "/v1/pages/*/breakpoints/*", Route::kJson, true, ChangeBreakpoint},
      {"DELETE", "/v1/pages/*/breakpoints/*", Route::kNone, true, RemoveBreakpoint},
  });
}

}  // namespace weft::serve
