// Diag, DiagPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag, MatrixBandPart: diagonals and bands of matrices. The first two see a tensor
// of rank 2k as one matrix, the others its last two axes.
#include <algorithm>

#include "blocks/gradient_block.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr auto kElements = kNumbers + kQuantized + TypeList<bool>{};

constexpr In<0> diagonal{"diagonal", "T", "[D1, ..., Dk], of rank 1 or more"};
constexpr Out<0> output{"output", "T", "[D1, ..., Dk, D1, ..., Dk]: zeros, with the values on the diagonal"};
constexpr In<0> input{"input", "T", "[D1, ..., Dk, D1, ..., Dk]"};
constexpr Out<0> part{"diagonal", "T", "[D1, ..., Dk]: the values on the diagonal"};

constexpr In<0> diagonals{"diagonal", "T", "[..., N]"};
constexpr Out<0> matrices{"output", "T", "[..., N, N]: zeros, with the values on the diagonals"};
constexpr In<0> matrix{"input", "T", "[..., M, N]"};
constexpr Out<0> parts{"diagonal", "T", "[..., min(M, N)]: the values on the diagonals"};
constexpr In<1> values{"diagonal", "T", "[..., min(M, N)]: the new values"};
constexpr Out<0> replaced{"output", "T", "[..., M, N]: the input with other diagonals"};

constexpr In<1> num_lower{"num_lower", "Tindex", "a scalar: how many diagonals below the main one stay; negative for all"};
constexpr In<2> num_upper{"num_upper", "Tindex", "a scalar: how many diagonals above the main one stay; negative for all"};
constexpr Out<0> band{"band", "T", "[..., M, N]: the input, with zeros outside the band"};

struct Matrices {
  int64_t count = 1, rows = 0, columns = 0;
  DType index = DType::kInt64;
  int64_t diagonal() const { return std::min(rows, columns); }
};

int64_t Grain(int64_t bytes_each) { return std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(bytes_each, 8)); }

/// The last two axes as matrices.
Result<Matrices> MatricesOf(PlanContext& ctx, const auto& port) {
  const Shape& shape = ctx.shape(port);
  const int rank = shape.rank();
  if (rank < 2) return ctx.Error(port, "needs rank 2 or more, found ", shape);
  return Matrices{shape.count(0, rank - 2), shape[rank - 2], shape[rank - 1]};
}

/// The shape of the diagonals of `shape`.
Shape DiagonalShape(const Shape& shape) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end() - 1);
  dims.back() = std::min(dims.back(), shape[shape.rank() - 1]);
  return Shape(dims);
}

Result<Matrices> PlanDiag(PlanContext& ctx) {
  const Shape& shape = ctx.shape(diagonal);
  if (shape.rank() == 0) return ctx.Error(diagonal, "needs rank 1 or more, found a scalar");
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, diagonal));
  return Matrices{1, shape.count(), shape.count()};
}

Result<Matrices> PlanDiagPart(PlanContext& ctx) {
  const auto dims = ctx.shape(input).dims();
  const size_t half = dims.size() / 2;
  bool twice = dims.size() == 2 * half && half > 0 && std::ranges::equal(dims.first(half), dims.last(half));
  if (!twice) return ctx.Error(input, "needs a shape that is the same list of sizes twice, found ", ctx.shape(input));
  Shape shape(dims.first(half));
  Matrices m{1, shape.count(), shape.count()};
  ctx.set(part, std::move(shape));
  return m;
}

Result<Matrices> PlanMatrixDiag(PlanContext& ctx) {
  const Shape& shape = ctx.shape(diagonals);
  if (shape.rank() == 0) return ctx.Error(diagonals, "needs rank 1 or more, found a scalar");
  const int64_t size = shape[shape.rank() - 1];
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.push_back(size);
  WEFT_RETURN_IF_ERROR(ctx.set_checked(matrices, dims, diagonals));
  return Matrices{shape.count(0, shape.rank() - 1), size, size};
}

Result<Matrices> PlanMatrixDiagPart(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Matrices m, MatricesOf(ctx, matrix));
  ctx.set(parts, DiagonalShape(ctx.shape(matrix)));
  return m;
}

Result<Matrices> PlanSetDiag(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Matrices m, MatricesOf(ctx, matrix));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, values, DiagonalShape(ctx.shape(matrix)), "the input's diagonals"));
  ctx.set(replaced, ctx.shape(matrix));
  return m;
}

Result<Matrices> PlanBand(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Matrices m, MatricesOf(ctx, matrix));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, num_lower, num_upper));
  m.index = ctx.dtype(num_lower);
  ctx.set(band, ctx.shape(matrix));
  return m;
}

/// Each row is that of `rows`, or zeros without one, with one element from the diagonal.
template <class T>
void SetDiagonals(const Matrices& m, RunContext& ctx, const T* rows, const T* from, T* to) {
  if (m.columns == 0) return;  // however many rows without elements there are
  kernels::ForEach(ctx.workers(), m.count * m.rows, Grain(m.columns * static_cast<int64_t>(sizeof(T))), [&](int64_t r) {
    T* row = to + r * m.columns;
    if (rows == nullptr) kernels::FillLong(ctx.workers(), row, m.columns, T{});
    else kernels::CopyLong(ctx.workers(), rows + r * m.columns, row, m.columns);
    const int64_t batch = r / m.rows, i = r - batch * m.rows;
    if (i < m.columns) row[i] = from[batch * m.diagonal() + i];
  });
}

template <class T>
void TakeDiagonals(const Matrices& m, RunContext& ctx, const T* from, T* to) {
  const int64_t size = m.diagonal();
  kernels::ForEach(ctx.workers(), m.count * size, 16384, [&](int64_t d) {
    const int64_t batch = d / size, i = d - batch * size;
    to[d] = from[(batch * m.rows + i) * m.columns + i];
  });
}

constexpr auto RunDiag = []<class T>(const Matrices& m, RunContext& ctx) {
  SetDiagonals<T>(m, ctx, nullptr, ctx.in<T>(diagonals).data(), ctx.out<T>(matrices).data());
};
constexpr auto RunPart = []<class T>(const Matrices& m, RunContext& ctx) {
  TakeDiagonals<T>(m, ctx, ctx.in<T>(matrix).data(), ctx.out<T>(parts).data());
};
constexpr auto RunSet = []<class T>(const Matrices& m, RunContext& ctx) {
  SetDiagonals<T>(m, ctx, ctx.in<T>(matrix).data(), ctx.in<T>(values).data(), ctx.out<T>(replaced).data());
};

/// The number of diagonals that stay on one side, `size` rows or columns long.
Result<int64_t> Kept(const Matrices& m, RunContext& ctx, const auto& port, int64_t size) {
  const int64_t number = m.index == DType::kInt64 ? ctx.in<int64_t>(port)[0] : ctx.in<int32_t>(port)[0];
  if (number > size) return ctx.Error(port, "needs a negative number or at most the size of the side, ", size, ", found ", number);
  return number < 0 ? size : number;
}

constexpr auto RunBand = []<class T>(const Matrices& m, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const int64_t lower, Kept(m, ctx, num_lower, m.rows));
  WEFT_ASSIGN_OR_RETURN(const int64_t upper, Kept(m, ctx, num_upper, m.columns));
  const T* from = ctx.in<T>(matrix).data();
  T* to = ctx.out<T>(band).data();
  if (m.columns == 0) return {};  // however many rows without elements there are
  kernels::ForEach(ctx.workers(), m.count * m.rows, Grain(m.columns * static_cast<int64_t>(sizeof(T))), [&](int64_t r) {
    const int64_t i = r % m.rows;
    const int64_t first = std::clamp<int64_t>(i - lower, 0, m.columns), last = std::clamp(i + upper + 1, first, m.columns);
    const int64_t row = r * m.columns;
    kernels::FillLong(ctx.workers(), to + row, first, T{});
    kernels::CopyLong(ctx.workers(), from + row + first, to + row + first, last - first);
    kernels::FillLong(ctx.workers(), to + row + last, m.columns - last, T{});
  });
  return {};
};

void MatrixDiagPartGradient(GradientBuilder& g) {
  g.Set(matrix, g.Add("MatrixSetDiag", {{"input", {Applied(g, "ZerosLike", g.in(matrix))}}, {"diagonal", {g.grad(parts)}}}));
}
void SetDiagGradient(GradientBuilder& g) {
  if (g.wanted(matrix)) {
    g.Set(matrix, g.Add("MatrixSetDiag", {{"input", {g.grad(replaced)}}, {"diagonal", {Applied(g, "ZerosLike", g.in(values))}}}));
  }
  if (g.wanted(values)) g.Set(values, g.Add("MatrixDiagPart", {{"input", {g.grad(replaced)}}}));
}

}  // namespace

BlockDef Diag() {
  return Block("Diag", "A tensor of twice the rank with the values on its diagonal.")
      .Ports(diagonal, output).Types("T", kElements)
      .Gradient(GradientBlock(diagonal, "DiagPart", {{"input", Grad(output)}})).Kernel(PlanDiag, RunDiag, kBySize);
}

BlockDef DiagPart() {
  return Block("DiagPart", "The diagonal of a tensor whose shape is a list of sizes twice.")
      .Ports(input, part).Types("T", kElements)
      .Gradient(GradientBlock(input, "Diag", {{"diagonal", Grad(part)}})).Kernel(PlanDiagPart, RunPart, kBySize);
}

BlockDef MatrixDiag() {
  return Block("MatrixDiag", "Matrices with the values on their diagonals.")
      .Ports(diagonals, matrices).Types("T", kElements)
      .Gradient(GradientBlock(diagonals, "MatrixDiagPart", {{"input", Grad(matrices)}})).Kernel(PlanMatrixDiag, RunDiag, kBySize);
}

BlockDef MatrixDiagPart() {
  return Block("MatrixDiagPart", "The diagonals of matrices.")
      .Ports(matrix, parts).Types("T", kElements).Gradient(MatrixDiagPartGradient).Kernel(PlanMatrixDiagPart, RunPart, kBySize);
}

BlockDef MatrixSetDiag() {
  return Block("MatrixSetDiag", "Matrices with other values on their diagonals.")
      .Ports(matrix, values, replaced).Types("T", kElements).Gradient(SetDiagGradient).Kernel(PlanSetDiag, RunSet, kBySize);
}

BlockDef MatrixBandPart() {
  return Block("MatrixBandPart", "Matrices with zeros outside a band round their diagonals.")
      .Ports(matrix, num_lower, num_upper, band).Types("T", kElements).Types("Tindex", kIndices)
      .Gradient(GradientBlock(matrix, "MatrixBandPart", {{"input", Grad(band)}, {"num_lower", num_lower}, {"num_upper", num_upper}}))
      .Kernel(PlanBand, RunBand, kBySize);
}

}  // namespace weft::blocks
