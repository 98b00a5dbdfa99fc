// Calls about values, variables, feeds and snapshots.
#include <algorithm>

#include "tools/serve/routes.h"
#include "tools/serve/runner.h"
#include "tools/serve/server.h"

namespace weft::serve {
namespace {

/// A value's name in the header of a file to download.
std::string FileName(const std::string& name) {
  std::string file;
  for (char c : name.substr(0, 100)) file += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' ? c : '_';
  return file;
}

Response ValuesResponse(const Called& called, const Json& json) {
  Response response = JsonResponse(json);
  const size_t most = called.server.limits().json_bytes;
  if (response.body->size() <= most) return response;
  // Escapes made it longer than its elements.
  throw ApiError(413, "resource_exhausted", "the answer has " + std::to_string(response.body->size()) + " bytes, the limit is " + std::to_string(most),
                 "ask for a slice, or for fewer values at once");
}

/// A value in the form that the query asks for.
Response ValueResponse(const Called& called, const std::string& name, const ViewHandle& view, const std::string& session) {
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  if (weft_view_get_info(view.get(), &info) != WEFT_OK) throw ApiError(500, "internal", "the value cannot be read");
  const Tensor whole = TensorOf(view.get(), info);
  const Tensor tensor = Sliced(whole, ParseSlice(called.Get("slice")));
  const std::string format = called.Get("format", "json");
  Json value = {{"name", name}, {"dtype", weft_dtype_name(info.dtype)}, {"shape", tensor.shape}, {"full_shape", whole.shape}, {"count", tensor.count()},
                {"session", TextOrNull(session)}, {"generation", info.generation}, {"stale", info.stale != 0},
                {"in_progress", info.in_progress != 0}, {"outdated_page", info.outdated_page != 0}};
  if (format == "json") {
    const int64_t limit = called.Number("limit", 1000, 0, called.server.limits().value_elements);
    JsonRoom room{called.server.limits().json_bytes};
    value["values"] = ElementsJson(tensor, limit, room).list;
    value["cut"] = tensor.count() > limit;
    return ValuesResponse(called, value);
  }
  const int64_t bytes = tensor.count() * static_cast<int64_t>(std::max<size_t>(1, weft_dtype_size(tensor.dtype)));
  if (bytes > called.server.limits().value_bytes) {
    throw ApiError(413, "resource_exhausted", "the value has " + std::to_string(bytes) + " bytes, the limit is " + std::to_string(called.server.limits().value_bytes),
                   "ask for a slice");
  }
  if (format == "binary") {
    if (weft_dtype_size(tensor.dtype) == 0) throw ApiError(501, "unsupported", std::string(weft_dtype_name(tensor.dtype)) + " has no binary form", "ask for JSON");
    value["type"] = "value";
    return TextResponse(Frame(std::move(value), {{"value", &tensor}}), "application/vnd.weft.tensor");
  }
  if (format != "npy") throw ApiError(400, "invalid_argument", "'format' must be json, binary or npy");
  Response response = TextResponse(NpyBytes(tensor), "application/x-npy");
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + FileName(name) + ".npy\"");
  return response;
}

std::unique_ptr<OwnedBuffer> BodyValue(const Called& called) {
  if (called.request.Header("content-type").find("application/x-npy") != std::string_view::npos) return BufferFromNpy(called.request.body);
  return BufferFromJson(called.Body());
}

Response Values(const Called& called) {
  const Json body = called.Body();
  const std::vector<std::string> names = TextsField(body, "names", called.server.limits().names);
  const bool all = !body.contains("names") || body["names"].is_null();
  const bool statistics = FlagField(body, "statistics", false);
  const int64_t first = NumberField(body, "first", 8, 0, 1000);
  const Json summaries = called.Page()->runner().sessions()->Summaries(names, all, statistics, first);
  return ValuesResponse(called, summaries);
}

Response Value(const Called& called) {
  const std::string name = called.Need("name");
  std::string session;
  const ViewHandle view = called.Page()->runner().sessions()->View(name, called.Get("session"), session);
  return ValueResponse(called, name, view, session);
}

Response StatisticsCall(const Called& called) {
  const std::string name = called.Need("name");
  std::string session;
  const ViewHandle view = called.Page()->runner().sessions()->View(name, called.Get("session"), session);
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  weft_view_get_info(view.get(), &info);
  if (!HasNumbers(info.dtype)) throw ApiError(422, "invalid_argument", "'" + name + "' has no numbers: it is of type " + weft_dtype_name(info.dtype));
  const Tensor tensor = Sliced(TensorOf(view.get(), info), ParseSlice(called.Get("slice")));
  const Statistics all = StatisticsOf(tensor, called.Number("bins", 64, 1, 4096));
  Json answer = {{"name", name}, {"dtype", weft_dtype_name(info.dtype)}, {"shape", tensor.shape}, {"count", all.count}, {"nan", all.nan}, {"inf", all.inf},
                 {"zero", all.zero}, {"generation", info.generation}, {"session", session}, {"stale", info.stale != 0}, {"in_progress", info.in_progress != 0}};
  for (const char* key : {"min", "max", "mean", "std", "histogram"}) answer[key] = nullptr;
  if (all.finite > 0) {
    answer["min"] = all.min;
    answer["max"] = all.max;
    answer["mean"] = NumberJson(all.mean);
    answer["std"] = NumberJson(all.std);
    answer["histogram"] = {{"low", all.min}, {"high", all.max}, {"counts", all.histogram}};
  }
  return JsonResponse(answer);
}

// ---- variables -------------------------------------------------------------------------------------------------------------

/// The page's variables.
std::vector<std::string> VariableNames(const Document& page) {
  const Json all = Json::parse(TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_write(page.page(), json, problems); }), nullptr, false);
  std::vector<std::string> names;
  for (const Json& block : all.value("blocks", Json::array())) {
    const std::string type = block.value("block", "");
    if (type == "Variable" || type == "TemporaryVariable" || type == "VarHandleOp") names.push_back(block.value("id", ""));
  }
  return names;
}

Response Variables(const Called& called) {
  const auto page = called.Page();
  Json list = Json::array();
  for (const std::string& name : VariableNames(*page)) {
    Json variable = {{"name", name}, {"dtype", nullptr}, {"shape", nullptr}, {"has_value", false}, {"text", ""}, {"count", 0}};
    ViewHandle view;
    weft_view_info info = WEFT_VIEW_INFO_INIT;
    if (weft_page_get_variable(page->page(), name.c_str(), view.out(), nullptr) == WEFT_OK && weft_view_get_info(view.get(), &info) == WEFT_OK) {
      variable["dtype"] = weft_dtype_name(info.dtype);
      variable["shape"] = std::vector<int64_t>(info.shape, info.shape + info.rank);
      variable["has_value"] = true;
      variable["count"] = info.count;
      variable["text"] = ShortText(view.get());
    } else {
      for (const char* port : {".ref", ".resource"}) {
        int64_t shape[WEFT_MAX_RANK];
        weft_port_type type = WEFT_PORT_TYPE_INIT;
        type.shape = shape;
        type.capacity = WEFT_MAX_RANK;
        if (weft_page_port_type(page->page(), (name + port).c_str(), &type, nullptr) != WEFT_OK || type.dtype == 0) continue;
        variable["dtype"] = weft_dtype_name(type.dtype);
        if (type.rank >= 0) variable["shape"] = std::vector<int64_t>(shape, shape + type.rank);
        break;
      }
    }
    list.push_back(std::move(variable));
  }
  return JsonResponse({{"variables", std::move(list)}});
}

Response GetVariable(const Called& called) {
  const auto page = called.Page();
  const std::string name = called.Need("name");
  ViewHandle view;
  Call([&](weft_diagnostics** problems) { return weft_page_get_variable(page->page(), name.c_str(), view.out(), problems); });
  return ValueResponse(called, name, view, "");
}

void TellVariables(Document& page, const Json& names, const std::string& by) {
  page.log().Publish({{"type", "variables"}, {"names", names}, {"by", TextOrNull(by)}});
}

Response PutVariable(const Called& called) {
  const auto page = called.Page();
  const std::string name = called.Need("name");
  const std::unique_ptr<OwnedBuffer> value = BodyValue(called);
  Call([&](weft_diagnostics** problems) { return weft_page_set_variable(page->page(), name.c_str(), &value->buffer, problems); }, Refusal::kEngine);
  TellVariables(*page, Json::array({name}), called.By());
  return EmptyResponse();
}

// ---- feeds and snapshots ---------------------------------------------------------------------------------------------------

Response Feeds(const Called& called) { return JsonResponse(called.Page()->runner().sessions()->Feeds()); }

Response PutFeed(const Called& called) {
  called.Page()->runner().Feed(called.Need("name"), BodyValue(called));
  return EmptyResponse();
}

Response DeleteFeed(const Called& called) {
  called.Page()->runner().sessions()->Unfeed(called.Need("name"));
  return EmptyResponse();
}

Json InfoJson(const std::string& path, const weft_snapshot_info& info) {
  return {{"path", path}, {"variables", info.variables}, {"resources", info.resources}, {"bytes", info.bytes}};
}

Response SaveState(const Called& called) {
  const auto page = called.Page();
  const Json body = called.Body();
  called.NeedFiles();
  const std::string path = Folder::Checked(TextField(body, "path"));
  if (!FlagField(body, "overwrite", false)) called.server.folder().NeedFree(path);
  const std::string place = called.server.folder().Place(path, WEFT_FILE_WRITE);
  weft_snapshot_info info = WEFT_SNAPSHOT_INFO_INIT;
  Call([&](weft_diagnostics** problems) { return weft_page_save_state(page->page(), place.c_str(), nullptr, &info, problems); });
  return JsonResponse(InfoJson(path, info));
}

Response RestoreState(const Called& called) {
  const auto page = called.Page();
  const Json body = called.Body();
  called.NeedFiles();
  const std::string path = Folder::Checked(TextField(body, "path"));
  const std::string place = called.server.folder().Place(path, WEFT_FILE_READ);
  weft_snapshot_options options = WEFT_SNAPSHOT_OPTIONS_INIT;
  options.partial = FlagField(body, "partial", false) ? 1 : 0;
  weft_snapshot_info info = WEFT_SNAPSHOT_INFO_INIT;
  Call([&](weft_diagnostics** problems) { return weft_page_restore_state(page->page(), place.c_str(), &options, &info, problems); }, Refusal::kEngine);
  TellVariables(*page, VariableNames(*page), called.By());
  return JsonResponse(InfoJson(path, info));
}

}  // namespace

void AddValueRoutes(std::vector<Route>& routes) {
  routes.insert(routes.end(), {
      {"POST", "/v1/pages/*/values", Route::kJson, false, Values},
      {"GET", "/v1/pages/*/value", Route::kNone, false, Value},
      {"GET", "/v1/pages/*/statistics", Route::kNone, false, StatisticsCall},
      {"GET", "/v1/pages/*/variables", Route::kNone, false, Variables},
      {"GET", "/v1/pages/*/variable", Route::kNone, false, GetVariable},
      {"PUT", "/v1/pages/*/variable", Route::kValue, true, PutVariable},
      {"GET", "/v1/pages/*/feeds", Route::kNone, false, Feeds},
      {"PUT", "/v1/pages/*/feed", Route::kValue, true, PutFeed},
      {"DELETE", "/v1/pages/*/feed", Route::kNone, true, DeleteFeed},
      {"POST", "/v1/pages/*/state/save", Route::kJson, true, SaveState},
      {"POST", "/v1/pages/*/state/restore", Route::kJson, true, RestoreState},
  });
}

}  // namespace weft::serve
