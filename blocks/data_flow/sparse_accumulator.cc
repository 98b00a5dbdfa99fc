// SparseConditionalAccumulator, SparseAccumulatorApplyGradient, SparseAccumulatorTakeGradient: gradients of some rows, added up row by row.
#include "blocks/data_flow/accumulator_blocks.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {

using namespace accumulating;

namespace {

constexpr In<2> gradient_indices{"gradient_indices", "DT_INT64", "[N], which row each of the values is; in ascending order"};
constexpr In<3> gradient_values{"gradient_values", "dtype", "[N, ...], the rows"};
constexpr In<4> gradient_shape{"gradient_shape", "DT_INT64",
                               "the shape of the gradient as a dense tensor; looked at where has_known_shape is true"};
constexpr Attr<bool> has_known_shape{"has_known_shape", kRequired,
                                     "whether gradient_shape says the shape, so that it is compared with the accumulator's"};
constexpr Out<0> indices{"indices", "DT_INT64", "[N], which row each of the values is"};
constexpr Out<1> values{"values", "dtype", "[N, ...], the mean of each row, over the gradients that had it, or the sum"};
constexpr Out<2> taken_shape{"shape", "DT_INT64", "the shape of the gradient as a dense tensor; -1 for an unknown number of rows"};

/// Some rows of a tensor.
struct Rows {
  Tensor indices;  // int64 [n]
  Tensor counts;   // int64 [n]: how many gradients each row is the sum of
  Tensor values;   // [n, ...]
};

constexpr int64_t kGrain = int64_t{1} << 16;  // elements worked on by one task

int64_t RowSize(const Shape& values) { return values.count(1, values.rank()); }

/// How many rows make a task.
int64_t RowGrain(int64_t row_size) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(row_size, 1)); }

/// The inputs of one apply.
struct Gradient {
  std::span<const int64_t> indices;
  const Shape& values;
  const std::byte* elements;
};

class SparseAccumulator final : public Accumulator {
 public:
  static constexpr std::string_view kBlock = "SparseConditionalAccumulator";

  using Accumulator::Accumulator;

  Status Apply(const ProduceContext& ctx, bool known_shape);
  Result<Rows> TakeReduced(int64_t required, const Services& services);

 private:
  Status CheckShape(std::span<const int64_t> dense) const;
  Status CheckIndices(std::span<const int64_t> rows, const Workers& workers) const;
  Status CheckValues(const Shape& found, bool first) const;
  Result<Rows> AllocateRows(int64_t count, const Shape& values, const Services& services) const;
  Result<Rows> FirstRows(const Gradient& gradient, const Services& services) const;
  Result<Tensor> Pairs(std::span<const int64_t> added, const Services& services) const;
  Result<Rows> Joined(const Gradient& gradient, const Services& services) const;
  Status SaveSum(StateWriter& out) const override;
  Result<std::function<void()>> LoadSum(StateReader& in) override;
  void DropSum() override { sum_ = {}; }

  Rows sum_;
};

// ---- checks ----------------------------------------------------------------------------------------------------------------------------

Status SparseAccumulator::CheckShape(std::span<const int64_t> dense) const {
  const PartialShape& shape = spec().shape;
  bool fits = static_cast<size_t>(shape.rank()) <= dense.size();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = shape.dim(i) < 0 || shape.dim(i) == dense[static_cast<size_t>(i)];
  if (fits) return {};
  std::string found;
  for (int64_t size : dense) found += Cat(found.empty() ? "[" : ",", size);
  return InvalidArgument("needs the accumulator's shape ", shape, ", found ", found.empty() ? "[" : found, "]")
      .WithPort(gradient_shape.name);
}

Status SparseAccumulator::CheckIndices(std::span<const int64_t> rows, const Workers& workers) const {
  const PartialShape& shape = spec().shape;
  const int64_t limit = shape.rank() > 0 && shape.dim(0) >= 0 ? shape.dim(0) : INT64_MAX;
  kernels::StopCheck stop(workers);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    if (rows[i] >= 0 && rows[i] < limit) continue;
    return InvalidArgument("needs rows of 0 or more", limit < INT64_MAX ? Cat(" and below ", limit) : "", ", found ", rows[i], " at index ",
                           i)
        .WithPort(gradient_indices.name);
  }
  return {};
}

// A row must be like those that are there, or like the accumulator's shape says.
Status SparseAccumulator::CheckValues(const Shape& found, bool first) const {
  const auto refuse = [&](const auto& needed) {
    return InvalidArgument("needs rows of the accumulator's shape ", needed, ", found values of shape ", found)
        .WithPort(gradient_values.name);
  };
  if (!first) {
    const Shape& sum = sum_.values.shape();
    const bool same = sum.rank() == found.rank() && std::ranges::equal(sum.dims().subspan(1), found.dims().subspan(1));
    return same ? Status() : refuse(sum);
  }
  const PartialShape& shape = spec().shape;
  bool fits = shape.rank() <= found.rank();
  for (int i = 1; fits && i < shape.rank(); ++i) fits = shape.dim(i) < 0 || shape.dim(i) == found[i];
  return fits ? Status() : refuse(shape);
}

// ---- adding ----------------------------------------------------------------------------------------------------------------------------

/// `count` rows of the shape that those of `values` have.
Result<Rows> SparseAccumulator::AllocateRows(int64_t count, const Shape& values, const Services& services) const {
  std::vector<int64_t> dims(values.dims().begin(), values.dims().end());
  dims[0] = count;
  WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  Rows rows;
  WEFT_ASSIGN_OR_RETURN(rows.indices, Tensor::Allocate(DType::kInt64, Shape{count}, services.budget));
  WEFT_ASSIGN_OR_RETURN(rows.counts, Tensor::Allocate(DType::kInt64, Shape{count}, services.budget));
  WEFT_ASSIGN_OR_RETURN(rows.values, Tensor::Allocate(spec().dtype, std::move(shape), services.budget));
  return rows;
}
Result<Rows> SparseAccumulator::FirstRows(const Gradient& gradient, const Services& services) const {
  const auto count = static_cast<int64_t>(gradient.indices.size());
  WEFT_ASSIGN_OR_RETURN(Rows rows, AllocateRows(count, gradient.values, services));
  kernels::CopyLong(*services.workers, gradient.indices.data(), rows.indices.values<int64_t>().data(), count);
  kernels::FillLong(*services.workers, rows.counts.values<int64_t>().data(), count, int64_t{1});
  kernels::CopyLong(*services.workers, gradient.elements, static_cast<std::byte*>(rows.values.data()), rows.values.bytes());
  return rows;
}

// Where each row of the sum comes from: its place in the sum so far and in the gradient, -1 for none. As TensorFlow joins them: both are
// taken to be in ascending order, and rows that are not, or come twice, stay apart.
Result<Tensor> SparseAccumulator::Pairs(std::span<const int64_t> added, const Services& services) const {
  const std::span<const int64_t> before = sum_.indices.values<int64_t>();
  kernels::StopCheck stop(*services.workers);
  const auto each = [&](auto&& use) {
    size_t a = 0, b = 0;
    while (a < before.size() || b < added.size()) {
      if (stop()) return false;
      const bool from_a = b == added.size() || (a < before.size() && before[a] <= added[b]);
      const bool from_b = a == before.size() || (b < added.size() && added[b] <= before[a]);
      use(from_a ? static_cast<int64_t>(a++) : -1, from_b ? static_cast<int64_t>(b++) : -1);
    }
    return true;
  };
  int64_t rows = 0;
  if (!each([&](int64_t, int64_t) { ++rows; })) return kernels::RunStopped();
  WEFT_ASSIGN_OR_RETURN(Tensor pairs, Tensor::Allocate(DType::kInt64, Shape{rows, 2}, services.budget));
  int64_t* to = pairs.values<int64_t>().data();
  const bool done = each([&](int64_t a, int64_t b) {
    *to++ = a;
    *to++ = b;
  });
  if (!done) return kernels::RunStopped();
  return pairs;
}

template <class T>
void AddRow(const T* a, const T* b, T* to, int64_t size, Workers& workers) {
  if (a == nullptr || b == nullptr) return kernels::CopyLong(workers, a == nullptr ? b : a, to, size);
  workers.For(size, kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = a[i] + b[i];
  });
}

Result<Rows> SparseAccumulator::Joined(const Gradient& gradient, const Services& services) const {
  WEFT_ASSIGN_OR_RETURN(const Tensor pairs, Pairs(gradient.indices, services));
  const int64_t joined = pairs.shape()[0];
  WEFT_ASSIGN_OR_RETURN(Rows rows, AllocateRows(joined, gradient.values, services));
  const int64_t size = RowSize(gradient.values);
  Dispatch(spec().dtype, kAccumulated, [&]<class T>() {
    const int64_t* pair = pairs.values<int64_t>().data();
    const T* before = sum_.values.values<T>().data();
    const T* added = reinterpret_cast<const T*>(gradient.elements);
    int64_t *index = rows.indices.values<int64_t>().data(), *count = rows.counts.values<int64_t>().data();
    T* after = rows.values.values<T>().data();
    const auto old_index = sum_.indices.values<int64_t>(), old_count = sum_.counts.values<int64_t>();
    services.workers->For(joined, RowGrain(size), [=, &workers = *services.workers](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t a = pair[2 * r], b = pair[2 * r + 1];
        index[r] = a >= 0 ? old_index[static_cast<size_t>(a)] : gradient.indices[static_cast<size_t>(b)];
        count[r] = (a >= 0 ? old_count[static_cast<size_t>(a)] : 0) + (b >= 0 ? 1 : 0);
        AddRow(a >= 0 ? before + a * size : nullptr, b >= 0 ? added + b * size : nullptr, after + r * size, size, workers);
      }
    });
  });
  return rows;
}

Status SparseAccumulator::Apply(const ProduceContext& ctx, bool known_shape) {
  const auto add = [&](bool first) -> Status {
    const Gradient gradient{ctx.in<int64_t>(gradient_indices), ctx.shape(gradient_values), ctx.in<std::byte>(gradient_values).data()};
    if (known_shape) WEFT_RETURN_IF_ERROR(CheckShape(ctx.in<int64_t>(gradient_shape)));
    WEFT_RETURN_IF_ERROR(CheckIndices(gradient.indices, ctx.workers()));
    WEFT_RETURN_IF_ERROR(CheckValues(gradient.values, first));
    WEFT_ASSIGN_OR_RETURN(Rows rows, first ? FirstRows(gradient, ctx.services()) : Joined(gradient, ctx.services()));
    if (ctx.cancelled()) return kernels::RunStopped();
    sum_ = std::move(rows);
    return {};
  };
  return Add(ctx.in<int64_t>(local_step)[0], *ctx.services().waiter, add);
}

// ---- taking ----------------------------------------------------------------------------------------------------------------------------

Result<Rows> SparseAccumulator::TakeReduced(int64_t required, const Services& services) {
  Rows taken;
  WEFT_RETURN_IF_ERROR(Take(required, *services.waiter, [&] { taken = std::exchange(sum_, {}); }).status());
  if (!spec().mean) return taken;
  const int64_t size = RowSize(taken.values.shape());
  Dispatch(spec().dtype, kAccumulated, [&]<class T>() {
    T* row = taken.values.values<T>().data();
    const int64_t* count = taken.counts.values<int64_t>().data();
    services.workers->For(taken.indices.count(), RowGrain(size), [=, &workers = *services.workers](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T divisor = static_cast<T>(static_cast<double>(count[r]));
        workers.For(size, kGrain, [=, values = row + r * size](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) values[i] = values[i] / divisor;
        });
      }
    });
  });
  return taken;
}

/// The shape of the dense tensor that rows are of: the number of its rows only the accumulator's shape says.
Result<Tensor> DenseShape(const PartialShape& accumulator, const Shape& rows, const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(Tensor shape, Tensor::Allocate(DType::kInt64, Shape{rows.rank()}, budget));
  std::ranges::copy(rows.dims(), shape.values<int64_t>().begin());
  shape.values<int64_t>()[0] = accumulator.rank() > 0 ? accumulator.dim(0) : -1;
  return shape;
}

// ---- snapshots -------------------------------------------------------------------------------------------------------------------------

Status SparseAccumulator::SaveSum(StateWriter& out) const {
  for (const Tensor* part : {&sum_.indices, &sum_.counts, &sum_.values}) WEFT_RETURN_IF_ERROR(out.PutTensor(*part));
  return {};
}

Result<std::function<void()>> SparseAccumulator::LoadSum(StateReader& in) {
  Rows rows;
  for (Tensor* part : {&rows.indices, &rows.counts, &rows.values}) {
    WEFT_ASSIGN_OR_RETURN(*part, in.ReadTensor());
  }
  const Shape& shape = rows.values.shape();
  const auto lists = [&](const Tensor& part) { return part.dtype() == DType::kInt64 && part.shape() == Shape{shape[0]}; };
  if (rows.values.dtype() != spec().dtype || shape.rank() < 1 || !lists(rows.indices) || !lists(rows.counts)) {
    return DataLoss("needs rows of ", spec().dtype, " with an index and a count each, found ", rows.values.dtype(), " ", shape);
  }
  WEFT_RETURN_IF_ERROR(CheckValues(shape, true));
  const auto counts = rows.counts.values<int64_t>(), places = rows.indices.values<int64_t>();
  const bool sane = std::ranges::all_of(counts, [](int64_t count) { return count > 0; }) &&
                    std::ranges::all_of(places, [](int64_t index) { return index >= 0; });
  if (!sane) return DataLoss("needs counts above 0 and rows of 0 or more, found others");
  return std::function<void()>([this, rows = std::move(rows)] { sum_ = rows; });
}

// ---- the blocks ------------------------------------------------------------------------------------------------------------------------

struct Applied {
  DType dtype = DType::kInvalid;
  bool known_shape = false;
};

Result<Applied> PlanApply(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, local_step));
  const Shape &rows = ctx.shape(gradient_indices), &found = ctx.shape(gradient_values), &dense = ctx.shape(gradient_shape);
  if (rows.rank() != 1) return ctx.Error(gradient_indices, "needs a vector, found ", rows);
  if (found.rank() < 1 || found[0] != rows[0])
    return ctx.Error(gradient_values, "needs ", rows[0], " rows, one for each index, found ", found);
  const bool known = ctx.attr(has_known_shape);
  if (known && dense.rank() != 1) return ctx.Error(gradient_shape, "needs a vector, found ", dense);
  return Applied{ctx.dtype(gradient_values), known};
}

constexpr auto RunApply = [](const Applied& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto accumulator, FindOfType<SparseAccumulator>(ctx, p.dtype));
  return accumulator->Apply(ctx, p.known_shape);
};

Result<DType> PlanTake(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, num_required));
  WEFT_ASSIGN_OR_RETURN(const PartialShape list, PartialShape::Make({-1}));
  ctx.set_unknown(indices, 0, list);
  ctx.set_unknown(values);
  ctx.set_unknown(taken_shape, 0, list);
  return ctx.attr(dtype);
}

constexpr auto RunTake = [](const DType& type, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto accumulator, FindOfType<SparseAccumulator>(ctx, type));
  WEFT_ASSIGN_OR_RETURN(const int64_t required, Required(ctx));
  WEFT_ASSIGN_OR_RETURN(Rows taken, accumulator->TakeReduced(required, ctx.services()));
  WEFT_ASSIGN_OR_RETURN(Tensor dense, DenseShape(accumulator->spec().shape, taken.values.shape(), ctx.services().budget));
  return Emitted(ctx, indices, std::move(taken.indices), values, std::move(taken.values), taken_shape, std::move(dense));
};

}  // namespace

BlockDef SparseConditionalAccumulator() {
  return MakerBlock<SparseAccumulator>("SparseConditionalAccumulator",
                                       "An accumulator of gradients of some rows: adds them up row by row until they are taken.");
}

BlockDef SparseAccumulatorApplyGradient() {
  return StateBlock("SparseAccumulatorApplyGradient",
                    "Adds rows of a gradient to a sparse accumulator, unless they belong to an earlier step than the accumulator is at.")
      .Details("Rows are joined in one pass, as TensorFlow does: indices are to be in ascending order. Rows that are not, or that come "
               "twice in a gradient, are kept beside one another.")
      .Ports(handle, local_step, gradient_indices, gradient_values, gradient_shape)
      .Attrs(dtype, has_known_shape)
      .Inferred(dtype)
      .Types("dtype", kDeclared)
      .Producer(PlanApply, RunApply, kBindHandles);
}

BlockDef SparseAccumulatorTakeGradient() {
  return StateBlock("SparseAccumulatorTakeGradient",
                    "Waits until a sparse accumulator has enough gradients, and takes the mean or sum of each row out; its step moves on by one.")
      .Ports(handle, num_required, indices, values, taken_shape)
      .Attrs(dtype)
      .Types("dtype", kDeclared)
      .Waits()
      .Producer(PlanTake, RunTake, kBindHandles);
}

}  // namespace weft::blocks
