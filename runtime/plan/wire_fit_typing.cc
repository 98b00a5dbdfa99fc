#include "runtime/plan/wire_fit_typing.h"

#include <algorithm>

#include "runtime/plan/port_facts.h"

namespace weft {
namespace {

/// Mixes a number into a hash (64-bit finaliser of MurmurHash3).
void Mix(uint64_t& hash, uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
}

/// A literal with no elements, of a type.
Literal EmptyLiteral(DType type) {
  Literal literal;
  literal.dtype = type;
  literal.shape = Shape{0};
  if (auto tensor = Tensor::Allocate(type, Shape{0}); tensor.ok()) literal.tensor = std::move(*tensor);
  return literal;
}

Literal ConstantLiteral(const Tensor& tensor) {
  Literal literal;
  literal.dtype = tensor.dtype();
  literal.shape = tensor.shape();
  literal.tensor = tensor;
  return literal;
}

/// The type that a type attribute stands for, as far as the items say; else one that it allows.
DType TypeOfAttr(const Node& node, int attr, std::span<const GivenItem> given) {
  const AttrSpec& spec = node.def->attrs[static_cast<size_t>(attr)];
  if (static_cast<size_t>(attr) < node.attrs.size() && node.broken) {
    if (const DType* type = std::get_if<DType>(&node.attrs[static_cast<size_t>(attr)])) return *type;
  }
  for (const GivenItem& item : given) {
    if (item.literal == nullptr && node.def->inputs[static_cast<size_t>(item.port)].type_attr == spec.name) return item.value.type;
  }
  for (const GivenItem& item : given) {
    const bool typed = item.literal != nullptr && item.literal->dtype && node.def->inputs[static_cast<size_t>(item.port)].type_attr == spec.name;
    if (typed) return *item.literal->dtype;
  }
  const bool any = spec.allowed_types.empty() || std::ranges::find(spec.allowed_types, DType::kFloat) != spec.allowed_types.end();
  return any ? DType::kFloat : spec.allowed_types.front();
}

}  // namespace

OfferedValue::Kind KindOf(const PortSpec& output) {
  if (output.kind != PortKind::kReference) return OfferedValue::Kind::kValue;
  return output.resource ? OfferedValue::Kind::kHandle : OfferedValue::Kind::kVariable;
}

uint64_t BlockTyping::KeyOf(int block, std::span<const GivenItem> given) {
  const BlockDef& def = *graph_.node(block).def;
  uint64_t& key_of_block = block_keys_[static_cast<size_t>(block)];
  if (key_of_block == 0) {
    const PageBlock& written = graph_.page().blocks[static_cast<size_t>(block)];
    key_of_block = reinterpret_cast<uintptr_t>(&def);
    Mix(key_of_block, std::hash<std::string>()(written.attrs));
    const bool pins = std::ranges::any_of(written.inputs, [&](const PageInput& input) { return def.FindInput(input.port) < 0; });
    if (pins) Mix(key_of_block, reinterpret_cast<uintptr_t>(&written));  // that stand for attributes
  }
  uint64_t key = key_of_block;
  for (const GivenItem& item : given) {
    Mix(key, static_cast<uint64_t>(item.port) << 16 | static_cast<uint64_t>(item.value.type) << 8 | static_cast<uint64_t>(item.value.kind));
    if (item.literal != nullptr) Mix(key, reinterpret_cast<uintptr_t>(item.literal));
    // Whether a value is known before the run matters to constants, variables and feeds only.
    if (def.structural != Structural::kNone && item.value.constant != nullptr) Mix(key, reinterpret_cast<uintptr_t>(item.value.constant->data()));
  }
  return key;
}

const BlockTyping::Outcome& BlockTyping::Connect(int block, std::span<const GivenItem> given) {
  const uint64_t key = KeyOf(block, given);
  auto it = known_.find(key);
  if (it != known_.end()) return it->second;
  Outcome& outcome = known_.emplace(key, ConnectAnew(block, given)).first->second;
  for (OfferedValue& value : outcome.outputs.values) value.constant = outcome.constant.defined() ? &outcome.constant : nullptr;
  return outcome;
}

void BlockTyping::Complete(const Node& node, std::vector<GivenItem>& given) const {
  const BlockDef& def = *node.def;
  const size_t written = given.size();
  for (size_t p = 0; p < def.inputs.size(); ++p) {
    const PortSpec& spec = def.inputs[p];
    const bool has = std::any_of(given.begin(), given.begin() + static_cast<ptrdiff_t>(written), [&](const GivenItem& i) { return i.port == static_cast<int>(p); });
    if (has || spec.optional || MayBeEmpty(def, spec)) continue;
    GivenItem item{static_cast<int>(p), nullptr, {spec.dtype, KindOf(spec), nullptr}};
    const int attr = spec.type_attr.empty() ? -1 : def.FindAttr(spec.type_attr);
    if (item.value.type == DType::kInvalid) item.value.type = attr < 0 ? DType::kFloat : TypeOfAttr(node, attr, std::span(given).first(written));
    size_t count = 1;
    for (size_t q = 0; spec.list == PortList::kHomogeneous && q < def.inputs.size(); ++q) {
      if (def.inputs[q].list_attr != spec.list_attr || q == p) continue;  // as many as the list of the same length has
      const auto same = static_cast<size_t>(std::ranges::count(std::span(given).first(written), static_cast<int>(q), &GivenItem::port));
      count = std::max(count, same);
    }
    given.insert(given.end(), count, item);
  }
}

InputItem BlockTyping::ItemFor(const BlockDef& def, const GivenItem& given, std::vector<PageBlock>& stubs) const {
  if (given.literal != nullptr) return Boxed<Literal>(*given.literal);
  const OfferedValue& value = given.value;
  const bool constant = value.kind == OfferedValue::Kind::kValue || def.structural == Structural::kVariable;  // a variable's is its initial value
  if (value.constant != nullptr && constant && def.structural != Structural::kNone) return Boxed<Literal>(ConstantLiteral(*value.constant));
  std::string_view type = "Identity";
  if (value.kind == OfferedValue::Kind::kVariable) type = "Variable";
  if (value.kind == OfferedValue::Kind::kHandle) type = "VarHandleOp";
  const BlockDef* stub = graph_.registry().Find(type);
  const bool plain = value.kind == OfferedValue::Kind::kValue;
  // Blocks that compute do not tell a literal from a value.
  if (stub == nullptr || (plain && def.structural == Structural::kNone)) return Boxed<Literal>(EmptyLiteral(value.type));
  PageBlock& block = stubs.emplace_back();
  block.id = Cat("#", stubs.size());
  block.type = type;
  if (plain) block.inputs.push_back({stub->inputs[0].name, false, {Boxed<Literal>(EmptyLiteral(value.type))}});
  else block.attrs = Cat("dtype_ = ", value.type, value.kind == OfferedValue::Kind::kHandle ? "; shape_ = [0];" : ";");
  return Wire{block.id, stub->outputs[0].name, -1};
}

BlockTyping::Outcome BlockTyping::ConnectAnew(int block, std::span<const GivenItem> given) const {
  const Node& node = graph_.node(block);
  const PageBlock& written = graph_.page().blocks[static_cast<size_t>(block)];
  const BlockDef& def = *graph_.registry().Find(written.type);
  std::vector<GivenItem> items(given.begin(), given.end());
  if (def.structural == Structural::kNone) Complete(node, items);
  const bool complete = items.size() == given.size();
  auto page = std::make_shared<Page>();
  page->format = graph_.page().format;
  PageBlock alone;
  alone.id = written.id;
  alone.type = written.type;
  alone.attrs = written.attrs;
  alone.pointer = written.pointer;
  for (const PageInput& input : written.inputs) {
    if (def.FindInput(input.port) < 0) alone.inputs.push_back(input);  // a pin that stands for an attribute
  }
  std::vector<PageBlock> stubs;
  for (const GivenItem& item : items) {
    const PortSpec& spec = def.inputs[static_cast<size_t>(item.port)];
    auto input = std::ranges::find(alone.inputs, spec.name, &PageInput::port);
    if (input == alone.inputs.end()) input = alone.inputs.insert(input, {spec.name, spec.list != PortList::kSingle, {}, false});
    input->items.push_back(ItemFor(def, item, stubs));
  }
  page->blocks.push_back(std::move(alone));
  std::move(stubs.begin(), stubs.end(), std::back_inserter(page->blocks));
  Diagnostics found;
  const std::unique_ptr<Graph> graph = Graph::Build(page, graph_.registry(), graph_.name(), found);
  Outcome outcome;
  outcome.complete = complete;
  for (const Diagnostic& diagnostic : found.all()) {
    if (diagnostic.severity != Severity::kError || diagnostic.status.place().block != written.id) continue;
    const std::string_view port = diagnostic.status.place().port;
    const int index = def.FindInput(port.substr(0, port.find('[')));
    const bool stand_in = index >= 0 && std::ranges::find(given, index, &GivenItem::port) == given.end();
    (stand_in ? outcome.lacking : outcome.status) = diagnostic.status;
    break;
  }
  const Node& result = graph->node(0);
  if (!complete || result.broken) return outcome;
  outcome.outputs.broken = false;
  outcome.constant = result.constant;
  const std::span<const uint32_t> first = result.out_first.table();
  outcome.outputs.first.assign(first.begin(), first.end());
  for (size_t v = 0; v < result.output_types.size(); ++v) {
    const int port = result.out_first.PortOf(static_cast<uint32_t>(v));
    outcome.outputs.values.push_back({result.output_types[v], port < 0 ? OfferedValue::Kind::kValue : KindOf(result.def->outputs[static_cast<size_t>(port)]), nullptr});
  }
  return outcome;
}

}  // namespace weft
