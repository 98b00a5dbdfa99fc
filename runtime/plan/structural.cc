// Structural blocks: constants, lists, operations, feeds, gradients. Variables are in variables.cc, sessions in sessions.cc.
#include <algorithm>

#include "runtime/plan/connecting.h"
#include "runtime/plan/gradients.h"

namespace weft {
namespace {

// Whether what is written for the port is known to be at fault.
bool IsReported(const Draft& draft, int block, int port) {
  const BlockDef& def = *draft.nodes[block].def;
  const std::vector<PageInput>& inputs = draft.page.blocks[block].inputs;
  return IsFaulty(draft.page.blocks[block]) ||
         std::any_of(inputs.begin(), inputs.end(), [&](const PageInput& input) { return input.faulty && def.FindInput(input.port) == port; });
}

// Faults of the wires of a block that is broken for another reason.
void CheckWires(Draft& draft, int block) {
  const BlockDef& def = *draft.nodes[block].def;
  if (def.structural == Structural::kSession || def.structural == Structural::kOperation || def.structural == Structural::kOutput) return;
  for (const PageInput& input : draft.page.blocks[block].inputs) {
    int port = def.FindInput(input.port);
    std::vector<ValueRef> ignored;
    for (size_t k = 0; port >= 0 && k < input.items.size(); ++k) {
      if (WireOf(input.items[k]) != nullptr) ConnectItem(draft, block, port, input, k, ignored);
    }
  }
}

// Of a literal or a constant block; undefined for what runs change or compute. (A variable's node holds its initial value.)
Tensor ConstantOf(const Node& node) {
  const bool changes = node.def != nullptr && node.def->structural != Structural::kConstant;
  return changes ? Tensor() : node.constant.get();
}

// A literal becomes the node's own value; a wire makes the block another name for the wired output.
void ConnectConstant(Draft& draft, int block) {
  const PortSpec& spec = draft.nodes[block].def->inputs[0];
  const PageInput& input = *InputOf(draft, block, spec.name);
  if (input.items.size() != 1) return draft.Error(InvalidArgument("the input '", spec.name, "' takes one value, found ", input.items.size()), block, input.port);
  std::optional<DType> given = GivenType(draft, block);
  if (const auto* literal = LiteralOf(input.items[0])) {
    auto tensor = LiteralTensor(*literal, given ? given : literal->dtype);
    if (!tensor.ok()) return draft.Error(std::move(tensor).status(), block, input.port);
    if (given && tensor->dtype() != *given) {
      return draft.Error(InvalidArgument("the value needs ", *given, ", the block's dtype, found ", tensor->dtype()), block, input.port);
    }
    Node& node = draft.nodes[block];
    node.output_types = {tensor->dtype()};
    node.out_first = PortTable::Single(1);
    node.constant = std::move(*tensor);
    return;
  }
  std::vector<ValueRef> values;
  if (!ConnectPort(draft, block, 0, input, values)) return;
  Node& node = draft.nodes[block];
  DType type = draft.graph.TypeOf(values[0]);
  if (given && type != *given) return draft.Error(InvalidArgument("the value needs ", *given, ", the block's dtype, found ", type), block, input.port);
  if (Tensor constant = ConstantOf(draft.nodes[values[0].node]); constant.defined()) {
    node.constant = std::move(constant);
    node.output_types = {type};
    node.out_first = PortTable::Single(1);
    return;
  }
  const BlockDef* identity = draft.registry().Find("Identity");
  if (identity == nullptr) return draft.Error(Unsupported("a wired ", node.def->name, " needs the block Identity, which this registry lacks"), block, input.port);
  node.def = identity;
  node.inputs = std::move(values);
  node.in_first = node.out_first = PortTable::Single(1);
  node.attrs = AttrList(std::vector<AttrValue>(identity->attrs.size()));
  node.output_types = {type};
}

void ConnectList(Draft& draft, int block) {
  std::vector<ValueRef> values;
  ValuesOf(draft, block, draft.nodes[block].def->inputs[0].name, values);
  draft.nodes[block].inputs = std::move(values);
}

void ConnectOperation(Draft& draft, int block) {
  const PortSpec& spec = draft.nodes[block].def->inputs[0];
  const PageInput& input = *InputOf(draft, block, spec.name);
  const auto* wire = std::get_if<Wire>(&input.items[0]);
  if (wire == nullptr) return draft.Error(InvalidArgument("the input '", spec.name, "' needs a wire to a block, found a value"), block, input.port);
  auto target = OperationOf(draft, *wire, draft.ProducerOf(block, input, 0));
  if (!target.ok()) return draft.Error(std::move(target).status(), block, input.port);
  Node& node = draft.nodes[block];
  node.broken |= draft.nodes[*target].broken;
  if (node.broken) return;
  node.target = *target;
  if (node.def->structural != Structural::kOutput) return;
  const Node& producer = draft.nodes[*target];
  int64_t index = std::get<int64_t>(node.attrs[node.def->FindAttr("index")]);
  if (index < 0 || index >= static_cast<int64_t>(producer.output_types.size())) {
    return draft.Error(OutOfRange("the block '", producer.id, "' has ", producer.output_types.size(), " outputs, so none has the index ", index), block, "index");
  }
  node.inputs = {{*target, static_cast<int>(index)}};
}

void ConnectFeed(Draft& draft, int block) {
  std::vector<ValueRef> replaced, value;
  if (!ValuesOf(draft, block, "input", replaced) || !ValuesOf(draft, block, "initializer", value)) return;
  DType needed = draft.graph.TypeOf(replaced[0]);
  const PageInput& input = *InputOf(draft, block, "initializer");
  Tensor tensor = ConstantOf(draft.nodes[value[0].node]);
  if (!tensor.defined()) {
    return draft.Error(InvalidArgument("the initializer needs a value that is known before the run, found one that runs compute or change"), block, input.port);
  }
  if (const auto* literal = LiteralOf(input.items[0]); literal != nullptr && tensor.dtype() != needed) {
    auto typed = LiteralTensor(*literal, needed);
    if (typed.ok()) tensor = std::move(*typed);
  }
  if (tensor.dtype() != needed) return draft.Error(InvalidArgument("the initializer needs ", needed, ", found ", tensor.dtype()), block, input.port);
  Node& node = draft.nodes[block];
  node.inputs = std::move(replaced);
  node.constant = std::move(tensor);
}

void ConnectGradients(Draft& draft, int block) {
  std::vector<ValueRef> ys, xs;
  if (!ValuesOf(draft, block, "outputs", ys) || !ValuesOf(draft, block, "inputs", xs)) return;
  if (ys.empty()) return draft.Error(InvalidArgument("the input 'outputs' needs at least one wire, found none"), block, "outputs");
  NodeAdder adder(draft, block);
  auto gradients = AddGradients(adder, ys, xs);
  if (!gradients.ok() && gradients.status().code() == Code::kFailedPrecondition) {
    draft.nodes[block].broken = true;
    return;
  }
  if (!gradients.ok()) {
    std::string port = gradients.status().place().port;
    return draft.Error(std::move(gradients).status(), block, port.empty() ? "outputs" : port);
  }
  draft.nodes[block].inputs = std::move(*gradients);
}

// RandomNormal_ex is RandomNormal with its shape as an attribute.
void ConnectAlias(Draft& draft, int block) {
  const BlockDef* real = draft.registry().Find("RandomNormal");
  if (real == nullptr) return draft.Error(Unsupported("needs the block RandomNormal, which this registry lacks"), block);
  const BlockDef& alias = *draft.nodes[block].def;
  const auto* partial = std::get_if<PartialShape>(&draft.nodes[block].attrs[alias.FindAttr("shape")]);
  auto shape = partial == nullptr ? std::nullopt : partial->shape();
  if (!shape) return draft.Error(InvalidArgument("needs a shape whose sizes are all known"), block, "shape");
  Result<Tensor> dims = Tensor::Allocate(DType::kInt64, Shape{shape->rank()});
  if (!dims.ok()) return draft.Error(std::move(dims).status(), block, "shape");
  std::copy(shape->dims().begin(), shape->dims().end(), dims->values<int64_t>().begin());
  int constant = draft.AddConstant(Cat(draft.nodes[block].id, ".shape"), block, std::move(*dims));
  Node& node = draft.nodes[block];
  std::vector<AttrValue> attrs;
  for (const AttrSpec& spec : real->attrs) {
    int index = alias.FindAttr(spec.name);
    attrs.push_back(index >= 0 ? node.attrs[index] : AttrValue());
  }
  node.def = real;
  node.attrs = std::move(attrs);
  node.inputs = {{constant, 0}};
  node.in_first = PortTable::Single(1);
  if (Status status = InferTypes(draft, node); !status.ok()) draft.Error(std::move(status), block, "dtype");
}

// The type of what a constant or a variable with a fault gives, where the fault leaves it known. A type that is given and another that is found
// clash, also where the value itself could not be read: `tell` where that was not told yet.
void TypeInPart(Draft& draft, int block, bool tell) {
  const Node& node = draft.nodes[block];
  const Structural kind = node.def->structural;
  if (kind != Structural::kConstant && kind != Structural::kVariable && kind != Structural::kTemporary) return;
  const int attr = node.def->FindAttr("dtype");
  const bool unread = attr >= 0 && node.attrs[attr].index() == 0 && IsGiven(draft.page.blocks[block], "dtype");
  if (unread || IsFaulty(draft.page.blocks[block]) || !node.output_types.empty()) return;
  const std::optional<DType> given = GivenType(draft, block);
  const PageInput* input = node.def->inputs.empty() ? nullptr : InputOf(draft, block, node.def->inputs[0].name);
  std::vector<InputInPart> values;
  if (input != nullptr) {
    const Literal* literal = input->items.size() == 1 ? LiteralOf(input->items[0]) : nullptr;
    const bool as_given = given && literal != nullptr && literal->form == Literal::Form::kText;
    const bool known = !as_given && input->items.size() == 1 && ReadItemInPart(draft.graph, block, 0, *input, 0, draft.types_in_part, values);
    if (!known && !given) return;
  }
  if (given && !values.empty() && values[0].type.type != *given) {
    const std::string_view what = kind == Structural::kConstant ? "the value needs " : "the initial value needs ";
    if (tell) draft.Error(InvalidArgument(what, *given, ", the block's dtype, found ", values[0].type.type), block, input->port);
  } else if (given || !values.empty()) {
    draft.types_in_part.Note(block, {node.def, {given ? *given : values[0].type.type}, PortTable::Single(1)});
  }
}

void ConnectByKind(Draft& draft, int block) {
  switch (draft.nodes[block].def->structural) {
    case Structural::kConstant: return ConnectConstant(draft, block);
    case Structural::kVariable:
    case Structural::kTemporary: return ConnectVariable(draft, block);
    case Structural::kList: return ConnectList(draft, block);
    case Structural::kOperation:
    case Structural::kOutput: return ConnectOperation(draft, block);
    case Structural::kFeed: return ConnectFeed(draft, block);
    case Structural::kGradients: return ConnectGradients(draft, block);
    case Structural::kAlias: return ConnectAlias(draft, block);
    default: return;  // sessions are connected when all blocks are
  }
}

}  // namespace

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

std::optional<DType> GivenType(const Draft& draft, int block) {
  const Node& node = draft.nodes[block];
  int index = node.def->FindAttr("dtype");
  const DType* type = index < 0 ? nullptr : std::get_if<DType>(&node.attrs[index]);
  return type != nullptr && IsGiven(draft.page.blocks[block], "dtype") ? std::optional(*type) : std::nullopt;
}

Result<int> OperationOf(Draft& draft, const Wire& wire, int node) {
  if (node < 0) return draft.NoBlock(wire.block);
  const BlockDef* def = draft.nodes[node].def;
  if (def == nullptr) return node;  // broken, and reported there
  if (draft.nodes[node].target >= 0) return draft.nodes[node].target;
  if (wire.port != "operation" && def->FindOutput(wire.port) < 0 && def->FindInput(wire.port) < 0) {
    std::vector<std::string_view> ports = {"operation"};
    for (const PortSpec& port : def->outputs) ports.push_back(port.name);
    return NotFound("the block '", wire.block, "' (", def->name, ") has no port '", wire.port, "'").WithHint(DidYouMean(wire.port, ports));
  }
  return node;
}

void ConnectStructural(Draft& draft, int block) {
  const BlockDef& def = *draft.nodes[block].def;
  for (const PortSpec& port : def.inputs) {
    if (port.optional || InputOf(draft, block, port.name) != nullptr) continue;
    if (IsReported(draft, block, static_cast<int>(&port - def.inputs.data()))) continue;
    draft.Error(InvalidArgument("the input '", port.name, "' of ", def.name, " needs a wire or a value, and has none"), block, port.name);
    return;
  }
  const bool broken = draft.nodes[block].broken;
  if (broken) CheckWires(draft, block);
  else ConnectByKind(draft, block);
  if (draft.nodes[block].broken) TypeInPart(draft, block, broken);
}

}  // namespace weft
