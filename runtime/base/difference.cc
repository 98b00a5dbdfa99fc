#include "weft/base/difference.h"

#include <algorithm>
#include <string_view>

#include "weft/base/text.h"

namespace weft {

std::pair<std::string, std::string> DifferentElements(const Tensor& a, const Tensor& b, int64_t index) {
  constexpr size_t kAlike = 40;  // bytes that are shown of what is alike
  if (a.dtype() != DType::kString) return {ElementText(a, index), ElementText(b, index)};
  const std::string_view left = a.values<String>()[index], right = b.values<String>()[index];
  const auto differ = static_cast<size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
  if (differ < kMostShownBytes / 2) return {ElementText(a, index), ElementText(b, index)};
  const size_t from = BeginningOf(left, differ - kAlike).size();
  const auto text = [&](std::string_view whole) { return Cat("(", from, " bytes)...", ElementText(Tensor::Scalar<String>(whole.substr(from)), 0)); };
  return {text(left), text(right)};
}

}  // namespace weft
