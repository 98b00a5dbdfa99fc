#include "weft/host/sharded_run.h"

#include <algorithm>

#include "runtime/host/ranks/fingerprint.h"
#include "runtime/host/ranks/sharded_parts.h"
#include "runtime/state/variable_store.h"

namespace weft {

// ---- the watch -------------------------------------------------------------------------------------------------------------------------

void ShardWatch::Announce(uint64_t step, std::string doing, Take take) {
  take_ = std::move(take);
  std::lock_guard lock(mutex_);
  step_ = step;
  doing_ = std::move(doing);
}

Status ShardWatch::OnRunStart(uint64_t /*run*/, RunView& view) {
  starting_ = &view;
  return {};
}

void ShardWatch::OnRunBegin(uint64_t /*run*/, size_t /*steps*/) {
  std::lock_guard lock(mutex_);
  view_ = starting_;
}

void ShardWatch::OnRunEnd(uint64_t /*run*/, const Status& /*status*/) {
  std::lock_guard lock(mutex_);
  view_ = nullptr;
}

std::string ShardWatch::where() const {
  std::lock_guard lock(mutex_);
  std::string text = step_ == 0 ? doing_ : Cat("step ", step_, ", ", doing_);
  const int node = view_ == nullptr ? -1 : view_->current();
  if (node >= 0) text += Cat(", block '", view_->graph()->node(node).id, "'");
  return text;
}

Status Retold(const Status& fault, std::string message, std::string_view hint) {
  const Place& place = fault.place();
  return Status(fault.code(), std::move(message)).WithHint(hint).WithPage(place.page).WithPointer(place.pointer).WithBlock(place.block).WithPort(place.port);
}

// ---- opening ---------------------------------------------------------------------------------------------------------------------------

ShardedRun::Parts::Parts(std::shared_ptr<Scope> scope, SessionSpec spec, ShardingOptions options, std::shared_ptr<Collectives> collectives)
    : scope_(std::move(scope)),
      spec_(std::move(spec)),
      options_(std::move(options)),
      collectives_(std::move(collectives)),
      tree_(std::max(options_.shards, 1), collectives_->size()),
      own_(tree_.Of(collectives_->rank())),
      graph_(scope_->revision()->graph) {}

Status ShardedRun::Parts::CheckRanks() const {
  if (options_.shards < 1) return InvalidArgument("needs one shard or more, found ", options_.shards);
  if (spec_.loop) return Unsupported("the session '", spec_.id, "' loops, and sessions that loop are not cut into shards").WithHint("give the number of steps");
  if (collectives_->size() <= options_.shards) return {};
  return InvalidArgument(options_.shards, " shards cannot be shared out to ", collectives_->size(), " ranks").WithHint("give at least as many shards as ranks");
}

// What all ranks compute alike must draw the same numbers on all.
Status ShardedRun::Parts::CheckSeeds() const {
  if (collectives_->size() == 1 || divided_.unseeded.empty()) return {};
  const int node = divided_.unseeded.front();
  return PlaceAtNode(*graph_, node, InvalidArgument("draws other numbers on every rank, and all need the same").WithPort("seed").WithHint("give it a seed"));
}

Status ShardedRun::Parts::Open() {
  WEFT_RETURN_IF_ERROR(AgreeOnFingerprints(*collectives_, FingerprintOf(*graph_, spec_, options_)));
  const auto prepare = [&]() -> Status {
    WEFT_RETURN_IF_ERROR(CheckRanks());
    WEFT_ASSIGN_OR_RETURN(states_, ShardStates::Of(*scope_));
    if (states_->shards == options_.shards) steps_ = states_->steps;
    states_->shards = options_.shards;
    return {};
  };
  WEFT_RETURN_IF_ERROR(Agree(prepare(), "for the sessions of all ranks"));
  if (!options_.feeds_later) WEFT_RETURN_IF_ERROR(Divide());
  return StartVariables();
}

// What is fed by now decides what is cut.
Status ShardedRun::Parts::Divide() {
  all_failed_ = true;  // where it fails
  TakeFirstFeeds();
  WEFT_RETURN_IF_ERROR(AgreeOnFingerprints(*collectives_, {FingerprintOfFeeds(*graph_, spec_)}));
  const auto divide = [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(divided_, DivideSession(*graph_, spec_, options_, scalars_));
    WEFT_RETURN_IF_ERROR(CheckSeeds());
    return MakeSessions({});
  };
  WEFT_RETURN_IF_ERROR(Agree(divide(), "for the sessions of all ranks"));
  has_divided_ = true;
  std::lock_guard lock(feed_mutex_);
  for (const ShardSource& source : divided_.sources) {
    if (source.fed >= 0) (*fed_)[static_cast<size_t>(source.fed)].cut = !source.whole;
  }
  return {};
}

// From here on the failure is that of all.
Status ShardedRun::Parts::Agree(const Status& own, std::string_view what) {
  Status status = AgreeOnStatus(*collectives_, CollectiveUser::kControl, own, what);
  all_failed_ = !status.ok();
  return status;
}

Status ShardedRun::Parts::MakeSessions(const std::vector<ValueRef>& scalars) {
  if (!scalars.empty()) {
    scalars_ = scalars;
    WEFT_ASSIGN_OR_RETURN(divided_, DivideSession(*graph_, spec_, options_, scalars_));
  }
  states_->SetKeys(divided_.streams);
  for (std::unique_ptr<Session>* session : {&before_, &shard_, &after_}) {
    if (*session != nullptr) replaced_.push_back(std::move(*session));
  }
  before_ = divided_.HasBefore() ? std::make_unique<Session>(scope_, divided_.before, Keep::kAsked) : nullptr;
  shard_ = std::make_unique<Session>(scope_, divided_.shard, Keep::kAsked);
  after_ = divided_.HasAfter() ? std::make_unique<Session>(scope_, divided_.after, Keep::kAsked) : nullptr;
  for (Session* session : {before_.get(), shard_.get(), after_.get()}) {
    if (session != nullptr) WEFT_RETURN_IF_ERROR(session->CheckAsked());
  }
  joined_.assign(divided_.values.size(), {});
  return {};
}

// All ranks take the values of rank 0, so that what is drawn without a seed is alike, too.
Status ShardedRun::Parts::StartVariables() {
  SessionSpec nothing;
  nothing.id = "the start of the variables";
  Session start(scope_, nothing, Keep::kAsked);
  Status status = RunSession(start, "the start of its variables", {});
  WEFT_RETURN_IF_ERROR(AgreeOnStatus(*collectives_, CollectiveUser::kControl, status, "for the start of all ranks' variables"));
  if (collectives_->size() == 1) return {};
  const std::shared_ptr<Revision> revision = scope_->revision();
  Status taken;
  for (size_t v = 0; v < revision->variables.size(); ++v) {
    Tensor value;
    {
      const VariableAccess access(scope_->variables());
      value = revision->variables[v]->value(access);
    }
    const std::string& id = graph_->node(graph_->variables()[v]).id;
    std::string bytes;
    if (value.defined() && value.dtype() != DType::kResource) AppendElements(value, bytes);
    WEFT_RETURN_IF_ERROR(BroadcastText(*collectives_, CollectiveUser::kControl, 0, bytes, Cat("for the first value of '", id, "'")));
    if (collectives_->rank() == 0 || !value.defined() || value.dtype() == DType::kResource || !taken.ok()) continue;
    if (taken = SetFirstValue(v, value, bytes); !taken.ok()) taken = std::move(taken).WithBlock(id);
  }
  return Agree(taken, "for the first values of all ranks' variables");
}

Status ShardedRun::Parts::SetFirstValue(size_t variable, const Tensor& like, const std::string& bytes) {
  WEFT_ASSIGN_OR_RETURN(Tensor fresh, Tensor::Allocate(like.dtype(), like.shape(), scope_->budget()));
  WEFT_RETURN_IF_ERROR(ReadElements(bytes, fresh));
  VariableAccess access(scope_->variables());
  scope_->revision()->variables[variable]->Set(std::move(fresh), access);
  return {};
}

// ---- a step ----------------------------------------------------------------------------------------------------------------------------

Status ShardedRun::Parts::RunSession(Session& session, std::string doing, ShardWatch::Take take) {
  if (scope_->revision()->graph != graph_) {
    return FailedPrecondition("the page was edited since it was cut into shards").WithHint("open it for shards again");
  }
  watch_.Announce(steps_ + 1, std::move(doing), std::move(take));
  RunOptions run;
  run.observer = &watch_;
  running_ = &session;  // before it is looked at: a Cancel in between is for the run that follows
  Status status = cancelled_ ? Cancelled("the run was cancelled") : session.Run(run);
  running_ = nullptr;
  return status;
}

Status ShardedRun::Parts::Step(bool results) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  all_failed_ = false;
  if (!has_divided_) WEFT_RETURN_IF_ERROR(Divide());
  all_failed_ = false;
  Status status = TakeFeeds();
  if (status.ok()) status = TakeBatch();
  // What is wrong with the page is told once, and by all together.
  if (join_ == nullptr) status = Agree(status, "for the first batch of all ranks");
  WEFT_RETURN_IF_ERROR(status);
  WEFT_RETURN_IF_ERROR(RunShards(results));
  computed_ += Clock::now() - start;
  watch_.Announce(steps_ + 1, "waiting for the other ranks' values", {});
  if (join_ != nullptr) WEFT_RETURN_IF_ERROR(join_->Finish());
  WEFT_RETURN_IF_ERROR(JoinRows(results));
  WEFT_RETURN_IF_ERROR(RunAfter());
  if (results) WEFT_RETURN_IF_ERROR(CollectResults());
  ++steps_;
  states_->steps = steps_;
  ++timed_;
  stepped_ += Clock::now() - start;
  return {};
}

Status ShardedRun::Parts::TakeBatch() {
  WEFT_RETURN_IF_ERROR(RunBefore());
  WEFT_RETURN_IF_ERROR(CutSources());
  return CheckShapes();
}

// What all ranks compute alike: records, elements of queues, what the host names.
Status ShardedRun::Parts::RunBefore() {
  if (before_ == nullptr) return {};
  WEFT_RETURN_IF_ERROR(RunSession(*before_, "before its shards", {}));
  std::vector<ValueRef> scalars = scalars_;
  for (const ShardSource& source : divided_.sources) {
    if (source.fed >= 0 || source.whole || source.named) continue;
    WEFT_ASSIGN_OR_RETURN(const ResultValue value, before_->Get(source.value));
    if (value.tensor.shape().rank() == 0) scalars.push_back(source.value);
  }
  if (scalars.size() == scalars_.size()) return {};
  // They are the same for all shards, and what only they lead to is not joined. The batch that was read stays.
  std::unique_ptr<Session> before = std::move(before_);
  WEFT_RETURN_IF_ERROR(MakeSessions(scalars));
  before_ = std::move(before);
  return {};
}

Status ShardedRun::Parts::RunShards(bool results) {
  if (join_ != nullptr) join_->Begin();
  else WEFT_RETURN_IF_ERROR(LookAtShapes());
  for (Joined& joined : joined_) joined.of_shards.clear();
  for (int shard = own_.begin; shard < own_.end; ++shard) {
    if (!divided_.streams.empty()) WEFT_RETURN_IF_ERROR(states_->Enter(*scope_, shard));
    Status status = RunShard(shard, results);
    if (!divided_.streams.empty()) WEFT_RETURN_IF_ERROR(states_->Leave(*scope_));
    if (!status.ok()) return Retold(status, Cat("shard ", shard, ": ", status.message()), status.hint());
  }
  return {};
}

Status ShardedRun::Parts::RunShard(int shard, bool results) {
  for (size_t s = 0; s < divided_.sources.size(); ++s) {
    const ShardSource& source = divided_.sources[s];
    WEFT_RETURN_IF_ERROR(shard_->Feed(source.value, source.whole ? whole_[s] : rows_[s][static_cast<size_t>(shard - own_.begin)]));
  }
  std::vector<char> taken(divided_.values.size(), 0);
  ShardWatch::Take take;
  if (join_ != nullptr && shard + 1 == own_.end) {
    take = [&](size_t value, const Tensor& tensor) {
      if (joined_[value].way != Way::kAdd) return Status();
      taken[value] = 1;
      return TakeValue(value, shard, tensor);
    };
  }
  WEFT_RETURN_IF_ERROR(RunSession(*shard_, Cat("shard ", shard), std::move(take)));
  if (join_ == nullptr) WEFT_RETURN_IF_ERROR(MakeJoin(shard));
  for (size_t v = 0; v < taken.size(); ++v) {
    if (taken[v] != 0 || (joined_[v].way == Way::kRows && !Needed(v, results))) continue;
    WEFT_ASSIGN_OR_RETURN(ResultValue value, shard_->Get(divided_.values[v].value));
    WEFT_RETURN_IF_ERROR(TakeValue(v, shard, value.tensor));
  }
  return {};
}

Status ShardedRun::Parts::TakeValue(size_t value, int shard, const Tensor& tensor) {
  Joined& joined = joined_[value];
  if (joined.way == Way::kAdd) return join_->Add(joined.index, shard, tensor);
  joined.of_shards.push_back(tensor);
  return {};
}

// The first shard has run: its values say how those of all are joined.
Status ShardedRun::Parts::MakeJoin(int shard) {
  std::vector<ValueToJoin> values;
  added_.clear();
  for (size_t v = 0; v < joined_.size(); ++v) {
    WEFT_ASSIGN_OR_RETURN(const ResultValue value, shard_->Get(divided_.values[v].value));
    joined_[v].way = WayOf(v, value.tensor);
    if (joined_[v].way != Way::kAdd) continue;
    joined_[v].index = values.size();
    added_.push_back(v);
    values.push_back({divided_.values[v].name, value.tensor.dtype(), value.tensor.shape(), options_.sum ? JoinKind::kSum : JoinKind::kMean});
  }
  auto join = std::make_unique<ValueJoin>(*collectives_, tree_, cancelled_);
  WEFT_RETURN_IF_ERROR(Agree(join->Make(values, scope_->budget()), "for the values that are joined"));
  join_ = std::move(join);
  WEFT_RETURN_IF_ERROR(AgreeOnValues());
  join_->Begin();
  watch_.Announce(steps_ + 1, Cat("shard ", shard), {});
  return {};
}

Status ShardedRun::Parts::RunAfter() {
  if (join_ != nullptr) {
    joined_buckets_ += join_->buckets();
    for (size_t v : added_) joined_[v].value = join_->result(joined_[v].index);
  }
  if (after_ == nullptr) return {};
  for (size_t v = 0; v < joined_.size(); ++v) {
    if (divided_.values[v].read_after) WEFT_RETURN_IF_ERROR(after_->Feed(divided_.values[v].value, joined_[v].value));
  }
  for (size_t s = 0; s < divided_.sources.size(); ++s) WEFT_RETURN_IF_ERROR(after_->Feed(divided_.sources[s].value, whole_[s]));
  return RunSession(*after_, "the updates after its shards", {});
}

// The next step writes the memory of what is added.
Status ShardedRun::Parts::CollectResults() {
  results_.clear();
  for (const ShardParts::Fetch& fetch : divided_.fetches) {
    if (fetch.joined >= 0) {
      const Joined& joined = joined_[static_cast<size_t>(fetch.joined)];
      WEFT_ASSIGN_OR_RETURN(Tensor own, joined.way == Way::kAdd ? joined.value.Clone(scope_->budget()) : Result<Tensor>(joined.value));
      results_.emplace_back(fetch.name, std::move(own));
    } else if (auto value = after_->Get(fetch.value); value.ok()) {
      results_.emplace_back(fetch.name, std::move(value->tensor));
    }
  }
  return {};
}

Result<ShardedProgress> ShardedRun::Parts::Progress() {
  const auto mean = [&](std::chrono::nanoseconds time) { return timed_ == 0 ? 0.0 : static_cast<double>(time.count()) / 1e6 / static_cast<double>(timed_); };
  const double own = mean(computed_);
  ShardedProgress progress;
  progress.steps = steps_;
  progress.step_ms = mean(stepped_);
  timed_ = 0;
  computed_ = stepped_ = {};
  const std::string_view bytes(reinterpret_cast<const char*>(&own), sizeof own);
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(*collectives_, CollectiveUser::kControl, bytes, "for the times of all ranks"));
  for (const std::string& time : all) {
    double& of_rank = progress.compute_ms.emplace_back();
    if (time.size() == sizeof of_rank) std::copy_n(time.data(), sizeof of_rank, reinterpret_cast<char*>(&of_rank));
  }
  return progress;
}

void ShardedRun::Parts::Cancel() {
  cancelled_ = true;
  if (Session* session = running_) session->Cancel();
}

// ---- the class -------------------------------------------------------------------------------------------------------------------------

int ShardedProgress::slowest() const { return static_cast<int>(std::ranges::max_element(compute_ms) - compute_ms.begin()); }

ShardedRun::ShardedRun(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ShardedRun::~ShardedRun() = default;

Result<std::unique_ptr<ShardedRun>> ShardedRun::Open(std::shared_ptr<Scope> scope, SessionSpec spec, ShardingOptions options,
                                                     std::shared_ptr<Collectives> collectives) {
  auto parts = std::make_unique<Parts>(std::move(scope), std::move(spec), std::move(options), std::move(collectives));
  WEFT_RETURN_IF_ERROR(parts->Open());
  return std::unique_ptr<ShardedRun>(new ShardedRun(std::move(parts)));
}

Status ShardedRun::Feed(std::string_view name, Tensor value) { return parts_->Feed(name, std::move(value)); }
bool ShardedRun::all_failed() const { return parts_->all_failed(); }
Status ShardedRun::Step(bool results) { return parts_->Step(results); }
const std::vector<std::pair<std::string, Tensor>>& ShardedRun::results() const { return parts_->results(); }
uint64_t ShardedRun::steps() const { return parts_->steps(); }
Result<ShardedProgress> ShardedRun::Progress() { return parts_->Progress(); }
std::pair<int, int> ShardedRun::shards() const { return parts_->shards(); }
std::string ShardedRun::where() const { return parts_->where(); }
std::pair<uint64_t, uint64_t> ShardedRun::early_buckets() const { return parts_->early_buckets(); }
void ShardedRun::Cancel() { parts_->Cancel(); }
Status ShardedRun::SaveSnapshot(const std::string& path) { return parts_->SaveSnapshot(path); }
Status ShardedRun::LoadSnapshot(const std::string& path, Diagnostics& problems) { return parts_->LoadSnapshot(path, problems); }
Status ShardedRun::SaveNewest(const SnapshotFolder& folder) { return parts_->SaveNewest(folder); }
Result<std::string> ShardedRun::RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say) {
  return parts_->RestoreNewest(folder, say);
}

}  // namespace weft
