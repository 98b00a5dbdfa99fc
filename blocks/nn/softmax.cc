// Softmax and LogSoftmax along the last axis; SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits.
#include "blocks/broadcast.h"
#include "blocks/gradients.h"
#include "blocks/kernels/first_where.h"
#include "blocks/kernels/reduce/softmax.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

/// Rows that are worth a task.
int64_t Grain(int64_t classes) { return 8192 / std::max<int64_t>(classes, 1); }

/// grad summed over the classes, kept as an axis of size 1.
Term SumOfClasses(Term grad) {
  GradientBuilder& g = *grad.builder;
  return {&g, g.Add("Sum", {{"input", {grad}}, {"axis", {g.Constant(Tensor::Scalar<int32_t>(-1))}}}, {{"keep_dims", true}})};
}
/// dy through a softmax whose result is y.
Term ThroughSoftmax(Term dy, Term y) { return (dy - SumOfClasses(dy * y)) * y; }
Term SoftmaxOf(Term logits) { return {logits.builder, logits.builder->Add("Softmax", {{"logits", {logits}}})}; }

namespace softmax {

constexpr In<0> logits{"logits", "T", "[..., classes]"};
constexpr Out<0> output{"softmax", "T", "the shape of logits"};
constexpr Out<0> log_output{"logsoftmax", "T", "the shape of logits"};

struct Rows {
  int64_t count, size;
};

Result<Rows> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(logits);
  if (shape.rank() == 0) return ctx.Error(logits, "needs rank 1 or more, found a scalar");
  ctx.set(output, shape);
  const int64_t size = shape[shape.rank() - 1];
  return Rows{shape.count() == 0 ? 0 : shape.count() / size, size};
}

/// Calls row(x, size, out, workers) for each row.
template <class T>
void ForRows(const Rows& rows, RunContext& ctx, void (*row)(const T*, int64_t, T*, const Workers*)) {
  if (rows.count == 0) return;  // the bytes of a row that is not there may not be countable
  const T* in = ctx.in<T>(logits).data();
  T* out = ctx.out<T>(output).data();
  kernels::ForEach(ctx.workers(), rows.count, Grain(rows.size), [&](int64_t r) {
    row(in + r * rows.size, rows.size, out + r * rows.size, &ctx.workers());
  });
}
constexpr auto Run = []<class T>(const Rows& rows, RunContext& ctx) { ForRows<T>(rows, ctx, kernels::Softmax<T>); };
constexpr auto RunLog = []<class T>(const Rows& rows, RunContext& ctx) { ForRows<T>(rows, ctx, kernels::LogSoftmax<T>); };

void Gradient(GradientBuilder& g) { g.Set(logits, ThroughSoftmax({&g, g.grad(output)}, {&g, g.out(output)})); }
void LogGradient(GradientBuilder& g) {
  const Term dy{&g, g.grad(log_output)};
  g.Set(logits, dy - SumOfClasses(dy) * SoftmaxOf({&g, g.in(logits)}));
}

}  // namespace softmax

// ---- cross entropies -----------------------------------------------------------------------------------------------------------

constexpr Out<0> loss{"loss", "T", "[batch]"};
constexpr Out<1> backprop{"backprop", "T", "[batch, classes]: the loss differentiated by the features"};

/// A gradient of the losses, [batch], repeated for each class.
Term SpreadOverClasses(GradientBuilder& g, GradientValue loss_grad) {
  const GradientValue axis = g.Constant(Tensor::Scalar<int32_t>(-1));
  return {&g, g.Add("SpreadLike", {{"grad", {loss_grad}}, {"like", {g.out(backprop)}}, {"axis", {axis}}})};
}

/// The gradient of the logits, [batch, classes]: what comes through the loss, backprop times its gradient, and what comes through backprop
/// itself. At least one of the two has a gradient.
GradientValue FeaturesGradient(GradientBuilder& g, const auto& logits) {
  GradientValue total;
  if (g.grad(loss).valid()) total = SpreadOverClasses(g, g.grad(loss)) * Term{&g, g.out(backprop)};
  if (!g.grad(backprop).valid()) return total;
  const GradientValue second = ThroughSoftmax({&g, g.grad(backprop)}, SoftmaxOf({&g, logits()}));
  return total.valid() ? g.Add("AddN", {{"inputs", {total, second}}}) : second;
}

namespace dense {

constexpr In<0> features{"features", "T", "[batch, classes], or a shape that stretches to it: the logits"};
constexpr In<1> labels{"labels", "T", "[batch, classes], or a shape that stretches to it: the probability of each class"};

struct Strides {
  int64_t row, column;  // 0 where the operand is stretched
};
struct Parameters {
  int64_t rows, classes;
  Strides features, labels;
};

/// Of an operand seen as a matrix, missing dimensions being 1.
Strides StridesOf(const Shape& shape) {
  const int rank = shape.rank();
  const int64_t columns = rank > 0 ? shape[rank - 1] : 1, rows = rank > 1 ? shape[rank - 2] : 1;
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Shape common, BroadcastShape(ctx, labels, ctx.shape(features), features.name));
  if (common.rank() != 2) {
    return ctx.Error(features, "needs features and labels that make a matrix, found ", ctx.shape(features), " and ", ctx.shape(labels));
  }
  ctx.set(loss, Shape{common[0]});
  ctx.set(backprop, common);
  return Parameters{common[0], common[1], StridesOf(ctx.shape(features)), StridesOf(ctx.shape(labels))};
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const T *x = ctx.in<T>(features).data(), *y = ctx.in<T>(labels).data();
  T *losses = ctx.out<T>(loss).data(), *gradients = ctx.out<T>(backprop).data();
  const kernels::StretchedMatrix<T> feature_rows{x, p.features.row, p.features.column}, label_rows{y, p.labels.row, p.labels.column};
  using Short = kernels::ShortCrossEntropies<T>;
  ctx.workers().For(p.rows, Grain(p.classes), [&](int64_t begin, int64_t end) {
    if (p.classes > 0 && p.classes <= Short::kMostClasses) {
      return Short(feature_rows, label_rows, p.classes).Run(begin, end, losses, gradients);
    }
    for (int64_t r = begin; r < end; ++r) {
      kernels::SoftmaxCrossEntropy<T>(feature_rows.Row(r), label_rows.Row(r), p.classes, losses + r, gradients + r * p.classes, ctx.workers());
    }
  });
};

/// features: through the loss and through backprop. labels: through the loss only.
void Gradient(GradientBuilder& g) {
  const auto logits = [&] { return g.Add("BroadcastLike", {{"input", {g.in(features)}}, {"like", {g.out(backprop)}}}); };
  if (g.wanted(features)) g.Set(features, SumLike(g, FeaturesGradient(g, logits), g.in(features)));
  if (g.wanted(labels) && g.grad(loss).valid()) {
    const Term log_softmax{&g, g.Add("LogSoftmax", {{"logits", {logits()}}})};
    g.Set(labels, SumLike(g, SpreadOverClasses(g, g.grad(loss)) * -log_softmax, g.in(labels)));
  } else if (g.wanted(labels) && g.grad(backprop).valid()) {
    g.Set(labels, Applied(g, "ZerosLike", g.in(labels)));  // as TensorFlow has it: backprop passes nothing on to the labels
  }
}

}  // namespace dense

namespace sparse {

constexpr In<0> features{"features", "T", "[batch, classes]: the logits; classes is 1 or more"};
constexpr In<1> labels{"labels", "Tlabels", "[batch]: the class of each row, in [0, classes)"};

struct Parameters {
  int64_t rows, classes;
  DType label_type;
};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(features);
  if (shape.rank() != 2) return ctx.Error(features, "needs a matrix, found shape ", shape);
  if (shape[1] == 0) return ctx.Error(features, "needs a class or more, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, labels, shape[0], "row of features"));
  ctx.set(loss, ctx.shape(labels));
  ctx.set(backprop, shape);
  return Parameters{shape[0], shape[1], ctx.dtype(labels)};
}

/// loss = -log softmax(row)[label]; backprop = softmax(row), less 1 at the label.
template <class T>
void CrossEntropyRow(const T* row, int64_t size, int64_t label, T* loss, T* backprop, const Workers& workers) {
  using A = Accumulator<T>;
  kernels::SoftmaxRow<T> softmax({row, 1}, size, workers);
  const A sum = static_cast<A>(softmax.sum());
  const double log_sum = std::log(softmax.sum());
  softmax.ForChunks([&](int64_t begin, int64_t count, A* shifted, A* exponentials) {
    const int64_t at = label - begin;
    for (int64_t i = 0; i < count; ++i) exponentials[i] /= sum;
    if (at >= 0 && at < count) {
      *loss = kernels::SumOf<T>::Round(log_sum - static_cast<double>(shifted[at]));
      exponentials[at] -= A(1);
    }
    kernels::Narrow(exponentials, backprop + begin, count);
  });
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) -> Status {
  const T* from = ctx.in<T>(features).data();
  T *losses = ctx.out<T>(loss).data(), *gradients = ctx.out<T>(backprop).data();
  Status status;
  Dispatch(p.label_type, kIndices, [&]<class I>() {
    const I* label = ctx.in<I>(labels).data();
    const auto is_bad = [&](int64_t r) { return label[r] < 0 || static_cast<int64_t>(label[r]) >= p.classes; };
    const Result<int64_t> bad = kernels::FirstWhere(ctx.workers(), p.rows, is_bad);
    if (!bad.ok()) status = bad.status();
    else if (*bad >= 0) status = ctx.Error(labels, "needs classes in [0, ", p.classes, "), found ", label[*bad], " in row ", *bad);
    if (!status.ok()) return;
    kernels::ForEach(ctx.workers(), p.rows, Grain(p.classes), [&](int64_t r) {
      CrossEntropyRow(from + r * p.classes, p.classes, static_cast<int64_t>(label[r]), losses + r, gradients + r * p.classes,
                      ctx.workers());
    });
  });
  return status;
};

void Gradient(GradientBuilder& g) { g.Set(features, FeaturesGradient(g, [&] { return g.in(features); })); }

}  // namespace sparse

}  // namespace

BlockDef Softmax() {
  using namespace softmax;
  return Block("Softmax", "exp(x) / sum(exp(x)) along the last axis.")
      .Ports(logits, output).Types("T", kFloats).Gradient(Gradient).Kernel(Plan, Run);
}

BlockDef LogSoftmax() {
  using namespace softmax;
  return Block("LogSoftmax", "x - log(sum(exp(x))) along the last axis.")
      .Ports(logits, log_output).Types("T", kFloats).Gradient(LogGradient).Kernel(Plan, RunLog);
}

BlockDef SoftmaxCrossEntropyWithLogits() {
  using namespace dense;
  return Block("SoftmaxCrossEntropyWithLogits", "The cross entropy between labels and the softmax of features, with its gradient.")
      .Details("loss = -sum(labels * log(softmax(features))), backprop = softmax(features) - labels. Labels need not add up to 1.")
      .Ports(features, labels, loss, backprop).Types("T", kFloats).Gradient(Gradient).Kernel(Plan, Run);
}

BlockDef SparseSoftmaxCrossEntropyWithLogits() {
  using namespace sparse;
  return Block("SparseSoftmaxCrossEntropyWithLogits",
               "The cross entropy between one class a row and the softmax of features, with its gradient.")
      .Details("loss = -log(softmax(features))[label]; backprop = softmax(features), less 1 at the label.")
      .Ports(features, labels, loss, backprop).Types("T", kFloats).Types("Tlabels", kIndices)
      .Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace weft::blocks
