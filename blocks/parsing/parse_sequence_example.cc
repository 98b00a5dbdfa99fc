// ParseSingleSequenceExample: a tensorflow.SequenceExample message, which has features of a whole and features of each step, as tensors.
#include "blocks/limits.h"
#include "blocks/parsing/sequence_message.h"
#include "blocks/string/quoted.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using example::FeatureSize;
using example::Kind;
using example::kFeatureTypes;

constexpr In<0> serialized{"serialized", "DT_STRING", "a scalar: a SequenceExample message"};
constexpr In<1> missing_assumed_empty{"feature_list_dense_missing_assumed_empty", "DT_STRING",
                                      "[n]: the dense lists that are without steps where they are missing; others are needed"};
constexpr InList<2> context_sparse_keys{"context_sparse_keys", "DT_STRING", "Ncontext_sparse", "scalars: context features that become sparse vectors"};
constexpr InList<3> context_dense_keys{"context_dense_keys", "DT_STRING", "Ncontext_dense", "scalars: context features that become dense tensors"};
constexpr InList<4> list_sparse_keys{"feature_list_sparse_keys", "DT_STRING", "Nfeature_list_sparse", "scalars: lists that become sparse matrices"};
constexpr InList<5> list_dense_keys{"feature_list_dense_keys", "DT_STRING", "Nfeature_list_dense", "scalars: lists that become dense tensors"};
constexpr InTuple<6> context_dense_defaults{"context_dense_defaults", "Tcontext_dense",
                                            "for each dense context feature the value where it is missing; empty: it is needed"};
constexpr In<7> debug_name{"debug_name", "DT_STRING", "a scalar: the name of the example, for errors"};
constexpr OutList<0> context_sparse_indices{"context_sparse_indices", "DT_INT64", "Ncontext_sparse", "[values, 1]: 0, 1, 2 ..."};
constexpr OutTuple<1> context_sparse_values{"context_sparse_values", "context_sparse_types", "[values]: the values"};
constexpr OutList<2> context_sparse_shapes{"context_sparse_shapes", "DT_INT64", "Ncontext_sparse", "[1]: the number of values"};
constexpr OutTuple<3> context_dense_values{"context_dense_values", "Tcontext_dense", "of the shape of context_dense_shapes: the values"};
constexpr OutList<4> list_sparse_indices{"feature_list_sparse_indices", "DT_INT64", "Nfeature_list_sparse", "[values, 2]: the step and the place in it"};
constexpr OutTuple<5> list_sparse_values{"feature_list_sparse_values", "feature_list_sparse_types", "[values]: the values, step after step"};
constexpr OutList<6> list_sparse_shapes{"feature_list_sparse_shapes", "DT_INT64", "Nfeature_list_sparse",
                                        "[2]: the number of steps, and the most values that a step has"};
constexpr OutTuple<7> list_dense_values{"feature_list_dense_values", "feature_list_dense_types", "[steps, ...shape]: the values"};

constexpr Attr<int64_t> context_sparse_count{"Ncontext_sparse", kRequired, "how many sparse context features there are", nullptr, 0};
constexpr Attr<int64_t> context_dense_count{"Ncontext_dense", kRequired, "how many dense context features there are", nullptr, 0};
constexpr Attr<int64_t> list_sparse_count{"Nfeature_list_sparse", kRequired, "how many sparse lists there are", nullptr, 0};
constexpr Attr<int64_t> list_dense_count{"Nfeature_list_dense", kRequired, "how many dense lists there are", nullptr, 0};
constexpr Attr<DTypes> context_sparse_types{"context_sparse_types", "{}", "the types of the sparse context features"};
constexpr Attr<DTypes> context_dense_types{"Tcontext_dense", kRequired, "the types of the dense context features; follow from their defaults"};
constexpr Attr<DTypes> list_dense_types{"feature_list_dense_types", "{}", "the types of the dense lists"};
constexpr Attr<Shapes> context_dense_shapes{"context_dense_shapes", "{}", "the shapes of the dense context features"};
constexpr Attr<DTypes> list_sparse_types{"feature_list_sparse_types", "{}", "the types of the sparse lists"};
constexpr Attr<Shapes> list_dense_shapes{"feature_list_dense_shapes", "{}", "the shapes of the dense lists in one step"};

struct Parameters {
  DTypes context_sparse, context_dense, list_sparse, list_dense;
  std::vector<Shape> context_shapes, step_shapes;
};

/// As many settings as keys, each key a scalar.
Status CheckKeys(const PlanContext& ctx, const auto& keys, const auto& setting, size_t found) {
  for (int k = 0; k < ctx.count(keys); ++k) {
    if (!ctx.shape(keys, k).scalar()) return ctx.Error(keys, "needs scalars, found shape ", ctx.shape(keys, k));
  }
  if (static_cast<size_t>(ctx.count(keys)) == found) return {};
  return ctx.Error(setting, "needs one for each of the ", ctx.count(keys), " ", keys.name, ", found ", found);
}

Result<std::vector<Shape>> KnownShapes(const PlanContext& ctx, const Attr<Shapes>& attr) {
  std::vector<Shape> shapes;
  for (const PartialShape& given : ctx.attr(attr)) {
    auto shape = given.shape();
    if (!shape) return ctx.Error(attr, "needs shapes of known sizes, found ", given);
    WEFT_RETURN_IF_ERROR(CheckNotAbsurd(*shape, attr.name));
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

Status PlanContextDense(PlanContext& ctx, const Parameters& p) {
  WEFT_RETURN_IF_ERROR(CheckKeys(ctx, context_dense_keys, context_dense_defaults, p.context_dense.size()));
  WEFT_RETURN_IF_ERROR(CheckKeys(ctx, context_dense_keys, context_dense_shapes, p.context_shapes.size()));
  for (int k = 0; k < ctx.count(context_dense_keys); ++k) {
    const Shape& shape = p.context_shapes[static_cast<size_t>(k)];
    const Shape& given = ctx.shape(context_dense_defaults, k);
    if (given.count() > 0 && given != shape) {
      return ctx.Error(context_dense_defaults, "needs the shape of feature ", k, ", ", shape, ", or nothing, found ", given);
    }
    ctx.set(context_dense_values, shape, k);
  }
  return {};
}

Status PlanLists(PlanContext& ctx, const Parameters& p) {
  WEFT_RETURN_IF_ERROR(CheckKeys(ctx, list_sparse_keys, list_sparse_types, p.list_sparse.size()));
  WEFT_RETURN_IF_ERROR(CheckKeys(ctx, list_dense_keys, list_dense_types, p.list_dense.size()));
  WEFT_RETURN_IF_ERROR(CheckKeys(ctx, list_dense_keys, list_dense_shapes, p.step_shapes.size()));
  for (int k = 0; k < ctx.count(list_sparse_keys); ++k) {
    ctx.set_unknown(list_sparse_indices, k, PartialShape::Make({-1, 2}).value());
    ctx.set_unknown(list_sparse_values, k, PartialShape::Make({-1}).value());
    ctx.set(list_sparse_shapes, Shape{2}, k);
  }
  for (int k = 0; k < ctx.count(list_dense_keys); ++k) {
    const auto step = p.step_shapes[static_cast<size_t>(k)].dims();
    std::vector<int64_t> dims(step.begin(), step.end());
    dims.insert(dims.begin(), -1);
    WEFT_ASSIGN_OR_RETURN(PartialShape shape, AtPort(list_dense_shapes, PartialShape::Make(std::move(dims))));
    ctx.set_unknown(list_dense_values, k, std::move(shape));
  }
  return {};
}

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, serialized, debug_name));
  if (ctx.shape(missing_assumed_empty).rank() != 1) {
    return ctx.Error(missing_assumed_empty, "needs a vector, found shape ", ctx.shape(missing_assumed_empty));
  }
  Parameters p{ctx.attr(context_sparse_types), DTypesOf(ctx, context_dense_defaults), ctx.attr(list_sparse_types), ctx.attr(list_dense_types), {}, {}};
  WEFT_ASSIGN_OR_RETURN(p.context_shapes, KnownShapes(ctx, context_dense_shapes));
  WEFT_ASSIGN_OR_RETURN(p.step_shapes, KnownShapes(ctx, list_dense_shapes));
  WEFT_RETURN_IF_ERROR(CheckKeys(ctx, context_sparse_keys, context_sparse_types, p.context_sparse.size()));
  for (int k = 0; k < ctx.count(context_sparse_keys); ++k) {
    ctx.set_unknown(context_sparse_indices, k, PartialShape::Make({-1, 1}).value());
    ctx.set_unknown(context_sparse_values, k, PartialShape::Make({-1}).value());
    ctx.set(context_sparse_shapes, Shape{1}, k);
  }
  WEFT_RETURN_IF_ERROR(PlanContextDense(ctx, p));
  WEFT_RETURN_IF_ERROR(PlanLists(ctx, p));
  return p;
}

class Parser {
 public:
  Parser(const Parameters& p, ProduceContext& ctx) : p_(p), ctx_(ctx), stop_(ctx.workers()), message_(ctx.services().budget) {}

  Status Run() {
    const std::string_view bytes = ctx_.in<String>(serialized)[0];
    const bool good = message_.Read(bytes, stop_);
    WEFT_RETURN_IF_ERROR(message_.status());
    if (stop_(0)) return kernels::RunStopped();
    if (!good) return ctx_.Error(serialized, "needs a SequenceExample message, found ", bytes.size(), " bytes that are none", Name());
    for (int k = 0; k < ctx_.count(context_sparse_keys); ++k) WEFT_RETURN_IF_ERROR(ContextSparse(k, p_.context_sparse[static_cast<size_t>(k)]));
    for (int k = 0; k < ctx_.count(context_dense_keys); ++k) WEFT_RETURN_IF_ERROR(ContextDense(k, p_.context_dense[static_cast<size_t>(k)]));
    for (int k = 0; k < ctx_.count(list_sparse_keys); ++k) WEFT_RETURN_IF_ERROR(ListSparse(k, p_.list_sparse[static_cast<size_t>(k)]));
    for (int k = 0; k < ctx_.count(list_dense_keys); ++k) WEFT_RETURN_IF_ERROR(ListDense(k, p_.list_dense[static_cast<size_t>(k)]));
    return stop_(0) ? kernels::RunStopped() : Status();
  }

 private:
  std::string Name() const {
    const std::string_view name = ctx_.in<String>(debug_name)[0];
    return name.empty() ? "" : Cat(" in example ", Quoted(name));
  }
  std::string_view Key(const auto& port, int k) const { return ctx_.in<String>(port, k)[0]; }

  /// The kind and number of values, which must be of `dtype` where there are any.
  Result<FeatureSize> Measure(std::string_view feature, std::string_view key, DType dtype) {
    FeatureSize size;
    example::MeasureFeature(feature, size, stop_);
    if (size.kind == Kind::kNone || size.kind == example::KindOf(dtype)) return size;
    return ctx_.Error(serialized, "needs ", dtype, " for feature ", Quoted(key), ", found ", example::KindName(size.kind), Name());
  }
  /// The same of a dense one, with as many values as a shape has.
  Status CheckDense(std::string_view feature, std::string_view key, DType dtype, const Shape& shape) {
    WEFT_ASSIGN_OR_RETURN(const FeatureSize size, Measure(feature, key, dtype));
    if (size.kind != Kind::kNone && size.count == shape.count()) return {};
    return ctx_.Error(serialized, "needs ", shape.count(), " values of ", dtype, " for feature ", Quoted(key), ", shape ", shape, ", found ",
                      size.count, Name());
  }
  /// Stores `count` values from element `first` on.
  Status Store(std::string_view feature, Tensor& to, int64_t first, int64_t count) {
    return Dispatch(to.dtype(), kFeatureTypes, [&]<class T>() {
      return example::StoreValues<T>(feature, to.values<T>().data() + first, count, ctx_.services().budget, stop_);
    });
  }
  Status ContextSparse(int k, DType dtype) {
    const std::string_view key = Key(context_sparse_keys, k);
    const auto at = message_.context().find(key);
    const std::string_view feature = at == message_.context().end() ? std::string_view() : at->second;
    WEFT_ASSIGN_OR_RETURN(const FeatureSize size, Measure(feature, key, dtype));
    WEFT_ASSIGN_OR_RETURN(Tensor values, ctx_.Allocate(dtype, Shape{size.count}));
    WEFT_ASSIGN_OR_RETURN(Tensor indices, ctx_.Allocate(DType::kInt64, Shape{size.count, 1}));
    WEFT_RETURN_IF_ERROR(Store(feature, values, 0, size.count));
    int64_t* index = indices.values<int64_t>().data();
    for (int64_t i = 0; i < size.count && !stop_(); ++i) index[i] = i;
    ctx_.Emit(context_sparse_indices, std::move(indices), k);
    ctx_.Emit(context_sparse_values, std::move(values), k);
    ctx_.Emit(context_sparse_shapes, Tensor::Of<int64_t>({size.count}), k);
    return {};
  }

  Status ContextDense(int k, DType dtype) {
    const std::string_view key = Key(context_dense_keys, k);
    const Shape& shape = p_.context_shapes[static_cast<size_t>(k)];
    const auto at = message_.context().find(key);
    if (at == message_.context().end()) {
      if (ctx_.shape(context_dense_defaults, k).count() == 0) {
        return ctx_.Error(serialized, "needs context feature ", Quoted(key), ", which has no default, found none", Name());
      }
      WEFT_ASSIGN_OR_RETURN(Tensor value, ctx_.Copy(context_dense_defaults, dtype, k));
      ctx_.Emit(context_dense_values, std::move(value), k);
      return {};
    }
    WEFT_RETURN_IF_ERROR(CheckDense(at->second, key, dtype, shape));
    WEFT_ASSIGN_OR_RETURN(Tensor value, ctx_.Allocate(dtype, shape));
    WEFT_RETURN_IF_ERROR(Store(at->second, value, 0, shape.count()));
    ctx_.Emit(context_dense_values, std::move(value), k);
    return {};
  }

  Status ListSparse(int k, DType dtype) {
    const std::string_view key = Key(list_sparse_keys, k);
    const auto at = message_.lists().find(key);
    static const std::vector<std::string_view> kNoSteps;
    const auto& steps = at == message_.lists().end() ? kNoSteps : at->second;
    int64_t total = 0, most = 0;
    for (std::string_view step : steps) {
      if (stop_(16)) return kernels::RunStopped();
      WEFT_ASSIGN_OR_RETURN(const FeatureSize size, Measure(step, key, dtype));
      total += size.count;
      most = std::max(most, size.count);
    }
    WEFT_ASSIGN_OR_RETURN(Tensor values, ctx_.Allocate(dtype, Shape{total}));
    WEFT_ASSIGN_OR_RETURN(Tensor indices, ctx_.Allocate(DType::kInt64, Shape{total, 2}));
    int64_t *index = indices.values<int64_t>().data(), first = 0;
    for (size_t t = 0; t < steps.size() && !stop_(16); ++t) {
      WEFT_ASSIGN_OR_RETURN(const FeatureSize size, Measure(steps[t], key, dtype));
      WEFT_RETURN_IF_ERROR(Store(steps[t], values, first, size.count));
      for (int64_t n = 0; n < size.count && !stop_(); ++n, ++first) {
        index[2 * first] = static_cast<int64_t>(t);
        index[2 * first + 1] = n;
      }
    }
    ctx_.Emit(list_sparse_indices, std::move(indices), k);
    ctx_.Emit(list_sparse_values, std::move(values), k);
    ctx_.Emit(list_sparse_shapes, Tensor::Of<int64_t>({static_cast<int64_t>(steps.size()), most}), k);
    return {};
  }

  Status ListDense(int k, DType dtype) {
    const std::string_view key = Key(list_dense_keys, k);
    const Shape& step = p_.step_shapes[static_cast<size_t>(k)];
    const auto at = message_.lists().find(key);
    const bool there = at != message_.lists().end();
    const auto empty = ctx_.in<String>(missing_assumed_empty);
    if (!there && std::find(empty.begin(), empty.end(), key) == empty.end()) {
      return ctx_.Error(serialized, "needs feature list ", Quoted(key), ", found none", Name(), "; named in ", missing_assumed_empty.name,
                        " it would be empty");
    }
    std::vector<int64_t> dims(step.dims().begin(), step.dims().end());
    dims.insert(dims.begin(), there ? static_cast<int64_t>(at->second.size()) : 0);
    WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(list_dense_shapes, Shape::Make(dims)));
    WEFT_ASSIGN_OR_RETURN(Tensor values, ctx_.Allocate(dtype, std::move(shape)));
    for (size_t t = 0; there && t < at->second.size() && !stop_(16); ++t) {
      WEFT_RETURN_IF_ERROR(CheckDense(at->second[t], key, dtype, step));
      WEFT_RETURN_IF_ERROR(Store(at->second[t], values, static_cast<int64_t>(t) * step.count(), step.count()));
    }
    ctx_.Emit(list_dense_values, std::move(values), k);
    return {};
  }

  const Parameters& p_;
  ProduceContext& ctx_;
  kernels::StopCheck stop_;
  example::SequenceMessage message_;
};

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) { return Parser(p, ctx).Run(); };

}  // namespace

BlockDef ParseSingleSequenceExample() {
  return Block("ParseSingleSequenceExample", "The features of a SequenceExample message, of the whole and of each step, as tensors.")
      .Details("Features that are not asked for are skipped. A sparse feature that is missing is empty.")
      .Ports(serialized, missing_assumed_empty, context_sparse_keys, context_dense_keys, list_sparse_keys, list_dense_keys, context_dense_defaults,
             debug_name, context_sparse_indices, context_sparse_values, context_sparse_shapes, context_dense_values, list_sparse_indices,
             list_sparse_values, list_sparse_shapes, list_dense_values)
      .Attrs(context_sparse_count, context_dense_count, list_sparse_count, list_dense_count, context_sparse_types, context_dense_types,
             list_dense_types, context_dense_shapes, list_sparse_types, list_dense_shapes)
      .Inferred(context_sparse_count, context_dense_count, list_sparse_count, list_dense_count, context_dense_types)
      .Types("context_sparse_types", kFeatureTypes)
      .Types("Tcontext_dense", kFeatureTypes)
      .Types("feature_list_dense_types", kFeatureTypes)
      .Types("feature_list_sparse_types", kFeatureTypes)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
