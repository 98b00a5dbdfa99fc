// The order of updates: page order for those of one variable, as far as wires leave it open.
#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/step_order.h"
#include "weft/plan/node_numbers.h"

namespace weft {
namespace {

/// The late steps as a graph of their own: wires, and an edge from each update of a variable to the next.
class LateSteps {
 public:
  LateSteps(const Graph& graph, const std::vector<int>& late, const Clusters& clusters)
      : graph_(graph), late_(late), clusters_(clusters), place_(graph.nodes().size(), late.size()), next_(late.size()), in_chain_(late.size(), 0) {
    for (size_t i = 0; i < late.size(); ++i) place_.Set(late[i], static_cast<int>(i));
    for (size_t i = 0; i < late.size(); ++i) {
      for (int member : clusters.Members(late[i])) AddWires(member, static_cast<int>(i));
    }
  }

  void LinkUpdates();
  std::vector<int> Sorted() const;

 private:
  void AddWires(int node, int i) {
    for (ValueRef input : graph_.node(node).inputs) {
      int from = input.valid() ? place_[clusters_.Of(input.node)] : -1;
      if (from >= 0 && from != i) next_[from].push_back(i);
    }
  }
  std::pair<int, int> PageOrder(int i) const { return {graph_.node(late_[i]).page_block, graph_.node(late_[i]).order}; }
  /// Pairs of a variable and the index of what updates it, in order.
  std::vector<std::pair<int, int>> UpdatesByVariable() const;
  void Insert(std::vector<int>& chain, int highest, int update);
  void Reach(int start);

  const Graph& graph_;
  const std::vector<int>& late_;
  const Clusters& clusters_;
  NodeNumbers place_;                   // index into late_
  std::vector<std::vector<int>> next_;  // by index into late_
  bool backward_ = false;               // an edge leads from a later to an earlier index
  // Of the variable at hand: which updates are in the chain so far, and which of those the next one must come before.
  std::vector<char> in_chain_;
  std::unordered_set<int> reached_;
};

std::vector<std::pair<int, int>> LateSteps::UpdatesByVariable() const {
  std::vector<std::pair<int, int>> updates;
  for (size_t i = 0; i < late_.size(); ++i) {
    for (int member : clusters_.Members(late_[i])) {
      const Node& node = graph_.node(member);
      if (node.def == nullptr || node.broken) continue;
      for (int port : node.def->updates) {
        for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
          for (int variable : graph_.VariablesOf(node.inputs[v])) updates.emplace_back(graph_.node(variable).variable, static_cast<int>(i));
        }
      }
    }
  }
  std::sort(updates.begin(), updates.end());
  updates.erase(std::unique(updates.begin(), updates.end()), updates.end());
  return updates;
}

// Leaves in reached_ updates of the chain that depend on `start`, the first of them among those: what comes after one that was found is not
// looked for.
void LateSteps::Reach(int start) {
  reached_.clear();
  std::unordered_set<int> visited;
  std::vector<int> stack = {start};
  while (!stack.empty()) {
    CallLimit::Check();
    int i = stack.back();
    stack.pop_back();
    for (int next : next_[i]) {
      if (!visited.insert(next).second) continue;
      if (in_chain_[next]) reached_.insert(next);
      else stack.push_back(next);
    }
  }
}

// Behind the others, or before the first that must come after it.
void LateSteps::Insert(std::vector<int>& chain, int highest, int update) {
  auto at = chain.end();
  // All edges lead forward so far: what comes last is not waited for by any of the chain.
  if (backward_ || highest > update) {
    Reach(update);
    if (!reached_.empty()) at = std::find_if(chain.begin(), chain.end(), [&](int i) { return reached_.contains(i); });
  }
  if (at != chain.begin()) {
    int before = *std::prev(at);
    next_[before].push_back(update);
    backward_ |= before > update;
  }
  if (at != chain.end()) {
    next_[update].push_back(*at);
    backward_ |= update > *at;
  }
  chain.insert(at, update);
  in_chain_[update] = 1;
}

void LateSteps::LinkUpdates() {
  const std::vector<std::pair<int, int>> updates = UpdatesByVariable();
  for (size_t first = 0, end = 0; first < updates.size(); first = end) {
    while (end < updates.size() && updates[end].first == updates[first].first) ++end;
    if (end - first < 2) continue;
    std::vector<int> in_page_order;
    for (size_t i = first; i < end; ++i) in_page_order.push_back(updates[i].second);
    std::sort(in_page_order.begin(), in_page_order.end(), [&](int a, int b) { return PageOrder(a) < PageOrder(b); });
    std::vector<int> chain;
    int highest = -1;
    for (int update : in_page_order) {
      Insert(chain, highest, update);
      highest = std::max(highest, update);
    }
    for (int update : chain) in_chain_[update] = 0;
  }
}

std::vector<int> LateSteps::Sorted() const {
  std::vector<int> waiting(late_.size(), 0);
  for (const auto& readers : next_) {
    for (int reader : readers) ++waiting[reader];
  }
  auto later = [&](int a, int b) { return PageOrder(a) > PageOrder(b); };
  std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
  for (size_t i = 0; i < late_.size(); ++i) {
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    order.push_back(late_[i]);
    for (int reader : next_[i]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  return order;
}

}  // namespace

std::vector<int> OrderUpdates(const Graph& graph, const std::vector<int>& late, const Clusters& clusters) {
  LateSteps steps(graph, late, clusters);
  steps.LinkUpdates();
  return steps.Sorted();
}

}  // namespace weft
