#include "weft/host/inspect.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "runtime/plan/unread_blocks.h"
#include "weft/plan/partial_shapes.h"

namespace weft {
namespace {

bool StandsForOthers(const Node& node) {
  const Structural kind = node.def->structural;
  return kind == Structural::kGradients || kind == Structural::kList || kind == Structural::kOutput;
}

/// What the block declares of an output, whatever its inputs: a fixed type, or one that an attribute on the page gives.
PortType Declared(const Node& node, const PortSpec& spec) {
  PortType type;
  type.variable = spec.kind == PortKind::kReference;
  type.dtype = spec.dtype;
  const int attr = spec.dtype != DType::kInvalid || spec.type_attr.empty() ? -1 : node.def->FindAttr(spec.type_attr);
  if (attr < 0 || static_cast<size_t>(attr) >= node.attrs.size()) return type;
  if (const DType* given = std::get_if<DType>(&node.attrs[static_cast<size_t>(attr)])) type.dtype = *given;
  return type;
}

PortType TypeOfLiteral(const Literal& literal) {
  PortType type;
  if (literal.tensor.defined()) return {literal.tensor.dtype(), literal.tensor.shape(), false};
  if (literal.dtype) type.dtype = *literal.dtype;
  if (literal.shape) type.shape = *literal.shape;
  return type;
}

}  // namespace

Inspection::Inspection(const Graph& graph) {
  first_.assign(1, 0);
  first_.reserve(graph.nodes().size() + 1);
  for (const Node& node : graph.nodes()) first_.push_back(first_.back() + static_cast<uint32_t>(node.output_types.size()));
  shapes_.resize(first_.back());
  // Shapes as sessions see them come first: a fed value has the shape that is fed.
  for (const SessionSpec& session : graph.sessions()) TakeShapes(graph, RequestFor(session, Keep::kAll));
  TakeShapes(graph, RequestForBlocks(graph, true, [](int) { return true; }));
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.node(static_cast<int>(n));
    if (node.broken || node.output_types.size() != 1) continue;
    PartialShape& shape = shapes_[first_[n]];
    if (node.constant.defined()) shape = node.constant.shape();
    else if (node.variable >= 0 && !shape.known_rank()) shape = graph.variable_info(node.variable).declared;
  }
}

void Inspection::TakeShapes(const Graph& graph, const PlanRequest& request) {
  PartialShapes partial;
  const Plan plan = PlanShapes(graph, request, found_, partial);
  for (const Slot& slot : plan.slots) {
    if (!slot.value.valid() || !slot.shape_known) continue;
    PartialShape& known = shapes_[first_[static_cast<size_t>(slot.value.node)] + static_cast<uint32_t>(slot.value.output)];
    if (!known.complete()) known = slot.shape;
  }
  for (const auto& [index, shape] : partial) {
    const ValueRef value = plan.slots[index].value;
    if (!value.valid() || plan.slots[index].shape_known) continue;
    PartialShape& known = shapes_[first_[static_cast<size_t>(value.node)] + static_cast<uint32_t>(value.output)];
    if (!known.known_rank()) known = shape;
  }
}

PortType Inspection::Of(const Graph& graph, ValueRef value) const {
  const Node& node = graph.node(value.node);
  if (static_cast<size_t>(value.output) >= node.output_types.size()) return {};
  PortType type{node.output_types[static_cast<size_t>(value.output)], shapes_[first_[static_cast<size_t>(value.node)] + static_cast<uint32_t>(value.output)],
                false};
  const int port = node.def == nullptr ? -1 : node.out_first.PortOf(static_cast<uint32_t>(value.output));
  type.variable = port >= 0 && node.def->outputs[static_cast<size_t>(port)].kind == PortKind::kReference;
  return type;
}

// A result that is not_found for a block or port that is not there.
Result<PortType> Inspection::Output(const Graph& graph, const Wire& wire) const {
  auto value = graph.FindValue(ToString(wire));
  if (value.ok()) return Of(graph, *value);
  const int block = graph.IndexOf(wire.block);
  const BlockDef* def = block < 0 ? nullptr : graph.node(block).def;
  const int output = def == nullptr ? -1 : def->FindOutput(wire.port);
  if (output < 0 || (!graph.node(block).broken && value.status().code() == Code::kOutOfRange)) return std::move(value).status();
  return Declared(graph.node(block), def->outputs[static_cast<size_t>(output)]);
}

Result<PortType> Inspection::Port(const Graph& graph, std::string_view name) const {
  WEFT_ASSIGN_OR_RETURN(const Wire wire, ParseWire(name));
  WEFT_ASSIGN_OR_RETURN(const int block, graph.FindNode(wire.block));
  auto output = Output(graph, wire);
  const BlockDef* def = graph.node(block).def;
  if (output.ok() || (def != nullptr && def->FindOutput(wire.port) >= 0)) return output;
  const int port = def == nullptr ? -1 : def->FindInput(wire.port);
  for (const PageInput& input : graph.page().blocks[static_cast<size_t>(block)].inputs) {
    if (input.port != wire.port && (port < 0 || def->FindInput(input.port) != port)) continue;
    const size_t index = static_cast<size_t>(std::max(wire.index, 0));
    if (index >= input.items.size()) return OutOfRange("the input '", wire.port, "' has ", input.items.size(), " elements, so none is ", index);
    if (const Literal* literal = LiteralOf(input.items[index])) return TypeOfLiteral(*literal);
    auto brought = Output(graph, *WireOf(input.items[index]));
    return brought.ok() ? std::move(brought) : Result<PortType>(PortType());
  }
  return port >= 0 ? Result<PortType>(PortType()) : std::move(output);  // an input that has nothing
}

void Inspection::ForOutputs(const Graph& graph, int block, FunctionRef<void(const std::string& name, const PortType& type)> each) const {
  const Node& node = graph.node(block);
  if (node.def == nullptr) return;
  const std::string& id = graph.page().blocks[static_cast<size_t>(block)].id;
  if (node.broken) {
    for (const PortSpec& spec : node.def->outputs) each(Cat(id, ".", spec.name), Declared(node, spec));
    return;
  }
  if (StandsForOthers(node)) {
    const bool single = node.def->structural == Structural::kOutput;
    for (size_t k = 0; k < std::min(node.inputs.size(), kMostOutputs); ++k) {
      if (!node.inputs[k].valid()) continue;
      const std::string& port = node.def->outputs[0].name;
      each(single ? Cat(id, ".", port) : Cat(id, ".", port, "[", k, "]"), Of(graph, node.inputs[k]));
    }
    return;
  }
  for (size_t v = 0; v < std::min(node.output_types.size(), kMostOutputs); ++v) {
    const ValueRef value{block, static_cast<int>(v)};
    each(graph.ValueName(value), Of(graph, value));
  }
}

namespace {

/// The errors that name a block, by its id. Also that its type is unknown, which is a warning where nothing needs it.
class FaultsByBlock {
 public:
  void Add(const Diagnostics& found) {
    for (const Diagnostic& diagnostic : found.all()) {
      const bool counts = diagnostic.severity == Severity::kError || diagnostic.status.code() == Code::kNotFound;
      if (counts) faults_[diagnostic.status.place().block].push_back(&diagnostic.status);
    }
  }
  /// False where the block has none.
  bool AppendTo(std::vector<Status>& reasons, const std::string& id) const {
    auto it = faults_.find(id);
    if (it == faults_.end()) return false;
    for (const Status* fault : it->second) {
      const bool said = std::ranges::any_of(reasons, [&](const Status& other) { return ToString(other) == ToString(*fault); });
      if (!said) reasons.push_back(*fault);
    }
    return true;
  }

 private:
  std::unordered_map<std::string_view, std::vector<const Status*>> faults_;
};

}  // namespace

std::vector<Status> Inspection::WhyNot(const Graph& graph, int block, const Diagnostics& page) const {
  FaultsByBlock faults;
  faults.Add(page);
  faults.Add(found_);
  const std::vector<PageBlock>& blocks = graph.page().blocks;
  std::vector<Status> reasons;
  std::vector<char> seen(blocks.size(), 0);
  std::vector<int> near = {block}, next;
  seen[static_cast<size_t>(block)] = 1;
  while (!near.empty() && reasons.empty()) {  // all blocks that are equally far
    next.clear();
    for (int b : near) {
      if (faults.AppendTo(reasons, blocks[static_cast<size_t>(b)].id)) continue;
      for (const PageInput& input : blocks[static_cast<size_t>(b)].inputs) {
        for (const InputItem& item : input.items) {
          const Wire* wire = WireOf(item);
          const int producer = wire == nullptr ? -1 : graph.IndexOf(wire->block);
          if (producer < 0 || std::exchange(seen[static_cast<size_t>(producer)], 1)) continue;
          next.push_back(producer);
        }
      }
    }
    std::swap(near, next);
  }
  const Node& node = graph.node(block);
  if (reasons.empty() && node.broken) {
    reasons.push_back(FailedPrecondition("the page has errors at the block or before it").WithBlock(blocks[static_cast<size_t>(block)].id));
  }
  return reasons;
}

std::shared_ptr<const Inspection> Inspector::Of(const std::shared_ptr<const Graph>& graph) {
  std::lock_guard lock(mutex_);
  if (inspection_ == nullptr || graph_.lock() != graph) {
    inspection_ = std::make_shared<Inspection>(*graph);
    graph_ = graph;
  }
  return inspection_;
}

void Inspector::WithWires(const std::shared_ptr<const Graph>& graph, FunctionRef<void(WireFit& fit)> use) {
  std::lock_guard lock(wires_mutex_);
  if (wires_ == nullptr || wires_graph_.lock() != graph) {
    wires_ = std::make_unique<WireFit>(*graph);
    wires_graph_ = graph;
  }
  try {
    use(*wires_);
  } catch (...) {  // what it keeps may be half made
    wires_.reset();
    throw;
  }
}

Status Inspector::CheckWire(Scope& scope, const Wire& from, const Wire& to) {
  const std::shared_ptr<const Graph> graph = scope.revision()->graph;
  WEFT_RETURN_IF_ERROR(graph->FindNode(from.block).status());
  const Edit edit = Connect{from, to};
  Diagnostics found;
  WEFT_RETURN_IF_ERROR(scope.Apply(std::span(&edit, 1), found, EditMode::kTry).status());
  Status fit;
  WithWires(graph, [&](WireFit& wires) { fit = wires.Check(from, to); });
  return fit;
}

std::string ShortText(const PortType& type) {
  std::string text = type.dtype == DType::kInvalid ? "" : ToString(type.dtype);
  if (text.starts_with("DT_")) text.erase(0, 3);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return Cat(text, text.empty() ? "" : " ", type.shape.known_rank() ? ToString(type.shape) : "[?]");
}

ValueTexts TextsOf(const Graph& graph, const Inspection& inspection) {
  ValueTexts texts;
  for (size_t b = 0; b < graph.page().blocks.size(); ++b) {
    inspection.ForOutputs(graph, static_cast<int>(b), [&](const std::string& name, const PortType& type) {
      if (type.dtype != DType::kInvalid) texts.emplace(name, ShortText(type));
    });
  }
  return texts;
}

}  // namespace weft
