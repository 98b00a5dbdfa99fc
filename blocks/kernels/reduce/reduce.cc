#include "blocks/kernels/reduce/reduce.h"

namespace weft::kernels {
namespace {

/// A dimension with the flag whether it is reduced.
struct Group {
  int64_t size, stride;
  bool reduced;
};

/// Joins neighbours of the same kind and leaves out sizes of 1. Innermost last.
std::vector<Group> Collapse(std::span<const int64_t> dims, const std::vector<bool>& is_reduced) {
  std::vector<Group> groups;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!groups.empty() && groups.back().reduced == is_reduced[i]) groups.back().size *= dims[i];
    else groups.push_back({dims[i], 0, is_reduced[i]});
  }
  int64_t stride = 1;
  for (size_t i = groups.size(); i-- > 0;) {
    groups[i].stride = stride;
    stride *= groups[i].size;
  }
  return groups;
}

/// Cuts the inputs of an output where there is much to do and few outputs to share out.
int64_t PiecesOf(const ReduceLayout& layout) {
  constexpr int64_t kMostTasks = 64;
  const int64_t elements = layout.outputs * layout.count;
  const int64_t cells = layout.kept_count * ((layout.width + internal::kColumns - 1) / internal::kColumns);
  if (cells >= 8 || elements < 4 * internal::kTaskElements) return 1;
  return std::min({elements / internal::kTaskElements, kMostTasks / cells, layout.count});
}

}  // namespace

ReduceLayout ReduceLayout::Make(std::span<const int64_t> dims, const std::vector<bool>& is_reduced) {
  ReduceLayout layout;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    // Products of the other sizes may not fit; none is needed but the number of outputs, a valid shape.
    layout.count = layout.run = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!is_reduced[i] && dims[i] == 0) layout.outputs = 0;
    }
    for (size_t i = 0; i < dims.size() && layout.outputs > 0; ++i) {
      if (!is_reduced[i]) layout.outputs *= dims[i];
    }
    layout.kept_count = layout.outputs;
    if (layout.outputs > 1) layout.kept.push_back({layout.outputs, 0});
    return layout;
  }
  std::vector<Group> groups = Collapse(dims, is_reduced);
  for (const Group& group : groups) (group.reduced ? layout.count : layout.kept_count) *= group.size;
  layout.outputs = layout.kept_count;
  if (!groups.empty() && !groups.back().reduced) {
    layout.width = groups.back().size;
    layout.kept_count /= layout.width;
    groups.pop_back();
  }
  for (const Group& group : groups) (group.reduced ? layout.reduced : layout.kept).push_back({group.size, group.stride});
  if (!layout.reduced.empty()) {
    layout.run = layout.reduced.back().size;
    layout.reduced.pop_back();
  }
  layout.pieces = PiecesOf(layout);
  return layout;
}

std::string ReduceLayout::implementation() const {
  std::string name = width > 1 ? "columns, rows added to one another" : reduced.empty() ? "runs, each in registers" : "runs of several strides";
  if (pieces > 1) name += ", in " + std::to_string(pieces) + " parts";
  return name;
}

}  // namespace weft::kernels
