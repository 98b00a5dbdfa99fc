// Calls about a page.
#include <set>

#include "tools/serve/routes.h"
#include "tools/serve/runner.h"
#include "tools/serve/server.h"

namespace weft::serve {
namespace {

std::string ETagOf(uint64_t revision) { return "\"" + std::to_string(revision) + "\""; }

Response ChangeResponse(const Called& called, const Json& change, bool dirty_before) {
  Response response = JsonResponse(change);
  response.headers.emplace_back("ETag", ETagOf(change["revision"].get<uint64_t>()));
  if (change.contains("dirty") && change["dirty"].get<bool>() != dirty_before) called.server.pages().TellClients();
  return response;
}

Response Page(const Called& called) { return JsonResponse(called.Page()->Describe()); }

Response ClosePage(const Called& called) {
  called.server.pages().Close(called.Page(), called.Flag("discard"), called.By());
  return EmptyResponse();
}

Response View(const Called& called) { return TextResponse(called.Page()->View(), "application/json"); }

Response Text(const Called& called) {
  uint64_t revision = 0;
  Response response = TextResponse(called.Page()->Text(&revision), "application/octet-stream");
  const std::string& text = *response.body;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') response.type = "application/json";
  response.headers.emplace_back("ETag", ETagOf(revision));
  if (called.request.Header("if-none-match") == ETagOf(revision)) {
    response.status = 304;
    response.body = nullptr;
  }
  return response;
}

EditRequest RequestOf(const Called& called, const char* cause) {
  EditRequest request;
  request.by = called.By();
  request.cause = cause;
  request.if_match = called.IfMatch();
  return request;
}

Response PutText(const Called& called) {
  const auto page = called.Page();
  const bool dirty = page->dirty();
  if (!called.IfMatch()) throw ApiError(400, "invalid_argument", "If-Match is missing: the revision that the text replaces");
  return ChangeResponse(called, page->Replace(called.request.body, RequestOf(called, "replace")), dirty);
}

Response Patch(const Called& called) {
  const auto page = called.Page();
  const bool dirty = page->dirty();
  const Json body = called.Body();
  EditRequest request = RequestOf(called, "edit");
  const auto edits = body.find("edits");
  if (edits == body.end() || !(edits->is_array() || edits->is_object())) throw ApiError(400, "invalid_argument", "'edits' must be a list of edits");
  request.edits = Dump(*edits);
  request.label = TextField(body, "label", "").substr(0, 200);
  const std::string mode = TextField(body, "mode", "apply");
  static constexpr const char* kModes[] = {"apply", "strict", "try", "open_inputs"};
  request.mode = -1;
  for (int32_t k = 0; k < 4; ++k) {
    if (mode == kModes[k]) request.mode = k;
  }
  if (request.mode < 0) throw ApiError(400, "invalid_argument", "'" + mode.substr(0, 100) + "' is no mode", "apply, strict, try or open_inputs");
  return ChangeResponse(called, page->Edit(request), dirty);
}

template <bool kRedo>
Response Undo(const Called& called) {
  const auto page = called.Page();
  called.Body();
  const bool dirty = page->dirty();
  return ChangeResponse(called, page->Undo(kRedo, called.By(), called.IfMatch()), dirty);
}

Response Save(const Called& called) {
  const auto page = called.Page();
  const Json body = called.Body();
  std::optional<std::string> path;
  if (body.contains("path") && !body["path"].is_null()) path = Folder::Checked(TextField(body, "path"));
  if (path) {
    const auto other = called.server.pages().FindPath(*path);
    if (other && other != page) throw ApiError(409, "already_exists", "'" + *path + "' is open as another page", "close it first, or choose another name");
  }
  page->Save(path, FlagField(body, "overwrite", false), FlagField(body, "force", false), called.By());
  called.server.pages().TellClients();
  return JsonResponse(page->Describe());
}

Response Reload(const Called& called) {
  const auto page = called.Page();
  called.Body();
  Response response = ChangeResponse(called, page->Reload(RequestOf(called, "reload")), false);
  called.server.pages().TellClients();
  return response;
}

Response Diagnostics(const Called& called) { return JsonResponse(called.Page()->Diagnostics()); }

Response BlockOfPage(const Called& called) {
  const auto page = called.Page();
  const std::string id = called.Need("id");
  const std::string json =
      TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_page_block_json(page->page(), id.c_str(), text, problems); });
  return TextResponse("{\"revision\":" + std::to_string(page->revision()) + ",\"block\":" + json + "}", "application/json");
}

Response WhyNot(const Called& called) {
  const auto page = called.Page();
  const std::string block = called.Need("block");
  DiagnosticsHandle reasons;
  Call([&](weft_diagnostics** problems) { return weft_page_why_not(page->page(), block.c_str(), reasons.out(), problems); });
  return JsonResponse({{"reasons", DiagnosticsJson(reasons.get())}});
}

Response Plan(const Called& called) {
  const auto page = called.Page();
  const std::string session = called.Get("session");
  return TextResponse(TextFrom([&](weft_strings** json, weft_diagnostics** problems) {
    return weft_page_plan_json(page->page(), session.empty() ? nullptr : session.c_str(), json, problems);
  }, Refusal::kEngine), "application/json");
}

Response Layout(const Called& called) {
  const auto page = called.Page();
  const std::string how = called.Get("how", "page");
  if (how != "page" && how != "auto") throw ApiError(400, "invalid_argument", "'how' must be page or auto");
  const std::string json = TextFrom([&](weft_strings** text, weft_diagnostics** problems) {
    return weft_page_layout_json(page->page(), how == "auto" ? WEFT_LAYOUT_AUTO : WEFT_LAYOUT_PAGE, text, problems);
  });
  return TextResponse("{\"layout\":" + json + "}", "application/json");
}

Response Picture(const Called& called) {
  const auto page = called.Page();
  const std::string layout = called.Get("layout", "page");
  if (layout != "page" && layout != "auto") throw ApiError(400, "invalid_argument", "'layout' must be page or auto");
  const int32_t how = layout == "auto" ? WEFT_LAYOUT_AUTO : WEFT_LAYOUT_PAGE;
  return TextResponse(TextFrom([&](weft_strings** svg, weft_diagnostics** problems) { return weft_page_picture(page->page(), how, svg, problems); }), "image/svg+xml");
}

Response CheckWire(const Called& called) {
  const auto page = called.Page();
  const std::string from = called.Need("from"), to = called.Need("to");
  weft_diagnostics* problems = nullptr;
  const weft_status status = weft_page_check_wire(page->page(), from.c_str(), to.c_str(), &problems);
  const DiagnosticsHandle owned(problems);
  if (status == WEFT_OK) return JsonResponse({{"fits", true}});
  return JsonResponse({{"fits", false}, {"reason", ErrorOf(status, problems)}});
}

/// The types that a port of a block may have, of the schema: by its own type, or by that of its type attribute. Empty: any.
std::set<std::string> TypesOf(const Json& block, const Json& port) {
  if (port.contains("type")) return {port["type"].get<std::string>()};
  std::set<std::string> types;
  for (const Json& attr : block.value("attrs", Json::array())) {
    if (attr.value("name", "") != port.value("type_attr", "") || !attr.contains("allowed")) continue;
    for (const Json& type : attr["allowed"]) types.insert(type.get<std::string>());
  }
  return types;
}

/// Types of blocks with a port on the other side that takes a value of the type.
Json BlocksFor(Server& server, bool inputs, const weft_port_type& type) {
  const Json schema = Json::parse(*server.schema().plain, nullptr, false);
  const std::string dtype = type.dtype == 0 ? "" : weft_dtype_name(type.dtype);
  Json list = Json::array();
  for (const Json& block : schema) {
    if (block.value("internal", false)) continue;
    Json ports = Json::array();
    for (const Json& port : block.value(inputs ? "inputs" : "outputs", Json::array())) {
      const std::string kind = port.value("kind", "tensor");
      if (kind == "reference" && inputs && type.variable == 0) continue;
      if (kind != "tensor" && kind != "reference") continue;
      const std::set<std::string> types = TypesOf(block, port);
      if (dtype.empty() || types.empty() || types.contains(dtype)) ports.push_back(port["port"]);
    }
    if (!ports.empty()) list.push_back({{"block", block["block"]}, {"ports", std::move(ports)}});
  }
  return list;
}

Response Fits(const Called& called) {
  const auto page = called.Page();
  const std::string from = called.Get("from"), to = called.Get("to");
  if (from.empty() == to.empty()) throw ApiError(400, "invalid_argument", "one of the query parameters 'from' and 'to' is needed");
  Json answer;
  if (!from.empty()) {
    answer["inputs"] = TextsFrom([&](weft_strings** list, weft_diagnostics** problems) { return weft_page_inputs_for(page->page(), from.c_str(), list, problems); });
  } else {
    answer["outputs"] = TextsFrom([&](weft_strings** list, weft_diagnostics** problems) { return weft_page_outputs_for(page->page(), to.c_str(), list, problems); });
  }
  if (called.Flag("blocks")) {
    weft_port_type type = WEFT_PORT_TYPE_INIT;
    weft_page_port_type(page->page(), (from.empty() ? to : from).c_str(), &type, nullptr);
    answer["blocks"] = BlocksFor(called.server, !from.empty(), type);
  }
  return JsonResponse(answer);
}

}  // namespace

void AddPageRoutes(std::vector<Route>& routes) {
  routes.insert(routes.end(), {
                                  {"GET", "/v1/pages/*", Route::kNone, false, Page},
                                  {"DELETE", "/v1/pages/*", Route::kNone, false, ClosePage},
                                  {"PATCH", "/v1/pages/*", Route::kPage, true, Patch},
                                  {"GET", "/v1/pages/*/view", Route::kNone, false, View},
                                  {"GET", "/v1/pages/*/text", Route::kNone, false, Text},
                                  {"PUT", "/v1/pages/*/text", Route::kPage, true, PutText},
                                  {"POST", "/v1/pages/*/undo", Route::kJson, true, Undo<false>},
                                  {"POST", "/v1/pages/*/redo", Route::kJson, true, Undo<true>},
                                  {"POST", "/v1/pages/*/save", Route::kJson, true, Save},
                                  {"POST", "/v1/pages/*/reload", Route::kJson, true, Reload},
                                  {"GET", "/v1/pages/*/diagnostics", Route::kNone, false, Diagnostics},
                                  {"GET", "/v1/pages/*/block", Route::kNone, false, BlockOfPage},
                                  {"GET", "/v1/pages/*/why_not", Route::kNone, false, WhyNot},
                                  {"GET", "/v1/pages/*/plan", Route::kNone, false, Plan},
                                  {"GET", "/v1/pages/*/layout", Route::kNone, false, Layout},
                                  {"GET", "/v1/pages/*/picture", Route::kNone, false, Picture},
                                  {"GET", "/v1/pages/*/check_wire", Route::kNone, false, CheckWire},
                                  {"GET", "/v1/pages/*/fits", Route::kNone, false, Fits},
                              });
}

}  // namespace weft::serve
