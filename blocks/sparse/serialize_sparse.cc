// SerializeSparse, SerializeManySparse, DeserializeManySparse: sparse tensors as TensorProto messages, three for each: indices, values,
// shape.
#include "blocks/limits.h"
#include "blocks/protobuf/tensor_message.h"
#include "blocks/sparse/minibatch.h"

namespace weft::blocks {
namespace {

constexpr In<0> sparse_indices{"sparse_indices", "DT_INT64", "[places, rank]"};
constexpr In<1> sparse_values{"sparse_values", "T", "[places]"};
constexpr In<2> sparse_shape{"sparse_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr Out<0> serialized{"serialized_sparse", "out_type", "[3]: indices, values and shape as TensorProto messages"};
constexpr Attr<DType> out_type{"out_type", "DT_STRING", "the type of the output: variants are not there"};

constexpr auto kWritten = kNumbers + kQuantized + TypeList<bool, String>{};

// ---- SerializeSparse -------------------------------------------------------------------------------------------------------------

Result<DType> Plan(PlanContext& ctx) {
  if (ctx.shape(sparse_indices).rank() != 2) {
    return ctx.Error(sparse_indices, "needs a matrix with a row for each place, found shape ", ctx.shape(sparse_indices));
  }
  if (ctx.shape(sparse_values).rank() != 1) return ctx.Error(sparse_values, "needs a vector, found shape ", ctx.shape(sparse_values));
  if (ctx.shape(sparse_shape).rank() != 1) return ctx.Error(sparse_shape, "needs a vector, found shape ", ctx.shape(sparse_shape));
  ctx.set(serialized, Shape{3});
  return ctx.dtype(sparse_values);
}

constexpr auto Run = [](const DType& dtype, RunContext& ctx) -> Status {
  const auto to = ctx.out<String>(serialized);
  const auto put = [&](size_t i, DType type, const auto& port) -> Status {
    WEFT_ASSIGN_OR_RETURN(to[i], protobuf::TensorString(type, ctx.shape(port), BytesOf(ctx, port), ctx.workers(), ctx.budget()));
    return {};
  };
  WEFT_RETURN_IF_ERROR(put(0, DType::kInt64, sparse_indices));
  WEFT_RETURN_IF_ERROR(put(1, dtype, sparse_values));
  return put(2, DType::kInt64, sparse_shape);
};

// ---- SerializeManySparse ---------------------------------------------------------------------------------------------------------

constexpr In<0> many_indices{"sparse_indices", "DT_INT64",
                             "[places, rank], in row-major order, of rank 2 or more; the first index names the element of the batch"};
constexpr Out<0> rows{"serialized_sparse", "out_type", "[N, 3]: a row for each element of the batch: its indices, values and shape"};

Result<Minibatch> PlanMany(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Minibatch p, PlanMinibatch(ctx, many_indices, sparse_values, sparse_shape));
  const int64_t sizes[] = {p.elements(), 3};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(rows, sizes, sparse_shape));
  return p;
}

constexpr auto RunMany = [](const Minibatch& p, RunContext& ctx) -> Status {
  String* to = ctx.out<String>(rows).data();
  const auto put = [&](int64_t k, const SparseValue& element) -> Status {
    const Tensor* const parts[] = {&element.indices, &element.values, &element.shape};
    for (int64_t i = 0; i < 3; ++i) {
      const Tensor& part = *parts[i];
      WEFT_ASSIGN_OR_RETURN(to[3 * k + i], protobuf::TensorString(part.dtype(), part.shape(), part.data(), ctx.workers(), ctx.budget()));
    }
    return {};
  };
  return p.ForElements(ctx.in<int64_t>(many_indices).data(), BytesOf(ctx, sparse_values), ctx.workers(), ctx.budget(), put);
};

// ---- DeserializeManySparse -------------------------------------------------------------------------------------------------------

constexpr In<0> messages{"serialized_sparse", "DT_STRING",
                         "[N, 3]: indices, values and shape of each sparse tensor as TensorProto messages"};
constexpr Attr<DType> dtype_attr{"dtype", kRequired, "the type of the values"};

Result<DType> PlanRead(PlanContext& ctx) {
  const Shape& shape = ctx.shape(messages);
  if (shape.rank() != 2 || shape[1] != 3) return ctx.Error(messages, "needs a matrix of 3 columns, found shape ", shape);
  if (shape[0] == 0) return ctx.Error(messages, "needs 1 row or more, found none");
  SetStackedShapes(ctx);
  return ctx.attr(dtype_attr);
}

constexpr auto RunRead = [](const DType& dtype, ProduceContext& ctx) -> Status {
  const auto texts = ctx.in<String>(messages);
  const auto& budget = ctx.services().budget;
  MemoryCharge charge(budget);
  WEFT_RETURN_IF_ERROR(charge.Hold(static_cast<int64_t>(texts.size() / 3 * sizeof(SparseValue))));
  std::vector<SparseValue> tensors;
  tensors.reserve(texts.size() / 3);
  for (size_t row = 0; row < texts.size() / 3; ++row) {
    SparseValue& tensor = tensors.emplace_back();
    const std::pair<Tensor*, DType> parts[] = {{&tensor.indices, DType::kInt64}, {&tensor.values, dtype}, {&tensor.shape, DType::kInt64}};
    for (size_t i = 0; i < 3; ++i) {
      const auto [part, type] = parts[i];
      WEFT_ASSIGN_OR_RETURN(*part, AtPort(messages, protobuf::TakeTensor(texts[row * 3 + i], type, ctx.workers(), budget)));
    }
  }
  return EmitStacked(tensors, dtype, messages.name, ctx);
};

}  // namespace

BlockDef DeserializeManySparse() {
  return Block("DeserializeManySparse", "Reads serialized sparse tensors and stacks them along a new first axis.")
      .Details("The output is as large as the largest of them along each axis. Places keep their order.")
      .Ports(messages, stacked::indices, stacked::values, stacked::shape)
      .Attrs(dtype_attr)
      .Types("dtype", kWritten)
      .Producer(PlanRead, RunRead);
}

BlockDef SerializeManySparse() {
  return Block("SerializeManySparse", "Writes each element of a batch of sparse tensors as three messages.")
      .Ports(many_indices, sparse_values, sparse_shape, rows)
      .Types("T", kWritten)
      .Attrs(out_type)
      .Types("out_type", TypeList<String>{})
      .ShapedBy(sparse_shape)
      .Kernel(PlanMany, RunMany);
}

BlockDef SerializeSparse() {
  return Block("SerializeSparse", "Writes a sparse tensor as three messages.")
      .Details("Indices, values and shape are written as they are, whether or not they fit together.")
      .Ports(sparse_indices, sparse_values, sparse_shape, serialized)
      .Types("T", kWritten)
      .Attrs(out_type)
      .Types("out_type", TypeList<String>{})
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
