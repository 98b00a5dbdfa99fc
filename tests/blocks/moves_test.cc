// Blocks that move elements against their definitions, on shapes large enough to be cut into tasks and tiles; cases hold the small ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

using Index = std::vector<int64_t>;

template <class T>
Tensor Counting(const Index& dims) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, Shape(dims)).value();
  auto values = tensor.values<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, String>) values[i] = std::to_string(i);
    else values[i] = static_cast<T>(static_cast<int>(i * 7919 % 251));
  }
  return tensor;
}

Tensor ValuesAt(const Index& values, Index dims) {
  Tensor tensor = Tensor::Allocate(DType::kInt64, Shape(dims)).value();
  std::copy(values.begin(), values.end(), tensor.values<int64_t>().begin());
  return tensor;
}
Tensor Vector(const Index& values) { return ValuesAt(values, {static_cast<int64_t>(values.size())}); }

int64_t PlaceOf(const Index& at, const Shape& shape) {
  int64_t place = 0;
  for (size_t i = 0; i < at.size(); ++i) place = place * shape[static_cast<int>(i)] + at[i];
  return place;
}

/// Whether each element of y is the element of x that `source` names, or zero where it names none.
template <class T>
bool Agrees(const Tensor& x, const Tensor& y, const std::function<bool(Index&)>& source) {
  Index at(static_cast<size_t>(y.shape().rank()));
  for (int64_t place = 0; place < y.count(); ++place) {
    Index from = at;
    const bool found = source(from);
    const T expected = found ? x.values<T>()[PlaceOf(from, x.shape())] : T{};
    if (!(y.values<T>()[place] == expected)) return false;
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < y.shape()[static_cast<int>(i)]) break;
      at[i] = 0;
    }
  }
  return true;
}

Tensor Output(const BlockResult& result, const char* port) {
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  return result.outputs.at(port);
}

template <class T>
void CheckSlices() {
  const Tensor x = Counting<T>({60, 50, 40});
  BlockTester slice(Catalog(), "Slice");
  Tensor y = Output(slice.Input("input", x).Input("begin", Vector({3, 5, 7})).Input("size", Vector({50, 40, 30})).Run(), "output");
  CHECK(Agrees<T>(x, y, [](Index& at) { return at[0] += 3, at[1] += 5, at[2] += 7, true; }));
  y = Output(BlockTester(Catalog(), "StridedSlice").Input("input", x).Input("begin", Vector({-1, 2, 39})).Input("end", Vector({-60, 50, 0}))
                 .Input("strides", Vector({-1, 3, -1})).Run(), "output");
  REQUIRE(y.shape() == Shape{59, 16, 39});
  CHECK(Agrees<T>(x, y, [](Index& at) { return at[0] = 59 - at[0], at[1] = 2 + 3 * at[1], at[2] = 39 - at[2], true; }));
  y = Output(BlockTester(Catalog(), "Reverse").Input("tensor", x).Input("axis", Vector({1, 2})).Run(), "output");
  CHECK(Agrees<T>(x, y, [](Index& at) { return at[1] = 49 - at[1], at[2] = 39 - at[2], true; }));
}

template <class T>
void CheckFrames() {
  const Tensor x = Counting<T>({30, 40, 5, 6});
  const Tensor paddings = ValuesAt({1, 2, 20, 3, 0, 0, 0, 0}, {4, 2});
  Tensor y = Output(BlockTester(Catalog(), "Pad").Input("input", x).Input("paddings", paddings).Run(), "output");
  CHECK(Agrees<T>(x, y, [](Index& at) { return at[0] -= 1, at[1] -= 20, at[0] >= 0 && at[0] < 30 && at[1] >= 0 && at[1] < 40; }));
  const auto mirrored = [](int64_t i, int64_t size) { return i < 0 ? -i : i < size ? i : 2 * size - 2 - i; };
  y = Output(BlockTester(Catalog(), "MirrorPad").Attrs("mode_ = REFLECT;").Input("input", x).Input("paddings", paddings).Run(), "output");
  CHECK(Agrees<T>(x, y, [&](Index& at) { return at[0] = mirrored(at[0] - 1, 30), at[1] = mirrored(at[1] - 20, 40), true; }));
  y = Output(BlockTester(Catalog(), "Tile").Input("input", x).Input("multiples", Vector({2, 1, 3, 2})).Run(), "output");
  CHECK(Agrees<T>(x, y, [](Index& at) { return at[0] %= 30, at[2] %= 5, at[3] %= 6, true; }));
}

template <class T>
void CheckWideFrame() {
  const Tensor x = Counting<T>({3, 70000});
  const Tensor paddings = ValuesAt({0, 1, 66000, 5}, {2, 2});
  const Tensor y = Output(BlockTester(Catalog(), "Pad").Input("input", x).Input("paddings", paddings).Run(), "output");
  CHECK(Agrees<T>(x, y, [](Index& at) { return at[1] -= 66000, at[0] < 3 && at[1] >= 0 && at[1] < 70000; }));
}

// Joined and cut again along the middle axis: pieces of `sizes`.
template <class T>
void CheckJoin(int64_t outer, const Index& sizes, int64_t inner) {
  BlockTester concat(Catalog(), "Concat");
  std::vector<Tensor> parts;
  Index first = {0};
  for (int64_t size : sizes) {
    parts.push_back(Counting<T>({outer, size, inner}));
    first.push_back(first.back() + size);
  }
  const Tensor joined = Output(concat.Inputs("values", parts).Input("axis", ValuesAt({1}, {})).Run(), "output");
  REQUIRE(joined.shape() == Shape{outer, first.back(), inner});
  const BlockResult cut = BlockTester(Catalog(), "SplitV").Attrs(Cat("num_split_ = ", sizes.size(), ";")).Input("value", joined)
                              .Input("size_splits", Vector(sizes)).Input("axis", Tensor::Scalar<int32_t>(1)).Run();
  for (size_t k = 0; k < sizes.size(); ++k) {
    INFO("piece " << k << " of " << sizes.size());
    CHECK(SameBits(Output(cut, Cat("output[", k, "]").c_str()), parts[k]));
    if (sizes[k] > 0) CHECK(Agrees<T>(joined, parts[k], [&](Index& at) { return at[1] += first[k], true; }));
  }
}

template <class T>
void CheckStack() {
  std::vector<Tensor> parts = {Counting<T>({300, 200}), Counting<T>({300, 200}), Counting<T>({300, 200})};
  const Tensor stacked = Output(BlockTester(Catalog(), "Stack").Attrs("axis_ = -1;").Inputs("values", parts).Run(), "output");
  CHECK(Agrees<T>(parts[0], stacked, [](Index& at) { return at.pop_back(), true; }));
  const BlockResult apart = BlockTester(Catalog(), "Unstack").Attrs("num_ = 200;axis_ = 1;").Input("value", stacked).Run();
  CHECK(Agrees<T>(stacked, Output(apart, "output[117]"), [](Index& at) { return at.insert(at.begin() + 1, 117), true; }));
}

template <class T>
void CheckSpace() {
  const Tensor x = Counting<T>({2, 90, 119, 3});
  const Tensor crops = ValuesAt({3, 1, 0, 1}, {2, 2});
  const Tensor blocks = Vector({2, 4});
  BlockTester to_batch(Catalog(), "SpaceToBatchND"), to_space(Catalog(), "BatchToSpaceND");
  const Tensor y = Output(to_batch.Input("input", x).Input("block_shape", blocks).Input("paddings", crops).Run(), "output");
  REQUIRE(y.shape() == Shape{16, 47, 30, 3});
  CHECK(Agrees<T>(x, y, [](Index& at) {
    const int64_t offset = at[0] / 2;
    at[0] %= 2;
    at[1] = at[1] * 2 + offset / 4 - 3;
    at[2] = at[2] * 4 + offset % 4;
    return at[1] >= 0 && at[1] < 90 && at[2] < 119;
  }));
  const Tensor back = Output(to_space.Input("input", y).Input("block_shape", blocks).Input("crops", crops).Run(), "output");
  CHECK(SameBits(back, x));
}

TEST_CASE("Slices and reversals of large tensors", "[moves]") {
  CheckSlices<float>();
  CheckSlices<uint8_t>();
  CheckSlices<complex128>();
  CheckSlices<String>();
}

TEST_CASE("Frames round large tensors, and tiles", "[moves]") {
  CheckFrames<float>();
  CheckFrames<int16_t>();
  CheckFrames<String>();
  CheckWideFrame<double>();
  CheckWideFrame<uint8_t>();
}

TEST_CASE("Tensors joined and cut, wide rows and many rows", "[moves]") {
  CheckJoin<float>(3, {1000, 1, 0, 2000}, 40);
  CheckJoin<uint8_t>(20000, {1, 3, 2}, 1);
  CheckJoin<double>(3000, {5, 1, 0, 16}, 7);
  CheckJoin<String>(50, {100, 30}, 2);
  CheckJoin<float>(1, {200000, 70000}, 1);
  CheckStack<float>();
  CheckStack<uint8_t>();
}

TEST_CASE("Positions of what is not zero, in tensors of many tasks", "[moves]") {
  for (const Index& dims : {Index{100'003}, {70'000, 1}, {300, 7, 50}, {3, 40'000}, {33, 3, 1, 999}}) {
    const Tensor x = Counting<uint8_t>(dims);
    Index want;
    for (int64_t i = 0; i < x.count(); ++i) {
      if (x.values<uint8_t>()[static_cast<size_t>(i)] == 0) continue;
      Index at(dims.size());
      int64_t rest = i;
      for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) at[d] = rest % dims[d];
      want.insert(want.end(), at.begin(), at.end());
    }
    const BlockResult result = BlockTester(Catalog(), "Where").Input("condition", x).Run();
    REQUIRE(result.status.ok());
    const auto found = result.outputs.at("index").values<int64_t>();
    CAPTURE(x.shape());
    CHECK(Index(found.begin(), found.end()) == want);
  }
}

TEST_CASE("Blocks of space of large pictures", "[moves]") {
  CheckSpace<float>();
  CheckSpace<uint8_t>();
}

}  // namespace
}  // namespace weft::kit
