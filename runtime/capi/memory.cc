// Memory of the host: buffers that are copied, and memory that is bound as input or output without a copy of its own.
#include <algorithm>
#include <cstring>

#include "runtime/capi/dtypes.h"
#include "runtime/capi/objects.h"
#include "runtime/host/kept_name.h"
#include "runtime/plan/id_map.h"

using namespace weft;
using namespace weft::capi;

namespace {

struct BoundMemory {
  BufferContent content;
  std::shared_ptr<HostMemory> memory;
};

Result<BoundMemory> ReadBoundMemory(const weft_buffer* given) {
  WEFT_RETURN_IF_ERROR(NeedPointer(given, "memory"));
  weft_buffer buffer = WEFT_BUFFER_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(given, buffer, "weft_buffer"));
  BoundMemory bound;
  WEFT_ASSIGN_OR_RETURN(bound.content, CheckBuffer(buffer));
  if (IsManaged(bound.content.dtype)) {
    return Unsupported("memory of ", bound.content.dtype, " cannot be bound").WithHint("strings can be fed by weft_session_feed");
  }
  size_t alignment = std::min<size_t>(ElementSize(bound.content.dtype), 16);
  if (reinterpret_cast<uintptr_t>(buffer.data) % alignment != 0) {
    return InvalidArgument("needs memory that is aligned to ", alignment, " bytes").WithPort("data");
  }
  bound.memory = std::make_shared<HostMemory>(buffer, bound.content.bytes);
  return bound;
}

/// The name of a value that is to be bound as an output, as the page spells it, after a look at whether its memory fits.
Result<std::string> CheckOutput(const Session& session, const char* name, const BufferContent& content) {
  const auto [graph, value] = LookUp(session, [&](const Graph& page) { return page.FindValue(name); });
  WEFT_RETURN_IF_ERROR(value.status());
  std::string key = graph->ValueName(*value);
  const DType needed = graph->TypeOf(*value);
  if (needed != content.dtype) return InvalidArgument("the value '", key, "' needs ", needed, ", found ", content.dtype);
  // What an edit has brought the session has not planned yet; a later edit may change what it keeps, too.
  const std::shared_ptr<const Graph> own = session.graph();
  const ValueRef planned = graph == own ? *value : IdMap(*graph, *own).Value(*value);
  if (planned.valid() && !session.Keeps(planned)) {
    return FailedPrecondition("'", key, "' is not kept by this session").WithHint("fetch it, or keep all results");
  }
  return key;
}

void NoteBoundInput(SessionObject& session, const std::shared_ptr<HostMemory>& memory) {
  std::lock_guard lock(session.bound_mutex);
  std::erase_if(session.bound_inputs, [](const auto& bound) { return bound.expired(); });
  session.bound_inputs.push_back(memory);
  session.has_bound_inputs.store(true);
}

/// Copies a result to the host's memory after each run.
class OutputWriter {
 public:
  OutputWriter(std::string name, BoundMemory bound) : name_(std::move(name)), bound_(std::move(bound)) {}
  Status operator()(const ResultValue& result) const {
    const Tensor& tensor = result.tensor;
    if (tensor.dtype() != bound_.content.dtype || !(tensor.shape() == bound_.content.shape)) {
      return FailedPrecondition("the memory bound to '", name_, "' is for ", bound_.content.dtype, " ", bound_.content.shape,
                                ", the run gave ", tensor.dtype(), " ", tensor.shape())
          .WithHint("bind memory of this shape");
    }
    if (tensor.bytes() > 0) std::memcpy(bound_.memory->data(), tensor.data(), static_cast<size_t>(tensor.bytes()));
    return {};
  }

 private:
  std::string name_;
  BoundMemory bound_;
};

}  // namespace

namespace weft::capi {

Result<BufferContent> CheckBuffer(const weft_buffer& buffer) {
  BufferContent content;
  content.dtype = FromC(buffer.dtype);
  if (content.dtype == DType::kInvalid)
    return InvalidArgument("needs an element type such as WEFT_FLOAT, found ", buffer.dtype).WithPort("dtype");
  if (content.dtype == DType::kResource) return Unsupported("a host cannot give resources").WithPort("dtype");
  if (buffer.rank < 0 || buffer.rank > kMaxRank) {
    return InvalidArgument("needs a rank of 0 to ", kMaxRank, ", found ", buffer.rank).WithPort("rank");
  }
  if (buffer.rank > 0) WEFT_RETURN_IF_ERROR(NeedPointer(buffer.shape, "shape"));
  auto shape = Shape::Make({buffer.shape, static_cast<size_t>(buffer.rank)});
  if (!shape.ok()) return std::move(shape).status().WithPort("shape");
  content.shape = std::move(*shape);
  size_t element = content.dtype == DType::kString ? sizeof(weft_bytes) : ElementSize(content.dtype);
  auto needed = CheckedMultiply(content.shape.count(), static_cast<int64_t>(element));
  if (!needed) return InvalidArgument("needs a shape that fits into memory, found ", content.shape).WithPort("shape");
  content.bytes = *needed;
  if (buffer.bytes < content.bytes) {
    return InvalidArgument(content.dtype, " ", content.shape, " needs ", content.bytes, " bytes, found ", buffer.bytes).WithPort("bytes");
  }
  if (content.bytes > 0) WEFT_RETURN_IF_ERROR(NeedPointer(buffer.data, "data"));
  return content;
}

Result<Tensor> CopyBuffer(const weft_buffer* given, const std::shared_ptr<MemoryBudget>& budget) {
  weft_buffer buffer = WEFT_BUFFER_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(given, buffer, "weft_buffer"));
  WEFT_ASSIGN_OR_RETURN(BufferContent content, CheckBuffer(buffer));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(content.dtype, content.shape, budget));
  if (content.dtype != DType::kString) {
    if (content.bytes > 0) std::memcpy(tensor.data(), buffer.data, static_cast<size_t>(content.bytes));
    return tensor;
  }
  const auto* texts = static_cast<const weft_bytes*>(buffer.data);
  std::span<String> elements = tensor.values<String>();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (texts[i].size == 0) continue;
    WEFT_RETURN_IF_ERROR(NeedPointer(texts[i].data, Cat("data[", i, "].data")));
    elements[i] = String(texts[i].data, texts[i].size);
    WEFT_RETURN_IF_ERROR(elements[i].Hold(budget));
  }
  return tensor;
}

}  // namespace weft::capi

weft_status weft_session_feed(weft_session* session, const char* name, const weft_buffer* value, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_RETURN_IF_ERROR(NeedPointer(value, "value"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, CopyBuffer(value, object->page->scope->budget()));
    return object->runner->Feed(name, std::move(tensor));
  });
}

weft_status weft_session_bind_input(weft_session* session, const char* name, const weft_buffer* memory, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(BoundMemory bound, ReadBoundMemory(memory));
    NoteBoundInput(*object, bound.memory);
    Tensor tensor = Tensor::View(bound.content.dtype, bound.content.shape, bound.memory->data(), bound.memory);
    WEFT_RETURN_IF_ERROR(object->runner->Feed(name, std::move(tensor)));
    bound.memory->ReleaseAtEnd();
    return {};
  });
}

weft_status weft_session_bind_output(weft_session* session, const char* name, const weft_buffer* memory, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(BoundMemory bound, ReadBoundMemory(memory));
    WEFT_ASSIGN_OR_RETURN(const std::string key, CheckOutput(object->runner->session(), name, bound.content));
    const std::shared_ptr<HostMemory> host_memory = bound.memory;
    WEFT_RETURN_IF_ERROR(object->runner->SetOutput(key, OutputWriter(key, std::move(bound))));
    host_memory->ReleaseAtEnd();
    return {};
  });
}

weft_status weft_session_unbind(weft_session* session, const char* name, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    const Status output = object->runner->SetOutput(name, nullptr);
    Status input = object->runner->Feed(name, std::nullopt);
    return output.ok() && input.code() == Code::kNotFound ? Status() : input;
  });
}
