// ParameterizedTruncatedNormal: normal numbers between limits, TensorFlow's own for the same seeds.
#include <algorithm>
#include <limits>

#include "blocks/kernels/random/distributions.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> shape{"shape", "T", "[rank], rank >= 1: the sizes of the output; the first is the number of batches"};
constexpr In<1> means{"means", "dtype", "a scalar, [1] or [batches]: the mean of each batch before it is cut"};
constexpr In<2> stdevs{"stdevs", "dtype", "a scalar, [1] or [batches]: the deviation before it is cut, above 0"};
constexpr In<3> minvals{"minvals", "dtype", "a scalar, [1] or [batches]: the lower limit, or -inf"};
constexpr In<4> maxvals{"maxvals", "dtype", "a scalar, [1] or [batches]: the upper limit, above minvals, or inf where minvals is finite"};
constexpr Out<0> output{"output", "dtype", "of the given shape"};

constexpr int kMostDraws = 1000;  // for one number

struct Batches {
  Seeds seeds;
  int64_t batches = 0, length = 0;
  bool single[4] = {};  // means, stdevs, minvals, maxvals: one value for all
  bool alike = false;   // all batches have the same parameters; limits in a vector of one do not count, as in TensorFlow
};

Status CheckParameter(const PlanContext& ctx, const InputPort auto& port, int64_t batches, bool& single) {
  const Shape& found = ctx.shape(port);
  single = found.scalar() || (found.rank() == 1 && found[0] == 1);
  if (single || (found.rank() == 1 && found[0] == batches)) return {};
  return ctx.Error(port, "needs a scalar, or a vector of one value or one for each of ", batches, " batches, found ", found);
}

Result<Batches> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Shape sizes, ShapeGiven(ctx, shape));
  if (sizes.rank() == 0) return ctx.Error(shape, "needs at least one size, found none");
  Batches batches{SeedsOf(ctx), sizes[0], sizes.count(1, sizes.rank())};
  WEFT_RETURN_IF_ERROR(CheckParameter(ctx, means, batches.batches, batches.single[0]));
  WEFT_RETURN_IF_ERROR(CheckParameter(ctx, stdevs, batches.batches, batches.single[1]));
  WEFT_RETURN_IF_ERROR(CheckParameter(ctx, minvals, batches.batches, batches.single[2]));
  WEFT_RETURN_IF_ERROR(CheckParameter(ctx, maxvals, batches.batches, batches.single[3]));
  batches.alike = batches.single[0] && batches.single[1] && ctx.shape(minvals).scalar() && ctx.shape(maxvals).scalar();
  ctx.set(output, std::move(sizes));
  return batches;
}

/// Draws numbers of the standard normal distribution within [low, high], scaled. The generator goes on from batch to batch.
template <class T>
class Cut {
 public:
  Cut(T mean, T deviation, T low, T high) : mean_(mean), deviation_(deviation) {
    namespace math = Eigen::numext;
    // The lower limit is the finite one, or the one nearer to the mean: else the picture is mirrored.
    if (low == -std::numeric_limits<T>::infinity() || high < mean) {
      std::swap(low, high);
      deviation_ = -deviation_;
    }
    low_ = (low - mean) / deviation_;
    high_ = (high - mean) / deviation_;
  }

  /// False where too many draws in a row were refused. Leaves when the run is to end.
  bool Fill(kernels::Philox& generator, std::span<T> to, kernels::StopCheck& stop) const {
    namespace math = Eigen::numext;
    const T enough(1.3), zero(0), root = math::sqrt((low_ * low_) + T(4));
    if ((low_ < -enough && high_ >= zero) || (high_ > enough && low_ <= zero)) return FromNormal(generator, to, stop);
    const T narrow = T(2) * math::exp(T(0.5) + (low_ * (low_ - root)) / T(4)) / (low_ + root);
    return high_ - low_ < narrow ? FromUniform(generator, to, stop) : FromExponential(generator, to, stop);
  }

 private:
  static constexpr int64_t kDraw = 32;  // simple steps that drawing a group of numbers takes as long as

  T Scaled(T x) const { return x * deviation_ + mean_; }

  /// Normal numbers, those outside drawn again: where the mean is inside and enough of the curve.
  bool FromNormal(kernels::Philox& generator, std::span<T> to, kernels::StopCheck& stop) const {
    const kernels::Normal<T> normal;
    size_t done = 0;
    for (int refused = 0; done < to.size() && !stop(kDraw);) {
      for (const T x : normal(generator)) {
        if (x >= low_ && x <= high_) {
          to[done++] = Scaled(x);
          refused = 0;
          if (done == to.size()) break;
        } else if (++refused > kMostDraws) {
          return false;
        }
      }
    }
    return true;
  }

  /// Uniform numbers, kept with a probability of the curve's height: where the limits are close together.
  bool FromUniform(kernels::Philox& generator, std::span<T> to, kernels::StopCheck& stop) const {
    const kernels::Uniform<T> uniform;
    const T width = high_ - low_, top = low_ < T(0) ? T(0) : low_ * low_;
    size_t done = 0;
    for (int refused = 0; done < to.size() && !stop(kDraw);) {
      const auto places = uniform(generator), chances = uniform(generator);
      for (size_t i = 0; i < places.size() && done < to.size(); ++i) {
        const T x = places[i] * width + low_, height = (top - x * x) / T(2.0);
        if (!Take(chances[i] <= Eigen::numext::exp(height), x, to, done, refused)) return false;
      }
    }
    return true;
  }

  /// Exponentially distributed numbers from the lower limit on, kept with a probability: in the tail.
  bool FromExponential(kernels::Philox& generator, std::span<T> to, kernels::StopCheck& stop) const {
    namespace math = Eigen::numext;
    const kernels::Uniform<T> uniform;
    const T alpha = (low_ + math::sqrt((low_ * low_) + T(4))) / T(2);
    size_t done = 0;
    for (int refused = 0; done < to.size() && !stop(kDraw);) {
      const auto numbers = uniform(generator);
      for (size_t i = 0; i + 1 < numbers.size() && done < to.size(); i += 2) {
        const T x = -math::log(numbers[i]) / alpha + low_, off = low_ < alpha ? alpha - x : low_ - alpha;
        const T height = math::exp(-off * off / T(2.0));
        if (!Take(numbers[i + 1] <= height && x < high_, x, to, done, refused)) return false;
      }
    }
    return true;
  }

  bool Take(bool accepted, T x, std::span<T> to, size_t& done, int& refused) const {
    if (!accepted) return ++refused < kMostDraws;
    to[done++] = Scaled(x);
    refused = 0;
    return true;
  }

  T mean_, deviation_, low_, high_;
};

template <class T>
Status CheckValues(RunContext& ctx, T mean, T deviation, T low, T high) {
  namespace math = Eigen::numext;
  const auto text = [](T v) { return static_cast<float>(v); };
  if (!(math::isfinite)(mean)) return ctx.Error(means, "needs a finite mean, found ", text(mean));
  if (!(deviation > T(0))) return ctx.Error(stdevs, "needs a deviation above 0, found ", text(deviation));
  if (!(low < high)) return ctx.Error(maxvals, "needs a limit above minvals ", text(low), ", found ", text(high));
  if (!(math::isfinite)(low) && !(math::isfinite)(high)) return ctx.Error(minvals, "needs a finite limit on one side, found ", text(low));
  return {};
}

constexpr auto Run = []<class T>(const Batches& batches, RunContext& ctx) -> Status {
  constexpr int64_t kPiece = 100;  // numbers that belong together where all batches have the same parameters
  const auto to = ctx.out<T>(output);
  const auto count = static_cast<int64_t>(to.size());
  if (count == 0) return {};
  const int64_t pieces = batches.alike ? (count + kPiece - 1) / kPiece : batches.batches, length = batches.alike ? kPiece : batches.length;
  const auto groups = static_cast<uint64_t>(pieces) * 2 * kMostDraws * static_cast<uint64_t>(length + 3) / 4;
  kernels::Philox generator = ctx.state<RandomStream>().ReserveGroups(groups);
  kernels::StopCheck stop(ctx.workers());
  for (int64_t piece = 0; piece < pieces && !stop(8); ++piece) {
    const auto value = [&](const auto& port, int i) { return ctx.in<T>(port)[batches.single[i] ? 0 : static_cast<size_t>(piece)]; };
    const T mean = value(means, 0), deviation = value(stdevs, 1), low = value(minvals, 2), high = value(maxvals, 3);
    WEFT_RETURN_IF_ERROR(CheckValues(ctx, mean, deviation, low, high));
    const auto part = to.subspan(static_cast<size_t>(piece * length), static_cast<size_t>(std::min(length, count - piece * length)));
    if (Cut<T>(mean, deviation, low, high).Fill(generator, part, stop)) continue;
    return ctx.Error(minvals, "found no number between the limits in ", kMostDraws, " draws");
  }
  return {};
};

}  // namespace

BlockDef ParameterizedTruncatedNormal() {
  return Block("ParameterizedTruncatedNormal", "Normal random numbers between limits, with mean, deviation and limits for each batch.")
      .Details("With seeds, the numbers that TensorFlow draws on one thread, going on from run to run; without (both 0), other numbers "
               "every time.")
      .Ports(shape, means, stdevs, minvals, maxvals, output)
      .Attrs(kSeed, kSeed2)
      .Types("dtype", TypeList<half, float, double>{})
      .Types("T", kIndices)
      .ShapedBy(shape)
      .NotDifferentiable()
      .Kernel(Plan, Run, kBindStream);
}

}  // namespace weft::blocks
