#include "weft/plan/wire_fit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/wire_fit_follow.h"

namespace weft {

/// What a wire would change, worked out on the graph as it is.
class WireFitter {
 public:
  explicit WireFitter(const Graph& graph);

  Status Check(const Wire& from, const Wire& to);
  Result<std::vector<std::string>> InputsFor(const Wire& from);
  Result<std::vector<std::string>> OutputsFor(const Wire& to);

 private:
  const PageBlock& Written(int block) const { return values_.Written(block); }
  const BlockDef* DefOf(int block) const { return values_.DefOf(block); }

  Refusal CheckInput(const WireSource& source, bool closes_cycle, int block, int port, int index);
  Refusal CheckCycle(const WireSource& source, int block, int port);
  Refusal CheckFrame(const WireSource& source, int block, int port);
  void FindNeeded();
  Refusal CheckNeeded(const WireSource& source, int block);
  Status CheckOutputIndex(const WireSource& source, int block) const;
  Refusal CheckEmptyList(const Status& lacking, int block, int port);
  std::optional<Refusal> CheckSpecial(const WireSource& source, int block, int port);
  bool Brings(int block, int port, const WireSource& source) const;
  Refusal RefuseAt(int block, const Status& status) { return refusals_.MakeAt(block, status); }

  const Graph& graph_;
  PageValues values_;
  BlockTyping typing_;
  PageLinks links_;
  std::vector<char> needed_;  // by block: a session needs it; empty until needed
  std::vector<char> lacks_type_;  // by block: it, or one that it depends on, is of an unknown type, and no session needs that; as needed_
  std::vector<GivenItem> asked_;  // of the block that the wire leads to; kept for its memory
  const ChangedOutputs nothing_changed_;
  Refusals refusals_;
  ChangeFollower follower_;
};

WireFitter::WireFitter(const Graph& graph)
    : graph_(graph),
      values_(graph),
      typing_(graph),
      links_(graph),
      nothing_changed_(graph.page().blocks.size()),
      refusals_(graph),
      follower_(graph, values_, typing_, links_, refusals_) {}

// Only Merge blocks may close a cycle, with what a NextIteration hands on.
Refusal WireFitter::CheckCycle(const WireSource& source, int block, int port) {
  const Node &from = graph_.node(source.block), &to = graph_.node(block);
  if (refusals_.brief() && from.def != nullptr && from.def->flow != Flow::kNextIteration) return RefuseAt(block, {});
  if (from.def != nullptr && to.def != nullptr && from.def->flow == Flow::kNextIteration && to.def->flow == Flow::kMerge && from.frame != 0) return nullptr;
  std::string path;  // from the source back to the block
  if (source.block == block) {
    path = Cat("the block reads its own output: ", Written(block).id, " -> ", Written(block).id);
  } else {
    path = Cat("the wires make a cycle: ", Written(source.block).id, " -> ", Written(block).id, " -> ... -> ", Written(source.block).id);
  }
  const BlockDef* def = DefOf(block);
  return RefuseAt(block, InvalidArgument(path).WithPort(def->inputs[static_cast<size_t>(port)].name).WithHint("only loop blocks may feed back; remove one of these wires"));
}

// Values of two frames do not meet. A block that has no other input goes over to the frame of its value.
Refusal WireFitter::CheckFrame(const WireSource& source, int block, int port) {
  if (graph_.frames().size() == 1 || source.block < 0 || HoldsInEveryFrame(graph_.node(source.block))) return nullptr;
  const BlockDef& def = *DefOf(block);
  const int frame = graph_.node(source.block).frame;
  for (const PageInput& input : Written(block).inputs) {
    const int p = def.FindInput(input.port);
    if (p == port && !input.list) continue;
    for (const InputItem& item : input.items) {
      const Wire* wire = WireOf(item);
      const int producer = wire == nullptr ? -1 : graph_.IndexOf(wire->block);
      if (producer < 0 || HoldsInEveryFrame(graph_.node(producer)) || graph_.node(producer).frame == frame) continue;
      const Node& other = graph_.node(producer);
      if (def.flow == Flow::kMerge && ((other.def != nullptr && other.def->flow == Flow::kNextIteration) || graph_.node(source.block).def->flow == Flow::kNextIteration)) continue;
      return RefuseAt(block, InvalidArgument("the wire brings a value of another frame than '", Written(producer).id, "'")
                                 .WithPort(def.inputs[static_cast<size_t>(port)].name)
                                 .WithHint("bring a value into a loop by an Enter block with is_constant_ = true, and out of it by an Exit"));
    }
  }
  return nullptr;
}

// Leaves needed_ and lacks_type_.
void WireFitter::FindNeeded() {
  const int count = static_cast<int>(graph_.page().blocks.size());
  std::vector<int> sessions, unknown;
  const bool all = graph_.sessions().empty();
  for (int b = 0; b < count; ++b) {
    const BlockDef* def = DefOf(b);
    if (all || (def != nullptr && def->structural == Structural::kSession)) sessions.push_back(b);
  }
  std::vector<char> needed = links_.Ancestors(std::move(sessions));
  for (int b = 0; b < count; ++b) {
    if (DefOf(b) == nullptr && !needed[static_cast<size_t>(b)]) unknown.push_back(b);
  }
  lacks_type_ = links_.Descendants(std::move(unknown));
  needed_ = std::move(needed);
}

// A block of an unknown type is an error where a session needs it.
Refusal WireFitter::CheckNeeded(const WireSource& source, int block) {
  if (needed_.empty()) FindNeeded();
  if (!needed_[static_cast<size_t>(block)] || !lacks_type_[static_cast<size_t>(source.block)]) return nullptr;
  if (refusals_.brief()) return refusals_.Make({});
  const std::vector<char> ancestors = links_.Ancestors({source.block});
  for (size_t b = 0; b < ancestors.size(); ++b) {
    if (!ancestors[b] || needed_[b] || DefOf(static_cast<int>(b)) != nullptr) continue;
    return refusals_.Make(NotFound("there is no block type '", Written(static_cast<int>(b)).type, "'").WithBlock(Written(static_cast<int>(b)).id));
  }
  return nullptr;
}

// An Output block has one of the outputs of another, by an index.
Status WireFitter::CheckOutputIndex(const WireSource& source, int block) const {
  const Node& node = graph_.node(block);
  const Node& asked = graph_.node(source.block);
  const Node& producer = asked.target >= 0 ? graph_.node(asked.target) : asked;
  const int attr = DefOf(block)->FindAttr("index");
  const int64_t* index = attr < 0 || static_cast<size_t>(attr) >= node.attrs.size() ? nullptr : std::get_if<int64_t>(&node.attrs[static_cast<size_t>(attr)]);
  const auto count = static_cast<int64_t>(producer.output_types.size());
  const bool session = producer.def != nullptr && producer.def->structural == Structural::kSession;  // which has none, whatever its faults
  if ((producer.broken && !session) || index == nullptr || (*index >= 0 && *index < count)) return {};
  return OutOfRange("the block '", producer.id, "' has ", count, " outputs, so none has the index ", *index).WithPort("index");
}

// Ports that take no values, or anything; none for the others.
std::optional<Refusal> WireFitter::CheckSpecial(const WireSource& source, int block, int port) {
  const BlockDef& def = *DefOf(block);
  const PortSpec& spec = def.inputs[static_cast<size_t>(port)];
  const BlockDef* from = graph_.node(source.block).def;  // what the graph made of the page's block: RandomNormal of a RandomNormal_ex
  const auto refuse = [&](Status status) { return status.ok() ? nullptr : RefuseAt(block, std::move(status).WithPort(spec.name)); };
  constexpr Refusal kFits = nullptr;
  const bool operation = def.structural == Structural::kOperation || def.structural == Structural::kOutput || (def.structural == Structural::kSession && spec.kind == PortKind::kOperation);
  if (operation) {
    const std::string& port_name = source.wire.port;
    const bool known = from == nullptr || graph_.node(source.block).target >= 0 || port_name == "operation" || from->FindOutput(port_name) >= 0 || from->FindInput(port_name) >= 0;
    if (!known) {
      std::vector<std::string_view> ports = {"operation"};
      for (const PortSpec& output : from->outputs) ports.push_back(output.name);
      return refuse(NotFound("the block '", source.wire.block, "' (", from->name, ") has no port '", port_name, "'").WithHint(DidYouMean(port_name, ports)));
    }
    if (def.structural == Structural::kOutput) return refuse(CheckOutputIndex(source, block));
    return kFits;
  }
  const bool unread = def.structural == Structural::kFeed && spec.name != "input" && spec.name != "initializer";
  if (def.structural == Structural::kNothing || unread) return kFits;
  if (def.structural == Structural::kSession && spec.kind == PortKind::kFeed) {
    if (from == nullptr || from->structural == Structural::kFeed) return kFits;
    return refuse(InvalidArgument("a feed needs a FeedType block, found '", source.wire.block, "' (", from->name, ")"));
  }
  if (source.refused) return refuse(Status(source.refused->code(), source.refused->message()).WithHint(source.refused->hint()));
  if (source.broken || def.structural == Structural::kSession || def.structural == Structural::kGradients) return kFits;
  if (source.values.empty() && spec.list == PortList::kSingle) {
    return refuse(InvalidArgument("the input '", spec.name, "' of ", def.name, " takes one value, found 0"));
  }
  return std::nullopt;
}

// Whether the input has a value of the same type already: then nothing changes that types look at.
bool WireFitter::Brings(int block, int port, const WireSource& source) const {
  const Node& node = graph_.node(block);
  if (node.broken || node.def == nullptr || node.def->structural != Structural::kNone || source.values.size() != 1) return false;
  if (node.def->inputs[static_cast<size_t>(port)].list != PortList::kSingle || node.inputs.empty()) return false;
  const OfferedValue has = values_.ValueOf(node.inputs[node.in_first[static_cast<size_t>(port)]]);
  return has.type == source.values[0].type && has.kind == source.values[0].kind;
}

// A wire from an empty list, where it is all that the input would have. `lacking` is what the block lacks besides the inputs that need a value.
Refusal WireFitter::CheckEmptyList(const Status& lacking, int block, int port) {
  const PortSpec& spec = DefOf(block)->inputs[static_cast<size_t>(port)];
  if (spec.list == PortList::kHomogeneous && !MayBeEmpty(*DefOf(block), spec)) {
    return RefuseAt(block, InvalidArgument("the input '", spec.name, "' of ", DefOf(block)->name, " needs at least one value, found none").WithPort(spec.name));
  }
  return lacking.ok() || lacking.place().port != spec.name ? nullptr : RefuseAt(block, lacking);
}

// `closes_cycle`: whether the source depends on the block.
Refusal WireFitter::CheckInput(const WireSource& source, bool closes_cycle, int block, int port, int index) {
  CallLimit::Check();
  if (closes_cycle) {
    if (const Refusal refused = CheckCycle(source, block, port)) return refused;
  }
  if (source.broken) {
    if (const Refusal refused = CheckNeeded(source, block)) return refused;
  }
  if (const auto special = CheckSpecial(source, block, port)) return *special;
  if (const Refusal refused = CheckFrame(source, block, port)) return refused;
  if (Brings(block, port, source) || !values_.ItemsOf(block, nothing_changed_, asked_, &source, port, index)) return nullptr;
  if (DefOf(block)->structural == Structural::kList) {
    OfferedOutputs outputs{false, {}, {0, static_cast<uint32_t>(asked_.size())}};
    for (const GivenItem& item : asked_) outputs.values.push_back(item.value);
    return follower_.Follow(block, outputs);
  }
  const BlockTyping::Outcome& outcome = typing_.Connect(block, asked_);
  if (!outcome.status.ok()) {
    if (refusals_.brief()) return RefuseAt(block, outcome.status);
    const DType brought = source.values.empty() ? DType::kInvalid : source.values[0].type;
    return RefuseAt(block, AtWiredPort(*DefOf(block), DefOf(block)->inputs[static_cast<size_t>(port)].name, brought, outcome.status));
  }
  if (source.values.empty() && std::ranges::find(asked_, port, &GivenItem::port) == asked_.end()) {
    if (const Refusal refused = CheckEmptyList(outcome.lacking, block, port)) return refused;
  }
  if (outcome.outputs.broken || values_.Gives(block, outcome.outputs)) return nullptr;
  return follower_.Follow(block, outcome.outputs);
}

Status WireFitter::Check(const Wire& from, const Wire& to) {
  const WireSource source = values_.SourceOf(from, nothing_changed_);
  if (source.block < 0) return *source.refused;
  WEFT_ASSIGN_OR_RETURN(const int block, graph_.FindNode(to.block));
  const BlockDef* def = DefOf(block);
  if (def == nullptr) return {};  // anything goes to a block that is not known
  const int port = def->FindInput(to.port);
  if (port < 0) {
    std::vector<std::string_view> ports;
    for (const PortSpec& spec : def->inputs) ports.push_back(spec.name);
    return NotFound("the block ", def->name, " has no input '", to.port, "'").WithBlock(to.block).WithPort(to.port).WithHint(DidYouMean(to.port, ports));
  }
  follower_.Begin(false, 1 << 20);
  const bool closes_cycle = links_.Ancestors({source.block})[static_cast<size_t>(block)] != 0;
  const Refusal refused = CheckInput(source, closes_cycle, block, port, to.index);
  return refused == nullptr ? Status() : *refused;
}

Result<std::vector<std::string>> WireFitter::InputsFor(const Wire& from) {
  const WireSource source = values_.SourceOf(from, nothing_changed_);
  if (source.block < 0) return *source.refused;
  const BlockDef* from_def = DefOf(source.block);
  if (source.refused && from.port != "operation" && from_def->FindOutput(from.port) < 0) return *source.refused;
  const std::vector<char> ancestors = links_.Ancestors({source.block});
  const int count = static_cast<int>(graph_.page().blocks.size());
  follower_.Begin(true, 10000 + 4 * static_cast<size_t>(count));
  std::vector<uint32_t> first(static_cast<size_t>(count) + 1, 0);  // input, by block
  for (int b = 0; b < count; ++b) first[static_cast<size_t>(b) + 1] = first[static_cast<size_t>(b)] + static_cast<uint32_t>(DefOf(b) == nullptr ? 0 : DefOf(b)->inputs.size());
  std::vector<char> fits(first.back(), 0);
  // The last ones first: what comes of a change is known for those behind.
  const auto& order = graph_.in_order();
  for (size_t i = order.size(); i-- > 0;) {
    const int block = order[i];
    if (block >= count) continue;
    const uint32_t begin = first[static_cast<size_t>(block)], end = first[static_cast<size_t>(block) + 1];
    const bool closes_cycle = ancestors[static_cast<size_t>(block)] != 0;
    for (uint32_t p = begin; p < end; ++p) fits[p] = CheckInput(source, closes_cycle, block, static_cast<int>(p - begin), -1) == nullptr;
  }
  std::vector<std::string> inputs;
  inputs.reserve(static_cast<size_t>(std::ranges::count(fits, 1)));
  for (int b = 0; b < count; ++b) {
    const uint32_t begin = first[static_cast<size_t>(b)];
    for (uint32_t p = begin; p < first[static_cast<size_t>(b) + 1]; ++p) {
      if (fits[p]) inputs.push_back(Cat(Written(b).id, ".", DefOf(b)->inputs[p - begin].name));
    }
  }
  return inputs;
}

Result<std::vector<std::string>> WireFitter::OutputsFor(const Wire& to) {
  WEFT_ASSIGN_OR_RETURN(const int block, graph_.FindNode(to.block));
  const BlockDef* def = DefOf(block);
  const int port = def == nullptr ? -1 : def->FindInput(to.port);
  if (def != nullptr && port < 0) return Check({Written(block).id, "", -1}, to);
  if (def == nullptr) return NotFound("there is no block type '", Written(block).type, "'").WithBlock(to.block);
  const size_t count = graph_.page().blocks.size();
  follower_.Begin(true, 10000 + 4 * count);
  const std::vector<char> behind = links_.Descendants({block});  // a wire from there would close a cycle
  std::vector<std::string> outputs;
  for (size_t b = 0; b < count; ++b) {
    const BlockDef* from = DefOf(static_cast<int>(b));
    if (from == nullptr) continue;
    const bool loops = from->flow == Flow::kNextIteration && def->flow == Flow::kMerge;
    if (behind[b] && !loops) continue;
    for (size_t o = 0; o <= from->outputs.size(); ++o) {
      const std::string name = o < from->outputs.size() ? from->outputs[o].name : "operation";
      if (o == from->outputs.size() && from->FindOutput(name) >= 0) continue;
      const WireSource source = values_.SourceOf({Written(static_cast<int>(b)).id, name, -1}, nothing_changed_);
      const bool closes_cycle = source.broken && behind[b] != 0;
      if (CheckInput(source, closes_cycle, block, port, to.index) == nullptr) outputs.push_back(Cat(Written(static_cast<int>(b)).id, ".", name));
    }
  }
  return outputs;
}

WireFit::WireFit(const Graph& graph) : fitter_(std::make_unique<WireFitter>(graph)) {}
WireFit::~WireFit() = default;
Status WireFit::Check(const Wire& from, const Wire& to) { return fitter_->Check(from, to); }
Result<std::vector<std::string>> WireFit::InputsFor(const Wire& from) { return fitter_->InputsFor(from); }
Result<std::vector<std::string>> WireFit::OutputsFor(const Wire& to) { return fitter_->OutputsFor(to); }

}  // namespace weft
