// Loops of pages that tests write.
#pragma once

#include "tests/runtime/session_kit.h"

namespace weft::test {

inline std::string Int(int value) { return Literal("DT_INT32", {}, {static_cast<double>(value)}); }
inline std::string Enter(std::string_view id, const std::string& data, std::string_view frame = "w", bool constant = false) {
  return Block(id, "Enter", {{"data", data}}, Cat("frame_name_ = ", frame, ";is_constant_ = ", constant ? "true" : "false", ";"));
}
inline std::string Pair(std::string_view a, std::string_view b) { return Cat("[\"", a, "\", \"", b, "\"]"); }

/// A loop variable `name`: it starts as `first` and becomes `next`; its value in the body is NAME_s.output_true, its result NAME_x.output.
inline void AddVariable(std::vector<std::string>& blocks, const std::string& name, const std::string& first, const std::string& next,
                 const std::string& frame = "w") {
  blocks.push_back(Enter(name + "_e", first, frame));
  blocks.push_back(Block(name + "_m", "Merge", {{"inputs", Pair(name + "_e.output", name + "_n.output")}}));
  blocks.push_back(Block(name + "_s", "Switch", {{"data", name + "_m.output"}, {"pred", frame + "_c.output"}}));
  blocks.push_back(Block(name + "_n", "NextIteration", {{"data", next}}));
  blocks.push_back(Block(name + "_x", "Exit", {{"data", name + "_s.output_false"}}));
}

/// A counter `i` of the frame that goes from 0 to `end`, a literal or a wire.
inline void AddCounter(std::vector<std::string>& blocks, const std::string& name, const std::string& end, const std::string& frame = "w") {
  AddVariable(blocks, name, Int(0), name + "_b.z", frame);
  blocks.push_back(Enter(name + "_end", end, frame, true));
  blocks.push_back(Block(name + "_less", "Less", {{"x", name + "_m.output"}, {"y", name + "_end.output"}}));
  blocks.push_back(Block(frame + "_c", "LoopCond", {{"input", name + "_less.z"}}));
  blocks.push_back(Block(name + "_b", "Add", {{"x", name + "_s.output_true"}, {"y", Int(1)}}));
}

}  // namespace weft::test
