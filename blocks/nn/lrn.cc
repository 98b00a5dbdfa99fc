// LRN and LRNGrad: each element divided by a power of the squares around it, along the channels.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
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

/// For a tensor that has been checked.
Parameters ParametersOf(PlanContext& ctx, const Shape& shape) {
  const int64_t channels = shape[3], radius = std::min(ctx.attr(depth_radius), std::max<int64_t>(channels - 1, 0));
  return {shape.count() == 0 ? 0 : shape.count() / channels, channels, radius, ctx.attr(bias), ctx.attr(alpha), ctx.attr(beta)};
}

Status CheckInput(PlanContext& ctx, const Shape& shape, const char* port) {
  if (shape.rank() != 4) return InvalidArgument("needs rank 4, found shape ", shape).WithPort(port);
  if (ctx.attr(depth_radius) < 0) return ctx.Error(depth_radius, "needs 0 or more, found ", ctx.attr(depth_radius));
  return {};
}

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  WEFT_RETURN_IF_ERROR(CheckInput(ctx, shape, input.name));
  ctx.set(output, shape);
  return ParametersOf(ctx, shape);
}

/// Channels that are computed side by side.
constexpr int64_t kChunk = 128;
using Chunk = Eigen::Array<float, kChunk, 1>;

/// sums[c] = the sum of term(j) over the channels j from first + c - radius to first + c + radius that there are, for c < width.
template <class Term>
void SumWindow(const Parameters& p, int64_t first, int64_t width, double* sums, kernels::StopCheck& stop, Term&& term) {
  std::fill(sums, sums + width, 0.0);
  for (int64_t offset = -p.radius; offset <= p.radius; ++offset) {
    if (stop(width)) return;
    const int64_t begin = std::max<int64_t>(0, -first - offset), end = std::min(width, p.channels - first - offset);
    for (int64_t c = begin; c < end; ++c) sums[c] += term(first + c + offset);
  }
}

/// norms[c] = bias + alpha * the squares around channel first + c; the rest is 1.
template <class T>
void NormsOf(const Parameters& p, const T* row, int64_t first, int64_t width, Chunk& norms, kernels::StopCheck& stop) {
  double sums[kChunk];
  SumWindow(p, first, width, sums, stop, [row](int64_t j) {
    const double x = static_cast<double>(kernels::WidenOne<float>(row[j]));
    return x * x;
  });
  norms.setOnes();
  for (int64_t c = 0; c < width; ++c) norms[c] = static_cast<float>(static_cast<double>(p.bias) + static_cast<double>(p.alpha) * sums[c]);
}

/// norms to the power of -beta.
void PowersOf(float beta, const Chunk& norms, Chunk& powers) {
  if (beta == 0.5f) powers = norms.sqrt().inverse();
  else if (beta == 1.0f) powers = norms.inverse();
  else powers = norms.pow(-beta);
}

/// Calls f(row, first, width, stop) for each chunk of channels of each row.
template <class F>
void ForChunks(const Parameters& p, Workers& workers, F&& f) {
  if (p.rows == 0) return;
  const int64_t cost = p.channels * (2 * p.radius + 16);
  workers.For(p.rows, 32768 / cost, [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(workers);
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t first = 0; first < p.channels && !stop(16 * kChunk); first += kChunk) {
        f(r, first, std::min(kChunk, p.channels - first), stop);
      }
    }
  });
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const T* from = ctx.in<T>(input).data();
  T* to = ctx.out<T>(output).data();
  ForChunks(p, ctx.workers(), [&](int64_t r, int64_t first, int64_t width, kernels::StopCheck& stop) {
    const T* row = from + r * p.channels;
    Chunk norms, powers;
    NormsOf(p, row, first, width, norms, stop);
    PowersOf(p.beta, norms, powers);
    T* out = to + r * p.channels + first;
    for (int64_t c = 0; c < width; ++c) out[c] = static_cast<T>(kernels::WidenOne<float>(row[first + c]) * powers[c]);
  });
};

Status Gradient(GradientBuilder& g) {
  GradientAttrs attrs;
  for (const char* name : {"depth_radius", "bias", "alpha", "beta"}) attrs.emplace_back(name, g.AttrOf(name));
  g.Set(input, g.Add("LRNGrad", {{"input_grads", {g.grad(output)}}, {"input_image", {g.in(input)}}, {"output_image", {g.out(output)}}}, attrs));
  return {};
}

// ---- LRNGrad -----------------------------------------------------------------------------------------------------------------

constexpr In<0> input_grads{"input_grads", "T", "the gradient of the output, [N, H, W, C]"};
constexpr In<1> input_image{"input_image", "T", "the input of LRN, of the same shape"};
constexpr In<2> output_image{"output_image", "T", "the output of LRN, of the same shape"};
constexpr Out<0> image_grad{"output", "T", "the gradient of the input"};

Result<Parameters> PlanGrad(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input_grads);
  WEFT_RETURN_IF_ERROR(CheckInput(ctx, shape, input_grads.name));
  if (!(ctx.shape(input_image) == shape)) {
    return ctx.Error(input_image, "needs the shape of input_grads, ", shape, ", found ", ctx.shape(input_image));
  }
  if (!(ctx.shape(output_image) == shape)) {
    return ctx.Error(output_image, "needs the shape of input_grads, ", shape, ", found ", ctx.shape(output_image));
  }
  ctx.set(image_grad, shape);
  const Parameters p = ParametersOf(ctx, shape);
  ctx.set_scratch(shape.count() * static_cast<int64_t>(sizeof(float)));
  return p;
}

/// dx = dy * norm^-beta - 2 alpha beta x * the sum of dy * y / norm around the channel.
constexpr auto RunGrad = []<class T>(const Parameters& p, RunContext& ctx) {
  const T *dy = ctx.in<T>(input_grads).data(), *x = ctx.in<T>(input_image).data(), *y = ctx.in<T>(output_image).data();
  T* to = ctx.out<T>(image_grad).data();
  float* shares = ctx.scratch<float>().data();
  const auto wide = [](T value) { return kernels::WidenOne<float>(value); };
  ForChunks(p, ctx.workers(), [&](int64_t r, int64_t first, int64_t width, kernels::StopCheck& stop) {
    Chunk norms;
    NormsOf(p, x + r * p.channels, first, width, norms, stop);
    const int64_t at = r * p.channels + first;
    for (int64_t c = 0; c < width; ++c) shares[at + c] = wide(dy[at + c]) * wide(y[at + c]) / norms[c];
  });
  ForChunks(p, ctx.workers(), [&](int64_t r, int64_t first, int64_t width, kernels::StopCheck& stop) {
    Chunk norms, powers;
    NormsOf(p, x + r * p.channels, first, width, norms, stop);
    PowersOf(p.beta, norms, powers);
    double sums[kChunk];
    SumWindow(p, first, width, sums, stop, [row = shares + r * p.channels](int64_t j) { return static_cast<double>(row[j]); });
    const int64_t at = r * p.channels + first;
    const double factor = 2.0 * static_cast<double>(p.alpha) * static_cast<double>(p.beta);
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
      .Ports(input, output)
      .Attrs(depth_radius, bias, alpha, beta)
      .Types("T", kNormalized)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef LRNGrad() {
  return Block("LRNGrad", "The gradient of LRN with respect to its input.")
      .Ports(input_grads, input_image, output_image, image_grad)
      .Attrs(depth_radius, bias, alpha, beta)
      .Types("T", kNormalized)
      .Internal()
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
