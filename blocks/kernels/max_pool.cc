#include "blocks/kernels/max_pool.h"

#include <limits>

#include "blocks/kernels/widen.h"

namespace weft::kernels {
namespace {

constexpr int64_t kGrain = 32768;   // values looked at by a task
constexpr int64_t kStrip = 128;     // channels handled at a time
constexpr int64_t kFewChannels = 8;
constexpr int64_t kLine = 1024;     // values of a line handled at a time where channels are few

template <class T>
constexpr Accumulator<T> LowestOf() {
  if constexpr (std::is_same_v<T, half>) return -65504.0f;
  else if constexpr (std::is_same_v<T, bfloat16>) return -3.3895314e38f;
  else return std::numeric_limits<T>::lowest();
}

/// Elements as they are compared: half and bfloat16 through a buffer of floats, others in place.
template <class T>
const Accumulator<T>* Widened(const T* from, int64_t count, Accumulator<T>* buffer) {
  if constexpr (std::is_same_v<T, Accumulator<T>>) {
    return from;
  } else {
    Widen(from, buffer, count);
    return buffer;
  }
}

/// best[i] = max(best[i], from[i]); NaN loses.
template <class A>
void TakeLarger(const A* from, A* best, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) best[i] = from[i] > best[i] ? from[i] : best[i];
}

/// The windows of one line of outputs: picture, and the inputs [first, last) that they see along depth and height.
struct Line {
  int64_t picture, d_first, d_last, h_first, h_last;
  Line(const Pooling& p, int64_t line) {
    const int64_t h = line % p.axes[1].out, d = line / p.axes[1].out % p.axes[0].out;
    picture = line / (p.axes[1].out * p.axes[0].out);
    d_first = p.axes[0].first(d), d_last = p.axes[0].last(d);
    h_first = p.axes[1].first(h), h_last = p.axes[1].last(h);
  }
  /// The pixel where input line (d, h) starts.
  int64_t pixel(const Pooling& p, int64_t d, int64_t h) const { return ((picture * p.axes[0].in + d) * p.axes[1].in + h) * p.axes[2].in; }
};

template <class T>
void PoolLineByStrips(const Pooling& p, const Line& line, const T* in, T* out) {
  using A = Accumulator<T>;
  const WindowAxis& width = p.axes[2];
  A best[kStrip], buffer[kStrip];
  for (int64_t o = 0; o < width.out; ++o, out += p.channels) {
    const int64_t w_first = width.first(o), w_last = width.last(o);
    for (int64_t c = 0; c < p.channels; c += kStrip) {
      const int64_t count = std::min(kStrip, p.channels - c);
      std::fill(best, best + count, LowestOf<T>());
      for (int64_t d = line.d_first; d < line.d_last; ++d) {
        for (int64_t h = line.h_first; h < line.h_last; ++h) {
          const T* pixels = in + line.pixel(p, d, h) * p.channels + c;
          for (int64_t w = w_first; w < w_last; ++w) TakeLarger(Widened(pixels + w * p.channels, count, buffer), best, count);
        }
      }
      Narrow(best, out + c, count);
    }
  }
}

/// Few channels: first the largest of the lines, element by element, then of each window along the line.
template <class T>
void PoolLineByParts(const Pooling& p, const Line& line, const T* in, T* out) {
  using A = Accumulator<T>;
  const WindowAxis& width = p.axes[2];
  const int64_t pixels = kLine / p.channels;
  A best[kLine], buffer[kLine];
  for (int64_t o = 0; o < width.out;) {
    const int64_t first = width.first(o);
    int64_t end = o + 1;  // windows [o, end) fit the buffer, or one window alone does not
    if (width.last(o) - first <= pixels) {
      end = std::min(width.out, std::max(o + 1, (first + pixels + width.before - width.window) / width.stride + 1));
      while (end > o + 1 && width.last(end - 1) - first > pixels) --end;
    }
    for (int64_t at = o; at < end; ++at) std::fill(out + at * p.channels, out + (at + 1) * p.channels, static_cast<T>(LowestOf<T>()));
    const int64_t last = std::max(first, width.last(end - 1));
    for (int64_t part = first; part < last; part += pixels) {
      const int64_t part_end = std::min(last, part + pixels), count = (part_end - part) * p.channels;
      std::fill(best, best + count, LowestOf<T>());
      for (int64_t d = line.d_first; d < line.d_last; ++d) {
        for (int64_t h = line.h_first; h < line.h_last; ++h) {
          TakeLarger(Widened(in + (line.pixel(p, d, h) + part) * p.channels, count, buffer), best, count);
        }
      }
      for (int64_t at = o; at < end; ++at) {
        const int64_t w_first = std::max(width.first(at), part), w_last = std::min(width.last(at), part_end);
        const A* from = best + (w_first - part) * p.channels;
        T* to = out + at * p.channels;
        for (int64_t c = 0; c < p.channels; ++c, ++from) {
          A most = static_cast<A>(to[c]);
          for (int64_t w = 0; w < w_last - w_first; ++w) most = from[w * p.channels] > most ? from[w * p.channels] : most;
          to[c] = static_cast<T>(most);
        }
      }
    }
    o = end;
  }
}

/// One window: calls body(pixel) for each input pixel it sees, in order.
template <class Body>
void ForWindow(const Pooling& p, const Line& line, int64_t o, Body&& body) {
  const int64_t w_first = p.axes[2].first(o), w_last = p.axes[2].last(o);
  for (int64_t d = line.d_first; d < line.d_last; ++d) {
    for (int64_t h = line.h_first; h < line.h_last; ++h) {
      const int64_t start = line.pixel(p, d, h);
      for (int64_t w = w_first; w < w_last; ++w) body(start + w);
    }
  }
}

/// The gradients of one window for the channels [c, c + count) to their first largest inputs.
template <class T>
void SpreadWindow(const Pooling& p, const Line& line, int64_t o, int64_t c, int64_t count, const T* in, const T* gradient, T* out) {
  using A = Accumulator<T>;
  using Index = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;
  A best[kStrip], buffer[kStrip];
  Index chosen[kStrip];
  Index tap = 0;
  ForWindow(p, line, o, [&](int64_t pixel) {
    const A* from = Widened(in + pixel * p.channels + c, count, buffer);
    if (tap == 0) {
      std::copy_n(from, count, best);
      std::fill(chosen, chosen + count, Index(0));
    } else {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        chosen[i] = best[i] < from[i] ? tap : chosen[i];
        best[i] = best[i] < from[i] ? from[i] : best[i];
      }
    }
    ++tap;
  });
  tap = 0;
  ForWindow(p, line, o, [&](int64_t pixel) {
    T* to = out + pixel * p.channels + c;
    for (int64_t i = 0; i < count; ++i) to[i] = chosen[i] == tap ? WrapAdd(to[i], gradient[i]) : to[i];
    ++tap;
  });
}

/// The same for few channels, one after another.
template <class T>
void SpreadWindowScalar(const Pooling& p, const Line& line, int64_t o, int64_t c, int64_t count, const T* in, const T* gradient, T* out) {
  using A = Accumulator<T>;
  const int64_t w_first = p.axes[2].first(o), w_count = p.axes[2].last(o) - w_first;
  if (w_count == 0 || line.d_first == line.d_last || line.h_first == line.h_last) return;
  for (int64_t k = 0; k < count; ++k) {
    int64_t chosen = (line.pixel(p, line.d_first, line.h_first) + w_first) * p.channels + c + k;
    A best = static_cast<A>(in[chosen]);
    for (int64_t d = line.d_first; d < line.d_last; ++d) {
      for (int64_t h = line.h_first; h < line.h_last; ++h) {
        const int64_t start = (line.pixel(p, d, h) + w_first) * p.channels + c + k;
        for (int64_t at = start; at < start + w_count * p.channels; at += p.channels) {
          const A value = static_cast<A>(in[at]);
          const int64_t takes = -static_cast<int64_t>(best < value);  // no branch: which is larger cannot be foretold
          chosen = (at & takes) | (chosen & ~takes);
          best = best < value ? value : best;
        }
      }
    }
    out[chosen] = WrapAdd(out[chosen], gradient[k]);
  }
}

/// A strip of channels of a picture: nobody else writes it.
template <class T>
void SpreadPicture(const Pooling& p, int64_t picture, int64_t c, int64_t count, const T* in, const T* gradient, T* out) {
  const int64_t first = picture * p.in_pixels(), lines = p.axes[0].out * p.axes[1].out;
  if (count == p.channels) {
    std::fill_n(out + first * count, p.in_pixels() * count, T(0));
  } else {
    for (int64_t pixel = first; pixel < first + p.in_pixels(); ++pixel) std::fill_n(out + pixel * p.channels + c, count, T(0));
  }
  for (int64_t i = 0; i < lines; ++i) {
    const Line line(p, picture * lines + i);
    const T* from = gradient + (picture * lines + i) * p.axes[2].out * p.channels + c;
    for (int64_t o = 0; o < p.axes[2].out; ++o, from += p.channels) {
      if (count < kFewChannels) {
        SpreadWindowScalar(p, line, o, c, count, in, from, out);
      } else {
        SpreadWindow(p, line, o, c, count, in, from, out);
      }
    }
  }
}

/// Lines of windows that a task takes, given what a line costs.
int64_t LineGrain(const Pooling& p) {
  const double cost = static_cast<double>(p.axes[2].out) * static_cast<double>(p.channels) * static_cast<double>(p.taps());
  return cost >= kGrain ? 1 : static_cast<int64_t>(kGrain / std::max(cost, 1.0));
}

}  // namespace

template <class T>
void MaxPool(const Pooling& p, const T* in, T* out, Workers& workers) {
  if (p.batch == 0 || p.channels == 0 || p.out_pixels() == 0) return;
  workers.For(p.batch * p.axes[0].out * p.axes[1].out, LineGrain(p), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* to = out + i * p.axes[2].out * p.channels;
      if (p.channels < kFewChannels) {
        PoolLineByParts(p, Line(p, i), in, to);
      } else {
        PoolLineByStrips(p, Line(p, i), in, to);
      }
    }
  });
}

template <class T>
void MaxPoolGrad(const Pooling& p, const T* in, const T* gradient, T* out, Workers& workers) {
  if (p.batch == 0 || p.channels == 0 || p.in_pixels() == 0) return;
  // Strips of fewer channels where there are few pictures to share out.
  const int64_t strip = p.batch >= 8 ? kStrip : 32, strips = (p.channels + strip - 1) / strip;
  const double cost = (static_cast<double>(p.out_pixels()) * static_cast<double>(p.taps()) + static_cast<double>(p.in_pixels())) *
                      static_cast<double>(std::min(strip, p.channels));
  const int64_t grain = cost >= kGrain ? 1 : static_cast<int64_t>(kGrain / std::max(cost, 1.0));
  workers.For(p.batch * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % strips * strip;
      SpreadPicture(p, i / strips, c, std::min(strip, p.channels - c), in, gradient, out);
    }
  });
}

template <class T>
void MaxPoolGradGrad(const Pooling& p, const T* in, const T* pooled, const T* gradient, T* out, Workers& workers) {
  if (p.batch == 0 || p.channels == 0 || p.out_pixels() == 0) return;
  workers.For(p.batch * p.axes[0].out * p.axes[1].out, LineGrain(p), [&](int64_t begin, int64_t end) {
    bool found[kStrip];
    for (int64_t i = begin; i < end; ++i) {
      const Line line(p, i);
      for (int64_t o = 0; o < p.axes[2].out; ++o) {
        for (int64_t c = 0; c < p.channels; c += kStrip) {
          const int64_t count = std::min(kStrip, p.channels - c), at = (i * p.axes[2].out + o) * p.channels + c;
          std::fill_n(found, count, false);
          std::fill_n(out + at, count, T(0));
          ForWindow(p, line, o, [&](int64_t pixel) {
            const T *x = in + pixel * p.channels + c, *g = gradient + pixel * p.channels + c;
            for (int64_t k = 0; k < count; ++k) {
              const bool takes = !found[k] && x[k] == pooled[at + k];
              out[at + k] = takes ? g[k] : out[at + k];
              found[k] = found[k] || takes;
            }
          });
        }
      }
    }
  });
}

#define WEFT_INSTANTIATE(T)                                                            \
  template void MaxPool(const Pooling&, const T*, T*, Workers&);                       \
  template void MaxPoolGrad(const Pooling&, const T*, const T*, T*, Workers&);         \
  template void MaxPoolGradGrad(const Pooling&, const T*, const T*, const T*, T*, Workers&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(half)
WEFT_INSTANTIATE(bfloat16)
WEFT_INSTANTIATE(int8_t)
WEFT_INSTANTIATE(int16_t)
WEFT_INSTANTIATE(int32_t)
WEFT_INSTANTIATE(int64_t)
WEFT_INSTANTIATE(uint8_t)
WEFT_INSTANTIATE(uint16_t)
WEFT_INSTANTIATE(uint32_t)
WEFT_INSTANTIATE(uint64_t)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
