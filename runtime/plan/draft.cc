#include "runtime/plan/draft.h"

#include "runtime/base/call_limit.h"
#include "runtime/plan/open_input.h"

#include <algorithm>

namespace weft {
namespace {

// "/" and "~" in keys are escaped in JSON pointers (RFC 6901).
std::string Escaped(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (c == '~') out += "~0";
    else if (c == '/') out += "~1";
    else out += c;
  }
  return out;
}

}  // namespace

Draft::Draft(Graph& made, const Graph* previous, Diagnostics& found)
    : graph(made), parts(made.parts_), nodes(parts.nodes), page(made.page()), diagnostics(found), reuse(*this, previous) {}

const PageInput& Draft::InputOfItem(int block, uint32_t item) const {
  const uint32_t first = parts.wires.first_input[block];
  uint32_t input = first;
  while (parts.wires.first_item[input + 1] <= item) ++input;
  return page.blocks[block].inputs[input - first];
}

Status Draft::At(Status status, int block, std::string_view port, int item) const {
  const PageBlock& source = page.blocks[block];
  std::string pointer = BlockPointer(page, static_cast<size_t>(block));
  if (!port.empty() && source.pointer.empty()) {
    const Node& node = nodes[block];
    bool attr = node.def != nullptr && node.def->FindInput(port) < 0 && node.def->FindAttr(port) >= 0 &&
                std::none_of(source.inputs.begin(), source.inputs.end(), [&](const PageInput& input) { return input.port == port; });
    pointer += attr ? "/attrs" : Cat("/inputs/", Escaped(port));
    if (item >= 0) pointer += Cat("/", item);
  }
  return std::move(status).WithPage(graph.name()).WithPointer(pointer).WithBlock(source.id).WithPort(port);
}

void Draft::Error(Status status, int block, std::string_view port, int item) {
  nodes[block].broken = true;
  // Each of very many inputs may be in error: a block that has more of them than ports is not looked through for each.
  const BlockDef* def = nodes[block].def;
  const bool few = page.complete && def != nullptr && page.blocks[block].inputs.size() <= def->inputs.size();
  if (few && IsOpenInput(page.blocks[block], def, port)) ++parts.open_inputs;
  diagnostics.Error(At(std::move(status), block, port, item));
}

void Draft::ErrorAtItem(Status status, int block, uint32_t item) {
  const PageInput& input = InputOfItem(block, item);
  const uint32_t index = parts.wires.first_input[block] + static_cast<uint32_t>(&input - page.blocks[block].inputs.data());
  Error(std::move(status), block, input.port, input.list ? static_cast<int>(item - parts.wires.first_item[index]) : -1);
}

bool Draft::MayCompare(size_t names) {
  constexpr size_t kMostCompared = 1 << 22;
  names_compared += names;
  return names_compared <= kMostCompared || names_compared == names;
}

Status Draft::NoBlock(std::string_view id) {
  if (MayCompare(page.blocks.size())) return graph.FindNode(id).status();
  return NotFound("there is no block '", id, "'");
}

void Draft::NoteReferences(int block) {
  const Node& node = nodes[block];
  if (node.broken || node.def == nullptr || node.def->structural != Structural::kNone || node.def->flow == Flow::kSelect) return;
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    const int source = node.def->outputs[p].reference_of;
    if (source < 0 || node.in_first[source] >= node.inputs.size()) continue;
    const ValueRef from = node.inputs[node.in_first[source]], root = graph.ReferenceRoot(from);
    if (!root.valid() || root == from) continue;
    CallLimit::Grow(Graph::Parts::kReferenceBytes, node.id);
    parts.reference_roots[Graph::Parts::KeyOf({block, static_cast<int>(node.out_first[p])})] = root;
  }
}

Status Draft::CountListOutputs(const Node& node) {
  if (node.broken || node.def == nullptr || node.output_types.size() <= node.def->outputs.size()) return {};
  list_values += node.output_types.size();
  // What the graph has of each, and what a plan has while it is made: what the block set, and a copy.
  constexpr size_t kBytes = sizeof(DType) + sizeof(ValueRef) + 2 * (sizeof(Shape) + sizeof(PartialShape));
  CallLimit::Grow(static_cast<int64_t>(node.output_types.size() * kBytes), node.id);
  return CheckListValues(0);
}

Status Draft::CheckListValues(size_t of_port) const {
  if (of_port <= kMostValues && list_values <= kMostListValues) return {};
  return ResourceExhausted("lists of more than ", kMostValues, " values, or of ", kMostListValues, " on a page, are not taken")
      .WithHint("a list of lists grows with every level");
}

int Draft::AddConstant(std::string id, int page_block, Tensor value) {
  CallLimit::Grow(static_cast<int64_t>(sizeof(Node) + sizeof(Tensor) + id.size()), id);
  Node& node = nodes.emplace_back();
  node.id = std::move(id);
  node.page_block = page_block;
  node.added = true;
  node.order = next_order++;
  node.output_types.push_back(value.dtype());
  node.out_first = PortTable::Single(1);
  node.constant = std::move(value);
  return static_cast<int>(nodes.size()) - 1;
}

}  // namespace weft
