// NodeAdder: how the gradient rewrite adds blocks to a graph in the making.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/plan/draft.h"

namespace weft {

/// Adds nodes of known blocks with their inputs connected. All belong to one block of the page and are named after it: "ID/Multiply_3".
class NodeAdder {
 public:
  NodeAdder(Draft& draft, int page_block) : draft_(draft), page_block_(page_block), id_(draft.page.blocks[page_block].id) {}

  const Graph& graph() const { return draft_.graph; }
  /// Of the page's block.
  const std::string& id() const { return id_; }
  Reuse& reuse() { return draft_.reuse; }
  /// By node, of those that there are now: -1. Whoever writes it leaves it so.
  std::vector<int>& Scratch() {
    draft_.on_gradient_path.resize(draft_.nodes.size(), -1);
    return draft_.on_gradient_path;
  }

  /// A block by its name in the registry, or by one of its other names. `inputs` are in port order; `first` has the first one of each port,
  /// and their number. The types of its outputs are inferred; an error where the block does not take such inputs.
  Result<int> Add(std::string_view block, const BlockDef& def, std::span<const ValueRef> inputs, std::span<const uint32_t> first,
                  Reuse::GivenAttrs attrs);
  /// The same as a node that was added by that name before, with other inputs.
  Result<int> AddLike(std::string_view block, const Node& like, std::span<const ValueRef> inputs);
  int AddConstant(Tensor value);

  /// The frame of what is added from now on.
  void set_frame(int frame) { frame_ = frame; }
  /// A frame in `parent` for the gradient of the loop of another frame. Its number is returned.
  int AddFrame(int of, int parent);
  /// Another value for an input of a node that was added.
  void SetInput(int node, size_t input, ValueRef value) { draft_.nodes[static_cast<size_t>(node)].inputs[input] = value; }

 private:
  Status CheckRoom() const;
  AttrList AttrsWith(const BlockDef& def, Reuse::GivenAttrs given);
  std::string NextId(std::string_view block) { return Cat(id_, "/", block, "_", counter_++); }

  Draft& draft_;
  int page_block_;
  const std::string& id_;
  int counter_ = 0;
  int frame_ = 0;
};

}  // namespace weft
