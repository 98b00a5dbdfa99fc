// LRN and LRNGrad: each element divided by a power of the squares around it, along the channels.
#include <Eigen/Core>
#include <algorithm>

#include "blocks/gradient_block.h"
#include "blocks/kernels/simd/math_parts.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "[N, H, W, C]"};
constexpr Out<0> output{"output", "T", "the shape of input"};
constexpr Attr<int64_t> depth_radius{"depth_radius", "5", "how many channels to either side count, 0 or more"};
constexpr Attr<float> bias{"bias", "1", "added to the squares"};
constexpr Attr<float> alpha{"alpha", "1", "what the squares are multiplied by"};
constexpr Attr<float> beta{"beta", "0.5", "the power"};

constexpr TypeList<half, bfloat16, float> kNormalized;

struct Parameters {
  int64_t rows, channels, radius;
  float bias, alpha, beta;
};

/// Of rows of channels in `port`; the output is of its shape.
Result<Parameters> PlanRows(PlanContext& ctx, const InputPort auto& port) {
  const Shape& shape = ctx.shape(port);
  if (shape.rank() != 4) return ctx.Error(port, "needs rank 4, found shape ", shape);
  const int64_t channels = shape[3], radius = ctx.attr(depth_radius);
  if (radius < 0) return ctx.Error(depth_radius, "needs 0 or more, found ", radius);
  ctx.set(output, shape);
  return Parameters{shape.count() == 0 ? 0 : shape.count() / channels, channels, std::min(radius, std::max<int64_t>(channels - 1, 0)),
                    ctx.attr(bias), ctx.attr(alpha), ctx.attr(beta)};
}
Result<Parameters> Plan(PlanContext& ctx) { return PlanRows(ctx, input); }

/// Channels that are computed side by side.
constexpr int64_t kChunk = 128;
using Chunk = Eigen::Array<float, kChunk, 1>;

/// sums[c] = the sum of term(j) over the channels j from first + c - radius to first + c + radius that there are, for c < width.
void SumWindow(const Parameters& p, int64_t first, int64_t width, double* sums, kernels::StopCheck& stop, auto&& term) {
  std::fill(sums, sums + width, 0.0);
  for (int64_t offset = -p.radius; offset <= p.radius; ++offset) {
    if (stop(width)) return;
    const int64_t begin = std::max<int64_t>(0, -first - offset), end = std::min(width, p.channels - first - offset);
    for (int64_t c = begin; c < end; ++c) sums[c] += term(first + c + offset);
  }
}

/// Calls f(first element of the row, first channel, width, norms, stop) for chunks of channels of the rows of x: norms[c] = bias + alpha *
/// the squares around channel first + c; the rest is 1.
void ForNorms(const Parameters& p, const auto* x, Workers& workers, auto&& f) {
  if (p.rows == 0) return;
  const int64_t cost = p.channels * (2 * p.radius + 16);
  workers.For(p.rows, 32768 / cost, [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(workers);
    for (int64_t row = begin * p.channels; row < end * p.channels; row += p.channels) {
      for (int64_t first = 0; first < p.channels && !stop(16 * kChunk); first += kChunk) {
        const int64_t width = std::min(kChunk, p.channels - first);
        double sums[kChunk];
        SumWindow(p, first, width, sums, stop, [&](int64_t j) {
          const double value = static_cast<double>(kernels::WidenOne<float>(x[row + j]));
          return value * value;
        });
        Chunk norms = Chunk::Ones();
        for (int64_t c = 0; c < width; ++c) {
          norms[c] = static_cast<float>(static_cast<double>(p.bias) + static_cast<double>(p.alpha) * sums[c]);
        }
        f(row, first, width, norms, stop);
      }
    }
  });
}

/// norms to the power of -beta.
Chunk PowersOf(float beta, const Chunk& norms) {
  if (beta == 0.5f) {
    Chunk powers = norms;
    kernels::ReciprocalRoots(powers.data(), powers.size());
    return powers;
  }
  if (beta == 1.0f) return norms.inverse();
  return norms.pow(-beta);
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const T* x = ctx.in<T>(input).data();
  T* to = ctx.out<T>(output).data();
  ForNorms(p, x, ctx.workers(), [&](int64_t row, int64_t first, int64_t width, const Chunk& norms, kernels::StopCheck&) {
    const Chunk powers = PowersOf(p.beta, norms);
    const int64_t at = row + first;
    for (int64_t c = 0; c < width; ++c) to[at + c] = static_cast<T>(kernels::WidenOne<float>(x[at + c]) * powers[c]);
  });
};

// ---- LRNGrad -----------------------------------------------------------------------------------------------------------------

constexpr In<0> input_grads{"input_grads", "T", "the gradient of the output, [N, H, W, C]"};
constexpr In<1> input_image{"input_image", "T", "the input of LRN, of the same shape"};
constexpr In<2> output_image{"output_image", "T", "the output of LRN, of the same shape"};
constexpr Out<0> image_grad{"output", "T", "the gradient of the input"};

Result<Parameters> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Parameters p, PlanRows(ctx, input_grads));
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, input_image, input_grads));
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, output_image, input_grads));
  ctx.set_scratch(ctx.shape(input_grads).count() * static_cast<int64_t>(sizeof(float)));
  return p;
}

/// dx = dy * norm^-beta - 2 alpha beta x * the sum of dy * y / norm around the channel.
constexpr auto RunGrad = []<class T>(const Parameters& p, RunContext& ctx) {
  const T *dy = ctx.in<T>(input_grads).data(), *x = ctx.in<T>(input_image).data(), *y = ctx.in<T>(output_image).data();
  T* to = ctx.out<T>(image_grad).data();
  float* shares = ctx.scratch<float>().data();
  const auto wide = [](T value) { return kernels::WidenOne<float>(value); };
  ForNorms(p, x, ctx.workers(), [&](int64_t row, int64_t first, int64_t width, const Chunk& norms, kernels::StopCheck&) {
    const int64_t at = row + first;
    for (int64_t c = 0; c < width; ++c) shares[at + c] = wide(dy[at + c]) * wide(y[at + c]) / norms[c];
  });
  const double factor = 2.0 * static_cast<double>(p.alpha) * static_cast<double>(p.beta);
  ForNorms(p, x, ctx.workers(), [&](int64_t row, int64_t first, int64_t width, const Chunk& norms, kernels::StopCheck& stop) {
    const Chunk powers = PowersOf(p.beta, norms);
    double sums[kChunk];
    SumWindow(p, first, width, sums, stop, [&](int64_t j) { return static_cast<double>(shares[row + j]); });
    const int64_t at = row + first;
    for (int64_t c = 0; c < width; ++c) {
      const double around = factor * static_cast<double>(wide(x[at + c])) * sums[c];
      to[at + c] = static_cast<T>(wide(dy[at + c]) * powers[c] - static_cast<float>(around));
    }
  });
};

}  // namespace

BlockDef LRN() {
  return Block("LRN", "Local response normalisation: divides each element by a power of the squares of its neighbours along the channels.")
      .Details("output = input / (bias + alpha * sum of squares of the channels within depth_radius) ^ beta.")
      .Ports(input, output).Attrs(depth_radius, bias, alpha, beta).Types("T", kNormalized)
      .Gradient(GradientBlock(input, "LRNGrad", {{"input_grads", Grad(output)}, {"input_image", input}, {"output_image", output}},
                              {depth_radius.name, bias.name, alpha.name, beta.name}))
      .Kernel(Plan, Run);
}

BlockDef LRNGrad() {
  return Block("LRNGrad", "The gradient of LRN with respect to its input.")
      .Ports(input_grads, input_image, output_image, image_grad).Attrs(depth_radius, bias, alpha, beta)
      .Types("T", kNormalized)
      .Internal().Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
