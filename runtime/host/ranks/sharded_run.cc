#include "weft/host/sharded_run.h"

#include <algorithm>

#include "runtime/host/ranks/fingerprint.h"
#include "runtime/host/ranks/shard_start.h"
#include "runtime/host/ranks/sharded_parts.h"

namespace weft {
namespace {

Status CheckRanks(const SessionSpec& spec, int shards, int ranks) {
  if (shards < 1) return InvalidArgument("needs one shard or more, found ", shards);
  if (spec.loop) return Unsupported("the session '", spec.id, "' loops, and sessions that loop are not cut into shards").WithHint("give the number of steps");
  if (ranks <= shards) return {};
  return InvalidArgument(shards, " shards cannot be shared out to ", ranks, " ranks").WithHint("give at least as many shards as ranks");
}

// What all ranks compute alike must draw the same numbers on all.
Status CheckSeeds(const Graph& graph, const ShardParts& divided, int ranks) {
  if (ranks == 1 || divided.unseeded.empty()) return {};
  return PlaceAtNode(graph, divided.unseeded.front(),
                     InvalidArgument("draws other numbers on every rank, and all need the same").WithPort("seed").WithHint("give it a seed"));
}

}  // namespace

// ---- opening ---------------------------------------------------------------------------------------------------------------------------

ShardedRun::Parts::Parts(std::shared_ptr<Scope> of, SessionSpec spec, ShardingOptions how, std::shared_ptr<Collectives> with)
    : scope(std::move(of)),
      options(std::move(how)),
      collectives(std::move(with)),
      own(ShardTree(std::max(options.shards, 1), collectives->size()).Of(collectives->rank())),
      spec_(std::move(spec)),
      feeds_(scope->revision()->graph, spec_),
      sessions_(scope),
      rows_(divided_, scope, options.shards, own),
      join_(divided_, rows_, options, *collectives, ShardTree(std::max(options.shards, 1), collectives->size()), sessions_.cancelled()),
      snapshots_(scope, *collectives, sessions_, join_) {}

ShardedRun::Parts::~Parts() { Close(); }

void ShardedRun::Parts::Close() {
  if (std::exchange(holds_states_, false)) states_->Close();
  snapshots_.Close();
}

Status ShardedRun::Parts::Open() {
  WEFT_RETURN_IF_ERROR(AgreeOnFingerprints(*collectives, FingerprintOf(scope->graph(), spec_, options)));
  const auto prepare = [&]() -> Status {
    WEFT_RETURN_IF_ERROR(CheckRanks(spec_, options.shards, collectives->size()));
    WEFT_ASSIGN_OR_RETURN(states_, ShardStates::Of(*scope));
    WEFT_RETURN_IF_ERROR(states_->Open(options.shards));
    holds_states_ = true;
    snapshots_.Use(states_);
    return {};
  };
  WEFT_RETURN_IF_ERROR(Agree(prepare(), "for the sessions of all ranks"));
  if (!options.feeds_later) WEFT_RETURN_IF_ERROR(DivideByFeeds());
  SessionSpec nothing;
  nothing.id = "the start of the variables";
  const Status status = sessions_.RunOnce(nothing, steps() + 1, "the start of its variables");
  WEFT_RETURN_IF_ERROR(AgreeOnStatus(*collectives, CollectiveUser::kControl, status, "for the start of all ranks' variables"));
  if (collectives->size() == 1) return {};
  Status taken;
  WEFT_RETURN_IF_ERROR(TakeFirstValues(*scope, *collectives, taken));
  return Agree(taken, "for the first values of all ranks' variables");
}

// What is fed by now decides what is cut.
Status ShardedRun::Parts::DivideByFeeds() {
  feeds_.TakeFirst();
  const Status alike = AgreeOnFingerprints(*collectives, {FingerprintOfFeeds(scope->graph(), spec_)});
  all_failed_ = !alike.ok();
  WEFT_RETURN_IF_ERROR(alike);
  const auto divide = [&]() -> Status {
    WEFT_RETURN_IF_ERROR(Divide());
    return sessions_.Make(divided_);
  };
  WEFT_RETURN_IF_ERROR(Agree(divide(), "for the sessions of all ranks"));
  has_divided_ = true;
  feeds_.NoteCut(divided_);
  return {};
}

// From here on the failure is that of all.
Status ShardedRun::Parts::Agree(const Status& own, std::string_view what) {
  Status status = AgreeOnStatus(*collectives, CollectiveUser::kControl, own, what);
  all_failed_ = !status.ok();
  return status;
}

Status ShardedRun::Parts::Divide() {
  WEFT_ASSIGN_OR_RETURN(divided_, DivideSession(scope->graph(), spec_, options, scalars_));
  join_.Forget();
  rows_.Forget();
  checked_.clear();
  return CheckSeeds(scope->graph(), divided_, collectives->size());
}

// ---- a step ----------------------------------------------------------------------------------------------------------------------------

Status ShardedRun::Parts::Step(bool results) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  all_failed_ = false;
  if (!has_divided_) WEFT_RETURN_IF_ERROR(DivideByFeeds());
  Status status = feeds_.Take(sessions_);
  if (status.ok()) status = TakeBatch();
  // What is wrong with the page is told once, and by all together.
  if (!join_.made()) status = Agree(status, "for the first batch of all ranks");
  WEFT_RETURN_IF_ERROR(status);
  WEFT_RETURN_IF_ERROR(RunShards(results));
  computed_ += Clock::now() - start;
  sessions_.Announce(steps() + 1, "waiting for the other ranks' values");
  WEFT_RETURN_IF_ERROR(join_.Finish(results));
  WEFT_RETURN_IF_ERROR(RunAfter());
  if (results) WEFT_RETURN_IF_ERROR(TakeResults());
  ++states_->steps;
  ++timed_;
  stepped_ += Clock::now() - start;
  return {};
}

Status ShardedRun::Parts::TakeBatch() {
  WEFT_ASSIGN_OR_RETURN(const std::vector<SessionSpec::Feed> read, RunBefore());
  WEFT_RETURN_IF_ERROR(rows_.Take(spec_, feeds_.anew(), read));
  feeds_.Used();
  std::vector<Shape> shapes;
  for (const Tensor& whole : rows_.whole()) shapes.push_back(whole.shape());
  if (shapes == checked_) return {};
  WEFT_ASSIGN_OR_RETURN(const ShardPlans plans, PlanShards(*scope, divided_, rows_.whole(), options.shards));
  join_.Learn(plans);
  checked_ = std::move(shapes);
  return {};
}

// What all ranks compute alike: records, elements of queues, what the host names. Gives the sources that it has read.
Result<std::vector<SessionSpec::Feed>> ShardedRun::Parts::RunBefore() {
  std::vector<SessionSpec::Feed> read;
  Session* const before = sessions_.before();
  if (before == nullptr) return read;
  WEFT_RETURN_IF_ERROR(sessions_.Run(*before, steps() + 1, "before its shards"));
  const size_t known = scalars_.size();
  for (const ShardSource& source : divided_.sources) {
    if (source.fed >= 0) continue;
    WEFT_ASSIGN_OR_RETURN(ResultValue value, before->Get(source.value));
    // (Once it is settled how values are joined, ShardRows refuses them.)
    const bool tells = !join_.made() && !source.whole && !source.named;
    if (tells && value.tensor.shape().rank() == 0) scalars_.push_back(source.value);
    read.push_back({source.value, std::move(value.tensor)});
  }
  if (scalars_.size() > known) WEFT_RETURN_IF_ERROR(DivideAnew(read));
  return read;
}

// Sources without rows are the same for all shards, and what only they lead to is not joined. The batch that was read stays; what has become a
// part of what is run before the shards has not been run for it yet.
Status ShardedRun::Parts::DivideAnew(const std::vector<SessionSpec::Feed>& read) {
  const std::vector<int> ran = divided_.before.run;
  WEFT_RETURN_IF_ERROR(Divide());
  WEFT_RETURN_IF_ERROR(sessions_.Make(divided_));
  SessionSpec rest = divided_.before;
  rest.fetches.clear();
  std::erase_if(rest.run, [&](int node) { return std::ranges::find(ran, node) != ran.end(); });
  if (rest.run.empty()) return {};
  rest.feeds.insert(rest.feeds.end(), read.begin(), read.end());
  return sessions_.RunOnce(std::move(rest), steps() + 1, "before its shards");
}

// Where only a run tells shapes, one with the rows of two shards does. What it draws is drawn again.
Status ShardedRun::Parts::LookAtShapes() {
  if (join_.KnowsAll() || options.shards < 2) return {};
  ShardStates::Turn turn(*states_, *scope, own.begin, divided_.streams);
  WEFT_RETURN_IF_ERROR(turn.Begin());
  Session& shard = sessions_.shard();
  for (size_t s = 0; s < divided_.sources.size(); ++s) {
    Tensor rows = rows_.whole()[s];
    if (!divided_.sources[s].whole) {
      WEFT_ASSIGN_OR_RETURN(rows, rows_.Cut(s, 0, 2));
    }
    WEFT_RETURN_IF_ERROR(shard.Feed(divided_.sources[s].value, std::move(rows)));
  }
  // (A page that takes no other number of rows than a shard's is a page all the same.)
  if (!sessions_.Run(shard, steps() + 1, "a look at the shapes of two shards").ok()) return {};
  for (size_t v = 0; v < divided_.values.size(); ++v) {
    if (auto value = shard.Get(divided_.values[v].value); value.ok()) join_.LearnFromTwo(v, value->tensor.shape());
  }
  return {};
}

Status ShardedRun::Parts::RunShards(bool results) {
  if (!join_.made()) WEFT_RETURN_IF_ERROR(LookAtShapes());
  join_.Begin();
  for (int shard = own.begin; shard < own.end; ++shard) {
    std::optional<ShardStates::Turn> turn;
    if (!divided_.streams.empty()) WEFT_RETURN_IF_ERROR(turn.emplace(*states_, *scope, shard, divided_.streams).Begin());
    const Status status = RunShard(shard, results);
    if (turn) WEFT_RETURN_IF_ERROR(turn->Keep());
    if (!status.ok()) return Retold(status, Cat("shard ", shard, ": ", status.message()), status.hint());
  }
  return {};
}

Status ShardedRun::Parts::RunShard(int shard, bool results) {
  Session& session = sessions_.shard();
  for (size_t s = 0; s < divided_.sources.size(); ++s) WEFT_RETURN_IF_ERROR(session.Feed(divided_.sources[s].value, rows_.Of(s, shard)));
  std::vector<char> taken(divided_.values.size(), 0);
  ShardWatch::Take take;
  if (join_.made() && shard + 1 == own.end) {
    take = [&](size_t value, const Tensor& tensor) {
      if (!join_.Adds(value)) return Status();
      taken[value] = 1;
      return join_.Take(value, shard, tensor);
    };
  }
  WEFT_RETURN_IF_ERROR(sessions_.Run(session, steps() + 1, Cat("shard ", shard), std::move(take)));
  if (!join_.made()) {  // the values of the first shard say how those of all are joined
    WEFT_RETURN_IF_ERROR(Agree(join_.Make(session, scope->budget()), "for the values that are joined"));
    WEFT_RETURN_IF_ERROR(join_.AgreeOnValues());
    join_.Begin();
    sessions_.Announce(steps() + 1, Cat("shard ", shard));
  }
  for (size_t v = 0; v < taken.size(); ++v) {
    if (taken[v] != 0 || !join_.Needs(v, results)) continue;
    WEFT_ASSIGN_OR_RETURN(ResultValue value, session.Get(divided_.values[v].value));
    WEFT_RETURN_IF_ERROR(join_.Take(v, shard, value.tensor));
  }
  return {};
}

Status ShardedRun::Parts::RunAfter() {
  Session* const after = sessions_.after();
  if (after == nullptr) return {};
  for (size_t v = 0; v < divided_.values.size(); ++v) {
    if (divided_.values[v].read_after) WEFT_RETURN_IF_ERROR(after->Feed(divided_.values[v].value, join_.value(v)));
  }
  for (size_t s = 0; s < divided_.sources.size(); ++s) WEFT_RETURN_IF_ERROR(after->Feed(divided_.sources[s].value, rows_.whole()[s]));
  return sessions_.Run(*after, steps() + 1, "the updates after its shards");
}

// The host may keep them: what lies where the next step writes is copied.
Status ShardedRun::Parts::TakeResults() {
  results_.clear();
  for (const ShardParts::Fetch& fetch : divided_.fetches) {
    Tensor value;
    if (fetch.joined >= 0) {
      value = join_.value(static_cast<size_t>(fetch.joined));
    } else {
      auto computed = sessions_.after()->Get(fetch.value);
      if (!computed.ok()) continue;  // a Switch left it out
      value = std::move(computed->tensor);
    }
    if (join_.Writes(value)) {
      WEFT_ASSIGN_OR_RETURN(value, value.Clone(scope->budget()));
    }
    results_.emplace_back(fetch.name, std::move(value));
  }
  return {};
}

// ---- between steps ---------------------------------------------------------------------------------------------------------------------

Result<ShardedProgress> ShardedRun::Parts::Progress() {
  const auto mean = [&](std::chrono::nanoseconds time) { return timed_ == 0 ? 0.0 : static_cast<double>(time.count()) / 1e6 / static_cast<double>(timed_); };
  const double own = mean(computed_);
  ShardedProgress progress;
  progress.steps = steps();
  progress.step_ms = mean(stepped_);
  timed_ = 0;
  computed_ = stepped_ = {};
  const std::string_view bytes(reinterpret_cast<const char*>(&own), sizeof own);
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(*collectives, CollectiveUser::kControl, bytes, "for the times of all ranks"));
  for (const std::string& time : all) {
    double& of_rank = progress.compute_ms.emplace_back();
    if (time.size() == sizeof of_rank) std::copy_n(time.data(), sizeof of_rank, reinterpret_cast<char*>(&of_rank));
  }
  return progress;
}

Status ShardedRun::Parts::Load(const std::string& path, Diagnostics& problems, const RestoreOptions& how) {
  all_failed_ = false;
  const Status status = snapshots_.Load(path, problems, how);
  all_failed_ = !status.ok() && !snapshots_.failed_alone();
  return status;
}

Result<std::string> ShardedRun::Parts::RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say) {
  all_failed_ = false;
  auto path = snapshots_.RestoreNewest(folder, say);
  all_failed_ = !path.ok() && !snapshots_.failed_alone();
  return path;
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

Status ShardedRun::Feed(std::string_view name, Tensor value) { return parts_->feeds().Feed(name, std::move(value)); }
std::pair<int, int> ShardedRun::shards() const { return {parts_->own.begin, parts_->own.end}; }
bool ShardedRun::all_failed() const { return parts_->all_failed(); }
Status ShardedRun::Step(bool results) { return parts_->Step(results); }
const std::vector<std::pair<std::string, Tensor>>& ShardedRun::results() const { return parts_->results(); }
uint64_t ShardedRun::steps() const { return parts_->steps(); }
Result<ShardedProgress> ShardedRun::Progress() { return parts_->Progress(); }
std::string ShardedRun::where() const { return parts_->sessions().where(); }
std::pair<uint64_t, uint64_t> ShardedRun::early_buckets() const { return parts_->join().early_buckets(); }
void ShardedRun::Close() { parts_->Close(); }
void ShardedRun::Cancel() { parts_->sessions().Cancel(); }
Status ShardedRun::SaveSnapshot(const std::string& path) { return parts_->snapshots().Save(path); }
Status ShardedRun::LoadSnapshot(const std::string& path, Diagnostics& problems, const RestoreOptions& options) {
  return parts_->Load(path, problems, options);
}
Status ShardedRun::SaveNewest(const SnapshotFolder& folder) { return parts_->snapshots().SaveNewest(folder); }
Result<std::string> ShardedRun::RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say) {
  return parts_->RestoreNewest(folder, say);
}

}  // namespace weft
