// Pages whose values grow, or what their page keeps and their files hold: for blocks that work on a queue, a barrier, a map, an accumulator, an
// array, a reader, a variable or a file, and for those that gradients add. Each is run; what it takes out it has put in before.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "tests/runtime/growth_pages.h"

namespace weft::test::growth {

// ---- literals ---------------------------------------------------------------------------------------------------------------------------

inline std::vector<double> CountTo(int n) {
  std::vector<double> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}
inline std::string IntsTo(int n) { return Ints(CountTo(n)); }
inline std::string Int(double value) { return Literal("DT_INT32", {}, {value}); }
inline std::string LongInt(double value) { return Literal("DT_INT64", {}, {value}); }
inline std::string LongInts(const std::vector<double>& values) { return Literal("DT_INT64", {static_cast<int64_t>(values.size())}, values); }
inline std::string Text(std::string_view value) { return Cat("{\"dtype\": \"DT_STRING\", \"shape\": [], \"values\": [\"", value, "\"]}"); }
inline std::string Texts(int n, const std::function<std::string(int)>& text) {
  std::string values;
  for (int i = 0; i < n; ++i) values += Cat(i ? ", \"" : "\"", text(i), "\"");
  return Cat("{\"dtype\": \"DT_STRING\", \"shape\": [", n, "], \"values\": [", values, "]}");
}
inline std::string Const(std::string_view id, const std::string& value) { return Block(id, "Const", {{"value", value}}); }
/// A list of n literals or wires.
inline std::string ListOf(int n, const std::function<std::string(int)>& element) {
  std::string list = "[";
  for (int i = 0; i < n; ++i) list += Cat(i ? ", " : "", element(i));
  return list + "]";
}
/// One `type`, n times over, ids by number.
inline void AddEach(Blocks& blocks, int n, std::string_view id, std::string_view type, const std::vector<std::pair<std::string, std::string>>& inputs,
                    std::string_view attrs = "") {
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat(id, i), type, inputs, attrs));
}
inline std::string Operations(std::string_view id, int n) {
  return Wires(n, [&](int i) { return Cat(id, i, ".operation"); });
}
inline std::string Outputs(std::string_view id, std::string_view port, int n) {
  return Wires(n, [&](int i) { return Cat(id, i, ".", port); });
}

// ---- queues and barriers ----------------------------------------------------------------------------------------------------------------

/// n elements go in by one block and come out by two.
inline Blocks QueueOfMany(std::string_view kind, int n) {
  const bool priority = kind == "PriorityQueue";
  const std::string types = Cat("component_types_ = {", priority ? "DT_INT64," : "", "DT_FLOAT};");
  std::vector<double> priorities = CountTo(n);
  std::ranges::reverse(priorities);
  const std::string taken = priority ? ".components[1]" : ".components[0]";
  return {Block("q", kind, {}, "component_types_ = {DT_FLOAT};shapes_ = [];"), Const("v", Vector(CountTo(n))), Const("first", LongInts(priorities)),
          Block("put", "QueueEnqueueMany", {{"handle", "q.handle"},
                                            {"components", priority ? "[\"first.output\", \"v.output\"]" : "[\"v.output\"]"}}),
          Block("take", "QueueDequeueMany", {{"handle", "q.handle"}, {"n", Int(n / 2)}}, types),
          Block("rest", "QueueDequeueUpTo", {{"handle", "q.handle"}, {"n", Int(n - n / 2)}}, types),
          Block("size", "QueueSize", {{"handle", "q.handle"}}),
          Fetching("s", Cat("[\"take", taken, "\", \"rest", taken, "\", \"size.size\"]"), "[\"put.operation\"]")};
}

inline Blocks BarrierOfMany(int n) {
  const std::string types = "component_types_ = {DT_FLOAT,DT_INT32};";
  return {Block("b", "Barrier", {}, types + "shapes_ = {[],[]};"), Const("keys", Texts(n, [](int i) { return Cat("k", i); })),
          Block("insert0", "BarrierInsertMany", {{"handle", "b.handle"}, {"keys", "keys.output"},
                                                 {"values", Vector(CountTo(n))}}, "component_index_ = 0;"),
          Block("insert1", "BarrierInsertMany", {{"handle", "b.handle"}, {"keys", "keys.output"}, {"values", IntsTo(n)}}, "component_index_ = 1;"),
          Block("take", "BarrierTakeMany", {{"handle", "b.handle"}, {"num_elements", Int(n)}}, types),
          Block("ready", "BarrierReadySize", {{"handle", "b.handle"}}), Block("part", "BarrierIncompleteSize", {{"handle", "b.handle"}}),
          Fetching("s", "[\"take.keys\", \"ready.size\", \"part.size\"]", Operations("insert", 2))};
}

/// n queues, n barriers, and one of each that is full.
inline Blocks Closed(int n) {
  const std::string cancels = "cancel_pending_enqueues_ = true;", pair = "component_types_ = {DT_FLOAT,DT_INT32};shapes_ = {[],[]};";
  Blocks blocks = {Block("full", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};shapes_ = [];"), Block("half", "Barrier", {}, pair)};
  blocks.push_back(Block("put0", "QueueEnqueueMany", {{"handle", "full.handle"}, {"components", Cat("[", Vector(CountTo(20 * n)), "]")}}));
  blocks.push_back(Block("put1", "BarrierInsertMany", {{"handle", "half.handle"}, {"keys", Texts(20 * n, [](int i) { return Cat("k", i); })},
                                                       {"values", Vector(CountTo(20 * n))}}, "component_index_ = 0;"));
  blocks.push_back(Block("end0", "QueueClose", {{"handle", "full.handle"}}, cancels));
  blocks.push_back(Block("end1", "BarrierClose", {{"handle", "half.handle"}}, cancels));
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("q", i), "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"));
    blocks.push_back(Block(Cat("b", i), "Barrier", {}, pair));
    blocks.push_back(Block(Cat("close_q", i), "QueueClose", {{"handle", Cat("q", i, ".handle")}}));
    blocks.push_back(Block(Cat("close_b", i), "BarrierClose", {{"handle", Cat("b", i, ".handle")}}));
  }
  blocks.push_back(Fetching("fill", "[]", Operations("put", 2)));
  blocks.push_back(Fetching("end", "[]", Operations("end", 2)));
  blocks.push_back(Fetching("close_queues", "[]", Operations("close_q", n)));
  blocks.push_back(Fetching("close_barriers", "[]", Operations("close_b", n)));
  return blocks;
}

// ---- maps and areas that stage values ---------------------------------------------------------------------------------------------------

/// n values by key, each staged in two parts; all are looked at, half are taken by their keys.
inline Blocks StagedMap(std::string_view kind, int n) {
  const std::string attrs = "shared_name_ = m;dtypes_ = {DT_INT64,DT_FLOAT};", both = Ints({0, 1});
  Blocks blocks = {Block("size", Cat(kind, "Size"), {}, attrs), Block("part", Cat(kind, "IncompleteSize"), {}, attrs)};
  for (int i = 0; i < n; ++i) {
    const std::string key = LongInt(n - i);
    blocks.push_back(Block(Cat("number", i), Cat(kind, "Stage"), {{"key", key}, {"indices", Ints({0})}, {"values", Cat("[", key, "]")}}, attrs));
    blocks.push_back(Block(Cat("value", i), Cat(kind, "Stage"), {{"key", key}, {"indices", Ints({1})}, {"values", Cat("[", Scalar(i), "]")}}, attrs));
    blocks.push_back(Block(Cat("peek", i), Cat(kind, "Peek"), {{"key", key}, {"indices", both}}, attrs));
    if (i % 2 == 0) blocks.push_back(Block(Cat("take", i / 2), Cat(kind, "Unstage"), {{"key", key}, {"indices", both}}, attrs));
    else blocks.push_back(Block(Cat("any", i / 2), Cat(kind, "UnstageNoKey"), {{"indices", both}}, attrs));
  }
  blocks.push_back(Fetching("fill_numbers", "[\"part.size\"]", Operations("number", n)));
  blocks.push_back(Fetching("fill_values", "[\"size.size\"]", Operations("value", n)));
  blocks.push_back(Fetching("look", Outputs("peek", "values[0]", n)));
  blocks.push_back(Fetching("take", Outputs("take", "values[1]", (n + 1) / 2)));
  blocks.push_back(Fetching("take_any", Outputs("any", "values[1]", n / 2)));
  return blocks;
}

inline Blocks StagingArea(int n) {
  const std::string name = "shared_name_ = st;", types = name + "dtypes_ = {DT_FLOAT};";
  Blocks blocks;
  AddEach(blocks, n, "in", "Stage", {{"values", Cat("[", Scalar(1), "]")}}, name);
  AddEach(blocks, n, "out", "Unstage", {}, types);
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("peek", i), "StagePeek", {{"index", Int(i)}}, types));
  blocks.push_back(Fetching("fill", "[]", Operations("in", n)));
  blocks.push_back(Fetching("look", Outputs("peek", "values[0]", n)));
  blocks.push_back(Fetching("empty", Outputs("out", "values[0]", n)));
  return blocks;
}

// ---- accumulators, tensors that are kept -------------------------------------------------------------------------------------------------

/// n gradients of one row each for a sparse accumulator, which is asked and told as often; tensors are kept and let go. (Of few rows: each gradient
/// is joined with all rows that are there.)
inline Blocks SparseAccumulators(int n) {
  const std::string step = LongInt(1000000), shape = LongInts({16, 2});
  Blocks blocks = {Block("a", "SparseConditionalAccumulator", {}, "dtype_ = DT_FLOAT;shape_ = [16][2];"),
                   Block("take", "SparseAccumulatorTakeGradient", {{"handle", "a.handle"}, {"num_required", Int(n)}}, "dtype_ = DT_FLOAT;")};
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("add", i), "SparseAccumulatorApplyGradient",
                           {{"handle", "a.handle"}, {"local_step", step}, {"gradient_indices", LongInts({static_cast<double>(i % 16)})},
                            {"gradient_values", Literal("DT_FLOAT", {1, 2}, {1, 2})}, {"gradient_shape", shape}}, "has_known_shape_ = true;"));
    blocks.push_back(Block(Cat("keep", i), "GetSessionHandle", {{"value", Scalar(i)}}));
    blocks.push_back(Block(Cat("drop", i), "DeleteSessionTensor", {{"handle", Cat("keep", i, ".handle")}}));
  }
  AddEach(blocks, n, "asked", "AccumulatorNumAccumulated", {{"handle", "a.handle"}});
  AddEach(blocks, n, "told", "AccumulatorSetGlobalStep", {{"handle", "a.handle"}, {"new_global_step", step}});
  blocks.push_back(Fetching("tell", "[]", Operations("told", n)));
  blocks.push_back(Fetching("gather", Cat("[\"take.values\", ", Outputs("asked", "num_accumulated", n).substr(1)), Operations("add", n)));
  blocks.push_back(Fetching("let_go", "[]", Operations("drop", n)));
  return blocks;
}

/// Gradients of n rows.
inline Blocks LongGradients(int n) {
  const std::string step = LongInt(1000000), values = Literal("DT_FLOAT", {n, 1}, CountTo(n)), floats = "dtype_ = DT_FLOAT;";
  std::vector<double> odd = CountTo(n);
  for (double& row : odd) row = 2 * row + 1;
  const auto sparse = [&](std::string_view id, const std::string& rows) {
    return Block(id, "SparseAccumulatorApplyGradient", {{"handle", "sparse.handle"}, {"local_step", step}, {"gradient_indices", rows},
                                                        {"gradient_values", values},
                                                        {"gradient_shape", LongInts({2.0 * n, 1})}}, "has_known_shape_ = true;");
  };
  Blocks blocks = {Block("sparse", "SparseConditionalAccumulator", {}, Cat(floats, "shape_ = [", 2 * n, "][1];")),
                   sparse("add0", LongInts(CountTo(n))),
                   sparse("add1", LongInts(odd)),
                   Block("take", "SparseAccumulatorTakeGradient", {{"handle", "sparse.handle"}, {"num_required", Int(2)}}, floats),
                   Block("dense", "ConditionalAccumulator", {}, Cat(floats, "shape_ = [", n, "][1];")),
                   Block("mean", "AccumulatorTakeGradient", {{"handle", "dense.handle"}, {"num_required", Int(2)}}, floats)};
  AddEach(blocks, 2, "whole", "AccumulatorApplyGradient", {{"handle", "dense.handle"}, {"local_step", step}, {"gradient", values}});
  blocks.push_back(Fetching("rows", "[\"take.values\"]", Operations("add", 2)));
  blocks.push_back(Fetching("all", "[\"mean.average\"]", Operations("whole", 2)));
  return blocks;
}

// ---- arrays of tensors ------------------------------------------------------------------------------------------------------------------

inline Blocks LongArray(int n) {
  const std::string floats = "dtype_ = DT_FLOAT;", handle = "a.handle";
  return {Const("v", Literal("DT_FLOAT", {n, 1}, CountTo(n))), Const("all", IntsTo(n)),
          Const("one", LongInts(std::vector<double>(static_cast<size_t>(n), 1))),
          Block("a", "TensorArray", {{"size", Int(n)}}, floats + "clear_after_read_ = false;"),
          Block("put", "TensorArrayScatter", {{"handle", handle}, {"indices", "all.output"}, {"value", "v.output"}, {"flow_in", "a.flow"}}),
          Block("size", "TensorArraySize", {{"handle", handle}, {"flow_in", "put.flow_out"}}),
          Block("take", "TensorArrayGather", {{"handle", handle}, {"indices", "all.output"}, {"flow_in", "put.flow_out"}}, floats),
          Block("g", "TensorArrayGrad", {{"handle", handle}, {"flow_in", "put.flow_out"}}, "source_ = g;"),
          Block("split", "TensorArraySplit", {{"handle", "g.grad_handle"}, {"value", Vector(CountTo(n))}, {"lengths", "one.output"},
                                              {"flow_in", "g.flow_out"}}),
          Block("join", "TensorArrayConcat", {{"handle", "g.grad_handle"}, {"flow_in", "split.flow_out"}}, floats),
          Fetching("s", "[\"size.size\", \"take.value\", \"join.value\"]")};
}

/// n elements written and read by a block each; n arrays that are closed.
inline Blocks ArrayElements(int n) {
  const std::string floats = "dtype_ = DT_FLOAT;";
  Blocks blocks = {Block("a", "TensorArray", {{"size", Int(n)}}, floats)};
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("put", i), "TensorArrayWrite", {{"handle", "a.handle"}, {"index", Int(i)}, {"value", Scalar(i)},
                                                               {"flow_in", "a.flow"}}));
    blocks.push_back(Block(Cat("take", i), "TensorArrayRead", {{"handle", "a.handle"}, {"index", Int(i)},
                                                               {"flow_in", Cat("put", i, ".flow_out")}}, floats));
    blocks.push_back(Block(Cat("c", i), "TensorArray", {{"size", Int(1)}}, floats));
    blocks.push_back(Block(Cat("close", i), "TensorArrayClose", {{"handle", Cat("c", i, ".handle")}}));
  }
  blocks.push_back(Fetching("s", Outputs("take", "value", n), Operations("close", n)));
  return blocks;
}

// ---- control flow, and what else is given a long value ------------------------------------------------------------------------------------

inline Blocks LongValues(int n) {
  const std::string value = Vector(CountTo(n)), yes = Bool(true);
  return {Variable("v", value), Block("switch", "Switch", {{"data", "v.ref"}, {"pred", yes}}),
          Block("ref_switch", "RefSwitch", {{"data", "v.ref"}, {"pred", yes}}),
          Block("y", "Square", {{"x", "switch.output_true"}}), Block("z", "Square", {{"x", "ref_switch.output_true"}}),
          Block("t", "TemporaryVariable", {}, Cat("shape_ = [", n, "];dtype_ = DT_FLOAT;var_name_ = t;")),
          Block("assign", "Assign", {{"ref", "t.ref"}, {"value", "y.y"}}),
          Block("destroy", "DestroyTemporaryVariable", {{"ref", "assign.output_ref"}}, "var_name_ = t;"),
          Block("summary", "TensorSummary", {{"tensor", "z.y"}}),
          Block("e", "Enter", {{"data", "v.ref"}}, "frame_name_ = f;"), Block("m", "Merge", {{"inputs", "[\"e.output\", \"n.output\"]"}}),
          Block("axis", "Enter", {{"data", Ints({0})}}, "frame_name_ = f;is_constant_ = true;"),
          Block("most", "Max", {{"input", "m.output"}, {"axis", "axis.output"}}),
          Block("limit", "Enter", {{"data", Scalar(3.0 * n)}}, "frame_name_ = f;is_constant_ = true;"),
          Block("l", "Less", {{"x", "most.output"}, {"y", "limit.output"}}),
          Block("w", "LoopCond", {{"input", "l.z"}}), Block("s", "Switch", {{"data", "m.output"}, {"pred", "w.output"}}),
          Block("twice", "AddV2", {{"x", "s.output_true"}, {"y", "s.output_true"}}), Block("n", "NextIteration", {{"data", "twice.z"}}),
          Block("x", "Exit", {{"data", "s.output_false"}}), Fetching("run", "[\"destroy.value\", \"summary.summary\", \"x.output\"]")};
}

/// n sparse rows go into a map and come out; rows of n elements are joined.
inline Blocks LongRows(int n) {
  constexpr int kRows = 8;
  std::vector<double> places(2 * static_cast<size_t>(n), 0);
  for (int i = 0; i < n; ++i) places[2 * static_cast<size_t>(i)] = i;
  return {Block("keep", "AddManySparseToTensorsMap", {{"sparse_indices", Literal("DT_INT64", {n, 2}, places)}, {"sparse_values", Vector(CountTo(n))},
                                                      {"sparse_shape", LongInts({static_cast<double>(n), 1})}}, "shared_name_ = m;"),
          Block("take", "TakeManySparseFromTensorsMap", {{"sparse_handles", "keep.sparse_handles"}}, "dtype_ = DT_FLOAT;shared_name_ = m;"),
          Const("row", Literal("DT_FLOAT", {1, n}, CountTo(n))),
          Block("rows", "ParallelConcat", {{"values", Wires(kRows, [](int) { return "row.output"; })}}, Cat("shape_ = [", kRows, "][", n, "];")),
          Fetching("s", "[\"take.sparse_values\", \"rows.output\"]")};
}

// ---- gradients that blocks of their own compute -------------------------------------------------------------------------------------------

inline Blocks SparseGradients(int n) {
  std::vector<double> places(2 * static_cast<size_t>(n), 0);
  for (int i = 0; i < n; ++i) places[2 * static_cast<size_t>(i)] = i, places[2 * static_cast<size_t>(i) + 1] = i % 2;
  const std::string from_last = Literal("DT_INT64", {n, 2}, {places.rbegin(), places.rend()});
  const auto sizes = [](double rows, double columns) { return LongInts({rows, columns}); };
  const std::vector<std::pair<std::string, std::string>> sparse = {{"sp_indices", "at.output"}, {"sp_values", "v.ref"}, {"sp_shape", sizes(n, 2)}};
  auto with_dense = sparse;
  with_dense.emplace_back("dense", "d.ref");
  return {Const("at", Literal("DT_INT64", {n, 2}, places)), Variable("v", Vector(std::vector<double>(static_cast<size_t>(n), 0.5))),
          Variable("d", Literal("DT_FLOAT", {1, 2}, {2, 3})), Variable("b", Literal("DT_FLOAT", {2, 4}, CountTo(8))),
          Block("product", "SparseDenseCwiseMul", with_dense), Block("softmax", "SparseSoftmax", sparse),
          Block("sums", "SparseReduceSum", {{"input_indices", "at.output"}, {"input_values", "v.ref"}, {"input_shape", sizes(n, 2)},
                                            {"reduction_axes", Ints({1})}}),
          Block("sorted", "SparseReorder", {{"input_indices", from_last}, {"input_values", "v.ref"}, {"input_shape", sizes(2, n)}}),
          Block("matrix", "SparseTensorDenseMatMul", {{"a_indices", "at.output"}, {"a_values", "v.ref"}, {"a_shape", sizes(n, 2)}, {"b", "b.ref"}}),
          Block("slice", "SparseSlice", {{"indices", "at.output"}, {"values", "v.ref"}, {"shape", sizes(n, 2)}, {"start", sizes(0, 0)},
                                         {"size", sizes(n / 2, 2)}}),
          Block("dense", "SparseToDense", {{"sparse_indices", "at.output"}, {"output_shape", sizes(n, 2)}, {"sparse_values", "v.ref"},
                                           {"default_value", Scalar(0)}}),
          Block("g", "AddSymbolicGradients", {{"outputs", "[\"product.output\", \"softmax.output\", \"sums.output\", \"sorted.output_values\", \"matrix.product\", "
                                                          "\"slice.output_values\", \"dense.dense\"]"},
                                                                {"inputs", "[\"v.ref\", \"d.ref\", \"b.ref\"]"}}),
          Fetching("s", "[\"g.grad_outputs[0]\", \"g.grad_outputs[1]\", \"g.grad_outputs[2]\"]")};
}

/// Gradients of a gradient of batch normalisation, and of what is transposed.
inline Blocks DenseGradients(int n) {
  constexpr int kChannels = 4;
  const std::string ones = Vector(std::vector<double>(kChannels, 1)), none = Literal("DT_FLOAT", {0}, {});
  return {Variable("x", Literal("DT_FLOAT", {n, 1, 1, kChannels}, CountTo(kChannels * n))),
          Variable("m", Literal("DT_FLOAT", {n, kChannels}, CountTo(kChannels * n))),
          Block("norm", "FusedBatchNorm", {{"x", "x.ref"}, {"scale", ones}, {"offset", ones}, {"mean", none}, {"variance", none}}),
          Block("square", "Square", {{"x", "norm.y"}}), Block("transposed", "Transpose", {{"x", "m.ref"}, {"perm", Ints({1, 0})}}),
          Block("g", "AddSymbolicGradients", {{"outputs", "[\"square.y\", \"transposed.y\"]"}, {"inputs", "[\"x.ref\", \"m.ref\"]"}}),
          Block("gg", "AddSymbolicGradients", {{"outputs", "[\"g.grad_outputs[0]\"]"}, {"inputs", "[\"x.ref\"]"}}),
          Fetching("s", "[\"gg.grad_outputs[0]\", \"g.grad_outputs[1]\"]")};
}

/// A loop of n iterations with an if, and its gradient, which needs what either way left.
inline Blocks IfInLoop(int n) {
  const std::string frame = "frame_name_ = f;", constant = frame + "is_constant_ = true;";
  return {Variable("v", Scalar(0.5)), Block("e", "Enter", {{"data", Int(0)}}, frame), Block("e_x", "Enter", {{"data", "v.ref"}}, frame),
          Block("limit", "Enter", {{"data", Int(n)}}, constant), Block("half", "Enter", {{"data", Int(n / 2)}}, constant),
          Block("m", "Merge", {{"inputs", "[\"e.output\", \"n.output\"]"}}), Block("m_x", "Merge", {{"inputs", "[\"e_x.output\", \"n_x.output\"]"}}),
          Block("less", "Less", {{"x", "m.output"}, {"y", "limit.output"}}), Block("more", "LoopCond", {{"input", "less.z"}}),
          Block("s", "Switch", {{"data", "m.output"}, {"pred", "more.output"}}),
          Block("s_x", "Switch", {{"data", "m_x.output"}, {"pred", "more.output"}}),
          Block("early", "Less", {{"x", "s.output_true"}, {"y", "half.output"}}),
          Block("if", "Switch", {{"data", "s_x.output_true"}, {"pred", "early.z"}}),
          Block("yes", "Tanh", {{"x", "if.output_true"}}), Block("no", "Sigmoid", {{"x", "if.output_false"}}),
          Block("x", "Merge", {{"inputs", "[\"yes.y\", \"no.y\"]"}}), Block("n_x", "NextIteration", {{"data", "x.output"}}),
          Block("next", "AddV2", {{"x", "s.output_true"}, {"y", Int(1)}}), Block("n", "NextIteration", {{"data", "next.z"}}),
          Block("end", "Exit", {{"data", "s_x.output_false"}}),
          Block("g", "AddSymbolicGradients", {{"outputs", "[\"end.output\"]"}, {"inputs", "[\"v.ref\"]"}}),
          Fetching("run", "[\"end.output\", \"g.grad_outputs[0]\"]")};
}

}  // namespace weft::test::growth
