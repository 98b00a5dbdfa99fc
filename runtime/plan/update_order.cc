// The order of updates: page order for those of one variable, as far as wires leave it open.
#include <algorithm>
#include <numeric>
#include <queue>
#include <set>
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
      : graph_(graph), late_(late), clusters_(clusters), place_(graph.nodes().size(), late.size()), next_(late.size()), rank_(late.size()),
        in_chain_(late.size(), 0) {
    for (size_t i = 0; i < late.size(); ++i) place_.Set(late[i], static_cast<int>(i));
    std::iota(rank_.begin(), rank_.end(), 0);
    for (size_t i = 0; i < late.size(); ++i) {
      CallLimit::Check();
      for (int member : clusters.Members(late[i])) AddWires(member, static_cast<int>(i));
    }
  }

  void LinkUpdates();
  std::vector<int> Sorted() const;

 private:
  void AddWires(int node, int i) {
    for (ValueRef input : graph_.node(node).inputs) {
      int from = input.valid() ? place_[clusters_.Of(input.node)] : -1;
      if (from < 0 || from == i) continue;
      next_[from].push_back(i);
      ++edges_;
    }
  }
  std::pair<int, int> PageOrder(int i) const { return {graph_.node(late_[i]).page_block, graph_.node(late_[i]).order}; }
  using Pairs = std::vector<std::pair<int, int>>;
  static void SortPairs(Pairs& pairs);
  Pairs UpdatesByRoot() const;
  Pairs RootsByVariable(const Pairs& updates) const;
  void LinkInPageOrder(std::vector<int> updates);
  void Insert(std::vector<int>& chain, int update);
  bool LeadsTo(int before, int after) const;
  void AddEdge(int before, int after);
  void Reach(int start, int highest);
  void RankAnew();
  void Link(int before, int update);

  const Graph& graph_;
  const std::vector<int>& late_;
  const Clusters& clusters_;
  NodeNumbers place_;                   // index into late_
  std::vector<std::vector<int>> next_;  // by index into late_
  std::vector<int> rank_;               // by index into late_: no edge leads to a lower rank
  size_t edges_ = 0, walked_ = 0;       // that there are; that Reach has followed since ranks were all different
  // Of the variable at hand: which updates are in the chain so far, which of those the next one must come before, and what else depends on it.
  std::vector<char> in_chain_;
  std::unordered_set<int> reached_;
  std::vector<int> passed_;
};

void LateSteps::SortPairs(Pairs& pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    CallLimit::Check();
    return a < b;
  });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

// Pairs of the node that a reference comes from, a Variable or a RefSelect, and the index of what updates through it, in order.
LateSteps::Pairs LateSteps::UpdatesByRoot() const {
  Pairs updates;
  for (size_t i = 0; i < late_.size(); ++i) {
    for (int member : clusters_.Members(late_[i])) {
      CallLimit::Check();
      const Node& node = graph_.node(member);
      if (node.def == nullptr || node.broken) continue;
      for (int port : node.def->updates) {
        for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
          if (const ValueRef root = graph_.ReferenceRoot(node.inputs[v]); root.valid()) updates.emplace_back(root.node, static_cast<int>(i));
        }
      }
    }
  }
  SortPairs(updates);
  return updates;
}

// Pairs of a variable and where in `updates` those of a root begin that may lead to it, in order.
LateSteps::Pairs LateSteps::RootsByVariable(const Pairs& updates) const {
  Pairs roots;
  for (size_t u = 0; u < updates.size(); ++u) {
    CallLimit::Check();
    const int root = updates[u].first;
    if (u > 0 && updates[u - 1].first == root) continue;
    if (const int variable = graph_.node(root).variable; variable >= 0) {
      roots.emplace_back(variable, static_cast<int>(u));
      continue;
    }
    const std::vector<int> variables = graph_.VariablesOf({root, 0});
    CallLimit::Grow(static_cast<int64_t>(variables.size() * sizeof(Pairs::value_type)), graph_.node(root).id);
    for (int variable : variables) roots.emplace_back(graph_.node(variable).variable, static_cast<int>(u));
  }
  SortPairs(roots);
  return roots;
}

// Leaves in reached_ updates of the chain that depend on `start`, the first of them among those: what comes after one that was found is not
// looked for; and in passed_ `start` and what else depends on it. What has a rank above `highest` is left out.
void LateSteps::Reach(int start, int highest) {
  reached_.clear();
  passed_ = {start};
  std::unordered_set<int> visited;
  for (size_t p = 0; p < passed_.size(); ++p) {
    CallLimit::Check();
    walked_ += next_[passed_[p]].size();
    for (int next : next_[passed_[p]]) {
      if (rank_[next] > highest || !visited.insert(next).second) continue;
      if (in_chain_[next]) reached_.insert(next);
      else passed_.push_back(next);
    }
  }
}

// Whether there is an edge that another variable's updates added. Few are looked at: those are the last.
bool LateSteps::LeadsTo(int before, int after) const {
  constexpr size_t kLookedAt = 16;
  const std::vector<int>& next = next_[before];
  const auto end = next.rbegin() + static_cast<std::ptrdiff_t>(std::min(next.size(), kLookedAt));
  return std::find(next.rbegin(), end, after) != end;
}

void LateSteps::AddEdge(int before, int after) {
  if (LeadsTo(before, after)) return;
  CallLimit::Grow(sizeof(int));
  next_[before].push_back(after);
  ++edges_;
}

// Different ranks for all: where many have the same, Reach goes far and finds nothing.
void LateSteps::RankAnew() {
  int rank = 0;
  for (int node : Sorted()) rank_[place_[node]] = rank++;
  walked_ = 0;
}

// An edge; `update`, and what depends on it, get at least the rank of what they now come after.
void LateSteps::Link(int before, int update) {
  AddEdge(before, update);
  if (rank_[update] >= rank_[before]) return;
  for (int i : passed_) rank_[i] = std::max(rank_[i], rank_[before]);
}

// Behind the others, or before the first that must come after it.
void LateSteps::Insert(std::vector<int>& chain, int update) {
  CallLimit::Check();
  auto at = chain.end();
  // The last of the chain has its highest rank: nothing above that leads to any of the chain. Nor does what comes after the last.
  const bool behind = !chain.empty() && LeadsTo(chain.back(), update);
  if (!chain.empty() && !behind && rank_[chain.back()] >= rank_[update]) {
    Reach(update, rank_[chain.back()]);
    if (!reached_.empty()) at = std::find_if(chain.begin(), chain.end(), [&](int i) { return reached_.contains(i); });
  }
  if (at != chain.begin() && !behind) Link(*std::prev(at), update);
  if (at != chain.end()) AddEdge(update, *at);
  chain.insert(at, update);
  in_chain_[update] = 1;
}

void LateSteps::LinkInPageOrder(std::vector<int> updates) {
  std::sort(updates.begin(), updates.end(), [&](int a, int b) {
    CallLimit::Check();
    return std::pair(PageOrder(a), a) < std::pair(PageOrder(b), b);
  });
  updates.erase(std::unique(updates.begin(), updates.end()), updates.end());  // through two roots, it may be
  constexpr size_t kTimes = 8;
  std::vector<int> chain;
  for (int update : updates) {
    if (walked_ > kTimes * (edges_ + late_.size())) RankAnew();
    Insert(chain, update);
  }
  for (int update : chain) in_chain_[update] = 0;
}

// Variables with the same roots have the same updates, whose order is found once: there may be many of both behind one RefSelect.
void LateSteps::LinkUpdates() {
  const Pairs updates = UpdatesByRoot(), roots = RootsByVariable(updates);
  std::set<std::vector<int>> linked;
  for (size_t first = 0, end = 0; first < roots.size(); first = end) {
    std::vector<int> of_variable;
    for (; end < roots.size() && roots[end].first == roots[first].first; ++end) of_variable.push_back(roots[end].second);
    const auto same = [&](size_t u, int begin) { return u < updates.size() && updates[u].first == updates[static_cast<size_t>(begin)].first; };
    if (of_variable.size() == 1 && !same(static_cast<size_t>(of_variable[0]) + 1, of_variable[0])) continue;
    if (const auto [known, fresh] = linked.insert(of_variable); !fresh) continue;
    std::vector<int> all;
    for (int begin : of_variable) {
      for (size_t u = static_cast<size_t>(begin); same(u, begin); ++u) all.push_back(updates[u].second);
    }
    LinkInPageOrder(std::move(all));
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
    CallLimit::Check();
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
