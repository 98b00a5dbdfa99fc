// HistogramSummary, MergeSummary, ScalarSummary, TensorSummary: TensorFlow's summary messages, which TensorBoard reads.
#include <cmath>
#include <unordered_set>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/logging/histogram.h"
#include "blocks/protobuf/tensor_message.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"
#include "weft/block/block.h"
#include "weft/block/named_bind.h"

namespace weft::blocks {
namespace {

using protobuf::FieldReader;
using protobuf::PutBytesField;
using protobuf::PutVarint;
using protobuf::PutVarintField;
using protobuf::WireType;

constexpr Out<0> summary{"summary", "DT_STRING", "a scalar: a Summary message"};

// Fields of the messages.
constexpr uint32_t kValue = 1;                                             // Summary
constexpr uint32_t kTag = 1, kSimple = 2, kHistogram = 5, kNode = 7, kTensor = 8;  // Summary.Value

/// A text that may be empty, which messages leave out.
void PutText(std::string& out, uint32_t field, std::string_view text) {
  if (!text.empty()) PutBytesField(out, field, text);
}

void Emit(RunContext& ctx, std::string message) { ctx.out<String>(summary)[0] = std::move(message); }

namespace scalar {

constexpr In<0> tags{"tags", "DT_STRING", "any shape: the name of each value"};
constexpr In<1> values{"values", "T", "the shape of tags: the values"};

Status Plan(PlanContext& ctx) { return CheckSameShape(ctx, values, tags); }

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  const auto names = ctx.in<String>(tags);
  const auto numbers = ctx.in<T>(values);
  std::string message, value;
  for (size_t i = 0; i < names.size(); ++i) {
    value.clear();
    PutText(value, kTag, names[i]);
    PutVarint(value, kSimple << 3 | static_cast<uint32_t>(WireType::kFixed32));
    protobuf::PutFixed(value, static_cast<float>(numbers[i]));
    PutBytesField(message, kValue, value);
  }
  Emit(ctx, std::move(message));
};

}  // namespace scalar

namespace histogram {

constexpr In<0> tag{"tag", "DT_STRING", "a scalar: the name of the histogram"};
constexpr In<1> values{"values", "T", "any shape: the values, all finite"};

constexpr auto Plan = [](PlanContext& ctx) { return CheckScalars(ctx, tag); };

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) -> Status {
  Histogram histogram;
  kernels::StopCheck stop(ctx.workers());
  for (const T& element : ctx.in<T>(values)) {
    if (stop(16)) return kernels::RunStopped();
    const auto number = static_cast<double>(element);
    if (!std::isfinite(number)) return ctx.Error(values, "needs finite values, found ", number);
    histogram.Add(number);
  }
  std::string value, message;
  PutText(value, kTag, ctx.in<String>(tag)[0]);
  PutBytesField(value, kHistogram, histogram.Message());
  PutBytesField(message, kValue, value);
  Emit(ctx, std::move(message));
  return {};
};

}  // namespace histogram

namespace merge {

constexpr InList<0> inputs{"inputs", "DT_STRING", "N", "tensors of any shapes, at least one: Summary messages"};

Status Plan(PlanContext& ctx) {
  if (ctx.count(inputs) == 0) return ctx.Error(inputs, "needs at least one summary, found none");
  return {};
}

/// The tag of a Summary.Value; false where the message is damaged.
bool TakeTag(std::string_view value, std::string_view& tag) {
  FieldReader field(value);
  while (field.Next()) {
    if (!field.Is(kTag, WireType::kBytes)) continue;
    tag = field.bytes();
    if (!IsValidUtf8(tag)) return false;
  }
  return field.ok();
}

/// Appends the values of one message; a tag may come once in all messages.
Status Append(std::string_view from, std::unordered_set<std::string_view>& seen, std::string& message, kernels::StopCheck& stop) {
  FieldReader field(from);
  while (field.Next()) {
    if (stop(64)) return kernels::RunStopped();
    if (!field.Is(kValue, WireType::kBytes)) continue;
    std::string_view tag;
    if (!TakeTag(field.bytes(), tag)) return InvalidArgument("needs Summary messages, found one with a damaged value");
    if (!tag.empty() && !seen.insert(tag).second) return InvalidArgument("needs tags that differ, found '", tag, "' twice");
    PutBytesField(message, kValue, field.bytes());
  }
  return field.ok() ? Status() : InvalidArgument("needs Summary messages, found a string that is none");
}

constexpr auto Run = [](const NoParameters&, RunContext& ctx) -> Status {
  std::string message;
  std::unordered_set<std::string_view> seen;
  kernels::StopCheck stop(ctx.workers());
  for (int k = 0; k < ctx.count(inputs); ++k) {
    for (const String& from : ctx.in<String>(inputs, k)) {
      if (Status status = Append(from, seen, message, stop); !status.ok()) return std::move(status).WithPort(inputs.name);
    }
  }
  Emit(ctx, std::move(message));
  return {};
};

}  // namespace merge

namespace tensor_summary {

constexpr In<0> tensor{"tensor", "T", "any shape: the tensor to write out"};
constexpr Attr<std::string> description{"description", "", "what the tensor is; not part of the summary"};
constexpr Attr<Strings> labels{"labels", "{}", "labels of the tensor; not part of the summary"};
constexpr Attr<std::string> display_name{"display_name", "", "a name to show; not part of the summary"};

/// The id of the block, under which TensorBoard files the tensor.
class BlockName : public Resource {
 public:
  explicit BlockName(std::string_view id) : id(id) {}
  std::string_view kind() const override { return "name of a block"; }
  const std::string id;
};

Result<DType> Plan(PlanContext& ctx) { return ctx.dtype(tensor); }

/// A field of many bytes, until the run is to end.
void PutLong(std::string& out, uint32_t field, std::string_view bytes, const RunContext& ctx) {
  constexpr int64_t kPiece = int64_t{1} << 22;
  out.reserve(out.size() + bytes.size() + 16);
  protobuf::PutBytesHead(out, field, bytes.size());
  kernels::ForTiles(ctx.workers(), static_cast<int64_t>(bytes.size()), kPiece, [&](int64_t begin, int64_t end) {
    out.append(bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  });
}

constexpr auto Run = [](const DType& dtype, RunContext& ctx) {
  const auto elements = ctx.in<std::byte>(tensor);
  std::string proto, value, message;
  if (dtype == DType::kString) {  // one by one in a field of their own
    protobuf::PutTensorHead(proto, dtype, ctx.shape(tensor));
    protobuf::PutValues(proto, dtype, elements.data(), static_cast<int64_t>(elements.size()), &ctx.workers());
  } else {
    protobuf::PutTensor(proto, dtype, ctx.shape(tensor), elements.data(), ctx.workers());
  }
  PutText(value, kNode, ctx.state<BlockName>().id);
  PutLong(value, kTensor, proto, ctx);
  PutLong(message, kValue, value, ctx);
  Emit(ctx, std::move(message));
};

constexpr auto Bind = [](const DType&, BindContext& ctx) {
  return ctx.Own([&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<BlockName>(BlockIdOf(ctx))); });
};

}  // namespace tensor_summary

}  // namespace

BlockDef HistogramSummary() {
  return Block("HistogramSummary", "A summary message with a histogram of values.")
      .Ports(histogram::tag, histogram::values, summary).Types("T", kReals)
      .NotDifferentiable().Kernel(histogram::Plan, histogram::Run);
}

BlockDef MergeSummary() {
  return Block("MergeSummary", "One summary message with the values of several; a tag may come once.")
      .Ports(merge::inputs, summary).NotDifferentiable().Kernel(merge::Plan, merge::Run);
}

BlockDef ScalarSummary() {
  return Block("ScalarSummary", "A summary message with a number for each tag.")
      .Ports(scalar::tags, scalar::values, summary).Types("T", kReals)
      .NotDifferentiable().Kernel(scalar::Plan, scalar::Run);
}

BlockDef TensorSummary() {
  return Block("TensorSummary", "A summary message with a tensor, under the name of the block.")
      .Ports(tensor_summary::tensor, summary).Types("T", kNumbers + TypeList<bool, String>{})
      .Attrs(tensor_summary::description, tensor_summary::labels, tensor_summary::display_name)
      .NotDifferentiable().Kernel(tensor_summary::Plan, tensor_summary::Run, tensor_summary::Bind);
}

}  // namespace weft::blocks
