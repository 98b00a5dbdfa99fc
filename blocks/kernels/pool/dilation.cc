#include "blocks/kernels/pool/dilation.h"

#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/pool/lines.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {
namespace {

template <class T>
Accumulator<T> SumOf(T a, T b) {
  if constexpr (ShortFloat<T>) return static_cast<float>(static_cast<T>(static_cast<float>(a) + static_cast<float>(b)));
  else return WrapAdd(a, b);
}

/// The window at row `row` and column `column` of a picture: calls body(tap, pixel) for each tap inside.
template <class Body>
void ForTaps(const Dilation& p, int64_t picture, int64_t row, int64_t column, StopCheck& stop, Body&& body) {
  const int64_t top = p.height.at(row, 0), left = p.width.at(column, 0);
  const int64_t h_first = p.height.first_tap(top), h_last = p.height.last_tap(top, h_first);
  const int64_t w_first = p.width.first_tap(left), w_last = p.width.last_tap(left, w_first);
  for (int64_t h = h_first; h < h_last; ++h) {
    if (stop(kPixelItems * (w_last - w_first))) return;
    const int64_t line = (picture * p.height.source + top + h * p.height.tap_step) * p.width.source + left;
    for (int64_t w = w_first; w < w_last; ++w) body(h * p.width.taps + w, line + w * p.width.tap_step);
  }
}

/// The tap of the largest sum and the pixel it reads, for a strip of channels.
struct Chosen {
  int64_t tap[kPoolStrip], pixel[kPoolStrip];
};
template <class T>
void Choose(const Dilation& p, int64_t picture, int64_t row, int64_t column, int64_t c, int64_t count, const T* in, const T* filter,
            Chosen& chosen, StopCheck& stop) {
  Accumulator<T> best[kPoolStrip];
  const int64_t top = std::max<int64_t>(p.height.at(row, 0), 0), left = std::max<int64_t>(p.width.at(column, 0), 0);
  std::fill_n(best, count, LowestOf<T>());
  std::fill_n(chosen.tap, count, 0);
  std::fill_n(chosen.pixel, count, (picture * p.height.source + top) * p.width.source + left);
  ForTaps(p, picture, row, column, stop, [&](int64_t tap, int64_t pixel) {
    const T *x = in + pixel * p.channels + c, *f = filter + tap * p.channels + c;
    for (int64_t i = 0; i < count; ++i) {
      const Accumulator<T> sum = SumOf(x[i], f[i]);
      const bool takes = sum > best[i];
      best[i] = takes ? sum : best[i];
      chosen.tap[i] = takes ? tap : chosen.tap[i];
      chosen.pixel[i] = takes ? pixel : chosen.pixel[i];
    }
  });
}

double LineCost(const Dilation& p) {
  return static_cast<double>(p.width.positions) * static_cast<double>(p.channels) * static_cast<double>(p.height.taps) *
         static_cast<double>(p.width.taps);
}

}  // namespace

template <class T>
void Dilate(const Dilation& p, const T* in, const T* filter, T* out, Workers& workers) {
  const double cost = LineCost(p);
  const int64_t grain = cost >= kPoolGrain ? 1 : static_cast<int64_t>(kPoolGrain / std::max(cost, 1.0));
  workers.For(p.batch * p.height.positions, grain, [&](int64_t begin, int64_t end) {
    Accumulator<T> best[kPoolStrip];
    StopCheck stop(workers);
    for (int64_t line = begin; line < end; ++line) {
      T* to = out + line * p.width.positions * p.channels;
      for (int64_t column = 0; column < p.width.positions; ++column, to += p.channels) {
        for (int64_t c = 0; c < p.channels; c += kPoolStrip) {
          if (stop(kPixelItems)) return;
          const int64_t count = std::min(kPoolStrip, p.channels - c);
          std::fill_n(best, count, LowestOf<T>());
          ForTaps(p, line / p.height.positions, line % p.height.positions, column, stop, [&](int64_t tap, int64_t pixel) {
            const T *x = in + pixel * p.channels + c, *f = filter + tap * p.channels + c;
            for (int64_t i = 0; i < count; ++i) best[i] = Largest<T>::Take(SumOf(x[i], f[i]), best[i]);
          });
          Narrow(best, to + c, count);
        }
      }
    }
  });
}

template <class T>
void DilateGradInput(const Dilation& p, const T* in, const T* filter, const T* gradient, T* out, Workers& workers) {
  const int64_t size = p.in_pixels() * p.channels, strips = (p.channels + kPoolStrip - 1) / kPoolStrip;
  workers.For(p.batch * size, kPoolGrain, [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, T(0)); });
  if (size == 0) return;
  const double cost = LineCost(p) * static_cast<double>(p.height.positions);
  const int64_t grain = cost >= kPoolGrain ? 1 : static_cast<int64_t>(kPoolGrain / std::max(cost, 1.0));
  workers.For(p.batch * strips, grain, [&](int64_t begin, int64_t end) {
    Chosen chosen;
    StopCheck stop(workers);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t picture = task / strips, c = task % strips * kPoolStrip, count = std::min(kPoolStrip, p.channels - c);
      for (int64_t o = 0; o < p.out_pixels() && !stop(kPixelItems); ++o) {
        const T* from = gradient + (picture * p.out_pixels() + o) * p.channels + c;
        Choose(p, picture, o / p.width.positions, o % p.width.positions, c, count, in, filter, chosen, stop);
        for (int64_t i = 0; i < count; ++i) {
          T& to = out[chosen.pixel[i] * p.channels + c + i];
          to = WrapAdd(to, from[i]);
        }
      }
    }
  });
}

int64_t DilationShares(const Dilation& p) {
  const int64_t lines = p.batch * p.height.positions;
  if (lines == 0 || p.filter_count() == 0) return 0;
  const double cost = LineCost(p) * static_cast<double>(lines);
  const double room = double{1 << 21} / static_cast<double>(p.filter_count());
  const double most = std::min({8.0, cost / kPoolGrain, room, static_cast<double>(lines)});
  return std::max<int64_t>(1, static_cast<int64_t>(most));
}

template <class T>
void DilateGradFilter(const Dilation& p, const T* in, const T* filter, const T* gradient, T* out, Accumulator<T>* sums, Workers& workers) {
  using A = Accumulator<T>;
  const int64_t shares = DilationShares(p), size = p.filter_count(), lines = p.batch * p.height.positions;
  if (shares == 0) {
    std::fill_n(out, size, T(0));
    return;
  }
  workers.For(shares, 1, [&](int64_t share, int64_t) {
    Chosen chosen;
    StopCheck stop(workers);
    A* sum = sums + share * size;
    std::fill_n(sum, size, A(0));
    for (int64_t line = share * lines / shares; line < (share + 1) * lines / shares; ++line) {
      for (int64_t column = 0; column < p.width.positions; ++column) {
        if (stop(kPixelItems * DivideUp(p.channels, kPoolStrip))) return;
        const T* from = gradient + (line * p.width.positions + column) * p.channels;
        for (int64_t c = 0; c < p.channels; c += kPoolStrip) {
          const int64_t count = std::min(kPoolStrip, p.channels - c);
          Choose(p, line / p.height.positions, line % p.height.positions, column, c, count, in, filter, chosen, stop);
          for (int64_t i = 0; i < count; ++i) {
            A& to = sum[chosen.tap[i] * p.channels + c + i];
            to = WrapAdd(to, static_cast<A>(from[c + i]));
          }
        }
      }
    }
  });
  for (int64_t share = 1; share < shares; ++share) {
    for (int64_t i = 0; i < size; ++i) sums[i] = WrapAdd(sums[i], sums[share * size + i]);
  }
  Narrow(sums, out, size);
}

#define WEFT_INSTANTIATE(T)                                                                              \
  template void Dilate(const Dilation&, const T*, const T*, T*, Workers&);                               \
  template void DilateGradInput(const Dilation&, const T*, const T*, const T*, T*, Workers&);            \
  template void DilateGradFilter(const Dilation&, const T*, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_REALS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
