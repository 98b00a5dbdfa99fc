#include "runtime/host/ranks/shard_parts.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/state/resource_store.h"
#include "weft/host/session_choice.h"

namespace weft {
namespace {

bool IsPlaceholder(const Node& node) { return node.def != nullptr && node.def->name.starts_with("Placeholder"); }

/// Whether the block gives a batch of its own: out of a queue or stage, from a reader, from record files.
bool GivesBatch(const Node& node) {
  if (node.def == nullptr || node.output_types.empty()) return false;
  return node.def->waits || node.def->name.starts_with("ReaderRead") || node.def->name == "RecordInput";
}

/// Whether the block puts something where batches come from: into a queue or a stage.
bool PutsIn(const Node& node) { return node.def != nullptr && node.def->outputs.empty() && node.def->category == "data_flow_ops"; }

bool IsRandom(const Node& node) { return node.def != nullptr && node.def->stateful && node.def->FindAttr("seed") >= 0; }

bool IsUnseeded(const Node& node) {
  const auto zero = [&](std::string_view name) {
    const int attr = node.def->FindAttr(name);
    const auto* value = attr < 0 ? nullptr : std::get_if<int64_t>(&node.attrs[attr]);
    return value == nullptr || *value == 0;
  };
  return IsRandom(node) && zero("seed") && zero("seed2");
}

/// Whether the block's output is drawn. (A queue that shuffles gives itself.)
bool Draws(const Node& node) { return IsRandom(node) && !node.output_types.empty() && node.output_types[0] != DType::kResource; }

bool Updates(const Node& node) { return node.def != nullptr && !node.def->updates.empty(); }

/// The outputs that the page's key "shard" names; none where it has no such key.
std::vector<std::string> KeyOfPage(const Page& page) {
  std::vector<std::string> names;
  if (page.extra.empty()) return names;
  const nlohmann::json members = nlohmann::json::parse("{" + page.extra + "}", nullptr, false);
  if (!members.is_object() || !members.contains("shard")) return names;
  for (const nlohmann::json& name : members["shard"]) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

/// Sets of nodes, by index.
using Nodes = std::vector<char>;

class Division {
 public:
  Division(const Graph& graph, const SessionSpec& spec, const ShardingOptions& options, const std::vector<ValueRef>& scalars)
      : graph_(graph), spec_(spec), options_(options), scalars_(scalars) {}
  Result<ShardParts> Make();

 private:
  Status FindNamed();
  void FindSources(const Nodes& needed);
  void AddSource(ValueRef value, bool named);
  const ShardSource* SourceOf(ValueRef value) const;
  bool IsSource(ValueRef value) const { return SourceOf(value) != nullptr; }
  bool Differs(ValueRef value) const;
  bool IsGradient(ValueRef value) const { return std::ranges::find(gradients_, value) != gradients_.end(); }
  bool Fed(ValueRef value) const { return std::ranges::find(spec_.feeds, value, &SessionSpec::Feed::value) != spec_.feeds.end(); }
  bool AllFed(int node) const;
  Nodes Ancestors(const std::vector<int>& roots, FunctionRef<bool(ValueRef)> ends) const;
  void MarkSharded();
  void FindGradients(const Nodes& needed);
  void FindAfter();
  void AddValue(ValueRef value, std::string name, bool read_after);
  void FindValues();
  bool FindStreams();
  void Assign();
  void FindParts();
  bool FindLatePuts();
  Nodes NodesOf(const SessionSpec& part) const;
  Status Check();
  Status CheckShards(const Nodes& in_shards);
  Status CheckOnce(const Nodes& early, const Nodes& again) const;
  std::string ReaderOf(int node) const;
  Status Refuse(int node, Status status) const { return PlaceAtNode(graph_, node, std::move(status)); }

  const Graph& graph_;
  const SessionSpec& spec_;
  const ShardingOptions& options_;
  const std::vector<ValueRef>& scalars_;
  ShardParts parts_;
  std::vector<ValueRef> named_, whole_;
  std::vector<int> run_, puts_;  // the session's, but for those of them that put, before the shards, into what sources give; and those
  std::set<int> streams_;              // random blocks that belong to shards
  Nodes sharded_;                      // differ from shard to shard
  std::vector<ValueRef> gradients_;
  Nodes after_;  // what comes after the shards, of all that leads from gradients and sources to what is fetched and run
};

// ---- sources ---------------------------------------------------------------------------------------------------------------------------

Status Division::FindNamed() {
  std::vector<std::string> cut = options_.cut;
  for (std::string& name : KeyOfPage(graph_.page())) cut.push_back(std::move(name));
  for (const auto& [names, values] : {std::pair(&std::as_const(cut), &named_), std::pair(&options_.whole, &whole_)}) {
    for (const std::string& name : *names) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef value, FindOutput(graph_, name));
      values->push_back(value);
    }
  }
  return {};
}

bool Division::AllFed(int node) const {
  const size_t outputs = graph_.node(node).output_types.size();
  for (size_t v = 0; v < outputs; ++v) {
    if (!Fed({node, static_cast<int>(v)})) return false;
  }
  return outputs > 0;
}

/// The nodes that roots need; those behind a value that ends the walk only where something else leads to them.
Nodes Division::Ancestors(const std::vector<int>& roots, FunctionRef<bool(ValueRef)> ends) const {
  Nodes found(graph_.nodes().size(), 0);
  std::vector<int> stack;
  const auto need = [&](int node) {
    if (std::exchange(found[static_cast<size_t>(node)], 1) == 0) stack.push_back(node);
  };
  for (int root : roots) need(root);
  while (!stack.empty()) {
    const int index = stack.back();
    stack.pop_back();
    const Node& node = graph_.node(index);
    if (node.variable >= 0 || AllFed(index)) continue;
    for (ValueRef input : node.inputs) {
      if (input.valid() && !ends(input)) need(input.node);
    }
  }
  return found;
}

const ShardSource* Division::SourceOf(ValueRef value) const {
  const auto source = std::ranges::find(parts_.sources, value, &ShardSource::value);
  return source == parts_.sources.end() ? nullptr : &*source;
}

void Division::AddSource(ValueRef value, bool named) {
  if (IsSource(value)) return;
  const auto fed = std::ranges::find(spec_.feeds, value, &SessionSpec::Feed::value);
  const int index = fed == spec_.feeds.end() ? -1 : static_cast<int>(fed - spec_.feeds.begin());
  const bool scalar = index >= 0 ? fed->tensor.shape().rank() == 0 : std::ranges::find(scalars_, value) != scalars_.end();
  const bool asked = std::ranges::find(whole_, value) != whole_.end();
  parts_.sources.push_back({value, graph_.ValueName(value), named, asked || (scalar && !named), !asked && scalar && !named, index});
}

void Division::FindSources(const Nodes& needed) {
  for (ValueRef value : named_) AddSource(value, true);
  for (size_t i = 0; i < needed.size(); ++i) {
    const Node& node = graph_.node(static_cast<int>(i));
    if (needed[i] == 0 || node.broken || !(IsPlaceholder(node) ? AllFed(static_cast<int>(i)) : GivesBatch(node))) continue;
    for (size_t v = 0; v < node.output_types.size(); ++v) AddSource({static_cast<int>(i), static_cast<int>(v)}, false);
  }
}

// ---- what belongs where ----------------------------------------------------------------------------------------------------------------

/// Whether shards have another value each. (Of a block's outputs some may be sources, and the others not.)
bool Division::Differs(ValueRef value) const {
  const ShardSource* const source = SourceOf(value);
  return source != nullptr ? !source->whole : sharded_[static_cast<size_t>(value.node)] != 0;
}

void Division::MarkSharded() {
  sharded_.assign(graph_.nodes().size(), 0);
  for (int node : streams_) sharded_[static_cast<size_t>(node)] = 1;
  for (int i : graph_.in_order()) {
    const Node& node = graph_.node(i);
    if (node.variable >= 0) continue;
    for (ValueRef input : node.inputs) sharded_[static_cast<size_t>(i)] |= input.valid() && Differs(input);
  }
}

void Division::FindGradients(const Nodes& needed) {
  gradients_.clear();
  for (const OfferedGradient& offered : graph_.gradients()) {
    const auto node = static_cast<size_t>(offered.value.node);
    if (needed[node] != 0 && sharded_[node] != 0 && !IsSource(offered.value) && !IsGradient(offered.value)) gradients_.push_back(offered.value);
  }
}

void Division::FindAfter() {
  std::vector<int> roots = run_;
  for (const SessionSpec::Fetch& fetch : spec_.fetches) {
    if (!IsGradient(fetch.value) && !IsSource(fetch.value)) roots.push_back(fetch.value.node);
  }
  const Nodes reached = Ancestors(roots, [&](ValueRef value) { return IsGradient(value) || IsSource(value); });
  after_.assign(reached.size(), 0);
  for (int i : graph_.in_order()) {
    const auto at = static_cast<size_t>(i);
    const Node& node = graph_.node(i);
    if (reached[at] == 0 || node.variable >= 0) continue;
    bool after = Updates(node);
    for (ValueRef input : node.inputs) after |= input.valid() && (IsGradient(input) || (!IsSource(input) && after_[static_cast<size_t>(input.node)] != 0));
    after_[at] = after;
  }
}

void Division::AddValue(ValueRef value, std::string name, bool read_after) {
  auto known = std::ranges::find(parts_.values, value, &ShardValue::value);
  if (known == parts_.values.end()) known = parts_.values.insert(known, {value, std::move(name), IsGradient(value), false});
  known->read_after |= read_after;
}

// What shards give: all that something after reads of theirs, and what is fetched.
void Division::FindValues() {
  parts_.values.clear();
  parts_.fetches.clear();
  const auto of_shard = [&](ValueRef value) {
    return IsGradient(value) || (!IsSource(value) && Differs(value) && after_[static_cast<size_t>(value.node)] == 0);
  };
  for (int i : graph_.in_order()) {
    if (after_[static_cast<size_t>(i)] == 0) continue;
    for (ValueRef input : graph_.node(i).inputs) {
      if (input.valid() && of_shard(input)) AddValue(input, graph_.ValueName(input), true);
    }
  }
  for (const SessionSpec::Fetch& fetch : spec_.fetches) {
    if (of_shard(fetch.value)) AddValue(fetch.value, fetch.name, false);
  }
  // Gradients that only other gradients read are those of shards, too, and nothing joins them.
  const auto order = [&](const ShardValue& value) { return std::pair(graph_.node(value.value.node).order, value.value.output); };
  std::ranges::sort(parts_.values, {}, order);
  for (const SessionSpec::Fetch& fetch : spec_.fetches) {
    const auto joined = std::ranges::find(parts_.values, fetch.value, &ShardValue::value);
    parts_.fetches.push_back({fetch.name, fetch.value, joined == parts_.values.end() ? -1 : static_cast<int>(joined - parts_.values.begin())});
  }
}

/// Whether shards need a random block that was not known to be theirs.
bool Division::FindStreams() {
  const Nodes needed = NodesOf(parts_.shard);
  bool more = false;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] != 0 && IsRandom(graph_.node(static_cast<int>(i)))) more |= streams_.insert(static_cast<int>(i)).second;
  }
  return more;
}

void Division::Assign() {
  parts_.before.run = puts_;
  parts_.shard.run.clear();
  parts_.after.run.clear();
  for (int node : run_) {
    const auto at = static_cast<size_t>(node);
    const bool in_shards = sharded_[at] != 0 && !IsSource({node, 0}) && !PutsIn(graph_.node(node));
    (after_[at] != 0 ? parts_.after : in_shards ? parts_.shard : parts_.before).run.push_back(node);
  }
  for (SessionSpec* part : {&parts_.before, &parts_.shard, &parts_.after}) part->fetches.clear();
  for (const ShardSource& source : parts_.sources) {
    if (source.fed < 0) parts_.before.fetches.push_back({source.name, source.value});
  }
  for (const ShardValue& value : parts_.values) parts_.shard.fetches.push_back({value.name, value.value});
  for (const ShardParts::Fetch& fetch : parts_.fetches) {
    if (fetch.joined < 0) parts_.after.fetches.push_back({fetch.name, fetch.value});
  }
}

void Division::FindParts() {
  std::vector<int> roots = run_;
  for (const SessionSpec::Fetch& fetch : spec_.fetches) roots.push_back(fetch.value.node);
  const Nodes needed = Ancestors(roots, [&](ValueRef value) { return std::ranges::find(named_, value) != named_.end(); });
  parts_.sources.clear();
  FindSources(needed);
  do {
    MarkSharded();
    FindGradients(needed);
    FindAfter();
    FindValues();
    Assign();
  } while (FindStreams());
}

/// Whether something that puts reads what only comes after the shards: then it comes there as well, as all else that the session runs.
bool Division::FindLatePuts() {
  Nodes late = after_;
  for (int i : graph_.in_order()) {
    const Node& node = graph_.node(i);
    if (node.variable >= 0) continue;
    for (ValueRef input : node.inputs) {
      late[static_cast<size_t>(i)] |= input.valid() && !IsSource(input) && (IsGradient(input) || late[static_cast<size_t>(input.node)] != 0);
    }
  }
  const auto moved = std::ranges::stable_partition(puts_, [&](int node) { return late[static_cast<size_t>(node)] == 0; });
  const bool any = !moved.empty();
  run_.insert(run_.end(), moved.begin(), moved.end());
  puts_.erase(moved.begin(), moved.end());
  return any;
}

/// The nodes that a part computes: not what it is fed.
Nodes Division::NodesOf(const SessionSpec& part) const {
  const bool before = &part == &parts_.before, after = &part == &parts_.after;
  const auto fed = [&](ValueRef value) {
    if (before) return Fed(value);
    if (IsSource(value) || !after) return IsSource(value);
    const auto joined = std::ranges::find(parts_.values, value, &ShardValue::value);
    return joined != parts_.values.end() && joined->read_after;
  };
  std::vector<int> roots = part.run;
  for (const SessionSpec::Fetch& fetch : part.fetches) {
    if (!fed(fetch.value)) roots.push_back(fetch.value.node);
  }
  return Ancestors(roots, fed);
}

// ---- the parts -------------------------------------------------------------------------------------------------------------------------

Status Division::Check() {
  if (std::ranges::all_of(parts_.sources, &ShardSource::whole)) {
    return FailedPrecondition("nothing of the session '", spec_.id, "' can be cut into shards: it has no fed Placeholder, reader or queue")
        .WithHint("name what holds the batch: --shard ID.port");
  }
  const Nodes early = NodesOf(parts_.before), in_shards = NodesOf(parts_.shard), late = NodesOf(parts_.after);
  WEFT_RETURN_IF_ERROR(CheckShards(in_shards));
  Nodes again = in_shards;
  for (size_t i = 0; i < again.size(); ++i) again[i] |= late[i];
  WEFT_RETURN_IF_ERROR(CheckOnce(early, again));
  for (size_t i = 0; i < early.size(); ++i) {
    const auto index = static_cast<int>(i);
    if ((early[i] | late[i]) != 0 && IsUnseeded(graph_.node(index)) && !streams_.contains(index)) parts_.unseeded.push_back(index);
  }
  for (const ShardValue& value : parts_.values) {
    if (graph_.node(value.value.node).frame == 0) continue;
    return Refuse(value.value.node, Unsupported("is part of a loop, and shards give values from outside of loops alone")
                                        .WithHint("an Exit block takes a value out of a loop"));
  }
  return {};
}

Status Division::CheckShards(const Nodes& in_shards) {
  for (size_t i = 0; i < in_shards.size(); ++i) {
    const int index = static_cast<int>(i);
    const Node& node = graph_.node(index);
    if (in_shards[i] == 0 || IsSource({index, 0})) continue;
    if (Updates(node)) {
      return Refuse(index, Unsupported("updates a variable before gradients are joined, and each shard would do so")
                               .WithHint("let its result be read in the next run"));
    }
    if (node.def == nullptr || !node.def->stateful) continue;
    if (node.def->category == "collective_ops") {
      return Refuse(index, Unsupported("joins values of ranks, and a shard is no rank: what shards compute is joined by itself"));
    }
    if (node.def->waits) return Refuse(index, Unsupported("waits for a queue or the like with rows of one shard, and shards have none of their own"));
    if (IsPlaceholder(node)) {
      return Refuse(index, FailedPrecondition("needs a value for this run, found none").WithHint("feed it: a placeholder has no value of its own"));
    }
    if (IsRandom(node)) parts_.streams.insert(ResourceStore::OwnKey(node.def->name, node.id));
  }
  return {};
}

/// Each update is made, and each number drawn, once a step, and variables have the values from before the step, as on the page without shards.
/// `again`: what is computed in shards or after them.
Status Division::CheckOnce(const Nodes& early, const Nodes& again) const {
  std::set<int> read;  // variables
  for (size_t i = 0; i < again.size(); ++i) {
    if (again[i] != 0 && graph_.node(static_cast<int>(i)).variable >= 0) read.insert(graph_.node(static_cast<int>(i)).variable);
  }
  for (size_t i = 0; i < early.size(); ++i) {
    const int index = static_cast<int>(i);
    const Node& node = graph_.node(index);
    if (early[i] == 0 || (!Updates(node) && !Draws(node))) continue;
    const std::string name = graph_.ValueName({index, 0});
    if (again[i] != 0) {
      return Refuse(index, Unsupported(Updates(node) ? "updates a variable" : "draws", " for '", ReaderOf(index),
                                       "', before the shards, and would do so again in them or after them")
                               .WithHint(Cat("name its output, and a step computes it once: --shard ", name, ", with --whole ", name,
                                             " unless its rows are those of the batch")));
    }
    for (int port : node.def->updates) {
      for (int variable : graph_.VariablesOf(node.inputs[node.in_first[static_cast<size_t>(port)]])) {
        if (!read.contains(graph_.node(variable).variable)) continue;
        return Refuse(index, Unsupported("updates '", graph_.node(variable).id, "' for '", ReaderOf(index),
                                         "', before the shards, and what they or the updates read is its value from before the step")
                                 .WithHint("name what is read, and it is taken before the shards: --shard ID.port with --whole ID.port"));
      }
    }
  }
  return {};
}

/// What needs a node before the shards: a source, or a block that puts.
std::string Division::ReaderOf(int node) const {
  const auto needs = [&](int root) { return Ancestors({root}, [&](ValueRef value) { return Fed(value); })[static_cast<size_t>(node)] != 0; };
  for (const SessionSpec::Fetch& fetch : parts_.before.fetches) {
    if (needs(fetch.value.node)) return fetch.name;
  }
  const auto put = std::ranges::find_if(parts_.before.run, needs);
  return put == parts_.before.run.end() ? spec_.id : graph_.node(*put).id;
}

Result<ShardParts> Division::Make() {
  WEFT_RETURN_IF_ERROR(FindNamed());
  for (int node : spec_.run) {
    (PutsIn(graph_.node(node)) ? puts_ : run_).push_back(node);
  }
  do FindParts();
  while (FindLatePuts());
  WEFT_RETURN_IF_ERROR(Check());
  for (SessionSpec* part : {&parts_.before, &parts_.shard, &parts_.after}) {
    part->feeds = spec_.feeds;
    part->by_name = true;
  }
  parts_.before.id = Cat(spec_.id, " before its shards");
  parts_.shard.id = Cat("a shard of ", spec_.id);
  parts_.after.id = Cat(spec_.id, " after its shards");
  return std::move(parts_);
}

}  // namespace

Result<ShardParts> DivideSession(const Graph& graph, const SessionSpec& spec, const ShardingOptions& options, const std::vector<ValueRef>& scalars) {
  return Division(graph, spec, options, scalars).Make();
}

}  // namespace weft
