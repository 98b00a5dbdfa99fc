// SparseTensorDenseMatMul: a sparse matrix times a dense one; and the product of two dense matrices at the places of a sparse one, which
// is its gradient with respect to the sparse values.
#include <algorithm>

#include "blocks/gradients.h"
#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/reduce/segment.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> a_indices{"a_indices", "Tindices", "[places, 2]: row and column, in any order; what is named twice counts twice"};
constexpr In<1> a_values{"a_values", "T", "[places]"};
constexpr In<2> a_shape{"a_shape", "DT_INT64", "[2]: rows and columns of a"};
constexpr In<3> b{"b", "T", "[columns of a, n]; with adjoint_a [rows of a, n]; with adjoint_b the other way round"};
constexpr Out<0> product{"product", "T", "[rows of a, n]; with adjoint_a [columns of a, n]"};
constexpr Attr<bool> adjoint_a{"adjoint_a", "false", "a is transposed, and conjugated, first"};
constexpr Attr<bool> adjoint_b{"adjoint_b", "false", "b is transposed, and conjugated, first"};

struct Product {
  Places places;
  int64_t rows = 0, inner = 0, columns = 0;  // of the matrices as they are multiplied
  bool adjoint_a = false, adjoint_b = false;
  int64_t numbers = 0;  // int64_t at the start of the scratch memory; b transposed follows
};

Status CheckMatrix(PlanContext& ctx, const Places& p, const auto& sizes) {
  return p.size.size() == 2 ? Status{} : ctx.Error(sizes, "needs 2 sizes, those of a matrix, found ", p.size.size());
}

/// Scratch: row and column of each place, where the places of each row start, the places row by row; then b where it must be transposed.
Status PlanScratch(PlanContext& ctx, Product& p) {
  const int64_t starts = p.columns == 0 ? 0 : p.rows + 2;  // not more than the elements of the product, and two
  const auto places = CheckedMultiply(p.places.offset_bytes, 2);
  const auto numbers = CheckedMultiply(starts, sizeof(int64_t));
  const auto transposed = p.adjoint_b ? CheckedMultiply(ctx.shape(b).count(), static_cast<int64_t>(ElementSize(ctx.dtype(b)))) : 0;
  constexpr int64_t kMost = INT64_MAX / 4;
  if (!places || !numbers || !transposed || *places > kMost || *numbers > kMost || *transposed > kMost) {
    return ctx.Error(a_shape, "needs sizes that fit the memory, found [", p.places.size[0], ",", p.places.size[1], "]");
  }
  p.numbers = (2 * p.places.count + starts + 1) / 2 * 2;  // what follows is aligned for any type
  ctx.set_scratch(p.numbers * static_cast<int64_t>(sizeof(int64_t)) + *transposed);
  return {};
}

Result<Product> Plan(PlanContext& ctx) {
  Product p;
  WEFT_ASSIGN_OR_RETURN(p.places, PlanSparse(ctx, a_indices, a_values, a_shape));
  WEFT_RETURN_IF_ERROR(CheckMatrix(ctx, p.places, a_shape));
  p.adjoint_a = ctx.attr(adjoint_a);
  p.adjoint_b = ctx.attr(adjoint_b);
  const Shape& other = ctx.shape(b);
  if (other.rank() != 2) return ctx.Error(b, "needs a matrix, found shape ", other);
  p.rows = p.places.size[p.adjoint_a ? 1 : 0];
  p.inner = p.places.size[p.adjoint_a ? 0 : 1];
  p.columns = other[p.adjoint_b ? 0 : 1];
  if (other[p.adjoint_b ? 1 : 0] != p.inner) {
    return ctx.Error(b, "needs ", p.inner, p.adjoint_b ? " columns" : " rows", ", as many as a has ", p.adjoint_a ? "rows" : "columns",
                     ", found ", other);
  }
  const int64_t sizes[] = {p.rows, p.columns};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(product, sizes, a_shape));
  WEFT_RETURN_IF_ERROR(PlanScratch(ctx, p));
  p.places.step = {p.adjoint_a ? 0 : 1, p.adjoint_a ? 1 : 0};  // the offset of a place is its row in the product
  return p;
}

template <class T>
T ConjugateOf(const T& x) {
  if constexpr (Complex<T>) return std::conj(x);
  else return x;
}

/// to[column, row] = conj(from[row, column]), tile by tile.
template <class T>
void ConjugateTranspose(const T* from, int64_t rows, int64_t columns, T* to, Workers& workers) {
  constexpr int64_t kTile = 32;
  workers.For((rows + kTile - 1) / kTile, 1 + 512 / std::max<int64_t>(columns, 1), [&](int64_t begin, int64_t end) {
    const int64_t last = std::min(rows, end * kTile);
    kernels::StopCheck stop(workers);
    for (int64_t c0 = 0; c0 < columns && !stop(kTile * (last - begin * kTile)); c0 += kTile) {
      for (int64_t r = begin * kTile; r < last; ++r) {
        for (int64_t c = c0; c < std::min(columns, c0 + kTile); ++c) to[c * rows + r] = ConjugateOf(from[r * columns + c]);
      }
    }
  });
}

/// The places sorted by the row of the product that they add to.
struct SortedPlaces {
  const int64_t *starts, *order;  // of each row, and the places in the order of rows
  const void* indices;
  DType index_type;
  int inner_axis;  // of the indices: the one that names a row of b
  int64_t inner(int64_t place) const {
    const int64_t at = place * 2 + inner_axis;
    return index_type == DType::kInt32 ? static_cast<const int32_t*>(indices)[at] : static_cast<const int64_t*>(indices)[at];
  }
};

constexpr int64_t kColumns = 256;

/// Rows [begin, end) of the product. Each is summed in the order of its places, in columns side by side.
template <class T>
void MultiplyRows(const Product& p, const SortedPlaces& sorted, const T* values, const T* from, T* to, int64_t begin, int64_t end,
                  const Workers& workers) {
  using A = Accumulator<T>;
  A totals[kColumns];
  kernels::StopCheck stop(workers);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t column = 0; column < p.columns; column += kColumns) {
      const int64_t width = std::min(kColumns, p.columns - column);
      std::fill(totals, totals + width, A{});
      for (int64_t i = sorted.starts[row]; i < sorted.starts[row + 1]; ++i) {
        if (stop(width)) return;
        const int64_t place = sorted.order[i];
        const A factor = static_cast<A>(p.adjoint_a ? ConjugateOf(values[place]) : values[place]);
        const T* x = from + sorted.inner(place) * p.columns + column;
        for (int64_t c = 0; c < width; ++c) totals[c] = WrapAdd(totals[c], WrapMultiply(factor, static_cast<A>(x[c])));
      }
      T* out = to + row * p.columns + column;
      for (int64_t c = 0; c < width; ++c) out[c] = static_cast<T>(totals[c]);
    }
  }
}

constexpr auto Run = []<class T>(const Product& p, RunContext& ctx) -> Status {
  int64_t* scratch = ctx.scratch<int64_t>().data();
  const void* indices = BytesOf(ctx, a_indices);
  WEFT_RETURN_IF_ERROR(p.places.Check(indices, scratch, ctx.workers()));
  if (p.rows == 0 || p.columns == 0) return {};
  int64_t *order = scratch + p.places.count, *starts = order + p.places.count;
  constexpr const int64_t* kNumbers = nullptr;
  if (!kernels::GroupBySegment(scratch, kNumbers, p.places.count, p.rows, starts, order, ctx.workers())) return kernels::RunStopped();
  const T* from = ctx.in<T>(b).data();
  if (p.adjoint_b) {
    T* transposed = reinterpret_cast<T*>(scratch + p.numbers);
    ConjugateTranspose(from, p.columns, p.inner, transposed, ctx.workers());
    from = transposed;
  }
  const T* values = ctx.in<T>(a_values).data();
  T* to = ctx.out<T>(product).data();
  const SortedPlaces sorted{starts, order, indices, p.places.index_type, p.adjoint_a ? 0 : 1};
  const int64_t work = 1 + p.columns * (1 + p.places.count / p.rows);  // of a row, on average
  ctx.workers().For(p.rows, 1 + 32768 / work,
                    [&](int64_t begin, int64_t end) { MultiplyRows(p, sorted, values, from, to, begin, end, ctx.workers()); });
  return {};
};

// ---- the gradient with respect to the values ------------------------------------------------------------------------------------

constexpr In<1> shape{"shape", "DT_INT64", "[2]: rows of x and rows of y"};
constexpr In<2> x{"x", "T", "[rows, n]"};
constexpr In<3> y{"y", "T", "[columns, n]"};
constexpr Out<0> sampled{"output", "T", "[places]: at each place the element of x times the adjoint of y"};

Result<Product> PlanSampled(PlanContext& ctx) {
  Product p;
  WEFT_ASSIGN_OR_RETURN(p.places, PlanPlaces(ctx, a_indices, shape));
  WEFT_RETURN_IF_ERROR(CheckMatrix(ctx, p.places, shape));
  const Shape &left = ctx.shape(x), &right = ctx.shape(y);
  if (left.rank() != 2 || left[0] != p.places.size[0]) return ctx.Error(x, "needs ", p.places.size[0], " rows, found shape ", left);
  if (right.rank() != 2 || right[0] != p.places.size[1] || right[1] != left[1]) {
    return ctx.Error(y, "needs the shape [", p.places.size[1], ",", left[1], "], found ", right);
  }
  p.inner = left[1];
  ctx.set(sampled, Shape{p.places.count});
  return p;
}

constexpr auto RunSampled = []<class T>(const Product& p, RunContext& ctx) -> Status {
  const void* indices = BytesOf(ctx, a_indices);
  WEFT_RETURN_IF_ERROR(p.places.Check(indices, nullptr, ctx.workers()));
  const T *left = ctx.in<T>(x).data(), *right = ctx.in<T>(y).data();
  T* to = ctx.out<T>(sampled).data();
  const SortedPlaces rows{nullptr, nullptr, indices, p.places.index_type, 0}, columns{nullptr, nullptr, indices, p.places.index_type, 1};
  kernels::ForEach(ctx.workers(), p.places.count, 1 + 16384 / (1 + p.inner), [&](int64_t place) {
    const T *l = left + rows.inner(place) * p.inner, *r = right + columns.inner(place) * p.inner;
    SumType<T> total{};
    kernels::ForTiles(ctx.workers(), p.inner, int64_t{1} << 18, [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j) total += static_cast<SumType<T>>(l[j]) * static_cast<SumType<T>>(ConjugateOf(r[j]));
    });
    to[place] = static_cast<T>(total);
  });
  return {};
};

GradientValue Multiplied(GradientBuilder& g, GradientValue values, GradientValue sizes, GradientValue dense, bool adjoint) {
  return g.Add("SparseTensorDenseMatMul",
               {{"a_indices", {g.in(a_indices)}}, {"a_values", {values}}, {"a_shape", {sizes}}, {"b", {dense}}},
               {{"adjoint_a", AttrValue(adjoint)}});
}

GradientValue Adjoint(GradientBuilder& g, GradientValue matrix) {
  const GradientValue transposed = g.Add("Transpose", {{"x", {matrix}}, {"perm", {g.Constant(Tensor::Of<int32_t>({1, 0}))}}});
  return Conjugate(g, transposed);
}

void Gradient(GradientBuilder& g) {
  const bool turns_a = g.attr(adjoint_a), turns_b = g.attr(adjoint_b);
  const GradientValue dz = g.grad(product), sizes = g.in(a_shape);
  if (g.wanted(b)) {
    const GradientValue db = Multiplied(g, g.in(a_values), sizes, dz, !turns_a);
    g.Set(b, turns_b ? Adjoint(g, db) : db);
  }
  if (g.wanted(a_values)) {
    const GradientValue other = turns_b ? Adjoint(g, g.in(b)) : g.in(b);
    g.Set(a_values, g.Add("SparseSampledProduct", {{"a_indices", {g.in(a_indices)}},
                                                   {"shape", {sizes}},
                                                   {"x", {turns_a ? other : dz}},
                                                   {"y", {turns_a ? dz : other}}}));
  }
}

void SampledGradient(GradientBuilder& g) {
  const GradientValue dv = g.grad(sampled), sizes = g.in(shape);
  if (g.wanted(x)) g.Set(x, Multiplied(g, dv, sizes, g.in(y), false));
  if (g.wanted(y)) g.Set(y, Multiplied(g, dv, sizes, g.in(x), true));
}

}  // namespace

BlockDef SparseTensorDenseMatMul() {
  return Block("SparseTensorDenseMatMul", "Multiplies a sparse matrix by a dense one.")
      .Details("Elements of b that meet no place do not count, not even NaN. Integers wrap; half and bfloat16 are summed in float.")
      .Ports(a_indices, a_values, a_shape, b, product)
      .Types("T", kFloats + kComplexes + TypeList<int32_t>{})
      .Types("Tindices", kIndices)
      .Attrs(adjoint_a, adjoint_b)
      .ShapedBy(a_shape)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef SparseSampledProduct() {
  return Block("SparseSampledProduct", "The product of a matrix and the adjoint of another one, at the places of a sparse matrix only.")
      .Ports(a_indices, shape, x, y, sampled)
      .Types("T", kFloats + kComplexes)
      .Types("Tindices", kIndices)
      .ShapedBy(shape)
      .Internal()
      .Gradient(SampledGradient)
      .Kernel(PlanSampled, RunSampled);
}

}  // namespace weft::blocks
