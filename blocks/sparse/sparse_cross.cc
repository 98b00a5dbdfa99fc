// SparseCross: each combination of the features that several columns have in a row, as text or as a hash.
#include <farmhash.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr InList<0> indices{"indices", "DT_INT64", "N", "[features, 2] of each sparse column: row and number of a feature, row by row"};
constexpr InTuple<1> values{"values", "sparse_types", "[features] of each sparse column"};
constexpr InList<2> shapes{"shapes", "DT_INT64", "N", "[2]: the shape of each sparse column, whose first size counts the rows"};
constexpr InTuple<3> dense_inputs{"dense_inputs", "dense_types", "[rows, features] of each dense column"};
constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[crosses, 2]: row and number of a cross, row by row"};
constexpr Out<1> output_values{"output_values", "out_type",
                               "[crosses]: the features joined by _X_, or the hash of all; the last column changes first"};
constexpr Out<2> output_shape{"output_shape", "DT_INT64", "[2]: rows, and the most crosses that a row has"};
constexpr Attr<int64_t> number{"N", kRequired, "how many sparse columns there are", nullptr, 0};
constexpr Attr<bool> hashed_output{"hashed_output", kRequired, "accepted and not used: out_type says whether crosses are hashed"};
constexpr Attr<int64_t> num_buckets{"num_buckets", kRequired, "hashes are taken modulo this; 0: modulo the largest integer", nullptr, 0};
constexpr Attr<int64_t> hash_key{"hash_key", kRequired, "where hashes begin"};
constexpr Attr<DTypes> sparse_types{"sparse_types", kRequired, "the types of the sparse columns; follow from the wires", nullptr, 0};
constexpr Attr<DTypes> dense_types{"dense_types", kRequired, "the types of the dense columns; follow from the wires", nullptr, 0};
constexpr Attr<DType> out_type{"out_type", kRequired, "DT_STRING: crosses are text; DT_INT64: hashes"};
constexpr Attr<DType> internal_type{"internal_type", kRequired, "DT_STRING: all features are strings; DT_INT64: of either type"};

constexpr TypeList<int64_t, String> kFeatures;
constexpr std::string_view kSeparator = "_X_";

struct Crossing {
  int64_t rows = 0;
  int sparse = 0, columns = 0;  // sparse columns, and all
  DTypes types;                 // of all columns
  bool hashes = false;
  uint64_t key = 0, buckets = 0;
};

Status CheckSparse(PlanContext& ctx, int k) {
  const Shape &places = ctx.shape(indices, k), &found = ctx.shape(values, k), &sizes = ctx.shape(shapes, k);
  if (places.rank() != 2 || places[1] != 2) {
    return ctx.Error(indices, "needs a matrix of 2 columns, found ", places, " in indices[", k, "]");
  }
  if (found.rank() != 1 || found[0] != places[0]) {
    return ctx.Error(values, "needs [", places[0], "], a value for each place in indices[", k, "], found ", found, " in values[", k, "]");
  }
  if (sizes.rank() != 1 || sizes[0] != 2) return ctx.Error(shapes, "needs 2 sizes, found ", sizes, " in shapes[", k, "]");
  if (ctx.ints(shapes, k)[0] < 0) {
    return ctx.Error(shapes, "needs sizes of 0 or more, found ", ctx.ints(shapes, k)[0], " in shapes[", k, "]");
  }
  return {};
}

/// The rows of all columns, which must be the same.
Result<int64_t> RowsOf(PlanContext& ctx) {
  int64_t rows = -1;
  for (int k = 0; k < ctx.count(indices); ++k) {
    WEFT_RETURN_IF_ERROR(CheckSparse(ctx, k));
    const int64_t own = ctx.ints(shapes, k)[0];
    if (rows >= 0 && own != rows) {
      return ctx.Error(shapes, "needs ", rows, " rows, as the column before has, found ", own, " in shapes[", k, "]");
    }
    rows = own;
  }
  for (int k = 0; k < ctx.count(dense_inputs); ++k) {
    const Shape& shape = ctx.shape(dense_inputs, k);
    if (shape.rank() != 2) return ctx.Error(dense_inputs, "needs matrices, found shape ", shape, " in dense_inputs[", k, "]");
    if (rows >= 0 && shape[0] != rows) {
      return ctx.Error(dense_inputs, "needs ", rows, " rows, as the column before has, found ", shape, " in dense_inputs[", k, "]");
    }
    rows = shape[0];
  }
  return std::max<int64_t>(rows, 0);
}

Status AddTypes(PlanContext& ctx, const auto& port, Crossing& p) {
  for (DType type : DTypesOf(ctx, port)) {
    if (type == DType::kInt64 && ctx.attr(internal_type) == DType::kString) {
      return ctx.Error(port, "needs strings, as internal_type says, found ", DTypeName(type), "; internal_type_ = DT_INT64 takes both");
    }
    p.types.push_back(type);
  }
  return {};
}

Result<Crossing> Plan(PlanContext& ctx) {
  Crossing p;
  p.sparse = ctx.count(indices);
  p.columns = p.sparse + ctx.count(dense_inputs);
  if (ctx.count(values) != p.sparse) {
    return ctx.Error(values, "needs a tensor for each of indices, ", p.sparse, ", found ", ctx.count(values));
  }
  if (ctx.count(shapes) != p.sparse) {
    return ctx.Error(shapes, "needs a shape for each of indices, ", p.sparse, ", found ", ctx.count(shapes));
  }
  WEFT_ASSIGN_OR_RETURN(p.rows, RowsOf(ctx));
  WEFT_RETURN_IF_ERROR(AddTypes(ctx, values, p));
  WEFT_RETURN_IF_ERROR(AddTypes(ctx, dense_inputs, p));
  p.hashes = ctx.attr(out_type) == DType::kInt64;
  p.key = static_cast<uint64_t>(ctx.attr(hash_key));
  p.buckets = static_cast<uint64_t>(ctx.attr(num_buckets));
  ctx.set_unknown(output_indices, 0, PartialShape::Make({-1, 2}).value());
  ctx.set_unknown(output_values, 0, PartialShape::Make({-1}).value());
  ctx.set(output_shape, Shape{2});
  return p;
}

// ---- columns -------------------------------------------------------------------------------------------------------------------

/// A column, and its features in the row that is crossed.
struct Column {
  const int64_t* places = nullptr;  // of a sparse column: row and number of each feature
  int64_t size = 0;                 // features of a sparse column, or of a row of a dense one
  const int64_t* integers = nullptr;
  const String* strings = nullptr;
  int64_t next = 0, reached = 0;  // of a sparse column: the feature that comes next, and the row of the last one
  int64_t first = 0, count = 0;   // in the row

  /// Goes to the first feature of that row or of a later one. False where none follows: a feature out of order is in no row, and neither
  /// are those behind it, as TensorFlow has it.
  bool Seek(int64_t row, kernels::StopCheck& stop) {
    for (; next < size && places[2 * next] >= reached && !stop(); ++next) {
      if (places[2 * next] >= row) return true;
      reached = places[2 * next];
    }
    return false;
  }
  /// Takes the features of a row that Seek has found.
  void SetRow(int64_t row, kernels::StopCheck& stop) {
    first = places == nullptr ? row * size : next;
    if (places != nullptr) {
      while (next < size && places[2 * next] == row && !stop()) ++next;
      reached = row;
    }
    count = places == nullptr ? size : next - first;
  }
};

std::vector<Column> ColumnsOf(const Crossing& p, ProduceContext& ctx) {
  std::vector<Column> columns(static_cast<size_t>(p.columns));
  for (int k = 0; k < p.columns; ++k) {
    Column& column = columns[static_cast<size_t>(k)];
    const bool sparse = k < p.sparse, text = p.types[static_cast<size_t>(k)] == DType::kString;
    const int own = sparse ? k : k - p.sparse;
    if (sparse) column.places = ctx.in<int64_t>(indices, own).data();
    column.size = sparse ? ctx.shape(values, own)[0] : ctx.shape(dense_inputs, own)[1];
    if (text) column.strings = sparse ? ctx.in<String>(values, own).data() : ctx.in<String>(dense_inputs, own).data();
    else column.integers = sparse ? ctx.in<int64_t>(values, own).data() : ctx.in<int64_t>(dense_inputs, own).data();
  }
  return columns;
}

/// The first row from `row` on where each sparse column has a feature; nothing where there is none.
std::optional<int64_t> NextRow(int64_t row, std::vector<Column>& columns, kernels::StopCheck& stop) {
  for (int64_t found = row;; row = found) {
    for (Column& column : columns) {
      if (column.places == nullptr) continue;
      if (!column.Seek(row, stop)) return std::nullopt;
      found = std::max(found, column.places[2 * column.next]);
    }
    if (found == row) return row;
  }
}

/// Calls row(number, crosses of the row) for all rows that have some, the columns set to it. Fails where there are more crosses than fit.
Status OverRows(const Crossing& p, std::vector<Column>& columns, const Workers& workers, auto&& row) {
  if (std::ranges::any_of(columns, [](const Column& column) { return column.size == 0; })) return {};
  for (Column& column : columns) column.next = column.reached = 0;
  kernels::StopCheck stop(workers);
  for (int64_t r = 0; r < p.rows; ++r) {
    const auto found = NextRow(r, columns, stop);
    if (!found || *found >= p.rows) break;
    r = *found;
    int64_t crosses = 1;
    for (Column& column : columns) {
      column.SetRow(r, stop);
      const auto more = CheckedMultiply(crosses, column.count);
      if (!more || *more > kAbsurdElements) return ResourceExhausted("needs crosses that fit in memory, found more than 2^48 in row ", r);
      crosses = *more;
    }
    if (stop()) break;
    WEFT_RETURN_IF_ERROR(row(r, crosses));
  }
  return workers.Stopped() ? kernels::RunStopped() : Status{};
}

// ---- crosses -------------------------------------------------------------------------------------------------------------------

/// TensorFlow's fingerprint of two fingerprints.
uint64_t Joined(uint64_t a, uint64_t b) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  const auto mix = [](uint64_t x) { return x ^ x >> 47; };
  uint64_t hash = (a ^ kFactor) ^ (mix(b * kFactor) * kFactor);
  hash *= kFactor;
  return mix(mix(hash) * kFactor);
}

int64_t HashOf(const Crossing& p, const std::vector<Column>& columns, const int64_t* chosen) {
  uint64_t hash = p.key;
  for (size_t k = 0; k < columns.size(); ++k) {
    const Column& column = columns[k];
    const int64_t at = column.first + chosen[k];
    hash = Joined(hash, column.strings != nullptr ? util::Fingerprint64(column.strings[at].data(), column.strings[at].size())
                                                  : static_cast<uint64_t>(column.integers[at]));
  }
  return static_cast<int64_t>(hash % (p.buckets > 0 ? p.buckets : static_cast<uint64_t>(INT64_MAX)));
}

void PutText(const std::vector<Column>& columns, const int64_t* chosen, std::string& text) {
  text.clear();
  for (size_t k = 0; k < columns.size(); ++k) {
    const Column& column = columns[k];
    const int64_t at = column.first + chosen[k];
    if (k > 0) text += kSeparator;
    if (column.strings != nullptr) {
      text += column.strings[at].view();
    } else {
      char digits[24];
      text.append(digits, std::to_chars(digits, digits + sizeof digits, column.integers[at]).ptr);
    }
  }
}

/// The next combination of the features: the last column changes first.
void Advance(const std::vector<Column>& columns, int64_t* chosen) {
  for (size_t k = columns.size(); k-- > 0;) {
    if (++chosen[k] < columns[k].count) return;
    chosen[k] = 0;
  }
}

struct Crosses {
  Tensor indices, values;
  int64_t count = 0, widest = 0;
};

Status WriteCrosses(const Crossing& p, std::vector<Column>& columns, Crosses& crosses, ProduceContext& ctx) {
  std::vector<int64_t> chosen(columns.size());
  std::string text;
  int64_t at = 0;
  int64_t* place = crosses.indices.values<int64_t>().data();
  kernels::StopCheck stop(ctx.workers());
  return OverRows(p, columns, ctx.workers(), [&](int64_t row, int64_t count) -> Status {
    std::ranges::fill(chosen, 0);
    for (int64_t i = 0; i < count; ++i, ++at) {
      if (stop(8 * static_cast<int64_t>(columns.size()) + static_cast<int64_t>(text.size() / 8))) return kernels::RunStopped();
      place[2 * at] = row;
      place[2 * at + 1] = i;
      if (p.hashes) {
        crosses.values.values<int64_t>()[static_cast<size_t>(at)] = HashOf(p, columns, chosen.data());
      } else {
        PutText(columns, chosen.data(), text);
        String cross(text);
        WEFT_RETURN_IF_ERROR(cross.Hold(ctx.services().budget));
        crosses.values.values<String>()[static_cast<size_t>(at)] = std::move(cross);
      }
      Advance(columns, chosen.data());
    }
    return {};
  });
}

constexpr auto Run = [](const Crossing& p, ProduceContext& ctx) -> Status {
  std::vector<Column> columns = ColumnsOf(p, ctx);
  Crosses crosses;
  WEFT_RETURN_IF_ERROR(OverRows(p, columns, ctx.workers(), [&](int64_t, int64_t count) -> Status {
    crosses.count += count;
    crosses.widest = std::max(crosses.widest, count);
    if (crosses.count <= kAbsurdElements) return {};
    return ResourceExhausted("needs crosses that fit in memory, found more than 2^48");
  }));
  WEFT_ASSIGN_OR_RETURN(crosses.indices, ctx.Allocate(DType::kInt64, Shape{crosses.count, 2}));
  WEFT_ASSIGN_OR_RETURN(crosses.values, ctx.Allocate(p.hashes ? DType::kInt64 : DType::kString, Shape{crosses.count}));
  WEFT_RETURN_IF_ERROR(WriteCrosses(p, columns, crosses, ctx));
  return Emitted(ctx, output_indices, std::move(crosses.indices), output_values, std::move(crosses.values),
                      output_shape, Tensor::Of<int64_t>({p.rows, crosses.widest}));
};

}  // namespace

BlockDef SparseCross() {
  return Block("SparseCross", "Crosses the features of sparse and dense columns, row by row.")
      .Details(
          "A row without features in some column has no cross. Strings are hashed by FarmHash's fingerprint, numbers count as they are.")
      .Ports(indices, values, shapes, dense_inputs, output_indices, output_values, output_shape)
      .Attrs(number, hashed_output, num_buckets, hash_key, sparse_types, dense_types)
      .Inferred(number, sparse_types, dense_types)
      .Types("sparse_types", kFeatures)
      .Types("dense_types", kFeatures)
      .Attrs(out_type, internal_type)
      .Types("out_type", kFeatures)
      .Types("internal_type", kFeatures)
      .ShapedBy(shapes)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
