// Poolings as sweeps over lines of windows: a reduction (the largest, the sum, the average) of what each window sees.
#pragma once

#include "blocks/kernels/pool/pooling.h"
#include "blocks/kernels/simd/non_temporal.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/float16.h"
#include "weft/base/workers.h"

namespace weft::kernels {

inline constexpr double kPoolGrain = 32768;    // values looked at by a task
inline constexpr int64_t kPoolStrip = 128;     // channels handled at a time
inline constexpr int64_t kPoolBlock = 64;      // values summed at a time
inline constexpr int64_t kFewChannels = 8;
inline constexpr int64_t kPixelItems = 16;     // simple steps that a strip of channels of a pixel takes as long as
inline constexpr int64_t kPoolLine = 1024;     // values of a line handled at a time where channels are few

/// Elements as they are compared and summed: half and bfloat16 through a buffer of floats, others in place.
template <class T>
const Accumulator<T>* Widened(const T* from, int64_t count, Accumulator<T>* buffer) {
  if constexpr (std::is_same_v<T, Accumulator<T>>) {
    return from;
  } else {
    Widen(from, buffer, count);
    return buffer;
  }
}

// ---- reductions: where they start, what they do with a value, and with the result of `inputs` values; of floats also with registers ---

/// The largest; NaN loses.
template <class T>
struct Largest {
  using A = Accumulator<T>;
  static constexpr A kStart = LowestOf<T>();
  static constexpr bool kSums = false;
  template <class V>
  static V Take(V value, V so_far) { return value > so_far ? value : so_far; }
#if defined(__x86_64__)
  /// The processor's maximum gives zeros for denormals, in registers as for one element; a choice by lanes would keep them.
  static Vec<float> Take(Vec<float> value, Vec<float> so_far) {
#if defined(__AVX512F__)
    return _mm512_max_ps(value, so_far);
#elif defined(__AVX__)
    return _mm256_max_ps(value, so_far);
#else
    return _mm_max_ps(value, so_far);
#endif
  }
#endif
  template <class V>
  static V Finish(V result, int64_t) {
#if defined(__aarch64__)
    // A choice by lanes keeps denormals; the product makes zeros of them.
    if constexpr (std::is_floating_point_v<A>) return result * Opaque(V{} + 1);
#endif
    return result;
  }
};

template <class T>
struct Total {
  using A = Accumulator<T>;
  static constexpr A kStart = A(0);
  static constexpr bool kSums = true;
  static A Take(A value, A so_far) { return WrapAdd(so_far, value); }
  static Vec<A> Take(Vec<A> value, Vec<A> so_far) { return so_far + value; }
  template <class V>
  static V Finish(V result, int64_t) { return result; }
};

/// Integers are rounded towards zero.
template <class T>
struct Average : Total<T> {
  using A = Accumulator<T>;
  static A Finish(A result, int64_t inputs) { return result / static_cast<A>(std::max<int64_t>(inputs, 1)); }
  static Vec<A> Finish(Vec<A> result, int64_t inputs) { return result / Broadcast(static_cast<A>(std::max<int64_t>(inputs, 1))); }
};

template <class Reduction, class A>
void TakeAll(const A* from, A* so_far, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) so_far[i] = Reduction::Take(from[i], so_far[i]);
}

// ---- windows -------------------------------------------------------------------------------------------------------------------

/// The windows of one line of outputs: picture, and the inputs [first, last) that they see along depth and height.
template <class P>
struct PoolLine {
  int64_t picture, d_first, d_last, h_first, h_last;
  PoolLine(const P& p, int64_t line) {
    const int64_t h = line % p.axes[1].out, d = line / p.axes[1].out % p.axes[0].out;
    picture = line / (p.axes[1].out * p.axes[0].out);
    d_first = p.axes[0].first(d), d_last = p.axes[0].last(d);
    h_first = p.axes[1].first(h), h_last = p.axes[1].last(h);
  }
  /// Input lines that each window sees.
  int64_t lines() const { return (d_last - d_first) * (h_last - h_first); }
  /// The pixel where input line (d, h) starts.
  int64_t pixel(const P& p, int64_t d, int64_t h) const { return ((picture * p.axes[0].in + d) * p.axes[1].in + h) * p.axes[2].in; }
};

/// Calls body(pixel) for each of the pixels [first, last) of a line; false where it left since the run is to end.
bool ForPixels(int64_t first, int64_t last, StopCheck& stop, auto&& body) {
  while (first < last) {
    const int64_t end = std::min(last, first + kItemsBetweenLooks / kPixelItems);
    if (stop(kPixelItems * (end - first))) return false;
    for (; first < end; ++first) body(first);
  }
  return true;
}

/// One window: calls body(pixel) for each input pixel it sees, in order, until the run is to end.
template <class P, class Body>
void ForWindow(const P& p, const PoolLine<P>& line, int64_t o, StopCheck& stop, Body&& body) {
  const int64_t w_first = p.axes[2].first(o), w_last = p.axes[2].last(o);
  for (int64_t d = line.d_first; d < line.d_last; ++d) {
    for (int64_t h = line.h_first; h < line.h_last; ++h) {
      const int64_t start = line.pixel(p, d, h);
      if (!ForPixels(start + w_first, start + w_last, stop, body)) return;
    }
  }
}

template <class Reduction, class S, class T, class P>
void PoolLineByStrips(const P& p, const PoolLine<P>& line, Accumulator<S> start, const S* in, T* out, StopCheck& stop) {
  using A = Accumulator<S>;
  A result[kPoolStrip], buffer[kPoolStrip], block[kPoolStrip];
  for (int64_t o = 0; o < p.axes[2].out; ++o, out += p.channels) {
    const int64_t inputs = line.lines() * (p.axes[2].last(o) - p.axes[2].first(o));
    for (int64_t c = 0; c < p.channels; c += kPoolStrip) {
      if (stop(kPixelItems)) return;
      const int64_t count = std::min(kPoolStrip, p.channels - c);
      std::fill(result, result + count, start);
      // Large sums are made of smaller ones, which keeps them exact.
      const bool blocks = Reduction::kSums && inputs > kPoolBlock;
      A* const into = blocks ? block : result;
      int64_t left = inputs;
      if (blocks) std::fill(block, block + count, start);
      ForWindow(p, line, o, stop, [&](int64_t pixel) {
        TakeAll<Reduction>(Widened(in + pixel * p.channels + c, count, buffer), into, count);
        if (!blocks || --left % kPoolBlock != 0) return;
        TakeAll<Reduction>(block, result, count);
        std::fill(block, block + count, start);
      });
      for (int64_t i = 0; i < count; ++i) result[i] = Reduction::Finish(result[i], inputs);
      Narrow(result, out + c, count);
    }
  }
}

/// One window's kCount registers of channels: `in` is the first pixel's channel c. Each value is read once where windows do not overlap.
template <class Reduction, bool kStream, bool kChecked, int kCount, class S, class T, class P>
void PoolWindowVecs(const P& p, const PoolLine<P>& line, int64_t first, int64_t last, Accumulator<S> start, const S* in, T* out,
                     [[maybe_unused]] StopCheck& stop) {
  using A = Accumulator<S>;
  Vec<A> result[kCount];
  for (int k = 0; k < kCount; ++k) result[k] = Broadcast(start);
  for (int64_t d = line.d_first; d < line.d_last; ++d) {
    for (int64_t h = line.h_first; h < line.h_last; ++h) {
      const S* from = in + (line.pixel(p, d, h) + first) * p.channels;
      for (int64_t w = first; w < last;) {
        const int64_t end = kChecked ? std::min(last, w + kItemsBetweenLooks) : last;
        if constexpr (kChecked) {
          if (stop(end - w)) return;
        }
        for (; w < end; ++w, from += p.channels) {
          for (int k = 0; k < kCount; ++k) result[k] = Reduction::Take(LoadVec(from + k * kLanes<A>), result[k]);
        }
      }
    }
  }
  const int64_t inputs = line.lines() * (last - first);
  for (int k = 0; k < kCount; ++k) StoreVec<kStream>(out + k * kLanes<A>, Reduction::Finish(result[k], inputs));
}

/// Whether a line of windows is so long that it has to look whether the run is to end; a short one is a small part of its task.
template <class P>
bool IsLongLine(const P& p, const PoolLine<P>& line) {
  const int64_t middle = p.axes[2].out / 2;
  return line.lines() * (p.axes[2].last(middle) - p.axes[2].first(middle)) * p.axes[2].out * (1 + p.channels / kPixelItems) > kItemsBetweenLooks;
}

/// A line of windows over a register of channels or more; those left over are taken by a register that overlaps the one before.
template <class Reduction, bool kStream, bool kChecked, class S, class T, class P>
void PoolLineByVecs(const P& p, const PoolLine<P>& line, Accumulator<S> start, const S* in, T* out, StopCheck& stop) {
  constexpr int N = kLanes<Accumulator<S>>;
  for (int64_t o = 0; o < p.axes[2].out; ++o, out += p.channels) {
    const int64_t first = p.axes[2].first(o), last = p.axes[2].last(o);
    if constexpr (kChecked) {
      if (stop(1 + p.channels / kPixelItems)) return;
    }
    int64_t c = 0;
    for (; c + 4 * N <= p.channels; c += 4 * N) PoolWindowVecs<Reduction, kStream, kChecked, 4>(p, line, first, last, start, in + c, out + c, stop);
    for (; c + N <= p.channels; c += N) PoolWindowVecs<Reduction, kStream, kChecked, 1>(p, line, first, last, start, in + c, out + c, stop);
    if (c == p.channels) continue;
    c = p.channels - N;
    PoolWindowVecs<Reduction, false, kChecked, 1>(p, line, first, last, start, in + c, out + c, stop);
  }
}

/// Whether registers hold what PoolAll computes.
template <class S, class T>
inline constexpr bool kPoolsByVecs = std::is_floating_point_v<Accumulator<S>> && std::is_same_v<VecElement<T>, Accumulator<S>>;

/// What the windows along a line see, some of them at a time. It is the same for all lines, so a task keeps it.
template <class Axis>
struct LineSpans {
  explicit LineSpans(const Axis& axis) : axis(axis) {}
  /// Knows window o, and as many behind it as there is room for.
  void Reach(int64_t o) {
    if (o >= begin && o < end) return;
    begin = o;
    end = std::min(axis.out, o + kPoolLine);
    for (int64_t i = begin; i < end; ++i) {
      firsts[i - begin] = axis.first(i);
      lasts[i - begin] = axis.last(i);
    }
  }

  const Axis& axis;
  int64_t begin = 0, end = 0;
  int64_t firsts[kPoolLine], lasts[kPoolLine];
};

/// Few channels: first the lines are reduced, element by element, to one line, then each window along it.
template <class Reduction, class S, class T, class P>
void PoolLineByRows(const P& p, const PoolLine<P>& line, LineSpans<typename P::AxisType>& spans, Accumulator<S> start, const S* in,
                     T* out, StopCheck& stop) {
  using A = Accumulator<S>;
  const int64_t pixels = kPoolLine / p.channels;
  A reduced[kPoolLine], buffer[kPoolLine], carried[kFewChannels];
  for (int64_t o = 0; o < p.axes[2].out;) {
    // The windows [o, o + windows) fit the buffer together, or one alone does not and comes in parts.
    spans.Reach(o);
    const int64_t *const firsts = spans.firsts + (o - spans.begin), *const lasts = spans.lasts + (o - spans.begin);
    int64_t windows = 1;
    while (o + windows < spans.end && lasts[windows] - firsts[0] <= pixels) ++windows;
    const int64_t last = std::max(firsts[0], lasts[windows - 1]);
    for (int64_t part = firsts[0], part_end = part; part == firsts[0] || part < last; part = part_end) {
      part_end = std::min(last, part + pixels);
      const int64_t count = (part_end - part) * p.channels;
      std::fill(reduced, reduced + count, start);
      for (int64_t d = line.d_first; d < line.d_last; ++d) {
        for (int64_t h = line.h_first; h < line.h_last; ++h) {
          if (stop(1 + count / 4)) return;
          TakeAll<Reduction>(Widened(in + (line.pixel(p, d, h) + part) * p.channels, count, buffer), reduced, count);
        }
      }
      for (int64_t i = 0; i < windows; ++i) {
        const int64_t w_first = std::max(firsts[i], part), seen = std::min(lasts[i], part_end) - w_first;
        const A* from = reduced + (w_first - part) * p.channels;
        if (stop(1 + seen * p.channels)) return;
        T* to = out + (o + i) * p.channels;
        for (int64_t c = 0; c < p.channels; ++c, ++from) {
          A result = start;
          for (int64_t w = 0; w < seen; ++w) result = Reduction::Take(from[w * p.channels], result);
          if (part != firsts[0]) result = Reduction::Take(result, carried[c]);
          carried[c] = result;
          if (part_end == last) to[c] = static_cast<T>(Reduction::Finish(result, line.lines() * (lasts[i] - firsts[i])));
        }
      }
      if (part_end == last) break;
    }
    o += windows;
  }
}

/// Items that a task takes, each of which looks at `cost` values.
inline int64_t PoolGrain(double cost) { return cost >= kPoolGrain ? 1 : static_cast<int64_t>(kPoolGrain / std::max(cost, 1.0)); }
int64_t LineGrain(const auto& p) {
  return PoolGrain(static_cast<double>(p.axes[2].out) * static_cast<double>(p.channels) * WindowCost(p));
}

/// Calls body(line, its windows' first output, stop) for each line of windows. `stream`: what it writes past the cache is fenced once a task.
template <class P, class Body>
void ForPoolLines(const P& p, Workers& workers, Body&& body, bool stream = false) {
  if (p.empty() || p.out_pixels() == 0) return;
  workers.For(p.batch * p.axes[0].out * p.axes[1].out, LineGrain(p), [&](int64_t begin, int64_t end) {
    StopCheck stop(workers);
    for (int64_t i = begin; i < end; ++i) body(PoolLine<P>(p, i), i * p.axes[2].out, stop);
    if (stream) StreamFence();
  });
}

/// The ways to pool, in the order of preference.
enum class PoolBy : uint8_t { kRegisters, kStrips, kRows };
/// `lanes` is a register's, 0 for types that none holds; `cost` is WindowCost.
inline PoolBy ChoosePool(int64_t channels, int64_t lanes, bool sums, double cost) {
  if (lanes > 0 && channels >= lanes && (!sums || cost <= kPoolBlock)) return PoolBy::kRegisters;
  return channels >= kFewChannels ? PoolBy::kStrips : PoolBy::kRows;
}

/// out = the reduction of what each window sees.
template <class Reduction, class S, class T, class P>
void PoolAll(const P& p, const S* in, T* out, Workers& workers, Accumulator<S> start = Reduction::kStart) {
  if (p.empty() || p.out_pixels() == 0) return;
  constexpr int64_t kRegister = kPoolsByVecs<S, T> ? kLanes<Accumulator<S>> : 0;
  const PoolBy by = ChoosePool(p.channels, kRegister, Reduction::kSums, WindowCost(p));
  if constexpr (kPoolsByVecs<S, T>) {
    if (by == PoolBy::kRegisters) {
      const int64_t pictures = p.batch * p.channels;
      constexpr int64_t kSize = sizeof(T), kReadSize = sizeof(S);
      const bool stream = IsStreamed(pictures * p.out_pixels() * kSize, pictures * p.in_pixels() * kReadSize) &&
                          p.channels % kRegister == 0 && reinterpret_cast<uintptr_t>(out) % kVecBytes == 0;
      const auto pool = [&](const PoolLine<P>& line, int64_t pixel, StopCheck& stop) {
        T* const to = out + pixel * p.channels;
        if (IsLongLine(p, line)) return PoolLineByVecs<Reduction, false, true>(p, line, start, in, to, stop);
        if (stream) return PoolLineByVecs<Reduction, true, false>(p, line, start, in, to, stop);
        PoolLineByVecs<Reduction, false, false>(p, line, start, in, to, stop);
      };
      return ForPoolLines(p, workers, pool, stream);
    }
  }
  if (by == PoolBy::kStrips) {
    return ForPoolLines(p, workers, [&](const PoolLine<P>& line, int64_t pixel, StopCheck& stop) {
      PoolLineByStrips<Reduction>(p, line, start, in, out + pixel * p.channels, stop);
    });
  }
  workers.For(p.batch * p.axes[0].out * p.axes[1].out, LineGrain(p), [&](int64_t begin, int64_t end) {
    LineSpans<typename P::AxisType> spans(p.axes[2]);
    StopCheck stop(workers);
    T* to = out + begin * p.axes[2].out * p.channels;
    for (int64_t i = begin; i < end; ++i, to += p.axes[2].out * p.channels) {
      PoolLineByRows<Reduction>(p, PoolLine<P>(p, i), spans, start, in, to, stop);
    }
  });
}

}  // namespace weft::kernels
