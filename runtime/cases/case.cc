#include "weft/cases/case.h"

namespace weft::cases {
namespace {

constexpr std::string_view kMark = "$TMP";

void Replace(std::string& text, const std::string& folder) {
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + folder.size())) text.replace(at, kMark.size(), folder);
}

void Replace(Tensor& tensor, const std::string& folder) {
  if (!tensor.defined() || tensor.dtype() != DType::kString) return;
  auto own = tensor.Clone();  // copies of a case share the memory of their tensors
  if (!own.ok()) return;
  tensor = std::move(*own);
  for (String& element : tensor.values<String>()) {
    std::string text(element);
    Replace(text, folder);
    element = String(text);
  }
}

void Replace(Expectation& expected, const std::string& folder) {
  for (auto& [port, value] : expected.outputs) Replace(value.tensor, folder);
}

bool Marked(const Tensor& tensor) {
  if (!tensor.defined() || tensor.dtype() != DType::kString) return false;
  for (std::string_view text : tensor.values<String>()) {
    if (text.find(kMark) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void SetFolder(TestCase& test, const std::string& folder) {
  Replace(test.attrs, folder);
  Replace(test.page, folder);
  for (auto& [port, input] : test.inputs) {
    for (Tensor& value : input.values) Replace(value, folder);
  }
  for (auto& [port, value] : test.variables) Replace(value.tensor, folder);
  Replace(test.expected, folder);
  for (Step& step : test.steps) {
    for (auto& [wire, value] : step.feed) Replace(value, folder);
    Replace(step.expected, folder);
  }
}

bool UsesFolder(const TestCase& test) {
  if (test.attrs.find(kMark) != std::string::npos || test.page.find(kMark) != std::string::npos) return true;
  for (const auto& [port, input] : test.inputs) {
    for (const Tensor& value : input.values) {
      if (Marked(value)) return true;
    }
  }
  for (const Step& step : test.steps) {
    for (const auto& [wire, value] : step.feed) {
      if (Marked(value)) return true;
    }
  }
  return false;
}

}  // namespace weft::cases
