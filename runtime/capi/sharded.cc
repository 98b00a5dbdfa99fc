// Pages whose batch is cut into shards, on the processes of a job.
#include <algorithm>
#include <condition_variable>
#include <optional>
#include <thread>

#include "runtime/capi/objects.h"
#include "runtime/exec/result_name.h"
#include "runtime/state/thread_pool.h"
#include "weft/host/session_choice.h"
#include "weft/host/sharded_run.h"

namespace weft::capi {
namespace {

/// A run, and what of it is read while it steps.
class ShardedObject final : public Object {
 public:
  ShardedObject(std::shared_ptr<PageObject> of, std::vector<SessionSpec::Fetch> fetched, int count, std::unique_ptr<ShardedRun> runs)
      : page(std::move(of)), graph(page->scope->revision()->graph), fetches(std::move(fetched)), shards(count), run(std::move(runs)) {
    steps_ = run->steps();
  }
  ~ShardedObject() override { End(); }
  Status MayCall() const override { return page->MayCall(); }

  /// Calls work() -> Status for one thread at a time: failed_precondition on others meanwhile.
  template <class Work>
  Status InTurn(Work work);
  /// The same for what ends the run where it fails: always, or unless it failed on all ranks alike.
  template <class Work>
  Status InLastTurn(bool always, Work work);
  Status Step(bool results);
  bool on_running_thread() const;
  /// Cancels what runs, waits until it has ended, and ends the job where the other ranks would wait for this one. Once.
  void End();
  weft_sharded_info Info() const;
  std::vector<std::string> Names() const;
  Result<Tensor> Find(std::string_view name, uint64_t& step) const;

  const std::shared_ptr<PageObject> page;
  const std::shared_ptr<const Graph> graph;
  const std::vector<SessionSpec::Fetch> fetches;
  const int shards;
  const std::unique_ptr<ShardedRun> run;

 private:
  /// The end of a turn.
  struct Turn {
    ShardedObject& of;
    ~Turn() {
      std::lock_guard lock(of.mutex_);
      of.steps_ = of.run->steps();
      of.thread_.reset();
      of.idle_.notify_all();
    }
  };

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable idle_;
  std::optional<std::thread::id> thread_;  // that steps, saves or loads
  std::vector<std::pair<std::string, Tensor>> results_;
  uint64_t steps_ = 0, results_step_ = 0;
  Status failed_;  // what ended the run
  bool all_failed_ = false, closed_ = false;
};

template <class Work>
Status ShardedObject::InTurn(Work work) {
  {
    std::lock_guard lock(mutex_);
    if (thread_) return FailedPrecondition("another call steps, saves or loads").WithHint("make one such call after another");
    if (closed_) return FailedPrecondition("the weft_sharded was closed");
    if (!failed_.ok()) {
      return FailedPrecondition("a step or a snapshot failed, with which the run is over: ", failed_.message())
          .WithHint("open another, and load a snapshot there");
    }
    thread_ = std::this_thread::get_id();
  }
  const Turn turn{*this};
  page->runtime->job->Watch(*run);
  return work();
}

template <class Work>
Status ShardedObject::InLastTurn(bool always, Work work) {
  return InTurn([&]() -> Status {
    Status status = Status(Code::kInternal, "the call ended");  // by an exception
    const auto note = [&] {
      const bool alike = !status.ok() && run->all_failed();
      if (status.ok() || (alike && !always)) return;
      std::lock_guard lock(mutex_);
      failed_ = status;
      all_failed_ = alike;
      run->Close();  // another may be opened
    };
    try {
      status = work();
      note();
    } catch (...) {
      note();
      throw;
    }
    return status;
  });
}

Status ShardedObject::Step(bool results) {
  return InLastTurn(true, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(run->Step(results));
    if (!results) return {};
    std::lock_guard lock(mutex_);
    results_ = run->results();
    results_step_ = run->steps();
    return {};
  });
}

bool ShardedObject::on_running_thread() const {
  std::lock_guard lock(mutex_);
  return thread_ && WaitsForThisThread(*thread_);
}

void ShardedObject::End() {
  std::string why;
  {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    if (thread_) run->Cancel();
    idle_.wait(lock, [&] { return !thread_; });
    if (!failed_.ok() && !all_failed_) why = failed_.code() == Code::kCancelled ? Cat("was cancelled, at ", run->where()) : Cat("failed: ", failed_);
  }
  Job& job = *page->runtime->job;
  job.Unwatch(*run);
  run->Close();
  if (!why.empty() && job.size() > 1) job.Abort(why);
}

weft_sharded_info ShardedObject::Info() const {
  weft_sharded_info info = WEFT_SHARDED_INFO_INIT;
  const auto [first, end] = run->shards();
  info.shards = shards;
  info.first_shard = first;
  info.shard_count = end - first;
  std::lock_guard lock(mutex_);
  info.steps = steps_;
  info.last_status = CodeOf(failed_);
  info.all_failed = all_failed_ ? 1 : 0;
  info.in_progress = thread_ ? 1 : 0;
  return info;
}

std::vector<std::string> ShardedObject::Names() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& result : results_) names.push_back(result.first);
  return names;
}

Result<Tensor> ShardedObject::Find(std::string_view name, uint64_t& step) const {
  WEFT_ASSIGN_OR_RETURN(const NamedValue named, FindNamedValue(*graph, name));
  const auto fetch = std::ranges::find(fetches, named.value, &SessionSpec::Fetch::value);
  if (fetch == fetches.end()) {
    return FailedPrecondition("'", name, "' is not fetched: with shards only what is fetched has a result").WithHint("add it to the fetches");
  }
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(results_, fetch->name, &std::pair<std::string, Tensor>::first);
  if (found == results_.end()) return FailedPrecondition("no step has joined '", name, "'").WithHint("ask a step for results");
  step = results_step_;
  return ElementOf(found->second, named.indices);
}

}  // namespace
}  // namespace weft::capi

WEFT_HANDLE(weft_sharded, weft::capi::ShardedObject, kSharded);

using namespace weft;
using namespace weft::capi;

namespace {

struct OpenRequest {
  SessionSpec spec;
  ShardingOptions sharding;
};

Result<OpenRequest> ReadRequest(const weft_sharded_options* options, const PageObject& page, Diagnostics& found) {
  weft_sharded_options known = WEFT_SHARDED_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_sharded_options"));
  if (known.shards < 1 || known.shards > 65536) return InvalidArgument("needs 1 to 65536 shards, found ", known.shards).WithPort("shards");
  if (known.reduce != WEFT_SHARDS_MEAN && known.reduce != WEFT_SHARDS_SUM) {
    return InvalidArgument("needs WEFT_SHARDS_MEAN or WEFT_SHARDS_SUM, found ", known.reduce).WithPort("reduce");
  }
  OpenRequest request;
  request.sharding.shards = known.shards;
  request.sharding.sum = known.reduce == WEFT_SHARDS_SUM;
  request.sharding.feeds_later = true;
  if (known.settings != nullptr) request.sharding.settings = known.settings;
  WEFT_ASSIGN_OR_RETURN(request.sharding.cut, ReadTexts(known.cut, known.cut_count, "cut"));
  WEFT_ASSIGN_OR_RETURN(request.sharding.whole, ReadTexts(known.whole, known.whole_count, "whole"));
  SessionRequest session;
  if (known.session != nullptr) session.session = known.session;
  WEFT_ASSIGN_OR_RETURN(session.fetches, ReadTexts(known.fetches, known.fetch_count, "fetches"));
  WEFT_ASSIGN_OR_RETURN(session.operations, ReadTexts(known.operations, known.operation_count, "operations"));
  Result<SessionSpec> spec = ChooseSession(*page.scope->revision()->graph, session);
  if (!spec.ok() && spec.status().code() == Code::kFailedPrecondition) {
    // Where what is asked for has no value, the faults of the page say why.
    found.Error(Status(spec.status()).WithPhase(Phase::kConnect));
    found.Append(page.document->diagnostics());
  }
  if (!spec.ok()) return std::move(spec).status();
  request.spec = std::move(*spec);
  return request;
}

/// Calls use(ShardedObject&) -> Status.
template <class Use>
weft_status WithRun(weft_sharded* run, weft_diagnostics** problems, Use use) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(run));
    return use(*object);
  });
}

Status NeedPath(const char* path, std::string_view what) {
  WEFT_RETURN_IF_ERROR(NeedPointer(path, what));
  return *path != '\0' ? Status() : InvalidArgument("needs a name, found an empty text").WithPort(what);
}

}  // namespace

weft_status weft_sharded_open(weft_page* page, const weft_sharded_options* options, weft_sharded** run, weft_diagnostics** problems) {
  Diagnostics found;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(run, "run"));
    *run = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    const std::shared_ptr<Collectives>& all = object->runtime->job->collectives();
    Result<OpenRequest> request = ReadRequest(options, *object, found);
    const Status own = request.ok() ? Status() : request.status();
    if (Status agreed = AgreeOnStatus(*all, CollectiveUser::kControl, own, "for the pages of all ranks"); !agreed.ok()) {
      return found.has_errors() ? Status() : agreed;
    }
    std::vector<SessionSpec::Fetch> fetches = request->spec.fetches;
    const int shards = request->sharding.shards;
    WEFT_ASSIGN_OR_RETURN(auto made, ShardedRun::Open(object->scope, std::move(request->spec), std::move(request->sharding), all));
    return Give(std::make_shared<ShardedObject>(std::move(object), std::move(fetches), shards, std::move(made)), run);
  });
  return status == WEFT_OK && found.has_errors() ? ReportAll(found, problems) : status;
}

weft_status weft_sharded_close(weft_sharded* run) {
  return Guard(nullptr, [&]() -> Status {
    if (run == nullptr) return {};
    WEFT_ASSIGN_OR_RETURN(auto object, Find(run));
    if (object->on_running_thread()) return FailedPrecondition("a thread that steps cannot wait for the end of the step");
    WEFT_RETURN_IF_ERROR(Close(run).status());
    object->End();
    return {};
  });
}

weft_status weft_sharded_feed(weft_sharded* run, const char* name, const weft_buffer* value, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_RETURN_IF_ERROR(NeedPointer(value, "value"));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, CopyBuffer(value, object.page->scope->budget()));
    return object.run->Feed(name, std::move(tensor));
  });
}

weft_status weft_sharded_step(weft_sharded* run, int32_t results, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) { return object.Step(results != 0); });
}

weft_status weft_sharded_cancel(weft_sharded* run, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    object.run->Cancel();
    return {};
  });
}

weft_status weft_sharded_get_info(weft_sharded* run, weft_sharded_info* info, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(FillStruct(weft_sharded_info WEFT_SHARDED_INFO_INIT, info, "weft_sharded_info"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(run));
    return FillStruct(object->Info(), info, "weft_sharded_info");
  });
}

weft_status weft_sharded_where(weft_sharded* run, weft_strings** text, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(text, "text"));
    *text = nullptr;
    return GiveText(object.run->where(), text);
  });
}

weft_status weft_sharded_progress(weft_sharded* run, weft_sharded_times* times, double* compute_ms, size_t capacity, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    weft_sharded_times filled = WEFT_SHARDED_TIMES_INIT;
    WEFT_RETURN_IF_ERROR(FillStruct(filled, times, "weft_sharded_times"));
    if (capacity > 0) WEFT_RETURN_IF_ERROR(NeedPointer(compute_ms, "compute_ms"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(run));
    ShardedProgress progress;
    WEFT_RETURN_IF_ERROR(object->InTurn([&]() -> Status {
      WEFT_ASSIGN_OR_RETURN(progress, object->run->Progress());
      return {};
    }));
    std::copy_n(progress.compute_ms.begin(), std::min(capacity, progress.compute_ms.size()), compute_ms);
    filled.ranks = static_cast<int32_t>(progress.compute_ms.size());
    filled.slowest = progress.slowest();
    filled.steps = progress.steps;
    filled.step_ms = progress.step_ms;
    return FillStruct(filled, times, "weft_sharded_times");
  });
}

weft_status weft_sharded_results(weft_sharded* run, weft_strings** names, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(names, "names"));
    *names = nullptr;
    return GiveTexts(object.Names(), names);
  });
}

weft_status weft_sharded_view(weft_sharded* run, const char* name, weft_view** view, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(view, "view"));
    *view = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    uint64_t step = 0;
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, object.Find(name, step));
    return GiveView(std::move(tensor), step, false, view);
  });
}

weft_status weft_sharded_save(weft_sharded* run, const char* path, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPath(path, "path"));
    return object.InTurn([&] { return object.run->SaveSnapshot(path); });
  });
}

weft_status weft_sharded_load(weft_sharded* run, const char* path, weft_diagnostics** problems) {
  Diagnostics found;
  const weft_status status = WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPath(path, "path"));
    const Status loaded = object.InLastTurn(false, [&] { return object.run->LoadSnapshot(path, found); });
    return found.has_errors() ? Status() : loaded;
  });
  return status == WEFT_OK && found.has_errors() ? ReportAll(found, problems) : status;
}

weft_status weft_sharded_save_newest(weft_sharded* run, const char* folder, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPath(folder, "folder"));
    return object.InTurn([&] { return object.run->SaveNewest(SnapshotFolder(folder)); });
  });
}

weft_status weft_sharded_resume(weft_sharded* run, const char* folder, weft_strings** path, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](ShardedObject& object) -> Status {
    if (path != nullptr) *path = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPath(folder, "folder"));
    std::string taken;
    WEFT_RETURN_IF_ERROR(object.InLastTurn(false, [&]() -> Status {
      WEFT_ASSIGN_OR_RETURN(taken, object.run->RestoreNewest(SnapshotFolder(folder)));
      return {};
    }));
    return path == nullptr ? Status() : GiveText(std::move(taken), path);
  });
}
