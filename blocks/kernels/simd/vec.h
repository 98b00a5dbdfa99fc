// Vec: one vector register of elements in the type they are computed in. Plain +, -, * act on all lanes at once; half and bfloat16 are
// computed as float, integers as unsigned ones, which wrap.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/base/float16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::kernels {

#if defined(__AVX512F__)
inline constexpr int kVecBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVecBytes = 32;
#else
inline constexpr int kVecBytes = 16;
#endif

/// The type that elements of T are computed in.
template <class T>
struct VecElementOf {
  using Type = Accumulator<T>;
};
template <Integer T>
struct VecElementOf<T> {
  using Type = std::make_unsigned_t<T>;
};
template <class T>
using VecElement = typename VecElementOf<T>::Type;

template <class A>
inline constexpr int kLanes = kVecBytes / static_cast<int>(sizeof(A));

template <class A, int kBytes = kVecBytes>
struct VecOf {
  typedef A Type __attribute__((vector_size(kBytes)));
};
template <class A>
using Vec = typename VecOf<A>::Type;

// Operations that compute a register of floats or doubles at a time have a static `V Of(V)`, or `V Of(V, V)`.
template <class T>
concept ChainElement = std::same_as<T, float> || std::same_as<T, double>;
template <class Op, class T>
concept MapsVec = ChainElement<T> && requires(Vec<T> v) {
  { Op::Of(v) } -> std::same_as<Vec<T>>;
};
template <class Op, class T>
concept CombinesVecs = ChainElement<T> && requires(Vec<T> v) {
  { Op::Of(v, v) } -> std::same_as<Vec<T>>;
};

// ---- one element ----

inline float ToVecElement(bfloat16 v) { return std::bit_cast<float>(static_cast<uint32_t>(std::bit_cast<uint16_t>(v)) << 16); }
template <class T>
VecElement<T> ToVecElement(T v) { return static_cast<VecElement<T>>(v); }
template <class T, class A>
T FromVecElement(A v) { return static_cast<T>(v); }

// ---- a register of them; addresses need no alignment ----

/// As many 16-bit words as a register holds floats.
using HalfVec = typename VecOf<uint16_t, kVecBytes / 2>::Type;

inline Vec<uint32_t> WidenVec(HalfVec v) {
#if defined(__AVX512F__)
  return std::bit_cast<Vec<uint32_t>>(_mm512_cvtepu16_epi32(std::bit_cast<__m256i>(v)));  // the compiler takes it in halves
#elif defined(__AVX2__)
  return std::bit_cast<Vec<uint32_t>>(_mm256_cvtepu16_epi32(std::bit_cast<__m128i>(v)));
#else
  return __builtin_convertvector(v, Vec<uint32_t>);
#endif
}
inline HalfVec NarrowVec(Vec<uint32_t> v) {
#if defined(__AVX512F__)
  return std::bit_cast<HalfVec>(_mm512_cvtepi32_epi16(std::bit_cast<__m512i>(v)));
#else
  return __builtin_convertvector(v, HalfVec);
#endif
}

template <class T>
inline Vec<VecElement<T>> LoadVec(const T* p) {
  using A = VecElement<T>;
  Vec<A> v;
  if constexpr (std::is_same_v<T, bfloat16>) {
    HalfVec bits;
    std::memcpy(&bits, p, sizeof bits);
    const Vec<uint32_t> wide = WidenVec(bits) << 16;
    std::memcpy(&v, &wide, sizeof v);
  } else if constexpr (std::is_same_v<T, half>) {
#if defined(__AVX512F__)
    v = static_cast<Vec<A>>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif defined(__F16C__)
    v = static_cast<Vec<A>>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
    for (int i = 0; i < kLanes<A>; ++i) v[i] = static_cast<float>(p[i]);
#endif
  } else {
    std::memcpy(&v, p, sizeof v);
  }
  return v;
}

#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
inline constexpr bool kRoundsInOne = true;
/// One instruction rounds to bfloat16, but takes denormals for zeros and does not give the NaN that we do. Both are rare; zeros are not, and
/// tell themselves from denormals by their bits, whatever the processor's mode.
inline __mmask16 NotInOne(Vec<float> v) {
  constexpr int kZeroDenormalNan = 0xA7;
  const __mmask16 no_normals = _mm512_fpclass_ps_mask(std::bit_cast<__m512>(v), kZeroDenormalNan);
  return _mm512_mask_test_epi32_mask(no_normals, std::bit_cast<__m512i>(v), _mm512_set1_epi32(0x007fffff));
}
inline HalfVec RoundInOne(Vec<float> v) { return std::bit_cast<HalfVec>(_mm512_cvtneps_pbh(std::bit_cast<__m512>(v))); }
#else
inline constexpr bool kRoundsInOne = false;
#endif

/// The upper halves of the nearest bfloat16, ties to even; not of NaN.
inline Vec<uint32_t> RoundToUpper(Vec<float> v) {
  const Vec<uint32_t> bits = std::bit_cast<Vec<uint32_t>>(v);
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
inline bool AnyNan(Vec<float> a, Vec<float> b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(std::bit_cast<__m256>(a), std::bit_cast<__m256>(b), _CMP_UNORD_Q)) != 0;
}
/// Those of a, then those of b, which have no NaN.
inline Vec<uint16_t> RoundPair(Vec<float> a, Vec<float> b) {
  const __m256i packed = _mm256_packus_epi32(std::bit_cast<__m256i>(RoundToUpper(a)), std::bit_cast<__m256i>(RoundToUpper(b)));
  return std::bit_cast<Vec<uint16_t>>(_mm256_permute4x64_epi64(packed, 0b11'01'10'00));  // it packs each half of a register
}
inline HalfVec LowerHalf(Vec<uint16_t> v) { return std::bit_cast<HalfVec>(_mm256_castsi256_si128(std::bit_cast<__m256i>(v))); }
inline HalfVec UpperHalf(Vec<uint16_t> v) { return std::bit_cast<HalfVec>(_mm256_extracti128_si256(std::bit_cast<__m256i>(v), 1)); }
#endif

/// Rounds to even, denormals too, whatever the processor's mode; a NaN gives the quiet one of its sign.
inline HalfVec ToBFloat16Bits(Vec<float> v) {
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
  if (NotInOne(v) == 0) [[likely]] return RoundInOne(v);
#endif
#if defined(__AVX512BW__)
  static constexpr std::array<uint16_t, 32> kUpperWords = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  const __m512i bits = std::bit_cast<__m512i>(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __mmask16 is_number = _mm512_cmp_ps_mask(std::bit_cast<__m512>(v), std::bit_cast<__m512>(v), _CMP_ORD_Q);
  const __m512i nan = _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(INT32_MIN)), _mm512_set1_epi32(0x7fc00000));
  const __m512i rounded = _mm512_mask_add_epi32(nan, is_number, bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i upper = _mm512_permutexvar_epi16(_mm512_loadu_si512(kUpperWords.data()), rounded);
  return std::bit_cast<HalfVec>(_mm512_castsi512_si256(upper));
#else
#if defined(__AVX2__) && !defined(__AVX512F__)
  if (!AnyNan(v, v)) [[likely]] return LowerHalf(RoundPair(v, v));
#endif
  const Vec<uint32_t> bits = std::bit_cast<Vec<uint32_t>>(v), nan = ((bits >> 16) & 0x8000) | 0x7fc0;
  return NarrowVec(v != v ? nan : RoundToUpper(v));
#endif
}

/// kStream: past the cache; `p` is then a multiple of the bits' size.
template <bool kStream, class Bits>
inline void StoreBits(void* p, Bits bits) {
#if defined(__AVX512F__)
  if constexpr (kStream && sizeof bits == 64) return _mm512_stream_si512(reinterpret_cast<__m512i*>(p), std::bit_cast<__m512i>(bits));
#endif
#if defined(__AVX__)
  if constexpr (kStream && sizeof bits == 32) return _mm256_stream_si256(reinterpret_cast<__m256i*>(p), std::bit_cast<__m256i>(bits));
#endif
#if defined(__x86_64__)
  if constexpr (kStream && sizeof bits == 16) return _mm_stream_si128(reinterpret_cast<__m128i*>(p), std::bit_cast<__m128i>(bits));
#endif
  std::memcpy(p, &bits, sizeof bits);
}

/// kStream: past the cache, for results too large to stay in it; `p` is then a multiple of the stored bytes, and StreamFence must follow.
template <bool kStream = false, class T>
inline void StoreVec(T* p, Vec<VecElement<T>> v) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    StoreBits<kStream>(p, ToBFloat16Bits(v));
  } else if constexpr (std::is_same_v<T, half>) {
#if defined(__AVX512F__)
    StoreBits<kStream>(p, _mm512_cvtps_ph(std::bit_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__F16C__)
    StoreBits<kStream>(p, _mm256_cvtps_ph(std::bit_cast<__m256>(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    for (int i = 0; i < kLanes<float>; ++i) p[i] = static_cast<half>(v[i]);
#endif
  } else {
    StoreBits<kStream>(p, v);
  }
}

/// The first `count` lanes of v, or all where it has no more.
template <class T, class A>
void StoreSome(T* to, Vec<A> v, int64_t count) {
  if (count >= kLanes<A>) return StoreVec(to, v);
  A some[kLanes<A>];
  StoreVec(some, v);
#pragma omp simd
  for (int k = 0; k < kLanes<A>; ++k) {  // a store with a mask, where the processor has it
    if (k < count) to[k] = static_cast<T>(some[k]);
  }
}

/// Neighbouring registers; of bfloat16, what is rare is looked for in all at once.
template <bool kStream = false, size_t kCount, class T>
inline void StoreVecs(T* p, const std::array<Vec<VecElement<T>>, kCount>& v) {
  constexpr int kN = kLanes<VecElement<T>>;
  if constexpr (kRoundsInOne && std::is_same_v<T, bfloat16>) {
    auto rare = NotInOne(v[0]);
    for (size_t k = 1; k < kCount; ++k) rare |= NotInOne(v[k]);
    if (rare == 0) [[likely]] {
      for (size_t k = 0; k < kCount; ++k) StoreBits<kStream>(p + k * kN, RoundInOne(v[k]));
      return;
    }
  }
#if defined(__AVX2__) && !defined(__AVX512F__)
  if constexpr (kCount % 2 == 0 && std::is_same_v<T, bfloat16>) {
    bool any_nan = false;
    for (size_t k = 0; k < kCount; k += 2) any_nan |= AnyNan(v[k], v[k + 1]);
    if (!any_nan) [[likely]] {
      for (size_t k = 0; k < kCount; k += 2) {
        const Vec<uint16_t> pair = RoundPair(v[k], v[k + 1]);
        if constexpr (kStream) StoreBits<true>(p + k * kN, LowerHalf(pair)), StoreBits<true>(p + (k + 1) * kN, UpperHalf(pair));
        else StoreBits<false>(p + k * kN, pair);
      }
      return;
    }
  }
#endif
  for (size_t k = 0; k < kCount; ++k) StoreVec<kStream>(p + k * kN, v[k]);
}

/// Makes streamed stores visible to other threads.
inline void StreamFence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// All lanes equal.
template <class A>
inline Vec<A> Broadcast(A value) {
  return value - Vec<A>{};  // not a sum, which would make 0 of -0
}

/// v, of which the compiler does not know where it comes from or goes to. It would take one lane alone through a function if all are equal or
/// only that one is used, and where it parts a product from its sum, round twice: other bits than the same number has among others.
template <class V>
[[gnu::always_inline]] inline V Opaque(V v) {
#if defined(__x86_64__)
  asm("" : "+x"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#endif
  return v;
}

/// v in lanes [first, end), 0 in the others, whatever they hold.
template <class A>
inline Vec<A> MaskLanes(Vec<A> v, int first, int end) {
  static constexpr auto kIota = [] {
    std::array<A, kLanes<A>> iota{};
    for (int i = 0; i < kLanes<A>; ++i) iota[i] = static_cast<A>(i);
    return iota;
  }();
  Vec<A> index;
  std::memcpy(&index, kIota.data(), sizeof index);
  return (index >= Broadcast<A>(static_cast<A>(first))) & (index < Broadcast<A>(static_cast<A>(end))) ? v : Vec<A>{};
}

/// The lanes of a register of floats, of any width, as doubles in two such registers. (The compiler takes its conversion through memory.)
template <class V>
[[gnu::always_inline]] inline auto DoublesOf(V v) {
  using Wide = typename VecOf<double, sizeof(V)>::Type;
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const __m256 lower = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
    const __m256 upper = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    return std::array<Wide, 2>{_mm512_maskz_cvtps_pd(0xFF, lower), _mm512_maskz_cvtps_pd(0xFF, upper)};
  } else
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) {
    return std::array<Wide, 2>{_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
  } else
#endif
  {
#if defined(__x86_64__)
    return std::array<Wide, 2>{_mm_cvtps_pd(v), _mm_cvtps_pd(_mm_movehl_ps(v, v))};
#else
    const auto halves = std::bit_cast<std::array<typename VecOf<float, sizeof(V) / 2>::Type, 2>>(v);
    return std::array<Wide, 2>{__builtin_convertvector(halves[0], Wide), __builtin_convertvector(halves[1], Wide)};
#endif
  }
}
/// The way back, rounding.
template <class W>
[[gnu::always_inline]] inline auto FloatsOf(const std::array<W, 2>& v) {
  using Floats = typename VecOf<float, sizeof(W)>::Type;
#if defined(__AVX512F__)
  if constexpr (sizeof(W) == 64) {
    const __m256 lower = _mm512_maskz_cvtpd_ps(0xFF, v[0]), upper = _mm512_maskz_cvtpd_ps(0xFF, v[1]);
    return Floats(__builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  } else
#endif
#if defined(__AVX__)
  if constexpr (sizeof(W) == 32) {
    return Floats(_mm256_set_m128(_mm256_cvtpd_ps(v[1]), _mm256_cvtpd_ps(v[0])));
  } else
#endif
  {
#if defined(__x86_64__)
    return Floats(_mm_movelh_ps(_mm_cvtpd_ps(v[0]), _mm_cvtpd_ps(v[1])));
#else
    using Half = typename VecOf<float, sizeof(W) / 2>::Type;
    return std::bit_cast<Floats>(std::array<Half, 2>{__builtin_convertvector(v[0], Half), __builtin_convertvector(v[1], Half)});
#endif
  }
}

/// Sums lanes in pairs down to `kWidth` of them (1 or 2): to[i] is the sum of lanes i, i + kWidth, ...
template <int kWidth, class A, int kBytes = kVecBytes>
inline void SumLanes(typename VecOf<A, kBytes>::Type v, A* to) {
  if constexpr (kBytes > 16) {
    typename VecOf<A, kBytes / 2>::Type halves[2];
    std::memcpy(halves, &v, sizeof v);
    SumLanes<kWidth, A, kBytes / 2>(halves[0] + halves[1], to);
  } else {
    constexpr int kCount = 16 / static_cast<int>(sizeof(A));
    A sums[kCount];
    std::memcpy(sums, &v, sizeof v);
    for (int n = kCount / 2; n >= kWidth; n /= 2) {
      for (int i = 0; i < n; ++i) sums[i] = static_cast<A>(sums[i] + sums[i + n]);
    }
    for (int i = 0; i < kWidth; ++i) to[i] = sums[i];
  }
}

}  // namespace weft::kernels
