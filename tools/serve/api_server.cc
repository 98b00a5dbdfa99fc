// Calls about the server: info, blocks, files, examples, recovery.
#include <algorithm>

#include "tools/serve/assets.h"
#include "tools/serve/routes.h"
#include "tools/serve/server.h"

namespace weft::serve {
namespace {

struct Template {
  const char *name, *title, *summary, *text;
};
constexpr Template kTemplates[] = {
    {"empty", "Empty page", "Nothing yet.", "{\n  \"weft\": 1,\n  \"page\": \"untitled\",\n  \"blocks\": []\n}\n"},
    {"session", "A session", "A constant, and a session that fetches it: the least that runs.",
     "{\n  \"weft\": 1,\n  \"page\": \"untitled\",\n  \"blocks\": [\n"
     "    {\"id\": \"x\", \"block\": \"Const\", \"inputs\": {\"value\": {\"dtype\": \"DT_FLOAT\", \"shape\": [2], \"values\": [1, 2]}}},\n"
     "    {\"id\": \"run\", \"block\": \"ClientSession\", \"inputs\": {\"fetch_outputs\": [\"x.output\"]}}\n  ],\n"
     "  \"layout\": {\n    \"x\": [40, 80],\n    \"run\": [300, 80]\n  }\n}\n"},
};

Response Info(const Called& called) {
  const Server& server = called.server;
  const Limits& limits = server.limits();
  Json info = {{"name", "weft"}, {"version", weft_version()}, {"protocol", 1}, {"instance", server.instance()}, {"folder", server.folder().name()},
               {"read_only", server.options().read_only}, {"no_files", server.options().no_files},
               {"features", {"edit", "run", "breakpoints", "variables", "snapshots", "feeds", "timings", "journal", "picture"}},
               {"schema", called.server.schema().etag}};
  info["limits"] = {{"page_bytes", limits.page_bytes}, {"body_bytes", limits.body_bytes}, {"pages", limits.pages}, {"clients", limits.clients},
                    {"runs_per_page", limits.runs_kept}, {"frame_bytes", limits.frame_bytes}, {"queue_bytes", limits.queue_bytes},
                    {"subscriptions", limits.subscriptions}, {"breakpoints", limits.breakpoints}, {"value_elements", limits.value_elements},
                    {"call_seconds", limits.call_seconds}, {"lease_seconds", limits.lease_seconds}, {"history_events", limits.history_events}};
  if (!server.options().open.empty()) info["open"] = server.options().open;
  return JsonResponse(info);
}

Response Schema(const Called& called) {
  const BlockSchema::Content& schema = called.server.schema();
  Response response;
  response.headers.emplace_back("ETag", schema.etag);
  response.headers.emplace_back("Cache-Control", "private, no-cache");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (called.request.Header("if-none-match") == schema.etag) {
    response.status = 304;
    return response;
  }
  const bool compressed = called.request.Header("accept-encoding").find("gzip") != std::string_view::npos;
  if (compressed) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = compressed ? schema.gzip : schema.plain;
  return response;
}

Response BlockOfCatalog(const Called& called) {
  return TextResponse(TextFrom([&](weft_strings** json, weft_diagnostics** problems) {
    return weft_block_json(called.server.runtime(), called.parts[0].c_str(), json, problems);
  }), "application/json");
}

Response Help(const Called& called) {
  const std::string markdown = TextFrom([&](weft_strings** text, weft_diagnostics** problems) {
    return weft_block_markdown(called.server.runtime(), called.parts[0].c_str(), text, problems);
  });
  return JsonResponse({{"block", called.parts[0]}, {"markdown", markdown}});
}

Response Codes(const Called&) { return TextResponse(weft_codes_json(), "application/json"); }

Response OpenApi(const Called&) {
  const Asset* asset = FindAsset("openapi.json");
  if (asset == nullptr) throw ApiError(404, "not_found", "the description is not built in");
  return TextResponse(Plain(*asset), "application/json");
}

Response Files(const Called& called) {
  return JsonResponse(called.server.folder().List(called.server.limits().files, [&](const std::string& path) {
    const auto document = called.server.pages().FindPath(path);
    return document ? document->id() : std::string();
  }));
}

Response ReadFile(const Called& called) {
  return TextResponse(called.server.folder().Read(called.Need("path"), static_cast<uint64_t>(called.server.limits().value_bytes)), "application/octet-stream");
}

Response WriteFile(const Called& called) {
  called.NeedFiles();
  const std::string path = Folder::Checked(called.Need("path"));
  called.server.folder().Write(path, called.request.body, called.Flag("overwrite"));
  return JsonResponse({{"path", path}, {"bytes", called.request.body.size()}});
}

std::string ExampleName(std::string_view path) {
  constexpr std::string_view kFolder = "graphs/", kEnd = ".page.json";
  if (path.substr(0, kFolder.size()) != kFolder || path.size() < kFolder.size() + kEnd.size() || path.substr(path.size() - kEnd.size()) != kEnd) return "";
  return std::string(path.substr(kFolder.size(), path.size() - kFolder.size() - kEnd.size()));
}

std::string ExampleText(const std::string& name) {
  const Asset* asset = FindAsset("graphs/" + name + ".page.json");
  if (asset == nullptr) throw ApiError(404, "not_found", "there is no example '" + name.substr(0, 100) + "'");
  return Plain(*asset);
}

Response Examples(const Called&) {
  Json list = Json::array();
  for (size_t i = 0; i < kAssetCount; ++i) {
    const std::string name = ExampleName(kAssets[i].path);
    if (name.empty()) continue;
    const Json page = Json::parse(Plain(kAssets[i]), nullptr, false);
    list.push_back({{"name", name}, {"title", page.value("page", name)}, {"blocks", page.contains("blocks") ? page["blocks"].size() : 0},
                    {"summary", page.value("note", page.value("summary", ""))}});
  }
  return JsonResponse({{"examples", std::move(list)}});
}

Response Example(const Called& called) { return TextResponse(ExampleText(called.parts[0]), "application/json"); }

Response Templates(const Called&) {
  Json list = Json::array();
  for (const Template& each : kTemplates) list.push_back({{"name", each.name}, {"title", each.title}, {"summary", each.summary}});
  return JsonResponse({{"templates", std::move(list)}});
}

Response Pages(const Called& called) { return JsonResponse({{"pages", called.server.pages().Describe()}}); }

PageSource SourceOf(const Called& called, const Json& body) {
  PageSource source;
  if (body.contains("path")) {
    source.path = Folder::Checked(TextField(body, "path"));
    source.name = *source.path;
    source.stamp = called.server.folder().Stamp(*source.path);
    source.bytes = called.server.folder().Read(*source.path, called.server.limits().page_bytes);
  } else if (body.contains("example")) {
    source.name = TextField(body, "example");
    source.bytes = ExampleText(source.name);
  } else if (body.contains("template")) {
    const std::string name = TextField(body, "template");
    source.name = TextField(body, "name", "untitled").substr(0, 200);
    for (const Template& each : kTemplates) {
      if (name == each.name) source.bytes = each.text;
    }
    if (source.bytes.empty()) throw ApiError(404, "not_found", "there is no template '" + name.substr(0, 100) + "'");
  } else {
    source.bytes = TextField(body, "text");
    source.name = TextField(body, "name", "pasted").substr(0, 200);
    source.dirty = true;
  }
  return source;
}

Response OpenPage(const Called& called) {
  const Json body = called.Body();
  if (body.contains("path")) {
    if (const auto open = called.server.pages().FindPath(Folder::Checked(TextField(body, "path")))) return JsonResponse(open->Describe());
  }
  const auto [document, is_new] = called.server.pages().Open(SourceOf(called, body));
  return JsonResponse(document->Describe(), is_new ? 201 : 200);
}

Response RecoveryList(const Called& called) {
  Json list = Json::array();
  for (const Recovery& each : called.server.journals().Left()) {
    const bool changed = each.path && called.server.folder().Stamp(*each.path) != each.stamp;
    list.push_back({{"id", each.id}, {"path", each.path ? Json(*each.path) : Json(nullptr)}, {"name", each.name}, {"edits", each.edits_in_text + each.edits.size()},
                    {"modified", TimeText(each.modified)}, {"changed_on_disk", changed}});
  }
  return JsonResponse({{"recovery", std::move(list)}});
}

[[noreturn]] void ThrowOpen(const std::string& path) {
  throw ApiError(409, "already_exists", "'" + path + "' is open already", "close it first");
}

Response Recover(const Called& called) {
  called.Body();
  const auto recovery = called.server.journals().Read(called.parts[0]);
  if (!recovery) throw ApiError(404, "not_found", "there are no unsaved edits '" + called.parts[0].substr(0, 100) + "'");
  if (recovery->path && called.server.pages().FindPath(*recovery->path)) ThrowOpen(*recovery->path);
  PageSource source;
  source.path = recovery->path;
  source.name = recovery->name;
  source.stamp = recovery->stamp;
  source.bytes = recovery->text;
  source.dirty = recovery->unsaved;
  source.format = recovery->format;
  const auto [document, is_new] = called.server.pages().Open(std::move(source));
  if (!is_new) ThrowOpen(*recovery->path);
  const size_t missing = document->Recover(*recovery);
  if (missing == 0) called.server.journals().Forget(called.parts[0]);
  called.server.pages().TellClients();
  Json answer = document->Describe();
  answer["missing_edits"] = missing;
  return JsonResponse(answer, 201);
}

Response ForgetRecovery(const Called& called) {
  if (!called.server.journals().Read(called.parts[0])) throw ApiError(404, "not_found", "there are no unsaved edits '" + called.parts[0].substr(0, 100) + "'");
  called.server.journals().Forget(called.parts[0]);
  return EmptyResponse();
}

Response Validate(const Called& called) {
  const Json body = called.Body();
  PageSource source;
  source.name = TextField(body, "name", "pasted").substr(0, 200);
  source.bytes = TextField(body, "text");
  const PageHandle page = LoadPage(called.server.pages().rules(), source);
  DiagnosticsHandle found;
  Call([&](weft_diagnostics** problems) { return weft_page_diagnostics(page.get(), found.out(), problems); });
  const auto ids = TextsFrom([&](weft_strings** list, weft_diagnostics** problems) { return weft_page_blocks(page.get(), list, problems); });
  return JsonResponse({{"name", source.name}, {"blocks", ids.size()}, {"diagnostics", DiagnosticsJson(found.get())}});
}

}  // namespace

void AddServerRoutes(std::vector<Route>& routes) {
  routes.insert(routes.end(), {
                                  {"GET", "/v1/info", Route::kNone, false, Info},
                                  {"GET", "/v1/schema", Route::kNone, false, Schema},
                                  {"GET", "/v1/blocks/*", Route::kNone, false, BlockOfCatalog},
                                  {"GET", "/v1/blocks/*/help", Route::kNone, false, Help},
                                  {"GET", "/v1/codes", Route::kNone, false, Codes},
                                  {"GET", "/v1/openapi.json", Route::kNone, false, OpenApi},
                                  {"GET", "/v1/files", Route::kNone, false, Files},
                                  {"GET", "/v1/file", Route::kNone, false, ReadFile},
                                  {"PUT", "/v1/file", Route::kBytes, true, WriteFile},
                                  {"GET", "/v1/examples", Route::kNone, false, Examples},
                                  {"GET", "/v1/examples/*", Route::kNone, false, Example},
                                  {"GET", "/v1/templates", Route::kNone, false, Templates},
                                  {"GET", "/v1/recovery", Route::kNone, false, RecoveryList},
                                  {"POST", "/v1/recovery/*/open", Route::kJson, true, Recover},
                                  {"DELETE", "/v1/recovery/*", Route::kNone, true, ForgetRecovery},
                                  {"GET", "/v1/pages", Route::kNone, false, Pages},
                                  {"POST", "/v1/pages", Route::kPage, false, OpenPage},
                                  {"POST", "/v1/validate", Route::kPage, false, Validate},
                              });
}

}  // namespace weft::serve
