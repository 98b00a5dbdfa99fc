// What inputs bring: wires and literals as values.
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/call_limit.h"
#include "runtime/plan/connecting.h"
#include "runtime/plan/resolve.h"
#include "weft/page/literal.h"

namespace weft {

// The type of a literal that is written as a text.
static std::optional<DType> TypeForText(const Node& node, const PortSpec& spec, const Literal& literal) {
  if (spec.dtype != DType::kInvalid) return spec.dtype;
  int attr = spec.type_attr.empty() ? -1 : node.def->FindAttr(spec.type_attr);
  if (attr >= 0 && node.def->attrs[attr].inferred) {
    if (const DType* given = std::get_if<DType>(&node.attrs[attr])) return *given;
  }
  return literal.dtype;
}

std::optional<DType> TypeOfLiteral(const Node& node, const PortSpec& spec, const Literal& literal) {
  return literal.form == Literal::Form::kText ? TypeForText(node, spec, literal) : literal.dtype;
}

Result<Tensor> LiteralTensor(const Literal& literal, std::optional<DType> dtype) {
  if (literal.form != Literal::Form::kText) {
    if (!literal.tensor.defined()) return InvalidArgument("the value could not be read");
    return literal.tensor;
  }
  return ParseTextLiteral(literal.text, dtype, literal.shape);
}

// Adds a node for a literal.
static Result<ValueRef> LiteralNode(Draft& draft, int block, const PortSpec& spec, const std::string& suffix, const Literal& literal) {
  const Node& node = draft.nodes[block];
  if (spec.kind == PortKind::kReference) {
    return InvalidArgument("the input '", spec.name, "' needs a variable, found a value").WithHint("wire it to a Variable block");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, LiteralTensor(literal, TypeForText(node, spec, literal)));
  return ValueRef{draft.AddConstant(Cat(node.id, ".", spec.name, suffix), block, std::move(tensor)), 0};
}

bool ConnectPort(Draft& draft, int block, int port, const PageInput& input, std::vector<ValueRef>& values) {
  const BlockDef& def = *draft.nodes[block].def;
  const PortSpec& spec = def.inputs[port];
  bool ok = true;
  for (size_t k = 0; k < input.items.size(); ++k) {
    ok &= ConnectItem(draft, block, port, input, k, values);
    if (values.size() > Draft::kMostValues) break;  // reported once
  }
  if (!ok || input.faulty) return false;
  if (spec.list == PortList::kSingle && values.size() != 1) {
    draft.Error(InvalidArgument("the input '", spec.name, "' of ", def.name, " takes one value, found ", values.size()), block, input.port);
    return false;
  }
  return true;
}

bool ConnectItem(Draft& draft, int block, int port, const PageInput& input, size_t item, std::vector<ValueRef>& values) {
  CallLimit::Check();
  const PortSpec& spec = draft.nodes[block].def->inputs[port];
  int place = input.list ? static_cast<int>(item) : -1;
  if (const auto* literal = LiteralOf(input.items[item])) {
    if (input.faulty) return false;
    auto value = LiteralNode(draft, block, spec, input.list ? Cat("[", item, "]") : "", *literal);
    if (!value.ok()) {
      draft.Error(std::move(value).status(), block, input.port, place);
      return false;
    }
    values.push_back(*value);
    return true;
  }
  const Wire& wire = std::get<Wire>(input.items[item]);
  int producer = draft.ProducerOf(block, input, item);
  if (producer < 0 || draft.nodes[producer].def == nullptr) {
    draft.nodes[block].broken = true;
    // An unknown block type is reported once, at the block itself.
    if (producer < 0) draft.Error(draft.NoBlock(wire.block), block, input.port, place);
    return false;
  }
  // Without an index a single port takes the first of a list, a list port takes them all.
  const size_t most = spec.list == PortList::kSingle ? 1 : Draft::kMostValues + 1;
  const size_t before = values.size();
  if (Status status = ResolveWire(draft.graph, wire, producer, most, values); !status.ok()) {
    draft.Error(std::move(status), block, input.port, place);
    return false;
  }
  draft.list_values += spec.list == PortList::kSingle ? 0 : values.size() - before;
  if (Status status = draft.CheckListValues(values.size()); !status.ok()) {
    values.resize(std::min(values.size(), Draft::kMostValues + 1));
    draft.Error(std::move(status), block, input.port, place);
    return false;
  }
  for (size_t v = before; v < values.size(); ++v) {
    const ValueRef value = values[v];
    if (value.valid() && !draft.nodes[value.node].broken) continue;
    values.resize(v);
    if (!value.valid()) {
      draft.Error(InvalidArgument("the wire ", wire, " brings no gradient: the outputs do not depend on that input"), block, input.port, place);
    }
    draft.nodes[block].broken = true;
    return false;
  }
  return true;
}

const PageInput* InputOf(const Draft& draft, int block, std::string_view port) {
  const BlockDef& def = *draft.nodes[block].def;
  int wanted = def.FindInput(port);
  for (const PageInput& input : draft.page.blocks[block].inputs) {
    if (wanted >= 0 && def.FindInput(input.port) == wanted && !input.items.empty()) return &input;
  }
  return nullptr;
}

bool ValuesOf(Draft& draft, int block, std::string_view port, std::vector<ValueRef>& values) {
  const PageInput* input = InputOf(draft, block, port);
  if (input == nullptr) return true;
  int index = draft.nodes[block].def->FindInput(port);
  return ConnectPort(draft, block, index, *input, values);
}

}  // namespace weft
