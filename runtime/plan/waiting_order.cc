// The place in a run of blocks that wait for others: a dequeue for what an enqueue puts in.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/step_order.h"
#include "weft/plan/node_numbers.h"
#include "weft/plan/plan.h"

namespace weft {
namespace {

class WaitingOrder {
 public:
  WaitingOrder(const Graph& graph, const std::vector<int>& order, const Clusters& clusters)
      : graph_(graph), order_(order), clusters_(clusters), place_(graph.nodes().size(), order.size()), missing_(order.size(), 0),
        readers_(order.size()), late_(order.size(), 0), filled_(order.size(), 0) {
    AddWires();
    AddResources();
  }

  /// Nodes that depend on reads of these variables come as late as those that wait, but for what others may wait for.
  void ReadLate(const std::set<int>& variables);
  std::vector<int> Make();
  /// WaitingForUpdates; given whether the node at each place comes after an update.
  std::vector<int> Deferred(const std::vector<char>& after_update, const std::set<int>& unread) const;

 private:
  bool Waits(int place) const {
    std::span<const int> members = clusters_.Members(order_[place]);
    return std::any_of(members.begin(), members.end(), [&](int i) { return graph_.node(i).def != nullptr && graph_.node(i).def->waits; });
  }
  int SourceOf(int node);
  void AddResources();
  void CountFillers();
  /// What a node works on: numbers of resources.
  std::span<const int> Resources(int place) const {
    const auto p = static_cast<size_t>(place);
    return std::span(resources_).subspan(first_resource_[p], first_resource_[p + 1] - first_resource_[p]);
  }
  /// Whether a node that does not wait, and is still to come, works on the same resource.
  bool CanBeFilled(int place) const { return filled_[place] > 0; }
  bool ReadsAny(int place, const std::set<int>& variables) const;
  bool Stateful(int place) const;
  std::vector<char> LeadToUpdates() const;
  std::vector<char> Brought(const std::vector<char>& after_update) const;
  void AddWires();
  void Free(int place);
  void EndFilling(int place);
  void FreeReaders(int place);
  int NextWaiting();
  int Next();

  const Graph& graph_;
  const std::vector<int>& order_;
  const Clusters& clusters_;
  NodeNumbers place_;                       // place in order_
  std::vector<int> missing_;                // by place: inputs not yet ordered
  std::vector<std::vector<int>> readers_;   // by place
  std::unordered_map<int, int> sources_;    // of nodes that hand on a handle
  std::vector<size_t> first_resource_;      // by place, and one more: into resources_
  std::vector<int> resources_;
  std::vector<std::vector<int>> waiters_;   // by resource: places that work on it and may wait
  std::vector<int> fillers_;                // by resource: nodes that work on it, do not wait, and are still to come
  std::priority_queue<int, std::vector<int>, std::greater<>> ready_;
  std::set<int> waiting_, waiting_filled_;  // places that are ready and may wait; those that can be filled
  std::set<int> ready_late_;
  std::vector<char> late_;                  // by place: comes after those that wait, where it may
  std::vector<int> filled_;                 // by place that may wait: how many of its resources have fillers
};

/// The block that a handle comes from, whatever it passed on the way.
int WaitingOrder::SourceOf(int node) {
  std::vector<int> passed;
  for (const BlockDef* def = graph_.node(node).def; def != nullptr; def = graph_.node(node).def) {
    if ((!IsForward(def->flow) && def->flow != Flow::kSwitch) || !graph_.node(node).inputs[0].valid()) break;
    passed.push_back(node);
    const auto known = sources_.find(node);
    node = known != sources_.end() ? known->second : graph_.node(node).inputs[0].node;
  }
  for (int i : passed) sources_[i] = node;
  return node;
}

/// Whether a value of the type may be a handle, as such or as its name.
bool MayBeHandle(DType type) { return type == DType::kResource || type == DType::kString; }

/// Whether a value is the handle of the resource that `source` makes, passed as such or as its name.
bool IsHandle(const Graph& graph, ValueRef value, int source) {
  if (graph.TypeOf(value) == DType::kResource) return true;
  const BlockDef* def = graph.node(source).def;
  return graph.TypeOf(value) == DType::kString && def != nullptr && def->stateful && def->inputs.empty() && def->outputs.size() == 1 &&
         def->outputs[0].name == "handle";
}

/// The name under which a block without handles shares its state with others; empty where it does not.
std::string SharedName(const Node& node) {
  const BlockDef* def = node.def;
  const int name = def == nullptr || !def->stateful ? -1 : def->FindAttr("shared_name");
  const int container = name < 0 ? -1 : def->FindAttr("container");
  if (container < 0 || node.broken || (!def->outputs.empty() && def->outputs[0].name.ends_with("handle"))) return "";
  const auto& shared = AttrAs<std::string>(node.attrs[static_cast<size_t>(name)]);
  return Cat(AttrAs<std::string>(node.attrs[static_cast<size_t>(container)]), "/", shared.empty() ? node.id : shared);
}

// Resources are told apart by the nodes that make them, or by their names where these alone say them (a staging area).
void WaitingOrder::AddResources() {
  std::unordered_map<int, int> by_source;
  std::unordered_map<std::string, int> by_name;
  const auto number = [&](auto& numbers, const auto& key) {
    const auto [it, fresh] = numbers.try_emplace(key, static_cast<int>(fillers_.size()));
    if (fresh) fillers_.push_back(0);
    return it->second;
  };
  first_resource_.reserve(order_.size() + 1);
  for (int i = 0; i < static_cast<int>(order_.size()); ++i) {
    first_resource_.push_back(resources_.size());
    for (int member : clusters_.Members(order_[i])) {
      CallLimit::Check();
      for (ValueRef input : graph_.node(member).inputs) {
        if (!input.valid() || !MayBeHandle(graph_.TypeOf(input))) continue;
        const int source = SourceOf(input.node);
        if (IsHandle(graph_, input, source)) resources_.push_back(number(by_source, source));
      }
      if (const std::string name = SharedName(graph_.node(member)); !name.empty()) resources_.push_back(number(by_name, name));
    }
  }
  first_resource_.push_back(resources_.size());
  CountFillers();
}

void WaitingOrder::CountFillers() {
  waiters_.resize(fillers_.size());
  for (int i = 0; !resources_.empty() && i < static_cast<int>(order_.size()); ++i) {
    const bool waits = Waits(i);
    for (int resource : Resources(i)) {
      if (waits) waiters_[resource].push_back(i);
      else ++fillers_[resource];
    }
  }
  for (size_t r = 0; r < fillers_.size(); ++r) {
    for (int waiter : waiters_[r]) filled_[waiter] += fillers_[r] > 0 ? 1 : 0;
  }
}

// A node that does not wait has its place.
void WaitingOrder::EndFilling(int place) {
  for (int resource : Resources(place)) {
    if (--fillers_[resource] > 0) continue;
    for (int waiter : waiters_[resource]) {
      if (--filled_[waiter] == 0 && waiting_filled_.erase(waiter) > 0) waiting_.insert(waiter);
    }
  }
}

int WaitingOrder::NextWaiting() {
  std::set<int>& places = waiting_.empty() ? waiting_filled_ : waiting_;
  return places.extract(places.begin()).value();
}

void WaitingOrder::Free(int place) {
  if (Waits(place)) (CanBeFilled(place) ? waiting_filled_ : waiting_).insert(place);
  else if (late_[place]) ready_late_.insert(place);
  else ready_.push(place);
}

void WaitingOrder::FreeReaders(int place) {
  for (int reader : readers_[place]) {
    if (--missing_[reader] == 0) Free(reader);
  }
}

void WaitingOrder::AddWires() {
  const int count = static_cast<int>(order_.size());
  for (int i = 0; i < count; ++i) place_.Set(order_[i], i);
  for (int i = 0; i < count; ++i) {
    for (int member : clusters_.Members(order_[i])) {
      CallLimit::Check();
      for (ValueRef input : graph_.node(member).inputs) {
        int from = input.valid() ? place_[clusters_.Of(input.node)] : -1;
        if (from < 0 || from == i) continue;
        readers_[from].push_back(i);
        ++missing_[i];
      }
    }
  }
}

bool WaitingOrder::ReadsAny(int place, const std::set<int>& variables) const {
  for (int member : clusters_.Members(order_[place])) {
    for (ValueRef input : graph_.node(member).inputs) {
      if (input.valid() && graph_.node(input.node).variable >= 0 && variables.contains(graph_.node(input.node).variable)) return true;
    }
  }
  return false;
}

bool WaitingOrder::Stateful(int place) const {
  std::span<const int> members = clusters_.Members(order_[place]);
  return std::any_of(members.begin(), members.end(), [&](int i) { return graph_.node(i).def != nullptr && graph_.node(i).def->stateful; });
}

// What depends on no wait, and is needed for what others may wait for, stays early.
void WaitingOrder::ReadLate(const std::set<int>& variables) {
  const int count = static_cast<int>(order_.size());
  std::vector<char> behind_wait(order_.size(), 0);
  for (int i = 0; i < count; ++i) {
    CallLimit::Check();
    behind_wait[i] |= Waits(i);
    late_[i] |= ReadsAny(i, variables);
    for (int reader : readers_[i]) {
      behind_wait[reader] |= behind_wait[i];
      late_[reader] |= late_[i];
    }
  }
  std::vector<char> needed(order_.size(), 0);
  for (int i = count; i-- > 0;) {
    needed[i] |= !behind_wait[i] && Stateful(i);
    for (int reader : readers_[i]) needed[i] |= needed[reader];
    if (needed[i]) late_[i] = 0;
  }
}

/// By place: whether an update depends on it, or it is one.
std::vector<char> WaitingOrder::LeadToUpdates() const {
  std::vector<char> leads(order_.size(), 0);
  for (int i = static_cast<int>(order_.size()); i-- > 0;) {
    CallLimit::Check();
    for (int member : clusters_.Members(order_[i])) {
      const BlockDef* def = graph_.node(member).def;
      leads[i] |= def != nullptr && !def->updates.empty();
    }
    for (int reader : readers_[i]) leads[i] |= leads[reader];
  }
  return leads;
}

/// By resource: whether a node after an update fills it, without a wait before that node which such a one might have to end.
std::vector<char> WaitingOrder::Brought(const std::vector<char>& after_update) const {
  const int count = static_cast<int>(order_.size());
  std::vector<char> filled(fillers_.size(), 0), brought(fillers_.size(), 0);
  for (int i = 0; i < count; ++i) {
    if (after_update[i] == 0 || Waits(i)) continue;
    for (int resource : Resources(i)) filled[resource] = 1;
  }
  if (std::ranges::find(filled, 1) == filled.end()) return brought;
  std::vector<char> behind(order_.size(), 0);
  for (int i = 0; i < count; ++i) {
    CallLimit::Check();
    const std::span<const int> resources = Resources(i);
    if (Waits(i)) {
      behind[i] |= std::ranges::any_of(resources, [&](int resource) { return filled[resource] != 0; });
    } else if (after_update[i] != 0 && behind[i] == 0) {
      for (int resource : resources) brought[resource] = 1;
    }
    for (int reader : readers_[i]) behind[reader] |= behind[i];
  }
  return brought;
}

std::vector<int> WaitingOrder::Deferred(const std::vector<char>& after_update, const std::set<int>& unread) const {
  const std::vector<char> brought = Brought(after_update);
  if (std::ranges::find(brought, 1) == brought.end()) return {};
  const std::vector<char> leads = LeadToUpdates();
  std::vector<char> deferred(order_.size(), 0), taken(fillers_.size(), 0);
  std::vector<int> open;
  const auto defer = [&](int place) {
    if (std::exchange(deferred[place], 1) == 0) open.push_back(place);
  };
  for (size_t resource = 0; resource < brought.size(); ++resource) {
    if (brought[resource] == 0) continue;
    for (int place : waiters_[resource]) {
      if (leads[place] == 0) defer(place);
    }
  }
  while (!open.empty()) {
    CallLimit::Check();
    const int place = open.back();
    open.pop_back();
    // An update would have to come after itself: all stay where they were.
    if (leads[place] != 0 || ReadsAny(place, unread)) return {};
    for (int reader : readers_[place]) defer(reader);
    if (Waits(place)) continue;
    for (int resource : Resources(place)) {
      if (std::exchange(taken[resource], 1) != 0) continue;
      for (int waiter : waiters_[resource]) defer(waiter);
    }
  }
  std::vector<int> nodes;
  for (size_t i = 0; i < order_.size(); ++i) {
    if (deferred[i] != 0) nodes.push_back(order_[i]);
  }
  return nodes;
}

int WaitingOrder::Next() {
  if (!ready_.empty()) {
    const int place = ready_.top();
    ready_.pop();
    return place;
  }
  return waiting_.empty() && waiting_filled_.empty() ? ready_late_.extract(ready_late_.begin()).value() : NextWaiting();
}

std::vector<int> WaitingOrder::Make() {
  for (int i = 0; i < static_cast<int>(order_.size()); ++i) {
    if (missing_[i] == 0) Free(i);
  }
  std::vector<int> result;
  while (!ready_.empty() || !waiting_.empty() || !waiting_filled_.empty() || !ready_late_.empty()) {
    CallLimit::Check();
    const int place = Next();
    if (!Waits(place)) EndFilling(place);
    result.push_back(order_[place]);
    FreeReaders(place);
  }
  return result;
}

}  // namespace

std::vector<int> ProducersFirst(const Graph& graph, const std::vector<int>& nodes, const Clusters& clusters) {
  return WaitingOrder(graph, nodes, clusters).Make();
}

/// Whether any of the nodes may wait.
static bool AnyWaits(const Graph& graph, const std::vector<int>& nodes, const Clusters& clusters) {
  auto waits = [&](int i) { return graph.node(i).def != nullptr && graph.node(i).def->waits; };
  return std::any_of(nodes.begin(), nodes.end(), [&](const int& i) {
    std::span<const int> members = clusters.Members(i);
    return std::any_of(members.begin(), members.end(), waits);
  });
}

std::vector<int> WaitingForUpdates(const Graph& graph, const std::vector<int>& nodes, const std::unordered_set<int>& after_update,
                                   const Clusters& clusters, const std::set<int>& unread) {
  if (after_update.empty() || !AnyWaits(graph, nodes, clusters)) return {};
  std::vector<char> after(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) after[i] = after_update.contains(nodes[i]);
  return WaitingOrder(graph, nodes, clusters).Deferred(after, unread);
}

std::vector<int> WaitingLast(const Graph& graph, std::vector<int> order, const Clusters& clusters,
                             FunctionRef<std::set<int>()> updated) {
  if (!AnyWaits(graph, order, clusters)) return order;
  WaitingOrder waiting(graph, order, clusters);
  waiting.ReadLate(updated());
  return waiting.Make();
}

}  // namespace weft
