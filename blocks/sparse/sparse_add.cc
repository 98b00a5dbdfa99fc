// SparseAdd: the sum of two sparse tensors, and its gradient.
#include <algorithm>
#include <cmath>
#include <utility>

#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/merge.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

using namespace merge;

constexpr In<6> thresh{"thresh", "Treal", "a scalar: where both tensors have a place, a sum of smaller magnitude is left out"};
constexpr Out<0> sum_indices{"sum_indices", "DT_INT64", "[places, rank], in row-major order"};
constexpr Out<1> sum_values{"sum_values", "T", "[places]"};
constexpr Out<2> sum_shape{"sum_shape", "DT_INT64", "[rank]: a_shape"};

constexpr auto kSummed = TypeList<float, double>{} + kSigned + kComplexes;

struct Sum : Operands {
  DType limit_dtype = DType::kInvalid;
};

Result<Sum> Plan(PlanContext& ctx) {
  Sum p;
  WEFT_ASSIGN_OR_RETURN(static_cast<Operands&>(p), PlanOperands(ctx));
  if (!ctx.shape(thresh).scalar()) return ctx.Error(thresh, "needs a scalar, found shape ", ctx.shape(thresh));
  p.limit_dtype = ctx.dtype(thresh);
  ctx.set_unknown(sum_indices, 0, PartialShape::Make({-1, static_cast<int64_t>(p.a.rank())}).value());
  ctx.set_unknown(sum_values, 0, PartialShape::Make({-1}).value());
  ctx.set(sum_shape, ctx.shape(a_shape));
  return p;
}

/// What the magnitude of a sum is compared with. A double holds no 64-bit integer, nor an integer a fraction: neither is rounded to the other.
struct Limit {
  bool whole = false;
  uint64_t integer = 0;  // where `whole`
  double number = 0;     // elsewhere; also for negative integers, which every magnitude reaches

  template <class T>
  static Limit Of(const T& limit) {
    if constexpr (std::is_integral_v<T>) {
      if (std::cmp_greater_equal(limit, 0)) return {true, static_cast<uint64_t>(limit), 0};
    }
    return {false, 0, static_cast<double>(limit)};
  }
  bool ReachedBy(uint64_t magnitude) const {
    if (whole) return integer <= magnitude;
    if (number <= 0) return true;
    return number < 0x1p64 && static_cast<uint64_t>(std::ceil(number)) <= magnitude;  // not for NaN
  }
  bool ReachedBy(double magnitude) const {
    if (!whole) return number <= magnitude;  // neither for NaN
    return magnitude >= 0x1p64 || (magnitude >= 0 && integer <= static_cast<uint64_t>(magnitude));
  }
};

template <class T>
auto Magnitude(const T& x) {
  if constexpr (std::is_integral_v<T>) return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  else return static_cast<double>(std::abs(x));
}

constexpr auto Run = [](const Sum& p, ProduceContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(p.a.Check(BytesOf(ctx, a_indices), nullptr, ctx.workers()));
  WEFT_RETURN_IF_ERROR(p.b.Check(BytesOf(ctx, b_indices), nullptr, ctx.workers()));
  WEFT_RETURN_IF_ERROR(p.a.CheckOrder(BytesOf(ctx, a_indices), false, ctx.workers()));
  WEFT_RETURN_IF_ERROR(p.b.CheckOrder(BytesOf(ctx, b_indices), false, ctx.workers()));
  const Limit limit = Dispatch(p.limit_dtype, kReals, [&]<class T>() { return Limit::Of(ctx.in<T>(thresh)[0]); });
  WEFT_ASSIGN_OR_RETURN(Tensor shape, ctx.Copy(a_shape, DType::kInt64));
  ctx.Emit(sum_shape, std::move(shape));
  return EmitMerged(p, kSummed, ctx, sum_indices, sum_values, [&]<class T>(const T* x, const T* y, T& sum) {
    if (x == nullptr || y == nullptr) {
      sum = x != nullptr ? *x : *y;
      return true;
    }
    sum = WrapAdd(*x, *y);
    return limit.ReachedBy(Magnitude(sum));  // NaN is not kept
  });
};

void Gradient(GradientBuilder& g) {
  const GradientValue both = g.Add("SparseAddGrad", {{"backprop_val_grad", {g.grad(sum_values)}},
                                                     {"a_indices", {g.in(a_indices)}},
                                                     {"b_indices", {g.in(b_indices)}},
                                                     {"sum_indices", {g.out(sum_indices)}}});
  g.Set(a_values, both);
  g.Set(b_values, GradientBuilder::Output(both, 1));
}

// ---- SparseAddGrad -------------------------------------------------------------------------------------------------------------

constexpr In<0> grad{"backprop_val_grad", "T", "[places]: the gradient of sum_values"};
constexpr In<1> left{"a_indices", "DT_INT64", "[a places, rank], in row-major order"};
constexpr In<2> right{"b_indices", "DT_INT64", "[b places, rank], in row-major order"};
constexpr In<3> kept{"sum_indices", "DT_INT64", "[places, rank], in row-major order: the places that the sum has"};
constexpr Out<0> left_grad{"a_val_grad", "T", "[a places]; 0 where the sum has no such place"};
constexpr Out<1> right_grad{"b_val_grad", "T", "[b places]; 0 where the sum has no such place"};

Status PlanGrad(PlanContext& ctx) {
  const auto matrix = [&](const auto& port) {
    return ctx.shape(port).rank() == 2 ? Status{}
                                       : ctx.Error(port, "needs a matrix with a row for each place, found shape ", ctx.shape(port));
  };
  WEFT_RETURN_IF_ERROR(matrix(left));
  WEFT_RETURN_IF_ERROR(matrix(right));
  WEFT_RETURN_IF_ERROR(matrix(kept));
  const auto same_rank = [&](const auto& port) {
    return ctx.shape(port)[1] == ctx.shape(kept)[1]
               ? Status{}
               : ctx.Error(port, "needs ", ctx.shape(kept)[1], " columns, as sum_indices has, found ", ctx.shape(port)[1]);
  };
  WEFT_RETURN_IF_ERROR(same_rank(left));
  WEFT_RETURN_IF_ERROR(same_rank(right));
  if (ctx.shape(grad).rank() != 1 || ctx.shape(grad)[0] != ctx.shape(kept)[0]) {
    return ctx.Error(grad, "needs [", ctx.shape(kept)[0], "], an element for each place in sum_indices, found ", ctx.shape(grad));
  }
  ctx.set(left_grad, Shape{ctx.shape(left)[0]});
  ctx.set(right_grad, Shape{ctx.shape(right)[0]});
  return {};
}

/// to[i] = the gradient at the place of the sum that equals place i, or 0. Of places that repeat, each has one of the sum.
template <class T>
void TakeGradients(std::span<const int64_t> places, std::span<const int64_t> sum, int64_t rank, std::span<const T> from, std::span<T> to,
                   const Workers& workers) {
  kernels::StopCheck stop(workers);
  size_t k = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (stop(rank + 2)) return;
    const int64_t* index = places.data() + static_cast<int64_t>(i) * rank;
    int order = 1;
    while (k < from.size()) {
      if (stop(rank + 2)) return;
      order = CompareIndices(sum.data() + static_cast<int64_t>(k) * rank, index, static_cast<size_t>(rank));
      if (order >= 0) break;
      ++k;
    }
    to[i] = k < from.size() && order == 0 ? from[k++] : T{};
  }
}

constexpr auto RunGrad = []<class T>(const NoParameters&, RunContext& ctx) {
  const auto sum = ctx.in<int64_t>(kept);
  const int64_t rank = ctx.shape(kept)[1];
  TakeGradients(ctx.in<int64_t>(left), sum, rank, ctx.in<T>(grad), ctx.out<T>(left_grad), ctx.workers());
  TakeGradients(ctx.in<int64_t>(right), sum, rank, ctx.in<T>(grad), ctx.out<T>(right_grad), ctx.workers());
};

}  // namespace

BlockDef SparseAdd() {
  return Block("SparseAdd", "Adds two sparse tensors of the same shape.")
      .Details("What only one of them has is kept whatever the threshold; a sum that is NaN is left out. Integers wrap.")
      .Ports(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh, sum_indices, sum_values, sum_shape)
      .Types("T", kSummed)
      .Types("Treal", kReals)
      .ShapedBy(a_shape, b_shape)
      .Gradient(Gradient)
      .Producer(Plan, Run);
}

BlockDef SparseAddGrad() {
  return Block("SparseAddGrad", "The gradient of SparseAdd with respect to the values of both tensors.")
      .Ports(grad, left, right, kept, left_grad, right_grad)
      .Types("T", kSummed)
      .NotDifferentiable()
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
