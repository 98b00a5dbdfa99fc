#include "runtime/plan/frame_blocks.h"

namespace weft {

Result<ValueRef> FrameBlocks::Add(int frame, std::string_view block, const std::vector<ValueRef>& inputs, Reuse::GivenAttrs attrs) {
  const BlockDef* def = rewrite_.registry().Find(block);
  if (def == nullptr) return Unsupported("the gradient of a loop needs the block ", block, ", which this registry lacks").WithPort("outputs");
  std::vector<uint32_t> first(1, 0);
  const uint32_t each = def->inputs.size() == 1 ? static_cast<uint32_t>(inputs.size()) : 1;
  for (size_t p = 0; p < def->inputs.size(); ++p) first.push_back(first.back() + each);
  rewrite_.adder().set_frame(frame);
  WEFT_ASSIGN_OR_RETURN(const int added, rewrite_.adder().Add(block, *def, inputs, first, attrs));
  return ValueRef{added, 0};
}

Result<ValueRef> FrameBlocks::Enter(int frame, ValueRef value, bool constant) {
  const std::pair<std::string_view, AttrValue> attrs[] = {{"frame_name", rewrite_.graph().frames()[static_cast<size_t>(frame)].name},
                                                          {"is_constant", constant}};
  return Add(frame, "Enter", {value}, attrs);
}

Result<ValueRef> FrameBlocks::Open(int frame, ValueRef entering) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef entered, Enter(frame, entering, false));
  return Add(frame, "Merge", {entered, entered});
}

Status FrameBlocks::Close(int frame, ValueRef merge, ValueRef value) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef next, Add(frame, "NextIteration", {value}));
  rewrite_.adder().SetInput(merge.node, 1, next);
  return {};
}

}  // namespace weft
