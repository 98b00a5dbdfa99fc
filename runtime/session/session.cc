#include "weft/session/session.h"

#include <charconv>
#include <set>

#include "runtime/session/executor.h"

namespace weft {
namespace {

/// `ID.port[i][j]` in its parts.
struct ResultName {
  std::string_view block, port;
  std::vector<int64_t> indices;
};

Result<ResultName> ParseResultName(std::string_view text) {
  ResultName name;
  size_t bracket = text.find('[');
  std::string_view head = text.substr(0, bracket);
  size_t dot = head.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == head.size()) {
    return InvalidArgument("needs a name such as ID.port or ID.result_port[0][1], found '", text, "'");
  }
  name.block = head.substr(0, dot);
  name.port = head.substr(dot + 1);
  std::string_view rest = bracket == std::string_view::npos ? "" : text.substr(bracket);
  while (!rest.empty()) {
    size_t end = rest.find(']');
    int64_t index = 0;
    if (rest[0] != '[' || end == std::string_view::npos) return InvalidArgument("needs indices such as [0][1], found '", rest, "'");
    auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + end, index);
    if (error != std::errc() || stop != rest.data() + end || index < 0) {
      return InvalidArgument("needs an index of 0 or more, found '", rest.substr(0, end + 1), "'");
    }
    name.indices.push_back(index);
    rest.remove_prefix(end + 1);
  }
  return name;
}

Result<Tensor> Element(const Tensor& tensor, std::span<const int64_t> indices) {
  if (indices.empty()) return tensor;
  const Shape& shape = tensor.shape();
  if (static_cast<int>(indices.size()) != shape.rank()) {
    return InvalidArgument("an element of a tensor of shape ", shape, " needs ", shape.rank(), " indices, found ", indices.size());
  }
  int64_t offset = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (indices[i] >= shape[i]) return OutOfRange("the index ", indices[i], " is outside the shape ", shape);
    offset = offset * shape[i] + indices[i];
  }
  auto* data = const_cast<char*>(static_cast<const char*>(tensor.data())) + offset * static_cast<int64_t>(ElementSize(tensor.dtype()));
  auto keep = std::make_shared<Tensor>(tensor);
  return Tensor::View(tensor.dtype(), Shape{}, data, keep);
}

/// Whether the page has such a value.
bool IsValue(const Graph& graph, ValueRef value) {
  if (value.node < 0 || value.node >= static_cast<int>(graph.nodes().size()) || value.output < 0) return false;
  return value.output < static_cast<int>(graph.node(value.node).output_types.size());
}

}  // namespace

Session::Session(std::shared_ptr<Scope> scope, SessionSpec spec, Keep keep, std::shared_ptr<Edition> edition)
    : scope_(std::move(scope)),
      spec_(std::move(spec)),
      keep_(keep),
      executor_(std::make_unique<Executor>(*scope_, edition != nullptr ? std::move(edition) : scope_->edition(), spec_, keep_, cancelled_)) {}

Session::~Session() = default;

void Session::Prepare(Diagnostics& diagnostics) {
  if (Status status = Follow(); !status.ok()) return diagnostics.Error(std::move(status));
  executor_->Prepare(diagnostics);
}

std::shared_ptr<const Graph> Session::graph() const {
  std::lock_guard lock(executor_mutex_);
  return executor_->edition()->graph;
}

const Plan* Session::plan() const { return executor_->plan(); }

Status Session::Feed(ValueRef value, Tensor tensor) {
  const Graph& graph = *executor_->edition()->graph;
  if (!IsValue(graph, value)) return InvalidArgument("a feed needs an output of the page");
  DType needed = graph.TypeOf(value);
  if (tensor.dtype() != needed) {
    return InvalidArgument("the feed of '", graph.ValueName(value), "' needs ", needed, ", found ", tensor.dtype());
  }
  for (SessionSpec::Feed& feed : spec_.feeds) {
    if (feed.value == value) {
      feed.tensor = std::move(tensor);
      return {};
    }
  }
  spec_.feeds.push_back({value, std::move(tensor)});
  return {};
}

Status Session::Run(const RunOptions& options) { return RunSteps(1, options); }

Status Session::RunSteps(int64_t steps, const RunOptions& options) {
  Status status;
  for (int64_t i = 0; status.ok() && (steps < 0 || i < steps); ++i) {
    uint64_t run = runs_.load(std::memory_order_relaxed) + 1;
    status = Follow();
    if (status.ok()) status = executor_->Run(run, options);
    if (status.ok()) runs_.store(run, std::memory_order_release);
  }
  // A Cancel that came too late for a run that succeeded ends the next one.
  if (!status.ok()) cancelled_.store(false, std::memory_order_relaxed);
  return status;
}

Result<ResultValue> Session::Get(ValueRef value) const {
  std::lock_guard lock(executor_mutex_);
  if (!IsValue(*executor_->edition()->graph, value)) return InvalidArgument("a result needs an output of the page");
  return executor_->Get(value);
}

Result<ResultValue> Session::Get(std::string_view text) const {
  const std::shared_ptr<const Graph> held = this->graph();
  const Graph& graph = *held;
  WEFT_ASSIGN_OR_RETURN(ResultName name, ParseResultName(text));
  WEFT_ASSIGN_OR_RETURN(int index, graph.FindNode(name.block));
  const BlockDef* def = graph.node(index).def;
  constexpr std::string_view kPrefix = "result_";
  if (def != nullptr && def->FindOutput(name.port) < 0 && name.port.starts_with(kPrefix)) name.port.remove_prefix(kPrefix.size());
  std::string wire = Cat(name.block, ".", name.port);
  std::span<const int64_t> indices = name.indices;
  int port = def == nullptr ? -1 : def->FindOutput(name.port);
  if (port >= 0 && def->outputs[port].list != PortList::kSingle && !indices.empty()) {
    wire += Cat("[", indices[0], "]");
    indices = indices.subspan(1);
  }
  WEFT_ASSIGN_OR_RETURN(ValueRef value, graph.FindValue(wire));
  WEFT_ASSIGN_OR_RETURN(ResultValue result, Get(value));
  WEFT_ASSIGN_OR_RETURN(result.tensor, Element(result.tensor, indices));
  return result;
}

std::vector<std::pair<std::string, ValueRef>> Session::Results() const {
  std::vector<std::pair<std::string, ValueRef>> names;
  std::lock_guard lock(executor_mutex_);
  executor_->WithPlan([&](const Plan& plan) { AddNames(plan, names); });
  return names;
}

void Session::AddNames(const Plan& plan, std::vector<std::pair<std::string, ValueRef>>& names) const {
  const Graph& graph = *executor_->edition()->graph;
  std::vector<char> listed(plan.slots.size(), 0);
  // A fetch is called what the page calls it: a gradient has the name of the port that offers it, not that of the block that computes it.
  for (const auto& fetch : spec_.fetches) {
    int slot = plan.SlotOf(fetch.value);
    if (slot < 0 || listed[slot]) continue;
    listed[slot] = 1;
    names.emplace_back(fetch.name, fetch.value);
  }
  for (size_t b = 0; keep_ == Keep::kAll && b < graph.page().blocks.size(); ++b) {
    const Node& node = graph.node(static_cast<int>(b));
    if (node.def == nullptr || node.def->structural != Structural::kGradients || node.broken) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      int slot = node.inputs[k].valid() ? plan.SlotOf(node.inputs[k]) : -1;
      if (slot < 0 || listed[slot]) continue;
      listed[slot] = 1;
      names.emplace_back(Cat(node.id, ".grad_outputs[", k, "]"), node.inputs[k]);
    }
  }
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.result && !listed[s]) names.emplace_back(graph.ValueName(slot.value), slot.value);
  }
}

void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics) { scope->CheckEdition(*scope->edition(), diagnostics); }

void Scope::CheckEdition(const Edition& edition, Diagnostics& diagnostics) const {
  const Graph& graph = *edition.graph;
  if (!graph.page().complete) return;
  std::vector<SessionSpec> sessions = graph.sessions();
  if (sessions.empty()) sessions.push_back(graph.DefaultSession());
  std::set<std::string> seen;  // sessions share blocks, and so their faults
  for (const SessionSpec& spec : sessions) {
    PlanRequest request = RequestFor(graph, spec, Keep::kAll);
    {
      std::lock_guard lock(values_mutex_);
      for (size_t v = 0; v < edition.variables.size(); ++v) {
        if (edition.variables[v]->value.defined()) request.variable_shapes[v] = edition.variables[v]->value.shape();
      }
    }
    Diagnostics found;
    MakePlan(graph, request, found);
    for (const Diagnostic& diagnostic : found.all()) {
      if (seen.insert(ToString(diagnostic)).second) diagnostics.Add(diagnostic.severity, diagnostic.status);
    }
  }
}

}  // namespace weft
