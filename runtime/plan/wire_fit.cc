#include "weft/plan/wire_fit.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "runtime/plan/wire_fit_values.h"

namespace weft {

/// What a wire would change, worked out on the graph as it is. Blocks whose outputs would be others are followed to the blocks that read
/// them, in the graph's order, until one refuses or nothing changes any more.
class WireFitter {
 public:
  explicit WireFitter(const Graph& graph);

  Status Check(const Wire& from, const Wire& to);
  Result<std::vector<std::string>> InputsFor(const Wire& from);
  Result<std::vector<std::string>> OutputsFor(const Wire& to);

 private:
  const PageBlock& Written(int block) const { return values_.Written(block); }
  const BlockDef* DefOf(int block) const { return values_.DefOf(block); }
  std::span<const int> ProducersOf(int block) const;
  void FindReaders();
  void Begin(bool brief, size_t steps) {
    if (brief != brief_) followed_.clear();
    brief_ = brief;
    steps_left_ = steps;
  }
  std::vector<char> Ancestors(int block) const;

  Status CheckInput(const WireSource& source, const std::vector<char>& ancestors, int block, int port, int index);
  Status CheckCycle(const WireSource& source, const std::vector<char>& ancestors, int block, int port) const;
  Status CheckFrame(const WireSource& source, int block, int port) const;
  Status CheckNeeded(const std::vector<char>& ancestors, int block);
  Status CheckOutputIndex(const WireSource& source, int block) const;
  Status CheckEmptyList(const Status& lacking, int block, int port) const;
  std::optional<Status> CheckSpecial(const WireSource& source, int block, int port) const;
  bool Brings(int block, int port, const WireSource& source) const;
  Status Follow(int block, const OfferedOutputs& outputs);
  const OfferedOutputs* OutputsAfter(int reader, Status& refused);
  void Change(int block, const OfferedOutputs& outputs);
  int NextOpen();
  Status Placed(const Status& status, int block) const;

  const Graph& graph_;
  PageValues values_;
  BlockTyping typing_;
  std::vector<uint32_t> first_producer_;  // by block
  std::vector<int> producers_;            // that it waits for; of loops not those that feed back
  std::vector<uint32_t> first_reader_;    // empty until needed
  std::vector<int> readers_;
  std::vector<char> needed_;              // by block: a session needs it; empty until needed
  std::map<std::pair<int, uint64_t>, Status> followed_;  // by block and what it would give: what comes of it
  // Of the change that is followed:
  const ChangedOutputs nothing_changed_;
  ChangedOutputs changed_;
  bool as_many_ = true;                // each block that changed has as many values as before
  std::deque<OfferedOutputs> lists_;   // what list blocks would have
  std::vector<GivenItem> given_;       // of the block at hand; kept for its memory
  std::vector<uint64_t> open_;         // blocks that are to be looked at: bits by Node::order
  size_t open_count_ = 0, first_open_ = 0;
  const Status refused_ = InvalidArgument("");  // where texts are not asked for
  bool brief_ = false;     // only whether a wire fits is asked: texts take most of the time
  size_t steps_left_ = 0;  // how many blocks may still be followed
};

namespace {

uint64_t HashOf(const OfferedOutputs& outputs) {
  uint64_t hash = outputs.broken ? 1 : 2;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29; };
  for (const OfferedValue& value : outputs.values) {
    mix(static_cast<uint64_t>(value.type) << 8 | static_cast<uint64_t>(value.kind));
    if (value.constant != nullptr) mix(reinterpret_cast<uintptr_t>(value.constant->data()));
  }
  for (uint32_t first : outputs.first) mix(first);
  return hash;
}

/// Literals, constants and variables are in every frame: they are not computed.
bool HoldsInEveryFrame(const Node& node) { return node.variable >= 0 || node.constant.defined(); }

}  // namespace

WireFitter::WireFitter(const Graph& graph) : graph_(graph), values_(graph), typing_(graph), nothing_changed_(graph.page().blocks.size()), changed_(graph.page().blocks.size()) {
  const std::vector<PageBlock>& blocks = graph.page().blocks;
  first_producer_.reserve(blocks.size() + 1);
  first_producer_.push_back(0);
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Node& node = graph.node(static_cast<int>(b));
    size_t value = 0;  // of the node, where each item is one
    for (const PageInput& input : blocks[b].inputs) {
      for (const InputItem& item : input.items) {
        const Wire* wire = WireOf(item);
        const int likely = value < node.inputs.size() && node.inputs[value].valid() ? graph.node(node.inputs[value].node).page_block : -1;
        ++value;
        if (wire == nullptr) continue;
        const bool found = likely >= 0 && blocks[static_cast<size_t>(likely)].id == wire->block;
        const int producer = found ? likely : graph.IndexOf(wire->block);
        if (producer < 0) continue;
        const Node& from = graph.node(producer);
        const bool back = node.def != nullptr && from.def != nullptr && node.def->flow == Flow::kMerge && from.def->flow == Flow::kNextIteration && from.frame != 0;
        if (!back) producers_.push_back(producer);
      }
    }
    first_producer_.push_back(static_cast<uint32_t>(producers_.size()));
  }
}

std::span<const int> WireFitter::ProducersOf(int block) const {
  const uint32_t first = first_producer_[static_cast<size_t>(block)];
  return std::span(producers_).subspan(first, first_producer_[static_cast<size_t>(block) + 1] - first);
}

void WireFitter::FindReaders() {
  if (!first_reader_.empty()) return;
  const size_t count = graph_.page().blocks.size();
  first_reader_.assign(count + 1, 0);
  readers_.resize(producers_.size());
  for (int producer : producers_) ++first_reader_[static_cast<size_t>(producer) + 1];
  for (size_t b = 0; b < count; ++b) first_reader_[b + 1] += first_reader_[b];
  std::vector<uint32_t> next(first_reader_.begin(), first_reader_.end() - 1);
  for (size_t b = 0; b < count; ++b) {
    for (int producer : ProducersOf(static_cast<int>(b))) readers_[next[static_cast<size_t>(producer)]++] = static_cast<int>(b);
  }
}

// The block and all that it depends on.
std::vector<char> WireFitter::Ancestors(int block) const {
  std::vector<char> found(graph_.page().blocks.size(), 0);
  std::vector<int> open = {block};
  found[static_cast<size_t>(block)] = 1;
  while (!open.empty()) {
    const int reader = open.back();
    open.pop_back();
    for (int producer : ProducersOf(reader)) {
      if (!std::exchange(found[static_cast<size_t>(producer)], 1)) open.push_back(producer);
    }
  }
  return found;
}

// As diagnostics of the page place it.
Status WireFitter::Placed(const Status& status, int block) const {
  if (brief_) return Status(status.code(), "");
  const PageBlock& written = Written(block);
  const std::string& port = status.place().port;
  std::string pointer = BlockPointer(graph_.page(), static_cast<size_t>(block));
  if (written.pointer.empty() && !port.empty()) pointer += Cat("/inputs/", port);
  Status placed(status.code(), status.message());
  return std::move(placed)
      .WithHint(status.hint())
      .WithPage(graph_.name())
      .WithPointer(pointer)
      .WithBlock(written.id)
      .WithPort(port)
      .WithNeeded(status.needed())
      .WithFound(status.found())
      .WithPhase(Phase::kConnect);
}

// Only Merge blocks may close a cycle, with what a NextIteration hands on.
Status WireFitter::CheckCycle(const WireSource& source, const std::vector<char>& ancestors, int block, int port) const {
  if (!ancestors[static_cast<size_t>(block)]) return {};
  const Node &from = graph_.node(source.block), &to = graph_.node(block);
  if (brief_ && from.def != nullptr && from.def->flow != Flow::kNextIteration) return Status(Code::kInvalidArgument, "");
  if (from.def != nullptr && to.def != nullptr && from.def->flow == Flow::kNextIteration && to.def->flow == Flow::kMerge && from.frame != 0) return {};
  std::string path;  // from the source back to the block
  if (source.block == block) {
    path = Cat("the block reads its own output: ", Written(block).id, " -> ", Written(block).id);
  } else {
    path = Cat("the wires make a cycle: ", Written(source.block).id, " -> ", Written(block).id, " -> ... -> ", Written(source.block).id);
  }
  const BlockDef* def = DefOf(block);
  return Placed(InvalidArgument(path).WithPort(def->inputs[static_cast<size_t>(port)].name).WithHint("only loop blocks may feed back; remove one of these wires"), block);
}

// Values of two frames do not meet. A block that has no other input goes over to the frame of its value.
Status WireFitter::CheckFrame(const WireSource& source, int block, int port) const {
  if (graph_.frames().size() == 1 || source.block < 0 || HoldsInEveryFrame(graph_.node(source.block))) return {};
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
      return Placed(InvalidArgument("the wire brings a value of another frame than '", Written(producer).id, "'")
                        .WithPort(def.inputs[static_cast<size_t>(port)].name)
                        .WithHint("bring a value into a loop by an Enter block with is_constant_ = true, and out of it by an Exit"), block);
    }
  }
  return {};
}

// A block of an unknown type is an error where a session needs it.
Status WireFitter::CheckNeeded(const std::vector<char>& ancestors, int block) {
  const size_t count = graph_.page().blocks.size();
  if (needed_.empty()) {
    needed_.assign(count, 0);
    const bool all = graph_.sessions().empty();
    for (size_t b = 0; b < count; ++b) {
      const BlockDef* def = DefOf(static_cast<int>(b));
      if (!all && (def == nullptr || def->structural != Structural::kSession)) continue;
      if (all) needed_[b] = 1;
      else if (const std::vector<char> found = Ancestors(static_cast<int>(b)); true)
        for (size_t a = 0; a < count; ++a) needed_[a] = needed_[a] || found[a];
    }
  }
  if (!needed_[static_cast<size_t>(block)]) return {};
  for (size_t b = 0; b < count; ++b) {
    if (!ancestors[b] || needed_[b] || DefOf(static_cast<int>(b)) != nullptr) continue;
    return NotFound("there is no block type '", Written(static_cast<int>(b)).type, "'").WithBlock(Written(static_cast<int>(b)).id);
  }
  return {};
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
std::optional<Status> WireFitter::CheckSpecial(const WireSource& source, int block, int port) const {
  const BlockDef& def = *DefOf(block);
  const PortSpec& spec = def.inputs[static_cast<size_t>(port)];
  const BlockDef* from = graph_.node(source.block).def;  // what the graph made of the page's block: RandomNormal of a RandomNormal_ex
  const auto refuse = [&](Status status) { return status.ok() ? Status() : Placed(std::move(status).WithPort(spec.name), block); };
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
    return Status();
  }
  const bool unread = def.structural == Structural::kFeed && spec.name != "input" && spec.name != "initializer";
  if (def.structural == Structural::kNothing || unread) return Status();
  if (def.structural == Structural::kSession && spec.kind == PortKind::kFeed) {
    if (from == nullptr || from->structural == Structural::kFeed) return Status();
    return refuse(InvalidArgument("a feed needs a FeedType block, found '", source.wire.block, "' (", from->name, ")"));
  }
  if (source.refused) return refuse(Status(source.refused->code(), source.refused->message()).WithHint(source.refused->hint()));
  if (source.broken || def.structural == Structural::kSession || def.structural == Structural::kGradients) return Status();
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
Status WireFitter::CheckEmptyList(const Status& lacking, int block, int port) const {
  const PortSpec& spec = DefOf(block)->inputs[static_cast<size_t>(port)];
  if (spec.list == PortList::kHomogeneous) {
    return Placed(InvalidArgument("the input '", spec.name, "' of ", DefOf(block)->name, " needs at least one value, found none").WithPort(spec.name), block);
  }
  return lacking.ok() || lacking.place().port != spec.name ? Status() : Placed(lacking, block);
}

Status WireFitter::CheckInput(const WireSource& source, const std::vector<char>& ancestors, int block, int port, int index) {
  WEFT_RETURN_IF_ERROR(CheckCycle(source, ancestors, block, port));
  if (source.broken) WEFT_RETURN_IF_ERROR(CheckNeeded(ancestors, block));
  if (auto special = CheckSpecial(source, block, port)) return *special;
  WEFT_RETURN_IF_ERROR(CheckFrame(source, block, port));
  if (Brings(block, port, source)) return {};
  auto given = values_.ItemsOf(block, nothing_changed_, &source, port, index);
  if (!given) return {};
  if (DefOf(block)->structural == Structural::kList) {
    OfferedOutputs outputs{false, {}, {0, static_cast<uint32_t>(given->size())}};
    for (const GivenItem& item : *given) outputs.values.push_back(item.value);
    return Follow(block, outputs);
  }
  const BlockTyping::Outcome& outcome = typing_.Connect(block, *given);
  if (!outcome.status.ok()) return brief_ ? refused_ : Placed(outcome.status, block);
  if (source.values.empty() && std::ranges::find(*given, port, &GivenItem::port) == given->end()) WEFT_RETURN_IF_ERROR(CheckEmptyList(outcome.lacking, block, port));
  if (outcome.outputs.broken || values_.Gives(block, outcome.outputs)) return {};
  return Follow(block, outcome.outputs);
}

// What the outputs of the reader would be; null where they stay, or an edit waits. `refused` says why it would not take what it gets.
const OfferedOutputs* WireFitter::OutputsAfter(int reader, Status& refused) {
  const BlockDef* def = DefOf(reader);
  if (def == nullptr || def->structural == Structural::kSession || def->structural == Structural::kGradients || def->structural == Structural::kOperation) return nullptr;
  if (def->structural == Structural::kOutput) return nullptr;  // by an index that need not be there any more
  const Node& node = graph_.node(reader);
  if (as_many_ && def->structural == Structural::kNone && !node.broken) {
    values_.ValuesOf(reader, changed_, given_);
  } else {
    auto given = values_.ItemsOf(reader, changed_);
    if (!given) return nullptr;
    given_ = std::move(*given);
  }
  if (def->structural == Structural::kList) {
    OfferedOutputs& list = lists_.emplace_back(OfferedOutputs{false, {}, {0, static_cast<uint32_t>(given_.size())}});
    for (const GivenItem& item : given_) list.values.push_back(item.value);
    return &list;
  }
  const BlockTyping::Outcome& outcome = typing_.Connect(reader, given_);
  if (outcome.status.ok()) return &outcome.outputs;
  if (!outcome.complete) return nullptr;  // an edit waits for its other inputs
  // A fault that is there already is not the wire's.
  auto before = node.broken ? values_.ItemsOf(reader, nothing_changed_) : std::nullopt;
  if (!before || typing_.Connect(reader, *before).status.message() != outcome.status.message()) refused = brief_ ? refused_ : Placed(outcome.status, reader);
  return nullptr;
}

// The block's outputs would be these: those that read them are to be looked at.
void WireFitter::Change(int block, const OfferedOutputs& outputs) {
  const Node& node = graph_.node(block);
  as_many_ &= !node.broken && node.def->structural != Structural::kList && std::ranges::equal(outputs.first, node.out_first.table());
  changed_.Set(block, outputs);
  for (uint32_t r = first_reader_[static_cast<size_t>(block)]; r < first_reader_[static_cast<size_t>(block) + 1]; ++r) {
    const auto order = static_cast<size_t>(graph_.node(readers_[r]).order);
    const uint64_t bit = uint64_t{1} << (order % 64);
    open_count_ += (open_[order / 64] & bit) == 0;
    open_[order / 64] |= bit;
    first_open_ = std::min(first_open_, order / 64);
  }
}

// Takes the first of the blocks that are to be looked at.
int WireFitter::NextOpen() {
  while (open_[first_open_] == 0) ++first_open_;
  uint64_t& word = open_[first_open_];
  const auto order = first_open_ * 64 + static_cast<size_t>(std::countr_zero(word));
  word &= word - 1;
  --open_count_;
  return graph_.in_order()[order];
}

// What comes of the block giving these outputs.
Status WireFitter::Follow(int block, const OfferedOutputs& outputs) {
  if (outputs.broken || values_.Gives(block, outputs)) return {};
  std::vector<std::pair<int, uint64_t>> passed = {{block, HashOf(outputs)}};  // each alone stood for all that had changed
  if (auto known = followed_.find(passed[0]); known != followed_.end()) return known->second;
  FindReaders();
  open_.assign(graph_.nodes().size() / 64 + 1, 0);
  open_count_ = 0;
  first_open_ = open_.size() - 1;
  changed_.Clear();
  lists_.clear();
  as_many_ = true;
  Status refused;
  Change(block, outputs);
  while (open_count_ > 0 && refused.ok() && steps_left_ > 0) {
    --steps_left_;
    const int reader = NextOpen();
    const OfferedOutputs* now = OutputsAfter(reader, refused);
    if (now == nullptr || now->broken || values_.Gives(reader, *now)) continue;
    if (open_count_ == 0) {
      passed.emplace_back(reader, HashOf(*now));
      if (auto known = followed_.find(passed.back()); known != followed_.end()) {
        refused = known->second;
        break;
      }
    }
    Change(reader, *now);
  }
  if (steps_left_ == 0) return refused;
  for (const auto& place : passed) followed_.emplace(place, refused);
  return refused;
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
  Begin(false, 1 << 20);
  return CheckInput(source, Ancestors(source.block), block, port, to.index);
}

Result<std::vector<std::string>> WireFitter::InputsFor(const Wire& from) {
  const WireSource source = values_.SourceOf(from, nothing_changed_);
  if (source.block < 0) return *source.refused;
  const BlockDef* from_def = DefOf(source.block);
  if (source.refused && from.port != "operation" && from_def->FindOutput(from.port) < 0) return *source.refused;
  const std::vector<char> ancestors = Ancestors(source.block);
  const int count = static_cast<int>(graph_.page().blocks.size());
  Begin(true, 10000 + 4 * static_cast<size_t>(count));
  // The last ones first: what comes of a change is known for those behind.
  std::vector<int> blocks;
  for (int node : graph_.in_order()) {
    if (node < count) blocks.push_back(node);
  }
  std::vector<std::vector<char>> fits(static_cast<size_t>(count));
  for (size_t i = blocks.size(); i-- > 0;) {
    const BlockDef* def = DefOf(blocks[i]);
    if (def == nullptr) continue;
    for (size_t p = 0; p < def->inputs.size(); ++p) {
      fits[static_cast<size_t>(blocks[i])].push_back(CheckInput(source, ancestors, blocks[i], static_cast<int>(p), -1).ok());
    }
  }
  std::vector<std::string> inputs;
  for (int b = 0; b < count; ++b) {
    for (size_t p = 0; p < fits[static_cast<size_t>(b)].size(); ++p) {
      if (fits[static_cast<size_t>(b)][p]) inputs.push_back(Cat(Written(b).id, ".", DefOf(b)->inputs[p].name));
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
  Begin(true, 10000 + 4 * count);
  FindReaders();
  // A wire from what depends on the block would close a cycle.
  std::vector<char> behind(count, 0);
  std::vector<int> open = {block};
  behind[static_cast<size_t>(block)] = 1;
  while (!open.empty()) {
    const auto b = static_cast<size_t>(open.back());
    open.pop_back();
    for (uint32_t r = first_reader_[b]; r < first_reader_[b + 1]; ++r) {
      if (!std::exchange(behind[static_cast<size_t>(readers_[r])], 1)) open.push_back(readers_[r]);
    }
  }
  const std::vector<char> none(count, 0);
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
      const std::vector<char> needs = source.broken ? Ancestors(static_cast<int>(b)) : none;
      if (CheckInput(source, needs, block, port, to.index).ok()) outputs.push_back(Cat(Written(static_cast<int>(b)).id, ".", name));
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
