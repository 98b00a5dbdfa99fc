// The kernel cases of `weft bench`: what is timed, over which sizes, and how much each must move and compute.
#include <algorithm>

#include "tools/cli/bench_cases.h"
#include "tools/cli/bench_records.h"
#include "weft/base/divide.h"
#include "weft/base/text.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;
using Dims = std::vector<int64_t>;

double Count(const Dims& shape) {
  double count = 1;
  for (int64_t size : shape) count *= static_cast<double>(size);
  return count;
}

double Bytes(const KernelInput& input) {
  if (input.dtype != DType::kString) return Count(input.shape) * static_cast<double>(ElementSize(input.dtype));
  double bytes = 0;
  for (const std::string& text : input.texts) bytes += static_cast<double>(text.size());
  return bytes;
}

KernelInput Random(const char* port, DType dtype, Dims shape) { return {port, dtype, std::move(shape), true, {}, {}}; }
KernelInput Positive(const char* port, DType dtype, Dims shape) { return {port, dtype, std::move(shape), false, {}, {}}; }
KernelInput Integers(const char* port, std::vector<int64_t> values) {
  return {port, DType::kInt32, {static_cast<int64_t>(values.size())}, false, std::move(values), {}};
}

void AddReadPass(double bytes, Work& work) {
  work.read_bytes += bytes;
  work.read_pass_bytes += bytes;
  ++work.passes;
}

// ---- Biases and batch normalisation ----

struct Pictures {
  int64_t n, h, w, c;
  Dims shape(bool channels_last) const { return channels_last ? Dims{n, h, w, c} : Dims{n, c, h, w}; }
};

constexpr Pictures kNormSizes[] = {{64, 14, 14, 256}, {32, 56, 56, 64}, {16, 112, 112, 64}, {8, 7, 7, 2048}};

std::vector<KernelCase> NormCases(const Pictures& size, bool last, DType dtype) {
  Dims shape = size.shape(last), channels = {size.c};
  const char* layout = last ? "NHWC" : "NCHW";
  std::string tag = Cat(size.n, "x", size.h, "x", size.w, "x", size.c, ".", layout);
  if (dtype == DType::kHalf) tag += ".half";
  if (dtype == DType::kBFloat16) tag += ".bfloat16";
  double bytes = Count(shape) * static_cast<double>(ElementSize(dtype));
  double bias_bytes = static_cast<double>(size.c) * static_cast<double>(ElementSize(dtype));
  constexpr DType kF = DType::kFloat;  // of means and variances, for images of any type

  std::vector<KernelCase> cases;
  cases.push_back(MakeCase("BiasAddGrad." + tag, "BiasAddGrad", {{"data_format", layout}}, {Random("out_backprop", dtype, shape)},
                           {"output"}, bias_bytes));
  cases.push_back(MakeCase("BiasAdd." + tag, "BiasAdd", {{"data_format", layout}},
                           {Random("value", dtype, shape), Random("bias", dtype, channels)}, {"output"}, bytes));
  for (bool training : {true, false}) {
    std::string mode = training ? "train." : "infer.";
    Json attrs = {{"data_format", layout}, {"is_training", training}};
    Dims moments = training ? Dims{0} : channels;  // computed in training, inputs else
    KernelCase norm = MakeCase("FusedBatchNorm." + mode + tag, "FusedBatchNormV3", attrs,
                               {Random("x", dtype, shape), Random("scale", kF, channels), Random("offset", kF, channels),
                                Random("mean", kF, moments), Positive("variance", kF, moments)},
                               {"y"}, bytes);
    KernelCase grad = MakeCase(
        "FusedBatchNormGrad." + mode + tag, "FusedBatchNormGradV3", attrs,
        {Random("y_backprop", dtype, shape), Random("x", dtype, shape), Random("scale", kF, channels),
         Random("reserve_space_1", kF, channels), Positive("reserve_space_2", kF, channels), Random("reserve_space_3", kF, channels)},
        {"x_backprop", "scale_backprop", "offset_backprop"}, bytes);
    // In training the sums over all elements are needed before the first output element: images are read twice.
    if (training) AddReadPass(bytes, norm.work), AddReadPass(2 * bytes, grad.work);
    cases.push_back(std::move(norm));
    cases.push_back(std::move(grad));
  }
  for (KernelCase& kernel : cases) kernel.quick = dtype == kF && size.h == 7;
  return cases;
}

// ---- Element-wise blocks, reductions, moves, softmax: on squares ----

constexpr int64_t kSides[] = {1, 16, 64, 256, 1024, 2048, 4096};  // 1 to 16M elements

struct UnaryBlock {
  const char* block;
  const char* port;
  const char* output;
};

void AddSquares(int64_t side, std::vector<KernelCase>& cases) {
  Dims shape = {side, side};
  std::string tag = Cat(".", side, "x", side);
  double bytes = Count(shape) * 4;
  constexpr DType kF = DType::kFloat;
  size_t first = cases.size();
  for (const char* block : {"Add", "Multiply", "Maximum"}) {
    cases.push_back(MakeCase(block + tag, block, Json::object(), {Random("x", kF, shape), Random("y", kF, shape)}, {"z"}, bytes));
  }
  cases.push_back(MakeCase("Add.row" + tag, "Add", Json::object(), {Random("x", kF, shape), Random("y", kF, {side})}, {"z"}, bytes));
  for (UnaryBlock unary : {UnaryBlock{"Exp", "x", "y"}, {"Tanh", "x", "y"}, {"Sigmoid", "x", "y"}, {"Square", "x", "y"}, {"Relu", "features", "activations"},
                           {"Softmax", "logits", "softmax"}}) {
    cases.push_back(MakeCase(unary.block + tag, unary.block, Json::object(), {Random(unary.port, kF, shape)}, {unary.output}, bytes));
  }
  cases.push_back(MakeCase("ReluGrad" + tag, "ReluGrad", Json::object(), {Random("gradients", kF, shape), Random("features", kF, shape)},
                           {"backprops"}, bytes));
  for (const char* block : {"Sum", "Max", "Mean"}) {
    for (int64_t axis : {0, 1}) {
      cases.push_back(MakeCase(Cat(block, ".", axis, tag), block, Json::object(), {Random("input", kF, shape), Integers("axis", {axis})},
                               {"output"}, 4 * static_cast<double>(side)));
    }
  }
  cases.push_back(MakeCase("Sum.all" + tag, "Sum", Json::object(), {Random("input", kF, shape), Integers("axis", {0, 1})}, {"output"}, 4));
  cases.push_back(
      MakeCase("Transpose" + tag, "Transpose", Json::object(), {Random("x", kF, shape), Integers("perm", {1, 0})}, {"y"}, bytes));
  for (size_t i = first; i < cases.size(); ++i) cases[i].quick = side == 64 && cases[i].block != "Mean";
}

/// Functions that choose between results, or that have no instruction of their own.
void AddFunctions(int64_t side, std::vector<KernelCase>& cases) {
  struct Function {
    const char* block;
    std::vector<const char*> ports;
    const char* output;
  };
  const Dims shape = {side, side};
  for (const Function& function : {Function{"Floor", {"x"}, "y"}, {"Sign", {"x"}, "y"}, {"Log", {"x"}, "y"}, {"Erf", {"x"}, "y"}, {"FloorDiv", {"x", "y"}, "z"},
                                   {"FloorMod", {"x", "y"}, "z"}, {"DivNoNan", {"x", "y"}, "z"}, {"Atan2", {"y", "x"}, "z"}, {"EluGrad", {"gradients", "outputs"}, "backprops"},
                                   {"SoftplusGrad", {"gradients", "features"}, "backprops"}}) {
    std::vector<KernelInput> inputs;
    for (const char* port : function.ports) inputs.push_back(Random(port, DType::kFloat, shape));
    cases.push_back(MakeCase(Cat(function.block, ".", side, "x", side), function.block, Json::object(), std::move(inputs),
                             {function.output}, Count(shape) * 4));
  }
}

void AddPictureTransposes(std::vector<KernelCase>& cases) {
  for (const Pictures& size : kNormSizes) {
    for (bool to_last : {false, true}) {
      Dims shape = size.shape(!to_last);
      std::string name = Cat("Transpose.", to_last ? "NCHW_NHWC." : "NHWC_NCHW.", size.n, "x", size.h, "x", size.w, "x", size.c);
      std::vector<int64_t> perm = to_last ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 3, 1, 2};
      cases.push_back(MakeCase(name, "Transpose", Json::object(), {Random("x", DType::kFloat, shape), Integers("perm", perm)}, {"y"},
                               Count(shape) * 4));
    }
  }
}

/// Narrow and short rows: reductions, broadcasting, moves and cross entropies.
void AddNarrowRows(std::vector<KernelCase>& cases) {
  constexpr DType kF = DType::kFloat;
  const auto add = [&](const char* name, const char* block, Json attrs, std::vector<KernelInput> inputs, std::vector<std::string> outputs,
                       Dims output) {
    cases.push_back(MakeCase(name, block, std::move(attrs), std::move(inputs), std::move(outputs), 4 * Count(output)));
  };
  const Json none = Json::object();
  for (const char* block : {"Sum", "Max"}) {
    add(Cat(block, ".0.131072x8").c_str(), block, none, {Random("input", kF, {131072, 8}), Integers("axis", {0})}, {"output"}, {8});
    add(Cat(block, ".1.131072x8").c_str(), block, none, {Random("input", kF, {131072, 8}), Integers("axis", {1})}, {"output"}, {131072});
    add(Cat(block, ".1.256x512x64").c_str(), block, none, {Random("input", kF, {256, 512, 64}), Integers("axis", {1})}, {"output"}, {256, 64});
  }
  for (Dims shape : {Dims{131072, 8}, {2048, 2048}, {1 << 22, 1}}) {
    for (int64_t axis : {0, 1}) {
      if (shape[axis] == 1) continue;
      add(Cat("ArgMax.", axis, ".", shape[0], "x", shape[1]).c_str(), "ArgMax", none, {Random("input", kF, shape), KernelInput{"dimension", DType::kInt32, {}, false, {axis}, {}}},
          {"output"}, {2 * shape[1 - axis]});  // positions of eight bytes
    }
  }
  add("Add.rows.65536x8", "Add", none, {Random("x", kF, {65536, 8}), Random("y", kF, {8})}, {"z"}, {65536, 8});
  add("Add.outer.65536x8", "Add", none, {Random("x", kF, {65536, 1}), Random("y", kF, {8})}, {"z"}, {65536, 8});
  add("Add.columns.65536x8", "Add", none, {Random("x", kF, {65536, 8}), Random("y", kF, {65536, 1})}, {"z"}, {65536, 8});
  add("Transpose.1048576x3", "Transpose", none, {Random("x", kF, {1048576, 3}), Integers("perm", {1, 0})}, {"y"}, {3, 1048576});
  add("Transpose.0213.64x128x16x8", "Transpose", none, {Random("x", kF, {64, 128, 16, 8}), Integers("perm", {0, 2, 1, 3})}, {"y"}, {64, 16, 128, 8});
  add("ReverseV2.1024x1024", "ReverseV2", none, {Random("tensor", kF, {1024, 1024}), Integers("axis", {1})}, {"output"}, {1024, 1024});
  for (Dims shape : {Dims{1024, 10}, {65536, 10}, {4096, 64}}) {
    add(Cat("CrossEntropy.", shape[0], "x", shape[1]).c_str(), "SoftmaxCrossEntropyWithLogits", none,
        {Random("features", kF, shape), Random("labels", kF, shape)}, {"loss", "backprop"}, shape);
  }
}

// ---- Products, convolutions, pooling ----

void AddProducts(std::vector<KernelCase>& cases) {
  auto add = [&](std::string name, int64_t m, int64_t k, int64_t n, const char* transposed = "") {
    const bool ta = std::string_view(transposed) == "transpose_a", tb = std::string_view(transposed) == "transpose_b";
    Json attrs = ta || tb ? Json{{transposed, true}} : Json::object();
    KernelCase kernel = MakeCase(std::move(name), "MatMul", attrs,
                                 {Random("a", DType::kFloat, ta ? Dims{k, m} : Dims{m, k}), Random("b", DType::kFloat, tb ? Dims{n, k} : Dims{k, n})},
                                 {"product"}, 4.0 * Count({m, n}));
    kernel.work.flops = 2 * Count({m, k, n});
    kernel.quick = m == 64;
    cases.push_back(std::move(kernel));
  };
  for (int64_t side : {1, 16, 64, 256, 512, 1024, 2048}) add(Cat("MatMul.", side), side, side, side);
  for (Dims dims : {Dims{1, 1024, 1024}, {1024, 1024, 1}, {32, 3136, 512}, {100, 784, 10}, {4096, 64, 64}}) {
    add(Cat("MatMul.", dims[0], "x", dims[1], "x", dims[2]), dims[0], dims[1], dims[2]);
  }
  add("MatMul.32x512x3136.tb", 32, 512, 3136, "transpose_b");
  add("MatMul.784x100x10.ta", 784, 100, 10, "transpose_a");
  Dims many = {4096, 4, 4};
  cases.push_back(MakeCase("BatchMatMul.4096x4x4x4", "BatchMatMulV2", Json::object(),
                           {Random("x", DType::kFloat, many), Random("y", DType::kFloat, many)}, {"output"}, 4 * Count(many)));
  cases.back().work.flops = 2 * 4 * Count(many);
}

struct Convolution {
  Pictures input;
  int64_t taps, channels, stride;
  bool first = false;  // channels come first
};

constexpr Convolution kConvolutions[] = {{{1, 4, 4, 1}, 3, 1, 1},     {{8, 14, 14, 16}, 3, 16, 1},  {{32, 28, 28, 1}, 5, 32, 1}, {{32, 28, 28, 32}, 5, 64, 1},
                                         {{16, 28, 28, 32}, 3, 32, 1}, {{8, 56, 56, 64}, 3, 64, 1}, {{8, 28, 28, 128}, 1, 256, 1}, {{8, 56, 56, 64}, 3, 128, 2},
                                         {{8, 112, 112, 16}, 3, 32, 1}, {{8, 28, 28, 64}, 3, 64, 1, true}};

void AddConvolutions(std::vector<KernelCase>& cases) {
  constexpr DType kF = DType::kFloat;
  for (const Convolution& conv : kConvolutions) {
    const Pictures& in = conv.input;
    Dims input = in.shape(!conv.first), filter = {conv.taps, conv.taps, in.c, conv.channels};
    Dims output = Pictures{in.n, DivideUp(in.h, conv.stride), DivideUp(in.w, conv.stride), conv.channels}.shape(!conv.first);
    std::string tag = Cat(conv.first ? ".NCHW." : ".", in.n, "x", in.h, "x", in.w, "x", in.c, ".", conv.taps, "x", conv.taps, "x", conv.channels);
    if (conv.stride > 1) tag += Cat(".stride", conv.stride);
    Json attrs = {{"strides", {1, conv.stride, conv.stride, 1}}, {"padding", "SAME"}};
    if (conv.first) attrs["data_format"] = "NCHW";
    size_t first = cases.size();
    cases.push_back(MakeCase("Conv2D" + tag, "Conv2D", attrs, {Random("input", kF, input), Random("filter", kF, filter)}, {"output"},
                             4 * Count(output)));
    cases.push_back(MakeCase("Conv2DBackpropInput" + tag, "Conv2DBackpropInput", attrs,
                             {Integers("input_sizes", input), Random("filter", kF, filter), Random("out_backprop", kF, output)}, {"output"},
                             4 * Count(input)));
    cases.push_back(MakeCase("Conv2DBackpropFilter" + tag, "Conv2DBackpropFilter", attrs,
                             {Random("input", kF, input), Integers("filter_sizes", filter), Random("out_backprop", kF, output)}, {"output"},
                             4 * Count(filter)));
    for (size_t i = first; i < cases.size(); ++i) {
      cases[i].work.flops = 2 * Count(output) * static_cast<double>(conv.taps * conv.taps * in.c);
      cases[i].quick = in.h == 14;
    }
  }
}

void AddDepthwise(std::vector<KernelCase>& cases) {
  Dims shape = {8, 56, 56, 64}, taps = {3, 3, 64, 1};
  Json attrs = {{"strides", {1, 1, 1, 1}}, {"padding", "SAME"}};
  const KernelInput filter = Random("filter", DType::kFloat, taps), gradient = Random("out_backprop", DType::kFloat, shape);
  size_t first = cases.size();
  cases.push_back(MakeCase("DepthwiseConv2d.8x56x56x64.3x3", "DepthwiseConv2dNative", attrs,
                           {Random("input", DType::kFloat, shape), filter}, {"output"}, 4 * Count(shape)));
  cases.push_back(MakeCase("DepthwiseConv2dBackpropInput.8x56x56x64.3x3", "DepthwiseConv2dNativeBackpropInput", attrs,
                           {Integers("input_sizes", shape), filter, gradient}, {"output"}, 4 * Count(shape)));
  cases.push_back(MakeCase("DepthwiseConv2dBackpropFilter.8x56x56x64.3x3", "DepthwiseConv2dNativeBackpropFilter", attrs,
                           {Random("input", DType::kFloat, shape), Integers("filter_sizes", taps), gradient}, {"output"}, 4 * Count(taps)));
  for (size_t i = first; i < cases.size(); ++i) cases[i].work.flops = 2 * 9 * Count(shape);
}

void AddPooling(std::vector<KernelCase>& cases) {
  constexpr DType kF = DType::kFloat;
  for (Pictures size : {Pictures{1, 4, 4, 1}, {8, 14, 14, 16}, {32, 14, 14, 64}, {32, 28, 28, 32}, {8, 112, 112, 64}, {16, 128, 128, 64}}) {
    Dims input = size.shape(true), output = {size.n, size.h / 2, size.w / 2, size.c};
    std::string tag = Cat(".", size.n, "x", size.h, "x", size.w, "x", size.c, ".2x2");
    Json attrs = {{"ksize", {1, 2, 2, 1}}, {"strides", {1, 2, 2, 1}}, {"padding", "SAME"}};
    size_t first = cases.size();
    cases.push_back(MakeCase("MaxPool" + tag, "MaxPool", attrs, {Random("input", kF, input)}, {"output"}, 4 * Count(output)));
    cases.push_back(MakeCase("AvgPool" + tag, "AvgPool", attrs, {Random("value", kF, input)}, {"output"}, 4 * Count(output)));
    cases.push_back(MakeCase("MaxPoolGrad" + tag, "MaxPoolGrad", attrs,
                             {Random("orig_input", kF, input), Random("orig_output", kF, output), Random("grad", kF, output)}, {"output"},
                             4 * Count(input)));
    cases.push_back(MakeCase("AvgPoolGrad" + tag, "AvgPoolGrad", attrs, {Integers("orig_input_shape", input), Random("grad", kF, output)},
                             {"output"}, 4 * Count(input)));
    for (size_t i = first; i < cases.size(); ++i) cases[i].quick = size.c == 16;
  }
}

/// Smooth pictures, as photographs are. What is read of the files is small beside what is written.
void AddPictureFiles(std::vector<KernelCase>& cases) {
  const Dims shape = {768, 1024, 3};
  for (const char* format : {"Jpeg", "Png"}) {
    KernelCase kernel =
        MakeCase(Cat("Decode", format, ".1024x768"), Cat("Decode", format).c_str(), Json::object(), {}, {"image"}, Count(shape));
    kernel.inputs.push_back({"contents", DType::kUInt8, shape, false, {}, Cat("Encode", format)});
    cases.push_back(std::move(kernel));
  }
}

/// Elements that go into a queue and out of it in one run.
void AddQueues(std::vector<KernelCase>& cases) {
  constexpr int64_t kElements = 1'000'000;
  const Json shape = {{"dtype", "DT_INT32"}, {"shape", {1}}, {"values", {kElements}}}, count = {{"dtype", "DT_INT32"}, {"shape", Json::array()}, {"values", {kElements}}};
  for (const char* kind : {"FIFOQueue", "RandomShuffleQueue"}) {
    KernelCase kernel = MakeCase(Cat(kind, ".", kElements), "QueueDequeueMany", {{"component_types", {"DT_FLOAT"}}}, {}, {"components[0]"},
                                 4.0 * kElements);
    kernel.work.read_bytes = 4.0 * kElements;
    Json blocks = Json::array();
    blocks.push_back({{"id", "start"}, {"block", "RandomNormal"}, {"attrs", {{"dtype", "DT_FLOAT"}, {"seed", 1}}}, {"inputs", {{"shape", shape}}}});
    blocks.push_back({{"id", "rows"}, {"block", "Variable"}, {"attrs", {{"shape", {kElements}}, {"dtype", "DT_FLOAT"}}}, {"inputs", {{"initvalues", "start.output"}}}});
    blocks.push_back({{"id", "queue"}, {"block", kind}, {"attrs", "component_types_ = {DT_FLOAT};shapes_ = [];"}, {"inputs", Json::object()}});
    blocks.push_back({{"id", "put"}, {"block", "QueueEnqueueMany"}, {"attrs", Json::object()}, {"inputs", {{"handle", "queue.handle"}, {"components", Json::array({"rows.ref"})}}}});
    kernel.beside = {{"blocks", blocks}, {"inputs", {{"handle", "queue.handle"}, {"n", count}}}, {"run", {"put.operation"}}};
    cases.push_back(std::move(kernel));
  }
}

void AddRecords(std::vector<KernelCase>& cases) {
  constexpr int64_t kBytes = 100'000'000;
  KernelCase records = MakeCase("TFRecordReader.100MB", "TFRecordReader", Json::object(), {}, {"reader_handle"}, kBytes);
  records.work.read_bytes = records.work.working_set = kBytes;
  records.record_bytes = kBytes;
  cases.push_back(std::move(records));
}

/// As many classes as a step of training draws.
void AddSampling(std::vector<KernelCase>& cases) {
  constexpr int64_t kBatch = 1'024, kDrawn = 8'192, kClasses = 1'000'000;
  KernelInput right{"true_classes", DType::kInt64, {kBatch, 1}};
  right.below = kClasses;
  const Json attrs = {{"num_true", 1}, {"num_sampled", kDrawn}, {"unique", true}, {"range_max", kClasses}, {"seed", 1}, {"seed2", 2}};
  for (const char* block : {"LogUniformCandidateSampler", "UniformCandidateSampler"}) {
    cases.push_back(MakeCase(Cat(block, ".", kDrawn), block, attrs, {right},
                             {"sampled_candidates", "true_expected_count", "sampled_expected_count"}, 12.0 * kDrawn + 4.0 * kBatch));
  }
}

/// A sparse matrix of a million places out of order, some of them twice.
void AddSparse(std::vector<KernelCase>& cases) {
  constexpr int64_t kPlaces = 1'000'000, kSide = 3'000;
  KernelInput places{"input_indices", DType::kInt64, {kPlaces, 2}};
  places.below = kSide;
  const KernelInput values = Random("input_values", DType::kFloat, {kPlaces}), shape{"input_shape", DType::kInt64, {2}, true, {kSide, kSide}};
  cases.push_back(MakeCase("SparseReorder.1000000", "SparseReorder", Json::object(), {places, values, shape},
                           {"output_indices", "output_values"}, 20.0 * kPlaces));
  for (int64_t axis : {0, 1}) {
    cases.push_back(MakeCase(Cat("SparseReduceSum.", axis, ".1000000"), "SparseReduceSum", Json::object(),
                             {places, values, shape, Integers("reduction_axes", {axis})}, {"output"}, 4.0 * kSide));
  }
}

}  // namespace

KernelCase MakeCase(std::string name, const char* block, nlohmann::ordered_json attrs, std::vector<KernelInput> inputs,
                    std::vector<std::string> outputs, double output_bytes) {
  Work work;
  for (const KernelInput& input : inputs) work.read_bytes += Bytes(input);
  work.written_bytes = output_bytes;
  work.working_set = work.bytes();
  return {std::move(name), block, std::move(attrs), std::move(inputs), std::move(outputs), work, false};
}

std::vector<KernelCase> KernelCases() {
  std::vector<KernelCase> cases;
  for (DType dtype : {DType::kFloat, DType::kHalf, DType::kBFloat16}) {
    for (const Pictures& size : kNormSizes) {
      for (bool last : {true, false}) {
        for (KernelCase& kernel : NormCases(size, last, dtype)) cases.push_back(std::move(kernel));
      }
    }
  }
  for (const Pictures& size : {Pictures{256, 28, 28, 8}, {64, 7, 7, 512}, {128, 28, 28, 48}}) {
    for (bool last : {true, false}) {
      for (KernelCase& kernel : NormCases(size, last, DType::kFloat)) cases.push_back(std::move(kernel));
    }
  }
  for (int64_t side : kSides) AddSquares(side, cases);
  for (int64_t side : {256, 2048}) AddFunctions(side, cases);
  AddPictureTransposes(cases);
  AddNarrowRows(cases);
  AddProducts(cases);
  AddConvolutions(cases);
  AddDepthwise(cases);
  AddPooling(cases);
  AddPictureFiles(cases);
  AddTexts(cases);
  AddQueues(cases);
  AddRecords(cases);
  AddSparse(cases);
  AddSampling(cases);
  return cases;
}

bool IsGiven(const KernelInput& input) { return !input.values.empty() || input.list || input.dtype == DType::kString; }

Json GivenValues(const KernelInput& input) { return input.dtype == DType::kString ? Json(input.texts) : Json(input.values); }

Json Describe(const KernelCase& kernel) {
  Json inputs = Json::array();
  for (const KernelInput& input : kernel.inputs) {
    Json values;
    if (!input.encoder.empty()) values = input.encoder;
    else if (IsGiven(input)) values = GivenValues(input);
    else values = input.below > 0 ? Cat("integers below ", input.below) : input.normal ? "normal" : "uniform";
    inputs.push_back({{"port", input.port}, {"dtype", DTypeName(input.dtype)}, {"shape", input.shape}, {"values", values}});
    if (input.list) inputs.back()["list"] = true;
  }
  Json described = {{"case", kernel.name},       {"block", kernel.block},        {"attrs", kernel.attrs},       {"inputs", inputs},
                    {"outputs", kernel.outputs}, {"bytes", kernel.work.bytes()}, {"flops", kernel.work.flops}, {"passes", kernel.work.passes}};
  if (!kernel.beside.is_null()) described["beside"] = kernel.beside;
  if (kernel.record_bytes > 0) {
    described["record_bytes"] = kernel.record_bytes;
    described["record_length"] = RecordFile::kRecordBytes;
  }
  return described;
}

}  // namespace weft::cli
