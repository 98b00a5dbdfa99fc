// TensorArrayGather and TensorArrayScatter: elements as the rows of a tensor; TensorArrayConcat and TensorArraySplit: elements end to end.
#include "blocks/data_flow/tensor_array_blocks.h"
#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
using namespace arrays;

namespace arrays {
namespace {

constexpr int64_t kElementItems = 128;  // simple steps that an element takes as long as, whatever is in it

/// The elements' type, and what is said of their shape.
struct Joined {
  DType dtype;
  PartialShape shape;
};

/// Of elements joined along a new first axis, or along the first they have.
PartialShape WithRows(const PartialShape& element) {
  if (!element.known_rank()) return {};
  std::vector<int64_t> dims{-1};
  dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  Result<PartialShape> rows = PartialShape::Make(std::move(dims));
  return rows.ok() ? std::move(*rows) : PartialShape();
}

Result<Tensor> AllocateRows(const ProduceContext& ctx, DType type, int64_t rows, std::span<const int64_t> row) {
  std::vector<int64_t> dims{rows};
  dims.insert(dims.end(), row.begin(), row.end());
  WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  return ctx.Allocate(type, std::move(shape));
}

/// No rows; unsupported where nothing says of which shape.
Result<Tensor> NoRows(const ProduceContext& ctx, const Joined& p, std::string_view port) {
  const std::optional<Shape> row = p.shape.shape();
  if (row) return AllocateRows(ctx, p.dtype, 0, row->dims());
  return Unsupported("needs a shape known in full where nothing is joined, found ", p.shape).WithPort(port);
}

/// Rows [`row`, row + the value's) of a tensor.
void CopyInto(Tensor& to, int64_t row, const Tensor& value, Workers& workers) {
  const ElementMoves& moves = MovesOf(to.dtype());
  const int64_t width = to.shape().count(1, to.shape().rank());
  moves.CopyLong(value.data(), static_cast<std::byte*>(to.data()) + row * width * moves.size, value.count(), workers);
}

/// Writes rows [begin, begin + shape[0]) of a value, or where `shape` has a rank less one row, as an element.
Status WriteRows(TensorArray& array, int64_t index, const Tensor& rows, int64_t begin, Shape shape, Workers& workers) {
  const int64_t width = rows.shape().count(1, rows.shape().rank());
  const auto* from = static_cast<const std::byte*>(rows.data()) + begin * width * static_cast<int64_t>(ElementSize(rows.dtype()));
  return array.Write(index, Tensor::View(rows.dtype(), std::move(shape), const_cast<std::byte*>(from), nullptr), workers);
}

// ---- rows ----------------------------------------------------------------------------------------------------------------------

constexpr In<1> indices{"indices", "DT_INT32", "[N]: which elements, from 0"};

namespace gather {

constexpr Out<0> value{"value", "dtype", "[N, ...]: the elements, which have one shape"};
constexpr Attr<PartialShape> element_shape{"element_shape", "?", "the shape of the elements, as far as it is known"};

Result<Joined> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, flow_in<2>));
  if (ctx.shape(indices).rank() != 1) return ctx.Error(indices, "needs a vector, found ", ctx.shape(indices));
  Joined p{ctx.attr(dtype), ctx.attr(element_shape)};
  ctx.set_unknown(value, 0, WithRows(p.shape));
  return p;
}

constexpr auto Run = [](const Joined& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, FindArray(ctx, p.dtype, dtype.name));
  if (Status status = array->NarrowShape(p.shape); !status.ok()) return std::move(status).WithPort(element_shape.name);
  const auto rows = ctx.in<int32_t>(indices);
  Tensor joined;
  if (rows.empty()) {
    WEFT_ASSIGN_OR_RETURN(joined, NoRows(ctx, p, element_shape.name));
  }
  Shape shape;
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (stop(kElementItems)) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(const Tensor element, AtPort(indices, array->Read(rows[i], ctx.workers())));
    if (i == 0) {
      shape = element.shape();
      if (!p.shape.Accepts(shape)) return ctx.Error(element_shape, "needs the shape of the elements, found ", p.shape, " where they have ", shape);
      WEFT_ASSIGN_OR_RETURN(joined, AllocateRows(ctx, p.dtype, static_cast<int64_t>(rows.size()), shape.dims()));
    } else if (element.shape() != shape) {
      return ctx.Error(indices, "needs elements of one shape, found ", shape, " at ", rows[0], " and ", element.shape(), " at ", rows[i]);
    }
    CopyInto(joined, static_cast<int64_t>(i), element, ctx.workers());
  }
  return Emitted(ctx, value, std::move(joined));
};

void Gradient(GradientBuilder& g) {
  const GradientArray gradients = AddGradientArray(g, g.in(flow_in<2>));
  g.Set(flow_in<2>, g.Add("TensorArrayScatter", {{"handle", {gradients.handle}},
                                                 {"indices", {g.in(indices)}},
                                                 {"value", {g.grad(value)}},
                                                 {"flow_in", {gradients.flow}}}));
}

}  // namespace gather

namespace scatter {

constexpr In<2> value{"value", "T", "[N, ...]: each row is an element"};

Result<DType> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, flow_in<3>));
  if (ctx.shape(indices).rank() != 1) return ctx.Error(indices, "needs a vector, found ", ctx.shape(indices));
  if (ctx.shape(value).scalar()) return ctx.Error(value, "needs rank 1 or more, found a scalar");
  if (ctx.shape(value)[0] != ctx.shape(indices)[0]) {
    return ctx.Error(value, "needs as many rows as the ", ctx.shape(indices)[0], " indices, found ", ctx.shape(value));
  }
  return ctx.dtype(value);
}

constexpr auto Run = [](const DType& type, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, FindArray(ctx, type, value.name));
  const auto places = ctx.in<int32_t>(indices);
  const Tensor rows = ViewOf(ctx, value, type);
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < places.size(); ++i) {
    if (stop(kElementItems)) return kernels::RunStopped();
    Status status = WriteRows(*array, places[i], rows, static_cast<int64_t>(i), Shape(rows.shape().dims().subspan(1)), ctx.workers());
    if (!status.ok()) return std::move(status).WithPort(indices.name);
  }
  PassFlow(ctx, flow_in<3>);
  return {};
};

void Gradient(GradientBuilder& g) {
  const GradientArray gradients = AddGradientArray(g, g.grad(flow_out));
  g.Set(value, g.Add("TensorArrayGather", {{"handle", {gradients.handle}}, {"indices", {g.in(indices)}}, {"flow_in", {gradients.flow}}},
                     {{"dtype", g.dtype(g.in(value))}}));
  g.Set(flow_in<3>, g.grad(flow_out));
}

}  // namespace scatter

namespace concat {

constexpr Out<0> value{"value", "dtype", "[rows, ...]: the rows of all elements"};
constexpr Out<1> lengths{"lengths", "DT_INT64", "[N]: how many rows each element has"};
constexpr Attr<PartialShape> element_shape_except0{"element_shape_except0", "?", "the shape of a row of the elements, as far as it is known"};

Result<Joined> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, flow_in<1>));
  Joined p{ctx.attr(dtype), ctx.attr(element_shape_except0)};
  ctx.set_unknown(value, 0, WithRows(p.shape));
  ctx.set_unknown(lengths, 0, WithRows(Shape()));
  return p;
}

/// All elements, and how many rows each has; their shapes' memory counts in `charge`.
Result<std::vector<Tensor>> ReadAll(TensorArray& array, const Joined& p, std::span<int64_t> rows, MemoryCharge& charge, const ProduceContext& ctx) {
  std::vector<Tensor> elements;
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (stop(kElementItems)) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(Tensor element, array.Read(static_cast<int64_t>(i), ctx.workers()));
    const Shape& shape = element.shape();
    if (shape.scalar()) return InvalidArgument("needs elements of rank 1 or more, found a scalar at ", i);
    const Shape row(shape.dims().subspan(1));
    if (!p.shape.Accepts(row)) {
      return InvalidArgument("needs elements with rows of the shape ", p.shape, ", found ", shape, " at ", i).WithPort(element_shape_except0.name);
    }
    if (i > 0 && !std::ranges::equal(row.dims(), elements[0].shape().dims().subspan(1))) {
      return InvalidArgument("needs elements with rows of one shape, found ", elements[0].shape(), " at 0 and ", shape, " at ", i);
    }
    rows[i] = shape[0];
    WEFT_RETURN_IF_ERROR(charge.Hold(charge.bytes() + shape.heap_bytes()));
    elements.push_back(std::move(element));
  }
  return elements;
}

constexpr auto Run = [](const Joined& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, FindArray(ctx, p.dtype, dtype.name));
  WEFT_ASSIGN_OR_RETURN(const int64_t size, array->size());
  WEFT_ASSIGN_OR_RETURN(Tensor counts, ctx.Allocate(DType::kInt64, Shape{size}));
  Tensor joined;
  if (size == 0) {
    WEFT_ASSIGN_OR_RETURN(joined, NoRows(ctx, p, element_shape_except0.name));
  } else {
    MemoryCharge charge(ctx.services().budget);
    WEFT_RETURN_IF_ERROR(charge.Hold(size * static_cast<int64_t>(2 * sizeof(Tensor))));
    const auto rows = counts.values<int64_t>();
    WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> elements, AtPort(handle, ReadAll(*array, p, rows, charge, ctx)));
    int64_t all = 0;
    for (int64_t count : rows) {
      if (__builtin_add_overflow(all, count, &all)) return ResourceExhausted("needs more rows than a tensor can have").WithPort(handle.name);
    }
    WEFT_ASSIGN_OR_RETURN(joined, AllocateRows(ctx, p.dtype, all, elements[0].shape().dims().subspan(1)));
    int64_t row = 0;
    kernels::StopCheck stop(ctx.workers());
    for (Tensor& element : elements) {
      if (stop(kElementItems)) return kernels::RunStopped();
      CopyInto(joined, row, element, ctx.workers());
      row += element.shape()[0];
      element = Tensor();
    }
  }
  return Emitted(ctx, value, std::move(joined), lengths, std::move(counts));
};

void Gradient(GradientBuilder& g) {
  if (!g.grad(value).valid()) return;
  const GradientArray gradients = AddGradientArray(g, g.in(flow_in<1>));
  g.Set(flow_in<1>, g.Add("TensorArraySplit", {{"handle", {gradients.handle}},
                                               {"value", {g.grad(value)}},
                                               {"lengths", {g.out(lengths)}},
                                               {"flow_in", {gradients.flow}}}));
}

}  // namespace concat

namespace split {

constexpr In<1> value{"value", "T", "[rows, ...]"};
constexpr In<2> lengths{"lengths", "DT_INT64", "[N]: how many rows each element gets, together all"};

Result<DType> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, flow_in<3>));
  if (ctx.shape(lengths).rank() != 1) return ctx.Error(lengths, "needs a vector, found ", ctx.shape(lengths));
  if (ctx.shape(value).scalar()) return ctx.Error(value, "needs rank 1 or more, found a scalar");
  return ctx.dtype(value);
}

/// Lengths of 0 or more that sum up to `rows`.
Status CheckLengths(RunContext& ctx, std::span<const int64_t> counts, int64_t rows) {
  kernels::StopCheck stop(ctx.workers());
  int64_t left = rows;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    if (counts[i] < 0) return ctx.Error(lengths, "needs lengths of 0 or more, found ", counts[i], " at ", i);
    if (counts[i] > left) return ctx.Error(lengths, "needs lengths of ", rows, " rows together, found more");
    left -= counts[i];
  }
  if (left == 0) return {};
  return ctx.Error(lengths, "needs lengths of ", rows, " rows together, found ", rows - left);
}

constexpr auto Run = [](const DType& type, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, FindArray(ctx, type, value.name));
  const auto counts = ctx.in<int64_t>(lengths);
  const Tensor rows = ViewOf(ctx, value, type);
  WEFT_RETURN_IF_ERROR(CheckLengths(ctx, counts, rows.shape()[0]));
  if (Status status = array->Extend(static_cast<int64_t>(counts.size())); !status.ok()) return std::move(status).WithPort(lengths.name);
  WEFT_ASSIGN_OR_RETURN(const int64_t size, array->size());
  if (size != static_cast<int64_t>(counts.size())) {
    return ctx.Error(lengths, "needs a length for each of the array's ", size, " elements, found ", counts.size());
  }
  kernels::StopCheck stop(ctx.workers());
  int64_t row = 0;
  for (size_t i = 0; i < counts.size(); row += counts[i++]) {
    if (stop(kElementItems)) return kernels::RunStopped();
    Shape shape = rows.shape();
    shape.set_dim(0, counts[i]);
    Status status = WriteRows(*array, static_cast<int64_t>(i), rows, row, std::move(shape), ctx.workers());
    if (!status.ok()) return std::move(status).WithPort(lengths.name);
  }
  PassFlow(ctx, flow_in<3>);
  return {};
};

void Gradient(GradientBuilder& g) {
  const GradientArray gradients = AddGradientArray(g, g.grad(flow_out));
  g.Set(value, g.Add("TensorArrayConcat", {{"handle", {gradients.handle}}, {"flow_in", {gradients.flow}}}, {{"dtype", g.dtype(g.in(value))}}));
  g.Set(flow_in<3>, g.grad(flow_out));
}

}  // namespace split
}  // namespace
}  // namespace arrays

BlockDef TensorArrayGather() {
  return GradientVaries(ArrayBlock("TensorArrayGather", "TensorArrayGatherV3", "Elements of a TensorArray as the rows of a tensor.")
                            .Ports(handle, indices, flow_in<2>, gather::value)
                            .Attrs(dtype, gather::element_shape)
                            .Gradient(gather::Gradient)
                            .Producer(gather::Plan, gather::Run));
}

BlockDef TensorArrayScatter() {
  return GradientVaries(ArrayBlock("TensorArrayScatter", "TensorArrayScatterV3",
                                   "Writes the rows of a tensor as elements of a TensorArray.")
                            .Ports(handle, indices, scatter::value, flow_in<3>, flow_out)
                            .Types("T", kAllTypes)
                            .Gradient(scatter::Gradient)
                            .Kernel(scatter::Plan, scatter::Run));
}

BlockDef TensorArrayConcat() {
  return GradientVaries(ArrayBlock("TensorArrayConcat", "TensorArrayConcatV3",
                                   "The elements of a TensorArray joined along their first axis.")
                            .Ports(handle, flow_in<1>, concat::value, concat::lengths)
                            .Attrs(dtype, concat::element_shape_except0)
                            .Gradient(concat::Gradient)
                            .Producer(concat::Plan, concat::Run));
}

BlockDef TensorArraySplit() {
  return GradientVaries(ArrayBlock("TensorArraySplit", "TensorArraySplitV3",
                                   "Cuts a tensor along its first axis into the elements of a TensorArray.")
                            .Ports(handle, split::value, split::lengths, flow_in<3>, flow_out)
                            .Types("T", kAllTypes)
                            .Gradient(split::Gradient)
                            .Kernel(split::Plan, split::Run));
}

}  // namespace weft::blocks
