// SparseToDense: values at given places of a tensor of one default value, and its gradient.
#include <algorithm>

#include "weft/block/block.h"

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

// How places are read; the element offset of a place is the sum of index * step over the axes.
struct Places {
  int64_t count = 0;
  std::vector<int64_t> size, step;  // of each axis of the output
  DType index_type = DType::kInt64;
  bool one_value = false;  // a scalar value for all places
  bool validate = true;
};

template <class Indices, class Shaped, class Values>
Result<Places> PlanPlaces(PlanContext& ctx, const Indices& indices, const Shaped& shaped, const Values& values) {
  const Shape& places = ctx.shape(indices);
  if (places.rank() > 2) return ctx.Error(indices, "needs a scalar, a vector or a matrix, found ", places);
  if (ctx.shape(shaped).rank() != 1) return ctx.Error(shaped, "needs a vector of sizes, found ", ctx.shape(shaped));
  Places p;
  p.count = places.rank() == 0 ? 1 : places[0];
  const int64_t rank = places.rank() == 2 ? places[1] : 1;
  p.size = ctx.ints(shaped);
  if (static_cast<int64_t>(p.size.size()) != rank) {
    return ctx.Error(shaped, "needs ", rank, " sizes, as places of shape ", places, " have indices, found ", p.size.size());
  }
  const Shape& given = ctx.shape(values);
  p.one_value = given.scalar();
  if (given.rank() > 1 || (given.rank() == 1 && given[0] != p.count)) {
    return ctx.Error(values, "needs a scalar or [", p.count, "] for places of shape ", places, ", found ", given);
  }
  p.index_type = ctx.dtype(indices);
  p.step.resize(p.size.size());
  return p;
}

// After the output's shape was found valid; an output without elements has no places, whatever the steps.
void SetSteps(Places& p, const Shape& shape) {
  if (shape.count() == 0) return;
  int64_t step = 1;
  for (size_t i = p.size.size(); i-- > 0;) {
    p.step[i] = step;
    step *= p.size[i];
  }
}

Result<Places> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanPlaces(ctx, sparse_indices, output_shape, sparse_values));
  if (!ctx.shape(default_value).scalar()) return ctx.Error(default_value, "needs a scalar, found ", ctx.shape(default_value));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(dense, p.size, output_shape));
  SetSteps(p, ctx.planned().outputs[0]);
  p.validate = ctx.attr(validate_indices);
  return p;
}

std::string PlaceText(const int64_t* index, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) text += Cat(i > 0 ? "," : "", index[i]);
  return text + "]";
}

// Calls put(place, offset) for each place in order; refuses those outside, and those out of order where that is asked for.
template <class I, class Put>
Status ForEachPlace(const Places& p, const I* index, Put&& put) {
  const size_t rank = p.size.size();
  int64_t last = -1;
  for (int64_t place = 0; place < p.count; ++place, index += rank) {
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t at = static_cast<int64_t>(index[i]);
      if (at < 0 || at >= p.size[i]) {
        std::vector<int64_t> found(index, index + rank);
        return InvalidArgument("needs indices inside ", PlaceText(p.size.data(), rank), ", found ", PlaceText(found.data(), rank),
                               " at place ", place)
            .WithPort(sparse_indices.name);
      }
      offset += at * p.step[i];
    }
    if (p.validate && offset <= last) {
      return InvalidArgument("needs places in order and each once, found place ", place,
                             offset == last ? " to repeat" : " out of order after", " place ", place - 1)
          .WithPort(sparse_indices.name)
          .WithHint("validate_indices_ = false takes them in any order");
    }
    last = offset;
    put(place, offset);
  }
  return {};
}

template <class Put>
Status ForEachPlace(const Places& p, RunContext& ctx, Put&& put) {
  if (p.index_type == DType::kInt32) return ForEachPlace(p, ctx.in<int32_t>(sparse_indices).data(), put);
  return ForEachPlace(p, ctx.in<int64_t>(sparse_indices).data(), put);
}

constexpr auto Run = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T* values = ctx.in<T>(sparse_values).data();
  const T& rest = ctx.in<T>(default_value)[0];
  auto to = ctx.out<T>(dense);
  ctx.workers().For(static_cast<int64_t>(to.size()), (int64_t{1} << 18) / static_cast<int64_t>(sizeof(T)),
                    [&](int64_t begin, int64_t end) { std::fill(to.begin() + begin, to.begin() + end, rest); });
  return ForEachPlace(p, ctx, [&](int64_t place, int64_t offset) { to[offset] = values[p.one_value ? 0 : place]; });
};

// ---- the gradient: what arrives at the places goes to the values, all else to the default ----------------------------------

constexpr In<2> like{"sparse_values", "T", "[places] or a scalar, for its shape"};
constexpr In<3> grad{"grad", "T", "the gradient of dense, of shape output_shape"};
constexpr Out<0> values_grad{"values_grad", "T", "in the shape of sparse_values"};
constexpr Out<1> default_grad{"default_grad", "T", "a scalar"};

Result<Places> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanPlaces(ctx, sparse_indices, output_shape, like));
  auto shape = Shape::Make(p.size);
  if (!shape.ok()) return std::move(shape).status().WithPort(output_shape.name);
  if (!(ctx.shape(grad) == *shape)) return ctx.Error(grad, "needs the shape ", *shape, " of dense, found ", ctx.shape(grad));
  SetSteps(p, *shape);
  p.validate = false;
  ctx.set(values_grad, ctx.shape(like));
  ctx.set(default_grad, Shape{});
  // For each element: the place that it belongs to, counted from 1, or 0.
  auto bytes = CheckedMultiply(shape->count(), sizeof(int64_t));
  if (!bytes) return ctx.Error(output_shape, "needs sizes whose product in bytes fits 63 bits, found ", *shape);
  ctx.set_scratch(*bytes);
  return p;
}

template <class T>
using Wide = std::conditional_t<Complex<T>, complex128, double>;

constexpr auto RunGrad = []<class T>(const Places& p, RunContext& ctx) -> Status {
  auto from = ctx.in<T>(grad);
  auto owner = ctx.scratch<int64_t>();
  std::fill(owner.begin(), owner.end(), 0);
  WEFT_RETURN_IF_ERROR(ForEachPlace(p, ctx, [&](int64_t place, int64_t offset) { owner[offset] = place + 1; }));
  auto to = ctx.out<T>(values_grad);
  std::fill(to.begin(), to.end(), T{});
  Wide<T> shared{}, rest{};
  for (size_t i = 0; i < from.size(); ++i) {
    if (owner[i] == 0) rest += static_cast<Wide<T>>(from[i]);
    else if (p.one_value) shared += static_cast<Wide<T>>(from[i]);
    else to[owner[i] - 1] = from[i];
  }
  if (p.one_value) to[0] = static_cast<T>(shared);
  ctx.out<T>(default_grad)[0] = static_cast<T>(rest);
  return {};
};

Status Gradient(GradientBuilder& g) {
  if (!g.grad(dense).valid()) return {};
  GradientValue both = g.Add("SparseToDenseGrad", {{"sparse_indices", {g.in(sparse_indices)}},
                                                   {"output_shape", {g.in(output_shape)}},
                                                   {"sparse_values", {g.in(sparse_values)}},
                                                   {"grad", {g.grad(dense)}}});
  g.Set(sparse_values, both);
  g.Set(default_value, GradientBuilder::Output(both, 1));
  return {};
}

// It is linear: a gradient of each part goes back to where the part came from.
Status GradGradient(GradientBuilder& g) {
  GradientValue of_values = g.grad(values_grad), of_default = g.grad(default_grad);
  if (!of_values.valid() && !of_default.valid()) return {};
  if (!of_values.valid()) of_values = g.Add("ZerosLike", {{"x", {g.out(values_grad)}}});
  if (!of_default.valid()) of_default = g.Add("ZerosLike", {{"x", {g.out(default_grad)}}});
  g.Set(grad, g.Add("SparseToDense",
                    {{"sparse_indices", {g.in(sparse_indices)}},
                     {"output_shape", {g.in(output_shape)}},
                     {"sparse_values", {of_values}},
                     {"default_value", {of_default}}},
                    {{"validate_indices", AttrValue(false)}}));
  return {};
}

}  // namespace

BlockDef SparseToDense() {
  return Block("SparseToDense", "A tensor of one default value with other values at given places.")
      .Ports(sparse_indices, output_shape, sparse_values, default_value, dense)
      .Attrs(validate_indices)
      .Types("T", kNumbers + kQuantized + TypeList<bool, std::string>{})
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

}  // namespace weft::blocks
