#include "weft/cases/session_executor.h"

#include "weft/host/file_sandbox.h"
#include "weft/page/reader.h"

namespace weft::cases {
namespace {

constexpr const char* kBlock = "block";

PageInput LiteralInput(std::string port, const CaseInput& input) {
  PageInput result;
  result.port = std::move(port);
  result.list = input.list;
  for (const Tensor& tensor : input.values) {
    Literal literal;
    literal.dtype = tensor.dtype();
    literal.shape = tensor.shape();
    literal.tensor = tensor;
    result.items.emplace_back(std::move(literal));
  }
  return result;
}

/// Whether the values of a port are given by Variables.
bool TakesVariable(const PortSpec& port) { return port.kind == PortKind::kReference; }

std::string VariableId(std::string_view port, size_t k) { return Cat("var_", port, k == 0 ? "" : Cat("_", k)); }

/// The case as a page: the block, and a Variable for each value of its reference ports.
Page BlockPage(const TestCase& test, const BlockDef* def) {
  Page page;
  page.name = "case";
  PageBlock block;
  block.id = kBlock;
  block.type = test.block;
  block.attrs = test.attrs;
  block.has_attrs = true;
  for (const auto& [port, input] : test.inputs) {
    int index = def == nullptr ? -1 : def->FindInput(port);
    if (index < 0 || !TakesVariable(def->inputs[index])) {
      block.inputs.push_back(LiteralInput(port, input));
      continue;
    }
    PageInput wires;
    wires.port = port;
    wires.list = input.list;
    for (size_t k = 0; k < input.values.size(); ++k) {
      PageBlock variable;
      variable.id = VariableId(port, k);
      variable.type = "Variable";
      variable.inputs.push_back(LiteralInput("initvalues", {{input.values[k]}, false}));
      variable.attrs = Cat("shape_ = ", ToString(PartialShape(input.values[k].shape())), ";");
      wires.items.emplace_back(Wire{variable.id, "ref", -1});
      page.blocks.push_back(std::move(variable));
    }
    block.inputs.push_back(std::move(wires));
  }
  page.blocks.push_back(std::move(block));
  return page;
}

/// Fetches all outputs of a node except handles, and runs the node for its effect.
SessionSpec FetchAll(const Graph& graph, int index) {
  SessionSpec spec;
  spec.id = "case";
  const Node& node = graph.node(index);
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    ValueRef value{index, static_cast<int>(v)};
    if (node.output_types[v] != DType::kResource) spec.fetches.push_back({graph.ValueName(value), value});
  }
  spec.run.push_back(index);
  return spec;
}

Status FillStep(const Graph& graph, const Step& step, SessionSpec& spec) {
  spec.id = "step";
  for (const std::string& fetch : step.fetch) {
    auto value = graph.FindValue(fetch);
    // Not found by name: the case is at fault, not the page.
    if (!value.ok()) return InvalidArgument(value.status().message());
    spec.fetches.push_back({fetch, *value});
  }
  for (const std::string& run : step.run) {
    WEFT_ASSIGN_OR_RETURN(int node, graph.FindNode(run));
    spec.run.push_back(graph.node(node).target >= 0 ? graph.node(node).target : node);
  }
  for (const auto& [name, tensor] : step.feed) {
    WEFT_ASSIGN_OR_RETURN(ValueRef value, graph.FindValue(name));
    if (graph.TypeOf(value) != tensor.dtype()) {
      return InvalidArgument("the feed of '", name, "' needs ", graph.TypeOf(value), ", found ", tensor.dtype());
    }
    spec.feeds.push_back({value, tensor});
  }
  return {};
}

}  // namespace

void SessionExecutor::Cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (running_ != nullptr) running_->Cancel();
}

Status SessionExecutor::Over() const {
  std::lock_guard lock(mutex_);
  if (cancelled_) return Cancelled("the cases were cancelled");
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) return Cancelled("the deadline of the cases passed");
  return {};
}

Status SessionExecutor::Run(Session& session) {
  WEFT_RETURN_IF_ERROR(Over());
  const auto set_running = [this](Session* running) {
    std::lock_guard lock(mutex_);
    running_ = running;
    if (running != nullptr && cancelled_) running->Cancel();
  };
  // Also where the run throws bad_alloc: Cancel must not use a session that has ended.
  struct AtEnd {
    decltype(set_running)& set;
    ~AtEnd() { set(nullptr); }
  };
  const AtEnd at_end{set_running};
  set_running(&session);
  RunOptions options;
  options.deadline = deadline_;
  return session.Run(options);
}

RunOutcome SessionExecutor::RunOnce(Session& session) {
  RunOutcome outcome;
  outcome.status = Run(session);
  if (!outcome.status.ok()) return outcome;
  for (const auto& fetch : session.spec().fetches) {
    auto result = session.Get(fetch.value);
    if (!result.ok()) {
      outcome.status = std::move(result).status();
      return outcome;
    }
    outcome.outputs[fetch.name] = result->tensor;
  }
  return outcome;
}

std::shared_ptr<Scope> SessionExecutor::Open(Page page, const std::filesystem::path& folder, Status& status) {
  ScopeOptions options;
  if (!folder.empty()) options.files = std::make_shared<FileSandbox>(FolderRules{folder, {}, {folder}});
  options.stall_limit_ms = 200;
  Diagnostics diagnostics;
  auto scope = Scope::Open(runtime_, std::make_shared<Page>(std::move(page)), "case", std::move(options), diagnostics);
  status = diagnostics.FirstError();
  return scope;
}

RunOutcome SessionExecutor::RunBlock(const TestCase& test, const std::filesystem::path& folder) {
  const BlockDef* def = runtime_.registry().Find(test.block);
  RunOutcome outcome;
  auto scope = Open(BlockPage(test, def), folder, outcome.status);
  if (!outcome.status.ok()) return outcome;
  auto node = scope->graph().FindNode(kBlock);
  Session session(scope, FetchAll(scope->graph(), *node), Keep::kAsked);
  outcome = RunOnce(session);
  std::map<std::string, Tensor> ports;
  for (auto& [name, tensor] : outcome.outputs) ports[name.substr(name.find('.') + 1)] = std::move(tensor);
  outcome.outputs = std::move(ports);
  if (!outcome.status.ok()) return outcome;
  for (const auto& [port, input] : test.inputs) {
    for (size_t k = 0; k < input.values.size(); ++k) {
      auto value = scope->GetVariable(VariableId(port, k));
      if (value.ok()) outcome.variables[input.list ? Cat(port, "[", k, "]") : port] = *value;
    }
  }
  return outcome;
}

PageOutcome SessionExecutor::RunPage(const TestCase& test, const std::filesystem::path& folder) {
  PageOutcome outcome;
  ReadPageResult read = ReadPage(test.page, {.name = "case", .read_file = {}});
  outcome.loaded = read.diagnostics.FirstError();
  if (!outcome.loaded.ok()) return outcome;
  auto scope = Open(std::move(read.page), folder, outcome.loaded);
  if (!outcome.loaded.ok()) return outcome;
  for (const Step& step : test.steps) {
    RunOutcome& run = outcome.steps.emplace_back();
    SessionSpec spec;
    run.status = FillStep(scope->graph(), step, spec);
    if (!run.status.ok()) continue;
    Session session(scope, std::move(spec), Keep::kAsked);
    run = RunOnce(session);
  }
  return outcome;
}

}  // namespace weft::cases
