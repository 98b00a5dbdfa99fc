// Values written as text: the first byte chooses the type, the second the shape; the rest is the text.
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "weft/page/literal.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

namespace weft::fuzz {
namespace {

/// 'a' and above: the types in their order; others: none is given.
std::optional<DType> TypeOf(char c) {
  const int index = c - 'a' + 1;
  return index >= 1 && index < kDTypeCount ? std::optional(static_cast<DType>(index)) : std::nullopt;
}

std::optional<Shape> ShapeOf(char c) {
  switch (c) {
    case '0': return Shape{0};
    case '1': return Shape{1};
    case '2': return Shape{2};
    case '3': return Shape{2, 3};
    case '4': return Shape{2, 0, int64_t{1} << 40};
    case '5': return Shape{int64_t{1} << 40};
    case '.': return Shape{};
    default: return std::nullopt;
  }
}

}  // namespace

void TextLiteral(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const std::optional<DType> dtype = TypeOf(bytes[0]);
  const std::optional<Shape> shape = ShapeOf(bytes[1]);
  if (dtype == DType::kResource) return;  // no value has it
  const Result<Tensor> tensor = ParseTextLiteral(bytes.substr(2), dtype, shape);
  if (!tensor.ok()) return CheckStatus(tensor.status());
  Require(!dtype || tensor->dtype() == *dtype, "needs ", dtype.value_or(DType::kInvalid), ", found ", tensor->dtype());
  Require(!shape || tensor->shape() == *shape, "needs ", shape.value_or(Shape()), ", found ", tensor->shape());
  const std::string json = WriteTensor(*tensor);
  const Result<Tensor> again = ReadTensor(json);
  Require(again.ok(), json, " is refused: ", ToString(again.status()));
  Require(WriteTensor(*again) == json, json, " is read as ", ToString(*again));  // (The sign of a NaN is not written.)
}

}  // namespace weft::fuzz
