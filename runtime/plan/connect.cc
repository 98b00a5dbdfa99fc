// The pass that connects blocks, one after another: inputs, then types. Its parts are in connecting.h.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/connecting.h"
#include "runtime/base/call_limit.h"
#include "runtime/plan/passes.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/resolve.h"

namespace weft {
namespace {

std::vector<std::string_view> PortNames(const std::vector<PortSpec>& ports) {
  std::vector<std::string_view> names;
  for (const PortSpec& port : ports) names.push_back(port.name);
  return names;
}

/// A node of the previous graph as it is before it is connected.
void ResetNode(Draft& draft, int block) {
  Node& node = draft.nodes[block];
  Node fresh;
  fresh.id = std::move(node.id);
  fresh.page_block = block;
  fresh.def = node.def;
  fresh.broken = node.broken;
  fresh.frame = node.frame;
  node = std::move(fresh);
  ReadAttrs(draft, block);
}

class BlockConnector {
 public:
  explicit BlockConnector(Draft& draft) : draft_(draft) {}

  /// Connects a block, whose node may have been taken from the previous graph.
  void Connect(int block);

 private:
  void ConnectFromPage(int block);
  bool ReadInputs(int block);
  bool ReportUnknownInput(int block, const PageInput& input);
  bool CheckNothingMissing(int block);
  void CheckTypesInPart(int block);
  void SetInputs(Node& node);
  bool IsOperation(int block) const { return draft_.nodes[block].def->structural == Structural::kNone; }

  Draft& draft_;
  // Of the block at hand, by input port; kept for their memory.
  std::vector<std::vector<ValueRef>> values_;
  std::vector<const PageInput*> written_;
  std::vector<int> misspelt_;  // ports that an input with no such name was meant for
};

void BlockConnector::Connect(int block) {
  if (draft_.reuse.TakeInputs(block)) {
    if (draft_.nodes[block].def->structural == Structural::kVariable) DeclareVariable(draft_, block);
  } else {
    if (draft_.reuse.HasTaken(block)) ResetNode(draft_, block);
    ConnectFromPage(block);
  }
  if (Status status = draft_.CountListOutputs(draft_.nodes[block]); !status.ok()) draft_.Error(std::move(status), block);
  if (draft_.nodes[block].broken) Disconnect(draft_, block);
  draft_.NoteReferences(block);
  draft_.reuse.Compare(block);
}

void BlockConnector::ConnectFromPage(int block) {
  if (draft_.nodes[block].def == nullptr) return;
  const bool inputs_ok = ReadInputs(block);
  if (!IsOperation(block)) return ConnectStructural(draft_, block);
  const bool complete = CheckNothingMissing(block);
  Node& node = draft_.nodes[block];
  if (!inputs_ok || !complete || node.broken) {
    node.broken = true;
    if (complete && draft_.loops.home.empty()) CheckTypesInPart(block);
    return;
  }
  SetInputs(node);
  AssumeFeedbackTypes(draft_, node);
  std::vector<Status> more;
  const auto report = [&](Status fault) {
    const std::string port = fault.place().port;
    fault = WithPortFacts(draft_.graph, draft_.nodes[block], std::move(fault), [](uint32_t) { return static_cast<const Shape*>(nullptr); });
    draft_.Error(std::move(fault), block, port);
  };
  if (Status status = InferTypes(draft_, node, &more); !status.ok()) report(std::move(status));
  for (Status& fault : more) report(std::move(fault));
}

// Fills in written_, and of an operation values_; false where an input is at fault.
bool BlockConnector::ReadInputs(int block) {
  const BlockDef& def = *draft_.nodes[block].def;
  if (values_.size() < def.inputs.size()) values_.resize(def.inputs.size());
  for (auto& values : values_) values.clear();
  written_.assign(def.inputs.size(), nullptr);
  misspelt_.clear();
  bool ok = true;
  for (const PageInput& input : draft_.page.blocks[block].inputs) {
    const int port = def.FindInput(input.port);
    if (port < 0) {
      ok &= !ReportUnknownInput(block, input);
      continue;
    }
    if (written_[port] != nullptr) {
      draft_.Error(InvalidArgument("the input '", def.inputs[port].name, "' is connected twice, as '", written_[port]->port, "' and as '",
                                   input.port, "'"),
                   block, input.port);
      ok = false;
      continue;
    }
    written_[port] = &input;
    draft_.nodes[block].broken |= input.faulty;
    if (IsOperation(block)) ok &= ConnectPort(draft_, block, port, input, values_[port]);
  }
  return ok;
}

// Whether an input that the block does not have is an error.
bool BlockConnector::ReportUnknownInput(int block, const PageInput& input) {
  const BlockDef& def = *draft_.nodes[block].def;
  const bool attr = def.FindAttr(input.port) >= 0;
  const bool imported = draft_.page.format != Page::Format::kWeft;
  // ReadAttrs has read it; pages that were imported once, and written as Weft's, still have such pins.
  const Literal* literal = input.items.size() == 1 ? LiteralOf(input.items[0]) : nullptr;
  if (attr && (imported || (literal != nullptr && literal->form == Literal::Form::kText))) return false;
  draft_.nodes[block].broken |= input.faulty;
  std::vector<std::string_view> names = PortNames(def.inputs);
  // A port whose name is misspelt is not reported as missing, too.
  const int meant = attr ? -1 : def.FindInput(ClosestName(input.port, names));
  if (meant >= 0 && written_[meant] == nullptr && IsOperation(block)) misspelt_.push_back(meant);
  if (input.faulty) return false;
  Status status = NotFound("the block ", def.name, " has no input '", input.port, "'").WithHint(
      attr ? Cat("'", input.port, "' is an attribute: write it under \"attrs\"") : NamesHint(input.port, names, "inputs"));
  // The palette has pins that no operation has; they are harmless while nothing is wired to them.
  if (imported && (input.items.empty() || WireOf(input.items[0]) == nullptr)) {
    draft_.diagnostics.Warning(draft_.At(std::move(status), block, input.port));
    return false;
  }
  draft_.Error(std::move(status), block, input.port);
  return true;
}

bool BlockConnector::CheckNothingMissing(int block) {
  const BlockDef& def = *draft_.nodes[block].def;
  bool ok = true;
  for (size_t p = 0; p < def.inputs.size(); ++p) {
    if (written_[p] != nullptr || MayBeEmpty(def, def.inputs[p]) || IsFaulty(draft_.page.blocks[block])) continue;
    if (std::find(misspelt_.begin(), misspelt_.end(), static_cast<int>(p)) != misspelt_.end()) continue;
    draft_.Error(InvalidArgument("the input '", def.inputs[p].name, "' of ", def.name, " needs a wire or a value, and has none"), block,
                 def.inputs[p].name);
    ok = false;
  }
  return ok;
}

// Of a broken block, whose faults may leave its types known.
void BlockConnector::CheckTypesInPart(int block) {
  std::optional<BlockInPart> part = ReadInPart(draft_.graph, block, draft_.types_in_part);
  if (!part) return;
  for (Status& fault : part->InferTypes()) {
    const std::string port = fault.place().port;
    draft_.Error(std::move(fault), block, port);
  }
  if (part->knows_outputs()) draft_.types_in_part.Note(block, {part->node.def, part->node.output_types, part->node.out_first});
}

void BlockConnector::SetInputs(Node& node) {
  const std::span ports(values_.data(), node.def->inputs.size());
  node.inputs.reserve(ports.size());
  for (const auto& values : ports) node.inputs.append(std::span<const ValueRef>(values));
  if (std::all_of(ports.begin(), ports.end(), [](const auto& values) { return values.size() == 1; })) {
    node.in_first = PortTable::Single(ports.size());
    return;
  }
  std::vector<uint32_t> first(1, 0);
  for (const auto& values : ports) first.push_back(first.back() + static_cast<uint32_t>(values.size()));
  node.in_first = PortTable::Of(std::move(first));
}

}  // namespace

void Disconnect(Draft& draft, int block) {
  Node& node = draft.nodes[block];
  node.inputs.clear();
  node.in_first = node.out_first = PortTable();
  node.output_types.clear();
  for (int producer : draft.parts.wires.ProducersOf(block)) {
    if (producer >= 0) node.inputs.push_back({producer, 0});
  }
}

void ConnectBlocks(Draft& draft, const std::vector<int>& order) {
  BlockConnector connector(draft);
  for (int block : order) {
    CallLimit::Check();
    connector.Connect(block);
    draft.nodes[block].order = draft.next_order++;  // after the literals and gradients that it added
  }
}

}  // namespace weft
