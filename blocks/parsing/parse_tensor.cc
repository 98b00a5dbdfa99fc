// ParseTensor: the tensor of a TensorProto message.
#include "blocks/limits.h"
#include "blocks/protobuf/tensor_message.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

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

constexpr auto Run = [](const DType& dtype, ProduceContext& ctx) -> Status {
  const std::string_view message = ctx.in<String>(serialized)[0];
  WEFT_ASSIGN_OR_RETURN(Tensor tensor,
                        AtPort(serialized, protobuf::TakeTensor(message, dtype, ctx.workers(), ctx.services().budget)));
  return Emitted(ctx, output, std::move(tensor));
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
