// Pages on which references, frames or places in memory are looked for again and again.
#pragma once

#include <string>

#include "tests/runtime/growth_data_pages.h"

namespace weft::test::growth {

/// Updates of one variable, each of the reference that the one before it gives.
inline Blocks UpdatesInARow(int n) {
  Blocks blocks = {Variable("v", Scalar(0)), Const("one", Scalar(1))};
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("up", i), "AssignAdd", {{"ref", i == 0 ? "v.ref" : Cat("up", i - 1, ".output_ref")}, {"value", "one.output"}}));
  }
  blocks.push_back(Fetching("s", Cat("[\"up", n - 1, ".output_ref\"]")));
  return blocks;
}

/// A few updates of one of n variables, which only the run can tell.
inline Blocks OneOfManyVariables(int n) {
  constexpr int kUpdates = 10;
  Blocks blocks = {Const("one", Scalar(1)), Const("index", Int(1))};
  for (int i = 0; i < n; ++i) blocks.push_back(Variable(Cat("v", i), Scalar(0)));
  blocks.push_back(Block("one_of", "RefSelect", {{"index", "index.output"}, {"inputs", Outputs("v", "ref", n)}}));
  AddEach(blocks, kUpdates, "up", "AssignAdd", {{"ref", "one_of.output"}, {"value", "one.output"}});
  blocks.push_back(Fetching("s", Outputs("up", "output_ref", kUpdates)));
  return blocks;
}

/// n free ranges of memory that are too small for what comes then.
inline Blocks ScatteredRanges(int n) {
  const auto every_other = [n](int first) { return Wires(n, [=](int i) { return Cat("a", 2 * i + first, ".y"); }); };
  Blocks blocks = {Const("x", Vector(CountTo(16))), Const("y", Vector(CountTo(32)))};
  AddEach(blocks, 2 * n, "a", "Negate", {{"x", "x.output"}});
  blocks.push_back(Block("odd", "AddN", {{"inputs", every_other(1)}}));
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("d", i), "Softmax", {{"logits", i == 0 ? "y.output" : Cat("d", i - 1, ".softmax")}}));
  blocks.push_back(Block("even", "AddN", {{"inputs", every_other(0)}}));
  blocks.push_back(Fetching("s", Cat("[\"odd.sum\", \"even.sum\", \"d", n - 1, ".softmax\"]")));
  return blocks;
}

/// n frames; what a frame lies in is known when the parent of the one before it is.
inline Blocks FramesInARow(int n) {
  Blocks blocks = {Const("c", Scalar(1)), Block("x0", "Negate", {{"x", "c.output"}})};
  for (int i = 0; i < n; ++i) {
    const std::string frame = Cat("frame_name_ = f", i, ";is_constant_ = true;");
    blocks.push_back(Block(Cat("a", i), "Enter", {{"data", "c.output"}}, frame));
    blocks.push_back(Block(Cat("x", i + 1), "Exit", {{"data", Cat("a", i, ".output")}}));
    blocks.push_back(Block(Cat("b", i), "Enter", {{"data", i == 0 ? "x0.y" : Cat("x", i, ".output")}}, frame));
    blocks.push_back(Block(Cat("y", i), "Negate", {{"x", Cat("b", i, ".output")}}));
  }
  blocks.push_back(Fetching("s", Cat("[\"x", n, ".output\"]")));
  return blocks;
}

}  // namespace weft::test::growth
