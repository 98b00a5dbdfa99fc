// Plan of a host's block as a C call.
#include "runtime/capi/host_block.h"

#include <algorithm>
#include <utility>

#include "runtime/capi/host_ports.h"

namespace weft::capi {
namespace {

struct PlanState {
  PlanContext& ctx;
  Failure failure;
  std::vector<uint32_t> out_first;
  std::vector<char> shaped;  // by output value
  bool unknown = false;      // one of them is only known to the run
};

PlanState& StateOf(const weft_plan_call* call) { return *static_cast<PlanState*>(call->engine); }

int32_t FailPlan(const weft_plan_call* call, int32_t code, const char* port, const char* message, const char* hint) {
  return StateOf(call).failure.Set(code, port, message, hint);
}

/// The port of an output value.
size_t PortOf(const std::vector<uint32_t>& first, size_t value) {
  size_t port = 0;
  while (first[port + 1] <= value) ++port;
  return port;
}

int32_t SetShape(const weft_plan_call* call, size_t output, int32_t rank, const int64_t* dims) {
  PlanState& state = StateOf(call);
  try {
    if (output >= state.shaped.size())
      return FailPlan(call, WEFT_INTERNAL, nullptr, "set_shape needs the index of an output value", nullptr);
    const size_t port = PortOf(state.out_first, output);
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

int32_t SetUnknown(const weft_plan_call* call, size_t output, int32_t rank, const int64_t* dims) {
  PlanState& state = StateOf(call);
  try {
    if (output >= state.shaped.size()) {
      return FailPlan(call, WEFT_INTERNAL, nullptr, "set_unknown needs the index of an output value", nullptr);
    }
    const size_t port = PortOf(state.out_first, output);
    const char* name = state.ctx.def().outputs[port].name.c_str();
    if (rank < -1 || rank > kMaxRank || (rank > 0 && dims == nullptr)) {
      return FailPlan(call, WEFT_INVALID_ARGUMENT, name, "needs a rank of -1 to 254, and its sizes", nullptr);
    }
    if (state.ctx.def().elementwise) {
      return FailPlan(call, WEFT_INTERNAL, name, "the output of an element-wise block has the shape of its inputs", "call set_shape");
    }
    PartialShape partial;
    if (rank >= 0) {
      auto made = PartialShape::Make(std::vector<int64_t>(dims, dims + rank));
      if (!made.ok()) return FailPlan(call, CodeOf(made.status()), name, made.status().message().c_str(), nullptr);
      partial = std::move(*made);
    }
    const int k = static_cast<int>(output - state.out_first[port]);
    AtOutput<bool>(static_cast<int>(port), [&](auto at) { return state.ctx.set_unknown(at, k, std::move(partial)), true; });
    state.shaped[output] = 1;
    state.unknown = true;
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

}  // namespace

Result<PlannedBlock> PlanHost(const std::shared_ptr<HostBlock>& block, PlanContext& ctx) {
  const BlockDef& def = ctx.def();
  PlanValues values = ReadValues(def, ctx);
  AttrTable attrs(
      def, [&](const std::string& name) -> const AttrValue& { return ctx.attr_value(name); },
      [&](const std::string& name) { return ctx.type(name); });
  PlanState state{ctx, {}, values.out_first, std::vector<char>(values.outputs.size(), 0), false};
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
                         &state,
                         SetUnknown};
  auto plan = std::make_shared<HostPlan>(block);
  int32_t code = block->functions().plan(block->functions().user, &call, &plan->parameters);
  if (Status status = state.failure.Take(code); !status.ok()) return status;
  for (size_t v = 0; v < state.shaped.size(); ++v) {
    if (!state.shaped[v])
      return Internal("the block's plan set no shape for output value ", v).WithHint("call set_shape or set_unknown for each output");
  }
  for (const weft_value& value : values.inputs) plan->inputs.push_back(FromC(value.dtype));
  for (const weft_value& value : values.outputs) plan->outputs.push_back(FromC(value.dtype));
  PlannedBlock planned;
  if (state.unknown) {
    for (size_t v = 0; v < state.shaped.size(); ++v) {
      const bool known = !ctx.planned().unknown[v];
      plan->shapes.push_back(known ? std::optional(ctx.planned().outputs[v]) : std::nullopt);
      if (!known) plan->partial.resize(v + 1), plan->partial[v] = ctx.planned().partial[v];
    }
    plan->scratch_bytes = ctx.planned().scratch_bytes;
    plan->out_first = values.out_first;
    plan->input_ports = def.inputs.size();
    planned.produce = ProduceHost;
  } else {
    planned.run = RunHost;
  }
  planned.parameters = std::move(plan);
  return planned;
}

}  // namespace weft::capi
