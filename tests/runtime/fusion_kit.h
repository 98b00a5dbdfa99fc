// What tests of fused steps share.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/runtime/session_kit.h"
#include "weft/base/float16.h"

namespace weft::test {

/// An observer makes the steps run one by one.
class OneByOne : public Observer {
 public:
  Status OnStep(size_t step, const Node& node) override {
    (void)step;
    steps.push_back(node.id);
    return {};
  }
  std::vector<std::string> steps;
};

inline Tensor Numbers(DType dtype, const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor tensor = Tensor::Allocate(dtype, shape).value();
  Dispatch(dtype, kNumbers + TypeList<bool>(), [&]<class T>() {
    for (T& v : tensor.values<T>()) {
      if constexpr (std::is_same_v<T, bool>) v = random() % 2 == 0;
      else if constexpr (Integer<T>) v = static_cast<T>(random() % 1000 + 1);
      else if constexpr (Complex<T>) v = T(static_cast<typename T::value_type>(random() % 1000) / 300 - 1, 1);
      else v = static_cast<T>(static_cast<float>(static_cast<int>(random() % 20001) - 10000) / 2500.0f);
    }
  });
  return tensor;
}

}  // namespace weft::test
