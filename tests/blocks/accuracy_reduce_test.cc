// Long sums in float, half and bfloat16 are at least as accurate as TensorFlow's.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// The errors of TensorFlow 2.21.0 on the CPU (plain kernels) for the terms that Terms gives, against a sum in double, as parts of the
/// sum of magnitudes: the worst output of each reduction.
struct ReduceErrors {
  DType dtype;
  int64_t count;
  bool alternating;
  double sum_all, sum_rows, sum_columns, mean, l2_loss;
};
constexpr ReduceErrors kReduceErrors[] = {
    {DType::kFloat, 3000, false, 4.549e-08, 4.549e-08, 1.851e-07, 5.920e-08, 1.480e-08},
    {DType::kFloat, 3000, true, 8.028e-08, 9.046e-08, 7.223e-09, 8.028e-08, 1.480e-08},
    {DType::kFloat, 65536, false, 2.980e-08, 2.980e-08, 1.456e-05, 2.980e-08, 1.050e-08},
    {DType::kFloat, 65536, true, 5.591e-09, 7.449e-09, 1.681e-09, 5.591e-09, 1.050e-08},
    {DType::kFloat, 1000000, false, 1.748e-08, 2.842e-08, 9.106e-05, 2.067e-08, 1.502e-08},
    {DType::kFloat, 1000000, true, 3.323e-09, 3.323e-09, 2.127e-09, 3.323e-09, 1.502e-08},
    {DType::kHalf, 3000, false, 3.296e-05, 3.151e-04, 3.947e-02, 2.112e-04, 3.311e-05},
    {DType::kHalf, 3000, true, 3.397e-05, 7.546e-05, 8.693e-05, 3.397e-05, 3.311e-05},
    {DType::kHalf, 65536, false, 7.215e-05, 3.167e-04, 9.219e-01, 1.000e+00, 1.019e-04},
    {DType::kHalf, 65536, true, 1.432e-05, 1.799e-05, 5.073e-05, 4.785e-06, 1.019e-04},
    {DType::kHalf, 1000000, false, 3.204e-04, 3.204e-04, 9.949e-01, 1.000e+00, 4.008e-04},
    {DType::kHalf, 1000000, true, 2.106e-05, 3.021e-05, 8.470e-06, 6.604e-06, 4.008e-04},
    {DType::kBFloat16, 3000, false, 1.197e-05, 3.377e-04, 4.139e-04, 9.885e-04, 9.580e-05},
    {DType::kBFloat16, 3000, true, 7.788e-08, 1.297e-06, 2.391e-06, 9.934e-08, 9.580e-05},
    {DType::kBFloat16, 65536, false, 1.111e-03, 1.111e-03, 1.040e-03, 1.111e-03, 1.856e-03},
    {DType::kBFloat16, 65536, true, 1.794e-09, 1.085e-07, 1.882e-07, 1.794e-09, 1.856e-03},
    {DType::kBFloat16, 1000000, false, 1.600e-03, 1.600e-03, 1.598e-03, 9.762e-04, 1.605e-03},
    {DType::kBFloat16, 1000000, true, 1.331e-08, 1.331e-08, 2.358e-08, 1.615e-08, 1.605e-03},
};

/// Term i is a part of 0.1 that looks random, negative for odd i where `alternating`.
template <class T>
std::vector<T> Terms(int64_t count, bool alternating) {
  std::vector<T> terms(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t mixed = (static_cast<uint64_t>(i) * 2654435761u + 40503u) & 0xFFFFFFu;
    const double x = static_cast<double>(mixed) / 16777216.0 * 0.1;
    terms[i] = static_cast<T>(static_cast<float>(alternating && i % 2 == 1 ? -x : x));
  }
  return terms;
}

struct Case {
  const char* block;
  Shape shape;
  std::vector<int32_t> axes;
  int64_t first_stride, step;  // the terms of output o: elements o * first_stride + i * step
  int64_t outputs;
};

/// The worst error of a block's outputs as a part of the sum of magnitudes (of the squares, for L2Loss).
template <class T>
double WorstError(const Case& c, const std::vector<T>& terms, int64_t count) {
  const bool squares = std::string(c.block) == "L2Loss", mean = std::string(c.block) == "Mean";
  BlockTester tester(Catalog(), c.block);
  tester.Input(squares ? "t" : "input", Tensor::View(kDTypeOf<T>, c.shape, const_cast<T*>(terms.data()), nullptr));
  const Shape axes_shape{static_cast<int64_t>(c.axes.size())};
  if (!squares) tester.Input("axis", Tensor::View(DType::kInt32, axes_shape, const_cast<int32_t*>(c.axes.data()), nullptr));
  const BlockResult result = tester.Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  const auto got = result.outputs.at("output").template values<T>();
  REQUIRE(got.size() == static_cast<size_t>(c.outputs));
  double worst = 0;
  for (int64_t o = 0; o < c.outputs; ++o) {
    double sum = 0, magnitudes = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double x = static_cast<double>(terms[o * c.first_stride + i * c.step]);
      sum += squares ? 0.5 * x * x : x;
      magnitudes += squares ? 0.5 * x * x : std::fabs(x);
    }
    const double scale = mean ? static_cast<double>(count) : 1.0;
    worst = std::max(worst, std::fabs(static_cast<double>(got[o]) * scale - sum) / magnitudes);
  }
  return worst;
}

template <class T>
void Compare(const ReduceErrors& tensorflow) {
  const int64_t n = tensorflow.count;
  const std::vector<T> terms = Terms<T>(3 * n, tensorflow.alternating);
  const double kNoise = 1e-12;  // of the sums in double, and of the figures, which have four digits
  const auto limit = [&](double measured) { return measured * 1.0005 + kNoise; };
  INFO(ToString(tensorflow.dtype) << ", " << n << " terms" << (tensorflow.alternating ? ", alternating" : ""));
  CHECK(WorstError<T>({"Sum", Shape{n}, {0}, 0, 1, 1}, terms, n) <= limit(tensorflow.sum_all));
  CHECK(WorstError<T>({"Sum", Shape{3, n}, {1}, n, 1, 3}, terms, n) <= limit(tensorflow.sum_rows));
  CHECK(WorstError<T>({"Sum", Shape{n, 3}, {0}, 1, 3, 3}, terms, n) <= limit(tensorflow.sum_columns));
  CHECK(WorstError<T>({"Mean", Shape{n}, {0}, 0, 1, 1}, terms, n) <= limit(tensorflow.mean));
  CHECK(WorstError<T>({"L2Loss", Shape{n}, {}, 0, 1, 1}, terms, n) <= limit(tensorflow.l2_loss));
}

TEST_CASE("Long sums are as accurate as TensorFlow's", "[accuracy]") {
  for (const ReduceErrors& tensorflow : kReduceErrors) {
    Dispatch(tensorflow.dtype, TypeList<float, half, bfloat16>{}, [&]<class T>() { Compare<T>(tensorflow); });
  }
}

TEST_CASE("A mean of halves does not overflow on the way", "[accuracy]") {
  const std::vector<half> terms(200, half(400.0f));
  CHECK(WorstError<half>({"Mean", Shape{200}, {0}, 0, 1, 1}, terms, 200) == 0.0);
}

TEST_CASE("A mean of int64 does not wrap on the way", "[accuracy]") {
  const int64_t great = int64_t{1} << 62;
  const Tensor three = Tensor::Of<int64_t>({great, great, great});
  const BlockResult result = BlockTester(Catalog(), "Mean").Input("input", three).Input("axis", Tensor::Scalar<int32_t>(0)).Run();
  REQUIRE(result.status.ok());
  CHECK(result.outputs.at("output").values<int64_t>()[0] == great);
}

}  // namespace
}  // namespace weft::kit
