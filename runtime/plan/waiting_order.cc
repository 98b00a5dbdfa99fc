// The place in a run of blocks that wait for others: a dequeue for what an enqueue puts in.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/plan/step_order.h"
#include "weft/plan/node_numbers.h"
#include "weft/plan/plan.h"

namespace weft {
namespace {

class WaitingOrder {
 public:
  WaitingOrder(const Graph& graph, const std::vector<int>& order, const Clusters& clusters)
      : graph_(graph), order_(order), clusters_(clusters), place_(graph.nodes().size(), order.size()), missing_(order.size(), 0),
        readers_(order.size()), late_(order.size(), 0) {
    AddWires();
  }

  /// Nodes that depend on reads of these variables come as late as those that wait, but for what others may wait for.
  void ReadLate(const std::set<int>& variables);
  std::vector<int> Make();

 private:
  bool Waits(int place) const {
    std::span<const int> members = clusters_.Members(order_[place]);
    return std::any_of(members.begin(), members.end(), [&](int i) { return graph_.node(i).def != nullptr && graph_.node(i).def->waits; });
  }
  int SourceOf(int node) const;
  /// What a node works on: the nodes that make its resources, or a negative number for one that its name alone says (a staging area).
  std::vector<int> Resources(int place) const;
  int NumberOf(const std::string& name) const;
  bool CanBeFilled(int place) const;
  bool ReadsAny(int place, const std::set<int>& variables) const;
  bool Stateful(int place) const;
  void AddWires();
  void Free(int place);
  void FreeReaders(int place);
  int NextWaiting();
  int Next();

  const Graph& graph_;
  const std::vector<int>& order_;
  const Clusters& clusters_;
  NodeNumbers place_;                       // place in order_
  std::vector<int> missing_;                // by place: inputs not yet ordered
  std::vector<std::vector<int>> readers_;   // by place
  mutable std::unordered_map<std::string, int> named_;  // numbers of resources that only have a name
  std::unordered_map<int, int> fillers_;    // by resource: nodes that work on it, do not wait, and are still to come
  std::priority_queue<int, std::vector<int>, std::greater<>> ready_;
  std::set<int> waiting_;                   // places that are ready and may wait
  std::set<int> ready_late_;
  std::vector<char> late_;                  // by place: comes after those that wait, where it may
};

/// The block that a handle comes from, whatever it passed on the way.
int WaitingOrder::SourceOf(int node) const {
  for (const BlockDef* def = graph_.node(node).def; def != nullptr; def = graph_.node(node).def) {
    if ((!IsForward(def->flow) && def->flow != Flow::kSwitch) || !graph_.node(node).inputs[0].valid()) break;
    node = graph_.node(node).inputs[0].node;
  }
  return node;
}

int WaitingOrder::NumberOf(const std::string& name) const {
  return named_.try_emplace(name, -1 - static_cast<int>(named_.size())).first->second;
}

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

std::vector<int> WaitingOrder::Resources(int place) const {
  std::vector<int> resources;
  for (int member : clusters_.Members(order_[place])) {
    for (ValueRef input : graph_.node(member).inputs) {
      if (!input.valid()) continue;
      const int source = SourceOf(input.node);
      if (IsHandle(graph_, input, source)) resources.push_back(source);
    }
    if (const std::string name = SharedName(graph_.node(member)); !name.empty()) resources.push_back(NumberOf(name));
  }
  return resources;
}

// Whether a node that does not wait, and is still to come, works on the same resource.
bool WaitingOrder::CanBeFilled(int place) const {
  for (int resource : Resources(place)) {
    if (const auto fillers = fillers_.find(resource); fillers != fillers_.end() && fillers->second > 0) return true;
  }
  return false;
}

int WaitingOrder::NextWaiting() {
  auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](int place) { return !CanBeFilled(place); });
  if (next == waiting_.end()) next = waiting_.begin();
  int place = *next;
  waiting_.erase(next);
  return place;
}

void WaitingOrder::Free(int place) {
  if (Waits(place)) waiting_.insert(place);
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
      for (ValueRef input : graph_.node(member).inputs) {
        int from = input.valid() ? place_[clusters_.Of(input.node)] : -1;
        if (from < 0 || from == i) continue;
        readers_[from].push_back(i);
        ++missing_[i];
      }
    }
    if (Waits(i)) continue;
    for (int resource : Resources(i)) ++fillers_[resource];
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

int WaitingOrder::Next() {
  if (!ready_.empty()) {
    const int place = ready_.top();
    ready_.pop();
    return place;
  }
  return waiting_.empty() ? ready_late_.extract(ready_late_.begin()).value() : NextWaiting();
}

std::vector<int> WaitingOrder::Make() {
  for (int i = 0; i < static_cast<int>(order_.size()); ++i) {
    if (missing_[i] == 0) Free(i);
  }
  std::vector<int> result;
  while (!ready_.empty() || !waiting_.empty() || !ready_late_.empty()) {
    const int place = Next();
    if (!Waits(place)) {
      for (int resource : Resources(place)) --fillers_[resource];
    }
    result.push_back(order_[place]);
    FreeReaders(place);
  }
  return result;
}

}  // namespace

std::vector<int> ProducersFirst(const Graph& graph, const std::vector<int>& nodes, const Clusters& clusters) {
  return WaitingOrder(graph, nodes, clusters).Make();
}

std::vector<int> WaitingLast(const Graph& graph, std::vector<int> order, const Clusters& clusters,
                             FunctionRef<std::set<int>()> updated) {
  auto waits = [&](int i) { return graph.node(i).def != nullptr && graph.node(i).def->waits; };
  bool any = std::any_of(order.begin(), order.end(), [&](const int& i) {
    std::span<const int> members = clusters.Members(i);
    return std::any_of(members.begin(), members.end(), waits);
  });
  if (!any) return order;
  WaitingOrder waiting(graph, order, clusters);
  waiting.ReadLate(updated());
  return waiting.Make();
}

}  // namespace weft
