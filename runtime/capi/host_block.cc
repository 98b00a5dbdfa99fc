// Plan and run of a host's block as C calls.
#include "runtime/capi/host_block.h"

#include <array>
#include <mutex>
#include <utility>

#include "runtime/capi/dtypes.h"

namespace weft::capi {
namespace {

// ---- ports by index: the contexts name them by type ------------------------------------------------------------------------------------

template <class R, template <int> class Port, class F, int... I>
R AtPort(int port, F&& f, std::integer_sequence<int, I...>) {
  R result{};
  (void)((port == I ? (result = f(Port<I>{}), true) : false) || ...);
  return result;
}
template <class R, class F>
R AtInput(int port, F&& f) {
  return AtPort<R, In>(port, std::forward<F>(f), std::make_integer_sequence<int, kMostHostPorts>());
}
template <class R, class F>
R AtOutput(int port, F&& f) {
  return AtPort<R, Out>(port, std::forward<F>(f), std::make_integer_sequence<int, kMostHostPorts>());
}

// ---- failures --------------------------------------------------------------------------------------------------------------------------

/// What a callback said of its failure. Tasks of one run may fail at the same time: the first is kept.
class Failure {
 public:
  int32_t Set(int32_t code, const char* port, const char* message, const char* hint) noexcept {
    if (code <= WEFT_OK || code > WEFT_INTERNAL) code = WEFT_INTERNAL;
    try {
      std::lock_guard lock(mutex_);
      if (!status_.ok()) return code;
      status_ = Status(static_cast<Code>(code), message == nullptr ? "the block failed" : message);
      status_ = std::move(status_).WithPort(port == nullptr ? "" : port).WithHint(hint == nullptr ? "" : hint);
    } catch (...) {
      return WEFT_RESOURCE_EXHAUSTED;
    }
    return code;
  }
  /// What a callback that returned `code` means.
  Status Take(int32_t code) {
    if (code == WEFT_OK) return {};
    if (CodeOf(status_) == code) return std::move(status_);
    if (code < WEFT_OK || code > WEFT_INTERNAL) return Internal("the block returned ", code, ", which is no status");
    return Status(static_cast<Code>(code), Cat("the block failed with ", CodeName(static_cast<Code>(code)), " and said no more"));
  }

 private:
  std::mutex mutex_;
  Status status_;
};

// ---- attributes ------------------------------------------------------------------------------------------------------------------------

/// Values of attributes in the terms of C, and what their pointers point to.
class AttrTable {
 public:
  AttrTable(const BlockDef& def, const PlanContext& ctx) : held_(def.attrs.size()) {
    for (size_t i = 0; i < def.attrs.size(); ++i) Add(def.attrs[i], ctx, held_[i]);
  }
  const std::vector<weft_attr_value>& values() const { return values_; }

 private:
  struct Held {
    std::string text, string;
    std::vector<int64_t> list;
    std::vector<double> reals;
  };

  void Add(const AttrSpec& spec, const PlanContext& ctx, Held& held) {
    const AttrValue& value = ctx.attr_value(spec.name);
    weft_attr_value out = {spec.name.c_str(), "", 0, 0, nullptr, nullptr, nullptr, 0};
    held.text = AttrText(value);
    if (auto* number = std::get_if<int64_t>(&value)) out.number = *number;
    if (auto* real = std::get_if<float>(&value)) out.real = static_cast<double>(*real);
    if (auto* flag = std::get_if<bool>(&value)) out.number = *flag ? 1 : 0;
    if (auto* text = std::get_if<std::string>(&value)) held.string = *text, out.string = held.string.c_str();
    DType type = spec.type == AttrType::kType ? ctx.type(spec.name) : DType::kInvalid;
    if (type != DType::kInvalid) out.number = ToC(type), held.text = DTypeName(type);
    if (auto* shape = std::get_if<PartialShape>(&value)) held.list = shape->dims();
    if (auto* ints = std::get_if<Ints>(&value)) held.list = *ints;
    if (auto* floats = std::get_if<FloatList>(&value)) held.reals.assign(floats->begin(), floats->end());
    if (auto* types = std::get_if<DTypes>(&value)) {
      for (DType one : *types) held.list.push_back(ToC(one));
    }
    out.text = held.text.c_str();
    if (!held.list.empty()) out.list = held.list.data(), out.list_count = held.list.size();
    if (!held.reals.empty()) out.reals = held.reals.data(), out.list_count = held.reals.size();
    values_.push_back(out);
  }

  std::vector<Held> held_;
  std::vector<weft_attr_value> values_;
};

// ---- plan ------------------------------------------------------------------------------------------------------------------------------

struct PlanState {
  PlanContext& ctx;
  Failure failure;
  std::vector<uint32_t> out_first;
  std::vector<char> shaped;  // by output value
};

PlanState& StateOf(const weft_plan_call* call) { return *static_cast<PlanState*>(call->engine); }

int32_t FailPlan(const weft_plan_call* call, int32_t code, const char* port, const char* message, const char* hint) {
  return StateOf(call).failure.Set(code, port, message, hint);
}

int32_t SetShape(const weft_plan_call* call, size_t output, int32_t rank, const int64_t* dims) {
  PlanState& state = StateOf(call);
  try {
    if (output >= state.shaped.size())
      return FailPlan(call, WEFT_INTERNAL, nullptr, "set_shape needs the index of an output value", nullptr);
    size_t port = 0;
    while (state.out_first[port + 1] <= output) ++port;
    const char* name = state.ctx.def().outputs[port].name.c_str();
    if (rank < 0 || rank > kMaxRank || (rank > 0 && dims == nullptr)) {
      return FailPlan(call, WEFT_INVALID_ARGUMENT, name, "needs a rank of 0 to 254, and its sizes", nullptr);
    }
    auto shape = Shape::Make({dims, static_cast<size_t>(rank)});
    if (!shape.ok()) return FailPlan(call, CodeOf(shape.status()), name, shape.status().message().c_str(), nullptr);
    int k = static_cast<int>(output - state.out_first[port]);
    AtOutput<bool>(static_cast<int>(port), [&](auto at) { return state.ctx.set(at, *shape, k), true; });
    state.shaped[output] = 1;
    return WEFT_OK;
  } catch (...) {
    return WEFT_RESOURCE_EXHAUSTED;
  }
}

int32_t SetScratch(const weft_plan_call* call, int64_t bytes) {
  if (bytes < 0) return FailPlan(call, WEFT_INVALID_ARGUMENT, nullptr, "set_scratch needs 0 bytes or more", nullptr);
  StateOf(call).ctx.set_scratch(bytes);
  return WEFT_OK;
}

struct PlanValues {
  std::vector<weft_value> inputs, outputs;
  std::vector<uint32_t> in_first{0}, out_first{0};
};

PlanValues ReadValues(const BlockDef& def, PlanContext& ctx) {
  PlanValues values;
  for (int p = 0; p < static_cast<int>(def.inputs.size()); ++p) {
    bool shapes = std::find(def.shaped_by.begin(), def.shaped_by.end(), p) != def.shaped_by.end();
    int count = AtInput<int>(p, [&](auto at) { return ctx.count(at); });
    for (int k = 0; k < count; ++k) {
      const Shape* shape = AtInput<const Shape*>(p, [&](auto at) { return &ctx.shape(at, k); });
      const Tensor* value = shapes ? AtInput<const Tensor*>(p, [&](auto at) { return &ctx.value(at, k); }) : nullptr;
      bool plain = value != nullptr && !IsManaged(value->dtype());
      DType dtype = AtInput<DType>(p, [&](auto at) { return ctx.dtype(at, k); });
      values.inputs.push_back(
          {ToC(dtype), shape->rank(), shape->dims().data(), shape->count(), plain ? const_cast<void*>(value->data()) : nullptr});
    }
    values.in_first.push_back(static_cast<uint32_t>(values.inputs.size()));
  }
  for (int p = 0; p < static_cast<int>(def.outputs.size()); ++p) {
    int count = AtOutput<int>(p, [&](auto at) { return ctx.count(at); });
    for (int k = 0; k < count; ++k) {
      values.outputs.push_back({ToC(AtOutput<DType>(p, [&](auto at) { return ctx.dtype(at, k); })), 0, nullptr, 0, nullptr});
    }
    values.out_first.push_back(static_cast<uint32_t>(values.outputs.size()));
  }
  return values;
}

// ---- run -------------------------------------------------------------------------------------------------------------------------------

struct RunState {
  RunContext& ctx;
  const HostPlan& plan;
  Failure failure;
};

RunState& StateOf(const weft_run_call* call) { return *static_cast<RunState*>(call->engine); }

int32_t FailRun(const weft_run_call* call, int32_t code, const char* port, const char* message, const char* hint) {
  return StateOf(call).failure.Set(code, port, message, hint);
}

void Parallel(const weft_run_call* call, int64_t count, void (*task)(void* user, int64_t index), void* user) {
  if (count <= 0 || task == nullptr) return;
  try {
    StateOf(call).ctx.workers().Run(count, [&](int64_t index) { task(user, index); });
  } catch (...) {
    FailRun(call, WEFT_RESOURCE_EXHAUSTED, nullptr, "the machine has no memory left", nullptr);
  }
}

int32_t IsCancelled(const weft_run_call* call) { return StateOf(call).ctx.cancelled() ? 1 : 0; }

std::string* StringAt(const weft_run_call* call, const weft_value* values, size_t count, const std::vector<DType>& dtypes,
                      const uint32_t* slots, size_t value, int64_t element) {
  if (value >= count || dtypes[value] != DType::kString || element < 0 || element >= values[value].count) return nullptr;
  return static_cast<std::string*>(StateOf(call).ctx.values[slots[value]].data) + element;
}

int32_t GetString(const weft_run_call* call, size_t input, int64_t element, const char** data, size_t* bytes) {
  RunState& state = StateOf(call);
  const std::string* text = StringAt(call, call->inputs, call->input_count, state.plan.inputs, state.ctx.inputs, input, element);
  if (text == nullptr || data == nullptr)
    return FailRun(call, WEFT_OUT_OF_RANGE, nullptr, "get_string needs an element of a string input", nullptr);
  *data = text->data();
  if (bytes != nullptr) *bytes = text->size();
  return WEFT_OK;
}

int32_t SetString(const weft_run_call* call, size_t output, int64_t element, const char* data, size_t bytes) {
  RunState& state = StateOf(call);
  std::string* text = StringAt(call, call->outputs, call->output_count, state.plan.outputs, state.ctx.outputs, output, element);
  if (text == nullptr || (data == nullptr && bytes > 0)) {
    return FailRun(call, WEFT_OUT_OF_RANGE, nullptr, "set_string needs an element of a string output", nullptr);
  }
  try {
    text->assign(bytes > 0 ? data : "", bytes);
  } catch (...) {
    return FailRun(call, WEFT_RESOURCE_EXHAUSTED, nullptr, "the machine has no memory left", nullptr);
  }
  return WEFT_OK;
}

/// The values of a run; most blocks have few of them.
class RunValues {
 public:
  RunValues(const std::vector<DType>& dtypes, const Value* values, const uint32_t* slots) {
    weft_value* to = few_.data();
    if (dtypes.size() > few_.size()) {
      many_.resize(dtypes.size());
      to = many_.data();
    }
    all_ = to;
    for (size_t v = 0; v < dtypes.size(); ++v) {
      const Value& value = values[slots[v]];
      to[v] = {ToC(dtypes[v]), value.shape->rank(), value.shape->dims().data(), value.count, IsManaged(dtypes[v]) ? nullptr : value.data};
    }
  }
  RunValues(const RunValues&) = delete;
  const weft_value* all() const { return all_; }

 private:
  std::array<weft_value, 8> few_;
  std::vector<weft_value> many_;
  const weft_value* all_;
};

}  // namespace

Result<PlannedBlock> PlanHost(const std::shared_ptr<HostBlock>& block, PlanContext& ctx) {
  const BlockDef& def = ctx.def();
  PlanValues values = ReadValues(def, ctx);
  AttrTable attrs(def, ctx);
  PlanState state{ctx, {}, values.out_first, std::vector<char>(values.outputs.size(), 0)};
  weft_plan_call call = {sizeof call,
                         0,
                         values.inputs.data(),
                         values.outputs.data(),
                         values.inputs.size(),
                         values.outputs.size(),
                         values.in_first.data(),
                         values.out_first.data(),
                         attrs.values().data(),
                         attrs.values().size(),
                         SetShape,
                         SetScratch,
                         FailPlan,
                         &state};
  auto plan = std::make_shared<HostPlan>(block);
  int32_t code = block->functions().plan(block->functions().user, &call, &plan->parameters);
  if (Status status = state.failure.Take(code); !status.ok()) return status;
  for (size_t v = 0; v < state.shaped.size(); ++v) {
    if (!state.shaped[v]) return Internal("the block's plan set no shape for output value ", v).WithHint("call set_shape for each output");
  }
  for (const weft_value& value : values.inputs) plan->inputs.push_back(FromC(value.dtype));
  for (const weft_value& value : values.outputs) plan->outputs.push_back(FromC(value.dtype));
  PlannedBlock planned;
  planned.run = RunHost;
  planned.parameters = std::move(plan);
  return planned;
}

Status RunHost(const void* parameters, RunContext& ctx) {
  const auto& plan = *static_cast<const HostPlan*>(parameters);
  RunValues inputs(plan.inputs, ctx.values, ctx.inputs), outputs(plan.outputs, ctx.values, ctx.outputs);
  RunState state{ctx, plan, {}};
  weft_run_call call = {sizeof call,
                        0,
                        inputs.all(),
                        outputs.all(),
                        plan.inputs.size(),
                        plan.outputs.size(),
                        ctx.in_first,
                        ctx.out_first,
                        ctx.scratch_data,
                        ctx.scratch_bytes,
                        Parallel,
                        IsCancelled,
                        GetString,
                        SetString,
                        FailRun,
                        &state};
  const weft_block& functions = plan.block->functions();
  int32_t code = functions.run(functions.user, plan.parameters, &call);
  return state.failure.Take(code);
}

}  // namespace weft::capi
