// The order of each layer, and the height of each vertex.
#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/host/layout_layers.h"

namespace weft {
namespace {

constexpr int kOrderSweeps = 14, kHeightSweeps = 24, kMoreHeightSweeps = 80;
// Exchanging neighbours pays in pictures that people look at as a whole: so many vertices, and pairs of links that are compared each time (of a
// vertex that very many read they would be the square of its links).
constexpr size_t kMostForSwaps = 3000;
constexpr double kAlwaysSwapWork = 20000, kSwapWorkPerLink = 50;
constexpr double kBoxGap = 26, kPassGap = 12;

/// Where a link ends, as a number that orders the ends within a layer.
double EndKey(const LayerGraph& graph, int vertex, double y) {
  const auto& v = graph.vertices[vertex];
  return v.place + 0.9 * y / (v.height + 1);
}

void NumberPlaces(LayerGraph& graph, int layer) {
  for (size_t i = 0; i < graph.layers[layer].size(); ++i) graph.vertices[graph.layers[layer][i]].place = static_cast<int>(i);
}

/// Orders a layer by where its links to the layer before (or after) end; vertices without links keep their place.
void SortLayer(LayerGraph& graph, int layer, bool by_before) {
  CallLimit::CheckNow();
  std::vector<int>& order = graph.layers[layer];
  std::vector<std::pair<double, int>> linked;
  std::vector<size_t> places;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& links = by_before ? graph.in[order[i]] : graph.out[order[i]];
    if (links.empty()) continue;
    double sum = 0;
    for (int l : links) {
      const LayerGraph::Link& link = graph.links[l];
      // Ends on the vertex itself count a little: two wires from one box to one other keep their order.
      sum += by_before ? EndKey(graph, link.from, link.from_y) - 1e-4 * link.to_y : EndKey(graph, link.to, link.to_y) - 1e-4 * link.from_y;
    }
    linked.push_back({sum / static_cast<double>(links.size()), order[i]});
    places.push_back(i);
  }
  std::stable_sort(linked.begin(), linked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < places.size(); ++i) order[places[i]] = linked[i].second;
  NumberPlaces(graph, layer);
}

/// Inversions in a list, by merging; the list is sorted afterwards.
int64_t Inversions(std::vector<double>& keys, std::vector<double>& scratch, size_t begin, size_t end) {
  if (end - begin < 2) return 0;
  size_t middle = begin + (end - begin) / 2;
  int64_t count = Inversions(keys, scratch, begin, middle) + Inversions(keys, scratch, middle, end);
  size_t left = begin, right = middle;
  for (size_t i = begin; i < end; ++i) {
    bool take_left = right == end || (left < middle && keys[left] <= keys[right]);
    if (!take_left) count += static_cast<int64_t>(middle - left);
    scratch[i] = keys[take_left ? left++ : right++];
  }
  std::copy(scratch.begin() + begin, scratch.begin() + end, keys.begin() + begin);
  return count;
}

int64_t Crossings(const LayerGraph& graph) {
  CallLimit::CheckNow();
  int64_t count = 0;
  std::vector<std::pair<double, double>> ends;
  std::vector<double> keys, scratch;
  for (const auto& layer : graph.layers) {
    ends.clear();
    for (int v : layer) {
      for (int l : graph.out[v]) {
        const LayerGraph::Link& link = graph.links[l];
        ends.push_back({EndKey(graph, link.from, link.from_y), EndKey(graph, link.to, link.to_y)});
      }
    }
    std::sort(ends.begin(), ends.end());
    keys.resize(ends.size());
    scratch.resize(ends.size());
    for (size_t i = 0; i < ends.size(); ++i) keys[i] = ends[i].second;
    count += Inversions(keys, scratch, 0, keys.size());
  }
  return count;
}

/// Crossings between the links of two vertices of a layer, the first above the second.
int CrossingsOf(const LayerGraph& graph, int above, int below) {
  int count = 0;
  for (bool before : {true, false}) {
    const auto& upper = before ? graph.in[above] : graph.out[above];
    const auto& lower = before ? graph.in[below] : graph.out[below];
    for (int a : upper) {
      const auto& first = graph.links[a];
      double end = before ? EndKey(graph, first.from, first.from_y) : EndKey(graph, first.to, first.to_y);
      for (int b : lower) {
        const auto& second = graph.links[b];
        count += (before ? EndKey(graph, second.from, second.from_y) : EndKey(graph, second.to, second.to_y)) < end;
      }
    }
  }
  return count;
}

/// Pairs of links that belong to neighbours.
double SwapWork(const LayerGraph& graph) {
  double work = 0;
  for (const auto& order : graph.layers) {
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      work += static_cast<double>(graph.in[order[i]].size()) * static_cast<double>(graph.in[order[i + 1]].size());
      work += static_cast<double>(graph.out[order[i]].size()) * static_cast<double>(graph.out[order[i + 1]].size());
    }
  }
  return work;
}

void SwapNeighbours(LayerGraph& graph) {
  for (int round = 0; round < 4; ++round) {
    bool better = false;
    for (size_t layer = 0; layer < graph.layers.size(); ++layer) {
      auto& order = graph.layers[layer];
      for (size_t i = 0; i + 1 < order.size(); ++i) {
        CallLimit::Check();
        if (CrossingsOf(graph, order[i + 1], order[i]) >= CrossingsOf(graph, order[i], order[i + 1])) continue;
        std::swap(order[i], order[i + 1]);
        graph.vertices[order[i]].place = static_cast<int>(i);
        graph.vertices[order[i + 1]].place = static_cast<int>(i) + 1;
        better = true;
      }
    }
    if (!better) return;
  }
}

double GapBetween(const LayerGraph& graph, int above, int below) {
  int passes = (graph.vertices[above].box < 0) + (graph.vertices[below].box < 0);
  return passes == 0 ? kBoxGap : passes == 1 ? (kBoxGap + kPassGap) / 2 : kPassGap;
}

/// The heights nearest to the wished ones (least squares) that keep order and gaps: neighbours whose wishes collide are pooled.
void PlaceLayer(LayerGraph& graph, const std::vector<int>& order, const std::vector<double>& wished, const std::vector<double>& weights) {
  struct Pool {
    double sum, weight;
    size_t first;
  };
  std::vector<Pool> pools;
  std::vector<double> offset(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0) offset[i] = offset[i - 1] + graph.vertices[order[i - 1]].height + GapBetween(graph, order[i - 1], order[i]);
    pools.push_back({(wished[i] - offset[i]) * weights[i], weights[i], i});
    while (pools.size() > 1 && pools[pools.size() - 2].sum / pools[pools.size() - 2].weight >= pools.back().sum / pools.back().weight) {
      Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().weight += last.weight;
    }
  }
  for (size_t p = 0; p < pools.size(); ++p) {
    size_t end = p + 1 < pools.size() ? pools[p + 1].first : order.size();
    for (size_t i = pools[p].first; i < end; ++i) graph.vertices[order[i]].y = pools[p].sum / pools[p].weight + offset[i];
  }
}

enum class Side : uint8_t { kBefore, kAfter, kBoth };

void WishLayer(LayerGraph& graph, const std::vector<int>& order, Side side) {
  CallLimit::CheckNow();
  std::vector<double> wished(order.size()), weights(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    int v = order[i];
    double sum = 0, weight = 0;
    for (int l : graph.in[v]) {
      const auto& link = graph.links[l];
      if (side == Side::kAfter) break;
      sum += link.weight * (graph.vertices[link.from].y + link.from_y - link.to_y);
      weight += link.weight;
    }
    for (int l : graph.out[v]) {
      const auto& link = graph.links[l];
      if (side == Side::kBefore) break;
      sum += link.weight * (graph.vertices[link.to].y + link.to_y - link.from_y);
      weight += link.weight;
    }
    wished[i] = weight > 0 ? sum / weight : graph.vertices[v].y;
    weights[i] = weight > 0 ? weight : 0.05;
  }
  PlaceLayer(graph, order, wished, weights);
}

}  // namespace

void OrderLayers(LayerGraph& graph) {
  int layers = 0;
  for (const auto& vertex : graph.vertices) layers = std::max(layers, vertex.layer + 1);
  graph.layers.assign(layers, {});
  for (size_t v = 0; v < graph.vertices.size(); ++v) graph.layers[graph.vertices[v].layer].push_back(static_cast<int>(v));
  for (int layer = 0; layer < layers; ++layer) NumberPlaces(graph, layer);
  auto best = graph.layers;
  int64_t fewest = Crossings(graph);
  const double most_work = kAlwaysSwapWork + kSwapWorkPerLink * static_cast<double>(graph.links.size());
  const bool small = graph.vertices.size() <= kMostForSwaps && SwapWork(graph) <= most_work;
  for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
    bool forward = sweep % 2 == 0;
    for (int i = 1; i < layers; ++i) SortLayer(graph, forward ? i : layers - 1 - i, forward);
    if (small) SwapNeighbours(graph);
    if (int64_t crossings = Crossings(graph); crossings < fewest) {
      fewest = crossings;
      best = graph.layers;
    }
  }
  graph.layers = std::move(best);
  for (int layer = 0; layer < layers; ++layer) NumberPlaces(graph, layer);
}

void PlaceHeights(LayerGraph& graph) {
  for (const auto& order : graph.layers) PlaceLayer(graph, order, std::vector<double>(order.size(), 0), std::vector<double>(order.size(), 1));
  size_t layers = graph.layers.size();
  int sweeps = graph.links.empty() ? 0 : graph.vertices.size() <= kMostForSwaps ? kMoreHeightSweeps : kHeightSweeps;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    Side side = sweep >= sweeps / 2 ? Side::kBoth : sweep % 2 == 0 ? Side::kBefore : Side::kAfter;
    for (size_t i = 0; i < layers; ++i) WishLayer(graph, graph.layers[sweep % 2 == 0 ? i : layers - 1 - i], side);
  }
  double top = HUGE_VAL;
  for (const auto& vertex : graph.vertices) top = std::min(top, vertex.y);
  for (auto& vertex : graph.vertices) vertex.y = std::round(vertex.y - top);
}

}  // namespace weft
