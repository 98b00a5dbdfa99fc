// ParseExample: features of tensorflow.Example messages as dense and sparse tensors.
#include <memory>
#include <unordered_map>

#include "blocks/limits.h"
#include "blocks/parsing/feature_values.h"
#include "blocks/string/quoted.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using example::Kind;
using example::kFeatureTypes;

constexpr In<0> serialized{"serialized", "DT_STRING", "[N]: Example messages"};
constexpr In<1> names{"names", "DT_STRING", "[N]: names of the examples, for errors; or empty"};
constexpr InList<2> sparse_keys{"sparse_keys", "DT_STRING", "Nsparse", "scalars: the features that become sparse tensors"};
constexpr InList<3> dense_keys{"dense_keys", "DT_STRING", "Ndense", "scalars: the features that become dense tensors"};
constexpr InTuple<4> dense_defaults{"dense_defaults", "Tdense",
                                    "for each dense feature the value where it is missing; empty: it is needed; one element that fills short rows "
                                    "where the first size of its shape is unknown"};
constexpr OutList<0> sparse_indices{"sparse_indices", "DT_INT64", "Nsparse", "[values, 2]: of each value, the example and its place in the list"};
constexpr OutTuple<1> sparse_values{"sparse_values", "sparse_types", "[values]: the values, example after example"};
constexpr OutList<2> sparse_shapes{"sparse_shapes", "DT_INT64", "Nsparse", "[2]: N, and the length of the longest list"};
constexpr OutTuple<3> dense_values{"dense_values", "Tdense", "[N, ...shape]: the values"};
constexpr Attr<int64_t> sparse_count{"Nsparse", kRequired, "how many sparse features there are", nullptr, 0};
constexpr Attr<int64_t> dense_count{"Ndense", kRequired, "how many dense features there are", nullptr, 0};
constexpr Attr<DTypes> sparse_types{"sparse_types", kRequired, "the types of the sparse features"};
constexpr Attr<DTypes> dense_types{"Tdense", kRequired, "the types of the dense features; follow from dense_defaults"};
constexpr Attr<Shapes> dense_shapes{"dense_shapes", kRequired,
                                    "the shape of each dense feature in one example; a first size of -1: as many rows as the longest list has"};

/// A feature that is asked for.
struct Column {
  DType dtype = DType::kInvalid;
  bool sparse = false;
  bool variable = false;  // dense, with a number of rows that only the examples tell
  bool has_default = false;
  int64_t stride = 1;     // elements of a dense feature, or of one of its rows
  std::vector<int64_t> dims;  // of that
};

struct Parameters {
  std::vector<Column> columns;  // first the sparse ones
  int sparse = 0;
};

Result<Column> PlanDense(PlanContext& ctx, int k, const PartialShape& shape) {
  if (!shape.known_rank()) return ctx.Error(dense_shapes, "needs shapes of known rank, found ", shape, " for feature ", k);
  Column column;
  column.dtype = ctx.dtype(dense_defaults, k);
  column.dims = shape.dims();
  column.variable = !column.dims.empty() && column.dims[0] < 0;
  if (column.variable) column.dims.erase(column.dims.begin());
  for (int64_t size : column.dims) {
    if (size < 0) return ctx.Error(dense_shapes, "needs known sizes after the first, found ", shape, " for feature ", k);
  }
  WEFT_ASSIGN_OR_RETURN(const Shape row, AtPort(dense_shapes, Shape::Make(column.dims)));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(row, dense_shapes.name));
  column.stride = row.count();
  const Shape& given = ctx.shape(dense_defaults, k);
  column.has_default = given.count() > 0;
  if (column.variable) {
    if (column.stride == 0) return ctx.Error(dense_shapes, "needs rows with elements, found ", shape, " for feature ", k);
    if (given.count() != 1) {
      return ctx.Error(dense_defaults, "needs one element to fill short rows of feature ", k, " with, found shape ", given);
    }
  } else if (column.has_default && given != row) {
    return ctx.Error(dense_defaults, "needs the shape of dense feature ", k, ", ", row, ", or nothing, found ", given);
  }
  return column;
}

/// The shapes of the ports, and as many keys as settings.
Status CheckInputs(const PlanContext& ctx) {
  if (ctx.shape(serialized).rank() != 1) return ctx.Error(serialized, "needs a vector, found shape ", ctx.shape(serialized));
  if (ctx.shape(names) != Shape{0} && ctx.shape(names) != ctx.shape(serialized)) {
    return ctx.Error(names, "needs a name for each of the ", ctx.shape(serialized)[0], " examples, or none, found shape ", ctx.shape(names));
  }
  for (int k = 0; k < ctx.count(sparse_keys); ++k) {
    if (ctx.shape(sparse_keys, k).count() != 1) return ctx.Error(sparse_keys, "needs one key each, found shape ", ctx.shape(sparse_keys, k));
  }
  for (int k = 0; k < ctx.count(dense_keys); ++k) {
    if (ctx.shape(dense_keys, k).count() != 1) return ctx.Error(dense_keys, "needs one key each, found shape ", ctx.shape(dense_keys, k));
  }
  const auto check = [&](const auto& keys, const auto& setting, size_t found) -> Status {
    if (static_cast<size_t>(ctx.count(keys)) == found) return {};
    return ctx.Error(setting, "needs one for each of the ", ctx.count(keys), " ", keys.name, ", found ", found);
  };
  WEFT_RETURN_IF_ERROR(check(sparse_keys, sparse_types, ctx.attr(sparse_types).size()));
  WEFT_RETURN_IF_ERROR(check(dense_keys, dense_defaults, static_cast<size_t>(ctx.count(dense_defaults))));
  return check(dense_keys, dense_shapes, ctx.attr(dense_shapes).size());
}

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckInputs(ctx));
  Parameters p;
  p.sparse = ctx.count(sparse_keys);
  const DTypes types = ctx.attr(sparse_types);
  for (int k = 0; k < p.sparse; ++k) {
    ctx.set_unknown(sparse_indices, k, PartialShape::Make({-1, 2}).value());
    ctx.set_unknown(sparse_values, k, PartialShape::Make({-1}).value());
    ctx.set(sparse_shapes, Shape{2}, k);
    Column column;
    column.dtype = types[static_cast<size_t>(k)];
    column.sparse = true;
    p.columns.push_back(std::move(column));
  }
  const Shapes shapes = ctx.attr(dense_shapes);
  for (int k = 0; k < ctx.count(dense_keys); ++k) {
    WEFT_ASSIGN_OR_RETURN(Column column, PlanDense(ctx, k, shapes[static_cast<size_t>(k)]));
    std::vector<int64_t> dims = column.dims;
    if (column.variable) dims.insert(dims.begin(), -1);
    dims.insert(dims.begin(), ctx.shape(serialized)[0]);
    WEFT_ASSIGN_OR_RETURN(PartialShape shape, AtPort(dense_shapes, PartialShape::Make(std::move(dims))));
    ctx.set_unknown(dense_values, k, std::move(shape));
    p.columns.push_back(std::move(column));
  }
  return p;
}

/// A feature of one example.
struct Found {
  std::string_view list;  // behind its kind
  int64_t count = 0;      // of its values
  int64_t first = 0;      // sparse: how many values come before it
  Kind kind = Kind::kNone;
  bool there = false;
};

class Parser {
 public:
  Parser(const Parameters& p, ProduceContext& ctx) : p_(p), ctx_(ctx), examples_(static_cast<int64_t>(ctx.in<String>(serialized).size())) {}

  Status Run() {
    if (p_.columns.empty()) return {};
    WEFT_RETURN_IF_ERROR(IndexKeys());
    WEFT_RETURN_IF_ERROR(Prepare());
    WEFT_RETURN_IF_ERROR(ForElements(ctx_.workers(), examples_, [&](int64_t i, auto& stop) { return ReadExample(i, stop); }, kGrain));
    if (ctx_.cancelled()) return kernels::RunStopped();  // not every example was read
    WEFT_RETURN_IF_ERROR(AllocateByCounts());
    WEFT_RETURN_IF_ERROR(ForElements(ctx_.workers(), examples_, [&](int64_t i, auto& stop) { return StoreExample(i, stop); }, kGrain));
    EmitAll();
    return {};
  }

 private:
  static constexpr int64_t kGrain = 16;  // examples of a task

  Status IndexKeys() {
    const auto add = [&](const auto& port, int k) -> Status {
      const std::string_view key = ctx_.in<String>(port, k)[0];
      if (index_.emplace(key, index_.size()).second) return {};
      return ctx_.Error(port, "needs keys that differ, found ", Quoted(key), " twice");
    };
    for (int k = 0; k < p_.sparse; ++k) WEFT_RETURN_IF_ERROR(add(sparse_keys, k));
    for (int k = 0; k < ctx_.count(dense_keys); ++k) WEFT_RETURN_IF_ERROR(add(dense_keys, k));
    return {};
  }

  /// The table of what is found, and the tensors whose shape is known.
  Status Prepare() {
    values_.resize(p_.columns.size());
    indices_.resize(static_cast<size_t>(p_.sparse));
    most_.resize(p_.columns.size());
    const auto columns = static_cast<int64_t>(p_.columns.size());
    WEFT_ASSIGN_OR_RETURN(table_, ctx_.Allocate(DType::kUInt8, Shape{examples_, columns, static_cast<int64_t>(sizeof(Found))}));
    for (size_t c = 0; c < p_.columns.size(); ++c) {
      const Column& column = p_.columns[c];
      if (column.sparse || column.variable) continue;
      std::vector<int64_t> dims = column.dims;
      dims.insert(dims.begin(), examples_);
      WEFT_RETURN_IF_ERROR(AllocateDense(c, dims));
    }
    return {};
  }
  Status AllocateDense(size_t c, std::span<const int64_t> dims) {
    WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(dense_shapes, Shape::Make(dims)));
    WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, dense_shapes.name));
    WEFT_ASSIGN_OR_RETURN(values_[c], ctx_.Allocate(p_.columns[c].dtype, std::move(shape)));
    return {};
  }

  Found* RowOf(int64_t i) const {
    return static_cast<Found*>(const_cast<void*>(table_.data())) + i * static_cast<int64_t>(p_.columns.size());
  }
  std::string_view KeyOf(size_t c) const {
    const auto k = static_cast<int>(c) - p_.sparse;
    return k < 0 ? ctx_.in<String>(sparse_keys, static_cast<int>(c))[0] : ctx_.in<String>(dense_keys, k)[0];
  }
  /// " in example 3 ('name')".
  std::string Place(int64_t i) const {
    const auto given = ctx_.in<String>(names);
    return Cat(" in example ", i, given.empty() ? "" : Cat(" (", Quoted(given[static_cast<size_t>(i)]), ")"));
  }
  Status Damaged(size_t c, int64_t i) const {
    return ctx_.Error(serialized, "needs a whole list, found a damaged one for feature ", Quoted(KeyOf(c)), Place(i));
  }

  Status ReadExample(int64_t i, kernels::StopCheck& stop) {
    Found* row = RowOf(i);
    std::uninitialized_value_construct_n(row, p_.columns.size());
    bool known = true;
    const auto entry = [&](std::string_view key, std::string_view feature) {
      const auto at = index_.find(key);
      if (at == index_.end()) return;
      Kind kind = Kind::kNone;
      known = example::TakeKind(feature, kind) && known;
      // Of a key that comes again the last one counts; a dense one without a list does not count.
      if (kind != Kind::kNone || p_.columns[at->second].sparse) row[at->second] = {feature, 0, 0, kind, true};
    };
    const bool good = example::ForFeatures(ctx_.in<String>(serialized)[static_cast<size_t>(i)], stop, entry);
    if (stop(0)) return {};
    if (!good) return ctx_.Error(serialized, "needs Example messages, found a string that is none", Place(i));
    if (!known) return ctx_.Error(serialized, "needs features that are lists of bytes, floats or integers, found another", Place(i));
    for (size_t c = 0; c < p_.columns.size(); ++c) {
      WEFT_RETURN_IF_ERROR(Dispatch(p_.columns[c].dtype, kFeatureTypes, [&]<class T>() { return ReadFeature<T>(c, i, row[c], stop); }));
    }
    return {};
  }

  template <class T>
  Status ReadFeature(size_t c, int64_t i, Found& found, kernels::StopCheck& stop) {
    const Column& column = p_.columns[c];
    const bool fixed = !column.sparse && !column.variable;
    if (!found.there || found.kind == Kind::kNone) return fixed ? StoreDefault<T>(c, i) : Status();
    if (found.kind != example::KindOf(column.dtype)) {
      return ctx_.Error(serialized, "needs ", column.dtype, " for feature ", Quoted(KeyOf(c)), ", found ", example::KindName(found.kind), Place(i));
    }
    if (fixed) return StoreFixed<T>(c, i, found.list, stop);
    example::CountSink sink;
    const bool good = example::ReadList<T>(found.list, sink, stop);
    if (stop(0)) return {};
    if (!good) return Damaged(c, i);
    found.count = sink.count;
    if (sink.count % column.stride == 0) return {};
    return ctx_.Error(serialized, "needs full rows of ", column.stride, " values for feature ", Quoted(KeyOf(c)), ", found ", sink.count, " values",
                      Place(i));
  }

  template <class T>
  Status StoreFixed(size_t c, int64_t i, std::string_view list, kernels::StopCheck& stop) {
    const int64_t stride = p_.columns[c].stride;
    example::StoreSink<T> sink(values_[c].template values<T>().data() + i * stride, stride, ctx_.services().budget, stop);
    const bool good = example::ReadList<T>(list, sink, stop);
    if (stop(0) || !sink.status.ok()) return sink.status;
    if (!good) return Damaged(c, i);
    if (sink.count == stride) return {};
    return ctx_.Error(serialized, "needs ", stride, " values for feature ", Quoted(KeyOf(c)), ", found ", sink.count, Place(i));
  }
  template <class T>
  Status StoreDefault(size_t c, int64_t i) {
    const Column& column = p_.columns[c];
    if (!column.has_default) return ctx_.Error(serialized, "needs feature ", Quoted(KeyOf(c)), ", which has no default, found none", Place(i));
    const T* from = ctx_.in<T>(dense_defaults, static_cast<int>(c) - p_.sparse).data();
    kernels::CopyLong(ctx_.workers(), from, values_[c].template values<T>().data() + i * column.stride, column.stride);
    return {};
  }

  /// Tensors whose shape follows from the numbers of values.
  Status AllocateByCounts() {
    kernels::StopCheck stop(ctx_.workers());
    for (size_t c = 0; c < p_.columns.size(); ++c) {
      const Column& column = p_.columns[c];
      if (!column.sparse && !column.variable) continue;
      int64_t total = 0;
      for (int64_t i = 0; i < examples_; ++i) {
        if (stop()) return kernels::RunStopped();
        Found& found = RowOf(i)[c];
        found.first = total;
        total += found.count;
        most_[c] = std::max(most_[c], found.count);
      }
      if (column.variable) {
        std::vector<int64_t> dims = column.dims;
        dims.insert(dims.begin(), {examples_, most_[c] / column.stride});
        WEFT_RETURN_IF_ERROR(AllocateDense(c, dims));
      } else {
        WEFT_ASSIGN_OR_RETURN(values_[c], ctx_.Allocate(column.dtype, Shape{total}));
        WEFT_ASSIGN_OR_RETURN(indices_[c], ctx_.Allocate(DType::kInt64, Shape{total, 2}));
      }
    }
    return {};
  }

  Status StoreExample(int64_t i, kernels::StopCheck& stop) {
    for (size_t c = 0; c < p_.columns.size(); ++c) {
      const Column& column = p_.columns[c];
      if (!column.sparse && !column.variable) continue;
      WEFT_RETURN_IF_ERROR(Dispatch(column.dtype, kFeatureTypes, [&]<class T>() { return StoreFeature<T>(c, i, RowOf(i)[c], stop); }));
    }
    return {};
  }
  template <class T>
  Status StoreFeature(size_t c, int64_t i, const Found& found, kernels::StopCheck& stop) {
    const bool sparse = p_.columns[c].sparse;
    T* to = values_[c].template values<T>().data() + (sparse ? found.first : i * most_[c]);
    if (found.count > 0) {
      example::StoreSink<T> sink(to, found.count, ctx_.services().budget, stop);
      if (!example::ReadList<T>(found.list, sink, stop) || !sink.status.ok()) return sink.status;
    }
    if (!sparse) {
      const T fill = ctx_.in<T>(dense_defaults, static_cast<int>(c) - p_.sparse)[0];
      kernels::FillLong(ctx_.workers(), to + found.count, most_[c] - found.count, fill);
      return {};
    }
    int64_t* index = indices_[c].template values<int64_t>().data() + 2 * found.first;
    for (int64_t n = 0; n < found.count && !stop(); ++n) {
      index[2 * n] = i;
      index[2 * n + 1] = n;
    }
    return {};
  }

  void EmitAll() {
    for (int k = 0; k < p_.sparse; ++k) {
      const auto c = static_cast<size_t>(k);
      ctx_.Emit(sparse_indices, std::move(indices_[c]), k);
      ctx_.Emit(sparse_values, std::move(values_[c]), k);
      ctx_.Emit(sparse_shapes, Tensor::Of<int64_t>({examples_, most_[c]}), k);
    }
    for (size_t c = static_cast<size_t>(p_.sparse); c < values_.size(); ++c) {
      ctx_.Emit(dense_values, std::move(values_[c]), static_cast<int>(c) - p_.sparse);
    }
  }

  const Parameters& p_;
  ProduceContext& ctx_;
  const int64_t examples_;
  std::unordered_map<std::string_view, size_t> index_;  // key -> column
  Tensor table_;                    // a Found for each example and column
  std::vector<Tensor> values_;      // by column
  std::vector<Tensor> indices_;     // of the sparse ones
  std::vector<int64_t> most_;       // values that an example has, of those with a number that varies
};

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) { return Parser(p, ctx).Run(); };

}  // namespace

BlockDef ParseExample() {
  return Block("ParseExample", "The features of Example messages as dense and sparse tensors.")
      .Details("Of a key that comes twice in an example the last feature counts. Features that are not asked for are skipped.")
      .Ports(serialized, names, sparse_keys, dense_keys, dense_defaults, sparse_indices, sparse_values, sparse_shapes, dense_values)
      .Attrs(sparse_count, dense_count, sparse_types, dense_types, dense_shapes)
      .Inferred(sparse_count, dense_count, dense_types)
      .Types("sparse_types", kFeatureTypes)
      .Types("Tdense", kFeatureTypes)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
