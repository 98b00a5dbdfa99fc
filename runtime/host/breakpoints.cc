#include "weft/host/breakpoints.h"

#include <algorithm>

#include "runtime/host/break_condition.h"
#include "runtime/host/kept_name.h"

namespace weft {

struct Breakpoints::Breakpoint {
  BreakInfo info;  // with names as they were given
  std::optional<BreakCondition> condition;
  std::optional<KeptName> name;  // of the block, or of the value that the condition compares
  // In the graph that was compiled for.
  int node = -1;                    // whose step it comes before or after; -1: any, or none
  std::optional<NamedValue> value;  // that the condition compares
  bool at_start = false;            // compared before the first step: no step computes the value

  /// With names as the page has them now.
  BreakInfo Now() const;
  /// The value of one output, or why there is none to look at; what is found is put into words.
  bool Finds(const RunView& view, ValueRef output, BreakHit& hit) const;
};

namespace {

Status NoBreakpoint(uint64_t id) { return NotFound("there is no breakpoint ", id); }

/// Checks the parts that do not depend on a page, and gives the condition where there is one.
Result<std::optional<BreakCondition>> CheckSpec(const BreakSpec& spec) {
  if (spec.from_hit == 0) return InvalidArgument("needs a hit of 1 or more to pause from, found 0");
  if (spec.kind != BreakKind::kNotFinite && !spec.port.empty()) return InvalidArgument("only a breakpoint on NaN and infinities has a port");
  if (spec.kind != BreakKind::kCondition) {
    if (!spec.condition.empty()) return InvalidArgument("only a breakpoint on a condition has one, found '", spec.condition, "'");
    if (spec.kind == BreakKind::kBefore && spec.block.empty()) return InvalidArgument("needs the id of the block to pause before");
    if (spec.block.empty() && !spec.port.empty()) return InvalidArgument("needs the block of the port '", spec.port, "'");
    return std::optional<BreakCondition>();
  }
  if (!spec.block.empty()) return InvalidArgument("a breakpoint on a condition has no block of its own, found '", spec.block, "'");
  WEFT_ASSIGN_OR_RETURN(BreakCondition condition, ParseCondition(spec.condition));
  return std::optional<BreakCondition>(std::move(condition));
}

Status CheckPort(const Graph& graph, int node, const std::string& port) {
  const BlockDef* def = graph.node(node).def;
  if (def == nullptr || def->FindOutput(port) >= 0) return {};
  std::vector<std::string_view> names;
  for (const PortSpec& output : def->outputs) names.push_back(output.name);
  return NotFound("the block '", graph.node(node).id, "' has no output '", port, "'").WithBlock(graph.node(node).id).WithHint(DidYouMean(port, names));
}

Status CheckIn(const Graph& graph, const BreakSpec& spec, const std::optional<BreakCondition>& condition) {
  if (!spec.block.empty()) {
    WEFT_ASSIGN_OR_RETURN(const int node, graph.FindNode(spec.block));
    if (!spec.port.empty()) WEFT_RETURN_IF_ERROR(CheckPort(graph, node, spec.port));
  }
  if (!condition || condition->of_run()) return {};
  WEFT_ASSIGN_OR_RETURN(const NamedValue named, FindNamedValue(graph, condition->name));
  const DType dtype = graph.TypeOf(named.value);
  if (CanCompare(dtype)) return {};
  return InvalidArgument("needs real numbers to compare, found '", condition->name, "' of ", dtype).WithPort("condition");
}

}  // namespace

BreakInfo Breakpoints::Breakpoint::Now() const {
  BreakInfo now = info;
  if (name) (condition ? now.spec.condition : now.spec.block) = condition ? WithName(info.spec.condition, name->text()) : name->text();
  return now;
}

bool Breakpoints::Breakpoint::Finds(const RunView& view, ValueRef output, BreakHit& hit) const {
  const Graph& graph = *view.graph();
  const DType dtype = graph.TypeOf(output);
  const bool compares = condition.has_value();
  if (compares ? !CanCompare(dtype) : !CanBeNotFinite(dtype)) return false;
  auto looked = view.Peek(output);
  if (!looked.ok()) return false;
  if (compares) {
    // An index that the shape does not have is not reached by any value.
    looked = ElementOf(*looked, value->indices);
    if (!looked.ok()) return false;
  }
  const auto found = compares ? FindHolding(*condition, *looked) : FindNotFinite(*looked);
  if (!found) return false;
  const std::string name = compares ? condition->name : graph.ValueName(output);
  hit.block = graph.node(output.node).id;
  hit.port = name.substr(std::min(name.size(), name.rfind('.') + 1));
  hit.text = Cat(name, IndexText(looked->shape(), *found), " is ", ElementText(*looked, *found));
  return true;
}

Breakpoints::Breakpoints(Runner& runner) : runner_(runner) {}
Breakpoints::~Breakpoints() = default;

// Called with the lock held, after each change.
void Breakpoints::Changed() {
  version_.fetch_add(1, std::memory_order_release);
  WantSteps(std::any_of(points_.begin(), points_.end(), [](const auto& point) { return point->info.enabled; }));
}

Result<uint64_t> Breakpoints::Add(BreakSpec spec) {
  WEFT_ASSIGN_OR_RETURN(std::optional<BreakCondition> condition, CheckSpec(spec));
  const Session& session = runner_.session();
  const auto [graph, status] = LookUp(session, [&](const Graph& page) { return CheckIn(page, spec, condition); });
  WEFT_RETURN_IF_ERROR(status);
  auto point = std::make_unique<Breakpoint>();
  if (!spec.block.empty()) point->name = KeptName::OfBlock(session.scope(), *graph, spec.block);
  if (condition && !condition->of_run()) point->name = KeptName::OfValue(session.scope(), *graph, condition->name);
  point->info.spec = std::move(spec);
  point->condition = std::move(condition);
  std::lock_guard lock(mutex_);
  const uint64_t id = point->info.id = ++last_id_;
  points_.push_back(std::move(point));
  Changed();
  return id;
}

Status Breakpoints::Remove(uint64_t id) {
  std::lock_guard lock(mutex_);
  if (std::erase_if(points_, [&](const auto& point) { return point->info.id == id; }) == 0) return NoBreakpoint(id);
  Changed();
  return {};
}

Status Breakpoints::Enable(uint64_t id, bool enabled) {
  std::lock_guard lock(mutex_);
  auto point = std::find_if(points_.begin(), points_.end(), [&](const auto& one) { return one->info.id == id; });
  if (point == points_.end()) return NoBreakpoint(id);
  (*point)->info.enabled = enabled;
  Changed();
  return {};
}

std::vector<BreakInfo> Breakpoints::All() const {
  std::lock_guard lock(mutex_);
  std::vector<BreakInfo> all;
  for (const auto& point : points_) all.push_back(point->Now());
  if (leased_ && Clock::now() >= lease_end_) {
    for (BreakInfo& info : all) info.enabled = false;
  }
  return all;
}

BreakHit Breakpoints::hit() const {
  std::lock_guard lock(mutex_);
  return hit_;
}

// ---- the lease -------------------------------------------------------------------------------------------------------------------------

void Breakpoints::SetLease(std::chrono::nanoseconds lease) {
  std::lock_guard lock(mutex_);
  LeaseOver();
  // A time point beyond the clock's end would be in the past.
  constexpr std::chrono::nanoseconds kLong = std::chrono::hours(24 * 365);
  lease_ = std::min(lease, kLong);
  leased_ = lease_.count() > 0;
  lease_end_ = Clock::now() + lease_;
  runner_.SetLease(leased_ ? std::optional(lease_end_) : std::nullopt);
}

Status Breakpoints::Heartbeat() {
  std::lock_guard lock(mutex_);
  if (LeaseOver()) return FailedPrecondition("the lease of the breakpoints is over: they are disabled").WithHint("set a lease, and enable them again");
  if (!leased_) return FailedPrecondition("the breakpoints have no lease");
  lease_end_ = Clock::now() + lease_;
  runner_.SetLease(lease_end_);
  return {};
}

// Called with the lock held: whether the lease has passed, which disables all.
bool Breakpoints::LeaseOver() {
  if (!leased_ || Clock::now() < lease_end_) return false;
  leased_ = false;
  for (auto& point : points_) point->info.enabled = false;
  Changed();
  return true;
}

// ---- on the thread that runs -----------------------------------------------------------------------------------------------------------

// Finds what the breakpoints name in the graph of this run. Called with the lock held.
void Breakpoints::Compile(const RunView& view) {
  const Graph& graph = *view.graph();
  compiled_version_ = version_.load(std::memory_order_acquire);
  compiled_plan_ = view.plan_id();
  before_.assign(graph.nodes().size(), 0);
  after_.assign(graph.nodes().size(), 0);
  for (auto& point : points_) {
    const BreakSpec& spec = point->info.spec;
    point->node = -1;
    point->value.reset();
    point->at_start = point->condition && point->condition->of_run();
    if (!point->info.enabled) continue;
    const std::optional<std::string> called = point->name ? point->name->In(graph) : std::nullopt;
    if (point->name && !called) continue;  // an edit took it from the page
    if (!spec.block.empty()) {
      auto node = graph.FindNode(*called);
      if (!node.ok()) continue;
      point->node = *node;
      (spec.kind == BreakKind::kBefore ? before_ : after_)[static_cast<size_t>(*node)] = 1;
    } else if (spec.kind == BreakKind::kNotFinite) {
      std::fill(after_.begin(), after_.end(), 1);
    } else if (point->condition && !point->at_start) {
      auto named = FindNamedValue(graph, *called);
      if (!named.ok()) continue;
      point->condition->name = *called;
      const Node& node = graph.node(named->value.node);
      point->node = named->value.node;
      point->at_start = node.variable >= 0 || node.constant.defined();
      point->value = std::move(*named);
      after_[static_cast<size_t>(point->node)] = 1;
    }
  }
}

// Called with the lock held: one more hit, and whether it is one to pause at.
bool Breakpoints::Counts(Breakpoint& point) { return ++point.info.hits >= point.info.spec.from_hit; }

void Breakpoints::OnRunBegin(uint64_t, size_t) { first_step_ = true; }

Status Breakpoints::OnStep(size_t, const Node& node) {
  const RunView& view = runner_.view();
  if (compiled_version_ != version_.load(std::memory_order_acquire) || compiled_plan_ != view.plan_id()) {
    std::lock_guard lock(mutex_);
    Compile(view);
  }
  const bool first = std::exchange(first_step_, false);
  const auto index = static_cast<int>(&node - view.graph()->nodes().data());
  if (!first && before_[static_cast<size_t>(index)] == 0) return {};
  BreakHit hit;
  {
    std::lock_guard lock(mutex_);
    for (auto& point : points_) {
      if (!point->info.enabled) continue;
      BreakHit found{point->info.id, view.run(), node.id, {}, {}};
      bool comes = false;
      if (point->info.spec.kind == BreakKind::kBefore) {
        comes = point->node == index;
        found.text = Cat("before ", node.id);
      } else if (first && point->at_start && point->condition->of_run()) {
        comes = point->condition->Holds(static_cast<double>(view.run()));
        found.text = Cat("run is ", view.run());
      } else if (first && point->at_start) {
        comes = point->Finds(view, point->value->value, found);
      }
      if (comes && Counts(*point) && hit.id == 0) hit = std::move(found);
    }
    if (hit.id == 0 || LeaseOver()) return {};
  }
  return Pause(hit, node.id);
}

void Breakpoints::OnStepEnd(size_t, const Node& node, bool dead) {
  const RunView& view = runner_.view();
  if (dead || compiled_plan_ != view.plan_id()) return;
  const auto index = static_cast<int>(&node - view.graph()->nodes().data());
  if (after_[static_cast<size_t>(index)] == 0) return;
  BreakHit hit;
  {
    std::lock_guard lock(mutex_);
    for (auto& point : points_) {
      const BreakSpec& spec = point->info.spec;
      if (!point->info.enabled || point->at_start || spec.kind == BreakKind::kBefore) continue;
      if (spec.kind == BreakKind::kCondition ? point->node != index : !spec.block.empty() && point->node != index) continue;
      BreakHit found{point->info.id, view.run(), node.id, {}, {}};
      if (FindsAfter(*point, view, index, found) && Counts(*point) && hit.id == 0) hit = std::move(found);
    }
    if (hit.id == 0 || LeaseOver()) return;
  }
  // A run that is to end finds that out by itself before the next step.
  static_cast<void>(Pause(hit, node.id).ok());
}

bool Breakpoints::FindsAfter(const Breakpoint& point, const RunView& view, int node, BreakHit& hit) const {
  if (point.condition) return point.value && point.Finds(view, point.value->value, hit);
  const Node& graph_node = view.graph()->node(node);
  for (size_t v = 0; v < graph_node.output_types.size(); ++v) {
    const int port = graph_node.out_first.PortOf(static_cast<uint32_t>(v));
    if (!point.info.spec.port.empty() && graph_node.def->outputs[static_cast<size_t>(port)].name != point.info.spec.port) continue;
    if (point.Finds(view, {node, static_cast<int>(v)}, hit)) return true;
  }
  return false;
}

Status Breakpoints::Pause(const BreakHit& hit, const std::string& block) {
  {
    std::lock_guard lock(mutex_);
    hit_ = hit;
    const auto once = [&](const auto& point) { return point->info.id == hit.id && point->info.spec.once; };
    if (std::erase_if(points_, once) > 0) Changed();
  }
  Status status = runner_.PauseRun(PauseReason::kBreak, block, Cat("breakpoint ", hit.id, ": ", hit.text));
  std::lock_guard lock(mutex_);
  hit_ = {};
  LeaseOver();
  return status;
}

}  // namespace weft
