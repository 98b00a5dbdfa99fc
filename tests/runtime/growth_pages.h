// Pages of many kinds, each of a size.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/session_kit.h"

namespace weft::test {

using Blocks = std::vector<std::string>;

inline std::string Wires(int count, const std::function<std::string(int)>& wire) {
  std::string list = "[";
  for (int i = 0; i < count; ++i) list += Cat(i ? ", " : "", "\"", wire(i), "\"");
  return list + "]";
}

inline std::string Fetching(std::string_view id, const std::string& fetches, const std::string& runs = "[]") {
  return Block(id, "ClientSession", {{"fetch_outputs", fetches}, {"run_outputs", runs}});
}

// ---- pages ------------------------------------------------------------------------------------------------------------------------------

inline Blocks ChainBlocks(int n) {
  Blocks blocks = {Block("b0", "Const", {{"value", Scalar(0.5)}})};
  for (int i = 1; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("b", i - 1, i == 1 ? ".output" : ".y")}}));
  return blocks;
}

inline Blocks Backwards(int n) {
  Blocks blocks = ChainBlocks(n);
  std::ranges::reverse(blocks);
  return blocks;
}

inline Blocks FanOut(int n) {
  Blocks blocks = {Block("c", "Const", {{"value", Vector({1, 2})}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("y", i), "Square", {{"x", "c.output"}}));
  return blocks;
}

inline Blocks FanIn(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("c", i), "Const", {{"value", Vector({1, 2})}}));
  blocks.push_back(Block("sum", "AddN", {{"inputs", Wires(n, [](int i) { return Cat("c", i, ".output"); })}}));
  return blocks;
}

inline Blocks Grid(int n) {
  constexpr int kWide = 16;
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    if (i < kWide) blocks.push_back(Block(Cat("b", i), "Variable", {{"initvalues", Vector({1, 2})}}));
    const auto name = [&](int at) { return Cat("b", at, at < kWide ? ".ref" : ".z"); };
    if (i >= kWide) blocks.push_back(Block(Cat("b", i), "Maximum", {{"x", name(i - kWide)}, {"y", name(i - kWide + (i % kWide == kWide - 1 ? 1 - kWide : 1))}}));
  }
  return blocks;
}

/// Each with blocks of its own.
inline Blocks Sessions(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("c", i), "Const", {{"value", Scalar(i)}}));
    blocks.push_back(Block(Cat("y", i), "Square", {{"x", Cat("c", i, ".output")}}));
    blocks.push_back(Fetching(Cat("s", i), Cat("[\"y", i, ".y\"]")));
  }
  return blocks;
}

/// Each with a variable and its gradient.
inline Blocks Trainers(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Variable(Cat("v", i), Scalar(1)));
    blocks.push_back(Block(Cat("y", i), "Square", {{"x", Cat("v", i, ".ref")}}));
    blocks.push_back(Block(Cat("g", i), "AddSymbolicGradients", {{"outputs", Cat("[\"y", i, ".y\"]")}, {"inputs", Cat("[\"v", i, ".ref\"]")}}));
    blocks.push_back(Block(Cat("t", i), "ApplyGradientDescent", {{"var", Cat("v", i, ".ref")}, {"alpha", Scalar(0.5)}, {"delta", Cat("g", i, ".grad_outputs[0]")}}));
    blocks.push_back(Fetching(Cat("s", i), Cat("[\"y", i, ".y\"]"), Cat("[\"t", i, ".operation\"]")));
  }
  return blocks;
}

inline Blocks Variables(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Variable(Cat("v", i), Vector({1, 2})));
    blocks.push_back(Block(Cat("up", i), "AssignAdd", {{"ref", Cat("v", i, ".ref")}, {"value", Vector({1, 1})}}));
  }
  blocks.push_back(Fetching("s", "[]", Wires(n, [](int i) { return Cat("up", i, ".operation"); })));
  return blocks;
}

/// Of one variable; those that come later on the page are ready first.
inline Blocks Updates(int n) {
  Blocks blocks = {Variable("v", Scalar(1)), Block("c", "Const", {{"value", Scalar(1)}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("up", i), "AssignAdd", {{"ref", "v.ref"}, {"value", Cat("y", n - 1 - i, ".y")}}));
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("y", i), "Square", {{"x", "c.output"}}));
  blocks.push_back(Fetching("s", "[]", Wires(n, [](int i) { return Cat("up", i, ".operation"); })));
  return blocks;
}

/// Of one variable, each of which reads what the next one on the page leaves.
inline Blocks Backward(int n) {
  Blocks blocks = {Variable("v", Scalar(1))};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("up", i), "AssignAdd", {{"ref", "v.ref"}, {"value", i == n - 1 ? Scalar(1) : Cat("up", i + 1, ".output_ref")}}));
  blocks.push_back(Fetching("s", "[]", "[\"up0.operation\"]"));
  return blocks;
}

inline Blocks Queue(int n) {
  Blocks blocks = {Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"), Block("c", "Const", {{"value", Scalar(1)}})};
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("in", i), "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"c.output\"]"}}));
    blocks.push_back(Block(Cat("out", i), "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"));
  }
  blocks.push_back(Fetching("s", Wires(n, [](int i) { return Cat("out", i, ".components[0]"); }), Wires(n, [](int i) { return Cat("in", i, ".operation"); })));
  return blocks;
}

/// Each run adds n gradients and takes their mean; tensors are kept, read and let go.
inline Blocks Accumulators(int n) {
  const std::string step = Literal("DT_INT64", {}, {1000000}), required = Literal("DT_INT32", {}, {static_cast<double>(n)});
  Blocks blocks = {Block("a", "ConditionalAccumulator", {}, "dtype_ = DT_FLOAT;shape_ = [];"),
                   Block("take", "AccumulatorTakeGradient", {{"handle", "a.handle"}, {"num_required", required}}, "dtype_ = DT_FLOAT;")};
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("add", i), "AccumulatorApplyGradient", {{"handle", "a.handle"}, {"local_step", step}, {"gradient", Scalar(i)}}));
    blocks.push_back(Block(Cat("keep", i), "GetSessionHandle", {{"value", Scalar(i)}}));
    blocks.push_back(Block(Cat("get", i), "GetSessionTensor", {{"handle", Cat("keep", i, ".handle")}}, "dtype_ = DT_FLOAT;"));
  }
  blocks.push_back(Fetching("s", Cat("[\"take.average\", ", Wires(n, [](int i) { return Cat("get", i, ".value"); }).substr(1)),
                            Wires(n, [](int i) { return Cat("add", i, ".operation"); })));
  return blocks;
}

inline Blocks Gradients(int n) {
  Blocks blocks = {Variable("v", Scalar(0.5))};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Tanh", {{"x", i == 0 ? "v.ref" : Cat("b", i - 1, ".y")}}));
  blocks.push_back(Block("g", "AddSymbolicGradients", {{"outputs", Cat("[\"b", n - 1, ".y\"]")}, {"inputs", "[\"v.ref\"]"}}));
  return blocks;
}

inline Blocks Feeds(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("p", i), "Placeholder", {}, "dtype_ = DT_FLOAT;"));
    blocks.push_back(Block(Cat("f", i), "FeedType", {{"input", Cat("p", i, ".output")}, {"initializer", Scalar(1)}}));
    blocks.push_back(Block(Cat("y", i), "Square", {{"x", Cat("p", i, ".output")}}));
  }
  const std::string fetches = Wires(n, [](int i) { return Cat("y", i, ".y"); }), feeds = Wires(n, [](int i) { return Cat("f", i, ".output"); });
  blocks.push_back(Block("s", "ClientSession", {{"fetch_outputs", fetches}, {"inputs", feeds}}));
  return blocks;
}

inline Blocks Loops(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    const auto id = [&](std::string_view name) { return Cat(name, i); };
    blocks.push_back(Block(id("e"), "Enter", {{"data", Scalar(0)}}, Cat("frame_name_ = \\\"f", i, "\\\";")));
    blocks.push_back(Block(id("m"), "Merge", {{"inputs", Cat("[\"", id("e"), ".output\", \"", id("n"), ".output\"]")}}));
    blocks.push_back(Block(id("l"), "Less", {{"x", id("m") + ".output"}, {"y", Scalar(2)}}));
    blocks.push_back(Block(id("w"), "LoopCond", {{"input", id("l") + ".z"}}));
    blocks.push_back(Block(id("s"), "Switch", {{"data", id("m") + ".output"}, {"pred", id("w") + ".output"}}));
    blocks.push_back(Block(id("a"), "Add", {{"x", id("s") + ".output_true"}, {"y", Scalar(1)}}));
    blocks.push_back(Block(id("n"), "NextIteration", {{"data", id("a") + ".z"}}));
    blocks.push_back(Block(id("x"), "Exit", {{"data", id("s") + ".output_false"}}));
  }
  return blocks;
}

/// A loop over the n elements of one array that writes another, and its gradient, which takes the iterations in turn again.
inline Blocks ArraysInLoops(int n) {
  const auto enter = [](std::string_view id, const std::string& data, bool constant) {
    return Block(id, "Enter", {{"data", data}}, Cat("frame_name_ = f;", constant ? "is_constant_ = true;" : ""));
  };
  const std::string size = Literal("DT_INT32", {}, {static_cast<double>(n)}), floats = "dtype_ = DT_FLOAT;";
  return {Variable("v", Literal("DT_FLOAT", {n, 1}, std::vector<double>(static_cast<size_t>(n), 0.5))),
          Block("lengths", "Const", {{"value", Literal("DT_INT64", {n}, std::vector<double>(static_cast<size_t>(n), 1))}}),
          Block("all", "Range", {{"start", Literal("DT_INT32", {}, {0})}, {"limit", size}, {"delta", Literal("DT_INT32", {}, {1})}}),
          Block("from", "TensorArray", {{"size", size}}, floats),
          Block("to", "TensorArray", {{"size", size}}, floats + "clear_after_read_ = false;"),
          Block("split", "TensorArraySplit", {{"handle", "from.handle"}, {"value", "v.ref"}, {"lengths", "lengths.output"}, {"flow_in", "from.flow"}}),
          enter("e", Literal("DT_INT32", {}, {0}), false), enter("e_flow", "to.flow", false), enter("limit", size, true),
          enter("from_in", "from.handle", true), enter("from_flow", "split.flow_out", true), enter("to_in", "to.handle", true),
          Block("m", "Merge", {{"inputs", "[\"e.output\", \"n.output\"]"}}), Block("m_flow", "Merge", {{"inputs", "[\"e_flow.output\", \"n_flow.output\"]"}}),
          Block("less", "Less", {{"x", "m.output"}, {"y", "limit.output"}}), Block("more", "LoopCond", {{"input", "less.z"}}),
          Block("s", "Switch", {{"data", "m.output"}, {"pred", "more.output"}}), Block("s_flow", "Switch", {{"data", "m_flow.output"}, {"pred", "more.output"}}),
          Block("read", "TensorArrayRead", {{"handle", "from_in.output"}, {"index", "s.output_true"}, {"flow_in", "from_flow.output"}}, floats),
          Block("y", "Square", {{"x", "read.value"}}),
          Block("write", "TensorArrayWrite", {{"handle", "to_in.output"}, {"index", "s.output_true"}, {"value", "y.y"}, {"flow_in", "s_flow.output_true"}}),
          Block("add", "AddV2", {{"x", "s.output_true"}, {"y", Literal("DT_INT32", {}, {1})}}),
          Block("n", "NextIteration", {{"data", "add.z"}}), Block("n_flow", "NextIteration", {{"data", "write.flow_out"}}),
          Block("x_flow", "Exit", {{"data", "s_flow.output_false"}}),
          Block("gather", "TensorArrayGather", {{"handle", "to.handle"}, {"indices", "all.output"}, {"flow_in", "x_flow.output"}}, floats),
          Block("concat", "TensorArrayConcat", {{"handle", "to.handle"}, {"flow_in", "x_flow.output"}}, floats),
          Block("g", "AddSymbolicGradients", {{"outputs", "[\"gather.value\"]"}, {"inputs", "[\"v.ref\"]"}}),
          Fetching("run", "[\"gather.value\", \"concat.value\", \"g.grad_outputs[0]\"]")};
}

/// Values that other blocks read when all of them are made.
inline Blocks FusedGroup(int n) {
  Blocks blocks = {Block("x", "Fill", {{"dims", Ints({40000})}, {"value", Scalar(2)}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("y", i), "Square", {{"x", "x.output"}}));
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("z", i), "Cumsum", {{"x", Cat("y", i, ".y")}, {"axis", Literal("DT_INT32", {}, {0})}}));
  blocks.push_back(Fetching("s", Wires(n, [](int i) { return Cat("z", i, ".out"); })));
  return blocks;
}

inline Blocks LongNames(int n) {
  const std::string name(static_cast<size_t>(n), 'n');
  Blocks blocks = {Block(name, "Const", {{"value", Scalar(0.5)}})};
  for (int i = 0; i < 20; ++i) blocks.push_back(Block(Cat(name, i), "Negate", {{"x", i == 0 ? name + ".output" : Cat(name, i - 1, ".y")}}));
  return blocks;
}

inline Blocks Attributes(int n) {
  Blocks blocks = {Block("c", "Const", {{"value", Literal("DT_FLOAT", {1, 1, 1, 2}, {1, 2})}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "LRN", {{"input", "c.output"}}, Cat("depth_radius_ = ", i + 1, "; alpha_ = ", i, ".5; bias_ = 2;")));
  return blocks;
}

inline Blocks LongAttributes(int n) {
  return {Block("c", "Const", {{"value", Vector({1, 2})}}), Block("p", "Print", {{"input", "c.output"}, {"data", "[\"c.output\"]"}}, Cat("message_ = ", std::string(static_cast<size_t>(n) * 10, 'm'), ";"))};
}

inline Blocks Literals(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Add", {{"x", Vector({1, 2, 3})}, {"y", Vector({4, 5, 6})}}));
  return blocks;
}

inline Blocks LongLiterals(int n) {
  std::string text = "{";
  for (int i = 0; i < 10 * n; ++i) text += Cat(i ? "," : "", i % 7, ".5");
  return {Block("c", "Const", {{"value", Vector(std::vector<double>(static_cast<size_t>(n) * 10, 0.25))}}),
          Block("t", "Const", {{"value", Cat("{\"dtype\": \"DT_FLOAT\", \"text\": \"", text, "}\"}")}}), Block("y", "Add", {{"x", "c.output"}, {"y", "t.output"}})};
}

// ---- pages with faults ------------------------------------------------------------------------------------------------------------------

inline Blocks MissingBlocks(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("a", i, ".y")}}));
  return blocks;
}

/// One block of many inputs that it does not have, before many wires to nothing.
inline Blocks BadInputs(int n) {
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string wires;
  for (int i = 0; i < n; ++i) {
    inputs.emplace_back(Cat("u", i), "c.output");
    wires += Cat(i == 0 ? "" : ", ", "\"a", i, ".y\"");
  }
  inputs.emplace_back("inputs", Cat("[", wires, "]"));
  return {Block("c", "Const", {{"value", Vector({1, 2})}}), Block("sum", "AddN", inputs)};
}

inline Blocks BadAttributes(int n) {
  Blocks blocks = {Block("c", "Const", {{"value", Vector({1, 2})}}), Block("i", "Const", {{"value", Ints({1, 2})}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Add", {{"x", i == 0 ? "c.output" : Cat("b", i - 1, ".z")}, {"y", "c.output"}}, "no_ = 1;"));
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("t", i), "Add", {{"x", Cat("b", i, ".z")}, {"y", "i.output"}}));
  return blocks;
}

inline Blocks BadShapes(int n) {
  Blocks blocks = {Block("c", "Const", {{"value", Vector({1, 2})}}), Block("m", "Const", {{"value", Vector({1, 2, 3})}})};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Add", {{"x", "c.output"}, {"y", "m.output"}}));
  return blocks;
}

inline Blocks Cycles(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("b", i ^ 1, ".y")}}));
  return blocks;
}

inline Blocks SameIds(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(Block("b", "Const", {{"value", Scalar(i)}}));
  return blocks;
}

/// A page of enuSpace's editor, of so many blocks.
inline std::string DesignPage(int n) {
  std::string text = "<svg>";
  for (int i = 0; i < n; ++i) text += Cat("<g><use id=\"c", i, "\" type=\"tensorflow\" xlink:href=\"#Const\" x=\"", i, "\" y=\"0\"><pg-set-pin variable=\"#value\" value=\"1.5\"/></use></g>");
  return text + "</svg>";
}

}  // namespace weft::test
