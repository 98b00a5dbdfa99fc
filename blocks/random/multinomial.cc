// Multinomial: classes drawn by their unnormalised log-probabilities, TensorFlow's own for the same seeds.
#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks/kernels/random/distributions.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> logits{"logits", "T",
                       "[batch, classes]: the logarithm of each class's probability, up to a constant a row; one that is not finite never comes"};
constexpr In<1> num_samples{"num_samples", "DT_INT32", "a scalar >= 0: how many to draw for each row"};
constexpr Out<0> output{"output", "output_dtype", "[batch, num_samples]: the drawn classes"};
constexpr Attr<DType> logits_type{"T", kRequired, "the type of logits"};
constexpr Attr<DType> output_dtype{"output_dtype", "DT_INT64", "the type of the output"};

struct Draws {
  Seeds seeds;
  DType dtype = DType::kInvalid;  // of the logits
  int64_t rows = 0, classes = 0, samples = 0;
};

Result<Draws> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(logits);
  if (shape.rank() != 2) return ctx.Error(logits, "needs a matrix [batch, classes], found ", shape);
  if (!ctx.shape(num_samples).scalar()) return ctx.Error(num_samples, "needs a scalar, found ", ctx.shape(num_samples));
  const int64_t samples = ctx.ints(num_samples)[0];
  if (samples < 0) return ctx.Error(num_samples, "needs a number >= 0, found ", samples);
  if (shape[1] == 0) return ctx.Error(logits, "needs at least one class, found ", shape);
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, logits.name));
  const int64_t sizes[] = {shape[0], samples};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, sizes, num_samples));
  ctx.set_scratch(shape.count() * static_cast<int64_t>(sizeof(double)));
  return Draws{SeedsOf(ctx), ctx.dtype(logits), shape[0], shape[1], samples};
}

/// Sums of the probabilities up to each class, times a constant; classes that are not finite add nothing.
void Accumulate(const auto* logits, double* sums, int64_t classes, kernels::StopCheck& stop) {
  double greatest = std::numeric_limits<double>::lowest();
  for (int64_t j = 0; j < classes; ++j) {
    if (stop()) return;
    const auto logit = static_cast<double>(logits[j]);
    if (std::isfinite(logit)) greatest = std::max(greatest, logit);
  }
  double sum = 0;
  for (int64_t j = 0; j < classes; ++j) {
    if (stop(4)) return;
    const auto logit = static_cast<double>(logits[j]);
    if (std::isfinite(logit)) sum += std::exp(logit - greatest);
    sums[j] = sum;
  }
}

constexpr auto Run = []<class Out>(const Draws& draws, RunContext& ctx) {
  Out* to = ctx.out<Out>(output).data();
  double* all_sums = ctx.scratch<double>().data();
  const int64_t reserved = 2 * ((draws.samples + 3) / 4 * 4);
  const kernels::Philox start = ctx.state<RandomStream>().Reserve(draws.rows * reserved);
  kernels::ForEach(ctx.workers(), draws.rows, std::max<int64_t>(4096 / (draws.classes + 4 * draws.samples), 1), [&](int64_t row, auto& stop) {
    double* sums = all_sums + row * draws.classes;
    Dispatch(draws.dtype, kReals, [&]<class T>() {
      Accumulate(ctx.in<T>(logits).data() + row * draws.classes, sums, draws.classes, stop);
    });
    if (stop()) return;
    // Rows follow one another in the stream, two words a number.
    kernels::Philox own = start;
    const int64_t number = row * draws.samples;
    own.Skip(static_cast<uint64_t>(number / 2));
    kernels::WordStream words(own);
    if (number % 2 == 1) words.Unit();
    for (int64_t i = 0; i < draws.samples; ++i) {
      if (stop(16)) return;
      const double at = words.Unit() * sums[draws.classes - 1];
      to[number + i] = static_cast<Out>(std::upper_bound(sums, sums + draws.classes, at) - sums);
    }
  });
};

}  // namespace

BlockDef Multinomial() {
  return Block("Multinomial", "Draws classes by their unnormalised log-probabilities.")
      .Details("With seeds, the numbers that TensorFlow draws on one thread, going on from run to run; without (both 0), other numbers "
               "every time. A row without a finite logit gives the number of classes.")
      .Ports(logits, num_samples, output)
      .Attrs(kSeed, kSeed2, logits_type, output_dtype)
      .Inferred(logits_type)
      .Types("output_dtype", kIndices)
      .Types("T", kReals)
      .ShapedBy(num_samples)
      .NotDifferentiable()
      .Kernel(Plan, Run, kBindStream);
}

}  // namespace weft::blocks
