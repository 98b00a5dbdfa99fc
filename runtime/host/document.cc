#include "weft/host/document.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/base/failure.h"
#include "runtime/base/system_call.h"
#include "runtime/host/file_bytes.h"
#include "weft/host/settings.h"
#include "weft/page/writer.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

/// The page's values in files.
std::function<Result<std::string>(const std::string&, int64_t, int64_t)> ReaderOf(std::shared_ptr<const FileSandbox> files) {
  return [files = std::move(files)](const std::string& file, int64_t offset, int64_t size) { return files->Read(file, offset, size); };
}

ReadPageResult Unreadable(Status status, const std::string& name) {
  ReadPageResult result;
  result.page.complete = false;
  result.diagnostics.Error(std::move(status).WithPage(name));
  return result;
}

/// Reads the document itself, which the host names: it may be a pipe.
ReadPageResult ReadDocument(const fs::path& path, const ReadOptions& options) {
  const Descriptor file(Uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.valid()) return Unreadable(OpenError(options.name, errno), options.name);
  Result<std::string> bytes = ReadBytes(file, options.name, 0, -1, true);
  return bytes.ok() ? ReadPage(*bytes, options) : Unreadable(std::move(bytes).status(), options.name);
}

}  // namespace

ReadPageResult ReadPageFile(const fs::path& path, const FolderRules& rules) {
  ReadOptions options;
  options.name = path.string();
  options.read_file = ReaderOf(std::make_shared<FileSandbox>(rules));
  return ReadDocument(path, options);
}

ReadPageResult ReadPageFile(const fs::path& path) { return ReadPageFile(path, FolderRules::OfPage(path.parent_path())); }

Document::Document(std::shared_ptr<Runtime> runtime, DocumentOptions options)
    : runtime_(std::move(runtime)), options_(std::move(options)), budget_(runtime_->PageBudget()), found_held_(budget_), history_(budget_) {
  FolderRules rules{options_.folder, options_.read_folders, options_.write_folders, options_.may_use};
  if (!options_.folder.empty()) rules.read.push_back(options_.folder);
  files_ = std::make_shared<FileSandbox>(std::move(rules));
  read_.name = options_.name;
  const bool any = !options_.folder.empty() || !options_.read_folders.empty() || !options_.write_folders.empty();
  if (any) read_.read_file = ReaderOf(files_);
}

std::unique_ptr<Document> Document::OpenFile(std::shared_ptr<Runtime> runtime, const fs::path& path, DocumentOptions options) {
  if (options.name.empty()) options.name = path.string();
  if (options.folder.empty()) options.folder = path.has_parent_path() ? path.parent_path() : ".";
  std::unique_ptr<Document> document(new Document(std::move(runtime), std::move(options)));
  document->Load([&] { return ReadDocument(path, document->read_); });
  return document;
}

std::unique_ptr<Document> Document::Open(std::shared_ptr<Runtime> runtime, std::string_view bytes, DocumentOptions options) {
  if (options.name.empty()) options.name = "page";
  std::unique_ptr<Document> document(new Document(std::move(runtime), std::move(options)));
  document->Load([&] { return ReadPage(bytes, document->read_); });
  return document;
}

// A page that takes longer than the runtime allows, or whose findings take more memory, is an empty one, with that fault.
void Document::Load(FunctionRef<ReadPageResult()> read) {
  ReadPageResult stopped_at;
  try {
    const CallLimit limit(runtime_->CallEnd(), nullptr, budget_);
    Connect(read());
    Status held = found_held_.Hold(found_.bytes());
    if (held.ok()) return;
    scope_ = nullptr;
    stopped_at = Unreadable(std::move(held), options_.name);
  } catch (const CallStopped& stopped) {
    stopped_at = Unreadable(stopped.status(), options_.name);
  }
  Connect(std::move(stopped_at));
}

// Makes the scope of what was read.
void Document::Connect(ReadPageResult read) {
  found_ = std::move(read.diagnostics);
  for (const std::string& setting : options_.settings) {
    Status set = ApplySetting(read.page, runtime_->registry(), setting);
    if (!set.ok()) found_.Error(std::move(set).WithPage(options_.name));
  }
  found_.SetPhase(Phase::kLoad);
  ScopeOptions scope;
  scope.files = files_;
  scope.print = options_.print;
  scope.budget = budget_;
  scope.stall_limit_ms = options_.stall_limit_ms;
  scope_ = Scope::Open(*runtime_, std::make_shared<Page>(std::move(read.page)), options_.name, std::move(scope), found_);
  found_.SetPhase(Phase::kConnect);
}

Diagnostics Document::faults() const {
  std::lock_guard lock(edit_mutex_);
  if (!sorted_) SortByPage(found_, scope_->revision()->graph->page());
  sorted_ = true;
  return found_;
}

Diagnostics Document::diagnostics() const {
  std::lock_guard lock(edit_mutex_);
  if (planned_) return found_;
  Diagnostics all = found_;
  try {
    const CallLimit limit(runtime_->CallEnd(), nullptr, budget_);
    CheckSessions(scope_, all);
  } catch (const CallStopped& stopped) {  // the next call tries again
    all.Error(Status(stopped.status()).WithPage(options_.name));
    SortByPage(all, scope_->revision()->graph->page());
    return all;
  }
  all.SetPhase(Phase::kCompile);
  SortByPage(all, scope_->revision()->graph->page());
  if (!FirstNoMemory(all).ok()) return all;  // no fault of the page: the next call tries again
  if (Status held = found_held_.Hold(all.bytes()); !held.ok()) {  // it, too
    Diagnostics unplanned = found_;
    unplanned.Error(std::move(held).WithPage(options_.name));
    SortByPage(unplanned, scope_->revision()->graph->page());
    return unplanned;
  }
  found_ = std::move(all);
  planned_ = sorted_ = true;
  return found_;
}

std::string Document::Write() const { return WritePage(scope_->revision()->graph->page()); }

Result<DocumentEdit> Document::Apply(std::string_view json, EditMode mode, Diagnostics& found, const Prepare& prepare) {
  Result<std::vector<Edit>> edits = std::vector<Edit>();
  try {
    const CallLimit limit(runtime_->CallEnd(), nullptr, budget_);
    edits = ReadEdits(json, read_);
  } catch (const CallStopped& stopped) {
    edits = stopped.status();
  }
  WEFT_RETURN_IF_ERROR(edits.status());
  return Apply(std::move(*edits), mode, found, prepare);
}

Result<DocumentEdit> Document::Apply(std::vector<Edit> edits, EditMode mode, Diagnostics& found, const Prepare& prepare) {
  std::function<void()> tell;
  std::unique_lock lock(edit_mutex_);
  WEFT_ASSIGN_OR_RETURN(DocumentEdit done, Make(std::move(edits), mode, found, tell, EditHistory::How::kEdit, prepare));
  if (mode == EditMode::kTry) return done;
  lock.unlock();
  if (tell) tell();
  return done;
}

// Called with the lock held. The history gets what takes the edits back. `tell` calls the listeners of edits; it is to be called without the lock.
// What can fail for lack of memory is done before the edit is made.
Result<DocumentEdit> Document::Make(std::vector<Edit> edits, EditMode mode, Diagnostics& found, std::function<void()>& tell,
                                    EditHistory::How how, const Prepare& prepare) try {
  const CallLimit limit(runtime_->CallEnd(), nullptr, budget_);
  DocumentEdit done{std::move(edits), {}, {}};
  Diagnostics now, ordered;
  PageEvents::Edit event;
  EditHistory::NewStep step(history_, how);
  MemoryCharge held(budget_);
  const auto make_ready = [&](const std::vector<Edit>& inverse, const Page& page) -> Status {
    now.SetPhase(Phase::kConnect);  // those of planning say so
    ordered = now;
    SortByPage(ordered, page);
    if (Status refused = held.Hold(ordered.bytes()); !refused.ok()) return std::move(refused).WithPage(options_.name);
    found.Append(ordered);
    done.inverse = inverse;
    step.Prepare(inverse);
    const uint64_t number = scope_->edits() + 1;
    if (events_.any()) event = events_.Made(scope_->revision()->graph->name(), number, WriteChanges(done.changes, number));
    return prepare ? prepare(done, number) : Status();
  };
  auto made = scope_->Apply(done.made, now, mode, &done.changes, make_ready);
  if (made.ok() && mode != EditMode::kTry) {
    found_ = std::move(ordered);
    found_held_ = std::move(held);
    planned_ = sorted_ = true;
    step.Keep();
    tell = events_.Tell(std::move(event));
    return done;
  }
  now.SetPhase(Phase::kConnect);
  if (!step.prepared()) found.Append(std::move(now));
  if (!made.ok()) return std::move(made).status();
  done.inverse = std::move(*made);
  if (prepare) WEFT_RETURN_IF_ERROR(prepare(done, scope_->edits()));
  return done;
} catch (const CallStopped& stopped) {  // the page is as it was
  return Status(stopped.status()).WithPage(options_.name);
}

Result<DocumentEdit> Document::Step(EditHistory::How how, const Prepare& prepare) {
  std::function<void()> tell;
  std::unique_lock lock(edit_mutex_);
  const std::vector<Edit>* next = history_.Next(how);
  if (next == nullptr) return FailedPrecondition("there is no edit to ", how == EditHistory::How::kUndo ? "take back" : "make again");
  Diagnostics found;
  WEFT_ASSIGN_OR_RETURN(DocumentEdit done, Make(*next, EditMode::kApply, found, tell, how, prepare));
  lock.unlock();
  if (tell) tell();
  return done;
}

Document::History Document::history() const {
  std::lock_guard lock(edit_mutex_);
  return {history_.undo_steps(), history_.redo_steps()};
}

}  // namespace weft
