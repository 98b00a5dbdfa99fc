// What structural blocks mean: constants, variables, lists, operations, feeds, sessions, gradients.
#include <algorithm>

#include "runtime/plan/graph_builder.h"

namespace weft {
namespace {

/// Whether the page itself gives the attribute, in the string or as a pin; a default does not count.
bool IsGiven(const PageBlock& block, std::string_view attr) {
  for (const PageInput& input : block.inputs) {
    if (input.port == attr) return true;
  }
  size_t at = block.attrs.find(attr);
  while (at != std::string::npos) {
    bool starts = at == 0 || !(std::isalnum(static_cast<unsigned char>(block.attrs[at - 1])) || block.attrs[at - 1] == '_');
    size_t end = at + attr.size();
    if (end < block.attrs.size() && block.attrs[end] == '_') ++end;
    while (end < block.attrs.size() && std::isspace(static_cast<unsigned char>(block.attrs[end]))) ++end;
    if (starts && end < block.attrs.size() && block.attrs[end] == '=') return true;
    at = block.attrs.find(attr, at + 1);
  }
  return false;
}

}  // namespace

std::optional<DType> GraphBuilder::GivenType(int block) const {
  const Node& node = graph_.nodes_[block];
  int index = node.def->FindAttr("dtype");
  const DType* type = index < 0 ? nullptr : std::get_if<DType>(&node.attrs[index]);
  return type != nullptr && IsGiven(page_.blocks[block], "dtype") ? std::optional(*type) : std::nullopt;
}

const PageInput* GraphBuilder::InputOf(int block, std::string_view port) const {
  const BlockDef& def = *graph_.nodes_[block].def;
  int wanted = def.FindInput(port);
  for (const PageInput& input : page_.blocks[block].inputs) {
    if (wanted >= 0 && def.FindInput(input.port) == wanted && !input.items.empty()) return &input;
  }
  return nullptr;
}

// Whether what is written for the port is known to be at fault.
bool GraphBuilder::IsReported(int block, int port) const {
  const BlockDef& def = *graph_.nodes_[block].def;
  const std::vector<PageInput>& inputs = page_.blocks[block].inputs;
  return page_.blocks[block].faulty ||
         std::any_of(inputs.begin(), inputs.end(), [&](const PageInput& input) { return input.faulty && def.FindInput(input.port) == port; });
}

bool GraphBuilder::ValuesOf(int block, std::string_view port, std::vector<ValueRef>& values) {
  const PageInput* input = InputOf(block, port);
  if (input == nullptr) return true;
  int index = graph_.nodes_[block].def->FindInput(port);
  return ConnectPort(block, index, *input, values);
}

// Faults of the wires of a block that is broken for another reason.
void GraphBuilder::CheckWires(int block) {
  const BlockDef& def = *graph_.nodes_[block].def;
  if (def.structural == Structural::kSession || def.structural == Structural::kOperation || def.structural == Structural::kOutput) return;
  for (const PageInput& input : page_.blocks[block].inputs) {
    int port = def.FindInput(input.port);
    std::vector<ValueRef> ignored;
    for (size_t k = 0; port >= 0 && k < input.items.size(); ++k) {
      if (WireOf(input.items[k]) != nullptr) ConnectItem(block, port, input, k, ignored);
    }
  }
}

void GraphBuilder::ConnectStructural(int block) {
  const BlockDef& def = *graph_.nodes_[block].def;
  for (const PortSpec& port : def.inputs) {
    if (port.optional || InputOf(block, port.name) != nullptr) continue;
    if (IsReported(block, static_cast<int>(&port - def.inputs.data()))) continue;
    Error(InvalidArgument("the input '", port.name, "' of ", def.name, " needs a wire or a value, and has none"), block, port.name);
    return;
  }
  if (graph_.nodes_[block].broken) return CheckWires(block);
  switch (def.structural) {
    case Structural::kConstant: return ConnectConstant(block);
    case Structural::kVariable:
    case Structural::kTemporary: return ConnectVariable(block);
    case Structural::kList: {
      std::vector<ValueRef> values;
      ValuesOf(block, def.inputs[0].name, values);
      graph_.nodes_[block].inputs = std::move(values);
      return;
    }
    case Structural::kOperation:
    case Structural::kOutput: return ConnectOperation(block);
    case Structural::kFeed: return ConnectFeed(block);
    case Structural::kGradients: return ConnectGradients(block);
    case Structural::kAlias: return ConnectAlias(block);
    default: return;  // sessions are connected when all blocks are
  }
}

// A literal becomes the node's own value; a wire makes the block another name for the wired output.
void GraphBuilder::ConnectConstant(int block) {
  const PortSpec& spec = graph_.nodes_[block].def->inputs[0];
  const PageInput& input = *InputOf(block, spec.name);
  if (input.items.size() != 1) return Error(InvalidArgument("the input '", spec.name, "' takes one value, found ", input.items.size()), block, input.port);
  std::optional<DType> given = GivenType(block);
  if (const auto* literal = LiteralOf(input.items[0])) {
    auto tensor = LiteralTensor(*literal, given ? given : literal->dtype);
    if (!tensor.ok()) return Error(std::move(tensor).status(), block, input.port);
    if (given && tensor->dtype() != *given) {
      return Error(InvalidArgument("the value needs ", *given, ", the block's dtype, found ", tensor->dtype()), block, input.port);
    }
    Node& node = graph_.nodes_[block];
    node.output_types = {tensor->dtype()};
    node.out_first = PortTable::Single(1);
    node.constant = std::move(*tensor);
    return;
  }
  std::vector<ValueRef> values;
  if (!ConnectPort(block, 0, input, values)) return;
  Node& node = graph_.nodes_[block];
  DType type = graph_.TypeOf(values[0]);
  if (given && type != *given) return Error(InvalidArgument("the value needs ", *given, ", the block's dtype, found ", type), block, input.port);
  if (graph_.nodes_[values[0].node].constant.defined()) {
    node.constant = graph_.nodes_[values[0].node].constant;
    node.output_types = {type};
    node.out_first = PortTable::Single(1);
    return;
  }
  const BlockDef* identity = graph_.registry_.Find("Identity");
  if (identity == nullptr) return Error(Unsupported("a wired ", node.def->name, " needs the block Identity, which this registry lacks"), block, input.port);
  node.def = identity;
  node.inputs = std::move(values);
  node.in_first = node.out_first = PortTable::Single(1);
  node.attrs = AttrList(std::vector<AttrValue>(identity->attrs.size()));
  node.output_types = {type};
}

Result<int> GraphBuilder::OperationOf(const Wire& wire, int node) {
  if (node < 0) return NoBlock(wire.block);
  const BlockDef* def = graph_.nodes_[node].def;
  if (def == nullptr) return node;  // broken, and reported there
  if (graph_.nodes_[node].target >= 0) return graph_.nodes_[node].target;
  if (wire.port != "operation" && def->FindOutput(wire.port) < 0 && def->FindInput(wire.port) < 0) {
    std::vector<std::string_view> ports = {"operation"};
    for (const PortSpec& port : def->outputs) ports.push_back(port.name);
    return NotFound("the block '", wire.block, "' (", def->name, ") has no port '", wire.port, "'").WithHint(DidYouMean(wire.port, ports));
  }
  return node;
}

void GraphBuilder::ConnectOperation(int block) {
  const PortSpec& spec = graph_.nodes_[block].def->inputs[0];
  const PageInput& input = *InputOf(block, spec.name);
  const auto* wire = std::get_if<Wire>(&input.items[0]);
  if (wire == nullptr) return Error(InvalidArgument("the input '", spec.name, "' needs a wire to a block, found a value"), block, input.port);
  auto target = OperationOf(*wire, ProducerOf(block, input, 0));
  if (!target.ok()) return Error(std::move(target).status(), block, input.port);
  Node& node = graph_.nodes_[block];
  node.broken |= graph_.nodes_[*target].broken;
  if (node.broken) return;
  node.target = *target;
  if (node.def->structural != Structural::kOutput) return;
  const Node& producer = graph_.nodes_[*target];
  int64_t index = std::get<int64_t>(node.attrs[node.def->FindAttr("index")]);
  if (index < 0 || index >= static_cast<int64_t>(producer.output_types.size())) {
    return Error(OutOfRange("the block '", producer.id, "' has ", producer.output_types.size(), " outputs, so none has the index ", index), block, "index");
  }
  node.inputs = {{*target, static_cast<int>(index)}};
}

void GraphBuilder::ConnectFeed(int block) {
  std::vector<ValueRef> replaced, value;
  if (!ValuesOf(block, "input", replaced) || !ValuesOf(block, "initializer", value)) return;
  DType needed = graph_.TypeOf(replaced[0]);
  const PageInput& input = *InputOf(block, "initializer");
  Tensor tensor = graph_.nodes_[value[0].node].constant;
  if (!tensor.defined()) {
    return Error(InvalidArgument("the initializer needs a value that is known before the run, found a computed output"), block, input.port);
  }
  if (const auto* literal = LiteralOf(input.items[0]); literal != nullptr && tensor.dtype() != needed) {
    auto typed = LiteralTensor(*literal, needed);
    if (typed.ok()) tensor = std::move(*typed);
  }
  if (tensor.dtype() != needed) return Error(InvalidArgument("the initializer needs ", needed, ", found ", tensor.dtype()), block, input.port);
  Node& node = graph_.nodes_[block];
  node.inputs = std::move(replaced);
  node.constant = std::move(tensor);
}

void GraphBuilder::ConnectSession(int block) {
  const Node& node = graph_.nodes_[block];
  SessionSpec session;
  session.id = node.id;
  session.node = block;
  session.by_name = false;
  int loop = node.def->FindAttr("INFINITE_LOOP");
  if (loop >= 0 && std::holds_alternative<bool>(node.attrs[loop])) session.loop = std::get<bool>(node.attrs[loop]);
  if (const PageInput* fetches = InputOf(block, "fetch_outputs")) {
    for (size_t k = 0; k < fetches->items.size(); ++k) {
      std::vector<ValueRef> values;
      const auto* wire = std::get_if<Wire>(&fetches->items[k]);
      if (wire == nullptr) {
        Error(InvalidArgument("a fetch needs a wire to an output, found a value"), block, fetches->port, static_cast<int>(k));
        continue;
      }
      if (!ConnectItem(block, node.def->FindInput("fetch_outputs"), *fetches, k, values)) {
        // What a broken block reads is planned for its faults.
        if (int producer = ProducerOf(block, *fetches, k); producer >= 0) session.run.push_back(producer);
        continue;
      }
      for (size_t v = 0; v < values.size(); ++v) {
        session.fetches.push_back({values.size() == 1 ? ToString(*wire) : Cat(*wire, "[", v, "]"), values[v]});
      }
    }
  }
  if (const PageInput* run = InputOf(block, "run_outputs")) {
    for (size_t k = 0; k < run->items.size(); ++k) {
      const auto* wire = std::get_if<Wire>(&run->items[k]);
      auto target = wire == nullptr ? Result<int>(InvalidArgument("an operation needs a wire to a block, found a value"))
                                    : OperationOf(*wire, ProducerOf(block, *run, k));
      if (!target.ok()) {
        Error(std::move(target).status(), block, run->port, static_cast<int>(k));
        continue;
      }
      graph_.nodes_[block].broken |= graph_.nodes_[*target].broken;
      session.run.push_back(*target);
    }
  }
  if (const PageInput* feeds = InputOf(block, "inputs")) {
    for (size_t k = 0; k < feeds->items.size(); ++k) {
      const auto* wire = std::get_if<Wire>(&feeds->items[k]);
      int producer = ProducerOf(block, *feeds, k);
      auto feed = wire == nullptr ? Result<int>(InvalidArgument("a feed needs a wire to a FeedType block, found a value"))
                  : producer < 0  ? Result<int>(NoBlock(wire->block))
                                  : Result<int>(producer);
      const BlockDef* def = feed.ok() ? graph_.nodes_[*feed].def : nullptr;
      if (def != nullptr && def->structural != Structural::kFeed) {
        feed = InvalidArgument("a feed needs a FeedType block, found '", wire->block, "' (", def->name, ")");
      }
      if (!feed.ok()) Error(std::move(feed).status(), block, feeds->port, static_cast<int>(k));
      else if (graph_.nodes_[*feed].broken) graph_.nodes_[block].broken = true;
      else session.feeds.push_back({graph_.nodes_[*feed].inputs[0], graph_.nodes_[*feed].constant});
    }
  }
  graph_.sessions_.push_back(std::move(session));
}

void GraphBuilder::ConnectGradients(int block) {
  std::vector<ValueRef> ys, xs;
  if (!ValuesOf(block, "outputs", ys) || !ValuesOf(block, "inputs", xs)) return;
  if (ys.empty()) return Error(InvalidArgument("the input 'outputs' needs at least one wire, found none"), block, "outputs");
  // The page's id: that of the node moves when nodes are added.
  auto gradients = AddGradients(*this, page_.blocks[block].id, block, ys, xs);
  if (!gradients.ok()) {
    std::string port = gradients.status().place().port;
    return Error(std::move(gradients).status(), block, port.empty() ? "outputs" : port);
  }
  graph_.nodes_[block].inputs = std::move(*gradients);
}

// RandomNormal_ex is RandomNormal with its shape as an attribute.
void GraphBuilder::ConnectAlias(int block) {
  const BlockDef* real = graph_.registry_.Find("RandomNormal");
  if (real == nullptr) return Error(Unsupported("needs the block RandomNormal, which this registry lacks"), block);
  const BlockDef& alias = *graph_.nodes_[block].def;
  const auto* partial = std::get_if<PartialShape>(&graph_.nodes_[block].attrs[alias.FindAttr("shape")]);
  auto shape = partial == nullptr ? std::nullopt : partial->shape();
  if (!shape) return Error(InvalidArgument("needs a shape whose sizes are all known"), block, "shape");
  weft::Tensor dims = weft::Tensor::Allocate(DType::kInt64, Shape{shape->rank()}).value();
  std::copy(shape->dims().begin(), shape->dims().end(), dims.values<int64_t>().begin());
  int constant = AddConstant(Cat(graph_.nodes_[block].id, ".shape"), block, std::move(dims));
  Node& node = graph_.nodes_[block];
  std::vector<AttrValue> attrs;
  for (const AttrSpec& spec : real->attrs) {
    int index = alias.FindAttr(spec.name);
    attrs.push_back(index >= 0 ? node.attrs[index] : AttrValue());
  }
  node.def = real;
  node.attrs = std::move(attrs);
  node.inputs = {{constant, 0}};
  node.in_first = PortTable::Single(1);
  if (Status status = InferTypes(node); !status.ok()) Error(std::move(status), block, "dtype");
}

}  // namespace weft
