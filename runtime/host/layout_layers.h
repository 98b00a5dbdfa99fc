// The layered layout of one connected part of a drawing, step by step: layers, order within layers, heights.
#pragma once

#include <vector>

#include "weft/host/layout.h"

namespace weft {

/// Boxes of the part and the places that long wires pass through, by layer.
struct LayerGraph {
  struct Vertex {
    int box = -1;  // -1: a wire passes
    int layer = 0;
    int place = 0;  // within its layer, from 0
    double height = 0;
    double y = 0;  // top
  };
  /// Joins a vertex and one of the next layer, at heights below their tops.
  struct Link {
    int from = 0, to = 0;
    double from_y = 0, to_y = 0;
    double weight = 1;
  };
  std::vector<Vertex> vertices;
  std::vector<Link> links;
  std::vector<std::vector<int>> layers;      // vertices from top to bottom
  std::vector<std::vector<int>> in, out;     // by vertex: links
  std::vector<std::vector<int>> wire_path;   // by wire of the part: the vertices it passes between its boxes; of a branch, only the last
  std::vector<bool> branch;                  // by wire of the part: leaves a longer wire of its port, which draws what they share
};

/// Layers of the boxes and the chains of long wires. Wires that close a circle are marked `back` and take no part. `boxes` and `wires` are
/// indices into the drawing; `vertex_of` is scratch, by box.
LayerGraph MakeLayers(Drawing& drawing, const std::vector<int>& boxes, const std::vector<int>& wires, std::vector<int>& vertex_of);

/// Orders each layer so that few links cross.
void OrderLayers(LayerGraph& graph);

/// Gives every vertex its y: no two of a layer overlap, links are as level as can be.
void PlaceHeights(LayerGraph& graph);

}  // namespace weft
