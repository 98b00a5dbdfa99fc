#include "runtime/plan/in_part.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/connecting.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/resolve.h"

namespace weft {
namespace {

constexpr size_t kMostValues = 1024;  // of a block with faults, at its inputs or outputs

/// What a wire from a block with faults brings.
bool ReadFromBroken(const Wire& wire, const PortSpec& to, const TypesInPart::Outputs& from, std::vector<InputInPart>& values) {
  const int port = from.def->FindOutput(wire.port);
  if (port < 0) return false;
  const PortSpec& spec = from.def->outputs[static_cast<size_t>(port)];
  uint32_t begin = from.first[static_cast<size_t>(port)], end = from.first[static_cast<size_t>(port) + 1];
  if (wire.index >= 0) {
    if (static_cast<uint32_t>(wire.index) >= end - begin) return false;
    begin += static_cast<uint32_t>(wire.index);
  }
  if (wire.index >= 0 || to.list == PortList::kSingle) end = std::min(end, begin + 1);
  if (begin == end && to.list == PortList::kSingle) return false;
  for (uint32_t v = begin; v < end; ++v) values.push_back({{from.types[v], spec.kind == PortKind::kReference ? &spec : nullptr}, {}, nullptr});
  return true;
}

/// Whether an input that the block does not have leaves the others as they are: a pin that stands for an attribute, or for nothing.
bool IsHarmless(const Page& page, const BlockDef& def, const PageInput& input) {
  const bool wire = !input.items.empty() && WireOf(input.items[0]) != nullptr;
  if (page.format != Page::Format::kWeft) return !wire;
  const Literal* literal = input.items.size() == 1 ? LiteralOf(input.items[0]) : nullptr;
  return def.FindAttr(input.port) >= 0 && literal != nullptr && literal->form == Literal::Form::kText;
}

std::vector<char> UnreadAttrs(const Node& node, const PageBlock& written) {
  std::vector<char> unread(node.def->attrs.size(), 0);
  for (size_t a = 0; a < unread.size(); ++a) {
    const AttrSpec& spec = node.def->attrs[a];
    unread[a] = (a >= node.attrs.size() || node.attrs[a].index() == 0) && (!spec.inferred || IsGiven(written, spec.name));
  }
  return unread;
}

/// Puts the ports' values one after another.
void Join(const std::vector<std::vector<InputInPart>>& ports, BlockInPart& part) {
  std::vector<uint32_t> first(1, 0);
  bool whole = true;
  for (const std::vector<InputInPart>& values : ports) {
    part.inputs.insert(part.inputs.end(), values.begin(), values.end());
    first.push_back(static_cast<uint32_t>(part.inputs.size()));
  }
  part.node.in_first = PortTable::Of(std::move(first));
  for (const InputInPart& input : part.inputs) whole &= input.value.valid() || input.literal != nullptr;
  for (const InputInPart& input : part.inputs) {
    if (whole) part.node.inputs.push_back(input.value);
  }
}

}  // namespace

const TypesInPart::Outputs* TypesInPart::Find(int block) const {
  const auto found = known_.find(block);
  return found == known_.end() ? nullptr : &found->second;
}

void TypesInPart::Note(int block, Outputs outputs) {
  if (outputs.types.size() <= kMostValues) known_.insert_or_assign(block, std::move(outputs));
}

std::vector<Status> BlockInPart::InferTypes() {
  std::vector<InputType> types;
  for (const InputInPart& input : inputs) types.push_back(input.type);
  std::vector<Status> faults;
  if (Status first = InferTypesInPart(node, types, unread, faults); !first.ok()) faults.insert(faults.begin(), std::move(first));
  const auto type = [&](uint32_t v) { return inputs[v].type; };
  for (Status& fault : faults) fault = WithPortFacts(node, std::move(fault), type, [](uint32_t) { return static_cast<const Shape*>(nullptr); });
  return faults;
}

bool ReadItemInPart(const Graph& graph, int block, int port, const PageInput& input, size_t item, const TypesInPart& known, std::vector<InputInPart>& values) {
  const Node& node = graph.node(block);
  const PortSpec& spec = node.def->inputs[static_cast<size_t>(port)];
  if (const Literal* literal = LiteralOf(input.items[item])) {
    const std::optional<DType> type = TypeOfLiteral(node, spec, *literal);
    if (spec.kind == PortKind::kReference || !type || (input.faulty && input.list)) return false;  // of a list with a fault one may be missing
    values.push_back({{*type, nullptr}, {}, literal});
    return true;
  }
  const Wires& wires = graph.wires();
  const auto index = static_cast<size_t>(&input - graph.page().blocks[static_cast<size_t>(block)].inputs.data());
  const int producer = wires.producers[wires.first_item[wires.first_input[static_cast<size_t>(block)] + index] + item];
  const Wire& wire = *WireOf(input.items[item]);
  if (input.faulty || producer < 0 || graph.node(producer).def == nullptr) return false;
  if (graph.node(producer).broken) {
    const TypesInPart::Outputs* outputs = known.Find(producer);
    return outputs != nullptr && ReadFromBroken(wire, spec, *outputs, values);
  }
  std::vector<ValueRef> brought;
  if (!ResolveWire(graph, wire, producer, spec.list == PortList::kSingle ? 1 : kMostValues + 1, brought).ok()) return false;
  if (spec.list == PortList::kSingle && brought.empty()) return false;
  for (ValueRef value : brought) {
    if (!value.valid() || graph.node(value.node).broken) return false;
    values.push_back({InputTypeOf(graph, value), value, nullptr});
  }
  return true;
}

std::optional<BlockInPart> ReadInPart(const Graph& graph, int block, const TypesInPart& known) {
  const Node& node = graph.node(block);
  const PageBlock& written = graph.page().blocks[static_cast<size_t>(block)];
  if (IsFaulty(written) || node.def == nullptr || node.def->structural != Structural::kNone || graph.IndexOf(written.id) != block) return std::nullopt;
  const BlockDef& def = *node.def;
  std::vector<std::vector<InputInPart>> ports(def.inputs.size());
  std::vector<char> has(def.inputs.size(), 0);
  for (const PageInput& input : written.inputs) {
    const int port = def.FindInput(input.port);
    if (port < 0 && IsHarmless(graph.page(), def, input)) continue;
    if (port < 0 || std::exchange(has[static_cast<size_t>(port)], 1)) return std::nullopt;
    std::vector<InputInPart>& values = ports[static_cast<size_t>(port)];
    for (size_t k = 0; k < input.items.size(); ++k) {
      if (!ReadItemInPart(graph, block, port, input, k, known, values) || values.size() > kMostValues) return std::nullopt;
    }
    if (def.inputs[static_cast<size_t>(port)].list == PortList::kSingle && values.size() != 1) return std::nullopt;
  }
  for (size_t p = 0; p < has.size(); ++p) {
    if (!has[p] && def.inputs[p].list != PortList::kTuple) return std::nullopt;
  }
  BlockInPart part;
  part.node.id = node.id;
  part.node.page_block = block;
  part.node.def = &def;
  part.node.attrs = node.attrs;
  part.unread = UnreadAttrs(node, written);
  Join(ports, part);
  return part;
}

}  // namespace weft
