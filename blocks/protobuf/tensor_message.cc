#include "blocks/protobuf/tensor_message.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"
#include "weft/block/block.h"

namespace weft::blocks::protobuf {
namespace {

constexpr uint32_t kType = 1, kShape = 2, kContent = 4;  // of TensorProto
constexpr uint32_t kDim = 2, kUnknownRank = 3;           // of its shape
constexpr uint32_t kSize = 1;                            // of a dimension
constexpr int64_t kPiece = int64_t{1} << 22;             // bytes that are copied between two looks whether the run is to end

struct Message {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> sizes;
  std::string_view content;
};

bool TakeSize(std::string_view dimension, std::vector<int64_t>& sizes) {
  sizes.push_back(0);
  FieldReader field(dimension);
  while (field.Next()) {
    if (field.Is(kSize, WireType::kVarint)) sizes.back() = static_cast<int64_t>(field.varint());
  }
  return field.ok();
}

bool TakeShape(std::string_view shape, std::vector<int64_t>& sizes) {
  FieldReader field(shape);
  while (field.Next()) {
    if (field.Is(kUnknownRank, WireType::kVarint) && field.varint() != 0) return false;
    if (field.Is(kDim, WireType::kBytes) && !TakeSize(field.bytes(), sizes)) return false;
  }
  return field.ok();
}

std::optional<Message> TakeMessage(std::string_view bytes) {
  Message message;
  FieldReader field(bytes);
  while (field.Next()) {
    if (field.Is(kType, WireType::kVarint)) message.dtype = TypeOfNumber(field.varint());
    if (field.Is(kShape, WireType::kBytes) && !TakeShape(field.bytes(), message.sizes)) return std::nullopt;
    if (field.Is(kContent, WireType::kBytes)) message.content = field.bytes();
  }
  if (!field.ok() || message.dtype == DType::kInvalid) return std::nullopt;
  return message;
}

Status Damaged(std::string_view why) { return InvalidArgument("needs TensorProto messages, found ", why); }

/// Strings as bytes: the sizes of all, then one after the other.
void PutStrings(std::string& out, std::span<const String> strings, const Workers& workers) {
  if (strings.empty()) return;
  uint64_t bytes = 0;
  for (const String& text : strings) bytes += static_cast<uint64_t>(VarintSize(text.size())) + text.size();
  PutBytesHead(out, kContent, bytes);
  kernels::StopCheck stop(workers);
  for (size_t i = 0; i < strings.size() && !stop(); ++i) PutVarint(out, strings[i].size());
  for (size_t i = 0; i < strings.size() && !stop(8 + static_cast<int64_t>(strings[i].size() / 16)); ++i) out.append(strings[i].view());
}

Status TakeStrings(std::string_view content, std::span<String> strings, const Workers& workers,
                   const std::shared_ptr<MemoryBudget>& budget) {
  const auto damaged = [] { return Damaged("one with other strings than its shape needs"); };
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
    if (stop(8 + static_cast<int64_t>(size / 16))) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(text, String::Uninitialized(size, budget));
    std::copy_n(content.data(), size, text.mutable_data());
    content.remove_prefix(size);
  }
  return content.empty() ? Status{} : damaged();
}

Status TakeContent(const Message& message, Tensor& tensor, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  if (tensor.dtype() == DType::kString) return TakeStrings(message.content, tensor.values<String>(), workers, budget);
  char* to = static_cast<char*>(tensor.data());
  kernels::ForTiles(workers, tensor.bytes(), kPiece, [&](int64_t begin, int64_t end) {
    const char* from = message.content.data();
    if (tensor.dtype() == DType::kBool) std::transform(from + begin, from + end, to + begin, [](char c) -> char { return c != 0; });
    else std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
  return {};
}

/// Whether the bytes may be so many elements: asked before memory is taken for them.
bool MayHold(std::string_view content, DType dtype, int64_t count) {
  if (dtype == DType::kString) return static_cast<int64_t>(content.size()) >= count;  // each needs its size
  const size_t each = ElementSize(dtype);
  return content.size() % each == 0 && static_cast<int64_t>(content.size() / each) == count;
}

/// One value for all elements, or none.
Result<bool> TakeRepeated(std::string_view bytes, Tensor& tensor, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(Tensor one, Tensor::Allocate(tensor.dtype(), Shape{1}, budget));
  WEFT_ASSIGN_OR_RETURN(const bool single, TakeValues(bytes, tensor.dtype(), one.data(), 1, &workers, budget));
  if (!single) {
    WEFT_ASSIGN_OR_RETURN(const bool none, TakeValues(bytes, tensor.dtype(), nullptr, 0, &workers, budget));
    if (!none) return false;
    if (tensor.dtype() != DType::kString) std::memset(one.data(), 0, static_cast<size_t>(one.bytes()));
  }
  DispatchSize(tensor.dtype(), [&]<class T>() {
    kernels::FillLong(workers, static_cast<T*>(tensor.data()), tensor.count(), *static_cast<const T*>(one.data()));
  });
  return true;
}

}  // namespace

void PutTensorHead(std::string& out, DType dtype, const Shape& of) {
  std::string shape, size;
  for (int64_t dim : of.dims()) {
    size.clear();
    if (dim != 0) PutVarintField(size, kSize, static_cast<uint64_t>(dim));
    PutBytesField(shape, kDim, size);
  }
  PutVarintField(out, kType, TypeNumber(dtype));
  PutBytesField(out, kShape, shape);
}

void PutTensor(std::string& out, DType dtype, const Shape& of, const void* elements, const Workers& workers) {
  PutTensorHead(out, dtype, of);
  if (dtype == DType::kString) return PutStrings(out, {static_cast<const String*>(elements), static_cast<size_t>(of.count())}, workers);
  const int64_t bytes = of.count() * static_cast<int64_t>(ElementSize(dtype));
  if (bytes == 0) return;
  out.reserve(out.size() + static_cast<size_t>(bytes) + 16);
  PutBytesHead(out, kContent, static_cast<uint64_t>(bytes));
  kernels::ForTiles(workers, bytes, kPiece, [&](int64_t begin, int64_t end) {
    out.append(static_cast<const char*>(elements) + begin, static_cast<size_t>(end - begin));
  });
}

Result<Tensor> TakeTensor(std::string_view bytes, Workers& workers, const std::shared_ptr<MemoryBudget>& budget) {
  const std::optional<Message> message = TakeMessage(bytes);
  if (!message) return Damaged("bytes that are none, or a type that is not known");
  auto shape = Shape::Make(message->sizes);
  if (!shape.ok()) return Damaged("one whose shape is none");
  if (!message->content.empty() && !MayHold(message->content, message->dtype, shape->count())) {
    return Damaged("one with other bytes than its shape needs");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(message->dtype, std::move(*shape), budget));
  if (!message->content.empty()) {
    WEFT_RETURN_IF_ERROR(TakeContent(*message, tensor, workers, budget));
  } else {
    WEFT_ASSIGN_OR_RETURN(bool taken, TakeValues(bytes, message->dtype, tensor.data(), tensor.count(), &workers, budget));
    if (!taken && tensor.count() > 1 && !workers.Stopped()) {
      WEFT_ASSIGN_OR_RETURN(taken, TakeRepeated(bytes, tensor, workers, budget));
    }
    if (!taken && !workers.Stopped()) return Damaged("one with another number of elements than its shape needs");
  }
  if (workers.Stopped()) return kernels::RunStopped();
  return tensor;
}

}  // namespace weft::blocks::protobuf
