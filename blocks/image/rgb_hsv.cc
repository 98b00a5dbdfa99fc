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

constexpr auto RunToHSV = []<class T>(const NoParameters&, RunContext& ctx) {
  MapColours<T>(ctx, []<class A>(A r, A g, A b, A* hue) {
    const A value = std::max({r, g, b}), range = value - std::min({r, g, b});
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

struct Colours {
  GradientBuilder& g;
  GradientValue zero, one;
  GradientValue last = g.Constant(Tensor::Of<int32_t>({-1}, Shape{1}));

  /// A vector of three along the last axis that is 1 at the first of the largest (ArgMax) or smallest elements.
  GradientValue At(std::string_view search, GradientValue x) const {
    const GradientValue axis = g.Constant(Tensor::Scalar<int32_t>(-1)), three = g.Constant(Tensor::Scalar<int32_t>(3));
    const GradientValue place = g.Add(search, {{"input", {x}}, {"dimension", {axis}}});
    return g.Add("OneHot", {{"indices", {place}}, {"depth", {three}}, {"on_value", {one}}, {"off_value", {zero}}});
  }
  GradientValue Reversed(GradientValue x) const { return g.Add("Reverse", {{"tensor", {x}}, {"axis", {last}}}); }
  GradientValue Total(GradientValue x) const {
    return g.Add("Sum", {{"input", {x}}, {"axis", {last}}}, {{"keep_dims", AttrValue(true)}});
  }
  GradientValue Product(GradientValue a, GradientValue b) const { return Times(g, a, b); }
  GradientValue Inverse(GradientValue x) const { return g.Add("DivNoNan", {{"x", {one}}, {"y", {x}}}); }
  GradientValue Positive(GradientValue x) const {
    return Chosen(g, g.Add("Greater", {{"x", {x}}, {"y", {zero}}}), one, zero);
  }
};

/// With M, m and N the largest, middle and smallest channel: V = M, S = (M - N) / M, and H = k +- (m - N) / (M - N) / 6. Of equal channels
/// the first counts as the largest and the last as the smallest. What is not positive has no part in S and H, as in TensorFlow.
Status HueGradient(GradientBuilder& g) {
  const GradientValue x = g.in(rgb);
  const Colours c{g, g.Scalar(x, 0), g.Scalar(x, 1)};
  const GradientValue at_most = c.At("ArgMax", x), at_least = c.Reversed(c.At("ArgMin", c.Reversed(x)));
  const GradientValue at_middle = Minus(g, Minus(g, c.one, at_most), at_least);
  const GradientValue most = c.Total(c.Product(at_most, x)), middle = c.Total(c.Product(at_middle, x));
  const GradientValue least = c.Total(c.Product(at_least, x));

  const GradientValue axis = g.Constant(Tensor::Scalar<int32_t>(-1));
  const GradientValue hue = g.Add("Split", {{"axis", {axis}}, {"value", {g.grad(output)}}}, {{"num_split", AttrValue(int64_t{3})}});
  const GradientValue saturation = GradientBuilder::Output(hue, 1), value = GradientBuilder::Output(hue, 2);

  const GradientValue over_most = c.Inverse(most);
  const GradientValue to_most = c.Product(c.Product(at_most, least), c.Product(over_most, over_most));
  const GradientValue of_saturation = c.Product(Minus(g, to_most, c.Product(at_least, over_most)), c.Positive(x));

  // The hue grows from the largest channel to the next one, round the circle: the sign of their cross product.
  const GradientValue turn = c.Total(g.Add("Cross", {{"a", {at_most}}, {"b", {at_middle}}}));
  const GradientValue over_range = c.Inverse(Minus(g, most, least));
  const GradientValue bends = Plus(g, c.Product(at_most, Minus(g, middle, least)), c.Product(at_least, Minus(g, most, middle)));
  const GradientValue slopes = Minus(g, at_middle, c.Product(bends, over_range));
  const GradientValue sixth = c.Product(c.Product(turn, c.Positive(most)), g.Scalar(x, 1.0 / 6.0));
  const GradientValue of_hue = c.Product(c.Product(slopes, over_range), sixth);

  const GradientValue sum = Plus(g, c.Product(hue, of_hue), c.Product(saturation, of_saturation));
  g.Set(rgb, Plus(g, sum, c.Product(value, at_most)));
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
