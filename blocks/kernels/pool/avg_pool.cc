#include "blocks/kernels/pool/avg_pool.h"

#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/pool/lines.h"

namespace weft::kernels {

template <class P, class T>
void AvgPool(const P& p, const T* in, T* out, Workers& workers) { PoolAll<Average<T>>(p, in, out, workers); }

/// Every window shares its gradient out; then each input adds up, which is a pooling seen from the inputs.
template <class P, class T>
void AvgPoolGrad(const P& p, const T* gradient, T* out, Accumulator<T>* shares, Workers& workers) {
  using A = Accumulator<T>;
  ForPoolLines(p, workers, [&](const PoolLine<P>& line, int64_t pixel, StopCheck& stop) {
    const bool checked = IsLongLine(p, line);
    for (int64_t o = 0; o < p.axes[2].out; ++o) {
      if (checked && stop(4 + p.channels)) return;
      const auto inputs = static_cast<A>(line.lines() * (p.axes[2].last(o) - p.axes[2].first(o)));
      const int64_t first = (pixel + o) * p.channels;
      for (int64_t i = first; i < first + p.channels; ++i) shares[i] = static_cast<A>(gradient[i]) / inputs;
    }
  });
  PoolAll<Total<A>>(Inverse(p), shares, out, workers);
}

#define WEFT_INSTANTIATE(T)                                      \
  template void AvgPool(const Pooling&, const T*, T*, Workers&); \
  template void AvgPoolGrad(const Pooling&, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE
template void AvgPoolGrad(const SequencePooling&, const float*, float*, float*, Workers&);
template void AvgPoolGrad(const SequencePooling&, const double*, double*, double*, Workers&);

#define WEFT_INSTANTIATE(T) template void AvgPool(const SequencePooling&, const T*, T*, Workers&);
WEFT_FOR_SEQUENCES(WEFT_INSTANTIATE)

}  // namespace weft::kernels
