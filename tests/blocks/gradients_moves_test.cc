// Gradients of blocks that cut, join, frame and turn tensors.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;
using Inputs = std::vector<std::pair<std::string, std::vector<Fill>>>;

Fill One(int32_t value) { return Value(Tensor::Scalar(value)); }
/// [n, 2]: in front of and behind each axis.
Fill Pairs(std::vector<int32_t> numbers) {
  Fill fill = Ints(numbers);
  return Value(fill.fixed.Reshaped(Shape{static_cast<int64_t>(numbers.size()) / 2, 2}));
}
std::vector<std::string> Outputs(int count) {
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) names.push_back(Cat("output[", k, "]"));
  return names;
}

void Add(std::vector<GradientRow>& rows, const char* block, const char* attrs, Inputs inputs, std::vector<std::string> ys = {}) {
  rows.push_back({block, attrs, std::move(inputs), Types::kBoth, 2, std::move(ys)});
}

void AddShapes(std::vector<GradientRow>& rows) {
  for (const int axis : {0, 1, -1, -3}) Add(rows, "ExpandDims", "", {{"input", {Any({2, 3})}}, {"axis", {One(axis)}}});
  Add(rows, "ExpandDims", "", {{"input", {Any({})}}, {"axis", {One(0)}}});
  Add(rows, "Squeeze", "", {{"input", {Any({1, 2, 1, 3})}}});
  Add(rows, "Squeeze", "axis_ = {2,0};", {{"input", {Any({1, 2, 1, 3})}}});
  Add(rows, "Squeeze", "", {{"input", {Any({1, 0})}}});
  Add(rows, "PlaceholderWithDefault", "shape_ = [2][?];", {{"input", {Any({2, 3})}}});
}

void AddSlices(std::vector<GradientRow>& rows) {
  struct Config {
    Shape whole;
    std::vector<int32_t> begin, size;
    Shape part;
  };
  const Config configs[] = {{{5}, {1}, {3}, {3}}, {{3, 4}, {1, 0}, {-1, 2}, {2, 2}}, {{2, 3, 4}, {0, 1, 0}, {2, 1, 4}, {2, 1, 4}},
                            {{}, {}, {}, {}},     {{3, 2}, {3, 0}, {0, 2}, {0, 2}}};
  for (const Config& c : configs) {
    const Fill begin = Ints(c.begin), size = Ints(c.size);
    Add(rows, "Slice", "", {{"input", {Any(c.whole)}}, {"begin", {begin}}, {"size", {size}}});
    Add(rows, "SliceGrad", "", {{"grad", {Any(c.part)}}, {"begin", {begin}}, {"size", {size}}, {"like", {Any(c.whole)}}});
  }
}

void AddStridedSlices(std::vector<GradientRow>& rows) {
  struct Config {
    const char* masks;
    std::vector<int32_t> whole, begin, end, strides;
    Shape part;
  };
  const Config configs[] = {{"", {6}, {1}, {5}, {2}, {2}},
                            {"", {4, 3}, {-1, 0}, {-5, 3}, {-2, 1}, {2, 3}},
                            {"begin_mask_ = 1;end_mask_ = 2;", {3, 4}, {2, 1}, {2, 1}, {1, 2}, {2, 2}},
                            {"shrink_axis_mask_ = 2;", {3, 4}, {0, -1}, {2, 0}, {1, 1}, {2}},
                            {"ellipsis_mask_ = 1;new_axis_mask_ = 2;", {2, 3, 2}, {0, 0, 1}, {0, 0, 2}, {1, 1, 1}, {2, 3, 1, 1}},
                            {"", {3, 2}, {2}, {0}, {1}, {0, 2}},
                            {"", {}, {}, {}, {}, {}}};
  for (const Config& c : configs) {
    const Inputs numbers = {{"begin", {Ints(c.begin)}}, {"end", {Ints(c.end)}}, {"strides", {Ints(c.strides)}}};
    const auto with = [&](const char* port, Fill fill) {
      Inputs inputs = numbers;
      inputs.insert(inputs.begin(), {port, {std::move(fill)}});
      return inputs;
    };
    const Shape whole(std::vector<int64_t>(c.whole.begin(), c.whole.end()));
    Add(rows, "StridedSlice", c.masks, with("input", Any(whole)));
    for (const bool like : {false, true}) {
      Inputs inputs = like ? with("like", Any(whole)) : with("shape", Ints(c.whole));
      inputs.push_back({"dy", {Any(c.part)}});
      Add(rows, like ? "StridedSliceGradLike" : "StridedSliceGrad", c.masks, std::move(inputs));
    }
  }
}

void AddJoins(std::vector<GradientRow>& rows) {
  Add(rows, "Concat", "", {{"values", {Any({2}), Any({3})}}, {"axis", {One(0)}}});
  Add(rows, "Concat", "", {{"values", {Any({2, 1}), Any({2, 3}), Any({2, 2})}}, {"axis", {One(-1)}}});
  Add(rows, "Concat", "", {{"values", {Any({2, 0, 2}), Any({2, 3, 2})}}, {"axis", {One(1)}}});
  Add(rows, "ConcatGrad", "", {{"grad", {Any({5})}}, {"axis", {One(0)}}, {"likes", {Any({2}), Any({3})}}}, Outputs(2));
  Add(rows, "ConcatGrad", "", {{"grad", {Any({2, 5})}}, {"axis", {One(-1)}}, {"likes", {Any({2, 1}), Any({2, 4})}}}, {"output[1]"});
  for (const char* axis : {"axis_ = 0;", "axis_ = 1;", "axis_ = -1;"}) {
    Add(rows, "Stack", axis, {{"values", {Any({2, 3}), Any({2, 3})}}});
  }
  Add(rows, "Stack", "", {{"values", {Any({})}}});
  Add(rows, "Unstack", "num_ = 2;", {{"value", {Any({2, 3})}}}, Outputs(2));
  Add(rows, "Unstack", "num_ = 3;axis_ = -1;", {{"value", {Any({2, 3})}}}, {"output[1]"});
  Add(rows, "Split", "num_split_ = 2;", {{"axis", {One(1)}}, {"value", {Any({2, 4})}}}, Outputs(2));
  Add(rows, "Split", "num_split_ = 3;", {{"axis", {One(-1)}}, {"value", {Any({2, 3})}}}, {"output[2]"});
  Add(rows, "Split", "num_split_ = 1;", {{"axis", {One(0)}}, {"value", {Any({2})}}}, Outputs(1));
  Add(rows, "SplitV", "num_split_ = 3;", {{"value", {Any({2, 4})}}, {"size_splits", {Ints({1, 0, -1})}}, {"axis", {One(1)}}}, Outputs(3));
  Add(rows, "SplitV", "num_split_ = 2;", {{"value", {Any({3})}}, {"size_splits", {Ints({1, 2})}}, {"axis", {One(0)}}}, {"output[0]"});
}

void AddFrames(std::vector<GradientRow>& rows) {
  struct Config {
    Shape inner;
    std::vector<int32_t> paddings;
    Shape framed;
  };
  const Config configs[] = {{{3}, {2, 1}, {6}}, {{2, 3}, {1, 0, 0, 2}, {3, 5}}, {{2, 3, 2}, {0, 1, 2, 1, 0, 0}, {3, 6, 2}}, {{}, {}, {}}};
  for (const Config& c : configs) {
    const Fill paddings = c.paddings.empty() ? Value(Ints({}).fixed.Reshaped(Shape{0, 2})) : Pairs(c.paddings);
    Add(rows, "Pad", "", {{"input", {Any(c.inner)}}, {"paddings", {paddings}}});
    Add(rows, "PadGrad", "", {{"grad", {Any(c.framed)}}, {"paddings", {paddings}}});
    GradientRow row{"PadV2", "", {{"input", {Any(c.inner)}}, {"paddings", {paddings}}, {"constant_values", {Any({})}}}, Types::kBoth};
    row.fixed = {"constant_values"};
    rows.push_back(std::move(row));
    Add(rows, "MirrorPad", "mode_ = SYMMETRIC;", {{"input", {Any(c.inner)}}, {"paddings", {paddings}}});
    Add(rows, "MirrorPadGrad", "mode_ = SYMMETRIC;", {{"input", {Any(c.framed)}}, {"paddings", {paddings}}});
  }
  Add(rows, "MirrorPad", "mode_ = REFLECT;", {{"input", {Any({3, 4})}}, {"paddings", {Pairs({2, 1, 3, 3})}}});
  Add(rows, "MirrorPadGrad", "mode_ = REFLECT;", {{"input", {Any({6, 10})}}, {"paddings", {Pairs({2, 1, 3, 3})}}});
  Add(rows, "MirrorPadGrad", "mode_ = REFLECT;", {{"input", {Any({4, 2})}}, {"paddings", {Pairs({1, 0, 0, 0})}}});
}

void AddTurns(std::vector<GradientRow>& rows) {
  Add(rows, "Tile", "", {{"input", {Any({2, 3})}}, {"multiples", {Ints({2, 1})}}});
  Add(rows, "Tile", "", {{"input", {Any({3})}}, {"multiples", {Ints({3})}}});
  Add(rows, "Tile", "", {{"input", {Any({2, 1})}}, {"multiples", {Ints({1, 0})}}});
  Add(rows, "TileGrad", "", {{"grad", {Any({4, 3})}}, {"multiples", {Ints({2, 1})}}, {"like", {Any({2, 3})}}});
  Add(rows, "TileGrad", "", {{"grad", {Any({2, 6, 2})}}, {"multiples", {Ints({1, 3, 2})}}, {"like", {Any({2, 2, 1})}}});
  Add(rows, "Reverse", "", {{"tensor", {Any({2, 3})}}, {"axis", {Ints({1})}}});
  Add(rows, "Reverse", "", {{"tensor", {Any({2, 3, 2})}}, {"axis", {Ints({-1, 0})}}});
  Add(rows, "ReverseSequence", "seq_dim_ = 1;", {{"input", {Any({2, 3})}}, {"seq_lengths", {Ints({2, 3})}}});
  Add(rows, "ReverseSequence", "seq_dim_ = 0;batch_dim_ = 2;", {{"input", {Any({3, 2, 2})}}, {"seq_lengths", {Ints({0, 3})}}});
}

void AddBlocksOfSpace(std::vector<GradientRow>& rows) {
  Add(rows, "SpaceToBatch", "block_size_ = 2;", {{"input", {Any({1, 2, 3, 2})}}, {"paddings", {Pairs({0, 0, 1, 0})}}});
  Add(rows, "BatchToSpace", "block_size_ = 2;", {{"input", {Any({4, 1, 2, 2})}}, {"crops", {Pairs({0, 0, 1, 0})}}});
  Add(rows, "SpaceToBatchND", "", {{"input", {Any({2, 3, 4})}}, {"block_shape", {Ints({3, 2})}}, {"paddings", {Pairs({0, 0, 1, 1})}}});
  Add(rows, "BatchToSpaceND", "", {{"input", {Any({6, 2, 2})}}, {"block_shape", {Ints({3})}}, {"crops", {Pairs({1, 2})}}});
  for (const char* layout : {"block_size_ = 2;", "block_size_ = 2;data_format_ = NCHW;"}) {
    Add(rows, "SpaceToDepth", layout, {{"input", {Any({2, 2, 4, 2})}}});
    Add(rows, "DepthToSpace", layout, {{"input", {Any({2, 4, 1, 4})}}});
  }
  const std::pair<const char*, Shape> windows[] = {
      {"ksizes_ = {1,2,2,1};strides_ = {1,1,1,1};rates_ = {1,1,1,1};padding_ = VALID;", {1, 2, 2, 8}},
      {"ksizes_ = {1,2,3,1};strides_ = {1,2,1,1};rates_ = {1,1,2,1};padding_ = SAME;", {1, 2, 3, 12}}};
  for (const auto& [settings, patches] : windows) {
    Add(rows, "ExtractImagePatches", settings, {{"images", {Any({1, 3, 3, 2})}}});
    Add(rows, "ExtractImagePatchesGrad", settings, {{"grad", {Any(patches)}}, {"like", {Any({1, 3, 3, 2})}}});
  }
}

}  // namespace

std::vector<GradientRow> MoveGradients() {
  std::vector<GradientRow> rows;
  AddShapes(rows);
  AddSlices(rows);
  AddStridedSlices(rows);
  AddJoins(rows);
  AddFrames(rows);
  AddTurns(rows);
  AddBlocksOfSpace(rows);
  return rows;
}

TEST_CASE("Gradients of blocks that cut, join and frame tensors agree with finite differences", "[gradients]") {
  CheckRows(MoveGradients());
}

}  // namespace weft::kit
