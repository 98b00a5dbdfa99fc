// The hyperbolic tangent of whole vectors, as those of vector_math.h. Floats in registers of 16 are taken without a division, right to 1.4
// units in the last place, odd, never decreasing and never above 1.
#pragma once

#include <bit>
#include <cstdint>

#include "blocks/kernels/lanes.h"
#include "blocks/kernels/vector_math.h"

namespace weft::kernels {

#if defined(__AVX512F__)
/// Polynomials of the fourth degree, each for a cell of |x|: where kScale * |x| + kShift lies in one eighth between two powers of 2, so
/// that cells are narrow near 0, where tanh bends. The rows: a place in the cell whose tanh is all but a float, that tanh, and the factors
/// of the distance from there, its square and so on. The first cell, in column 26, begins with 0 and tanh(x) = x.
struct TanhCells {
  static constexpr float kScale = 1.9736823f, kShift = 1.25f, kMost = 9.5f;  // tanh(kMost) is nearly 1
  static constexpr int kFirstBit = 20;                                       // of those that tell the cell
  alignas(64) static constexpr float kRows[6][32] = {
    {0.4432764f, 0.5700585f, 0.69680154f, 0.8232096f, 0.9501177f, 1.0766833f, 1.2034662f, 1.3298769f, 1.5200274f, 1.7735237f, 2.027005f,
     2.2799735f, 2.5335345f, 2.7861407f, 3.0396938f, 3.2932508f, 3.6723363f, 4.179388f, 4.6857085f, 5.1946974f, 5.6995397f, 6.20801f,
     6.7083273f, 7.2191534f, 7.9711924f, 8.66434f, 0.0f, 0.09499723f, 0.15834667f, 0.22169174f, 0.28498024f, 0.3483105f},
    {0.41635656f, 0.51540226f, 0.60233366f, 0.676813f, 0.73983634f, 0.7919659f, 0.8347088f, 0.86921924f, 0.90870243f, 0.94399434f,
     0.96588665f, 0.97929144f, 0.9874772f, 0.9924252f, 0.9954313f, 0.9972461f, 0.9987088f, 0.99953145f, 0.99982977f, 0.9999385f,
     0.9999776f, 0.9999919f, 0.999997f, 0.9999989f, 0.99999976f, 0.99999994f, 0.0f, 0.09471249f, 0.15703636f, 0.2181299f, 0.2775081f,
     0.33487636f},
    {0.8266472f, 0.7343607f, 0.63719445f, 0.5419245f, 0.45264244f, 0.3727902f, 0.3032613f, 0.24445798f, 0.17426002f, 0.10887437f,
     0.067062594f, 0.04098797f, 0.024888597f, 0.015092073f, 0.009116429f, 0.0055001867f, 0.002580335f, 0.0009367275f, 0.0003403753f,
     0.0001229997f, 4.4814595e-05f, 1.6209702e-05f, 5.959435e-06f, 2.1454066e-06f, 4.7552712e-07f, 1.1942818e-07f, 1.0f, 0.9910295f,
     0.97533953f, 0.95241934f, 0.92298925f, 0.8878578f},
    {-0.34417945f, -0.37849212f, -0.3838035f, -0.36678132f, -0.3348814f, -0.29523718f, -0.253135f, -0.21248752f, -0.15835145f,
     -0.10277733f, -0.06477514f, -0.040139366f, -0.024576992f, -0.014977855f, -0.0090748295f, -0.005485062f, -0.002577199f,
     -0.0009363498f, -0.00034034267f, -0.00012299378f, -4.481619e-05f, -1.6209833e-05f, -5.960546e-06f, -2.1455717e-06f, -4.7634668e-07f,
     -1.1917212e-07f, 6.1849532e-06f, -0.093862884f, -0.15316375f, -0.2077511f, -0.2561369f, -0.2973226f},
    {-0.13227893f, -0.049923733f, 0.018471863f, 0.06728433f, 0.09662184f, 0.10936971f, 0.11009166f, 0.10314674f, 0.085770294f,
     0.060807507f, 0.040306184f, 0.02572268f, 0.016027296f, 0.009869505f, 0.0060172407f, 0.0036506553f, 0.0017409121f, 0.0006336547f,
     0.00023047009f, 8.330727e-05f, 3.0358706e-05f, 1.0980523e-05f, 4.0374816e-06f, 1.4533998e-06f, 3.3857722e-07f, 7.294648e-08f,
     -0.33392644f, -0.32128927f, -0.30090022f, -0.2720774f, -0.23653175f, -0.19631867f},
    {0.16940887f, 0.15198708f, 0.11659504f, 0.07653265f, 0.040096883f, 0.011778685f, -0.007490541f, -0.01884936f, -0.025017414f,
     -0.023027726f, -0.017260047f, -0.01175273f, -0.0076016095f, -0.0047759563f, -0.0029497687f, -0.0018037766f, -0.00086267065f,
     -0.0003152903f, -0.000114744806f, -4.1671614e-05f, -1.51391205e-05f, -5.493261e-06f, -1.9961997e-06f, -7.2412007e-07f,
     -1.6546674e-07f, -2.2083945e-08f, 0.016177202f, 0.061720908f, 0.098249584f, 0.12850153f, 0.15079129f, 0.16480574f}};

  /// Row `row` for the cell that the last five bits of each lane tell.
  static Floats Row(int row, Lanes<int32_t> cell) {
    return _mm512_permutex2var_ps(_mm512_load_ps(kRows[row]), std::bit_cast<__m512i>(cell), _mm512_load_ps(kRows[row] + 16));
  }
};
#endif

struct Tanh {
  static Doubles Of(Doubles a) { return vectors::Tanh::Of(a); }
#if defined(__AVX512F__)
  static Floats Of(Floats a) {
    using Cells = TanhCells;
    using Bits = Lanes<int32_t>;
    const Bits bits = std::bit_cast<Bits>(a), sign = bits & INT32_MIN;
    const Floats x = _mm512_maskz_min_ps(0xFFFF, _mm512_set1_ps(Cells::kMost), std::bit_cast<__m512>(bits & INT32_MAX));  // NaN stays
    const Bits cell = std::bit_cast<Bits>(x * Cells::kScale + Cells::kShift) >> Cells::kFirstBit;
    const Floats r = x - Cells::Row(0, cell);
    Floats y = Cells::Row(5, cell);
    for (int row = 4; row > 0; --row) y = y * r + Cells::Row(row, cell);
    return std::bit_cast<Floats>(std::bit_cast<Bits>(y) | sign);
  }
#else
  static Floats Of(Floats a) { return vectors::Tanh::Of(a); }
#endif
  template <class T>
  static T One(const T& a) { return std::tanh(a); }
};

}  // namespace weft::kernels
