#include "weft/plan/graph.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "runtime/base/call_limit.h"
#include "runtime/plan/resolve.h"

namespace weft {
namespace {

constexpr size_t kSharedPorts = 64;

constexpr auto MakeShared() {
  std::array<uint32_t, kSharedPorts + 1> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint32_t>(i);
  return table;
}
constexpr auto kShared = MakeShared();

}  // namespace

const Tensor RareTensor::kNone{};

const PortTable::Rows* PortTable::SharedRows(size_t ports) {
  struct All {
    All() {
      for (size_t i = 0; i <= kSharedPorts; ++i) rows[i].first = kShared.data(), rows[i].size = i + 1;
    }
    Rows rows[kSharedPorts + 1];
  };
  static const All all;
  return &all.rows[ports];
}

PortTable PortTable::Single(size_t ports) {
  if (ports <= kSharedPorts) {
    PortTable table;
    table.rows_ = SharedRows(ports);
    return table;
  }
  std::vector<uint32_t> first(ports + 1);
  for (size_t i = 0; i <= ports; ++i) first[i] = static_cast<uint32_t>(i);
  return Of(std::move(first));
}

PortTable PortTable::Of(std::vector<uint32_t> first) {
  PortTable table;
  auto rows = std::make_unique<Rows>();
  rows->values = std::move(first);
  rows->first = rows->values.data();
  rows->size = rows->values.size();
  rows->own = true;
  table.rows_ = rows.release();
  return table;
}

int64_t Graph::bytes() const {
  return parts_.page_bytes + static_cast<int64_t>(parts_.reference_roots.size()) * Parts::kReferenceBytes +
         static_cast<int64_t>(parts_.nodes.size() * sizeof(Node) + parts_.in_order.size() * sizeof(int) + page_->layout_text.size() +
                              page_->extra.size());
}

int PortTable::PortOf(uint32_t value) const {
  const std::span<const uint32_t> first = table();
  for (size_t port = 0; port + 1 < first.size(); ++port) {
    if (value < first[port + 1]) return static_cast<int>(port);
  }
  return -1;
}

/// The declaration that the page knows a node by, also where another block does its work (Identity that of a wired Input). Not for nodes
/// without a def.
static const BlockDef& DeclaredBy(const Graph& graph, const Node& node) {
  if (node.added || node.page_block < 0) return *node.def;
  const BlockDef* declared = graph.registry().Find(graph.page().blocks[node.page_block].type);
  return declared != nullptr && declared->outputs.size() == node.def->outputs.size() ? *declared : *node.def;
}

std::string NamesHint(std::string_view name, const std::vector<std::string_view>& known, std::string_view what) {
  std::string hint = DidYouMean(name, known);
  if (!hint.empty()) return hint;
  if (known.empty()) return Cat("it has no ", what);
  hint = known.size() == 1 ? Cat("its only ", what.substr(0, what.size() - 1), " is ") : Cat("its ", what, " are ");
  for (size_t i = 0; i < known.size(); ++i) hint += Cat(i ? ", " : "", "'", known[i], "'");
  return hint;
}

Result<int> Graph::FindNode(std::string_view id) const {
  if (int block = IndexOf(id); block >= 0) return block;
  size_t dot = id.find('.');
  if (dot != std::string_view::npos) {
    if (int block = IndexOf(id.substr(0, dot)); block >= 0) return block;
    id = id.substr(0, dot);
  }
  std::vector<std::string_view> ids;
  for (const PageBlock& block : page_->blocks) ids.push_back(block.id);
  return NotFound("there is no block '", id, "'").WithHint(DidYouMean(id, ids));
}

Status ResolveWire(const Graph& graph, const Wire& wire, int index, size_t most, std::vector<ValueRef>& values) {
  const Node& node = graph.node(index);
  if (node.def == nullptr) {
    return NotFound("needs an output of '", wire.block, "', whose block type '", graph.page().blocks[node.page_block].type, "' is not known");
  }
  int port = node.def->FindOutput(wire.port);
  if (port < 0) port = DeclaredBy(graph, node).FindOutput(wire.port);
  if (port < 0) {
    const BlockDef& declared = DeclaredBy(graph, node);
    std::vector<std::string_view> ports;
    for (const PortSpec& spec : declared.outputs) ports.push_back(spec.name);
    Status status = NotFound("the block '", wire.block, "' (", declared.name, ") has no output '", wire.port, "'");
    if (wire.port == "operation") {
      return std::move(status).WithHint(Cat("'operation' is the block itself, for inputs that take operations, such as run_outputs; ", NamesHint("", ports, "outputs")));
    }
    return std::move(status).WithHint(NamesHint(wire.port, ports, "outputs"));
  }
  if (node.broken) {
    // How many values it would have is not known.
    values.push_back({index, 0});
    return {};
  }
  const Structural kind = node.def->structural;
  const bool stands_for_others = kind == Structural::kList || kind == Structural::kGradients || kind == Structural::kOutput;
  if (!stands_for_others && node.out_first.table().empty()) {
    return InvalidArgument("the output '", wire.port, "' of '", wire.block, "' (", node.def->name, ") carries no value")
        .WithHint("it can be wired only to what takes a session, a feed or an operation");
  }
  const size_t first = stands_for_others ? 0 : node.out_first[port];
  const size_t count = stands_for_others ? node.inputs.size() : node.out_first[port + 1] - first;
  size_t begin = 0, end = std::min(count, most);
  if (wire.index >= 0) {
    if (node.def->outputs[port].list == PortList::kSingle && wire.index > 0) {
      return OutOfRange("the output '", wire.port, "' of '", wire.block, "' is no list, so it has no element ", wire.index);
    }
    if (static_cast<size_t>(wire.index) >= count) {
      return OutOfRange("the output '", wire.port, "' of '", wire.block, "' has ", count, count == 1 ? " element" : " elements",
                        ", so none is ", wire.index);
    }
    begin = static_cast<size_t>(wire.index);
    end = begin + 1;
  }
  for (size_t k = begin; k < end; ++k) {
    values.push_back(stands_for_others ? node.inputs[k] : ValueRef{index, static_cast<int>(first + k)});
  }
  return {};
}

Result<ValueRef> Graph::FindValue(std::string_view text) const {
  WEFT_ASSIGN_OR_RETURN(Wire wire, ParseWire(text));
  WEFT_ASSIGN_OR_RETURN(int node, FindNode(wire.block));
  std::vector<ValueRef> values;
  WEFT_RETURN_IF_ERROR(ResolveWire(*this, wire, node, 1, values));
  if (parts_.nodes[node].broken) return FailedPrecondition("'", text, "' has no value: the page has errors at the block or before it");
  if (values.empty()) return NotFound("'", text, "' is an empty list");
  if (!values[0].valid()) return InvalidArgument("'", text, "' has no value: nothing it asks for depends on it");
  return values[0];
}

std::string Graph::ValueName(ValueRef value) const {
  const Node& node = parts_.nodes[value.node];
  if (node.def == nullptr) return node.id;
  int port = node.out_first.PortOf(static_cast<uint32_t>(value.output));
  if (port < 0) return node.id;
  const PortSpec& spec = DeclaredBy(*this, node).outputs[port];
  if (spec.list == PortList::kSingle) return Cat(node.id, ".", spec.name);
  return Cat(node.id, ".", spec.name, "[", value.output - static_cast<int>(node.out_first[port]), "]");
}

int Graph::HomeFrame(int index) const {
  const Node& node = parts_.nodes[index];
  if (parts_.frames.size() == 1 || node.def == nullptr || node.def->flow != Flow::kExit || node.inputs.empty()) return node.frame;
  return parts_.nodes[node.inputs[0].node].frame;
}

// The input of the node whose variable this output is; invalid where it is no reference.
static ValueRef ReferenceSource(const Graph& graph, ValueRef value) {
  const Node& node = graph.node(value.node);
  if (node.def == nullptr) return {};
  int port = node.out_first.PortOf(static_cast<uint32_t>(value.output));
  if (port < 0) return {};
  int input = node.def->outputs[port].reference_of;
  if (input < 0 || node.in_first[input] >= node.inputs.size()) return {};
  return node.inputs[node.in_first[input]];
}

static bool IsReferenceRoot(const Node& node) { return node.variable >= 0 || (node.def != nullptr && node.def->flow == Flow::kSelect); }

ValueRef Graph::ReferenceRoot(ValueRef value) const {
  while (value.valid() && !IsReferenceRoot(parts_.nodes[value.node])) {
    const ValueRef source = ReferenceSource(*this, value);
    if (source.valid() && !IsReferenceRoot(parts_.nodes[source.node])) {
      if (const auto noted = parts_.reference_roots.find(Parts::KeyOf(value)); noted != parts_.reference_roots.end()) return noted->second;
    }
    value = source;
  }
  return value;
}

int Graph::VariableOf(ValueRef value) const {
  ValueRef root = ReferenceRoot(value);
  return root.valid() && parts_.nodes[root.node].variable >= 0 ? root.node : -1;
}

std::vector<int> Graph::VariablesOf(ValueRef value) const {
  if (int only = VariableOf(value); only >= 0) return {only};
  std::vector<int> variables;
  std::unordered_set<int> seen;
  std::vector<ValueRef> open = {value};
  while (!open.empty()) {
    CallLimit::Check();
    ValueRef root = ReferenceRoot(open.back());
    open.pop_back();
    if (!root.valid() || !seen.insert(root.node).second) continue;
    const Node& node = parts_.nodes[root.node];
    if (node.variable >= 0) variables.push_back(root.node);
    else open.insert(open.end(), node.inputs.begin() + node.in_first[1], node.inputs.end());
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

const VariableInfo* Graph::InfoOf(const Node& reader, uint32_t input) const {
  int port = reader.in_first.PortOf(input);
  if (port < 0 || reader.def->inputs[port].kind != PortKind::kReference) return nullptr;
  int node = VariableOf(reader.inputs[input]);
  return node < 0 ? nullptr : &parts_.variable_infos[parts_.nodes[node].variable];
}

std::span<const OfferedGradient> Graph::GradientsOf(ValueRef value) const {
  const auto key = [](const OfferedGradient& gradient) { return std::pair(gradient.value.node, gradient.value.output); };
  const auto same = std::ranges::equal_range(parts_.gradients, std::pair(value.node, value.output), {}, key);
  return {same.begin(), same.end()};
}

SessionSpec Graph::DefaultSession() const {
  std::vector<uint32_t> first(parts_.nodes.size() + 1, 0);
  for (size_t i = 0; i < parts_.nodes.size(); ++i) first[i + 1] = first[i] + static_cast<uint32_t>(parts_.nodes[i].output_types.size());
  std::vector<char> read(first.back(), 0);
  auto mark = [&](ValueRef value) {
    // A broken block's inputs name broken blocks, whose outputs are not known.
    if (value.valid() && first[value.node] + value.output < first[value.node + 1]) read[first[value.node] + value.output] = 1;
  };
  for (const Node& node : parts_.nodes) {
    if (node.added) continue;  // what only gradient blocks read still counts as an end of the page
    for (ValueRef input : node.inputs) mark(input);
    mark(node.initial);
  }
  SessionSpec session;
  session.id = "default";
  session.by_name = false;
  for (size_t i = 0; i < parts_.nodes.size(); ++i) {
    const Node& node = parts_.nodes[i];
    if (node.added) continue;
    if (node.broken) session.run.push_back(static_cast<int>(i));  // cannot run; what it reads is checked all the same
    if (node.broken || node.def == nullptr) continue;
    if (node.def->structural == Structural::kGradients) {
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        ValueRef value = node.inputs[k];
        if (value.valid() && !read[first[value.node] + value.output]) session.fetches.push_back({Cat(node.id, ".grad_outputs[", k, "]"), value});
      }
      continue;
    }
    if (node.variable >= 0) continue;
    if (node.def->structural == Structural::kNone && node.output_types.empty()) session.run.push_back(static_cast<int>(i));
    for (size_t k = 0; k < node.output_types.size(); ++k) {
      ValueRef value{static_cast<int>(i), static_cast<int>(k)};
      if (!read[first[i] + k]) session.fetches.push_back({ValueName(value), value});
    }
  }
  return session;
}

}  // namespace weft
