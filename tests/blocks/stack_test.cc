// Kernels run on the threads of hosts, whose stacks may be small.
#include <catch2/catch.hpp>
#include <pthread.h>

#include <cmath>

#include "tests/kit/block_tester.h"
#include "tests/kit/sanitized.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// Calls body on a thread with a stack of 256 KiB; more where the compiler adds to each frame.
template <class Body>
void OnSmallStack(Body body) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, (kSanitized ? 1024 : 256) * 1024) == 0);
  pthread_t thread;
  const auto run = [](void* object) -> void* {
    (*static_cast<Body*>(object))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &body) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

Tensor Waves(DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::Allocate(dtype, shape).value();
  Dispatch(dtype, kFloats + kComplexes + TypeList<int32_t>{}, [&]<class T>() {
    int64_t i = 0;
    for (T& value : tensor.values<T>()) value = static_cast<T>(static_cast<float>(i++ % 7) - 3.0f);
  });
  return tensor;
}

struct Call {
  std::string block, attrs;
  std::vector<std::pair<std::string, Tensor>> inputs;
};

void CheckRuns(const Call& call) {
  Status status;
  OnSmallStack([&] {
    BlockTester tester(Catalog(), call.block);
    tester.Attrs(call.attrs);
    for (const auto& [port, value] : call.inputs) tester.Input(port, value);
    status = tester.Run().status;
  });
  INFO(call.block << " " << call.attrs << ": " << ToString(status));
  CHECK(status.ok());
}

TEST_CASE("Matrix products need little stack", "[stack]") {
  for (DType dtype : {DType::kFloat, DType::kDouble, DType::kHalf, DType::kBFloat16, DType::kInt32, DType::kComplex64, DType::kComplex128}) {
    const auto of = [&](int64_t rows, int64_t columns) { return Waves(dtype, Shape{rows, columns}); };
    CheckRuns({"MatMul", "", {{"a", of(450, 700)}, {"b", of(700, 600)}}});
    CheckRuns({"MatMul", "transpose_b_ = true;", {{"a", of(300, 900)}, {"b", of(600, 900)}}});
    CheckRuns({"MatMul", "transpose_a_ = true;", {{"a", of(700, 10)}, {"b", of(700, 300)}}});
    CheckRuns({"MatMul", "", {{"a", of(600, 1500)}, {"b", of(1500, 10)}}});
    CheckRuns({"MatMul", "", {{"a", of(2, 1500)}, {"b", of(1500, 700)}}});
  }
}

TEST_CASE("Convolutions need little stack", "[stack]") {
  for (DType dtype : {DType::kFloat, DType::kHalf, DType::kDouble}) {
    for (const char* layout : {"NHWC", "NCHW"}) {
      const bool first = layout[1] == 'C';
      const auto pictures = [&](int64_t channels, int64_t size) {
        return Waves(dtype, first ? Shape{2, channels, size, size} : Shape{2, size, size, channels});
      };
      const std::string attrs = Cat("data_format_ = ", layout, ";padding_ = SAME;strides_ = {1,1,1,1};");
      for (int64_t taps : {1, 3}) {
        const Tensor filter = Waves(dtype, Shape{taps, taps, 40, 130});
        CheckRuns({"Conv2D", attrs, {{"input", pictures(40, 20)}, {"filter", filter}}});
        Tensor sizes = Tensor::Allocate(DType::kInt32, Shape{4}).value();
        const int32_t input_sizes[] = {2, first ? 40 : 20, 20, first ? 20 : 40}, filter_sizes[] = {static_cast<int32_t>(taps), static_cast<int32_t>(taps), 40, 130};
        std::copy_n(input_sizes, 4, sizes.values<int32_t>().data());
        CheckRuns({"Conv2DBackpropInput", attrs, {{"input_sizes", sizes}, {"filter", filter}, {"out_backprop", pictures(130, 20)}}});
        Tensor filter_shape = Tensor::Allocate(DType::kInt32, Shape{4}).value();
        std::copy_n(filter_sizes, 4, filter_shape.values<int32_t>().data());
        CheckRuns({"Conv2DBackpropFilter", attrs, {{"input", pictures(40, 20)}, {"filter_sizes", filter_shape}, {"out_backprop", pictures(130, 20)}}});
      }
    }
  }
}

}  // namespace
}  // namespace weft::kit
