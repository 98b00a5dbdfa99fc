// What the blocks that work on a TensorArray by its handle have in common.
#pragma once

#include <string_view>

#include "blocks/data_flow/queue_blocks.h"
#include "blocks/data_flow/tensor_array.h"
#include "blocks/gradients.h"

namespace weft::blocks::arrays {

constexpr In<0> handle{"handle", "DT_RESOURCE", "[], the array"};
/// The input that says what must be done before.
template <int kInput>
inline constexpr In<kInput> flow_in{"flow_in", "DT_FLOAT", "a scalar that comes of all that must be done before"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the elements"};
/// The output of blocks that write.
constexpr Out<0> flow_out{"flow_out", "DT_FLOAT", "the flow that came in, for what must be done afterwards"};

inline BlockBuilder<> ArrayBlock(const char* name, const char* alias, const char* summary) {
  return Block(name, summary).Alias(alias).Stateful();
}
/// A block whose gradient is not the same in every run.
inline BlockDef GradientVaries(BlockDef def) {
  def.gradient_varies = true;
  return def;
}

/// The array behind the handle, whose elements must have this type; else invalid_argument at `port`.
Result<TensorArray*> FindArray(const auto& ctx, DType type, std::string_view port) {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, ctx.template Find<TensorArray>(handle));
  if (array->dtype() == type) return array;
  return InvalidArgument("needs ", array->dtype(), ", the type of the array's elements, found ", type).WithPort(port);
}

void PassFlow(RunContext& ctx, const auto& flow_in) {
  ctx.out<float>(flow_out)[0] = ctx.in<float>(flow_in)[0];
}

/// An input as a tensor that owns nothing, good for this call.
Tensor ViewOf(const RunContext& ctx, const auto& port, DType type) {
  return Tensor::View(type, ctx.shape(port), const_cast<std::byte*>(ctx.in<std::byte>(port).data()), nullptr);
}

/// The array of the gradients of the elements, for what is to be done after `flow`: its handle, and a flow.
struct GradientArray {
  GradientValue handle, flow;
};
GradientArray AddGradientArray(GradientBuilder& g, GradientValue flow);

}  // namespace weft::blocks::arrays
