// HistogramSummary, MergeSummary, ScalarSummary, TensorSummary: TensorFlow's summary messages, which TensorBoard reads.
#include <cmath>
#include <unordered_set>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/logging/histogram.h"
#include "blocks/protobuf/tensor_message.h"
#include "blocks/protobuf/wire.h"
#include "weft/block/block.h"
#include "weft/block/named_bind.h"

namespace weft::blocks {
namespace {

using protobuf::BytesFieldSize;
using protobuf::FieldReader;
using protobuf::WireType;

constexpr Out<0> summary{"summary", "DT_STRING", "a scalar: a Summary message"};

// Fields of the messages.
constexpr uint32_t kValue = 1;                                             // Summary
constexpr uint32_t kTag = 1, kSimple = 2, kHistogram = 5, kNode = 7, kTensor = 8;  // Summary.Value

/// Writes the summary, whose size is known, within the memory of the page.
class SummaryWriter {
 public:
  static Result<SummaryWriter> Make(RunContext& ctx, uint64_t size, kernels::StopCheck& stop) {
    WEFT_ASSIGN_OR_RETURN(StringWriter text, StringWriter::Make(size, ctx.budget(), stop));
    return SummaryWriter(std::move(text));
  }
  /// What comes before so many bytes of a field.
  void PutHead(uint32_t field, uint64_t size) {
    small_.clear();
    protobuf::PutBytesHead(small_, field, size);
    text_.Put(small_);
  }
  void PutBytes(uint32_t field, std::string_view bytes) {
    PutHead(field, bytes.size());
    text_.Put(bytes);
  }
  /// A text that may be empty, which messages leave out.
  void PutText(uint32_t field, std::string_view text) {
    if (!text.empty()) PutBytes(field, text);
  }
  void PutFloat(uint32_t field, float value) {
    small_.clear();
    protobuf::PutVarint(small_, field << 3 | static_cast<uint32_t>(WireType::kFixed32));
    protobuf::PutFixed(small_, value);
    text_.Put(small_);
  }
  StringWriter& text() { return text_; }
  void Emit(RunContext& ctx) { ctx.out<String>(summary)[0] = text_.Take(); }

 private:
  explicit SummaryWriter(StringWriter text) : text_(std::move(text)) {}

  StringWriter text_;
  std::string small_;
};

/// Bytes that PutText appends.
uint64_t TextSize(uint32_t field, std::string_view text) { return text.empty() ? 0 : BytesFieldSize(field, text.size()); }

namespace scalar {

constexpr In<0> tags{"tags", "DT_STRING", "any shape: the name of each value"};
constexpr In<1> values{"values", "T", "the shape of tags: the values"};

Status Plan(PlanContext& ctx) { return CheckSameShape(ctx, values, tags); }

uint64_t ValueSize(std::string_view tag) { return TextSize(kTag, tag) + 1 + sizeof(float); }

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) -> Status {
  const auto names = ctx.in<String>(tags);
  const auto numbers = ctx.in<T>(values);
  kernels::StopCheck stop(ctx.workers());
  uint64_t size = 0;
  for (const String& name : names) {
    if (stop()) return kernels::RunStopped();
    size += BytesFieldSize(kValue, ValueSize(name));
  }
  WEFT_ASSIGN_OR_RETURN(SummaryWriter message, SummaryWriter::Make(ctx, size, stop));
  for (size_t i = 0; i < names.size() && !stop(8); ++i) {
    message.PutHead(kValue, ValueSize(names[i]));
    message.PutText(kTag, names[i]);
    message.PutFloat(kSimple, static_cast<float>(numbers[i]));
  }
  message.Emit(ctx);
  return {};
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
  const std::string_view name = ctx.in<String>(tag)[0];
  const std::string buckets = histogram.Message();
  const uint64_t size = TextSize(kTag, name) + BytesFieldSize(kHistogram, buckets.size());
  WEFT_ASSIGN_OR_RETURN(SummaryWriter message, SummaryWriter::Make(ctx, BytesFieldSize(kValue, size), stop));
  message.PutHead(kValue, size);
  message.PutText(kTag, name);
  message.PutBytes(kHistogram, buckets);
  message.Emit(ctx);
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
bool TakeTag(std::string_view value, std::string_view& tag, kernels::StopCheck& stop) {
  FieldReader field(value);
  while (field.Next() && !stop()) {
    if (!field.Is(kTag, WireType::kBytes)) continue;
    tag = field.bytes();
    if (!IsValidUtf8(tag)) return false;
  }
  return field.ok();
}

/// The tags of all messages, which must differ, and what their values need together. The tags' table counts in a budget.
class MergedValues {
 public:
  explicit MergedValues(const std::shared_ptr<MemoryBudget>& budget) : charge_(budget) {}
  Status Add(std::string_view message, kernels::StopCheck& stop) {
    FieldReader field(message);
    while (field.Next()) {
      if (stop(64)) return kernels::RunStopped();
      if (!field.Is(kValue, WireType::kBytes)) continue;
      std::string_view tag;
      if (!TakeTag(field.bytes(), tag, stop)) return InvalidArgument("needs Summary messages, found one with a damaged value");
      if (!tag.empty()) WEFT_RETURN_IF_ERROR(AddTag(tag));
      size_ += BytesFieldSize(kValue, field.bytes().size());
    }
    return field.ok() ? Status() : InvalidArgument("needs Summary messages, found a string that is none");
  }
  uint64_t size() const { return size_; }

 private:
  Status AddTag(std::string_view tag) {
    constexpr size_t kTagBytes = 64, kAtOnce = 1024;
    if (seen_.size() % kAtOnce == kAtOnce - 1) {
      WEFT_RETURN_IF_ERROR(charge_.Hold(static_cast<int64_t>((seen_.size() + kAtOnce) * kTagBytes)));
    }
    return seen_.insert(tag).second ? Status() : InvalidArgument("needs tags that differ, found '", tag, "' twice");
  }

  std::unordered_set<std::string_view> seen_;
  MemoryCharge charge_;
  uint64_t size_ = 0;
};

/// Calls use(message), a Status, for all of the inputs.
Status ForMessages(RunContext& ctx, const auto& use) {
  for (int k = 0; k < ctx.count(inputs); ++k) {
    for (const String& message : ctx.in<String>(inputs, k)) {
      if (Status status = use(message); !status.ok()) return std::move(status).WithPort(inputs.name);
    }
  }
  return {};
}

constexpr auto Run = [](const NoParameters&, RunContext& ctx) -> Status {
  MergedValues values(ctx.budget());
  kernels::StopCheck stop(ctx.workers());
  WEFT_RETURN_IF_ERROR(ForMessages(ctx, [&](std::string_view from) { return values.Add(from, stop); }));
  WEFT_ASSIGN_OR_RETURN(SummaryWriter merged, SummaryWriter::Make(ctx, values.size(), stop));
  WEFT_RETURN_IF_ERROR(ForMessages(ctx, [&](std::string_view from) -> Status {
    for (FieldReader field(from); field.Next() && !stop(64);) {
      if (field.Is(kValue, WireType::kBytes)) merged.PutBytes(kValue, field.bytes());
    }
    return {};
  }));
  merged.Emit(ctx);
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

constexpr auto Run = [](const DType& dtype, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const protobuf::TensorMessage proto,
                        protobuf::TensorMessage::Make(dtype, ctx.shape(tensor), ctx.in<std::byte>(tensor).data(), ctx.workers(),
                                                      protobuf::StringsAs::kFields));
  const std::string_view node = ctx.state<BlockName>().id;
  const uint64_t size = TextSize(kNode, node) + BytesFieldSize(kTensor, proto.size());
  kernels::StopCheck stop(ctx.workers());
  WEFT_ASSIGN_OR_RETURN(SummaryWriter message, SummaryWriter::Make(ctx, BytesFieldSize(kValue, size), stop));
  message.PutHead(kValue, size);
  message.PutText(kNode, node);
  message.PutHead(kTensor, proto.size());
  proto.WriteTo(message.text());
  message.Emit(ctx);
  return {};
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
