#include "runtime/plan/node_adder.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/plan/connecting.h"

namespace weft {

// Gradients of gradients grow with every level.
Status NodeAdder::CheckRoom() const {
  const size_t most = (size_t{1} << 17) + 64 * draft_.page.blocks.size();
  if (draft_.nodes.size() < most) return {};
  return ResourceExhausted("needs more than ", most, " blocks with those that compute gradients");
}

int NodeAdder::AddConstant(Tensor value) { return draft_.AddConstant(NextId("constant"), page_block_, std::move(value)); }

int NodeAdder::AddFrame(int of, int parent) {
  std::vector<Frame>& frames = draft_.parts.frames;
  frames.push_back({Cat(id_, "/", frames[static_cast<size_t>(of)].name), parent, frames[static_cast<size_t>(of)].enter});
  return static_cast<int>(frames.size()) - 1;
}

Result<int> NodeAdder::AddLike(std::string_view block, const Node& like, std::span<const ValueRef> inputs) {
  std::string id = NextId(block);
  WEFT_RETURN_IF_ERROR(CheckRoom());
  CallLimit::Grow(sizeof(Node), like.id);
  Node& node = draft_.nodes.emplace_back(like);
  node.id = std::move(id);
  node.page_block = page_block_;
  node.frame = frame_;
  node.inputs.append(inputs);
  node.order = draft_.next_order++;
  WEFT_RETURN_IF_ERROR(draft_.CountListOutputs(node));
  return static_cast<int>(draft_.nodes.size()) - 1;
}

Result<int> NodeAdder::Add(std::string_view block, const BlockDef& def, std::span<const ValueRef> inputs, std::span<const uint32_t> first,
                           Reuse::GivenAttrs attrs) {
  std::string id = NextId(block);
  WEFT_RETURN_IF_ERROR(CheckRoom());
  CallLimit::Grow(sizeof(Node));
  Node& node = draft_.nodes.emplace_back();
  node.def = &def;
  node.id = std::move(id);
  node.page_block = page_block_;
  node.added = true;
  node.frame = frame_;
  node.attrs = AttrsWith(def, attrs);
  node.inputs.append(inputs);
  const PortTable single = PortTable::Single(def.inputs.size());
  node.in_first = std::ranges::equal(single.table(), first) ? single : PortTable::Of({first.begin(), first.end()});
  if (Status status = InferTypes(draft_, node); !status.ok()) {
    draft_.nodes.pop_back();
    return status;
  }
  WEFT_RETURN_IF_ERROR(draft_.CountListOutputs(node));
  node.order = draft_.next_order++;
  return static_cast<int>(draft_.nodes.size()) - 1;
}

AttrList NodeAdder::AttrsWith(const BlockDef& def, Reuse::GivenAttrs given) {
  if (const AttrList* known = draft_.reuse.FindGiven(def, given)) return *known;
  std::vector<AttrValue> attrs;
  attrs.reserve(def.attrs.size());
  for (const AttrSpec& spec : def.attrs) {
    auto value = std::ranges::find(given, spec.name, [](const auto& a) { return a.first; });
    // A default type of an inferred attribute gives way to the inputs.
    if (value != given.end()) attrs.push_back(value->second);
    else if (spec.inferred || !spec.default_value) attrs.emplace_back();
    else attrs.push_back(*spec.default_value);
  }
  AttrList made(std::move(attrs));
  draft_.reuse.KeepGiven(def, given, made);
  return made;
}

}  // namespace weft
