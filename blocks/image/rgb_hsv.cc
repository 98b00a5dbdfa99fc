// RGBToHSV and HSVToRGB: colours as hue, saturation and value, and back.
#include <algorithm>
#include <cmath>

#include "blocks/gradients.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> rgb{"images", "T", "[..., 3]: red, green and blue"};
constexpr In<0> hsv{"images", "T", "[..., 3]: hue, saturation and value"};
constexpr Out<0> output{"output", "T", "the shape of images"};

Status Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(rgb);
  if (shape.scalar() || shape[shape.rank() - 1] != 3) return ctx.Error(rgb, "needs 3 channels along the last axis, found shape ", shape);
  ctx.set(output, shape);
  return {};
}

/// Calls map(channels, results) for each colour, in the type that T is computed in.
template <class T, class Map>
void MapColours(RunContext& ctx, Map map) {
  using A = Accumulator<T>;
  const T* from = ctx.in<T>(rgb).data();
  const auto to = ctx.out<T>(output);
  ctx.workers().For(static_cast<int64_t>(to.size()) / 3, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      A results[3];
      map(static_cast<A>(from[i]), static_cast<A>(from[i + 1]), static_cast<A>(from[i + 2]), results);
      for (int c = 0; c < 3; ++c) to[static_cast<size_t>(i + c)] = static_cast<T>(results[c]);
    }
  });
}

/// The second where either is NaN, as in TensorFlow (and as the processor's own maximum and minimum have it).
template <class A>
A Larger(A a, A b) { return a > b ? a : b; }
template <class A>
A Smaller(A a, A b) { return a < b ? a : b; }

constexpr auto RunToHSV = []<class T>(const NoParameters&, RunContext& ctx) {
  MapColours<T>(ctx, []<class A>(A r, A g, A b, A* hue) {
    const A value = Larger(Larger(r, g), b), range = value - Smaller(Smaller(r, g), b);
    const A step = A(1) / (A(6) * range);  // of the hue
    A h = 0;
    if (range > A(0)) {
      if (r == value) h = step * (g - b);
      else if (g == value) h = step * (b - r) + A(2) / A(6);
      else h = step * (r - g) + A(4) / A(6);
    }
    hue[0] = h < A(0) ? h + A(1) : h;
    hue[1] = value > A(0) ? range / value : A(0);
    hue[2] = value;
  });
};

constexpr auto RunToRGB = []<class T>(const NoParameters&, RunContext& ctx) {
  MapColours<T>(ctx, []<class A>(A h, A s, A v, A* colour) {
    const A corner = h * A(6);
    const A shares[3] = {std::abs(corner - A(3)) - A(1), A(2) - std::abs(corner - A(2)), A(2) - std::abs(corner - A(4))};
    for (int c = 0; c < 3; ++c) colour[c] = (A(1) - s + s * std::clamp(shares[c], A(0), A(1))) * v;
  });
};

// ---- the gradient of RGBToHSV --------------------------------------------------------------------------------------------------

/// With M, m and N the largest, middle and smallest channel: V = M, S = (M - N) / M, and H = k +- (m - N) / (M - N) / 6. Of equal channels
/// the first counts as the largest and the last as the smallest. What is not positive has no part in S and H, as in TensorFlow.
Status HueGradient(GradientBuilder& g) {
  const GradientValue axis = g.Constant(Tensor::Scalar<int32_t>(-1)), axes = g.Constant(Tensor::Of<int32_t>({-1}, Shape{1}));
  const GradientValue three = g.Constant(Tensor::Scalar<int32_t>(3));
  const Term x{&g, g.in(rgb)}, zero = x.Scalar(0), one = x.Scalar(1);
  // A vector of three along the last axis that is 1 at the first of the largest (ArgMax) or smallest elements.
  auto at = [&](std::string_view search, Term v) {
    const GradientValue place = g.Add(search, {{"input", {v}}, {"dimension", {axis}}});
    return Term{&g, g.Add("OneHot", {{"indices", {place}}, {"depth", {three}}, {"on_value", {one}}, {"off_value", {zero}}})};
  };
  auto reversed = [&](Term v) { return Term{&g, g.Add("Reverse", {{"tensor", {v}}, {"axis", {axes}}})}; };
  auto total = [&](Term v) { return Term{&g, g.Add("Sum", {{"input", {v}}, {"axis", {axes}}}, {{"keep_dims", AttrValue(true)}})}; };
  auto inverse = [&](Term v) { return Term{&g, g.Add("DivNoNan", {{"x", {one}}, {"y", {v}}})}; };
  auto positive = [&](Term v) { return Term{&g, Chosen(g, g.Add("Greater", {{"x", {v}}, {"y", {zero}}}), one, zero)}; };

  const Term at_most = at("ArgMax", x), at_least = reversed(at("ArgMin", reversed(x))), at_middle = one - at_most - at_least;
  const Term most = total(at_most * x), middle = total(at_middle * x), least = total(at_least * x);
  const Term over_most = inverse(most), over_range = inverse(most - least);
  const Term of_saturation = (at_most * least * (over_most * over_most) - at_least * over_most) * positive(x);

  // The hue grows from the largest channel to the next one, round the circle: the sign of their cross product.
  const Term turn = total({&g, g.Add("Cross", {{"a", {at_most}}, {"b", {at_middle}}})});
  const Term slopes = at_middle - (at_most * (middle - least) + at_least * (most - middle)) * over_range;
  const Term of_hue = slopes * over_range * (turn * positive(most) * x.Scalar(1.0 / 6.0));

  const GradientValue hue = g.Add("Split", {{"axis", {axis}}, {"value", {g.grad(output)}}}, {{"num_split", AttrValue(int64_t{3})}});
  const Term saturation{&g, GradientBuilder::Output(hue, 1)}, value{&g, GradientBuilder::Output(hue, 2)};
  g.Set(rgb, Term{&g, hue} * of_hue + saturation * of_saturation + value * at_most);
  return {};
}

}  // namespace

BlockDef RGBToHSV() {
  return Block("RGBToHSV", "Colours given by red, green and blue as hue, saturation and value.")
      .Details("All are in [0, 1] where the colours are; grey has hue 0, black saturation 0 too.")
      .Ports(rgb, output)
      .Types("T", kFloats)
      .Gradient(HueGradient)
      .Kernel(Plan, RunToHSV);
}

BlockDef HSVToRGB() {
  return Block("HSVToRGB", "Colours given by hue, saturation and value as red, green and blue.")
      .Details("All are in [0, 1].")
      .Ports(hsv, output)
      .Types("T", kFloats)
      .NotDifferentiable()
      .Kernel(Plan, RunToRGB);
}

}  // namespace weft::blocks
