// Morphological dilation: under each window the largest sum of input and filter, channel by channel; and the ways back.
#pragma once

#include "blocks/kernels/conv/im2col.h"
#include "blocks/kernels/pool/lines.h"

namespace weft::kernels {

/// Pictures [batch, height, width, channels] and a filter [taps down, taps across, channels].
struct Dilation {
  int64_t batch = 0, channels = 0;
  ConvAxis height, width;

  int64_t in_pixels() const { return height.source * width.source; }
  int64_t out_pixels() const { return height.positions * width.positions; }
  int64_t filter_count() const { return height.taps * width.taps * channels; }
};

namespace internal {

template <class T>
Accumulator<T> SumOf(T a, T b) {
  if constexpr (ShortFloat<T>) return static_cast<float>(static_cast<T>(static_cast<float>(a) + static_cast<float>(b)));
  else return WrapAdd(a, b);
}

/// The first largest sum for some channels of an output; with `kPlaces` its tap and pixel, without a sum those of the first tap.
template <class T, bool kPlaces>
struct LargestSums {
  Accumulator<T> best[kPoolStrip];
  int64_t tap[kPoolStrip], pixel[kPoolStrip];

  /// For the channels [c, c + count).
  [[gnu::noinline]] void Find(const Dilation& p, int64_t output, int64_t c, int64_t count, const T* in, const T* filter, StopCheck& stop) {
    const int64_t line = output / p.width.positions, first_row = line / p.height.positions * p.height.source;
    const int64_t top = p.height.at(line % p.height.positions, 0), left = p.width.at(output % p.width.positions, 0);
    const int64_t h_first = p.height.first_tap(top), h_last = p.height.last_tap(top, h_first);
    const int64_t w_first = p.width.first_tap(left), w_last = p.width.last_tap(left, w_first);
    std::fill_n(best, count, LowestOf<T>());
    if constexpr (kPlaces) {
      std::fill_n(tap, count, 0);
      std::fill_n(pixel, count, (first_row + std::max<int64_t>(top, 0)) * p.width.source + std::max<int64_t>(left, 0));
    }
    for (int64_t h = h_first; h < h_last; ++h) {
      const bool all = ForPixels(w_first, w_last, stop, [&](int64_t w) {
        const int64_t at = h * p.width.taps + w;
        const int64_t source = (first_row + top + h * p.height.tap_step) * p.width.source + left + w * p.width.tap_step;
        const T *x = in + source * p.channels + c, *f = filter + at * p.channels + c;
        for (int64_t i = 0; i < count; ++i) {
          const Accumulator<T> sum = SumOf(x[i], f[i]);
          const bool takes = sum > best[i];
          best[i] = takes ? sum : best[i];
          if constexpr (kPlaces) {
            tap[i] = takes ? at : tap[i];
            pixel[i] = takes ? source : pixel[i];
          }
        }
      });
      if (!all) return;
    }
  }
};

/// Calls body(largest sums, first element, first channel, channels) for strips of the channels [c_begin, c_end) of outputs [begin, end).
template <bool kPlaces, class T, class Body>
void ForSums(const Dilation& p, int64_t begin, int64_t end, int64_t c_begin, int64_t c_end, const T* in, const T* filter, const Workers& workers,
             Body&& body) {
  LargestSums<T, kPlaces> largest;
  StopCheck stop(workers);
  for (int64_t output = begin; output < end; ++output) {
    for (int64_t c = c_begin; c < c_end; c += kPoolStrip) {
      if (stop(kPixelItems)) return;
      const int64_t count = std::min(kPoolStrip, c_end - c);
      largest.Find(p, output, c, count, in, filter, stop);
      body(largest, output * p.channels + c, c, count);
    }
  }
}

inline double LineCost(const Dilation& p) {
  return static_cast<double>(p.width.positions) * static_cast<double>(p.channels) * static_cast<double>(p.height.taps) *
         static_cast<double>(p.width.taps);
}

}  // namespace internal

/// Integers wrap; sums of half and bfloat16 are rounded, then compared. NaN is passed over; without numbers: the lowest finite one.
template <class T>
void Dilate(const Dilation& p, const T* in, const T* filter, T* out, Workers& workers) {
  const int64_t line = p.width.positions;
  workers.For(p.batch * p.height.positions, PoolGrain(internal::LineCost(p)), [&](int64_t begin, int64_t end) {
    internal::ForSums<false>(p, begin * line, end * line, 0, p.channels, in, filter, workers,
                             [&](const auto& largest, int64_t first, int64_t, int64_t count) { Narrow(largest.best, out + first, count); });
  });
}

/// Adds each gradient to `out` at the input of the first largest sum of its window; without one at the first input of the window.
template <class T>
void DilateGradInput(const Dilation& p, const T* in, const T* filter, const T* gradient, T* out, Workers& workers) {
  const int64_t strips = DivideUp(p.channels, kPoolStrip), pixels = p.out_pixels();
  const double cost = internal::LineCost(p) * static_cast<double>(p.height.positions);
  ForEach(workers, p.batch * strips, PoolGrain(cost), [&](int64_t task) {
    const int64_t picture = task / strips, c_begin = task % strips * kPoolStrip, c_end = std::min(c_begin + kPoolStrip, p.channels);
    internal::ForSums<true>(p, picture * pixels, (picture + 1) * pixels, c_begin, c_end, in, filter, workers,
                            [&](const auto& largest, int64_t first, int64_t c, int64_t count) {
                              for (int64_t i = 0; i < count; ++i) {
                                T& to = out[largest.pixel[i] * p.channels + c + i];
                                to = WrapAdd(to, gradient[first + i]);
                              }
                            });
  });
}

inline int64_t DilationShares(const Dilation& p) {
  const int64_t lines = p.batch * p.height.positions;
  if (lines == 0 || p.filter_count() == 0) return 0;
  const double cost = internal::LineCost(p) * static_cast<double>(lines);
  const double room = double{1 << 21} / static_cast<double>(p.filter_count());
  const double most = std::min({8.0, cost / kPoolGrain, room, static_cast<double>(lines)});
  return std::max<int64_t>(1, static_cast<int64_t>(most));
}

/// Adds each gradient to the tap of its window's first largest sum, or the first tap. `sums`: DilationShares() * filter_count() elements.
template <class T>
void DilateGradFilter(const Dilation& p, const T* in, const T* filter, const T* gradient, T* out, Accumulator<T>* sums, Workers& workers) {
  using A = Accumulator<T>;
  const int64_t shares = DilationShares(p), size = p.filter_count(), lines = p.batch * p.height.positions, line = p.width.positions;
  if (shares == 0) {
    FillLong(workers, out, size, T(0));
    return;
  }
  workers.For(shares, 1, [&](int64_t share, int64_t) {
    A* sum = sums + share * size;
    FillLong(workers, sum, size, A(0));
    internal::ForSums<true>(p, share * lines / shares * line, (share + 1) * lines / shares * line, 0, p.channels, in, filter, workers,
                            [&](const auto& largest, int64_t first, int64_t c, int64_t count) {
                              for (int64_t i = 0; i < count; ++i) {
                                A& to = sum[largest.tap[i] * p.channels + c + i];
                                to = WrapAdd(to, static_cast<A>(gradient[first + i]));
                              }
                            });
  });
  constexpr int64_t kJoined = 32768;  // elements of a task
  workers.For(size, kJoined, [&](int64_t begin, int64_t end) {
    for (int64_t share = 1; share < shares; ++share) {
      for (int64_t i = begin; i < end; ++i) sums[i] = WrapAdd(sums[i], sums[share * size + i]);
    }
    Narrow(sums + begin, out + begin, end - begin);
  });
}

}  // namespace weft::kernels
