// TensorArray makes an array for one run; TensorArrayWrite and TensorArrayRead take one element; TensorArraySize, TensorArrayClose and
// TensorArrayGrad the array.
#include "blocks/data_flow/tensor_array_blocks.h"

#include "weft/block/gradient_source.h"

namespace weft::blocks {
using namespace arrays;

namespace arrays {
namespace {

namespace make {

constexpr In<0> size{"size", "DT_INT32", "a scalar: how many elements the array has, 0 or more"};
constexpr Out<0> made{"handle", "DT_RESOURCE", "[], the handle of the array"};
constexpr Out<1> flow{"flow", "DT_FLOAT", "a scalar for the first that writes or reads; of no meaning"};
constexpr Attr<PartialShape> element_shape{"element_shape", "?", "the shape of every element, as far as it is known"};
constexpr Attr<bool> dynamic_size{"dynamic_size", "false", "a write behind the end makes the array longer"};
constexpr Attr<bool> clear_after_read{"clear_after_read", "true", "an element can be read once; its memory is given back then"};
constexpr Attr<bool> identical_element_shapes{"identical_element_shapes", "false", "all elements have the shape of the first that is written"};
constexpr Attr<std::string> tensor_array_name{"tensor_array_name", "\"\"", "for people"};

Result<TensorArraySpec> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, size));
  return TensorArraySpec{ctx.attr(dtype), ctx.attr(element_shape), ctx.attr(dynamic_size), ctx.attr(clear_after_read),
                         ctx.attr(identical_element_shapes)};
}

constexpr auto Run = [](const TensorArraySpec& spec, RunContext& ctx) -> Status {
  const int32_t count = ctx.in<int32_t>(size)[0];
  if (count < 0) return ctx.Error(size, "needs 0 or more, found ", count);
  ctx.out<ResourceHandle>(made)[0] = std::make_shared<TensorArray>(spec, count, ctx.budget());
  ctx.out<float>(flow)[0] = 0;
  return {};
};

}  // namespace make

// ---- one element ---------------------------------------------------------------------------------------------------------------

constexpr In<1> index{"index", "DT_INT32", "a scalar: which element, from 0"};

namespace write {

constexpr In<2> value{"value", "T", "of the shape that the array's elements have"};

Result<DType> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, index, flow_in<3>));
  return ctx.dtype(value);
}

constexpr auto Run = [](const DType& type, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, FindArray(ctx, type, value.name));
  Status status = array->Write(ctx.in<int32_t>(index)[0], ViewOf(ctx, value, type), ctx.workers());
  if (!status.ok()) return std::move(status).WithPort(index.name);
  PassFlow(ctx, flow_in<3>);
  return {};
};

/// What readers of the element wrote to the array of gradients.
void Gradient(GradientBuilder& g) {
  const GradientArray gradients = AddGradientArray(g, g.grad(flow_out));
  g.Set(value, g.Add("TensorArrayRead", {{"handle", {gradients.handle}}, {"index", {g.in(index)}}, {"flow_in", {gradients.flow}}},
                     {{"dtype", g.dtype(g.in(value))}}));
  g.Set(flow_in<3>, g.grad(flow_out));
}

}  // namespace write

namespace read {

constexpr Out<0> value{"value", "dtype", "the element"};

Result<DType> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, index, flow_in<2>));
  ctx.set_unknown(value);
  return ctx.attr(dtype);
}

constexpr auto Run = [](const DType& type, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, FindArray(ctx, type, dtype.name));
  WEFT_ASSIGN_OR_RETURN(Tensor element, AtPort(index, array->Read(ctx.in<int32_t>(index)[0], ctx.workers())));
  return Emitted(ctx, value, std::move(element));
};

void Gradient(GradientBuilder& g) {
  const GradientArray gradients = AddGradientArray(g, g.in(flow_in<2>));
  g.Set(flow_in<2>, g.Add("TensorArrayWrite", {{"handle", {gradients.handle}},
                                               {"index", {g.in(index)}},
                                               {"value", {g.grad(value)}},
                                               {"flow_in", {gradients.flow}}}));
}

}  // namespace read

// ---- the array -----------------------------------------------------------------------------------------------------------------

constexpr Out<0> count{"size", "DT_INT32", "a scalar: how many elements the array has"};

Status PlanHandle(PlanContext& ctx) { return CheckHandles(ctx, handle); }

constexpr auto RunSize = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const TensorArray* array, ctx.Find<TensorArray>(handle));
  WEFT_ASSIGN_OR_RETURN(const int64_t size, array->size());
  ctx.out<int32_t>(count)[0] = static_cast<int32_t>(std::min<int64_t>(size, INT32_MAX));
  return {};
};

constexpr auto RunClose = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, ctx.Find<TensorArray>(handle));
  array->Close();
  return {};
};

constexpr Out<0> grad_handle{"grad_handle", "DT_RESOURCE", "[], the handle of the array of gradients"};
constexpr Out<1> flow_of_grad{"flow_out", "DT_FLOAT", "a scalar for the first that writes or reads; of no meaning"};
constexpr Attr<std::string> source{"source", kRequired, "blocks of one source have one array of gradients"};

Result<std::string> PlanGrad(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  return ctx.attr(source);
}

constexpr auto RunGrad = [](const std::string& source_of_gradients, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(TensorArray * array, ctx.Find<TensorArray>(handle));
  WEFT_ASSIGN_OR_RETURN(ctx.out<ResourceHandle>(grad_handle)[0], array->Gradient(source_of_gradients, ctx.workers()));
  ctx.out<float>(flow_of_grad)[0] = 0;
  return {};
};

}  // namespace

GradientArray AddGradientArray(GradientBuilder& g, GradientValue flow) {
  const GradientValue made = g.Add("TensorArrayGrad", {{"handle", {g.in(handle)}}, {"flow_in", {flow}}}, {{"source", GradientSource(g)}});
  return {made, GradientBuilder::Output(made, 1)};
}

}  // namespace arrays

BlockDef TensorArray() {
  return ArrayBlock("TensorArray", "TensorArrayV3", "Makes an array of tensors that lives for one run.")
      .Details("Blocks write and read its elements by the handle; the flow, wired from each to the next, says in which order.")
      .Ports(make::size, make::made, make::flow)
      .Attrs(dtype, make::element_shape, make::dynamic_size, make::clear_after_read, make::identical_element_shapes, make::tensor_array_name)
      .NotDifferentiable()
      .Kernel(make::Plan, make::Run);
}

BlockDef TensorArrayWrite() {
  return GradientVaries(ArrayBlock("TensorArrayWrite", "TensorArrayWriteV3", "Writes an element of a TensorArray; each is written once.")
                            .Ports(handle, index, write::value, flow_in<3>, flow_out)
                            .Types("T", kAllTypes)
                            .Gradient(write::Gradient)
                            .Kernel(write::Plan, write::Run));
}

BlockDef TensorArrayRead() {
  return GradientVaries(ArrayBlock("TensorArrayRead", "TensorArrayReadV3", "Reads an element of a TensorArray.")
                            .Ports(handle, index, flow_in<2>, read::value)
                            .Attrs(dtype)
                            .Gradient(read::Gradient)
                            .Producer(read::Plan, read::Run));
}

BlockDef TensorArraySize() {
  return ArrayBlock("TensorArraySize", "TensorArraySizeV3", "How many elements a TensorArray has.")
      .Ports(handle, flow_in<1>, count)
      .NotDifferentiable()
      .Kernel(PlanHandle, RunSize);
}

BlockDef TensorArrayClose() {
  return ArrayBlock("TensorArrayClose", "TensorArrayCloseV3",
                    "Gives back the elements of a TensorArray before the run ends; it is of no use afterwards.")
      .Ports(handle)
      .NotDifferentiable()
      .Kernel(PlanHandle, RunClose);
}

BlockDef TensorArrayGrad() {
  return ArrayBlock("TensorArrayGrad", "TensorArrayGradV3",
                    "Makes the array of gradients of a TensorArray's elements, in which all that is written to an element is summed.")
      .Details("It has the size that the array has by then, and zeros for elements that were written. The array itself does not grow any more.")
      .Ports(handle, flow_in<1>, grad_handle, flow_of_grad)
      .Attrs(source)
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
