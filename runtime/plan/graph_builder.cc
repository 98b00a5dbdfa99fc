#include "runtime/plan/graph_builder.h"

#include <algorithm>

#include "runtime/plan/port_facts.h"
#include "weft/page/literal.h"

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

std::vector<std::string_view> PortNames(const std::vector<PortSpec>& ports) {
  std::vector<std::string_view> names;
  for (const PortSpec& port : ports) names.push_back(port.name);
  return names;
}

}  // namespace

std::unique_ptr<Graph> Graph::Build(std::shared_ptr<const Page> page, const Registry& registry, std::string_view name,
                                    Diagnostics& diagnostics, const Graph* former) {
  std::shared_ptr<GraphMemo> memo = former != nullptr ? former->memo_ : std::make_shared<GraphMemo>();
  std::unique_ptr<Graph> graph(new Graph(std::move(page), registry, name, std::move(memo)));
  // What a document that broke off leaves out would look like faults of what it does say.
  Diagnostics ignored;
  GraphBuilder(*graph, graph->page_->complete ? diagnostics : ignored, former).Build();
  return graph;
}

Status GraphBuilder::At(Status status, int block, std::string_view port, int item) const {
  const PageBlock& source = page_.blocks[block];
  std::string pointer = BlockPointer(page_, static_cast<size_t>(block));
  if (!port.empty() && source.pointer.empty()) {
    const Node& node = graph_.nodes_[block];
    bool attr = node.def != nullptr && node.def->FindInput(port) < 0 && node.def->FindAttr(port) >= 0 &&
                std::none_of(source.inputs.begin(), source.inputs.end(), [&](const PageInput& input) { return input.port == port; });
    pointer += attr ? "/attrs" : Cat("/inputs/", Escaped(port));
    if (item >= 0) pointer += Cat("/", item);
  }
  return std::move(status).WithPage(graph_.name_).WithPointer(pointer).WithBlock(source.id).WithPort(port);
}

void GraphBuilder::Error(Status status, int block, std::string_view port, int item) {
  graph_.nodes_[block].broken = true;
  diagnostics_.Error(At(std::move(status), block, port, item));
}

// Suggestions are looked for among all names, so a page of nothing but slips gets only so many.
bool GraphBuilder::MayCompare(size_t names) {
  constexpr size_t kMostCompared = 1 << 22;
  compared_ += names;
  return compared_ <= kMostCompared || compared_ == names;
}

Status GraphBuilder::NoBlock(std::string_view id) {
  if (MayCompare(page_.blocks.size())) return graph_.FindNode(id).status();
  return NotFound("there is no block '", id, "'");
}

void GraphBuilder::Build() {
  const size_t said = diagnostics_.all().size();
  MakeNodes();
  FindProducers();
  for (int block : Order()) {
    Connect(block);
    graph_.nodes_[block].order = next_order_++;  // after the literals and gradients that it brought
  }
  CheckFeedback();
  graph_.in_order_.resize(graph_.nodes_.size());
  for (size_t i = 0; i < graph_.nodes_.size(); ++i) graph_.in_order_[static_cast<size_t>(graph_.nodes_[i].order)] = static_cast<int>(i);
  for (size_t i = 0; i < page_.blocks.size(); ++i) {
    const Node& node = graph_.nodes_[i];
    if (node.def != nullptr && node.def->structural == Structural::kSession) ConnectSession(static_cast<int>(i));
  }
  ReportUnknownBlocks();
  NoteReported(said);
}

void GraphBuilder::MakeNodes() {
  FindFormer();
  graph_.nodes_.reserve(std::max(page_.blocks.size() * 2, former_ == nullptr ? 0 : former_->nodes_.size() + 64));
  graph_.nodes_.resize(page_.blocks.size());
  graph_.by_id_.Reserve(page_.blocks.size());
  for (size_t i = 0; i < page_.blocks.size(); ++i) {
    const PageBlock& block = page_.blocks[i];
    Node& node = graph_.nodes_[i];
    int index = static_cast<int>(i);
    const bool kept = KeepFormer(index);
    if (!kept) {
      node.id = block.id;
      node.page_block = index;
      node.def = graph_.registry_.Find(block.type);
    }
    if (!graph_.by_id_.Add(page_.blocks, i)) {
      same_ids_ = true;
      // The reader reports this, too; a host's own page has been through no reader.
      if (page_.format == Page::Format::kWeft) node.broken = true;
      else Error(AlreadyExists("there is another block '", block.id, "'"), index);
    }
    node.broken |= block.faulty;
    if (kept) continue;
    if (node.def == nullptr) {
      node.broken = true;
      if (!block.faulty) unknown_.push_back(index);
      continue;
    }
    ReadAttrs(index);
  }
}

void GraphBuilder::ReadAttrs(int block) {
  Node& node = graph_.nodes_[block];
  const PageBlock& source = page_.blocks[block];
  if (node.def->attrs.empty() && source.attrs.empty()) return;
  Diagnostics found;
  GraphMemo::OfBlock& known = memo_.Of(node.def);
  const auto same = std::ranges::find(known.parsed, source.attrs, &GraphMemo::Parsed::text);
  if (same != known.parsed.end()) {
    node.attrs = same->attrs;
  } else {
    node.attrs = ParseAttrs(source.attrs, node.def->attrs, found);
    if (found.all().empty()) GraphMemo::Keep(known.parsed, known.oldest_parsed, {source.attrs, node.attrs});
  }
  std::vector<std::string> given_by_pin;
  for (const PageInput& input : source.inputs) {
    if (TakePinAsAttr(block, input)) given_by_pin.push_back(node.def->attrs[node.def->FindAttr(input.port)].name);
  }
  if (source.faulty) return;
  for (const Diagnostic& diagnostic : found.all()) {
    const std::string& port = diagnostic.status.place().port;
    // A pin of its own gives what the string leaves out.
    if (std::find(given_by_pin.begin(), given_by_pin.end(), port) != given_by_pin.end()) continue;
    Status placed = At(diagnostic.status, block, port);
    if (page_.blocks[block].pointer.empty()) {
      placed = Status(diagnostic.status).WithPage(graph_.name_).WithPointer(BlockPointer(page_, block) + "/attrs").WithBlock(source.id);
    }
    if (diagnostic.severity == Severity::kError) node.broken = true;
    diagnostics_.Add(diagnostic.severity, std::move(placed));
  }
}

// enuSpace writes some attributes as pins of their own; readers hand every pin with a text over as an input.
bool GraphBuilder::TakePinAsAttr(int block, const PageInput& input) {
  Node& node = graph_.nodes_[block];
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
    Error(std::move(status), block, input.port);
    return true;
  }
  node.attrs.Set(static_cast<size_t>(index), std::move(*value));
  return true;
}

void GraphBuilder::Connect(int block) {
  if (!Reconnect(block)) ConnectInputs(block);
  if (graph_.nodes_[block].broken) Disconnect(block);
  CompareWithFormer(block);
}

// Nothing reads the values of a broken block; its inputs lead a plan to what stands before it.
void GraphBuilder::Disconnect(int block) {
  Node& node = graph_.nodes_[block];
  node.inputs.clear();
  node.in_first = node.out_first = PortTable();
  node.output_types.clear();
  for (int producer : ProducersOf(block)) {
    if (producer >= 0) node.inputs.push_back({producer, 0});
  }
}

void GraphBuilder::ConnectInputs(int block) {
  const BlockDef* def = graph_.nodes_[block].def;
  if (def == nullptr) return;
  if (ports_.size() < def->inputs.size()) ports_.resize(def->inputs.size());
  for (auto& values : ports_) values.clear();
  std::span ports(ports_.data(), def->inputs.size());
  written_.assign(def->inputs.size(), nullptr);
  std::vector<const PageInput*>& written = written_;
  std::vector<int> misspelt;
  bool ok = true;
  for (const PageInput& input : page_.blocks[block].inputs) {
    int port = def->FindInput(input.port);
    if (port < 0) {
      bool attr = def->FindAttr(input.port) >= 0;
      bool imported = page_.format != Page::Format::kWeft;
      // Read by ReadAttrs; pages that were imported once, and written as Weft's, still have such pins.
      const Literal* literal = input.items.size() == 1 ? LiteralOf(input.items[0]) : nullptr;
      if (attr && (imported || (literal != nullptr && literal->form == Literal::Form::kText))) continue;
      graph_.nodes_[block].broken |= input.faulty;
      std::vector<std::string_view> names = PortNames(def->inputs);
      // What is misspelt is not missed as well.
      int meant = attr ? -1 : def->FindInput(ClosestName(input.port, names));
      if (meant >= 0 && written[meant] == nullptr && def->structural == Structural::kNone) misspelt.push_back(meant);
      if (input.faulty) continue;
      Status status = NotFound("the block ", def->name, " has no input '", input.port, "'").WithHint(
          attr ? Cat("'", input.port, "' is an attribute: write it under \"attrs\"") : NamesHint(input.port, names, "inputs"));
      // The palette has pins that no operation has; they are harmless while nothing is wired to them.
      if (imported && (input.items.empty() || WireOf(input.items[0]) == nullptr)) {
        diagnostics_.Warning(At(std::move(status), block, input.port));
        continue;
      }
      Error(std::move(status), block, input.port);
      ok = false;
      continue;
    }
    if (written[port] != nullptr) {
      Error(InvalidArgument("the input '", def->inputs[port].name, "' is connected twice, as '", written[port]->port, "' and as '", input.port, "'"),
            block, input.port);
      ok = false;
      continue;
    }
    written[port] = &input;
    graph_.nodes_[block].broken |= input.faulty;
    if (def->structural == Structural::kNone) ok &= ConnectPort(block, port, input, ports[port]);
  }
  if (def->structural != Structural::kNone) return ConnectStructural(block);
  for (size_t p = 0; p < ports.size(); ++p) {
    if (written[p] != nullptr || def->inputs[p].list == PortList::kTuple || page_.blocks[block].faulty) continue;
    if (std::find(misspelt.begin(), misspelt.end(), static_cast<int>(p)) != misspelt.end()) continue;
    Error(InvalidArgument("the input '", def->inputs[p].name, "' of ", def->name, " needs a wire or a value, and has none"), block,
          def->inputs[p].name);
    ok = false;
  }
  Node& node = graph_.nodes_[block];
  if (!ok || node.broken) {
    node.broken = true;
    return;
  }
  bool single = std::all_of(ports.begin(), ports.end(), [](const auto& values) { return values.size() == 1; });
  node.inputs.reserve(ports.size());
  for (auto& values : ports) node.inputs.append(std::span<const ValueRef>(values));
  if (single) {
    node.in_first = PortTable::Single(ports.size());
  } else {
    std::vector<uint32_t> first(1, 0);
    for (auto& values : ports) first.push_back(first.back() + static_cast<uint32_t>(values.size()));
    node.in_first = PortTable::Of(std::move(first));
  }
  TrustFeedback(node);
  if (Status status = InferTypes(node); !status.ok()) {
    std::string port = status.place().port;
    status = WithPortFacts(graph_, node, std::move(status), [](uint32_t) { return static_cast<const Shape*>(nullptr); });
    Error(std::move(status), block, port);
  }
}

bool GraphBuilder::ConnectPort(int block, int port, const PageInput& input, std::vector<ValueRef>& values) {
  const BlockDef& def = *graph_.nodes_[block].def;
  const PortSpec& spec = def.inputs[port];
  bool ok = true;
  for (size_t k = 0; k < input.items.size(); ++k) {
    ok &= ConnectItem(block, port, input, k, values);
    if (values.size() > kMostValues) break;  // said once
  }
  if (!ok || input.faulty) return false;
  if (spec.list == PortList::kSingle && values.size() != 1) {
    Error(InvalidArgument("the input '", spec.name, "' of ", def.name, " takes one value, found ", values.size()), block, input.port);
    return false;
  }
  return true;
}

bool GraphBuilder::ConnectItem(int block, int port, const PageInput& input, size_t item, std::vector<ValueRef>& values) {
  const PortSpec& spec = graph_.nodes_[block].def->inputs[port];
  int place = input.list ? static_cast<int>(item) : -1;
  if (const auto* literal = LiteralOf(input.items[item])) {
    if (input.faulty) return false;
    auto value = LiteralNode(block, spec, input.list ? Cat("[", item, "]") : "", *literal);
    if (!value.ok()) {
      Error(std::move(value).status(), block, input.port, place);
      return false;
    }
    values.push_back(*value);
    return true;
  }
  const Wire& wire = std::get<Wire>(input.items[item]);
  int producer = ProducerOf(block, input, item);
  if (producer < 0 || graph_.nodes_[producer].def == nullptr) {
    graph_.nodes_[block].broken = true;
    // An unknown block type is reported once, at the block itself.
    if (producer < 0) Error(NoBlock(wire.block), block, input.port, place);
    return false;
  }
  std::vector<ValueRef>& found = resolved_;
  // Without an index a single port takes the first of a list, a list port takes them all.
  const size_t most = spec.list == PortList::kSingle ? 1 : kMostValues + 1;
  if (Status status = graph_.Resolve(wire, producer, most, found); !status.ok()) {
    Error(std::move(status), block, input.port, place);
    return false;
  }
  list_values_ += spec.list == PortList::kSingle ? 0 : found.size();
  if (values.size() + found.size() > kMostValues || list_values_ > kMostListValues) {
    values.resize(kMostValues + 1);
    Error(ResourceExhausted("lists of more than ", kMostValues, " values, or of ", kMostListValues, " on a page, are not taken")
              .WithHint("a list of lists grows with every level"),
          block, input.port, place);
    return false;
  }
  for (ValueRef value : found) {
    if (!value.valid()) {
      Error(InvalidArgument("the wire ", wire, " brings no gradient: the outputs do not depend on that input"), block, input.port, place);
      return false;
    }
    if (graph_.nodes_[value.node].broken) {
      graph_.nodes_[block].broken = true;
      return false;
    }
    values.push_back(value);
  }
  return true;
}

std::optional<DType> GraphBuilder::TypeForText(const Node& node, const PortSpec& spec, const Literal& literal) const {
  if (spec.dtype != DType::kInvalid) return spec.dtype;
  int attr = spec.type_attr.empty() ? -1 : node.def->FindAttr(spec.type_attr);
  if (attr >= 0 && node.def->attrs[attr].inferred) {
    if (const DType* given = std::get_if<DType>(&node.attrs[attr])) return *given;
  }
  return literal.dtype;
}

Result<Tensor> GraphBuilder::LiteralTensor(const Literal& literal, std::optional<DType> dtype) const {
  if (literal.form != Literal::Form::kText) {
    if (!literal.tensor.defined()) return InvalidArgument("the value could not be read");
    return literal.tensor;
  }
  return ParseTextLiteral(literal.text, dtype, literal.shape);
}

Result<ValueRef> GraphBuilder::LiteralNode(int block, const PortSpec& spec, const std::string& suffix, const Literal& literal) {
  const Node& node = graph_.nodes_[block];
  if (spec.kind == PortKind::kReference) {
    return InvalidArgument("the input '", spec.name, "' needs a variable, found a value").WithHint("wire it to a Variable block");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, LiteralTensor(literal, TypeForText(node, spec, literal)));
  return ValueRef{AddConstant(Cat(node.id, ".", spec.name, suffix), block, std::move(tensor)), 0};
}

int GraphBuilder::AddConstant(std::string id, int page_block, Tensor value) {
  Node& node = graph_.nodes_.emplace_back();
  node.id = std::move(id);
  node.page_block = page_block;
  node.added = true;
  node.order = next_order_++;
  node.output_types.push_back(value.dtype());
  node.out_first = PortTable::Single(1);
  node.constant = std::move(value);
  return static_cast<int>(graph_.nodes_.size()) - 1;
}

// Gradients of gradients grow with every level.
Status GraphBuilder::CheckRoom() const {
  const size_t most = (size_t{1} << 17) + 64 * page_.blocks.size();
  if (graph_.nodes_.size() < most) return {};
  return ResourceExhausted("needs more than ", most, " blocks with those that compute gradients");
}

Result<int> GraphBuilder::AddLike(const Node& like, std::string id, int page_block, std::span<const ValueRef> inputs) {
  WEFT_RETURN_IF_ERROR(CheckRoom());
  Node& node = graph_.nodes_.emplace_back(like);
  node.id = std::move(id);
  node.page_block = page_block;
  node.inputs.append(inputs);
  node.order = next_order_++;
  return static_cast<int>(graph_.nodes_.size()) - 1;
}

Result<int> GraphBuilder::AddNode(const BlockDef& def, std::string id, int page_block, std::span<const ValueRef> inputs,
                                  std::span<const uint32_t> first, std::vector<std::pair<std::string_view, AttrValue>> attrs) {
  WEFT_RETURN_IF_ERROR(CheckRoom());
  Node& node = graph_.nodes_.emplace_back();
  node.def = &def;
  node.id = std::move(id);
  node.page_block = page_block;
  node.added = true;
  node.attrs = AttrsWith(def, attrs);
  node.inputs.append(inputs);
  const PortTable single = PortTable::Single(def.inputs.size());
  node.in_first = std::ranges::equal(single.table(), first) ? single : PortTable::Of({first.begin(), first.end()});
  if (Status status = InferTypes(node); !status.ok()) {
    graph_.nodes_.pop_back();
    return status;
  }
  node.order = next_order_++;
  return static_cast<int>(graph_.nodes_.size()) - 1;
}

AttrList GraphBuilder::AttrsWith(const BlockDef& def, std::span<const std::pair<std::string_view, AttrValue>> given) {
  GraphMemo::OfBlock& known = memo_.Of(&def);
  for (const GraphMemo::Given& other : known.given) {
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first && SameSetting(a.second, b.second); };
    if (std::ranges::equal(given, other.given, same)) return other.attrs;
  }
  std::vector<AttrValue> attrs;
  attrs.reserve(def.attrs.size());
  for (const AttrSpec& spec : def.attrs) {
    auto value = std::ranges::find(given, spec.name, [](const auto& a) { return a.first; });
    // A default type of an inferred attribute gives way to the inputs.
    if (value != given.end()) attrs.push_back(value->second);
    else if (spec.inferred || !spec.default_value) attrs.emplace_back();
    else attrs.push_back(*spec.default_value);
  }
  GraphMemo::Keep(known.given, known.oldest_given, {{given.begin(), given.end()}, attrs});
  return attrs;
}

// A block of an unknown type is an error where a session, or the default of fetching every end, would have to run it.
void GraphBuilder::ReportUnknownBlocks() {
  if (unknown_.empty()) return;
  std::vector<char> needed(graph_.nodes_.size(), 0);
  std::vector<int> stack;
  auto need = [&](int node) {
    if (node >= 0 && !needed[node]) {
      needed[node] = 1;
      stack.push_back(node);
    }
  };
  bool has_session = false;
  for (size_t i = 0; i < page_.blocks.size(); ++i) {
    const Node& node = graph_.nodes_[i];
    if (node.def != nullptr && node.def->structural == Structural::kSession) has_session = true, need(static_cast<int>(i));
  }
  if (!has_session) {
    for (size_t i = 0; i < page_.blocks.size(); ++i) need(static_cast<int>(i));
  }
  while (!stack.empty()) {
    int node = stack.back();
    stack.pop_back();
    if (node >= static_cast<int>(page_.blocks.size())) continue;
    for (int producer : ProducersOf(node)) need(producer);
  }
  std::vector<std::string_view> names = graph_.registry_.Names();
  for (int block : unknown_) {
    const PageBlock& source = page_.blocks[block];
    Status status = NotFound("there is no block type '", source.type, "'");
    if (MayCompare(names.size())) status = std::move(status).WithHint(DidYouMean(source.type, names));
    status = std::move(status)
                 .WithPage(graph_.name_)
                 .WithPointer(Cat(BlockPointer(page_, block), source.pointer.empty() ? "/block" : ""))
                 .WithBlock(source.id);
    diagnostics_.Add(needed[block] ? Severity::kError : Severity::kWarning, std::move(status));
  }
}

}  // namespace weft
