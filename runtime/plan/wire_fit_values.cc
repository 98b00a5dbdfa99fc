#include "runtime/plan/wire_fit_values.h"

#include <algorithm>

namespace weft {

namespace {

/// Whether the block's outputs are values of other blocks.
bool StandsForOthers(const BlockDef& def) {
  return def.structural == Structural::kList || def.structural == Structural::kOutput || def.structural == Structural::kGradients;
}

}  // namespace

PageValues::PageValues(const Graph& graph) : graph_(graph) {
  const std::vector<PageBlock>& blocks = graph.page().blocks;
  defs_.reserve(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    const BlockDef* def = graph.node(static_cast<int>(b)).def;
    defs_.push_back(def != nullptr && def->name == blocks[b].type ? def : graph.registry().Find(blocks[b].type));
  }
}

OfferedValue PageValues::ValueOf(ValueRef value) const {
  const Node& producer = graph_.node(value.node);
  const int port = producer.def == nullptr ? -1 : producer.out_first.PortOf(static_cast<uint32_t>(value.output));
  const OfferedValue::Kind kind = port < 0 ? OfferedValue::Kind::kValue : KindOf(producer.def->outputs[static_cast<size_t>(port)]);
  const bool constant = producer.constant.defined();  // of a variable its initial value
  return {producer.output_types[static_cast<size_t>(value.output)], kind, constant ? &producer.constant.get() : nullptr};
}

OfferedOutputs PageValues::OutputsOf(int block) const {
  const Node& node = graph_.node(block);
  OfferedOutputs outputs;
  if (node.broken || node.def == nullptr) return outputs;
  outputs.broken = false;
  const auto add = [&](ValueRef value) { outputs.values.push_back(ValueOf(value)); };
  if (StandsForOthers(*node.def)) {
    for (ValueRef value : node.inputs) {
      if (value.valid()) add(value);
      else outputs.values.push_back({});
    }
    outputs.first = {0, static_cast<uint32_t>(node.inputs.size())};
    return outputs;
  }
  for (size_t v = 0; v < node.output_types.size(); ++v) add({block, static_cast<int>(v)});
  const std::span<const uint32_t> first = node.out_first.table();
  outputs.first.assign(first.begin(), first.end());
  return outputs;
}

bool PageValues::Gives(int block, const OfferedOutputs& outputs) const {
  const Node& node = graph_.node(block);
  if (node.broken || node.def == nullptr || node.def->structural != Structural::kNone) return outputs == OutputsOf(block);
  if (outputs.broken || outputs.values.size() != node.output_types.size() || !std::ranges::equal(outputs.first, node.out_first.table())) return false;
  for (size_t v = 0; v < outputs.values.size(); ++v) {
    if (outputs.values[v].type != node.output_types[v] || outputs.values[v].constant != nullptr) return false;
  }
  return true;  // kinds are those that the block declares
}

WireSource PageValues::SourceOf(const Wire& wire, const ChangedOutputs& changed) const {
  WireSource source{wire, graph_.IndexOf(wire.block), {}, false, {}};
  if (source.block < 0) {
    source.refused = graph_.FindNode(wire.block).status();
    return source;
  }
  const Node& node = graph_.node(source.block);
  const BlockDef* def = DefOf(source.block);
  if (def == nullptr) {
    source.broken = true;
    return source;
  }
  if (def->structural == Structural::kSession && def->FindOutput(wire.port) >= 0) {
    source.refused = InvalidArgument("the output '", wire.port, "' of '", wire.block, "' (", def->name, ") carries no value")
                         .WithHint("it can be wired only to what takes a session, a feed or an operation");
    return source;
  }
  auto value = graph_.FindValue(ToString(wire));
  int port = def->FindOutput(wire.port);
  if (port < 0 && node.def != nullptr) port = node.def->FindOutput(wire.port);
  const OfferedOutputs* other = changed.Find(source.block);
  if (!value.ok() && (port < 0 || (!node.broken && other == nullptr))) {
    const bool empty = port >= 0 && value.status().code() == Code::kNotFound;  // a list without elements
    const bool gradient = node.def != nullptr && node.def->structural == Structural::kGradients && value.status().code() == Code::kInvalidArgument;
    if (gradient) source.refused = InvalidArgument("the wire ", wire, " brings no gradient: the outputs do not depend on that input");
    else if (!empty) source.refused = std::move(value).status();
    return source;
  }
  const OfferedOutputs outputs = other != nullptr ? *other : OutputsOf(source.block);
  source.broken = outputs.broken || outputs.first.size() <= static_cast<size_t>(port) + 1;
  if (source.broken) return source;
  const auto begin = outputs.values.begin();
  source.values.assign(begin + outputs.first[static_cast<size_t>(port)], begin + outputs.first[static_cast<size_t>(port) + 1]);
  if (wire.index < 0) return source;
  if (static_cast<size_t>(wire.index) >= source.values.size()) {
    source.refused = OutOfRange("the output '", wire.port, "' of '", wire.block, "' has ", source.values.size(),
                                source.values.size() == 1 ? " element" : " elements", ", so none is ", wire.index);
    return source;
  }
  source.values = {source.values[static_cast<size_t>(wire.index)]};
  return source;
}

void PageValues::ValuesOf(int block, const ChangedOutputs& changed, std::vector<GivenItem>& given) const {
  const Node& node = graph_.node(block);
  given.clear();
  for (size_t p = 0; p < node.def->inputs.size(); ++p) {
    for (uint32_t v = node.in_first[p]; v < node.in_first[p + 1]; ++v) {
      const ValueRef value = node.inputs[v];
      const bool on_page = static_cast<size_t>(value.node) < defs_.size();  // no literal
      const OfferedOutputs* other = on_page ? changed.Find(value.node) : nullptr;
      given.push_back({static_cast<int>(p), nullptr, other != nullptr ? other->values[static_cast<size_t>(value.output)] : ValueOf(value)});
    }
  }
}

// Of a block that the graph has all of. Which literals there are does not matter, only their types.
void PageValues::KnownItems(int block, const WireSource* source, int port, std::vector<GivenItem>& given) const {
  const Node& node = graph_.node(block);
  const BlockDef& def = *DefOf(block);
  for (size_t p = 0; p < def.inputs.size(); ++p) {
    const bool meant = source != nullptr && static_cast<int>(p) == port;
    const bool single = def.inputs[p].list == PortList::kSingle;
    const auto alone = [&](const PageInput& input) { return !input.list && def.FindInput(input.port) == port; };
    const bool replaced = meant && (single || std::ranges::any_of(Written(block).inputs, alone));
    for (uint32_t v = node.in_first[p]; v < node.in_first[p + 1] && !replaced; ++v) given.push_back({static_cast<int>(p), nullptr, ValueOf(node.inputs[v])});
    for (size_t v = 0; meant && v < source->values.size() && (v == 0 || !single); ++v) given.push_back({port, nullptr, source->values[v]});
  }
}

bool PageValues::ItemsOf(int block, const ChangedOutputs& changed, std::vector<GivenItem>& given, const WireSource* source, int port, int index) const {
  const BlockDef& def = *DefOf(block);
  const PageBlock& written = Written(block);
  given.clear();
  if (changed.empty() && !graph_.node(block).broken && def.structural == Structural::kNone && index < 0) {
    KnownItems(block, source, port, given);
    return true;
  }
  bool known = !IsFaulty(written), placed = source == nullptr;
  const auto bring = [&](int p, const WireSource& from) {
    known &= !from.broken && !from.refused;
    const bool single = def.inputs[static_cast<size_t>(p)].list == PortList::kSingle;
    for (size_t v = 0; v < from.values.size() && (v == 0 || !single); ++v) given.push_back({p, nullptr, from.values[v]});
  };
  for (const PageInput& input : written.inputs) {
    const int p = def.FindInput(input.port);
    const bool meant = source != nullptr && p == port;
    if (p < 0) {
      known &= def.FindAttr(input.port) >= 0 && input.items.size() == 1 && WireOf(input.items[0]) == nullptr;
      continue;
    }
    known &= !input.faulty || meant;
    if (meant && !input.list && index < 0) {
      bring(p, *source);
      placed = true;
      continue;
    }
    for (size_t k = 0; k <= input.items.size(); ++k) {
      if (meant && !placed && (k == static_cast<size_t>(index) || k == input.items.size())) bring(p, *source), placed = true;
      if (k == input.items.size()) break;
      if (const Literal* literal = LiteralOf(input.items[k])) given.push_back({p, literal, {}});
      else bring(p, SourceOf(*WireOf(input.items[k]), changed));
    }
  }
  if (!placed) bring(port, *source);
  return known;
}

}  // namespace weft
