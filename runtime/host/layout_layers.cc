#include "runtime/host/layout_layers.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft {
namespace {

/// Wires longer than this many layers, in a drawing with many of them, run behind the boxes instead of round them.
constexpr int64_t kMostPasses = 60000;
constexpr double kPassHeight = 6;

/// Marks the wires that close a circle: those that lead to a box from which the walk has not yet returned.
void MarkBackWires(Drawing& drawing, const std::vector<int>& boxes, const std::vector<std::vector<int>>& leaving, const std::vector<int>& vertex_of) {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(boxes.size(), kNew);
  std::vector<std::pair<int, size_t>> walk;  // vertex, next leaving wire
  for (size_t start = 0; start < boxes.size(); ++start) {
    if (state[start] != kNew) continue;
    walk.push_back({static_cast<int>(start), 0});
    state[start] = kOpen;
    while (!walk.empty()) {
      auto& [vertex, next] = walk.back();
      if (next == leaving[vertex].size()) {
        state[vertex] = kDone;
        walk.pop_back();
        continue;
      }
      DrawnWire& wire = drawing.wires[leaving[vertex][next++]];
      int to = vertex_of[wire.to];
      wire.back = state[to] == kOpen;
      if (state[to] != kNew) continue;
      state[to] = kOpen;
      walk.push_back({to, 0});
    }
  }
}

/// The longest path to each box; then boxes that do not have more wires in than out move up to the first that reads them.
std::vector<int> LongestPaths(const Drawing& drawing, size_t count, const std::vector<std::vector<int>>& leaving, const std::vector<int>& vertex_of) {
  std::vector<int> layer(count, 0), waiting(count, 0), order;
  for (const auto& wires : leaving) {
    for (int w : wires) waiting[vertex_of[drawing.wires[w].to]] += !drawing.wires[w].back;
  }
  std::vector<int> arriving = waiting;
  for (size_t v = 0; v < count; ++v) {
    if (waiting[v] == 0) order.push_back(static_cast<int>(v));
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (int w : leaving[order[i]]) {
      const DrawnWire& wire = drawing.wires[w];
      int to = vertex_of[wire.to];
      if (wire.back) continue;
      layer[to] = std::max(layer[to], layer[order[i]] + 1);
      if (--waiting[to] == 0) order.push_back(to);
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    int v = order[i], first = -1, readers = 0;
    for (int w : leaving[v]) {
      if (drawing.wires[w].back) continue;
      int reader = layer[vertex_of[drawing.wires[w].to]];
      first = first < 0 ? reader : std::min(first, reader);
      ++readers;
    }
    if (first > 0 && arriving[v] <= readers) layer[v] = first - 1;
  }
  return layer;
}

double OutputY(const DrawnBox& box, int port) { return port < 0 ? kOperationY : box.outputs[port].y; }

/// Adds the links of the wires that start at one port; long ones share the places they pass.
class LinkMaker {
 public:
  LinkMaker(LayerGraph& graph, const Drawing& drawing, const std::vector<int>& vertex_of) : graph_(graph), drawing_(drawing), vertex_of_(vertex_of) {}

  void AddPort(const std::vector<int>& wires, const std::vector<int>& slots, bool long_wires) {
    const DrawnWire& first = drawing_.wires[wires[0]];
    int from = vertex_of_[first.from], from_layer = graph_.vertices[from].layer, last = from_layer;
    double from_y = OutputY(drawing_.boxes[first.from], first.from_port);
    for (int w : wires) last = std::max(last, graph_.vertices[vertex_of_[drawing_.wires[w].to]].layer);
    std::vector<int> chain = {from};
    for (int layer = from_layer + 1; long_wires && layer < last; ++layer) {
      LayerGraph::Vertex pass;
      pass.layer = layer;
      pass.height = kPassHeight;
      graph_.vertices.push_back(pass);
      chain.push_back(static_cast<int>(graph_.vertices.size()) - 1);
      size_t length = chain.size();
      Add(chain[length - 2], chain[length - 1], length == 2 ? from_y : kPassHeight / 2, kPassHeight / 2, length == 2 ? 2 : 20);
    }
    bool has_trunk = false;
    for (size_t i = 0; i < wires.size(); ++i) {
      const DrawnWire& wire = drawing_.wires[wires[i]];
      int to = vertex_of_[wire.to], steps = graph_.vertices[to].layer - from_layer;
      if (!long_wires && steps > 1) continue;
      bool trunk = !has_trunk && from_layer + steps == last;
      has_trunk |= trunk;
      graph_.branch[slots[i]] = !trunk;
      for (int s = trunk ? 1 : std::max(1, steps - 1); s < steps; ++s) graph_.wire_path[slots[i]].push_back(chain[s]);
      int before = chain[steps - 1];
      Add(before, to, steps == 1 ? from_y : kPassHeight / 2, drawing_.boxes[wire.to].inputs[wire.to_port].y, steps == 1 ? 1 : 2);
    }
  }

 private:
  void Add(int from, int to, double from_y, double to_y, double weight) { graph_.links.push_back({from, to, from_y, to_y, weight}); }

  LayerGraph& graph_;
  const Drawing& drawing_;
  const std::vector<int>& vertex_of_;
};

}  // namespace

LayerGraph MakeLayers(Drawing& drawing, const std::vector<int>& boxes, const std::vector<int>& wires, std::vector<int>& vertex_of) {
  for (size_t v = 0; v < boxes.size(); ++v) vertex_of[boxes[v]] = static_cast<int>(v);
  std::vector<std::vector<int>> leaving(boxes.size());
  for (int w : wires) leaving[vertex_of[drawing.wires[w].from]].push_back(w);
  MarkBackWires(drawing, boxes, leaving, vertex_of);
  std::vector<int> layer = LongestPaths(drawing, boxes.size(), leaving, vertex_of);
  LayerGraph graph;
  for (size_t v = 0; v < boxes.size(); ++v) graph.vertices.push_back({boxes[v], layer[v], 0, drawing.boxes[boxes[v]].height, 0});
  graph.wire_path.resize(wires.size());
  graph.branch.resize(wires.size());
  std::map<std::pair<int, int>, std::pair<std::vector<int>, std::vector<int>>> ports;
  for (size_t i = 0; i < wires.size(); ++i) {
    const DrawnWire& wire = drawing.wires[wires[i]];
    if (wire.back) continue;
    auto& [port_wires, slots] = ports[{vertex_of[wire.from], wire.from_port}];
    port_wires.push_back(wires[i]);
    slots.push_back(static_cast<int>(i));
  }
  int64_t passes = 0;
  for (auto& [key, port] : ports) {
    int last = 0;
    for (int w : port.first) last = std::max(last, layer[vertex_of[drawing.wires[w].to]]);
    passes += std::max(0, last - layer[key.first] - 1);
  }
  LinkMaker maker(graph, drawing, vertex_of);
  for (auto& [key, port] : ports) {
    CallLimit::CheckNow();
    maker.AddPort(port.first, port.second, passes <= kMostPasses);
  }
  graph.in.resize(graph.vertices.size());
  graph.out.resize(graph.vertices.size());
  for (size_t l = 0; l < graph.links.size(); ++l) {
    graph.out[graph.links[l].from].push_back(static_cast<int>(l));
    graph.in[graph.links[l].to].push_back(static_cast<int>(l));
  }
  return graph;
}

}  // namespace weft
