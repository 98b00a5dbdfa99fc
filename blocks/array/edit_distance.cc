// EditDistance: how many insertions, deletions and exchanges lead from one sequence to another.
#include <algorithm>
#include <limits>

#include "blocks/kernels/reduce/segment.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> hypothesis_indices{"hypothesis_indices", "DT_INT64", "[n, rank]: where each value is; the last axis goes along a sequence"};
constexpr In<1> hypothesis_values{"hypothesis_values", "T", "[n]: the values of all sequences, each in its order"};
constexpr In<2> hypothesis_shape{"hypothesis_shape", "DT_INT64", "[rank]: the shape of the sparse tensor; rank is 2 or more"};
constexpr In<3> truth_indices{"truth_indices", "DT_INT64", "[m, rank]: as hypothesis_indices"};
constexpr In<4> truth_values{"truth_values", "T", "[m]: the sequences that are compared with"};
constexpr In<5> truth_shape{"truth_shape", "DT_INT64", "[rank]"};
constexpr Out<0> output{"output", "DT_FLOAT", "the larger of both shapes, axis by axis, without the last: a distance for each pair"};
constexpr Attr<bool> normalize{"normalize", "true", "divide by the length of the truth: 0 by 0 is then 0, others by 0 infinite"};

constexpr auto kCompared = kNumbers + TypeList<bool, String>{};

/// One of the two sparse tensors: its sizes, and its values sorted by sequence as kernels::GroupBySegment does it, in scratch memory.
struct Side {
  std::vector<int64_t> dims;
  int64_t count = 0;
};
struct Parameters {
  Side hypothesis, truth;
  std::vector<int64_t> groups;  // the shape of the output
  int64_t sequences = 0;
  bool normalize = true;
  DType dtype = DType::kInvalid;
};

Result<Side> PlanSide(PlanContext& ctx, const InputPort auto& indices, const InputPort auto& values, const InputPort auto& sizes) {
  if (ctx.shape(sizes).rank() != 1 || ctx.shape(sizes)[0] < 2) {
    return ctx.Error(sizes, "needs a vector of two sizes or more, found ", ctx.shape(sizes));
  }
  const int64_t rank = ctx.shape(sizes)[0];
  if (ctx.shape(indices).rank() != 2 || ctx.shape(indices)[1] != rank) {
    return ctx.Error(indices, "needs a matrix of ", rank, " columns, one for each size, found shape ", ctx.shape(indices));
  }
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, values, ctx.shape(indices)[0], "index"));
  Side side{ctx.ints(sizes), ctx.shape(values)[0]};
  WEFT_RETURN_IF_ERROR(AtPort(sizes, Shape::Make(side.dims)).status());
  return side;
}

Result<Parameters> Plan(PlanContext& ctx) {
  Parameters p;
  WEFT_ASSIGN_OR_RETURN(p.hypothesis, PlanSide(ctx, hypothesis_indices, hypothesis_values, hypothesis_shape));
  WEFT_ASSIGN_OR_RETURN(p.truth, PlanSide(ctx, truth_indices, truth_values, truth_shape));
  if (p.truth.dims.size() != p.hypothesis.dims.size()) {
    return ctx.Error(truth_shape, "needs as many sizes as hypothesis_shape, ", p.hypothesis.dims.size(), ", found ", p.truth.dims.size());
  }
  for (size_t d = 0; d + 1 < p.truth.dims.size(); ++d) p.groups.push_back(std::max(p.truth.dims[d], p.hypothesis.dims[d]));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, p.groups, truth_shape));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.planned().outputs[0], truth_shape.name));
  p.sequences = ctx.planned().outputs[0].count();
  p.normalize = ctx.attr(normalize);
  p.dtype = ctx.dtype(hypothesis_values);
  // For each side the sequence of each value, the starts of the sequences and their order; then rows of distances.
  const int64_t longest = std::max(p.hypothesis.count, p.truth.count);
  const int64_t words = longest + 2 * (p.sequences + 2) + p.hypothesis.count + p.truth.count + p.truth.count + p.sequences;
  ctx.set_scratch(words * static_cast<int64_t>(sizeof(int64_t)));
  return p;
}

/// The number of the sequence of each value.
Status FindSequences(const Parameters& p, const Side& side, const InputPort auto& port, RunContext& ctx, int64_t* sequences) {
  const int64_t* index = ctx.in<int64_t>(port).data();
  const size_t rank = side.dims.size();
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < side.count; ++i, index += rank) {
    if (stop(static_cast<int64_t>(rank))) return kernels::RunStopped();
    int64_t sequence = 0;
    for (size_t d = 0; d + 1 < rank; ++d) {  // the last index only orders a sequence, and is not looked at
      if (index[d] < 0 || index[d] >= p.groups[d]) {
        return ctx.Error(port, "needs indices inside the output, found ", index[d], " in row ", i, ", where the size is ", p.groups[d]);
      }
      sequence = sequence * p.groups[d] + index[d];
    }
    sequences[i] = sequence;
  }
  return {};
}

/// Values of one sequence.
template <class T>
struct Sequence {
  const T* values;
  const int64_t* order;
  int64_t size;
  const T& operator[](int64_t i) const { return values[order[i]]; }
};

/// `row` has b.size + 1 elements.
template <class T>
int64_t Distance(const Sequence<T>& a, const Sequence<T>& b, int64_t* row, kernels::StopCheck& stop) {
  for (int64_t j = 0; j <= b.size; ++j) row[j] = j;
  for (int64_t i = 0; i < a.size; ++i) {
    if (stop()) break;
    int64_t diagonal = row[0];
    row[0] = i + 1;
    for (int64_t j = 0; j < b.size; ++j) {
      if (stop()) break;
      const int64_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size];
}

float Normalized(int64_t distance, int64_t length) {
  if (length > 0) return static_cast<float>(static_cast<double>(distance) / static_cast<double>(length));
  return distance == 0 ? 0.0f : std::numeric_limits<float>::infinity();
}

constexpr auto Run = [](const Parameters& p, RunContext& ctx) -> Status {
  int64_t* sequences = ctx.scratch<int64_t>().data();
  int64_t* starts_a = sequences + std::max(p.hypothesis.count, p.truth.count);
  int64_t* starts_b = starts_a + p.sequences + 2;
  int64_t* order_a = starts_b + p.sequences + 2;
  int64_t* order_b = order_a + p.hypothesis.count;
  int64_t* rows = order_b + p.truth.count;
  WEFT_RETURN_IF_ERROR(FindSequences(p, p.hypothesis, hypothesis_indices, ctx, sequences));
  const Workers& workers = ctx.workers();
  bool grouped = kernels::GroupBySegment(sequences, nullptr, p.hypothesis.count, p.sequences, starts_a, order_a, workers);
  if (!grouped) return kernels::RunStopped();
  WEFT_RETURN_IF_ERROR(FindSequences(p, p.truth, truth_indices, ctx, sequences));
  grouped = kernels::GroupBySegment(sequences, nullptr, p.truth.count, p.sequences, starts_b, order_b, workers);
  if (!grouped) return kernels::RunStopped();
  float* out = ctx.out<float>(output).data();
  const int64_t pairs = std::max<int64_t>(p.sequences, 1);
  const int64_t cost = (p.hypothesis.count / pairs + 1) * (p.truth.count / pairs + 1);
  Dispatch(p.dtype, kCompared, [&]<class T>() {
    const T *a = ctx.in<T>(hypothesis_values).data(), *b = ctx.in<T>(truth_values).data();
    kernels::ForEach(ctx.workers(), p.sequences, 8192 / cost, [&](int64_t s, kernels::StopCheck& stop) {
      const Sequence<T> left{a, order_a + starts_a[s], starts_a[s + 1] - starts_a[s]};
      const Sequence<T> right{b, order_b + starts_b[s], starts_b[s + 1] - starts_b[s]};
      const int64_t distance = Distance(left, right, rows + starts_b[s] + s, stop);
      out[s] = p.normalize ? Normalized(distance, right.size) : static_cast<float>(distance);
    });
  });
  return {};
};

}  // namespace

BlockDef EditDistance() {
  return Block("EditDistance",
               "The edit distance of each pair of sequences of two sparse tensors: the least insertions, deletions and exchanges.")
      .Details("A sequence without values is empty. Values of one sequence count in the order in which they stand.")
      .Ports(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape, output)
      .Attrs(normalize).Types("T", kCompared).ShapedBy(hypothesis_shape, truth_shape)
      .NotDifferentiable().Kernel(Plan, Run);
}

}  // namespace weft::blocks
