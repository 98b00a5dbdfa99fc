#include "blocks/segments.h"

#include <cmath>
#include <cstring>

#include "blocks/kernels/first_where.h"
#include "blocks/kernels/stop_check.h"
#include "runtime/base/call_limit.h"

namespace weft::blocks {
namespace {

using kernels::SegmentRows;
using Function = SegmentKernel::Function;

constexpr TypeList<int16_t, int32_t, int64_t> kIdTypes;

template <class T, SegmentOp kOp>
void Reduce(const SegmentRows& rows, int64_t begin, int64_t end, int64_t column, int64_t width, void* out) {
  using U = kernels::UnsignedOf<T>;
  U* to = static_cast<U*>(out);
  const auto reduce = [&](auto op, auto* typed) { kernels::ReduceSegment(op, rows, begin, end, column, width, typed); };
  const double count = static_cast<double>(end - begin);
  if constexpr (kOp == SegmentOp::kProduct) reduce(kernels::ProductOf<U>{}, to);
  else if constexpr (kOp == SegmentOp::kGreatest) reduce(kernels::ExtremeOf<U>::template Make<T>(true), to);
  else if constexpr (kOp == SegmentOp::kLeast) reduce(kernels::ExtremeOf<U>::template Make<T>(false), to);
  else if constexpr (kOp == SegmentOp::kMean && Integer<T>) reduce(kernels::IntegerMeanOf<T>{}, static_cast<T*>(out));
  else reduce(kernels::SumOf<U>{kOp == SegmentOp::kMean ? count : kOp == SegmentOp::kSqrtN ? std::sqrt(count) : 1.0}, to);
}

template <class T>
Function FunctionOf(SegmentOp op) {
  if (op == SegmentOp::kSum) return Reduce<T, SegmentOp::kSum>;
  if (op == SegmentOp::kMean) return Reduce<T, SegmentOp::kMean>;
  if (op == SegmentOp::kProduct) return Reduce<T, SegmentOp::kProduct>;
  if constexpr (!Integer<T>) {
    if (op == SegmentOp::kSqrtN) return Reduce<T, SegmentOp::kSqrtN>;
  }
  if constexpr (Real<T>) return op == SegmentOp::kGreatest ? Reduce<T, SegmentOp::kGreatest> : Reduce<T, SegmentOp::kLeast>;
  return nullptr;
}

template <class T>
T MissingValue(SegmentOp op, bool worst) {
  if (op == SegmentOp::kProduct) return T(1);
  if constexpr (Real<T>) {
    if (worst && op == SegmentOp::kGreatest) return std::numeric_limits<T>::lowest();
    if (worst && op == SegmentOp::kLeast) return std::numeric_limits<T>::max();
  }
  return T(0);
}

/// Calls f(segment, column, width) for each piece of each of `count` segments of rows of `inner` elements, `rows` rows in all.
void ForPieces(int64_t count, int64_t inner, int64_t rows, Workers& workers, auto&& f) {
  constexpr int64_t kTaskElements = 32768;
  if (count == 0 || inner == 0) return;
  const int64_t chunks = (inner + kernels::kSegmentColumns - 1) / kernels::kSegmentColumns;
  const int64_t cost = (rows / count + 1) * std::min(inner, kernels::kSegmentColumns);
  kernels::ForEach(workers, count * chunks, kTaskElements / cost, [&](int64_t task) {
    const int64_t column = task % chunks * kernels::kSegmentColumns;
    f(task / chunks, column, std::min(kernels::kSegmentColumns, inner - column));
  });
}

constexpr size_t kBetweenChecks = 256;  // ids

/// How many differ from the one before them.
template <class I>
Result<int64_t> CountRuns(std::span<const I> ids) {
  int64_t runs = 0;
  for (size_t j = 0; j < ids.size(); ++j) {
    if (j % kBetweenChecks == 0) CallLimit::Check();
    const I id = ids[j];
    if (id < 0 || int64_t{id} == INT64_MAX) {
      return InvalidArgument("needs ids of 0 or more and below 2^63 - 1, found ", id, " at position ", j);
    }
    if (j > 0 && id < ids[j - 1]) {
      return InvalidArgument("needs ids in ascending order, found ", id, " after ", ids[j - 1], " at position ", j);
    }
    runs += j == 0 || id != ids[j - 1];
  }
  return runs;
}

template <class I>
Result<SortedSegments> RunsOf(std::span<const I> ids) {
  WEFT_ASSIGN_OR_RETURN(const int64_t count, CountRuns(ids));
  SortedSegments sorted;
  sorted.charge = MemoryCharge(CallLimit::budget());
  WEFT_RETURN_IF_ERROR(sorted.charge.Hold(count * static_cast<int64_t>(sizeof(SegmentRun))));
  sorted.runs.reserve(static_cast<size_t>(count));
  for (size_t j = 0; j < ids.size(); ++j) {
    if (j % kBetweenChecks == 0) CallLimit::Check();
    const auto row = static_cast<int64_t>(j);
    if (j > 0 && ids[j] == ids[j - 1]) ++sorted.runs.back().end;
    else sorted.runs.push_back({ids[j], row, row + 1});
  }
  if (!ids.empty()) sorted.segments = int64_t{ids.back()} + 1;
  return sorted;
}

}  // namespace

SegmentKernel MakeSegmentKernel(SegmentOp op, DType dtype, bool worst_where_missing) {
  SegmentKernel kernel;
  kernel.moves = &MovesOf(dtype);
  Dispatch(dtype, kNumbers, [&]<class T>() {
    kernel.reduce = FunctionOf<T>(op);
    const T missing = MissingValue<T>(op, worst_where_missing);
    std::memcpy(kernel.missing, &missing, sizeof missing);
  });
  return kernel;
}

Result<SortedSegments> SortedSegmentsOf(const Tensor& ids) {
  Result<SortedSegments> sorted = Internal("segments of ids that are no integers");
  Dispatch(ids.dtype(), kIdTypes, [&]<class I>() { sorted = RunsOf(ids.values<I>()); });
  return sorted;
}

void ReduceSegments(const SegmentKernel& kernel, const SortedSegments& segments, const SegmentRows& rows, void* out, Workers& workers) {
  const auto& runs = segments.runs;
  SegmentRows own = rows;
  own.workers = &workers;
  const int64_t row_bytes = rows.inner * kernel.moves->size, count = static_cast<int64_t>(runs.size());
  ForPieces(count, rows.inner, count == 0 ? 0 : runs.back().end, workers, [&](int64_t i, int64_t column, int64_t width) {
    const SegmentRun& run = runs[i];
    std::byte* to = static_cast<std::byte*>(out) + column * kernel.moves->size;
    const int64_t first = i == 0 ? 0 : runs[i - 1].segment + 1;
    kernels::StopCheck stop(workers);
    for (int64_t s = first; s < run.segment && !stop(width); ++s) kernel.moves->fill(to + s * row_bytes, width, kernel.missing);
    kernel.reduce(own, run.begin, run.end, column, width, to + run.segment * row_bytes);
  });
}

Result<int64_t> UnsortedSegments::FirstTooLarge(const void* id_data, Workers& workers) const {
  Result<int64_t> first = -1;
  Dispatch(id_type, kIdTypes, [&]<class I>() {
    const I* values = static_cast<const I*>(id_data);
    first = kernels::FirstWhere(workers, ids, [&](int64_t i) { return static_cast<int64_t>(values[i]) >= segments; });
  });
  return first;
}

const int64_t* UnsortedSegments::Group(const void* id_data, const int64_t* values, std::byte* scratch, const Workers& workers) const {
  int64_t* starts = reinterpret_cast<int64_t*>(scratch);
  int64_t* order = starts + segments + 2;
  bool grouped = false;
  Dispatch(id_type, kIdTypes, [&]<class I>() {
    grouped = kernels::GroupBySegment(static_cast<const I*>(id_data), values, ids, segments, starts, order, workers);
  });
  return grouped ? order : nullptr;
}

void ReduceSegments(const SegmentKernel& kernel, const UnsortedSegments& segments, const SegmentRows& rows, const std::byte* scratch,
                    void* out, Workers& workers) {
  const int64_t* starts = reinterpret_cast<const int64_t*>(scratch);
  const int64_t size = kernel.moves->size;
  SegmentRows own = rows;
  own.workers = &workers;
  ForPieces(segments.segments, rows.inner, segments.ids, workers, [&](int64_t s, int64_t column, int64_t width) {
    std::byte* to = static_cast<std::byte*>(out) + (s * rows.inner + column) * size;
    if (starts[s] == starts[s + 1]) kernel.moves->fill(to, width, kernel.missing);
    else kernel.reduce(own, starts[s], starts[s + 1], column, width, to);
  });
}

int64_t SegmentScale::ScratchBytes() const {
  if (op == SegmentOp::kSum) return 0;
  // Rows may be of any size where there are none.
  return (segments * inner * static_cast<int64_t>(ElementSize(dtype)) + segments * static_cast<int64_t>(sizeof(int64_t)) + 31) / 16 * 16;
}

const void* SegmentScale::Apply(std::span<const int64_t> ids, const void* rows, std::byte* scratch, Workers& workers) const {
  if (op == SegmentOp::kSum) return rows;
  const int64_t bytes = (segments * inner * static_cast<int64_t>(ElementSize(dtype)) + 7) / 8 * 8;
  int64_t* counts = reinterpret_cast<int64_t*>(scratch + bytes);
  kernels::FillLong(workers, counts, segments, int64_t{0});
  const auto count_ids = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (ids[i] >= 0 && ids[i] < segments) ++counts[ids[i]];
    }
  };
  if (!kernels::ForTiles(workers, static_cast<int64_t>(ids.size()), kernels::kItemsBetweenLooks, count_ids)) return scratch;
  Dispatch(dtype, kFloats + kComplexes, [&]<class T>() {
    using Op = kernels::SumOf<T>;
    const T* from = static_cast<const T*>(rows);
    T* to = reinterpret_cast<T*>(scratch);
    kernels::StopCheck stop(workers);
    for (int64_t s = 0; s < segments && !stop(inner); ++s) {
      const double count = static_cast<double>(std::max<int64_t>(counts[s], 1));
      const Op divide{op == SegmentOp::kMean ? count : std::sqrt(count)};
      for (int64_t i = s * inner; i < (s + 1) * inner; ++i) to[i] = divide.Finish(static_cast<typename Op::Acc>(from[i]), 1);
    }
  });
  return scratch;
}

Result<int64_t> WidenIds(DType dtype, const void* from, int64_t count, int64_t* to, int64_t limit, Workers& workers) {
  Result<int64_t> bad = -1;
  Dispatch(dtype, kIdTypes, [&]<class I>() {
    const I* ids = static_cast<const I*>(from);
    bad = kernels::FirstWhere(workers, count, [&](int64_t i) {
      to[i] = static_cast<int64_t>(ids[i]);
      return to[i] < 0 || to[i] >= limit;
    });
  });
  return bad;
}

}  // namespace weft::blocks
