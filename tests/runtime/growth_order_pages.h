// Pages whose steps, or the first values of whose variables, wait for many others.
#pragma once

#include <string>
#include <vector>

#include "tests/runtime/growth_pages.h"

namespace weft::test::growth {

/// Blocks `id`0 to n - 1 of one type, each of which reads the one before it, the first `wire`.
inline void AddRow(Blocks& blocks, int n, std::string_view id, std::string_view type, std::string_view input, std::string_view output,
                   const std::string& wire) {
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat(id, i), type, {{std::string(input), i == 0 ? wire : Cat(id, i - 1, ".", output)}}));
  }
}

/// A value that n blocks hand on.
inline Blocks HandedOn(int n) {
  Blocks blocks = {Block("c", "Const", {{"value", Vector({1, 2, 3, 4})}})};
  AddRow(blocks, n, "i", "Identity", "input", "output", "c.output");
  blocks.push_back(Fetching("s", Cat("[\"i", n - 1, ".output\"]")));
  return blocks;
}

/// The same behind a block that waits.
inline Blocks HandedOnBehindWait(int n) {
  const std::string floats = "component_types_ = {DT_FLOAT};";
  Blocks blocks = {Block("q", "FIFOQueue", {}, floats), Block("c", "Const", {{"value", Scalar(1)}}),
                   Block("in", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"c.output\"]"}}),
                   Block("out", "QueueDequeue", {{"handle", "q.handle"}}, floats)};
  AddRow(blocks, n, "i", "Identity", "input", "output", "out.components[0]");
  blocks.push_back(Fetching("s", Cat("[\"i", n - 1, ".output\"]"), "[\"in.operation\"]"));
  return blocks;
}

/// n blocks that wait for what one fills that comes after them all. (A run of it would wait forever.)
inline Blocks WaitsBeforeFiller(int n) {
  const std::string area = "dtypes_ = {DT_FLOAT}; shared_name_ = s;";
  Blocks blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("out", i), "Unstage", {}, area));
  blocks.push_back(Block("sum", "AddN", {{"inputs", Wires(n, [](int i) { return Cat("out", i, ".values[0]"); })}}));
  blocks.push_back(Block("in", "Stage", {{"values", "[\"sum.sum\"]"}}, area));
  blocks.push_back(Fetching("s", "[\"sum.sum\"]", "[\"in.operation\"]"));
  return blocks;
}

/// n variables, each of which starts with the value of the one before it.
inline Blocks VariablesInARow(int n) {
  Blocks blocks = {Variable("v0", Scalar(1))};
  for (int i = 1; i < n; ++i) {
    blocks.push_back(Block(Cat("i", i), "Identity", {{"input", Cat("v", i - 1, ".ref")}}));
    blocks.push_back(Variable(Cat("v", i), Cat("i", i, ".output")));
  }
  blocks.push_back(Fetching("s", Cat("[\"v", n - 1, ".ref\"]")));
  return blocks;
}

/// n updates of `w` and a long chain behind them all; its end leads to the first of two updates of `v`.
inline Blocks UpdatesBeforeAChain(int n) {
  Blocks blocks = {Block("one", "Const", {{"value", Scalar(1)}}), Variable("v", Scalar(0)), Variable("w", Scalar(0)),
                   Block("first", "AssignAdd", {{"ref", "v.ref"}, {"value", Cat("y", n - 1, ".y")}}),
                   Block("second", "AssignAdd", {{"ref", "v.ref"}, {"value", "one.output"}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("up", i), "AssignAdd", {{"ref", "w.ref"}, {"value", "one.output"}}));
  blocks.push_back(Block("sum", "AddN", {{"inputs", Wires(n, [](int i) { return Cat("up", i, ".output_ref"); })}}));
  AddRow(blocks, n, "y", "Negate", "x", "y", "sum.sum");
  blocks.push_back(Fetching("s", Cat("[\"y", n - 1, ".y\"]"), "[\"first.operation\", \"second.operation\"]"));
  return blocks;
}

/// n updates of two variables each; the first on the page depends on the last.
inline Blocks UpdatesOfTwoVariables(int n) {
  Blocks blocks = {Block("one", "Const", {{"value", Scalar(1)}}), Variable("v", Scalar(0)), Variable("w", Scalar(0))};
  for (int i = 0; i < n; ++i) {
    const std::string grad = i == 0 ? Cat("up", n - 1, ".out") : "one.output";
    blocks.push_back(Block(Cat("up", i), "ApplyMomentum",
                           {{"var", "v.ref"}, {"accum", "w.ref"}, {"lr", "one.output"}, {"momentum", "one.output"}, {"grad", grad}}));
  }
  blocks.push_back(Fetching("s", Wires(n, [](int i) { return Cat("up", i, ".out"); })));
  return blocks;
}

}  // namespace weft::test::growth
