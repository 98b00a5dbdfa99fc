// Places the boxes and wires of a drawing.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/base/call_limit.h"
#include "runtime/host/layout_layers.h"

namespace weft {
namespace {

constexpr double kCurve = 50;     // room between columns, for the bends of the wires
constexpr double kPartGap = 46;   // between parts that no wire joins
constexpr double kTitle = 34;

double StartY(const DrawnBox& box, int port) { return box.y + (port < 0 ? kOperationY : box.outputs[port].y); }
DrawnPoint StartOf(const Drawing& drawing, const DrawnWire& wire) {
  const DrawnBox& box = drawing.boxes[wire.from];
  return {box.x + box.width, StartY(box, wire.from_port)};
}
DrawnPoint EndOf(const Drawing& drawing, const DrawnWire& wire) {
  const DrawnBox& box = drawing.boxes[wire.to];
  return {box.x, box.y + box.inputs[wire.to_port].y};
}

/// One connected part, laid out with its top left corner at 0, 0.
struct Part {
  std::vector<int> boxes, wires;
  double width = 0, height = 0;
};

std::vector<Part> PartsOf(const Drawing& drawing) {
  std::vector<int> root(drawing.boxes.size());
  std::iota(root.begin(), root.end(), 0);
  auto find = [&](int v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  for (const DrawnWire& wire : drawing.wires) {
    int a = find(wire.from), b = find(wire.to);
    root[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> part_of(drawing.boxes.size(), -1);
  std::vector<Part> parts;
  for (size_t b = 0; b < drawing.boxes.size(); ++b) {
    int& part = part_of[find(static_cast<int>(b))];
    if (part < 0) {
      part = static_cast<int>(parts.size());
      parts.emplace_back();
    }
    parts[part].boxes.push_back(static_cast<int>(b));
  }
  for (size_t w = 0; w < drawing.wires.size(); ++w) parts[part_of[find(drawing.wires[w].from)]].wires.push_back(static_cast<int>(w));
  return parts;
}

struct Column {
  double left = 0, right = 0;
};

/// Columns wide enough for their boxes and for what is written beside them.
std::vector<Column> Columns(const Drawing& drawing, const LayerGraph& graph) {
  std::vector<Column> columns(graph.layers.size());
  double x = 0;
  for (size_t layer = 0; layer < graph.layers.size(); ++layer) {
    double width = 0;
    size_t bends = 0;
    for (int v : graph.layers[layer]) {
      bends += graph.out[v].size();
      int b = graph.vertices[v].box;
      if (b >= 0) width = std::max(width, drawing.boxes[b].width + drawing.boxes[b].value_width);
    }
    columns[layer] = {x, x + width};
    x += width + kCurve + std::min(80.0, 2.0 * static_cast<double>(bends));
  }
  return columns;
}

void RouteWires(Drawing& drawing, const Part& part, const LayerGraph& graph, const std::vector<int>& vertex_of, const std::vector<Column>& columns) {
  for (size_t i = 0; i < part.wires.size(); ++i) {
    CallLimit::Check();
    DrawnWire& wire = drawing.wires[part.wires[i]];
    DrawnPoint start = StartOf(drawing, wire), end = EndOf(drawing, wire);
    if (!graph.branch[i]) wire.path = {start};
    if (!wire.back) {
      bool passes = !graph.wire_path[i].empty();
      if (!graph.branch[i] || !passes) wire.path.push_back({columns[graph.vertices[vertex_of[wire.from]].layer].right, start.y});
      for (int v : graph.wire_path[i]) {
        const auto& pass = graph.vertices[v];
        double y = pass.y + pass.height / 2;
        if (!graph.branch[i]) wire.path.push_back({columns[pass.layer].left, y});
        wire.path.push_back({columns[pass.layer].right, y});
      }
      wire.path.push_back({columns[graph.vertices[vertex_of[wire.to]].layer].left, end.y});
    }
    wire.path.push_back(end);
  }
}

void LayOutPart(Drawing& drawing, Part& part, std::vector<int>& vertex_of) {
  LayerGraph graph = MakeLayers(drawing, part.boxes, part.wires, vertex_of);
  OrderLayers(graph);
  PlaceHeights(graph);
  std::vector<Column> columns = Columns(drawing, graph);
  for (const auto& vertex : graph.vertices) {
    part.height = std::max(part.height, vertex.y + vertex.height);
    if (vertex.box < 0) continue;
    drawing.boxes[vertex.box].x = columns[vertex.layer].left;
    drawing.boxes[vertex.box].y = vertex.y;
  }
  RouteWires(drawing, part, graph, vertex_of, columns);
  part.width = columns.back().right;
}

void Move(Drawing& drawing, const Part& part, double x, double y) {
  for (int b : part.boxes) {
    drawing.boxes[b].x += x;
    drawing.boxes[b].y += y;
  }
  for (int w : part.wires) {
    for (DrawnPoint& point : drawing.wires[w].path) {
      point.x += x;
      point.y += y;
    }
  }
}

/// Puts the parts on shelves, from left to right and from top to bottom, in page order.
void PackParts(Drawing& drawing, std::vector<Part>& parts) {
  double area = 0, widest = 0;
  for (const Part& part : parts) {
    area += (part.width + kPartGap) * (part.height + kPartGap);
    widest = std::max(widest, part.width);
  }
  double limit = std::max(widest, 1.3 * std::sqrt(area)), x = 0, y = 0, shelf = 0;
  for (const Part& part : parts) {
    if (x > 0 && x + part.width > limit) {
      x = 0;
      y += shelf + kPartGap;
      shelf = 0;
    }
    Move(drawing, part, kMargin + x, kMargin + kTitle + y);
    x += part.width + kPartGap;
    shelf = std::max(shelf, part.height);
  }
}

void MeasureDrawing(Drawing& drawing) {
  drawing.width = TextWidth(drawing.title, 17) + 160;
  drawing.height = kMargin + kTitle;
  for (const DrawnBox& box : drawing.boxes) {
    drawing.width = std::max(drawing.width, box.x + box.width + box.value_width);
    drawing.height = std::max(drawing.height, box.y + box.height);
  }
  for (const DrawnWire& wire : drawing.wires) {
    if (!wire.back) continue;
    // A wire that runs back leaves to the right, passes below its boxes, and comes in from the left.
    const DrawnBox &from = drawing.boxes[wire.from], &to = drawing.boxes[wire.to];
    drawing.height = std::max(drawing.height, std::max(from.y + from.height, to.y + to.height) + 16);
  }
  drawing.width = std::ceil(drawing.width + kMargin);
  drawing.height = std::ceil(drawing.height + kMargin);
}

}  // namespace

void LayOutInLayers(Drawing& drawing) {
  std::vector<Part> parts = PartsOf(drawing);
  std::vector<int> vertex_of(drawing.boxes.size());
  for (Part& part : parts) LayOutPart(drawing, part, vertex_of);
  PackParts(drawing, parts);
  MeasureDrawing(drawing);
}

std::vector<LayoutEntry> AutomaticLayout(const Page& page, const Registry& registry, const ValueTexts& values) {
  Drawing drawing = MakeDrawing(page, registry, values);
  LayOutInLayers(drawing);
  std::vector<LayoutEntry> layout;
  for (size_t b = 0; b < page.blocks.size(); ++b) layout.push_back({page.blocks[b].id, drawing.boxes[b].x, drawing.boxes[b].y});
  return layout;
}

void LayOutAsPage(Drawing& drawing, const Page& page) {
  constexpr double kFarthest = 1e6;
  std::vector<bool> placed(drawing.boxes.size());
  std::unordered_map<std::string_view, size_t> by_id;
  for (size_t b = 0; b < page.blocks.size(); ++b) by_id.emplace(page.blocks[b].id, b);
  double left = kFarthest, top = kFarthest, bottom = 0;
  for (const LayoutEntry& entry : page.layout) {
    auto it = by_id.find(entry.block);
    if (it == by_id.end() || !std::isfinite(entry.x) || !std::isfinite(entry.y)) continue;
    DrawnBox& box = drawing.boxes[it->second];
    box.x = std::clamp(entry.x, -kFarthest, kFarthest);
    box.y = std::clamp(entry.y, -kFarthest, kFarthest);
    placed[it->second] = true;
    left = std::min(left, box.x);
    top = std::min(top, box.y);
  }
  for (size_t b = 0; b < placed.size(); ++b) {
    if (!placed[b]) continue;
    drawing.boxes[b].x += kMargin - left;
    drawing.boxes[b].y += kMargin + kTitle - top;
    bottom = std::max(bottom, drawing.boxes[b].y + drawing.boxes[b].height);
  }
  double x = kMargin;
  for (size_t b = 0; b < placed.size(); ++b) {
    if (placed[b]) continue;
    drawing.boxes[b].x = x;
    drawing.boxes[b].y = std::max(bottom, kMargin + kTitle) + kPartGap;
    x += drawing.boxes[b].width + drawing.boxes[b].value_width + kPartGap;
  }
  for (DrawnWire& wire : drawing.wires) {
    DrawnPoint start = StartOf(drawing, wire), end = EndOf(drawing, wire);
    wire.path = {start, end};
    wire.back = end.x < start.x;
  }
  MeasureDrawing(drawing);
}

}  // namespace weft
