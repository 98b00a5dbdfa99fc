// Calls the run function of a host's block.
#include <array>
#include <cstring>

#include "runtime/capi/host_ports.h"

namespace weft::capi {
namespace {

/// The values of a run as C structs, and the addresses of their elements, also of strings. Up to 8 values need no allocation.
class RunValues {
 public:
  explicit RunValues(size_t count) {
    if (count > few_.size()) {
      many_.resize(count);
      many_places_.resize(count);
    }
    all_ = many_.empty() ? few_.data() : many_.data();
    places_ = many_.empty() ? few_places_.data() : many_places_.data();
  }
  RunValues(const RunValues&) = delete;

  void Set(size_t v, DType dtype, const Shape& shape, void* data) {
    all_[v] = {ToC(dtype), shape.rank(), shape.dims().data(), shape.count(), IsManaged(dtype) ? nullptr : data};
    places_[v] = data;
  }
  void SetUnknown(size_t v, DType dtype) { all_[v] = {ToC(dtype), 0, nullptr, 0, nullptr}, places_[v] = nullptr; }
  const weft_value* all() const { return all_; }
  /// An element of a string value; null for all else.
  String* StringAt(size_t v, int64_t element) const {
    if (all_[v].dtype != WEFT_STRING || places_[v] == nullptr || element < 0 || element >= all_[v].count) return nullptr;
    return static_cast<String*>(places_[v]) + element;
  }

 private:
  std::array<weft_value, 8> few_;
  std::array<void*, 8> few_places_;
  std::vector<weft_value> many_;
  std::vector<void*> many_places_;
  weft_value* all_;
  void** places_;
};

struct CallState {
  CallState(const HostPlan& of, Workers& with) : plan(of), workers(with), inputs(of.inputs.size()), outputs(of.outputs.size()) {}

  const HostPlan& plan;
  Workers& workers;
  RunValues inputs, outputs;
  Failure failure;
  // For ProduceHost only.
  const ProduceContext* produce = nullptr;
  std::vector<Tensor> made;
};

CallState& StateOf(const weft_run_call* call) { return *static_cast<CallState*>(call->engine); }

int32_t FailRun(const weft_run_call* call, int32_t code, const char* port, const char* message, const char* hint) {
  return StateOf(call).failure.Set(code, port, message, hint);
}

int32_t NoMemory(const weft_run_call* call) {
  return FailRun(call, WEFT_RESOURCE_EXHAUSTED, nullptr, "the machine has no memory left", nullptr);
}

void Parallel(const weft_run_call* call, int64_t count, void (*task)(void* user, int64_t index), void* user) {
  if (count <= 0 || task == nullptr) return;
  try {
    StateOf(call).workers.Run(count, [&](int64_t index) { task(user, index); });
  } catch (...) {
    NoMemory(call);
  }
}

int32_t IsCancelled(const weft_run_call* call) { return StateOf(call).workers.Stopped() ? 1 : 0; }

int32_t GetString(const weft_run_call* call, size_t input, int64_t element, const char** data, size_t* bytes) {
  const String* text = input < call->input_count ? StateOf(call).inputs.StringAt(input, element) : nullptr;
  if (text == nullptr || data == nullptr) {
    return FailRun(call, WEFT_OUT_OF_RANGE, nullptr, "get_string needs an element of a string input", nullptr);
  }
  *data = text->data();
  if (bytes != nullptr) *bytes = text->size();
  return WEFT_OK;
}

int32_t SetString(const weft_run_call* call, size_t output, int64_t element, const char* data, size_t bytes) {
  String* text = output < call->output_count ? StateOf(call).outputs.StringAt(output, element) : nullptr;
  if (text == nullptr || (data == nullptr && bytes > 0)) {
    return FailRun(call, WEFT_OUT_OF_RANGE, nullptr, "set_string needs an element of a string output", nullptr);
  }
  try {
    *text = String(bytes > 0 ? data : "", bytes);
  } catch (...) {
    return NoMemory(call);
  }
  return WEFT_OK;
}

/// Allocates an output's tensor and makes it visible to the host.
Status MakeOutput(CallState& state, size_t output, Shape shape) {
  WEFT_ASSIGN_OR_RETURN(state.made[output], state.produce->Allocate(state.plan.outputs[output], std::move(shape)));
  state.outputs.Set(output, state.plan.outputs[output], state.made[output].shape(), state.made[output].data());
  return {};
}

int32_t SetOutput(const weft_run_call* call, size_t output, int32_t rank, const int64_t* dims, void** data) {
  CallState& state = StateOf(call);
  if (data != nullptr) *data = nullptr;
  if (state.produce == nullptr || output >= state.plan.shapes.size() || state.plan.shapes[output] || state.made[output].defined()) {
    return FailRun(call, WEFT_INTERNAL, nullptr, "set_output is for outputs that `plan` called set_unknown for, once", nullptr);
  }
  if (rank < 0 || rank > kMaxRank || (rank > 0 && dims == nullptr)) {
    return FailRun(call, WEFT_INVALID_ARGUMENT, nullptr, "set_output needs a rank of 0 to 254, and its sizes", nullptr);
  }
  try {
    auto shape = Shape::Make({dims, static_cast<size_t>(rank)});
    Status status = shape.status();
    if (status.ok() && !state.plan.partial[output].Accepts(*shape)) {
      status = Internal("the block's plan said that the output has the shape ", state.plan.partial[output], ", its run gives ", *shape);
    }
    if (status.ok()) status = MakeOutput(state, output, std::move(*shape));
    if (!status.ok()) return FailRun(call, CodeOf(status), nullptr, status.message().c_str(), status.hint().c_str());
    if (data != nullptr && !IsManaged(state.plan.outputs[output])) *data = state.made[output].data();
    return WEFT_OK;
  } catch (...) {
    return NoMemory(call);
  }
}

weft_run_call CallOf(CallState& state, const uint32_t* in_first, const uint32_t* out_first, void* scratch, int64_t scratch_bytes) {
  return {sizeof(weft_run_call),
          0,
          state.inputs.all(),
          state.outputs.all(),
          state.plan.inputs.size(),
          state.plan.outputs.size(),
          in_first,
          out_first,
          scratch,
          scratch_bytes,
          Parallel,
          IsCancelled,
          GetString,
          SetString,
          FailRun,
          &state,
          SetOutput};
}

Status Call(CallState& state, const weft_run_call& call) {
  const weft_block& functions = state.plan.block->functions();
  return state.failure.Take(functions.run(functions.user, state.plan.parameters, &call));
}

/// Reads the inputs port by port, the only way a ProduceContext offers; returns the first value of each port.
std::vector<uint32_t> ReadInputs(const ProduceContext& ctx, size_t ports, CallState& state) {
  std::vector<uint32_t> first{0};
  size_t v = 0;
  for (int p = 0; p < static_cast<int>(ports); ++p) {
    const int count = AtInput<int>(p, [&](auto at) { return ctx.count(at); });
    for (int k = 0; k < count; ++k, ++v) {
      const Shape* shape = AtInput<const Shape*>(p, [&](auto at) { return &ctx.shape(at, k); });
      const std::byte* data = AtInput<const std::byte*>(p, [&](auto at) { return ctx.in<std::byte>(at, k).data(); });
      state.inputs.Set(v, state.plan.inputs[v], *shape, const_cast<std::byte*>(data));
    }
    first.push_back(static_cast<uint32_t>(v));
  }
  return first;
}

}  // namespace

Status RunHost(const void* parameters, RunContext& ctx) {
  const auto& plan = *static_cast<const HostPlan*>(parameters);
  const StepFrame& frame = FrameOf(ctx);
  CallState state(plan, ctx.workers());
  for (size_t v = 0; v < plan.inputs.size(); ++v) {
    const Value& value = frame.values[frame.inputs[v]];
    state.inputs.Set(v, plan.inputs[v], *value.shape, value.data);
  }
  for (size_t v = 0; v < plan.outputs.size(); ++v) {
    const Value& value = frame.values[frame.outputs[v]];
    state.outputs.Set(v, plan.outputs[v], *value.shape, value.data);
  }
  return Call(state, CallOf(state, frame.in_first, frame.out_first, frame.scratch_data, frame.scratch_bytes));
}

Status ProduceHost(const void* parameters, ProduceContext& ctx) {
  const auto& plan = *static_cast<const HostPlan*>(parameters);
  CallState state(plan, ctx.workers());
  state.produce = &ctx;
  state.made.resize(plan.outputs.size());
  const std::vector<uint32_t> in_first = ReadInputs(ctx, plan.input_ports, state);
  for (size_t v = 0; v < plan.outputs.size(); ++v) {
    if (!plan.shapes[v]) state.outputs.SetUnknown(v, plan.outputs[v]);
    else WEFT_RETURN_IF_ERROR(MakeOutput(state, v, *plan.shapes[v]));
  }
  WEFT_ASSIGN_OR_RETURN(Tensor scratch, ctx.Allocate(DType::kUInt8, Shape{plan.scratch_bytes}));
  WEFT_RETURN_IF_ERROR(Call(state, CallOf(state, in_first.data(), plan.out_first.data(), scratch.data(), plan.scratch_bytes)));
  for (int p = 0, v = 0; p + 1 < static_cast<int>(plan.out_first.size()); ++p) {
    for (int k = 0; v < static_cast<int>(plan.out_first[static_cast<size_t>(p) + 1]); ++k, ++v) {
      Tensor& made = state.made[static_cast<size_t>(v)];
      if (!made.defined()) return Internal("the block's run gave no shape to output value ", v).WithHint("call set_output for it");
      AtOutput<bool>(p, [&](auto at) { return ctx.Emit(at, std::move(made), k), true; });
    }
  }
  return {};
}

}  // namespace weft::capi
