// Loading, checking and writing pages, and their variables.
#include "runtime/base/call_limit.h"
#include "runtime/base/failure.h"
#include "runtime/capi/objects.h"
#include "runtime/state/host_call.h"

using namespace weft;
using namespace weft::capi;

namespace {

struct LoadRequest {
  bool keep_faulty = false;
  DocumentOptions document;
};

Result<std::vector<std::filesystem::path>> ReadFolders(const char* const* folders, size_t count, std::string_view what) {
  WEFT_ASSIGN_OR_RETURN(std::vector<std::string> texts, ReadTexts(folders, count, what));
  return std::vector<std::filesystem::path>(texts.begin(), texts.end());
}

Result<LoadRequest> ReadLoadOptions(const weft_page_options* options) {
  weft_page_options known = WEFT_PAGE_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_page_options"));
  if (known.stall_limit_ms < -1) {
    return InvalidArgument("needs a stall limit of -1 (for ever), 0 (the default) or more, found ", known.stall_limit_ms)
        .WithPort("stall_limit_ms");
  }
  LoadRequest request;
  request.keep_faulty = known.keep_faulty != 0;
  DocumentOptions& document = request.document;
  if (known.name != nullptr) document.name = known.name;
  if (known.folder != nullptr) document.folder = *known.folder == '\0' ? "." : known.folder;
  WEFT_ASSIGN_OR_RETURN(document.read_folders, ReadFolders(known.allowed_folders, known.allowed_count, "allowed_folders"));
  WEFT_ASSIGN_OR_RETURN(document.write_folders, ReadFolders(known.write_folders, known.write_count, "write_folders"));
  if (known.file_access != nullptr) {
    document.may_use = [ask = known.file_access, user = known.file_user](const FileAccess& file) {
      return ask(user, std::string(file.name).c_str(), file.path.c_str(), static_cast<int32_t>(file.access), file.allowed ? 1 : 0) != 0;
    };
  }
  if (known.stall_limit_ms != 0) document.stall_limit_ms = known.stall_limit_ms;
  if (known.print != nullptr) {
    document.print = [print = known.print, user = known.user](std::string_view text) { print(user, std::string(text).c_str()); };
  }
  return request;
}

/// Opens by open(runtime, options) -> unique_ptr<Document> what `source` (the parameter `what`) points to; what is wrong with the page goes
/// to `problems` and to the page.
template <class Open>
weft_status Load(weft_runtime* runtime, const void* source, const char* what, const weft_page_options* options, weft_page** page,
                 weft_diagnostics** problems, Open open) {
  Diagnostics found;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(page, "page"));
    *page = nullptr;
    auto object = std::make_shared<PageObject>();
    WEFT_ASSIGN_OR_RETURN(object->runtime, Find(runtime));
    WEFT_ASSIGN_OR_RETURN(LoadRequest request, ReadLoadOptions(options));
    WEFT_RETURN_IF_ERROR(NeedPointer(source, what));
    object->runtime->Seal();
    const CallLimit limit(object->runtime->runtime.CallEnd());  // of reading and checking together
    object->document = open(std::shared_ptr<Runtime>(object->runtime, &object->runtime->runtime), std::move(request.document));
    object->scope = object->document->scope();
    const Job& job = *object->runtime->job;
    if (!job.library().empty()) WEFT_RETURN_IF_ERROR(UseCollectives(*object->scope, job.collectives()));
    Diagnostics all = object->document->diagnostics();
    WEFT_RETURN_IF_ERROR(FirstNoMemory(all));  // no fault to keep
    if (all.has_errors() && !request.keep_faulty) {
      found = std::move(all);
      return {};
    }
    return Give(std::move(object), page);
  });
  return status == WEFT_OK && found.has_errors() ? ReportAll(found, problems) : status;
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
  const void* source = count > 0 ? bytes : "";
  return Load(runtime, source, "bytes", options, page, problems, [&](std::shared_ptr<Runtime> own, DocumentOptions chosen) {
    return Document::Open(std::move(own), {static_cast<const char*>(source), count}, std::move(chosen));
  });
}

weft_status weft_page_load_file(weft_runtime* runtime, const char* path, const weft_page_options* options, weft_page** page,
                                weft_diagnostics** problems) {
  return Load(runtime, path, "path", options, page, problems, [&](std::shared_ptr<Runtime> own, DocumentOptions chosen) {
    return Document::OpenFile(std::move(own), path, std::move(chosen));
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
    return Give(std::make_shared<DiagnosticsObject>(object->document->diagnostics()), diagnostics);
  });
}

weft_status weft_page_write(weft_page* page, weft_strings** json, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(json, "json"));
    *json = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    return GiveText(object->document->Write(), json);
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
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, CopyBuffer(value, object->scope->budget()));
    return object->scope->SetVariable(block, std::move(tensor));
  });
}

weft_status weft_page_hold_memory(weft_page* page, int64_t bytes, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    if (bytes < 0) return InvalidArgument("needs 0 bytes or more, found ", bytes).WithPort("bytes");
    std::lock_guard lock(object->held_mutex);
    if (!object->held) object->held.emplace(object->scope->budget());
    return object->held->Hold(bytes).WithPage(object->scope->revision()->graph->name());
  });
}
