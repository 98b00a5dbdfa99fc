// SparseToDense: values at given places of a tensor of one default value, and its gradient. SparseTensorDenseAdd: values added at given
// places of a dense tensor.
#include <algorithm>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> sparse_indices{"sparse_indices", "Tindices",
                               "[places, rank], [places] for an output of rank 1, or a scalar for one place there"};
constexpr In<1> output_shape{"output_shape", "Tindices", "[rank]: the shape of the output"};
constexpr In<2> sparse_values{"sparse_values", "T", "[places], or a scalar for all places"};
constexpr In<3> default_value{"default_value", "T", "a scalar: the value of all other places"};
constexpr Out<0> dense{"dense", "T", "of shape output_shape"};
constexpr Attr<bool> validate_indices{"validate_indices", "true",
                                      "refuse places out of order or named twice; otherwise the last value for a place counts"};

struct Placed : Places {
  bool one_value = false;  // a scalar value for all places
  bool validate = true;
};

Result<Placed> PlanPlaced(PlanContext& ctx, const auto& indices, const auto& shaped, const auto& values) {
  WEFT_ASSIGN_OR_RETURN(Places places, PlanPlaces(ctx, indices, shaped, PlaceForms::kAny));
  Placed p{std::move(places)};
  p.one_value = ctx.shape(values).scalar();
  if (!p.one_value) WEFT_RETURN_IF_ERROR(CheckValues(ctx, p, values));
  return p;
}

Result<Placed> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Placed p, PlanPlaced(ctx, sparse_indices, output_shape, sparse_values));
  if (!ctx.shape(default_value).scalar()) return ctx.Error(default_value, "needs a scalar, found ", ctx.shape(default_value));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(dense, p.size, output_shape));
  p.SetDenseSteps();
  p.validate = ctx.attr(validate_indices);
  ctx.set_scratch(p.offset_bytes);
  return p;
}

constexpr auto Run = []<class T>(const Placed& p, RunContext& ctx) -> Status {
  const void* indices = BytesOf(ctx, sparse_indices);
  const auto offsets = ctx.scratch<int64_t>();
  WEFT_RETURN_IF_ERROR(p.Check(indices, offsets.data(), ctx.workers()));
  if (p.validate) {
    Status order = p.CheckOrder(indices, true, ctx.workers());
    if (order.code() == Code::kCancelled) return order;
    if (!order.ok()) return std::move(order).WithHint("validate_indices_ = false takes them in any order");
  }
  const T* values = ctx.in<T>(sparse_values).data();
  const T& rest = ctx.in<T>(default_value)[0];
  auto to = ctx.out<T>(dense);
  kernels::FillLong(ctx.workers(), to.data(), static_cast<int64_t>(to.size()), rest);
  kernels::StopCheck stop(ctx.workers());
  for (int64_t place = 0; place < p.count && !stop(4); ++place) to[offsets[place]] = values[p.one_value ? 0 : place];
  return {};
};

// ---- the gradient: what arrives at the places goes to the values, all else to the default ----------------------------------

constexpr In<2> like{"sparse_values", "T", "[places] or a scalar, for its shape"};
constexpr In<3> grad{"grad", "T", "the gradient of dense, of shape output_shape"};
constexpr Out<0> values_grad{"values_grad", "T", "in the shape of sparse_values"};
constexpr Out<1> default_grad{"default_grad", "T", "a scalar"};

Result<Placed> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Placed p, PlanPlaced(ctx, sparse_indices, output_shape, like));
  WEFT_ASSIGN_OR_RETURN(const Shape shape, AtPort(output_shape, Shape::Make(p.size)));
  if (ctx.shape(grad) != shape) return ctx.Error(grad, "needs the shape ", shape, " of dense, found ", ctx.shape(grad));
  p.SetDenseSteps();
  ctx.set(values_grad, ctx.shape(like));
  ctx.set(default_grad, Shape{});
  // The offsets, and for each element: the place that it belongs to, counted from 1, or 0.
  const auto bytes = CheckedMultiply(shape.count(), sizeof(int64_t));
  if (!bytes || *bytes > INT64_MAX - p.offset_bytes) {
    return ctx.Error(output_shape, "needs sizes whose product in bytes fits 63 bits, found ", shape);
  }
  ctx.set_scratch(p.offset_bytes + *bytes);
  return p;
}

constexpr auto RunGrad = []<class T>(const Placed& p, RunContext& ctx) -> Status {
  auto from = ctx.in<T>(grad);
  const auto offsets = ctx.scratch<int64_t>().first(static_cast<size_t>(p.count));
  WEFT_RETURN_IF_ERROR(p.Check(BytesOf(ctx, sparse_indices), offsets.data(), ctx.workers()));
  const auto owner = ctx.scratch<int64_t>().subspan(offsets.size());
  kernels::FillLong(ctx.workers(), owner.data(), static_cast<int64_t>(owner.size()), int64_t{0});
  kernels::StopCheck stop(ctx.workers());
  for (int64_t place = 0; place < p.count && !stop(4); ++place) owner[offsets[place]] = place + 1;
  auto to = ctx.out<T>(values_grad);
  kernels::FillLong(ctx.workers(), to.data(), static_cast<int64_t>(to.size()), T{});
  if (ctx.cancelled()) return kernels::RunStopped();  // not every owner was written
  SumType<T> shared{}, rest{};
  for (size_t i = 0; i < from.size() && !stop(); ++i) {
    if (owner[i] == 0) rest += static_cast<SumType<T>>(from[i]);
    else if (p.one_value) shared += static_cast<SumType<T>>(from[i]);
    else to[owner[i] - 1] = from[i];
  }
  if (p.one_value) to[0] = static_cast<T>(shared);
  ctx.out<T>(default_grad)[0] = static_cast<T>(rest);
  return {};
};

void Gradient(GradientBuilder& g) {
  GradientValue both = g.Add("SparseToDenseGrad", {{"sparse_indices", {g.in(sparse_indices)}},
                                                   {"output_shape", {g.in(output_shape)}},
                                                   {"sparse_values", {g.in(sparse_values)}},
                                                   {"grad", {g.grad(dense)}}});
  g.Set(sparse_values, both);
  g.Set(default_value, GradientBuilder::Output(both, 1));
}

// It is linear: a gradient of each part goes back to where the part came from.
void GradGradient(GradientBuilder& g) {
  GradientValue of_values = g.grad(values_grad), of_default = g.grad(default_grad);
  if (!of_values.valid() && !of_default.valid()) return;
  if (!of_values.valid()) of_values = g.Add("ZerosLike", {{"x", {g.out(values_grad)}}});
  if (!of_default.valid()) of_default = g.Add("ZerosLike", {{"x", {g.out(default_grad)}}});
  g.Set(grad, g.Add("SparseToDense",
                    {{"sparse_indices", {g.in(sparse_indices)}},
                     {"output_shape", {g.in(output_shape)}},
                     {"sparse_values", {of_values}},
                     {"default_value", {of_default}}},
                    {{"validate_indices", AttrValue(false)}}));
}

constexpr In<0> a_indices{"a_indices", "Tindices", "[places, rank], in any order; what is named twice is added twice"};
constexpr In<1> a_values{"a_values", "T", "[places]"};
constexpr In<2> a_shape{"a_shape", "Tindices", "[rank]: the shape of both tensors, of 1 to 5 axes"};
constexpr In<3> b{"b", "T", "of shape a_shape"};
constexpr Out<0> added{"output", "T", "of shape a_shape"};

Result<Places> PlanAdd(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanSparse(ctx, a_indices, a_values, a_shape));
  const Shape& shape = ctx.shape(b);
  if (p.size.empty() || p.size.size() > 5) return ctx.Error(a_shape, "needs 1 to 5 sizes, found ", p.size.size());
  if (!std::ranges::equal(shape.dims(), p.size)) {
    return ctx.Error(b, "needs the shape that a_shape says, ", p.SizeText(), ", found ", shape);
  }
  p.SetDenseSteps();
  ctx.set(added, shape);
  ctx.set_scratch(p.offset_bytes);
  return p;
}

constexpr auto RunAdd = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T *values = ctx.in<T>(a_values).data(), *from = ctx.in<T>(b).data();
  const auto to = ctx.out<T>(added);
  int64_t* offsets = ctx.scratch<int64_t>().data();
  WEFT_RETURN_IF_ERROR(p.Check(BytesOf(ctx, a_indices), offsets, ctx.workers()));
  kernels::CopyLong(ctx.workers(), from, to.data(), static_cast<int64_t>(to.size()));
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < p.count && !stop(4); ++i) to[offsets[i]] = WrapAdd(to[offsets[i]], values[i]);
  return {};
};

void AddGradient(GradientBuilder& g) {
  const GradientValue dz = g.grad(added);
  if (g.wanted(a_values)) g.Set(a_values, g.Add("GatherNd", {{"params", {dz}}, {"indices", {g.in(a_indices)}}}));
  g.Set(b, dz);
}

}  // namespace

BlockDef SparseToDense() {
  return Block("SparseToDense", "A tensor of one default value with other values at given places.")
      .Ports(sparse_indices, output_shape, sparse_values, default_value, dense)
      .Attrs(validate_indices)
      .Types("T", kNumbers + kQuantized + TypeList<bool, String>{})
      .Types("Tindices", kIndices)
      .ShapedBy(output_shape)
      .Gradient(Gradient)
      .Kernel(Plan, Run, kBySize);
}

BlockDef SparseToDenseGrad() {
  return Block("SparseToDenseGrad", "The gradient of SparseToDense with respect to its values and its default value.")
      .Ports(sparse_indices, output_shape, like, grad, values_grad, default_grad)
      .Types("T", kFloats + kComplexes)
      .Types("Tindices", kIndices)
      .ShapedBy(output_shape)
      .Internal()
      .Gradient(GradGradient)
      .Kernel(PlanGrad, RunGrad);
}

BlockDef SparseTensorDenseAdd() {
  return Block("SparseTensorDenseAdd", "Adds a sparse tensor to a dense one of the same shape.")
      .Ports(a_indices, a_values, a_shape, b, added)
      .Types("T", kNumbers)
      .Types("Tindices", kIndices)
      .ShapedBy(a_shape)
      .Gradient(AddGradient)
      .Kernel(PlanAdd, RunAdd);
}

}  // namespace weft::blocks
