#include "blocks/kernels/pool/max_pool.h"

#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/pool/lines.h"
#include "weft/base/divide.h"

namespace weft::kernels {
namespace {

/// Which of a window's inputs is meant, of the width of A so that registers hold as many.
template <class A>
using Tap = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;

/// Compares an input of a window, `at` or where kIndex at + i for channel i, with the largest so far, unless it is the first. A NaN that
/// comes first counts as largest.
template <bool kIndex, class A, class I>
void TakeLarger(const A* from, bool first, I at, int64_t count, A* __restrict best, I* __restrict place) {
  if (first) {
    std::copy_n(from, count, best);
    for (int64_t i = 0; i < count; ++i) place[i] = at + static_cast<I>(kIndex ? i : 0);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    place[i] = best[i] < from[i] ? at + static_cast<I>(kIndex ? i : 0) : place[i];
    best[i] = best[i] < from[i] ? from[i] : best[i];
  }
}

/// The gradients of one window for the channels [c, c + count) to their first largest inputs.
template <class T, class P>
void ScatterWindow(const P& p, const PoolLine<P>& line, int64_t o, int64_t c, int64_t count, const T* in, const T* gradient, T* out,
                   StopCheck& stop) {
  using A = Accumulator<T>;
  A best[kPoolStrip], buffer[kPoolStrip];
  Tap<A> chosen[kPoolStrip], tap = 0;
  ForWindow(p, line, o, stop, [&](int64_t pixel) {
    TakeLarger<false>(Widened(in + pixel * p.channels + c, count, buffer), tap == 0, tap, count, best, chosen);
    ++tap;
  });
  tap = 0;
  ForWindow(p, line, o, stop, [&](int64_t pixel) {
    T* to = out + pixel * p.channels + c;
    for (int64_t i = 0; i < count; ++i) to[i] = chosen[i] == tap ? WrapAdd(to[i], gradient[i]) : to[i];
    ++tap;
  });
}

/// The same for few channels, one after another.
template <class T, class P>
void ScatterWindowScalar(const P& p, const PoolLine<P>& line, int64_t o, int64_t c, int64_t count, const T* in, const T* gradient,
                        T* out, StopCheck& stop) {
  using A = Accumulator<T>;
  const int64_t w_first = p.axes[2].first(o), w_count = p.axes[2].last(o) - w_first;
  if (w_count == 0 || line.d_first == line.d_last || line.h_first == line.h_last) return;
  for (int64_t k = 0; k < count; ++k) {
    int64_t chosen = (line.pixel(p, line.d_first, line.h_first) + w_first) * p.channels + c + k;
    A best = static_cast<A>(in[chosen]);
    for (int64_t d = line.d_first; d < line.d_last; ++d) {
      for (int64_t h = line.h_first; h < line.h_last; ++h) {
        int64_t at = (line.pixel(p, d, h) + w_first) * p.channels + c + k;
        for (int64_t left = w_count; left > 0;) {
          const int64_t some = std::min(left, kItemsBetweenLooks);
          if (stop(some)) return;
          for (const int64_t end = at + some * p.channels; at < end; at += p.channels) {
            const A value = static_cast<A>(in[at]);
            const int64_t takes = -static_cast<int64_t>(best < value);  // no branch: which is larger cannot be foretold
            chosen = (at & takes) | (chosen & ~takes);
            best = best < value ? value : best;
          }
          left -= some;
        }
      }
    }
    out[chosen] = WrapAdd(out[chosen], gradient[k]);
  }
}

/// Whether each input is seen by just one window, so that its gradient is written once and nothing is added up.
inline bool IsPartition(const SequencePooling&) { return false; }
inline bool IsPartition(const Pooling& p) {
  return std::all_of(p.axes.begin(), p.axes.end(), [](const WindowAxis& axis) {
    return axis.window == axis.stride && axis.before == 0 && axis.out > 0 && axis.last(axis.out - 1) == axis.in;
  });
}

inline constexpr int64_t kMostTaps = 64;

/// The gradient of one window to its first largest input, and 0 to the others: reads and writes each value once. The inputs are `taps`
/// behind `in` and `out`; kTaps of them, or `count` where kTaps is 0. The last registers of channels overlap those before.
template <int kTaps, class T>
void ScatterWindowVecs(const int64_t* taps, int64_t count, int64_t channels, const T* in, const T* gradient, T* out) {
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  const int64_t all = kTaps > 0 ? kTaps : count;
  for (int64_t at = 0; at < channels; at += kLanes<T>) {
    const int64_t c = std::min(at, channels - kLanes<T>);
    Vec<T> best = LoadVec(in + taps[0] + c);
    Vec<Index> chosen = {};
#pragma GCC unroll 9
    for (int64_t t = 1; t < all; ++t) {
      const Vec<T> value = LoadVec(in + taps[t] + c);
      const auto larger = best < value;
      chosen = larger ? Broadcast(static_cast<Index>(t)) : chosen;
      best = larger ? value : best;
    }
    const Vec<T> taken = LoadVec(gradient + c) + Vec<T>{};  // as a sum that starts at 0: -0 becomes 0
#pragma GCC unroll 9
    for (int64_t t = 0; t < all; ++t) StoreVec(out + taps[t] + c, chosen == Broadcast(static_cast<Index>(t)) ? taken : Vec<T>{});
  }
}

/// The same for fewer channels than a register has.
template <int kTaps, class T>
void ScatterWindowFew(const int64_t* taps, int64_t count, int64_t channels, const T* in, const T* gradient, T* out) {
  const int64_t all = kTaps > 0 ? kTaps : count;
  for (int64_t c = 0; c < channels; ++c) {
    T best = in[taps[0] + c];
    int64_t chosen = 0;
#pragma GCC unroll 9
    for (int64_t t = 1; t < all; ++t) {
      const T value = in[taps[t] + c];
      chosen = best < value ? t : chosen;
      best = best < value ? value : best;
    }
    const T taken = gradient[c] + T{};
#pragma GCC unroll 9
    for (int64_t t = 0; t < all; ++t) out[taps[t] + c] = chosen == t ? taken : T{};
  }
}

/// ScatterPicture for windows that share no input.
template <class T, class P>
void ScatterPartition(const P& p, int64_t picture, int64_t c, int64_t count, const T* in, const T* gradient, T* out,
                     StopCheck& stop) {
  const int64_t lines = p.axes[0].out * p.axes[1].out;
  for (int64_t i = 0; i < lines; ++i) {
    const PoolLine<P> line(p, picture * lines + i);
    const T* from = gradient + (picture * lines + i) * p.axes[2].out * p.channels + c;
    int64_t taps[kMostTaps], known = 0, width = 0;
    for (int64_t o = 0; o < p.axes[2].out; ++o, from += p.channels) {
      if (stop(4 + known * count / kPixelItems)) return;
      const int64_t first = p.axes[2].first(o), start = first * p.channels + c;
      if (p.axes[2].last(o) - first != width) {  // the last window may be narrower
        width = p.axes[2].last(o) - first, known = 0;
        ForWindow(p, line, o, stop, [&](int64_t pixel) { taps[known++] = (pixel - first) * p.channels; });
      }
      const auto scatter = [&]<int kTaps>() {
        if (count >= kLanes<T>) ScatterWindowVecs<kTaps>(taps, known, count, in + start, from, out + start);
        else ScatterWindowFew<kTaps>(taps, known, count, in + start, from, out + start);
      };
      switch (known) {
        case 0: break;  // a window in the padding
        case 2: scatter.template operator()<2>(); break;
        case 4: scatter.template operator()<4>(); break;
        case 9: scatter.template operator()<9>(); break;
        default: scatter.template operator()<0>(); break;
      }
    }
  }
}

/// A strip of channels of a picture: nobody else writes it.
template <class T, class P>
void ScatterPicture(const P& p, int64_t picture, int64_t c, int64_t count, const T* in, const T* gradient, T* out,
                   StopCheck& stop) {
  if constexpr (std::is_floating_point_v<T>) {
    if (WindowCost(p) <= static_cast<double>(kMostTaps) && IsPartition(p)) {
      return ScatterPartition(p, picture, c, count, in, gradient, out, stop);
    }
  }
  const int64_t first = picture * p.in_pixels(), lines = p.axes[0].out * p.axes[1].out;
  if (count == p.channels) {
    FillUntilStopped(stop, out + first * count, p.in_pixels() * count, T(0));
  } else {
    for (int64_t pixel = first; pixel < first + p.in_pixels() && !stop(4); ++pixel) std::fill_n(out + pixel * p.channels + c, count, T(0));
  }
  for (int64_t i = 0; i < lines; ++i) {
    const PoolLine<P> line(p, picture * lines + i);
    const T* from = gradient + (picture * lines + i) * p.axes[2].out * p.channels + c;
    for (int64_t o = 0; o < p.axes[2].out; ++o, from += p.channels) {
      if (stop(4)) return;
      if (count < kFewChannels) {
        ScatterWindowScalar(p, line, o, c, count, in, from, out, stop);
      } else {
        ScatterWindow(p, line, o, c, count, in, from, out, stop);
      }
    }
  }
}

/// Calls body(first element, window's pixels, channels, channel) for each strip of channels of each window of a line.
void ForStrips(const auto& p, int64_t pixel, StopCheck& stop, auto&& body) {
  for (int64_t o = 0; o < p.axes[2].out; ++o) {
    for (int64_t c = 0; c < p.channels; c += kPoolStrip) {
      if (stop(kPixelItems)) return;
      body(o, c, std::min(kPoolStrip, p.channels - c), (pixel + o) * p.channels + c);
    }
  }
}

}  // namespace

template <class P, class T>
void MaxPool(const P& p, const T* in, T* out, Workers& workers, Accumulator<T> start) {
  PoolAll<Largest<T>>(p, in, out, workers, start);
}

/// By strips of pictures, each written by one task alone; fewer channels to a strip where there are few pictures to share out.
template <class P, class T>
void MaxPoolGrad(const P& p, const MaxPoolGradient<T>& arrays, Workers& workers) {
  if (p.empty() || p.in_pixels() == 0) return;
  const int64_t strip = p.batch >= 8 ? kPoolStrip : 32, strips = DivideUp(p.channels, strip);
  const double cost = (static_cast<double>(p.out_pixels()) * WindowCost(p) + static_cast<double>(p.in_pixels())) *
                      static_cast<double>(std::min(strip, p.channels));
  ForEach(workers, p.batch * strips, PoolGrain(cost), [&](int64_t i, StopCheck& stop) {
    const int64_t c = i % strips * strip;
    ScatterPicture(p, i / strips, c, std::min(strip, p.channels - c), arrays.in, arrays.gradient, arrays.out, stop);
  });
}

template <class T>
void MaxPoolGradToAll(const Pooling& windows, const MaxPoolGradient<T>& arrays, Workers& workers) {
  using A = Accumulator<T>;
  const auto p = Inverse(windows);  // from the inputs, so that each is written by one task alone
  ForPoolLines(p, workers, [&](const auto& line, int64_t first_pixel, StopCheck& stop) {
    A sum[kPoolStrip];
    ForStrips(p, first_pixel, stop, [&](int64_t i, int64_t c, int64_t count, int64_t at) {
      std::fill_n(sum, count, A(0));
      ForWindow(p, line, i, stop, [&](int64_t pixel) {
        const T *most = arrays.pooled + pixel * p.channels + c, *g = arrays.gradient + pixel * p.channels + c;
        for (int64_t k = 0; k < count; ++k) sum[k] += arrays.in[at + k] == most[k] ? static_cast<A>(g[k]) : A(0);
      });
      Narrow(sum, arrays.out + at, count);
    });
  });
}

template <class T>
void MaxPoolGradGrad(const Pooling& p, const MaxPoolGradient<T>& arrays, Workers& workers) {
  ForPoolLines(p, workers, [&](const auto& line, int64_t first_pixel, StopCheck& stop) {
    Tap<Accumulator<T>> found[kPoolStrip];
    ForStrips(p, first_pixel, stop, [&](int64_t o, int64_t c, int64_t count, int64_t at) {
      std::fill_n(found, count, 0);
      T* const out = arrays.out + at;
      const T* const most = arrays.pooled + at;
      std::fill_n(out, count, T(0));
      ForWindow(p, line, o, stop, [&](int64_t pixel) {
        const T *x = arrays.in + pixel * p.channels + c, *g = arrays.gradient + pixel * p.channels + c;
#pragma omp simd
        for (int64_t k = 0; k < count; ++k) {
          const bool takes = (found[k] == 0) & (x[k] == most[k]);
          out[k] = takes ? g[k] : out[k];
          found[k] = takes ? 1 : found[k];
        }
      });
    });
  });
}

template <class T>
void MaxPoolWithIndex(const Pooling& p, const T* in, T* out, const Indices& indices, Workers& workers) {
  ForPoolLines(p, workers, [&](const auto& line, int64_t first_pixel, StopCheck& stop) {
    Accumulator<T> best[kPoolStrip], buffer[kPoolStrip];
    int64_t index[kPoolStrip];
    const int64_t origin = indices.across_pictures ? 0 : line.picture * p.in_pixels();
    ForStrips(p, first_pixel, stop, [&](int64_t o, int64_t c, int64_t count, int64_t at) {
      bool first = true;
      ForWindow(p, line, o, stop, [&](int64_t pixel) {
        const Accumulator<T>* from = Widened(in + pixel * p.channels + c, count, buffer);
        const int64_t place = (pixel - origin) * p.channels + c;
        if (count >= kFewChannels) {
          TakeLarger<true>(from, first, place, count, best, index);
        } else {
          for (int64_t k = 0; k < count; ++k) {
            const bool takes = first || best[k] < from[k];
            index[k] = takes ? place + k : index[k];
            best[k] = takes ? from[k] : best[k];
          }
        }
        first = false;
      });
      Narrow(best, out + at, count);
      for (int64_t k = 0; k < count; ++k) {
        if (indices.wide) static_cast<int64_t*>(indices.data)[at + k] = index[k];
        else static_cast<int32_t*>(indices.data)[at + k] = static_cast<int32_t>(index[k]);
      }
    });
  });
}

#define WEFT_INSTANTIATE(T)                                                              \
  template void MaxPool(const Pooling&, const T*, T*, Workers&, Accumulator<T>);         \
  template void MaxPoolGrad(const Pooling&, const MaxPoolGradient<T>&, Workers&);        \
  template void MaxPoolGradGrad(const Pooling&, const MaxPoolGradient<T>&, Workers&);    \
  template void MaxPoolWithIndex(const Pooling&, const T*, T*, const Indices&, Workers&);
WEFT_FOR_REALS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

#define WEFT_INSTANTIATE(T) template void MaxPoolGradToAll(const Pooling&, const MaxPoolGradient<T>&, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

#define WEFT_INSTANTIATE(T)                                                              \
  template void MaxPool(const SequencePooling&, const T*, T*, Workers&, Accumulator<T>); \
  template void MaxPoolGrad(const SequencePooling&, const MaxPoolGradient<T>&, Workers&);
WEFT_FOR_SEQUENCES(WEFT_INSTANTIATE)

}  // namespace weft::kernels
