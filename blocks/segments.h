// What the segment blocks have in common: rows with the same id are reduced to one row of the output.
#pragma once

#include <vector>

#include "blocks/element_moves.h"
#include "blocks/kernels/reduce/segment.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// Mean and SqrtN divide the sum by the number of rows, and by its root.
enum class SegmentOp : uint8_t { kSum, kMean, kSqrtN, kProduct, kGreatest, kLeast };

/// How the rows of a segment are reduced, by operation and type.
struct SegmentKernel {
  using Function = void (*)(const kernels::SegmentRows& rows, int64_t begin, int64_t end, int64_t column, int64_t width, void* out);
  Function reduce = nullptr;
  const ElementMoves* moves = nullptr;
  alignas(16) std::byte missing[16] = {};  // the element of a segment without rows
};
/// A segment without rows is 0; of a product 1; of an extreme 0 or, where `worst_where_missing`, the worst finite value.
SegmentKernel MakeSegmentKernel(SegmentOp op, DType dtype, bool worst_where_missing = false);

/// The rows [begin, end) that make up a segment.
struct SegmentRun {
  int64_t segment, begin, end;
};
/// Segments from ids in ascending order.
struct SortedSegments {
  std::vector<SegmentRun> runs;
  int64_t segments = 0;  // the last id and one
  MemoryCharge charge;   // for the runs
};
/// invalid_argument, without a place, for an id below 0 or below the one before it; resource_exhausted where the memory of the call that plans
/// lacks the runs' bytes.
Result<SortedSegments> SortedSegmentsOf(const Tensor& ids);

/// Writes the output, whose rows have as many elements as those of `rows`.
void ReduceSegments(const SegmentKernel& kernel, const SortedSegments& segments, const kernels::SegmentRows& rows, void* out,
                    Workers& workers);

/// Segments from ids in any order.
struct UnsortedSegments {
  DType id_type = DType::kInt32;
  int64_t ids = 0, segments = 0;

  /// The position of the first id that is not below `segments`, or -1; cancelled where the run is to end.
  Result<int64_t> FirstTooLarge(const void* id_data, Workers& workers) const;
  int64_t ScratchBytes() const { return (segments + 2 + ids) * static_cast<int64_t>(sizeof(int64_t)); }
  /// As kernels::GroupBySegment, in scratch memory of ScratchBytes(): the order, which follows the starts, or null where the run ends.
  const int64_t* Group(const void* id_data, const int64_t* values, std::byte* scratch, const Workers& workers) const;
};
/// The same; `rows` are those that Group put into order, and `scratch` is where it did.
void ReduceSegments(const SegmentKernel& kernel, const UnsortedSegments& segments, const kernels::SegmentRows& rows,
                    const std::byte* scratch, void* out, Workers& workers);

/// Rows divided by how often their number is among some ids (kMean), by the root of that (kSqrtN), or as they are (kSum).
struct SegmentScale {
  SegmentOp op;
  DType dtype;  // a float or complex type
  int64_t segments, inner;

  /// A multiple of 16.
  int64_t ScratchBytes() const;
  /// The rows, in scratch memory aligned to 16 where they change. Ids outside [0, segments) do not count.
  const void* Apply(std::span<const int64_t> ids, const void* rows, std::byte* scratch, Workers& workers) const;
};

/// Integers of any type as int64_t. The first that is outside [0, limit), or -1 where all are inside; cancelled where the run is to end.
Result<int64_t> WidenIds(DType dtype, const void* from, int64_t count, int64_t* to, int64_t limit, Workers& workers);

}  // namespace weft::blocks
