// Convolutions of sizes that are cut into blocks of lines and strips, and their gradients, against plain sums in double.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "blocks/nn/convolution.h"
#include "tests/kit/block_tester.h"
#include "tests/kit/test_services.h"

namespace weft::kit {
namespace {

/// SAME padding where `same`, else none.
struct Geometry {
  std::array<int64_t, 4> picture;  // batch, height, width, channels
  std::array<int64_t, 2> taps;
  int64_t columns = 1, stride = 1, dilation = 1, groups = 1;
  bool same = true;

  int64_t span(int i) const { return (taps[i] - 1) * dilation + 1; }
  int64_t size(int i) const { return picture[static_cast<size_t>(i) + 1]; }
  int64_t out(int i) const { return same ? (size(i) + stride - 1) / stride : (size(i) - span(i)) / stride + 1; }
  int64_t before(int i) const { return same ? std::max<int64_t>((out(i) - 1) * stride + span(i) - size(i), 0) / 2 : 0; }
  int64_t inner() const { return picture[3] / groups; }

  Shape picture_shape() const { return Shape{picture[0], picture[1], picture[2], picture[3]}; }
  Shape filter_shape() const { return Shape{taps[0], taps[1], inner(), columns}; }
  Shape out_shape() const { return Shape{picture[0], out(0), out(1), columns}; }
  std::string attrs(bool planes) const {
    const auto axes = [&](int64_t n) { return planes ? Cat("{1,1,", n, ",", n, "}") : Cat("{1,", n, ",", n, ",1}"); };
    return Cat("strides_ = ", axes(stride), ";dilations_ = ", axes(dilation), ";padding_ = ", same ? "SAME" : "VALID", ";data_format_ = ",
               planes ? "NCHW" : "NHWC", ";");
  }

  /// Calls body(index into the picture, into the filter, into the output) for every multiplication.
  template <class Body>
  void ForProducts(Body&& body) const {
    const auto [batch, height, width, channels] = picture;
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t y = 0; y < out(0); ++y) {
        for (int64_t x = 0; x < out(1); ++x) {
          for (int64_t tap = 0; tap < taps[0] * taps[1]; ++tap) {
            const int64_t h = y * stride - before(0) + tap / taps[1] * dilation, w = x * stride - before(1) + tap % taps[1] * dilation;
            if (h < 0 || h >= height || w < 0 || w >= width) continue;
            for (int64_t c = 0; c < inner(); ++c) {
              for (int64_t o = 0; o < columns; ++o) {
                const int64_t channel = o / (columns / groups) * inner() + c;
                body(((n * height + h) * width + w) * channels + channel, (tap * inner() + c) * columns + o,
                     ((n * out(0) + y) * out(1) + x) * columns + o);
              }
            }
          }
        }
      }
    }
  }
};

/// Small whole numbers: sums of few products are exact in every type.
template <class T>
Tensor Whole(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  uint32_t state = seed;
  for (T& value : tensor.values<T>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<float>(state >> 30) - 1.0f);
  }
  return tensor;
}

Shape PlanesOf(const Shape& s) { return Shape{s[0], s[3], s[1], s[2]}; }
/// Pictures with their channels first.
template <class From, class To>
void ToPlanes(const Shape& shape, const From& from, To&& to) {
  const int64_t pixels = shape[1] * shape[2], channels = shape[3];
  for (int64_t i = 0; i < shape[0] * pixels * channels; ++i) {
    const int64_t picture = i / (pixels * channels), channel = i / pixels % channels, pixel = i % pixels;
    to[static_cast<size_t>(i)] = from[static_cast<size_t>((picture * pixels + pixel) * channels + channel)];
  }
}
template <class T>
Tensor Planes(const Tensor& pictures) {
  Tensor planes = Tensor::Allocate(kDTypeOf<T>, PlanesOf(pictures.shape())).value();
  ToPlanes(pictures.shape(), pictures.values<T>(), planes.values<T>());
  return planes;
}
std::vector<double> Planes(const Shape& shape, const std::vector<double>& pictures) {
  std::vector<double> planes(pictures.size());
  ToPlanes(shape, pictures, planes);
  return planes;
}

Tensor SizesOf(const Shape& shape) {
  Tensor tensor = Tensor::Allocate(DType::kInt32, Shape{shape.rank()}).value();
  for (int i = 0; i < shape.rank(); ++i) tensor.values<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(shape[i]);
  return tensor;
}

template <class T>
void CheckSame(const BlockResult& result, const std::vector<double>& expected) {
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  const auto found = result.outputs.at("output").values<T>();
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const T wanted = static_cast<T>(expected[i]);
    if (found[i] != wanted) FAIL("at " << i << ": " << static_cast<double>(found[i]) << ", expected " << static_cast<double>(wanted));
  }
}

/// The blocks of three dimensions, of volumes with the channels first, give what they give of those with the channels last.
template <class T>
void CheckVolumes(int64_t stride) {
  const int64_t out = (9 + stride - 1) / stride;
  const auto volume = [](bool first, int64_t depth, int64_t size, int64_t channels) {
    return first ? Shape{2, channels, depth, size, size} : Shape{2, depth, size, size, channels};
  };
  const Shape filter_shape{2, 3, 3, 20, 40};
  const auto pixels = [](const Shape& s) { return Shape{s[0], s[1] * s[2], s[3], s[4]}; };
  const Shape in_last = volume(false, 4, 9, 20), out_last = volume(false, 4, out, 40);
  const Tensor picture = Whole<T>(in_last, 1), filter = Whole<T>(filter_shape, 2), gradient = Whole<T>(out_last, 3);
  std::array<std::vector<T>, 3> found[2];
  for (const bool first : {false, true}) {
    INFO((first ? "NCDHW" : "NDHWC") << ", stride " << stride);
    const std::string steps = first ? Cat("{1,1,1,", stride, ",", stride, "}") : Cat("{1,1,", stride, ",", stride, ",1}");
    const std::string attrs = Cat("strides_ = ", steps, ";padding_ = SAME;data_format_ = ", first ? "NCDHW" : "NDHWC", ";");
    const auto block = [&](const char* name) { return BlockTester(Catalog(), name).Attrs(attrs); };
    const auto arranged = [&](const Tensor& tensor, const Shape& shape) {
      Tensor to = Tensor::Allocate(kDTypeOf<T>, shape).value();
      if (first) ToPlanes(pixels(tensor.shape()), tensor.values<T>(), to.values<T>());
      return first ? to : tensor;
    };
    const Shape in_shape = volume(first, 4, 9, 20), out_shape = volume(first, 4, out, 40);
    const Tensor x = arranged(picture, in_shape), dy = arranged(gradient, out_shape);
    const BlockResult results[] = {
        block("Conv3D").Input("input", x).Input("filter", filter).Run(),
        block("Conv3DBackpropInputV2").Input("input_sizes", SizesOf(in_shape)).Input("filter", filter).Input("out_backprop", dy).Run(),
        block("Conv3DBackpropFilterV2").Input("input", x).Input("filter_sizes", SizesOf(filter_shape)).Input("out_backprop", dy).Run()};
    for (size_t i = 0; i < 3; ++i) {
      INFO(ToString(results[i].status));
      REQUIRE(results[i].status.ok());
      const auto values = results[i].outputs.at("output").template values<T>();
      found[first][i].assign(values.begin(), values.end());
    }
  }
  for (size_t i = 0; i < 2; ++i) {
    std::vector<T> planes(found[0][i].size());
    ToPlanes(pixels(i == 0 ? out_last : in_last), found[0][i], planes);
    CHECK((planes == found[1][i]));
  }
  CHECK((found[0][2] == found[1][2]));
}

/// The blocks of two dimensions, of pictures with the channels first or last.
template <class T>
void CheckBlocks(const Geometry& g, bool planes, const Tensor& picture, const Tensor& filter, const Tensor& gradient, const std::vector<double>& y,
                 const std::vector<double>& dx, const std::vector<double>& df) {
  const std::string attrs = g.attrs(planes);
  INFO(ToString(kDTypeOf<T>) << " " << Cat(picture.shape(), " ", filter.shape()) << " " << attrs);
  const auto block = [&](const char* name) { return BlockTester(Catalog(), name).Attrs(attrs); };
  CheckSame<T>(block("Conv2D").Input("input", picture).Input("filter", filter).Run(), y);
  CheckSame<T>(block("Conv2DBackpropInput")
                   .Input("input_sizes", SizesOf(picture.shape()))
                   .Input("filter", filter)
                   .Input("out_backprop", gradient)
                   .Run(),
               dx);
  if constexpr (!std::is_same_v<T, int32_t>) {
    CheckSame<T>(block("Conv2DBackpropFilter")
                     .Input("input", picture)
                     .Input("filter_sizes", SizesOf(filter.shape()))
                     .Input("out_backprop", gradient)
                     .Run(),
                 df);
  }
}

template <class T>
void CheckConvolution(const Geometry& g) {
  const Tensor picture = Whole<T>(g.picture_shape(), 1), filter = Whole<T>(g.filter_shape(), 2), gradient = Whole<T>(g.out_shape(), 3);
  const auto x = picture.values<T>(), f = filter.values<T>(), dy = gradient.values<T>();
  std::vector<double> y(dy.size()), dx(x.size()), df(f.size());
  g.ForProducts([&](int64_t in, int64_t weight, int64_t out) {
    const size_t i = static_cast<size_t>(in), w = static_cast<size_t>(weight), o = static_cast<size_t>(out);
    y[o] += static_cast<double>(x[i]) * static_cast<double>(f[w]);
    dx[i] += static_cast<double>(f[w]) * static_cast<double>(dy[o]);
    df[w] += static_cast<double>(x[i]) * static_cast<double>(dy[o]);
  });
  CheckBlocks<T>(g, false, picture, filter, gradient, y, dx, df);
  CheckBlocks<T>(g, true, Planes<T>(picture), filter, Planes<T>(gradient), Planes(g.out_shape(), y), Planes(g.picture_shape(), dx), df);
}

TEST_CASE("Convolutions are computed by the implementation that their shape chooses", "[convolution]") {
  const auto desc = [](int64_t batch, int64_t channels, int64_t taps, int64_t groups, bool first, int64_t size = 28) {
    const kernels::ConvAxis axis{size, size, taps, 1, -(taps / 2), 1};
    const kernels::OutputAxis place{size, 0, 1};
    return kernels::ConvDesc{{first, batch, channels, {kernels::ConvAxis{}, axis, axis}}, groups, 64, {kernels::OutputAxis{}, place, place}};
  };
  kernels::ConvDesc depthwise_planes = desc(2, 64, 3, 64, true);
  const auto in_float = [](kernels::ConvDesc conv) {
    conv.in_float = true;
    return conv.implementation();
  };
  CHECK(in_float(desc(2, 32, 3, 1, false)) == "winograd");
  CHECK(in_float(desc(2, 32, 5, 1, true)) == "winograd");
  CHECK(in_float(desc(2, 4, 3, 1, false)) == "direct");  // too few channels to make points for
  CHECK(in_float(desc(2, 32, 7, 1, false)) == "direct");
  CHECK(in_float(desc(2, 32, 3, 1, false, 13)) == "direct");  // too few positions of a picture to make points of the filter for
  CHECK(desc(2, 32, 3, 1, false).implementation() == "direct");
  CHECK(desc(2, 32, 3, 1, true).implementation() == "direct");
  CHECK(desc(2, 32, 1, 1, true).implementation() == "im2col");
  CHECK(desc(2, 64, 3, 32, true).implementation() == "im2col");  // too few multiplications to transpose planes for
  CHECK(desc(2, 32, 1, 1, false).implementation() == "im2col");  // one product
  CHECK(desc(2, 64, 3, 64, false).implementation() == "depthwise");
  CHECK(depthwise_planes.implementation() == "im2col");
  depthwise_planes.by_filter = true;
  CHECK(depthwise_planes.implementation() == "depthwise");
  CHECK(desc(0, 32, 3, 1, false).implementation() == "nothing to compute");
}

TEST_CASE("Convolutions cut into lines", "[convolution]") {
  const Geometry geometries[] = {
      {.picture = {2, 9, 11, 5}, .taps = {3, 3}, .columns = 7},
      {.picture = {2, 13, 30, 3}, .taps = {5, 5}, .columns = 33},
      {.picture = {1, 7, 7, 40}, .taps = {3, 3}, .columns = 50, .stride = 2},
      {.picture = {2, 10, 9, 16}, .taps = {3, 2}, .columns = 32, .dilation = 2, .same = false},
      {.picture = {1, 4, 40, 600}, .taps = {1, 3}, .columns = 20},             // longer runs of taps than one sum takes
      {.picture = {1, 3, 700, 2}, .taps = {2, 3}, .columns = 6, .stride = 2},  // strips of a line
      {.picture = {1, 150, 1, 4}, .taps = {3, 1}, .columns = 18},              // lines of one pixel
      {.picture = {1, 9, 9, 6}, .taps = {3, 3}, .columns = 66, .groups = 2},
      {.picture = {2, 5, 27, 41}, .taps = {3, 3}, .columns = 41, .groups = 41},  // depthwise: each pixel is read for all taps of a line
      {.picture = {1, 7, 40, 32}, .taps = {3, 5}, .columns = 32, .stride = 2, .groups = 32},
      {.picture = {1, 9, 30, 16}, .taps = {2, 4}, .columns = 16, .dilation = 2, .groups = 16},
      {.picture = {1, 6, 6, 128}, .taps = {3, 3}, .columns = 16, .stride = 3},  // pixels that would share the lines of a cache
      {.picture = {1, 5, 7, 64}, .taps = {1, 1}, .columns = 96},
      {.picture = {1, 10, 24, 40}, .taps = {3, 3}, .columns = 128, .stride = 2},
      {.picture = {1, 6, 8, 40}, .taps = {1, 1}, .columns = 30, .stride = 2},  // three of four positions get no gradient
      {.picture = {1, 4, 4, 1}, .taps = {7, 7}, .columns = 2},  // more padding than picture
      {.picture = {3, 2, 2, 3}, .taps = {2, 2}, .columns = 4},  // pictures too narrow for lines
  };
  for (const Geometry& g : geometries) {
    CheckConvolution<float>(g);
    CheckConvolution<double>(g);
  }
}

TEST_CASE("Convolutions of long lines, which are read in place but for their edges", "[convolution]") {
  const Geometry geometries[] = {
      {.picture = {1, 9, 40, 5}, .taps = {3, 3}, .columns = 7},
      {.picture = {2, 6, 97, 16}, .taps = {3, 3}, .columns = 32},
      {.picture = {1, 11, 120, 4}, .taps = {5, 4}, .columns = 20, .stride = 2},
      {.picture = {1, 8, 131, 3}, .taps = {2, 3}, .columns = 34, .stride = 3, .dilation = 2},
      {.picture = {1, 5, 150, 6}, .taps = {3, 2}, .columns = 8, .groups = 2},
      {.picture = {1, 7, 110, 8}, .taps = {3, 3}, .columns = 16, .same = false},
      {.picture = {1, 1, 300, 40}, .taps = {1, 3}, .columns = 1},
      {.picture = {2, 30, 160, 32}, .taps = {3, 3}, .columns = 16},  // fetched in advance
  };
  for (const Geometry& g : geometries) CheckConvolution<float>(g);
  CheckConvolution<double>(geometries[2]);
  CheckConvolution<int32_t>(geometries[0]);
  CheckConvolution<half>(geometries[1]);
}

TEST_CASE("Convolutions by minimal filtering", "[convolution]") {
  const Geometry geometries[] = {
      {.picture = {2, 14, 14, 16}, .taps = {3, 3}, .columns = 16},
      {.picture = {3, 15, 15, 17}, .taps = {3, 3}, .columns = 41},  // half tiles at both ends, registers that are not full
      {.picture = {1, 12, 18, 35}, .taps = {5, 5}, .columns = 70},
      {.picture = {2, 19, 18, 20}, .taps = {5, 5}, .columns = 18, .same = false},
      {.picture = {1, 9, 150, 18}, .taps = {3, 3}, .columns = 20},   // strips of a line
      {.picture = {1, 9, 23, 16}, .taps = {3, 3}, .columns = 300},    // columns in parts
      {.picture = {5, 33, 35, 16}, .taps = {3, 3}, .columns = 90},   // by the filter: shares of blocks
      {.picture = {4, 17, 18, 17}, .taps = {5, 5}, .columns = 70},
      {.picture = {1, 60, 18, 24}, .taps = {5, 5}, .columns = 24, .stride = 2},  // of the gradient one phase in four
  };
  for (const Geometry& g : geometries) CheckConvolution<float>(g);
  CheckConvolution<half>(geometries[1]);
  CheckConvolution<bfloat16>(geometries[2]);
  CheckConvolution<half>(geometries[6]);
}

/// Normal numbers.
Tensor Normal(const Shape& shape, uint64_t seed) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, shape).value();
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  for (float& value : tensor.values<float>()) value = normal(generator);
  return tensor;
}

TEST_CASE("Minimal filtering rounds less than plain sums", "[convolution]") {
  for (const int64_t taps : {3, 5}) {
    const Geometry g{.picture = {1, 20, 20, 32}, .taps = {taps, taps}, .columns = 32};
    const Tensor picture = Normal(g.picture_shape(), 1), filter = Normal(g.filter_shape(), 2);
    std::vector<double> exact(static_cast<size_t>(g.out_shape().count()));
    g.ForProducts([&](int64_t in, int64_t weight, int64_t out) {
      exact[static_cast<size_t>(out)] += static_cast<double>(picture.values<float>()[static_cast<size_t>(in)]) *
                                         static_cast<double>(filter.values<float>()[static_cast<size_t>(weight)]);
    });
    const kernels::ConvAxis axis{20, 20, taps, 1, -(taps / 2), 1};
    const kernels::OutputAxis place{20, 0, 1};
    double errors[2] = {};
    for (const bool in_float : {false, true}) {
      kernels::ConvDesc conv{{false, 1, 32, {kernels::ConvAxis{}, axis, axis}}, 1, 32, {kernels::OutputAxis{}, place, place}};
      conv.in_float = in_float;
      REQUIRE(conv.implementation() == (in_float ? "winograd" : "direct"));
      std::vector<float> scratch(static_cast<size_t>(kernels::ConvScratch(conv, false))), found(exact.size());
      TestWorkers workers(2);
      kernels::RunConv(conv, picture.values<float>().data(), filter.values<float>().data(), found.data(), scratch.data(), workers);
      for (size_t i = 0; i < exact.size(); ++i) errors[in_float] += std::pow(static_cast<double>(found[i]) - exact[i], 2);
    }
    INFO(taps << " taps, mean square errors " << errors[0] / static_cast<double>(exact.size()) << " and " << errors[1] / static_cast<double>(exact.size()));
    CHECK(errors[1] < errors[0]);
  }
}

TEST_CASE("Convolutions of other types cut into lines", "[convolution]") {
  const Geometry g{.picture = {1, 6, 17, 5}, .taps = {3, 3}, .columns = 35};
  CheckConvolution<half>(g);
  CheckConvolution<bfloat16>(g);
  CheckConvolution<int32_t>(g);
  CheckConvolution<half>({.picture = {1, 5, 9, 8}, .taps = {3, 3}, .columns = 32, .stride = 2});
  CheckConvolution<bfloat16>({.picture = {1, 4, 9, 4}, .taps = {2, 3}, .columns = 16, .dilation = 2});
}

TEST_CASE("Convolutions of volumes with the channels first", "[convolution]") {
  CheckVolumes<float>(1);
  CheckVolumes<float>(2);
  CheckVolumes<bfloat16>(1);
}

TEST_CASE("Infinities and sums that overflow reach the positions whose taps read them, and no others", "[convolution]") {
  for (const int64_t channels : {4, 16}) {  // plain sums; minimal filtering
    const Geometry g{.picture = {2, 10, 20, channels}, .taps = {3, 3}, .columns = 40};
    Tensor picture = Whole<float>(g.picture_shape(), 1), filter = Whole<float>(g.filter_shape(), 2);
    for (float& value : filter.values<float>()) value += 3.0f;
    const auto run = [&] {
      const BlockResult result = BlockTester(Catalog(), "Conv2D").Attrs(g.attrs(false)).Input("input", picture).Input("filter", filter).Run();
      REQUIRE(result.status.ok());
      return result.outputs.at("output");
    };
    const Tensor finite = run();
    for (const float large : {INFINITY, 3e38f}) {
      picture.values<float>()[static_cast<size_t>((4 * 20 + 19) * channels)] = large;
      const Tensor outputs = run();
      const auto found = outputs.values<float>(), before = finite.values<float>();
      for (int64_t h = 0; h < 10; ++h) {
        for (int64_t w = 0; w < 20; ++w) {
          const bool reached = std::abs(h - 4) <= 1 && w >= 18;
          INFO(channels << " channels, " << large << ", at " << h << ", " << w);
          const auto at = static_cast<size_t>((h * 20 + w) * 40 + 39);
          CHECK((found[at] == INFINITY) == reached);
          if (!reached) CHECK(found[at] == before[at]);
        }
      }
      CHECK(std::equal(found.begin() + 10 * 20 * 40, found.end(), before.begin() + 10 * 20 * 40));  // the other picture
    }
  }
}

TEST_CASE("The plan of a gradient by the picture takes no memory for each tap", "[convolution]") {
  constexpr int64_t kTaps = int64_t{1} << 20;
  blocks::Convolution c;
  c.batch = c.in_channels = c.out_channels = 1;
  c.axes[1] = c.axes[2] = {.in = 1, .window = kTaps, .before = kTaps / 2};
  CHECK(blocks::InputGradient(c, false, false).scratch() >= kTaps * kTaps);
}

}  // namespace
}  // namespace weft::kit
