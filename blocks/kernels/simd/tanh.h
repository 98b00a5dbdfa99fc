// The hyperbolic tangent of whole registers of floats or doubles of any width.
#pragma once

#include "blocks/kernels/simd/exp.h"

namespace weft::kernels {

#if defined(__AVX512F__)
/// Where a register of 16 floats looks up 32 numbers by one instruction: a tenth quicker than the quotient below, right to 1.2 units, and
/// never decreasing.
///
/// Polynomials of the fourth degree, each for a cell of |x|: where |x| + kShift lies in one eighth between two powers of 2, so that cells
/// are narrow near 0, where tanh bends. The rows: a place in the cell whose tanh is all but a float, that tanh, and the factors of the
/// distance from there, its square and its cube. The factor of the fourth power is the bfloat16 that the last 16 bits of the place are: a
/// row less to look up. The first cell, in column 18, begins with 0 and tanh(x) = x.
struct TanhCells {
  static constexpr float kShift = 0.66f, kMost = 9.33f;  // tanh(kMost) is nearly 1
  static constexpr int kFirstBit = 20;                   // of those that tell the cell
  alignas(64) static constexpr float kRows[5][32] = {
    {1.4979486f, 1.7088857f, 1.9588805f, 2.2771196f, 2.5427275f, 2.7614558f, 2.9489367f, 3.292666f, 3.6051347f, 3.964464f, 4.616341f,
     5.0537543f, 5.6786675f, 6.0848265f, 6.584743f, 7.0534096f, 7.7720175f, 8.668688f, 0.0f, 0.051327776f, 0.11632843f, 0.19066584f,
     0.23558831f, 0.3246928f, 0.4243025f, 0.5634482f, 0.6884464f, 0.7782856f, 0.90718603f, 1.0331022f, 1.1931854f, 1.287001f},
    {0.9047769f, 0.9365107f, 0.9610043f, 0.97917414f, 0.9877039f, 0.9920434f, 0.9945245f, 0.99724287f, 0.9985232f, 0.9992799f, 0.99980444f,
     0.99991846f, 0.99997663f, 0.9999896f, 0.9999962f, 0.9999985f, 0.99999964f, 0.99999994f, 0.0f, 0.05128275f, 0.11580653f, 0.1883885f,
     0.23132442f, 0.31374398f, 0.40054885f, 0.51053137f, 0.596983f, 0.6517216f, 0.7197789f, 0.7751495f, 0.8315642f, 0.8583391f},
    {0.18137902f, 0.12294751f, 0.07647036f, 0.041218232f, 0.024441237f, 0.015849954f, 0.010920967f, 0.0055067395f, 0.0029510413f,
     0.001439806f, 0.00039103115f, 0.00016305994f, 4.673617e-05f, 2.0739937e-05f, 7.631717e-06f, 2.9891446e-06f, 7.1016274e-07f,
     1.1817334e-07f, 1.0f, 0.99737f, 0.9865888f, 0.9645097f, 0.94648904f, 0.9015647f, 0.8395607f, 0.73935753f, 0.6436109f, 0.57525927f,
     0.48191857f, 0.39914337f, 0.30850086f, 0.26325408f},
    {-0.16411246f, -0.11514488f, -0.07349068f, -0.040354308f, -0.02414f, -0.015720662f, -0.010862065f, -0.005491594f, -0.0029450012f,
     -0.0014401076f, -0.00039069547f, -0.00016320965f, -4.6691002e-05f, -2.0736203e-05f, -7.657779e-06f, -3.141454e-06f, -6.9460503e-07f,
     -1.12798915e-07f, -1.900727e-06f, -0.051149014f, -0.11425379f, -0.18170145f, -0.21894851f, -0.28285974f, -0.33628336f, -0.37746823f,
     -0.3842276f, -0.37490907f, -0.34687746f, -0.30939847f, -0.25653502f, -0.22596301f},
    {0.0879673f, 0.066909455f, 0.045224085f, 0.025725214f, 0.015586666f, 0.010319485f, 0.007186444f, 0.0036072726f, 0.0019879963f,
     0.0009473634f, 0.00026433243f, 0.000110228626f, 3.0750936e-05f, 1.4019886e-05f, 5.1597167e-06f, 2.1894175e-06f, 4.816771e-07f,
     7.2328795e-08f, -0.333171f, -0.3296638f, -0.31546107f, -0.287135f, -0.2649289f, -0.21178375f, -0.14522184f, -0.053459924f, 0.01541305f,
     0.05226459f, 0.08877561f, 0.10659537f, 0.11083562f, 0.10614706f}};

  /// Row `row` for the cell that the last five bits of each lane tell.
  static Floats Row(int row, Vec<int32_t> cell) {
    return _mm512_permutex2var_ps(_mm512_load_ps(kRows[row]), std::bit_cast<__m512i>(cell), _mm512_load_ps(kRows[row] + 16));
  }
};
#endif

/// Odd, and never beyond 1.
struct Tanh {
  template <class V>
  [[gnu::always_inline]] static V Of(V a) {
    using T = parts::ElementOf<V>;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<V, Vec<float>>) return FromCells(a);
#endif
    if constexpr (sizeof(T) == 4) {
      // By half the argument, 2 t / (1 + t^2), which forgives t's errors where tanh is near 1.
      using Of = Coefficients<T>;
      const V x = parts::AtMost(parts::Abs(a), T(9.2)), z = x * x;  // tanh of that is 1
      const V above = x * parts::Polynomial(z, Of::kTanhAbove), below = parts::Polynomial(z, Of::kTanhBelow);
      const V y = above * (below + below) / parts::MulAdd(above, above, below * below);
      return parts::TurnSign(parts::AtMost(y, 1), a);
    } else {
      const V quarter = parts::QuarterExpm1(2 * parts::AtMost(parts::Abs(a), T(20)));
      return parts::IsSmall(a) ? a : parts::TurnSign(quarter / (quarter + T(0.5)), a);
    }
  }
  static auto One(const auto& a) { return std::tanh(a); }

#if defined(__AVX512F__)
 private:
  [[gnu::always_inline]] static Floats FromCells(Floats a) {
    using Cells = TanhCells;
    const Floats x = parts::AtMost(parts::Abs(a), Cells::kMost);
    const Vec<int32_t> cell = std::bit_cast<Vec<int32_t>>(x + Cells::kShift) >> Cells::kFirstBit;
    const Floats place = Cells::Row(0, cell), r = x - place;
    Floats y = parts::FromBits<Floats>(parts::Bits(place) << 16);
    for (int row = 4; row > 0; --row) y = parts::MulAdd(y, r, Cells::Row(row, cell));
    return parts::TurnSign(y, a);
  }
#endif
};

}  // namespace weft::kernels
