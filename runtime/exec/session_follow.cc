// Sessions of a page that was edited: what they ask for, in terms of the page as it is now.
#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/exec/executor.h"
#include "runtime/plan/id_map.h"

namespace weft {
namespace {

bool IsDefault(const SessionSpec& spec) { return spec.node < 0 && !spec.by_name && spec.id == "default"; }

/// The session of a ClientSession block; null where the block is none. They are in page order.
const SessionSpec* SessionAt(const Graph& graph, int block) {
  const auto at = std::ranges::lower_bound(graph.sessions(), block, {}, &SessionSpec::node);
  return at != graph.sessions().end() && at->node == block ? &*at : nullptr;
}

/// A session of the page, or the default one, as the edited page describes it; what a host asked for, found again.
class Follower {
 public:
  Follower(const Executor& executor, const Graph& to, const SessionSpec& spec)
      : from_(*executor.revision()->graph), to_(to), spec_(spec), id_map_(from_, to, BlocksIn(executor.named_blocks(), to)) {}

  Result<SessionSpec> Follow() {
    SessionSpec made;
    if (spec_.node >= 0) {
      WEFT_RETURN_IF_ERROR(FromPage(made));
    } else if (IsDefault(spec_)) {
      made = to_.DefaultSession();
    } else {
      WEFT_RETURN_IF_ERROR(FromHost(made));
    }
    WEFT_RETURN_IF_ERROR(AddFeeds(made));
    return made;
  }

 private:
  static std::vector<std::pair<int, int>> BlocksIn(const Executor::NamedBlocks& named, const Graph& to) {
    std::vector<std::pair<int, int>> blocks;
    for (const auto& [block, kept] : named) blocks.emplace_back(block, kept.In(to));
    return blocks;
  }

  Status FromPage(SessionSpec& made) const {
    const int block = id_map_.Block(spec_.node);
    if (const SessionSpec* session = SessionAt(to_, block)) {
      made = *session;
      made.by_name = spec_.by_name;
      return {};
    }
    return NotFound("the session '", spec_.id, "' is not on the page any more").WithPage(to_.name()).WithBlock(spec_.id);
  }

  Status FromHost(SessionSpec& made) const {
    made.id = spec_.id;
    made.loop = spec_.loop;
    made.by_name = spec_.by_name;
    for (const SessionSpec::Fetch& fetch : spec_.fetches) {
      // The name may be one of the host's own, and that of a gradient is not its block's.
      SessionSpec::Fetch now{fetch.name, id_map_.Value(fetch.value)};
      if (auto before = from_.FindValue(fetch.name); before.ok() && *before == fetch.value) {
        now.name = id_map_.Name(fetch.name);
        WEFT_ASSIGN_OR_RETURN(now.value, Found(now.name));
      }
      if (!now.value.valid()) return Gone("fetches", fetch.name);
      made.fetches.push_back(std::move(now));
    }
    for (int node : spec_.run) {
      const int block = id_map_.Block(node);
      if (block < 0) return Gone("runs", from_.node(node).id);
      made.run.push_back(block);
    }
    return {};
  }

  // What a host feeds; what the page itself feeds comes from there.
  Status AddFeeds(SessionSpec& made) const {
    const auto by_page = FedByPage();
    for (const SessionSpec::Feed& feed : spec_.feeds) {
      if (by_page.contains(KeyOf(feed))) continue;
      const ValueRef value = id_map_.Value(feed.value);
      if (!value.valid()) continue;  // there is nothing to replace any more
      if (to_.TypeOf(value) != feed.tensor.dtype()) {
        return InvalidArgument("the feed of '", to_.ValueName(value), "' needs ", to_.TypeOf(value), ", found ", feed.tensor.dtype())
            .WithPage(to_.name())
            .WithBlock(to_.node(value.node).id)
            .WithHint("an edit changed the type: feed another value");
      }
      auto same = std::find_if(made.feeds.begin(), made.feeds.end(), [&](const SessionSpec::Feed& f) { return f.value == value; });
      if (same == made.feeds.end()) made.feeds.push_back({value, feed.tensor});
      else same->tensor = feed.tensor;
    }
    return {};
  }

  // What the page itself feeds: node, output, and where the elements are.
  std::set<std::tuple<int, int, const void*>> FedByPage() const {
    std::set<std::tuple<int, int, const void*>> fed;
    const SessionSpec* session = SessionAt(from_, spec_.node);
    for (size_t f = 0; session != nullptr && f < session->feeds.size(); ++f) fed.insert(KeyOf(session->feeds[f]));
    return fed;
  }
  static std::tuple<int, int, const void*> KeyOf(const SessionSpec::Feed& feed) { return {feed.value.node, feed.value.output, feed.tensor.data()}; }

  Result<ValueRef> Found(const std::string& name) const {
    auto value = to_.FindValue(name);
    if (value.ok()) return value;
    return Status(value.status()).WithPage(to_.name()).WithHint("the session fetches it; an edit changed the page");
  }

  Status Gone(std::string_view does, std::string_view name) const {
    return NotFound("the session '", spec_.id, "' ", does, " '", name, "', which is not on the page any more").WithPage(to_.name());
  }

  const Graph& from_;
  const Graph& to_;
  const SessionSpec& spec_;
  const IdMap id_map_;
};

}  // namespace

void Executor::KeepBlocks() {
  const Graph& graph = *revision_->graph;
  std::set<int> blocks;
  if (spec_.node >= 0) {
    blocks.insert(spec_.node);
  } else if (!IsDefault(spec_)) {
    blocks.insert(spec_.run.begin(), spec_.run.end());
    for (const SessionSpec::Fetch& fetch : spec_.fetches) {
      blocks.insert(fetch.value.node);
      if (const Result<Wire> wire = ParseWire(fetch.name); wire.ok()) blocks.insert(graph.IndexOf(wire->block));
    }
  }
  NamedBlocks named;
  for (int block : blocks) {
    const bool on_page = block >= 0 && block < static_cast<int>(graph.page().blocks.size());
    if (on_page) named.emplace_back(block, scope_.kept_blocks().Keep(graph, block));
  }
  named_blocks_ = std::move(named);
}

Status Session::CheckAsked() const { return CheckSpec(*executor_->revision(), *spec_); }

Diagnostics Session::faults() const {
  std::lock_guard lock(executor_mutex_);
  return faults_;
}

Status Session::Follow() {
  if (followed_ == scope_->edits()) return {};
  Diagnostics ignored;
  return FollowTo(ignored);
}

// `found` gets the faults, or what planning warns of.
Status Session::FollowTo(Diagnostics& found) {
  std::shared_ptr<Revision> revision = scope_->revision();
  if (revision->number == followed_) {
    if (outdated_page()) found.Append(faults());
    return {};
  }
  if (revision == executor_->revision()) {
    followed_ = revision->number;
    return {};
  }
  const uint64_t number = revision->number;
  followed_.reset();  // also where there is no memory to follow: the next run tries again
  Diagnostics planning;
  Status fault = Take(std::move(revision), planning);
  followed_ = number;
  planning.SetPhase(Phase::kConnect);  // those of planning say so
  found.Append(planning);
  if (fault.ok()) return {};
  if (fault.code() == Code::kCancelled) {  // no fault of the page: the next run tries again
    followed_.reset();
    return fault;
  }
  const bool goes_on = runs() > 0 && executor_->plan() != nullptr && CheckAsked().ok();
  if (!goes_on) followed_.reset();
  {
    std::lock_guard lock(executor_mutex_);
    faults_ = std::move(planning);
  }
  outdated_page_.store(goes_on, std::memory_order_release);
  return goes_on ? Status() : fault;
}

// Plans what the session asks for in another revision. Where that fails, the first fault, and all of them in `found`.
Status Session::Take(std::shared_ptr<Revision> revision, Diagnostics& found) {
  Result<SessionSpec> followed = Follower(*executor_, *revision->graph, *spec_).Follow();
  Status fault;
  if (!followed.ok()) {
    const bool faulty = followed.status().code() == Code::kFailedPrecondition;  // what it asks for is there, and has errors
    fault = std::move(followed).status().WithCause(faulty ? revision->found.FirstError() : Status());
  } else {
    fault = CheckSpec(*revision, *followed);
  }
  if (!fault.ok()) {
    found.Error(fault);
    return fault;
  }
  auto spec = std::make_unique<SessionSpec>(std::move(*followed));  // outlives the executor that refers to it
  auto next = std::make_unique<Executor>(*scope_, std::move(revision), *spec, keep_, cancelled_);
  next->Prepare(found);
  if (found.has_errors()) return found.FirstError();
  next->KeepBlocks();
  std::lock_guard lock(executor_mutex_);
  next->results().TakeOver(executor_->results());
  executor_.swap(next);
  spec_.swap(spec);
  faults_ = Diagnostics();
  outdated_page_.store(false, std::memory_order_release);
  return {};
}

}  // namespace weft
