#include "blocks/protobuf/tensor_message.h"

#include <algorithm>
#include <span>
#include <vector>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"
#include "blocks/string/elements.h"
#include "weft/block/block.h"

namespace weft::blocks::protobuf {
namespace {

constexpr uint32_t kType = 1, kShape = 2, kContent = 4;  // of TensorProto
constexpr uint32_t kDim = 2;                             // of its shape; that the rank is unknown does not count, as in TensorFlow
constexpr uint32_t kSize = 1, kName = 2;                 // of a dimension

/// What a message says besides its values.
struct Message {
  uint64_t type = 0;        // TensorFlow's number
  bool own_values = false;  // whether there are packed values of the type that is asked for, which were not looked at
  std::vector<int64_t> sizes;
  std::string_view content;  // the elements as in memory; empty: they are in fields of their own
};

/// False where the message is damaged. A size that is missing is 0.
bool TakeSize(std::string_view dimension, int64_t& size, kernels::StopCheck& stop) {
  size = 0;
  FieldReader field(dimension);
  while (field.Next() && !stop()) {
    if (field.Is(kSize, WireType::kVarint)) size = static_cast<int64_t>(field.varint());
    if (field.Is(kName, WireType::kBytes) && !IsValidUtf8(field.bytes())) return false;
  }
  return field.ok();
}

bool TakeShape(std::string_view shape, std::vector<int64_t>& sizes, kernels::StopCheck& stop) {
  FieldReader field(shape);
  int64_t size = 0;
  while (field.Next() && !stop()) {
    if (!field.Is(kDim, WireType::kBytes)) continue;
    if (!TakeSize(field.bytes(), size, stop)) return false;
    // More than any tensor has are only counted, as one too many.
    if (sizes.size() <= kMaxRank) sizes.push_back(size);
  }
  return field.ok();
}

/// Checks every field but the values in field `own`, which are checked where they are read.
bool TakeMessage(std::string_view bytes, uint32_t own, Message& message, const Workers& workers, kernels::StopCheck& stop) {
  FieldReader field(bytes);
  while (field.Next() && !stop()) {
    if (field.Is(kType, WireType::kVarint)) message.type = field.varint();
    if (field.type() != WireType::kBytes) continue;
    if (field.number() == kShape && !TakeShape(field.bytes(), message.sizes, stop)) return false;
    if (field.number() == kContent) message.content = field.bytes();
    if (field.number() == own) message.own_values = true;
    else if (!IsWholeField(field.number(), field.bytes(), workers)) return false;
  }
  return field.ok();
}

bool AreWholeValues(std::string_view bytes, uint32_t own, const Workers& workers) {
  FieldReader field(bytes);
  kernels::StopCheck stop(workers);
  while (field.Next() && !stop()) {
    if (field.Is(own, WireType::kBytes) && !IsWholeField(own, field.bytes(), workers)) return false;
  }
  return true;
}

Status TakeStrings(std::string_view content, std::span<String> strings, const Workers& workers,
                   const std::shared_ptr<MemoryBudget>& budget) {
  const auto damaged = [&] { return InvalidArgument("needs the sizes and bytes of ", strings.size(), " strings as content, found others"); };
  std::string_view sizes = content;
  uint64_t size = 0;
  kernels::StopCheck stop(workers);
  for (size_t i = 0; i < strings.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    if (!TakeVarint(content, size)) return damaged();
  }
  for (String& text : strings) {
    TakeVarint(sizes, size);
    if (size > content.size()) return damaged();
    if (stop(8)) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(text, MakeString(content.substr(0, size), budget, stop));
    content.remove_prefix(size);
  }
  return content.empty() ? Status{} : damaged();
}

/// Whether the bytes may be so many elements: asked before memory is taken for them.
Status CheckContent(std::string_view content, DType dtype, const Shape& shape) {
  const auto bytes = static_cast<int64_t>(content.size()), each = static_cast<int64_t>(ElementSize(dtype));
  const bool fits = dtype == DType::kString ? bytes >= shape.count()  // each needs its size
                                            : bytes % each == 0 && bytes / each == shape.count();
  if (fits) return {};
  return InvalidArgument("needs the bytes of ", dtype, " ", shape, " as content, found ", bytes);
}

Status TakeContent(std::string_view content, Tensor& tensor, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  if (tensor.dtype() == DType::kString) return TakeStrings(content, tensor.values<String>(), workers, budget);
  if (tensor.dtype() == DType::kBool) {
    kernels::StopCheck stop(workers);
    for (const char byte : content) {
      if (stop()) return kernels::RunStopped();
      if (static_cast<uint8_t>(byte) > 1) return InvalidArgument("needs bytes of 0 and 1 for ", tensor.dtype(), ", found ", static_cast<uint8_t>(byte));
    }
  }
  kernels::CopyLong(workers, content.data(), static_cast<char*>(tensor.data()), tensor.bytes());
  return {};
}

/// The values in fields of their own: the last one stands for all that follow, none are zeros, and those beyond the shape are left out.
Status TakeFields(std::string_view message, Tensor& tensor, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t count = tensor.count();
  WEFT_ASSIGN_OR_RETURN(const int64_t found, TakeFirstValues(message, tensor.dtype(), tensor.data(), count, &workers, budget));
  if (workers.Stopped()) return kernels::RunStopped();
  if (found < 0) return InvalidArgument("needs a TensorProto message, found one with damaged values");
  if (found >= count) return {};
  DispatchSize(tensor.dtype(), [&]<class T>() {
    T* to = static_cast<T*>(tensor.data());
    const T last = found > 0 ? to[found - 1] : T{};
    kernels::FillLong(workers, to + found, count - found, last);
  });
  return {};
}

}  // namespace

std::string ShapeMessage(const Shape& shape) {
  std::string message, size;
  for (int64_t dim : shape.dims()) {
    size.clear();
    if (dim != 0) PutVarintField(size, kSize, static_cast<uint64_t>(dim));
    PutBytesField(message, kDim, size);
  }
  return message;
}

Result<TensorMessage> TensorMessage::Make(DType dtype, const Shape& shape, const void* elements, Workers& workers, StringsAs strings) {
  TensorMessage made;
  made.dtype_ = dtype;
  made.strings_ = strings;
  made.elements_ = elements;
  made.count_ = shape.count();
  if (dtype == DType::kString) {
    const auto* texts = static_cast<const String*>(elements);
    kernels::StopCheck stop(workers);
    for (int64_t i = 0; i < made.count_; ++i) {
      if (stop()) return kernels::RunStopped();
      const uint64_t size = texts[i].size();
      const bool in_field = strings == StringsAs::kFields;
      made.content_size_ += in_field ? BytesFieldSize(ValuesField(dtype), size) : static_cast<uint64_t>(VarintSize(size)) + size;
    }
  } else {
    made.content_size_ = static_cast<uint64_t>(made.count_) * ElementSize(dtype);
  }
  PutVarintField(made.head_, kType, TypeNumber(dtype));
  PutBytesField(made.head_, kShape, ShapeMessage(shape));
  const bool has_content = made.content_size_ > 0 && (dtype != DType::kString || strings == StringsAs::kContent);
  if (has_content) PutBytesHead(made.head_, kContent, made.content_size_);
  return made;
}

void TensorMessage::WriteTo(StringWriter& to) const {
  to.Put(head_);
  if (dtype_ == DType::kString) WriteStrings(to);
  else to.Put({static_cast<const char*>(elements_), static_cast<size_t>(content_size_)});
}

void TensorMessage::WriteStrings(StringWriter& to) const {
  const auto* const texts = static_cast<const String*>(elements_);
  std::string number;
  const auto put_size = [&](int64_t i) {
    number.clear();
    if (strings_ == StringsAs::kFields) PutBytesHead(number, ValuesField(dtype_), texts[i].size());
    else PutVarint(number, texts[i].size());
    to.Put(number);
  };
  if (strings_ == StringsAs::kContent) {
    for (int64_t i = 0; i < count_ && !to.stopped(); ++i) put_size(i);
  }
  for (int64_t i = 0; i < count_ && !to.stopped(); ++i) {
    if (strings_ == StringsAs::kFields) put_size(i);
    to.Put(texts[i]);
  }
}

Result<String> TensorString(DType dtype, const Shape& shape, const void* elements, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(const TensorMessage message, TensorMessage::Make(dtype, shape, elements, workers));
  kernels::StopCheck stop(workers);
  WEFT_ASSIGN_OR_RETURN(StringWriter writer, StringWriter::Make(message.size(), budget, stop));
  message.WriteTo(writer);
  return writer.Take();
}

Result<Tensor> TakeTensor(std::string_view bytes, DType dtype, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  kernels::StopCheck stop(workers);
  Message message;
  const uint32_t own = ValuesField(dtype);
  const auto damaged = [&] { return InvalidArgument("needs a TensorProto message, found ", bytes.size(), " bytes that are none"); };
  const bool good = TakeMessage(bytes, own, message, workers, stop);
  if (stop(0)) return kernels::RunStopped();
  if (!good) return damaged();
  if (message.type != TypeNumber(dtype)) {
    return InvalidArgument("needs a tensor of ", dtype, ", found ", TypeOfNumber(message.type), " (number ", message.type, ")");
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(message.sizes));
  const bool by_content = !message.content.empty();
  const bool reads_values = shape.count() > 0 && !by_content;
  if (message.own_values && !reads_values && !AreWholeValues(bytes, own, workers)) return damaged();
  if (shape.count() > 0 && by_content) WEFT_RETURN_IF_ERROR(CheckContent(message.content, dtype, shape));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, ""));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, std::move(shape), budget));
  if (tensor.count() > 0) {
    WEFT_RETURN_IF_ERROR(by_content ? TakeContent(message.content, tensor, workers, budget) : TakeFields(bytes, tensor, workers, budget));
  }
  if (workers.Stopped()) return kernels::RunStopped();  // not every element was written
  return tensor;
}

}  // namespace weft::blocks::protobuf
