#include "blocks/rows.h"

#include <string>

#include "blocks/kernels/first_where.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/string/elements.h"

namespace weft::blocks {
namespace {

using kernels::IndexView;
using kernels::LeastFound;

constexpr int64_t kGrainBytes = 1 << 17;

int64_t Grain(int64_t bytes_each) { return std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(bytes_each, 8)); }
bool IsShort(DType dtype) { return dtype == DType::kHalf || dtype == DType::kBFloat16; }
int64_t TableElements(const kernels::RowTables& t) { return t.sections() * t.rows * t.width; }

/// The number of the first bad tuple, or -1. Writes the row of each where `rows` is given.
int64_t FindRows(const RowPlan& plan, RunContext& ctx, IndexView indices, int64_t* rows) {
  LeastFound missing;
  const kernels::RowNames names = plan.names();
  if (names.depth == 0 && rows == nullptr) return -1;  // however many tuples without an index there are
  ctx.workers().For(plan.tables.batches * plan.tables.count, 16384, [&](int64_t begin, int64_t end) {
    int64_t first = -1;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = names.Find(indices, i);
      if (rows != nullptr) rows[i] = row;
      if (row < 0 && first < 0) first = i;
    }
    missing.Found(first);
  });
  return missing.number();
}

constexpr int64_t kLongRow = int64_t{1} << 20;  // elements; rows above it are not copied in one piece

template <class T>
int64_t GatherLongRows(const RowPlan& plan, RunContext& ctx, const T* from, IndexView indices, T* to) {
  LeastFound missing;
  const kernels::RowTables& t = plan.tables;
  const kernels::RowNames names = plan.names();
  for (int64_t n = 0; n < t.sections() * t.count && !ctx.cancelled(); ++n) {
    const int64_t section = n / t.count, tuple = section / t.outer * t.count + n % t.count;
    const int64_t row = names.Find(indices, tuple);
    T* const target = to + n * t.width;
    if (row < 0) {
      missing.Found(tuple);
      kernels::FillLong(ctx.workers(), target, t.width, T{});
    } else {
      kernels::CopyLong(ctx.workers(), from + section * t.rows * t.width + row * t.width, target, t.width);
    }
  }
  return missing.number();
}

template <class T>
int64_t Gather(const RowPlan& plan, RunContext& ctx, const T* from, IndexView indices, T* to) {
  LeastFound missing;
  const kernels::RowTables& t = plan.tables;
  if (t.outer == 0) return -1;
  if (t.width == 0) return FindRows(plan, ctx, indices, nullptr);
  if (t.width > kLongRow) return GatherLongRows(plan, ctx, from, indices, to);
  ctx.workers().For(t.sections() * t.count, Grain(t.width * static_cast<int64_t>(sizeof(T))), [&](int64_t begin, int64_t end) {
    missing.Found(kernels::GatherRows(t, plan.names(), indices, from, to, begin, end));
  });
  return missing.number();
}

/// Calls work(section, first, last) for ranges of columns that cover every element of the tables once. They depend on sizes alone. Rows are
/// not divided: every part would have to look at all names.
void ForParts(const kernels::RowTables& t, RunContext& ctx, const auto& work) {
  constexpr int64_t kSmall = 32768, kWidest = int64_t{1} << 16, kCuts = 8;
  const int64_t size = t.count * t.width, narrowest = t.sections() == 1 ? 32 : 1024;
  if (size > kSmall && t.width >= 2 * narrowest) {
    const int64_t cuts = std::max<int64_t>(1, kCuts / t.sections());
    const int64_t columns = std::clamp(DivideUp(t.width / cuts, narrowest) * narrowest, narrowest, kWidest), parts = DivideUp(t.width, columns);
    kernels::ForEach(ctx.workers(), t.sections() * parts, 1, [&](int64_t i) {
      const int64_t first = i % parts * columns;
      work(i / parts, first, std::min(t.width, first + columns));
    });
    return;
  }
  kernels::ForEach(ctx.workers(), t.sections(), std::max<int64_t>(1, kSmall / std::max<int64_t>(size, 1)), [&](int64_t s) {
    work(s, int64_t{0}, t.width);
  });
}

/// The updates of one table.
kernels::RowUpdates UpdatesOf(const RowUpdatePlan& plan, const int64_t* rows, int64_t section) {
  const kernels::RowTables& t = plan.tables;
  return {rows + section / t.outer * t.count, t.count, t.width, plan.one_update ? 0 : t.width};
}

/// Calls update(updates, how many came before) for stretches of the updates, until the run is to end.
void ForStretches(RunContext& ctx, const kernels::RowUpdates& all, int64_t columns, const auto& update) {
  const int64_t tile = 1 + kernels::kItemsBetweenLooks / std::max<int64_t>(columns, 4);
  kernels::ForTiles(ctx.workers(), all.count, tile, [&](int64_t begin, int64_t end) {
    update(kernels::RowUpdates{all.rows + begin, end - begin, all.width, all.step}, begin);
  });
}

template <class T>
void CopyOrClear(RunContext& ctx, const T* from, T* to, int64_t count) {
  ctx.workers().For(count, Grain(sizeof(T)), [&](int64_t begin, int64_t end) {
    if (from == nullptr) std::fill(to + begin, to + end, T{});
    else std::copy(from + begin, from + end, to + begin);
  });
}

template <class T>
void Replace(const RowUpdatePlan& plan, RunContext& ctx, const T* from, const int64_t* rows, const T* updates, T* to) {
  const kernels::RowTables& t = plan.tables;
  CopyOrClear(ctx, from, to, TableElements(t));
  ForParts(t, ctx, [&](int64_t section, int64_t first, int64_t last) {
    const kernels::RowUpdates own = UpdatesOf(plan, rows, section);
    ForStretches(ctx, own, last - first, [&](const kernels::RowUpdates& some, int64_t done) {
      kernels::ReplaceRows(to + section * t.rows * t.width, updates + section * t.count * own.step + done * own.step, some, first, last);
    });
  });
}

/// Short floats are summed as floats and rounded once.
template <class T>
void Update(const RowUpdatePlan& plan, RunContext& ctx, const T* from, const int64_t* rows, const T* updates, T* to) {
  using A = Accumulator<T>;
  const kernels::RowTables& t = plan.tables;
  const int64_t size = TableElements(t);
  A* sums;
  if constexpr (ShortFloat<T>) {
    sums = reinterpret_cast<A*>(ctx.scratch().data() + plan.sums_offset);
    ctx.workers().For(size, Grain(sizeof(A)), [&](int64_t begin, int64_t end) {
      if (from == nullptr) std::fill(sums + begin, sums + end, A{});
      else kernels::Widen(from + begin, sums + begin, end - begin);
    });
  } else {
    sums = to;
    CopyOrClear(ctx, from, to, size);
  }
  ForParts(t, ctx, [&](int64_t section, int64_t first, int64_t last) {
    const kernels::RowUpdates own = UpdatesOf(plan, rows, section);
    ForStretches(ctx, own, last - first, [&](const kernels::RowUpdates& some, int64_t done) {
      kernels::UpdateRows<A, T>(plan.op, sums + section * t.rows * t.width, updates + section * t.count * own.step + done * own.step, some,
                                first, last);
    });
  });
  if constexpr (ShortFloat<T>) {
    ctx.workers().For(size, Grain(sizeof(A)), [&](int64_t begin, int64_t end) { kernels::Narrow(sums + begin, to + begin, end - begin); });
  }
}

/// Calls body(element, update) for each update that is no empty string.
void ForTexts(const RowUpdatePlan& plan, const int64_t* rows, const String* updates, kernels::StopCheck& stop, const auto& body) {
  const kernels::RowTables& t = plan.tables;
  for (int64_t i = 0; i < t.count; ++i) {
    if (stop()) return;
    for (int64_t c = 0; rows[i] >= 0 && c < t.width; ++c) {
      if (stop(16)) return;
      const String& update = updates[i * t.width + c];
      if (!update.empty()) body(rows[i] * t.width + c, update);
    }
  }
}

/// Strings are joined in the order of the updates; one alone is shared.
Status Join(const RowUpdatePlan& plan, RunContext& ctx, const int64_t* rows, const String* updates, String* to) {
  constexpr int64_t kShared = -1;
  const int64_t elements = TableElements(plan.tables);
  auto* const bytes = reinterpret_cast<int64_t*>(ctx.scratch().data() + plan.sums_offset);
  CopyOrClear<String>(ctx, nullptr, to, elements);
  kernels::FillLong(ctx.workers(), bytes, elements, int64_t{0});
  kernels::StopCheck stop(ctx.workers());
  ForTexts(plan, rows, updates, stop, [&](int64_t at, const String& update) {
    if (bytes[at] == 0) to[at] = update;
    bytes[at] += static_cast<int64_t>(update.size());
  });
  for (int64_t at = 0; at < elements && !stop(); ++at) {
    const auto size = static_cast<size_t>(bytes[at]);
    if (size == to[at].size()) {
      bytes[at] = kShared;
    } else {
      WEFT_ASSIGN_OR_RETURN(to[at], String::Uninitialized(size, ctx.budget()));
      bytes[at] = 0;  // those written so far
    }
  }
  ForTexts(plan, rows, updates, stop, [&](int64_t at, const String& update) {
    if (bytes[at] == kShared) return;
    CopyBytes(update, to[at].mutable_data() + bytes[at], stop);
    bytes[at] += static_cast<int64_t>(update.size());
  });
  return {};
}

}  // namespace

void PlanUpdateScratch(PlanContext& ctx, RowUpdatePlan& plan) {
  // What is more than this fails elsewhere: it has no memory.
  constexpr int64_t kAlignment = 64, kMost = int64_t{1} << 55;
  if (TableElements(plan.tables) == 0) return;
  int64_t rows = std::min(plan.tables.batches * plan.tables.count, kMost) * static_cast<int64_t>(sizeof(int64_t));
  plan.sums_offset = (rows + kAlignment - 1) / kAlignment * kAlignment;
  const int64_t sum_bytes = plan.replaces ? 0 : IsShort(plan.dtype) ? sizeof(float) : plan.dtype == DType::kString ? sizeof(int64_t) : 0;
  ctx.set_scratch(plan.sums_offset + std::min(TableElements(plan.tables), kMost) * sum_bytes);
}

std::string BadIndexText(const RowPlan& plan, const void* indices, int64_t tuple) {
  const IndexView view{indices, plan.index_bytes};
  const auto depth = static_cast<int64_t>(plan.limits.size());
  if (depth == 1) return Cat("needs indices in [0, ", plan.limits[0], "), found ", view[tuple], " at position ", tuple);
  std::string limits, found;
  for (int64_t k = 0; k < depth; ++k) {
    limits += Cat(k == 0 ? "" : ", ", plan.limits[k]);
    found += Cat(k == 0 ? "" : ", ", view[tuple * depth + k]);
  }
  return Cat("needs indices from 0 and below [", limits, "], found [", found, "], tuple ", tuple);
}

int64_t RunGather(const RowPlan& plan, RunContext& ctx, const void* from, const void* indices, void* to) {
  return DispatchSize(plan.dtype, [&]<class T>() {
    return Gather<T>(plan, ctx, static_cast<const T*>(from), {indices, plan.index_bytes}, static_cast<T*>(to));
  });
}

Result<int64_t> RunUpdate(const RowUpdatePlan& plan, RunContext& ctx, const void* from, const void* indices, const void* updates, void* to) {
  if (TableElements(plan.tables) == 0) return FindRows(plan, ctx, {indices, plan.index_bytes}, nullptr);
  auto* rows = ctx.scratch<int64_t>().data();
  const int64_t missing = FindRows(plan, ctx, {indices, plan.index_bytes}, rows);
  if (ctx.cancelled()) return -1;  // not every row was written
  if (missing >= 0 && !plan.skips) return missing;
  if (plan.replaces) {
    DispatchSize(plan.dtype, [&]<class T>() {
      Replace<T>(plan, ctx, static_cast<const T*>(from), rows, static_cast<const T*>(updates), static_cast<T*>(to));
    });
  } else if (plan.dtype == DType::kString) {
    WEFT_RETURN_IF_ERROR(Join(plan, ctx, rows, static_cast<const String*>(updates), static_cast<String*>(to)));
  } else {
    Dispatch(plan.dtype, kNumbers + TypeList<bool>{}, [&]<class T>() {
      Update<T>(plan, ctx, static_cast<const T*>(from), rows, static_cast<const T*>(updates), static_cast<T*>(to));
    });
  }
  return missing;
}

}  // namespace weft::blocks
