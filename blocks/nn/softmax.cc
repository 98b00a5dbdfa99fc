// Softmax and LogSoftmax along the last axis.
#include "blocks/gradients.h"
#include "blocks/kernels/reduce/softmax.h"
#include "blocks/kernels/simd/non_temporal.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> logits{"logits", "T", "[..., classes]"};
constexpr Out<0> softmax{"softmax", "T", "the shape of logits"};
constexpr Out<0> logsoftmax{"logsoftmax", "T", "the shape of logits"};

struct Rows {
  int64_t count, size;
};

Result<Rows> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(logits);
  if (shape.rank() == 0) return ctx.Error(logits, "needs rank 1 or more, found a scalar");
  ctx.set(softmax, shape);
  const int64_t size = shape[shape.rank() - 1];
  return Rows{shape.count() == 0 ? 0 : shape.count() / size, size};
}

/// Calls kernel(row, size, out, stream, workers) for each row.
template <class T, class Kernel>
void ForRows(const Rows& rows, RunContext& ctx, Kernel kernel) {
  if (rows.count == 0) return;  // the bytes of a row that is not there may not be countable
  const T* in = ctx.in<T>(logits).data();
  T* out = ctx.out<T>(softmax).data();
  const int64_t row_bytes = rows.size * static_cast<int64_t>(sizeof(T));
  const bool lines = row_bytes % 64 == 0 && reinterpret_cast<uintptr_t>(out) % 64 == 0;
  const bool stream = lines && out != in && kernels::IsStreamed(rows.count * row_bytes, rows.count * row_bytes);
  ctx.workers().For(rows.count, 8192 / std::max<int64_t>(rows.size, 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) kernel(in + r * rows.size, rows.size, out + r * rows.size, stream, &ctx.workers());
    if (stream) kernels::StreamFence();
  });
}

/// grad summed over the classes, kept as an axis of size 1.
GradientValue SumOfClasses(GradientBuilder& g, GradientValue grad) {
  return g.Add("Sum", {{"input", {grad}}, {"axis", {g.Constant(Tensor::Scalar<int32_t>(-1))}}}, {{"keep_dims", true}});
}

Status SoftmaxGradient(GradientBuilder& g) {
  const GradientValue dy = g.grad(softmax), y = g.out(softmax);
  g.Set(logits, Times(g, Minus(g, dy, SumOfClasses(g, Times(g, dy, y))), y));
  return {};
}

Status LogSoftmaxGradient(GradientBuilder& g) {
  const GradientValue dy = g.grad(logsoftmax);
  const GradientValue y = g.Add("Softmax", {{"logits", {g.in(logits)}}});
  g.Set(logits, Minus(g, dy, Times(g, SumOfClasses(g, dy), y)));
  return {};
}

}  // namespace

BlockDef Softmax() {
  return Block("Softmax", "exp(x) / sum(exp(x)) along the last axis.")
      .Ports(logits, softmax)
      .Types("T", kFloats)
      .Gradient(SoftmaxGradient)
      .Kernel(Plan, []<class T>(const Rows& rows, RunContext& ctx) {
        ForRows<T>(rows, ctx, kernels::Softmax<T>);
      });
}

BlockDef LogSoftmax() {
  return Block("LogSoftmax", "x - log(sum(exp(x))) along the last axis.")
      .Ports(logits, logsoftmax)
      .Types("T", kFloats)
      .Gradient(LogSoftmaxGradient)
      .Kernel(Plan, []<class T>(const Rows& rows, RunContext& ctx) {
        ForRows<T>(rows, ctx, [](const T* x, int64_t size, T* out, bool, const Workers* workers) {
          kernels::LogSoftmax(x, size, out, workers);
        });
      });
}

}  // namespace weft::blocks
