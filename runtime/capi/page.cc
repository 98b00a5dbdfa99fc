// Loading, checking and writing pages, and their variables.
#include "runtime/capi/objects.h"
#include "runtime/state/host_call.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

using namespace weft;
using namespace weft::capi;

namespace {

/// What the options of a page say, in the terms of the layers below.
struct LoadRequest {
  bool keep_faulty = false;
  ReadOptions read;
  ScopeOptions scope;
};

Result<LoadRequest> ReadLoadOptions(const weft_page_options* options) {
  weft_page_options known = WEFT_PAGE_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_page_options"));
  if (known.stall_limit_ms < -1) {
    return InvalidArgument("needs a stall limit of -1 (for ever), 0 (the default) or more, found ", known.stall_limit_ms)
        .WithPort("stall_limit_ms");
  }
  LoadRequest request;
  request.keep_faulty = known.keep_faulty != 0;
  if (known.name != nullptr) request.read.name = known.name;
  if (known.folder != nullptr) {
    request.scope.page_folder = known.folder;
    request.read.read_file = FilesInFolder(known.folder);
  }
  WEFT_ASSIGN_OR_RETURN(auto allowed, ReadTexts(known.allowed_folders, known.allowed_count, "allowed_folders"));
  for (std::string& folder : allowed) request.scope.allowed_folders.emplace_back(std::move(folder));
  if (known.stall_limit_ms != 0) request.scope.stall_limit_ms = known.stall_limit_ms;
  if (known.print != nullptr) {
    request.scope.print = [print = known.print, user = known.user](std::string_view text) { print(user, std::string(text).c_str()); };
  }
  return request;
}

/// Makes a page of what was read; what is wrong with it goes to `problems` and to the page.
weft_status Load(std::shared_ptr<RuntimeObject> runtime, ReadPageResult read, LoadRequest request, weft_page** page,
                 weft_diagnostics** problems) {
  auto object = std::make_shared<PageObject>();
  object->read = std::move(request.read);
  Diagnostics found = std::move(read.diagnostics);
  found.SetPhase(Phase::kLoad);
  object->scope =
      Scope::Open(runtime->runtime, std::make_shared<Page>(std::move(read.page)), object->read.name, std::move(request.scope), found);
  object->runtime = std::move(runtime);
  found.SetPhase(Phase::kConnect);
  if (object->scope != nullptr) CheckSessions(object->scope, found);
  found.SetPhase(Phase::kCompile);
  if (found.has_errors() && !(request.keep_faulty && object->scope != nullptr)) return ReportAll(found, problems);
  object->diagnostics = std::move(found);
  Status given = Give(std::move(object), page);
  return given.ok() ? WEFT_OK : Report(given, problems);
}

/// Reads by read(request) and loads.
template <class Read>
weft_status LoadBy(weft_runtime* runtime, const weft_page_options* options, weft_page** page, weft_diagnostics** problems, Read read) {
  weft_status loaded = WEFT_OK;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(page, "page"));
    *page = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    WEFT_ASSIGN_OR_RETURN(LoadRequest request, ReadLoadOptions(options));
    WEFT_ASSIGN_OR_RETURN(ReadPageResult result, read(request));
    object->Seal();
    loaded = Load(std::move(object), std::move(result), std::move(request), page, problems);
    return {};
  });
  return status == WEFT_OK ? loaded : status;
}

}  // namespace

namespace weft::capi {

Status PageObject::MayCall() const {
  if (!WaitsForHostCall(*scope)) return {};
  return FailedPrecondition("the page waits for the plan or gradient of a block, which calls it")
      .WithHint("call the page from another callback, or when the call that plans has returned");
}

Result<std::vector<std::string>> ReadTexts(const char* const* texts, size_t count, std::string_view what) {
  std::vector<std::string> result;
  if (count == 0) return result;
  WEFT_RETURN_IF_ERROR(NeedPointer(texts, what));
  for (size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return InvalidArgument("needs a text as ", what, "[", i, "], found NULL");
    result.emplace_back(texts[i]);
  }
  return result;
}

}  // namespace weft::capi

weft_status weft_page_load(weft_runtime* runtime, const void* bytes, size_t count, const weft_page_options* options, weft_page** page,
                           weft_diagnostics** problems) {
  return LoadBy(runtime, options, page, problems, [&](LoadRequest& request) -> Result<ReadPageResult> {
    if (count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(bytes, "bytes"));
    if (request.read.name.empty()) request.read.name = "page";
    if (request.scope.page_folder.empty()) request.scope.allow_page_folder = false;
    return ReadPage({count > 0 ? static_cast<const char*>(bytes) : "", count}, request.read);
  });
}

weft_status weft_page_load_file(weft_runtime* runtime, const char* path, const weft_page_options* options, weft_page** page,
                                weft_diagnostics** problems) {
  return LoadBy(runtime, options, page, problems, [&](LoadRequest& request) -> Result<ReadPageResult> {
    WEFT_RETURN_IF_ERROR(NeedPointer(path, "path"));
    if (request.read.name.empty()) request.read.name = path;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (request.scope.page_folder.empty()) request.scope.page_folder = folder;
    if (!request.read.read_file) request.read.read_file = FilesInFolder(folder);
    return ReadPageFile(path, request.read);
  });
}

weft_status weft_page_close(weft_page* page) {
  return Guard(nullptr, [&] { return page == nullptr ? Status() : Close(page).status(); });
}

weft_status weft_page_diagnostics(weft_page* page, weft_diagnostics** diagnostics, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(diagnostics, "diagnostics"));
    *diagnostics = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    std::lock_guard lock(object->edit_mutex);
    return Give(std::make_shared<DiagnosticsObject>(object->diagnostics), diagnostics);
  });
}

weft_status weft_page_write(weft_page* page, weft_strings** json, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(json, "json"));
    *json = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    return GiveText(WritePage(object->scope->revision()->graph->page()), json);
  });
}

weft_status weft_page_blocks(weft_page* page, weft_strings** ids, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(ids, "ids"));
    *ids = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    std::shared_ptr<const Graph> graph = object->scope->revision()->graph;
    std::vector<std::string> texts;
    for (const PageBlock& block : graph->page().blocks) texts.push_back(block.id);
    return GiveTexts(std::move(texts), ids);
  });
}

weft_status weft_page_sessions(weft_page* page, weft_strings** ids, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(ids, "ids"));
    *ids = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    std::shared_ptr<const Graph> graph = object->scope->revision()->graph;
    std::vector<std::string> texts;
    for (const SessionSpec& session : graph->sessions()) texts.push_back(session.id);
    return GiveTexts(std::move(texts), ids);
  });
}

weft_status weft_page_get_variable(weft_page* page, const char* block, weft_view** view, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(view, "view"));
    *view = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(block, "block"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, object->scope->GetVariable(block));
    return GiveView(std::move(tensor), 0, false, view);
  });
}

weft_status weft_page_set_variable(weft_page* page, const char* block, const weft_buffer* value, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(block, "block"));
    WEFT_RETURN_IF_ERROR(NeedPointer(value, "value"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, CopyBuffer(value, object->runtime->runtime.budget()));
    return object->scope->SetVariable(block, std::move(tensor));
  });
}
