// ParseTensor: the tensor of a TensorProto message.
#include <cstring>
#include <optional>

#include "blocks/limits.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"
#include "blocks/string/elements.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using protobuf::FieldReader;
using protobuf::WireType;

constexpr In<0> serialized{"serialized", "DT_STRING", "a scalar: a TensorProto message"};
constexpr Out<0> output{"output", "out_type", "the tensor of the message"};
constexpr Attr<DType> out_type{"out_type", kRequired, "the type of the tensor, which must be that of the message"};

/// All types but handles, which a message does not hold.
constexpr auto kStored = kNumbers + kQuantized + TypeList<bool, String>{};

Result<DType> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, serialized));
  ctx.set_unknown(output);
  return ctx.attr(out_type);
}

/// What a message says besides its values.
struct Header {
  uint64_t dtype = 0;
  std::vector<int64_t> dims;
  std::string_view content;  // the elements as in memory; empty: they are in fields of their own
};

/// False where the message is damaged. A size that is missing is 0.
bool TakeDim(std::string_view message, int64_t& size, kernels::StopCheck& stop) {
  size = 0;
  FieldReader field(message);
  while (field.Next() && !stop()) {
    if (field.Is(1, WireType::kVarint)) size = static_cast<int64_t>(field.varint());
    if (field.Is(2, WireType::kBytes) && !IsValidUtf8(field.bytes())) return false;
  }
  return field.ok();
}

bool TakeShape(std::string_view message, Header& header, kernels::StopCheck& stop) {
  FieldReader field(message);
  int64_t size = 0;
  while (field.Next() && !stop()) {
    if (!field.Is(2, WireType::kBytes)) continue;
    if (!TakeDim(field.bytes(), size, stop)) return false;
    // More than any tensor has are only counted, as one too many.
    if (header.dims.size() <= kMaxRank) header.dims.push_back(size);
  }
  return field.ok();
}

bool TakeHeader(std::string_view message, Header& header, kernels::StopCheck& stop) {
  FieldReader field(message);
  while (field.Next() && !stop()) {
    if (field.Is(1, WireType::kVarint)) header.dtype = field.varint();
    if (field.Is(2, WireType::kBytes) && !TakeShape(field.bytes(), header, stop)) return false;
    if (field.Is(4, WireType::kBytes)) header.content = field.bytes();
  }
  return field.ok();
}

/// Strings one after the other behind all their sizes, as varints.
Status TakeStringContent(std::string_view content, std::span<String> to, ProduceContext& ctx) {
  const Status damaged = ctx.Error(serialized, "needs the sizes and bytes of ", to.size(), " strings as content, found others");
  kernels::StopCheck stop(ctx.workers());
  std::string_view sizes = content;
  uint64_t size = 0, total = 0;
  for (size_t i = 0; i < to.size() && !stop(); ++i) {
    if (!protobuf::TakeVarint(sizes, size) || size > content.size()) return damaged;
    total += size;
    if (total > content.size()) return damaged;
  }
  if (stop(0)) return kernels::RunStopped();
  if (total != sizes.size()) return damaged;
  std::string_view bytes = sizes;
  for (String& text : to) {
    if (stop() || !protobuf::TakeVarint(content, size)) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(text, MakeString(bytes.substr(0, static_cast<size_t>(size)), ctx.services().budget, stop));
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return {};
}

Status TakeContent(std::string_view content, Tensor& tensor, ProduceContext& ctx) {
  if (tensor.dtype() == DType::kString) return TakeStringContent(content, tensor.values<String>(), ctx);
  if (content.size() != static_cast<size_t>(tensor.bytes())) {
    return ctx.Error(serialized, "needs ", tensor.bytes(), " bytes of content for ", tensor.dtype(), " ", tensor.shape(), ", found ", content.size());
  }
  if (tensor.dtype() == DType::kBool) {
    kernels::StopCheck stop(ctx.workers());
    for (const char byte : content) {
      if (stop()) return kernels::RunStopped();
      if (static_cast<uint8_t>(byte) > 1) return ctx.Error(serialized, "needs bytes of 0 and 1 for ", tensor.dtype(), ", found ", static_cast<uint8_t>(byte));
    }
  }
  kernels::CopyLong(ctx.workers(), content.data(), static_cast<char*>(tensor.data()), tensor.bytes());
  return {};
}

/// The values in fields of their own: the last one stands for all that follow, none are zeros, and those beyond the shape are left out.
Status TakeFields(std::string_view message, Tensor& tensor, ProduceContext& ctx) {
  const int64_t count = tensor.count();
  WEFT_ASSIGN_OR_RETURN(const int64_t found, protobuf::TakeFirstValues(message, tensor.dtype(), tensor.data(), count, &ctx.workers(), ctx.services().budget));
  if (ctx.cancelled()) return kernels::RunStopped();
  if (found < 0) return ctx.Error(serialized, "needs a TensorProto message, found one with damaged values");
  if (found >= count) return {};
  DispatchSize(tensor.dtype(), [&]<class T>() {
    T* to = tensor.values<T>().data();
    const T last = found > 0 ? to[found - 1] : T{};
    kernels::FillLong(ctx.workers(), to + found, count - found, last);
  });
  return {};
}

constexpr auto Run = [](const DType& dtype, ProduceContext& ctx) -> Status {
  const std::string_view message = ctx.in<String>(serialized)[0];
  kernels::StopCheck stop(ctx.workers());
  Header header;
  if (!TakeHeader(message, header, stop)) return ctx.Error(serialized, "needs a TensorProto message, found ", message.size(), " bytes that are none");
  if (stop(0)) return kernels::RunStopped();
  if (header.dtype != protobuf::TypeNumber(dtype)) {
    return ctx.Error(serialized, "needs a tensor of ", dtype, ", found ", protobuf::TypeOfNumber(header.dtype), " (number ", header.dtype, ")");
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(serialized, Shape::Make(header.dims)));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, serialized.name));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, ctx.Allocate(dtype, std::move(shape)));
  if (tensor.count() > 0) {
    WEFT_RETURN_IF_ERROR(header.content.empty() ? TakeFields(message, tensor, ctx) : TakeContent(header.content, tensor, ctx));
  }
  if (ctx.cancelled()) return kernels::RunStopped();  // not every element was written
  ctx.Emit(output, std::move(tensor));
  return {};
};

}  // namespace

BlockDef ParseTensor() {
  return Block("ParseTensor", "The tensor that a TensorProto message holds.")
      .Details("Of fewer values than elements the last one fills the rest.")
      .Ports(serialized, output)
      .Attrs(out_type)
      .Types("out_type", kStored)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
