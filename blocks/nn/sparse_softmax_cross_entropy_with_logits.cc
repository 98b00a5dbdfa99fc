#include "blocks/kernels/reduce/softmax.h"
#include "blocks/nn/cross_entropy.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> features{"features", "T", "[batch, classes]: the logits; classes is 1 or more"};
constexpr In<1> labels{"labels", "Tlabels", "[batch]: the class of each row, in [0, classes)"};
constexpr Out<0> loss{"loss", "T", "[batch]"};
constexpr Out<1> backprop{"backprop", "T", "[batch, classes]: the loss differentiated by the features"};

struct Parameters {
  int64_t rows, classes;
  DType label_type;
};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape &shape = ctx.shape(features), &classes = ctx.shape(labels);
  if (shape.rank() != 2) return ctx.Error(features, "needs a matrix, found shape ", shape);
  if (shape[1] == 0) return ctx.Error(features, "needs a class or more, found shape ", shape);
  if (classes.rank() != 1 || classes[0] != shape[0]) {
    return ctx.Error(labels, "needs a vector of ", shape[0], " classes, one for each row of features, found shape ", classes);
  }
  ctx.set(loss, classes);
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
    for (int64_t r = 0; r < p.rows && status.ok(); ++r) {
      if (label[r] < 0 || static_cast<int64_t>(label[r]) >= p.classes) {
        status = ctx.Error(labels, "needs classes in [0, ", p.classes, "), found ", label[r], " in row ", r);
      }
    }
    if (!status.ok()) return;
    ctx.workers().For(p.rows, 8192 / p.classes, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        CrossEntropyRow(from + r * p.classes, p.classes, static_cast<int64_t>(label[r]), losses + r, gradients + r * p.classes,
                        ctx.workers());
      }
    });
  });
  return status;
};

Status Gradient(GradientBuilder& g) {
  g.Set(features, CrossEntropyGradient(g, g.in(features), g.out(backprop), g.grad(loss), g.grad(backprop)));
  return {};
}

}  // namespace

BlockDef SparseSoftmaxCrossEntropyWithLogits() {
  return Block("SparseSoftmaxCrossEntropyWithLogits",
               "The cross entropy between one class a row and the softmax of features, with its gradient.")
      .Details("loss = -log(softmax(features))[label]; backprop = softmax(features), less 1 at the label.")
      .Ports(features, labels, loss, backprop)
      .Types("T", kFloats)
      .Types("Tlabels", kIndices)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
