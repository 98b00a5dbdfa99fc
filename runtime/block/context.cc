#include "weft/block/context.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "weft/base/float16.h"
#include "weft/block/def.h"
#include "weft/block/gradient.h"

namespace weft {
namespace {

const AttrValue kNoValue;

}  // namespace

PlanContext::PlanContext(const BlockDef& def, std::span<const AttrValue> attrs, const BlockSignature& signature)
    : def_(def), attrs_(attrs), signature_(signature) {
  planned_.outputs.resize(signature.outputs.size());
}

const AttrValue& PlanContext::attr_value(std::string_view name) const {
  int index = def_.FindAttr(name);
  return index < 0 ? kNoValue : attrs_[index];
}

DType PlanContext::type(std::string_view type_attr) const {
  if (const DType* given = std::get_if<DType>(&attr_value(type_attr))) return *given;
  for (size_t p = 0; p < def_.inputs.size(); ++p) {
    uint32_t first = signature_.in_first[p];
    if (def_.inputs[p].type_attr == type_attr && first < signature_.in_first[p + 1]) return signature_.inputs[first].dtype;
  }
  for (size_t p = 0; p < def_.outputs.size(); ++p) {
    uint32_t first = signature_.out_first[p];
    if (def_.outputs[p].type_attr == type_attr && first < signature_.out_first[p + 1]) return signature_.outputs[first];
  }
  return DType::kInvalid;
}

std::vector<int64_t> PlanContext::IntsOf(const Tensor& tensor) {
  constexpr int64_t kTile = 65536;  // elements between two looks at the limit of the call
  if (tensor.count() > kTile) CallLimit::Grow(tensor.count() * static_cast<int64_t>(sizeof(int64_t)));
  std::vector<int64_t> result(static_cast<size_t>(tensor.count()));
  Dispatch(tensor.dtype(), kIntegers, [&]<class T>() {
    const T* values = tensor.values<T>().data();
    for (int64_t begin = 0; begin < tensor.count(); begin += kTile) {
      CallLimit::Check();
      std::copy(values + begin, values + std::min(begin + kTile, tensor.count()), result.begin() + begin);
    }
  });
  return result;
}

void PlanContext::SetShape(uint32_t output, Shape shape) {
  CallLimit::Check();
  CallLimit::Grow(shape.heap_bytes());  // of one among very many outputs, it may be
  planned_.outputs[output] = std::move(shape);
}

void PlanContext::SetUnknown(uint32_t output, PartialShape partial) {
  CallLimit::Check();
  int64_t bytes = partial.rank() * static_cast<int64_t>(sizeof(int64_t));
  if (planned_.partial.empty()) bytes += static_cast<int64_t>(signature_.outputs.size() * sizeof(PartialShape));
  CallLimit::Grow(bytes);
  planned_.unknown.resize(signature_.outputs.size());
  planned_.partial.resize(signature_.outputs.size());
  planned_.unknown[output] = true;
  planned_.partial[output] = std::move(partial);
}

Result<Tensor> ProduceContext::CopyOf(const Value& value, DType dtype) const {
  constexpr int64_t kTaskBytes = int64_t{1} << 20;
  WEFT_ASSIGN_OR_RETURN(Tensor copy, Allocate(dtype, *value.shape));
  const auto bytes = static_cast<int64_t>(ElementSize(dtype));
  const auto* from = static_cast<const std::byte*>(value.data);
  auto* to = static_cast<std::byte*>(copy.data());
  workers().For(copy.count(), kTaskBytes / bytes, [&](int64_t begin, int64_t end) {
    CopyElements(dtype, from + begin * bytes, to + begin * bytes, end - begin);
  });
  if (cancelled()) return Cancelled("the run was cancelled");
  return copy;
}

GradientValue GradientBuilder::Scalar(GradientValue like, double value) {
  return Constant(Dispatch(dtype(like), kNumbers, [&]<class T>() { return Tensor::Scalar<T>(static_cast<T>(value)); }));
}

GradientFunction Unfailing(void (*gradient)(GradientBuilder&)) {
  return [gradient](GradientBuilder& g) -> Status {
    gradient(g);
    return {};
  };
}

VariableInfo PlanContext::VariableOf(const InputInfo& input) {
  if (input.variable != nullptr) return *input.variable;
  VariableInfo info;
  if (input.shape != nullptr) info.declared = *input.shape;
  return info;
}

}  // namespace weft
