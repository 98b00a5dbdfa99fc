// BatchMatMul and BatchMatMulV2: products of the matrices in the last two axes.
#include "blocks/broadcast.h"
#include "blocks/gradients.h"
#include "blocks/kernels/index/walk.h"
#include "blocks/math/mat_mul.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "[..., rows, inner]; [..., inner, rows] where adj_x"};
constexpr In<1> y{"y", "T", "[..., inner, columns]; [..., columns, inner] where adj_y"};
constexpr Out<0> output{"output", "T", "[..., rows, columns]"};
constexpr Attr<bool> adj_x{"adj_x", "false", "take the matrices of x transposed and conjugated"};
constexpr Attr<bool> adj_y{"adj_y", "false", "take the matrices of y transposed and conjugated"};
constexpr Attr<bool> grad_x{"grad_x", "false", "says that x is a gradient; changes nothing"};
constexpr Attr<bool> grad_y{"grad_y", "false", "says that y is a gradient; changes nothing"};

struct Batches {
  ProductSizes sizes;
  int64_t count = 1;            // of products
  kernels::StretchedLoops<2> loops;  // over the matrices of x and y
  int64_t conjugated_x = 0, conjugated_y = 0;  // elements to conjugate first
  std::string implementation() const { return sizes.implementation(); }
};

Shape BatchShape(const Shape& shape) { return Shape(shape.dims().first(shape.rank() - 2)); }

/// How many elements have to be conjugated.
int64_t Conjugated(PlanContext& ctx, const InputPort auto& port, const Attr<bool>& adjoint) {
  return IsComplex(ctx.dtype(port)) && ctx.attr(adjoint) ? ctx.shape(port).count() : 0;
}

Result<Batches> PlanWith(PlanContext& ctx, bool broadcast) {
  const Shape &sx = ctx.shape(x), &sy = ctx.shape(y);
  if (sx.rank() < 2) return ctx.Error(x, "needs rank 2 or more, found shape ", sx);
  if (sy.rank() < 2) return ctx.Error(y, "needs rank 2 or more, found shape ", sy);
  Batches p;
  WEFT_ASSIGN_OR_RETURN(p.sizes, SizesOfProduct(sx, ctx.attr(adj_x), sy, ctx.attr(adj_y), y.name));
  const Shape bx = BatchShape(sx), by = BatchShape(sy);
  if (!broadcast && !(bx == by)) {
    return ctx.Error(y, "needs the sizes of x, ", bx, ", before its matrices (BatchMatMulV2 stretches them), found ", by);
  }
  if (!Broadcasts(bx, by)) return ctx.Error(y, "needs sizes before its matrices that fit those of x, ", bx, ", found ", by);
  WEFT_ASSIGN_OR_RETURN(const Shape batches, AtPort(y, CommonShape(bx, by)));
  std::vector<int64_t> dims(batches.dims().begin(), batches.dims().end());
  dims.push_back(p.sizes.rows);
  dims.push_back(p.sizes.columns);
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, output));
  p.count = ctx.planned().outputs[0].count() == 0 ? 0 : batches.count();
  p.loops = kernels::StretchedLoops<2>({bx.dims(), by.dims()});
  if (p.count > 1 && by.count() == 1 && !ctx.attr(adj_x)) {
    // One matrix for all: the matrices of x are one below the other.
    p.sizes.rows *= p.count;
    p.count = 1;
  }
  p.conjugated_x = Conjugated(ctx, x, adj_x);
  p.conjugated_y = Conjugated(ctx, y, adj_y);
  p.sizes.Choose(ctx.dtype(x), p.count);
  ctx.set_scratch(p.sizes.scratch + (p.conjugated_x + p.conjugated_y) * static_cast<int64_t>(ElementSize(ctx.dtype(x))));
  return p;
}

template <bool kBroadcast>
Result<Batches> Plan(PlanContext& ctx) { return PlanWith(ctx, kBroadcast); }

template <class T>
const T* ConjugateAll(const T* from, int64_t count, T* to, Workers& workers) {
  if constexpr (Complex<T>) {
    if (count == 0) return from;
    workers.For(count, 65536, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = std::conj(from[i]);
    });
    return to;
  }
  return from;
}

constexpr auto Run = []<class T>(const Batches& p, RunContext& ctx) {
  std::byte* const scratch = ctx.scratch<std::byte>().data();
  T* const conjugates = reinterpret_cast<T*>(scratch + p.sizes.scratch);
  const T* left = ConjugateAll(ctx.in<T>(x).data(), p.conjugated_x, conjugates, ctx.workers());
  const T* right = ConjugateAll(ctx.in<T>(y).data(), p.conjugated_y, conjugates + p.conjugated_x, ctx.workers());
  T* to = ctx.out<T>(output).data();
  const ProductSizes& s = p.sizes;
  const auto product = [&](int64_t batch) {
    const auto& [size, steps] = p.loops.inner;
    const kernels::Walk<kernels::StretchedAxis<2>, 2> row(p.loops.outer, batch / size);
    const int64_t x_matrix = row.offset(0) + batch % size * steps[0], y_matrix = row.offset(1) + batch % size * steps[1];
    return s.Of(left + x_matrix * s.rows * s.inner, right + y_matrix * s.inner * s.columns, to + batch * s.rows * s.columns, scratch);
  };
  kernels::MatMulAll<typename MultipliedAs<T>::Type>(p.count, ctx.workers(), product);
};

/// Gradients as TensorFlow has them; where an operand was stretched, summed back to its shape.
Status Gradient(GradientBuilder& g, const char* block, bool broadcast) {
  const bool ax = g.attr(adj_x), ay = g.attr(adj_y);
  const GradientValue dz = g.grad(output), vx = g.in(x), vy = g.in(y);
  const auto multiply = [&](GradientValue left, bool adjoint_left, GradientValue right, bool adjoint_right, GradientValue like) {
    const GradientValue result =
        g.Add(block, {{"x", {left}}, {"y", {right}}}, {{"adj_x", adjoint_left}, {"adj_y", adjoint_right}});
    return broadcast ? SumLike(g, result, like) : result;
  };
  if (g.wanted(x)) g.Set(x, ax ? multiply(vy, ay, dz, true, vx) : multiply(dz, false, vy, !ay, vx));
  if (g.wanted(y)) g.Set(y, ay ? multiply(dz, true, vx, ax, vy) : multiply(vx, !ax, dz, false, vy));
  return {};
}

template <bool kBroadcast, class Types>
BlockDef Declare(const char* name, const char* summary, Types types) {
  const auto gradient = [name](GradientBuilder& g) { return Gradient(g, name, kBroadcast); };
  return Block(name, summary)
      .Details("Integers wrap. An inner size of 0 gives zeros. half and bfloat16 are summed in float.")
      .Ports(x, y, output).Types("T", types).Attrs(adj_x, adj_y, grad_x, grad_y)
      .Gradient(gradient).Kernel(Plan<kBroadcast>, Run);
}

}  // namespace

BlockDef BatchMatMul() {
  constexpr const char* kSummary = "Multiplies the matrices in the last two axes of two tensors whose other axes agree.";
  return Declare<false>("BatchMatMul", kSummary, kFloats + TypeList<int16_t, int32_t, int64_t>{} + kComplexes);
}

BlockDef BatchMatMulV2() {
  constexpr const char* kSummary = "Multiplies the matrices in the last two axes of two tensors; the other axes are stretched to fit.";
  return Declare<true>("BatchMatMulV2", kSummary, kMultiplied);
}

}  // namespace weft::blocks
