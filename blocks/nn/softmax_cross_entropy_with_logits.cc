#include "blocks/broadcast.h"
#include "blocks/kernels/reduce/softmax.h"
#include "blocks/nn/cross_entropy.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> features{"features", "T", "[batch, classes], or a shape that stretches to it: the logits"};
constexpr In<1> labels{"labels", "T", "[batch, classes], or a shape that stretches to it: the probability of each class"};
constexpr Out<0> loss{"loss", "T", "[batch]"};
constexpr Out<1> backprop{"backprop", "T", "[batch, classes]: the loss differentiated by the features"};

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
  WEFT_ASSIGN_OR_RETURN(const Shape common, BroadcastShape(ctx, features, labels));
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
  ctx.workers().For(p.rows, 8192 / std::max<int64_t>(p.classes, 1), [&](int64_t begin, int64_t end) {
    const bool few = p.classes > 0 && p.classes <= kernels::kFewClasses;
    if (few && kernels::ShortCrossEntropies<T>::Takes(p.rows)) {
      return kernels::ShortCrossEntropies<T>(feature_rows, label_rows, p.classes).Run(begin, end, losses, gradients);
    }
    for (int64_t r = begin; r < end; ++r) {
      const auto feature_row = feature_rows.Row(r), label_row = label_rows.Row(r);
      T* gradient = gradients + r * p.classes;
      if (few) kernels::ShortCrossEntropy<T>(feature_row, label_row, p.classes, losses + r, gradient);
      else kernels::SoftmaxCrossEntropy<T>(feature_row, label_row, p.classes, losses + r, gradient, ctx.workers());
    }
  });
};

/// features: through the loss and through backprop. labels: through the loss only.
Status Gradient(GradientBuilder& g) {
  const GradientValue through_loss = g.grad(loss), through_backprop = g.grad(backprop);
  const auto logits = [&] { return g.Add("BroadcastLike", {{"input", {g.in(features)}}, {"like", {g.out(backprop)}}}); };
  if (g.wanted(features)) {
    g.Set(features, SumLike(g, CrossEntropyGradient(g, logits(), g.out(backprop), through_loss, through_backprop), g.in(features)));
  }
  if (g.wanted(labels) && through_loss.valid()) {
    const GradientValue spread = SpreadOverClasses(g, through_loss, g.out(backprop));
    const GradientValue log_softmax = g.Add("LogSoftmax", {{"logits", {logits()}}});
    g.Set(labels, SumLike(g, Times(g, spread, Negated(g, log_softmax)), g.in(labels)));
  } else if (g.wanted(labels) && through_backprop.valid()) {
    g.Set(labels, g.Add("ZerosLike", {{"x", {g.in(labels)}}}));  // as TensorFlow has it: backprop passes nothing on to the labels
  }
  return {};
}

}  // namespace

BlockDef SoftmaxCrossEntropyWithLogits() {
  return Block("SoftmaxCrossEntropyWithLogits", "The cross entropy between labels and the softmax of features, with its gradient.")
      .Details("loss = -sum(labels * log(softmax(features))), backprop = softmax(features) - labels. Labels need not add up to 1.")
      .Ports(features, labels, loss, backprop)
      .Types("T", kFloats)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
