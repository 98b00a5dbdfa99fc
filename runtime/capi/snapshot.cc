// Snapshots of a page's state.
#include "weft/state/snapshot.h"

#include "runtime/capi/objects.h"
#include "runtime/capi/run_options.h"

using namespace weft;
using namespace weft::capi;

namespace {

constexpr int64_t kPatienceMs = 10000;

struct Request {
  std::shared_ptr<PageObject> page;
  bool partial = false;
  std::chrono::nanoseconds patience{0};
};

Result<Request> ReadRequest(weft_page* page, const char* path, const weft_snapshot_options* options, weft_snapshot_info* info) {
  Request request;
  WEFT_ASSIGN_OR_RETURN(request.page, Find(page));
  WEFT_RETURN_IF_ERROR(NeedPointer(path, "path"));
  if (*path == '\0') return InvalidArgument("needs the name of a file, found an empty text").WithPort("path");
  weft_snapshot_options known = WEFT_SNAPSHOT_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_snapshot_options"));
  if (info != nullptr) WEFT_RETURN_IF_ERROR(FillStruct(weft_snapshot_info WEFT_SNAPSHOT_INFO_INIT, info, "weft_snapshot_info"));
  request.partial = known.partial != 0;
  const int64_t ms = known.patience_ms == 0 ? kPatienceMs : std::clamp(known.patience_ms, int64_t{0}, kLongestMs);
  request.patience = std::chrono::milliseconds(ms);
  return request;
}

Status FillSummary(const SnapshotSummary& summary, weft_snapshot_info* info) {
  if (info == nullptr) return {};
  weft_snapshot_info filled = WEFT_SNAPSHOT_INFO_INIT;
  filled.variables = summary.variables;
  filled.resources = summary.resources;
  filled.bytes = summary.bytes;
  return FillStruct(filled, info, "weft_snapshot_info");
}

}  // namespace

weft_status weft_page_save_state(weft_page* page, const char* path, const weft_snapshot_options* options, weft_snapshot_info* info,
                                 weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(Request request, ReadRequest(page, path, options, info));
    SnapshotOptions chosen;
    chosen.patience = request.patience;
    WEFT_ASSIGN_OR_RETURN(const SnapshotSummary summary, SaveSnapshot(*request.page->scope, path, chosen));
    return FillSummary(summary, info);
  });
}

weft_status weft_page_restore_state(weft_page* page, const char* path, const weft_snapshot_options* options, weft_snapshot_info* info,
                                    weft_diagnostics** problems) {
  Diagnostics found;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(Request request, ReadRequest(page, path, options, info));
    RestoreOptions chosen;
    chosen.patience = request.patience;
    chosen.partial = request.partial;
    auto restored = RestoreSnapshot(*request.page->scope, path, chosen, found);
    if (restored.ok()) return FillSummary(*restored, info);
    return found.has_errors() ? Status() : std::move(restored).status();  // without memory there may be no finding
  });
  return status == WEFT_OK && found.has_errors() ? ReportAll(found, problems) : status;
}
