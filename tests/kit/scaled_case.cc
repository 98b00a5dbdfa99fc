#include "tests/kit/scaled_case.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "weft/cases/case_reader.h"

namespace weft::kit {
namespace {

constexpr int64_t kFew = 8;  // integers of an input that may be sizes

Tensor Multiplied(const Tensor& tensor, int64_t element, int64_t factor) {
  Tensor multiplied = Repeated(tensor.Reshaped(Shape{tensor.count()}), 0, 1).Reshaped(tensor.shape());
  Dispatch(tensor.dtype(), kIntegers, [&]<class T>() { multiplied.values<T>()[static_cast<size_t>(element)] *= static_cast<T>(factor); });
  return multiplied;
}

int AxisOf(const Tensor& tensor, int axis) {
  if (axis == Scaling::kLast) return tensor.shape().rank() - 1;
  return axis < tensor.shape().rank() ? axis : -1;
}

const Tensor* Largest(const cases::TestCase& test) {
  const Tensor* largest = nullptr;
  for (const auto& [port, input] : test.inputs) {
    for (const Tensor& tensor : input.values) {
      if (largest == nullptr || tensor.count() > largest->count()) largest = &tensor;
    }
  }
  return largest;
}

int64_t SumOverInputs(const cases::TestCase& test, int64_t (Tensor::*of)() const) {
  int64_t sum = 0;
  for (const auto& [port, input] : test.inputs) {
    for (const Tensor& tensor : input.values) sum += (tensor.*of)();
  }
  return sum;
}

}  // namespace

Tensor Repeated(const Tensor& tensor, int axis, int64_t times) {
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < dims.size(); ++i) (i < at ? outer : inner) *= dims[i];
  dims[at] *= times;
  Tensor repeated = Tensor::Allocate(tensor.dtype(), Shape(std::span<const int64_t>(dims))).value();
  const size_t size = ElementSize(tensor.dtype());
  const auto* from = static_cast<const std::byte*>(tensor.data());
  auto* to = static_cast<std::byte*>(repeated.data());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t t = 0; t < times; ++t, to += static_cast<size_t>(inner) * size) {
      CopyElements(tensor.dtype(), from + static_cast<size_t>(o * inner) * size, to, inner);
    }
  }
  return repeated;
}

std::string ToString(const Scaling& scaling) {
  std::string text;
  if (scaling.axis >= 0) text = Cat(scaling.all ? "all inputs" : "the largest input", " along ", scaling.axis == Scaling::kLast ? "the last axis" : Cat("axis ", scaling.axis));
  if (scaling.square) text = "the largest input along both axes";
  if (scaling.element >= 0) text += Cat(text.empty() ? "" : ", ", scaling.port, "[", scaling.element, "]");
  return text;
}

std::vector<Scaling> ScalingsOf(const cases::TestCase& test) {
  const Tensor* largest = Largest(test);
  if (largest == nullptr) return {};
  std::vector<Scaling> tiled = {{0, true, "", -1}, {Scaling::kLast, true, "", -1}};
  for (int axis = 0; axis < largest->shape().rank(); ++axis) tiled.push_back({axis, false, "", -1});
  std::vector<Scaling> scalings = tiled;
  tiled.push_back({});
  for (const auto& [port, input] : test.inputs) {
    const bool sizes = input.values.size() == 1 && IsInteger(input.values[0].dtype()) && input.values[0].count() <= kFew;
    for (int64_t element = 0; sizes && element < input.values[0].count(); ++element) {
      for (Scaling scaling : tiled) {
        scaling.port = port;
        scaling.element = element;
        scalings.push_back(std::move(scaling));
      }
    }
  }
  if (largest->shape().rank() == 2) scalings.emplace_back().square = true;
  return scalings;
}

cases::TestCase Scaled(const cases::TestCase& test, const Scaling& scaling, int64_t factor) {
  const Tensor* largest = Largest(test);
  const int of_largest = scaling.axis < 0 ? -1 : AxisOf(*largest, scaling.axis);
  cases::TestCase scaled = test;
  for (auto& [port, input] : scaled.inputs) {
    const std::vector<Tensor>& before = test.inputs.at(port).values;
    for (size_t k = 0; k < before.size(); ++k) {
      const int axis = scaling.axis < 0 ? -1 : AxisOf(before[k], scaling.axis);
      const bool wanted = scaling.all ? axis >= 0 && of_largest >= 0 && before[k].shape().dim(axis) == largest->shape().dim(of_largest) : &before[k] == largest;
      if (scaling.square && &before[k] == largest) {
        const int64_t root = std::llround(std::sqrt(static_cast<double>(factor)));
        input.values[k] = Repeated(Repeated(before[k], 0, root), 1, root);
      } else if (scaling.element >= 0 && port == scaling.port) input.values[k] = Multiplied(before[k], scaling.element, factor);
      else if (wanted && axis >= 0) input.values[k] = Repeated(before[k], axis, factor);
    }
  }
  return scaled;
}

int64_t ElementsOf(const cases::TestCase& test) { return SumOverInputs(test, &Tensor::count); }
int64_t BytesOf(const cases::TestCase& test) { return SumOverInputs(test, &Tensor::bytes); }

std::map<std::string, std::vector<cases::TestCase>> CasesOfBlocks() {
  std::map<std::string, std::vector<cases::TestCase>> blocks;
  const auto files = cases::FindCaseFiles(std::filesystem::path(WEFT_SOURCE_DIR) / "tests" / "blocks");
  if (!files.ok()) return blocks;
  for (const auto& path : *files) {
    for (cases::TestCase& test : cases::ReadCaseFile(path).cases) {
      if (test.is_page() || test.expected.error || !test.fault.empty() || cases::UsesFolder(test)) continue;
      blocks[test.block].push_back(std::move(test));
    }
  }
  for (auto& [block, tests] : blocks) std::ranges::stable_sort(tests, std::ranges::greater(), ElementsOf);
  return blocks;
}

BlockResult RunScaled(const cases::TestCase& test) {
  constexpr int64_t kMemory = int64_t{1} << 29;
  BlockTester tester(Catalog(), test.block);
  tester.Attrs(test.attrs).Once(kMemory);
  for (const auto& [port, input] : test.inputs) tester.Inputs(port, input.values);
  return tester.Run();
}

}  // namespace weft::kit
