// Calls the plan function of a host's block.
#include "runtime/capi/host_block.h"

#include <algorithm>
#include <utility>

#include "runtime/capi/host_ports.h"

namespace weft::capi {
namespace {

/// The shape that the plan function set for an output, by its last call.
struct PlannedOutput {
  bool set = false, known = false;
  Shape shape;           // if known
  PartialShape partial;  // else
};

struct PlanState {
  PlanContext& ctx;
  const std::vector<uint32_t>& out_first;
  std::vector<PlannedOutput> outputs;  // by value
  Failure failure;
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
    if (output >= state.outputs.size()) {
      return FailPlan(call, WEFT_INTERNAL, nullptr, "set_shape needs the index of an output value", nullptr);
    }
    const size_t port = PortOf(state.out_first, output);
    const char* name = state.ctx.def().outputs[port].name.c_str();
    if (rank < 0 || rank > kMaxRank || (rank > 0 && dims == nullptr)) {
      return FailPlan(call, WEFT_INVALID_ARGUMENT, name, "needs a rank of 0 to 254, and its sizes", nullptr);
    }
    auto shape = Shape::Make({dims, static_cast<size_t>(rank)});
    if (!shape.ok()) return FailPlan(call, CodeOf(shape.status()), name, shape.status().message().c_str(), nullptr);
    state.outputs[output] = {true, true, std::move(*shape), {}};
    return WEFT_OK;
  } catch (...) {
    return WEFT_RESOURCE_EXHAUSTED;
  }
}

int32_t SetUnknown(const weft_plan_call* call, size_t output, int32_t rank, const int64_t* dims) {
  PlanState& state = StateOf(call);
  try {
    if (output >= state.outputs.size()) {
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
    state.outputs[output] = {true, false, {}, std::move(partial)};
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

PortValues<weft_value> ReadValues(const BlockDef& def, const PlanContext& ctx) {
  const auto input = [&](int p, int k) -> weft_value {
    const bool shapes = std::find(def.shaped_by.begin(), def.shaped_by.end(), p) != def.shaped_by.end();
    const Shape* shape = AtInput<const Shape*>(p, [&](auto at) { return &ctx.shape(at, k); });
    const Tensor* value = shapes ? AtInput<const Tensor*>(p, [&](auto at) { return &ctx.value(at, k); }) : nullptr;
    const bool plain = value != nullptr && !IsManaged(value->dtype());
    const DType dtype = AtInput<DType>(p, [&](auto at) { return ctx.dtype(at, k); });
    return {ToC(dtype), shape->rank(), shape->dims().data(), shape->count(), plain ? const_cast<void*>(value->data()) : nullptr};
  };
  const auto output = [&](int p, int k) -> weft_value {
    return {ToC(AtOutput<DType>(p, [&](auto at) { return ctx.dtype(at, k); })), 0, nullptr, 0, nullptr};
  };
  PortValues<weft_value> values;
  values.Read(def, ctx, input, output);
  return values;
}

/// Sets the shapes of all outputs in the context. True where some shape is unknown until the run.
Result<bool> SetOutputs(PlanState& state) {
  bool unknown = false;
  for (size_t v = 0; v < state.outputs.size(); ++v) {
    PlannedOutput& output = state.outputs[v];
    if (!output.set) {
      return Internal("the block's plan set no shape for output value ", v).WithHint("call set_shape or set_unknown for each output");
    }
    const size_t port = PortOf(state.out_first, v);
    const int k = static_cast<int>(v - state.out_first[port]);
    AtOutput<bool>(static_cast<int>(port), [&](auto at) {
      if (output.known) state.ctx.set(at, output.shape, k);
      else state.ctx.set_unknown(at, k, output.partial);
      return true;
    });
    unknown |= !output.known;
  }
  return unknown;
}

}  // namespace

Result<PlannedBlock> PlanHost(const std::shared_ptr<HostBlock>& block, PlanContext& ctx) {
  const BlockDef& def = ctx.def();
  const PortValues<weft_value> values = ReadValues(def, ctx);
  const AttrTable attrs(
      def, [&](const std::string& name) -> const AttrValue& { return ctx.attr_value(name); },
      [&](const std::string& name) { return ctx.type(name); });
  PlanState state{ctx, values.out_first, std::vector<PlannedOutput>(values.outputs.size()), {}};
  auto call = CallOf<weft_plan_call>(values, attrs, &state);
  call.set_shape = SetShape;
  call.set_scratch = SetScratch;
  call.fail = FailPlan;
  call.set_unknown = SetUnknown;
  auto plan = std::make_shared<HostPlan>(block);
  const int32_t code = CallHost([&] { return block->functions().plan(block->functions().user, &call, &plan->parameters); });
  if (Status status = state.failure.Take(code); !status.ok()) return status;
  WEFT_ASSIGN_OR_RETURN(const bool unknown, SetOutputs(state));
  for (const weft_value& value : values.inputs) plan->inputs.push_back(FromC(value.dtype));
  for (const weft_value& value : values.outputs) plan->outputs.push_back(FromC(value.dtype));
  PlannedBlock planned;
  planned.run = unknown ? nullptr : RunHost;
  if (unknown) {
    for (PlannedOutput& output : state.outputs) {
      plan->shapes.push_back(output.known ? std::optional(output.shape) : std::nullopt);
      plan->partial.push_back(std::move(output.partial));
    }
    plan->scratch_bytes = ctx.planned().scratch_bytes;
    plan->out_first = values.out_first;
    plan->input_ports = def.inputs.size();
    planned.produce = ProduceHost;
  }
  planned.parameters = std::move(plan);
  return planned;
}

}  // namespace weft::capi
