// Calls the gradient function of a host's block.
#include "runtime/base/call_limit.h"
#include "runtime/capi/host_ports.h"
#include "runtime/capi/objects.h"

namespace weft::capi {
namespace {

/// State of one call. The host sees values as numbers: index in `values` + 1; 0 is none.
struct GradientState {
  GradientBuilder& builder;
  const HostBlock& block;
  const BlockDef& def;
  Failure failure;
  std::vector<GradientValue> values;
  std::vector<std::pair<int, int>> inputs;  // by input value: port, and index in the port
  bool not_added = false;                   // the builder failed to add a block; it reports why

  int64_t Number(GradientValue value) {
    if (!value.valid()) return 0;
    values.push_back(value);
    return static_cast<int64_t>(values.size());
  }
  GradientValue Find(int64_t number) const {
    return number > 0 && number <= static_cast<int64_t>(values.size()) ? values[static_cast<size_t>(number) - 1] : GradientValue{};
  }
};

GradientState& StateOf(const weft_gradient_call* call) { return *static_cast<GradientState*>(call->engine); }

int32_t Fail(const weft_gradient_call* call, const Status& status) {
  return StateOf(call).failure.Set(CodeOf(status), nullptr, status.message().c_str(), status.hint().c_str());
}
int32_t FailGradient(const weft_gradient_call* call, int32_t code, const char* message, const char* hint) {
  return StateOf(call).failure.Set(code, nullptr, message, hint);
}

/// The number of the value that body() returns; 0 where it fails, with the failure recorded.
template <class Body>
int64_t Numbered(const weft_gradient_call* call, Body&& body) noexcept {
  try {
    Result<GradientValue> value = body();
    if (value.ok()) return StateOf(call).Number(*value);
    Fail(call, value.status());
  } catch (...) {
    FailGradient(call, WEFT_RESOURCE_EXHAUSTED, "the machine has no memory left", nullptr);
  }
  return 0;
}

/// Checks that a port is connected once, and to one value unless it is a list. Unknown ports are reported by the builder.
Status CheckPort(const BlockDef& def, const weft_gradient_input* inputs, size_t i) {
  const int port = def.FindInput(inputs[i].port);
  if (port < 0) return {};
  if (def.inputs[static_cast<size_t>(port)].list == PortList::kSingle && inputs[i].count != 1) {
    return InvalidArgument("it connects ", inputs[i].count, " values to ", def.name, ".", inputs[i].port, ", which takes one");
  }
  for (size_t before = 0; before < i; ++before) {
    if (def.FindInput(inputs[before].port) == port) return InvalidArgument("it connects ", def.name, ".", inputs[i].port, " twice");
  }
  return {};
}

int64_t AddBlock(const weft_gradient_call* call, const char* name, const char* attrs, const weft_gradient_input* inputs, size_t count) {
  return Numbered(call, [&]() -> Result<GradientValue> {
    GradientState& state = StateOf(call);
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "block"));
    if (count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(inputs, "inputs"));
    const BlockDef* def = state.block.registry().Find(name);
    if (def == nullptr)
      return NotFound("it adds a block '", name, "', which there is not").WithHint(DidYouMean(name, state.block.registry().Names()));
    if (def->structural != Structural::kNone || def->flow >= Flow::kEnter) {
      return Unsupported("it adds a block '", name, "', which only pages can have");
    }
    GradientInputs ports;
    for (size_t i = 0; i < count; ++i) {
      WEFT_RETURN_IF_ERROR(NeedPointer(inputs[i].port, "port"));
      if (inputs[i].count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(inputs[i].values, "values"));
      WEFT_RETURN_IF_ERROR(CheckPort(*def, inputs, i));
      auto& [port, values] = ports.emplace_back(inputs[i].port, std::vector<GradientValue>());
      for (size_t k = 0; k < inputs[i].count; ++k) {
        values.push_back(state.Find(inputs[i].values[k]));
        if (!values.back().valid())
          return InvalidArgument("it connects ", inputs[i].values[k], ", which is no value, to ", name, ".", port);
      }
    }
    Diagnostics faults;
    std::vector<AttrValue> values = ParseAttrs(attrs == nullptr ? "" : attrs, def->attrs, faults);
    if (faults.has_errors()) {
      const Status fault = faults.FirstError();
      return Status(fault.code(), Cat("it adds ", name, " with the attribute ", fault.place().port, ": ", fault.message()))
          .WithHint(fault.hint());
    }
    GradientAttrs given;
    for (size_t a = 0; a < values.size(); ++a) given.emplace_back(def->attrs[a].name, std::move(values[a]));
    const GradientValue added = state.builder.Add(def->name, ports, given);
    state.not_added |= !added.valid();
    return added;
  });
}

int64_t OutputOf(const weft_gradient_call* call, int64_t first, size_t output) {
  return Numbered(call, [&]() -> Result<GradientValue> {
    const GradientValue value = StateOf(call).Find(first);
    if (value.valid() && output < (1u << 30)) {
      const GradientValue other = GradientBuilder::Output(value, value.output + static_cast<int>(output));
      if (StateOf(call).builder.dtype(other) != DType::kInvalid) return other;
    }
    return OutOfRange("it asks for the output ", output, " of a block that has not so many");
  });
}

int64_t AddConstant(const weft_gradient_call* call, const weft_buffer* value) {
  return Numbered(call, [&]() -> Result<GradientValue> {
    WEFT_RETURN_IF_ERROR(NeedPointer(value, "value"));
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, CopyBuffer(value, CallLimit::budget()));
    return StateOf(call).builder.Constant(std::move(tensor));
  });
}

int64_t AddScalar(const weft_gradient_call* call, int64_t like, double number) {
  return Numbered(call, [&]() -> Result<GradientValue> {
    const GradientValue value = StateOf(call).Find(like);
    const DType dtype = StateOf(call).builder.dtype(value);
    if (!IsFloating(dtype) && !IsComplex(dtype)) return InvalidArgument("a scalar needs a floating or complex value to be like");
    return StateOf(call).builder.Scalar(value, number);
  });
}

/// Checks that the gradient of an input has the type of the input.
Status CheckGradient(const GradientState& state, int port, int k, GradientValue gradient) {
  const DType needed = state.builder.dtype(AtInput<GradientValue>(port, [&](auto at) { return state.builder.in(at, k); }));
  const DType found = state.builder.dtype(gradient);
  if (needed == found || needed == DType::kInvalid || found == DType::kInvalid) return {};
  const std::string& name = state.def.inputs[static_cast<size_t>(port)].name;
  return InvalidArgument("the gradient of ", state.def.name, ".", name, " needs ", needed, ", as the input has, found ", found)
      .WithPort(name)
      .WithNeeded(DTypeName(needed))
      .WithFound(DTypeName(found))
      .WithHint("the block's gradient sets it: add a Cast there");
}

int32_t SetGradient(const weft_gradient_call* call, size_t input, int64_t gradient) {
  GradientState& state = StateOf(call);
  if (gradient == 0 && (state.not_added || state.failure.code() != WEFT_OK)) return WEFT_INTERNAL;  // the reason is recorded
  const GradientValue value = state.Find(gradient);
  if (input >= state.inputs.size() || !value.valid()) {
    return FailGradient(call, WEFT_INVALID_ARGUMENT, "set needs the index of an input value, and a value", nullptr);
  }
  try {
    const auto [port, k] = state.inputs[input];
    if (Status fits = CheckGradient(state, port, k, value); !fits.ok()) return state.failure.Set(std::move(fits));
    AtInput<bool>(port, [&, k = k](auto at) { return state.builder.Set(at, value, k), true; });
    return WEFT_OK;
  } catch (...) {
    return FailGradient(call, WEFT_RESOURCE_EXHAUSTED, "the machine has no memory left", nullptr);
  }
}

/// The block's values as numbers, with their types and gradients.
struct BlockValues : PortValues<int64_t> {
  std::vector<int64_t> gradients;
  std::vector<unsigned char> wanted;
  std::vector<int32_t> input_dtypes, output_dtypes;
};

BlockValues ReadValues(GradientState& state) {
  const GradientBuilder& builder = state.builder;
  BlockValues values;
  const auto input = [&](int p, int k) {
    const GradientValue value = AtInput<GradientValue>(p, [&](auto at) { return builder.in(at, k); });
    values.wanted.push_back(AtInput<bool>(p, [&](auto at) { return builder.wanted(at, k); }) ? 1 : 0);
    values.input_dtypes.push_back(ToC(builder.dtype(value)));
    state.inputs.emplace_back(p, k);
    return state.Number(value);
  };
  const auto output = [&](int p, int k) {
    const GradientValue value = AtOutput<GradientValue>(p, [&](auto at) { return builder.out(at, k); });
    values.output_dtypes.push_back(ToC(builder.dtype(value)));
    values.gradients.push_back(state.Number(AtOutput<GradientValue>(p, [&](auto at) { return builder.grad(at, k); })));
    return state.Number(value);
  };
  values.Read(state.def, builder, input, output);
  return values;
}

/// The type that a type attribute has: that of the first value with it.
DType TypeOf(const BlockDef& def, const BlockValues& values, std::string_view attr) {
  for (size_t p = 0; p < def.inputs.size(); ++p) {
    if (def.inputs[p].type_attr == attr && values.in_first[p] < values.in_first[p + 1])
      return FromC(values.input_dtypes[values.in_first[p]]);
  }
  for (size_t p = 0; p < def.outputs.size(); ++p) {
    if (def.outputs[p].type_attr == attr && values.out_first[p] < values.out_first[p + 1])
      return FromC(values.output_dtypes[values.out_first[p]]);
  }
  return DType::kInvalid;
}

}  // namespace

Status GradientHost(const HostBlock& block, const BlockDef& def, GradientBuilder& builder) {
  GradientState state{builder, block, def, {}, {}, {}, false};
  const BlockValues values = ReadValues(state);
  const AttrTable attrs(
      def, [&](const std::string& name) -> const AttrValue& { return builder.AttrOf(name); },
      [&](const std::string& name) { return TypeOf(def, values, name); });
  auto call = CallOf<weft_gradient_call>(values, attrs, &state);
  call.gradients = values.gradients.data();
  call.wanted = values.wanted.data();
  call.input_dtypes = values.input_dtypes.data();
  call.output_dtypes = values.output_dtypes.data();
  call.add = AddBlock;
  call.output = OutputOf;
  call.constant = AddConstant;
  call.scalar = AddScalar;
  call.set = SetGradient;
  call.fail = FailGradient;
  const int32_t code = CallHost([&] { return block.functions().gradient(block.functions().user, &call); });
  if (state.not_added && state.failure.code() == WEFT_OK) return {};  // the builder reports it
  // A failure in a callback takes precedence over the code that the function returns.
  return state.failure.Take(state.failure.code() != WEFT_OK ? state.failure.code() : code);
}

}  // namespace weft::capi
