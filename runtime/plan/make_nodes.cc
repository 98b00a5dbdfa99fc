// Nodes of blocks: their declarations, where the registry knows them, and their attributes.
#include <algorithm>
#include <string>
#include <vector>

#include "runtime/base/call_limit.h"
#include "runtime/plan/connecting.h"
#include "runtime/plan/passes.h"
#include "weft/block/block_lists.h"

namespace weft {

static constexpr int64_t kNodeBytes = sizeof(Node) + 96;  // with its attributes and its places in orders and tables

void MakeNodes(Draft& draft) {
  const std::vector<PageBlock>& blocks = draft.page.blocks;
  draft.nodes.reserve(std::max(blocks.size() * 2, draft.reuse.previous_nodes() + 64));
  draft.nodes.resize(blocks.size());
  draft.parts.by_id.Reserve(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    CallLimit::Check();
    const PageBlock& block = blocks[i];
    CallLimit::Grow(kNodeBytes, block.id);
    draft.parts.page_bytes += BytesOf(block);
    Node& node = draft.nodes[i];
    const int index = static_cast<int>(i);
    const bool taken = draft.reuse.TakeNode(index);
    if (!taken) {
      node.id = block.id;
      node.page_block = index;
      node.def = draft.registry().Find(block.type);
    }
    if (!draft.parts.by_id.Add(blocks, i)) {
      draft.repeated_ids = true;
      // The reader reports this, too; a host's own page has been through no reader.
      if (draft.page.format == Page::Format::kWeft) node.broken = true;
      else draft.Error(AlreadyExists("there is another block '", block.id, "'"), index);
    }
    const bool faulty = IsFaulty(block);
    node.broken |= faulty;
    if (taken) continue;
    if (node.def == nullptr) {
      node.broken = true;
      if (!faulty) draft.unknown_blocks.push_back(index);
      continue;
    }
    ReadAttrs(draft, index);
  }
}

// enuSpace writes some attributes as pins of their own; readers hand every pin with a text over as an input. Whether the input is one.
static bool TakePinAsAttr(Draft& draft, int block, const PageInput& input) {
  Node& node = draft.nodes[block];
  if (node.def->FindInput(input.port) >= 0) return false;
  int index = node.def->FindAttr(input.port);
  if (index < 0 || input.items.size() != 1) return false;
  const auto* literal = LiteralOf(input.items[0]);
  if (literal == nullptr || literal->form != Literal::Form::kText) return false;
  const AttrSpec& spec = node.def->attrs[index];
  if (literal->text.empty()) return false;
  auto value = ParseAttrValue(spec.type, literal->text);
  Status status = value.ok() ? CheckAttr(spec, *value) : value.status();
  if (!status.ok()) {
    draft.Error(std::move(status), block, input.port);
    node.attrs.Set(static_cast<size_t>(index), AttrValue());  // not its default: what it is to be is not known
    return true;
  }
  node.attrs.Set(static_cast<size_t>(index), std::move(*value));
  return true;
}

void ReadAttrs(Draft& draft, int block) {
  Node& node = draft.nodes[block];
  const PageBlock& source = draft.page.blocks[block];
  if (node.def->attrs.empty() && source.attrs.empty()) return;
  Diagnostics found;
  if (const AttrList* known = draft.reuse.FindWritten(*node.def, source.attrs)) {
    node.attrs = *known;
  } else {
    node.attrs = ParseAttrs(source.attrs, node.def->attrs, found);
    if (found.all().empty()) draft.reuse.KeepWritten(*node.def, source.attrs, node.attrs);
  }
  std::vector<std::string> given_by_pin;
  for (const PageInput& input : source.inputs) {
    if (TakePinAsAttr(draft, block, input)) given_by_pin.push_back(node.def->attrs[node.def->FindAttr(input.port)].name);
  }
  if (IsFaulty(source)) return;
  for (const Diagnostic& diagnostic : found.all()) {
    const std::string& port = diagnostic.status.place().port;
    // A pin of its own gives what the string leaves out.
    if (std::find(given_by_pin.begin(), given_by_pin.end(), port) != given_by_pin.end()) continue;
    Status placed = draft.At(diagnostic.status, block, port);
    if (source.pointer.empty()) {
      placed = Status(diagnostic.status).WithPage(draft.graph.name()).WithPointer(BlockPointer(draft.page, block) + "/attrs").WithBlock(source.id);
    }
    if (diagnostic.severity == Severity::kError) node.broken = true;
    draft.diagnostics.Add(diagnostic.severity, std::move(placed));
  }
}

// A block of an unknown type is an error where a session needs it, or where there is none, so that the ends of the page are fetched.
void ReportUnknownBlocks(Draft& draft) {
  if (draft.unknown_blocks.empty()) return;
  std::vector<char> needed(draft.nodes.size(), 0);
  std::vector<int> stack;
  auto need = [&](int node) {
    if (node >= 0 && !needed[node]) {
      needed[node] = 1;
      stack.push_back(node);
    }
  };
  bool has_session = false;
  for (int block = 0; block < draft.blocks(); ++block) {
    const Node& node = draft.nodes[block];
    if (node.def != nullptr && node.def->structural == Structural::kSession) has_session = true, need(block);
  }
  for (int block = 0; block < draft.blocks() && !has_session; ++block) need(block);
  while (!stack.empty()) {
    int node = stack.back();
    stack.pop_back();
    if (node >= static_cast<int>(draft.page.blocks.size())) continue;
    for (int producer : draft.parts.wires.ProducersOf(node)) need(producer);
  }
  std::vector<std::string_view> names = draft.registry().Names();
  for (int block : draft.unknown_blocks) {
    const PageBlock& source = draft.page.blocks[block];
    Status status = NotFound("there is no block type '", source.type, "'");
    if (draft.MayCompare(names.size())) status = std::move(status).WithHint(DidYouMean(source.type, names));
    status = std::move(status)
                 .WithPage(draft.graph.name())
                 .WithPointer(Cat(BlockPointer(draft.page, block), source.pointer.empty() ? "/block" : ""))
                 .WithBlock(source.id);
    draft.diagnostics.Add(needed[block] ? Severity::kError : Severity::kWarning, std::move(status));
  }
}

void ReportRefusedBlocks(Draft& draft) {
  for (int block = 0; block < draft.blocks(); ++block) {
    const BlockDef* def = draft.nodes[block].def;
    if (def == nullptr) continue;
    if (Status refusal = RefusalOf(*def); !refusal.ok()) draft.diagnostics.Error(draft.At(std::move(refusal), block));
  }
}

}  // namespace weft
