// Running sums and extremes of floats in vector registers: the loops of reduce.h that the compiler alone does not write well.
//
// Each type here holds the running values of kElements neighbours, and takes kStep elements at a time where all go to one result.
// kForRows: also for rows that are added to one another.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/simd/widen.h"

namespace weft::kernels {

/// Joins the upper half of the lanes to the lower one until one lane is left.
template <class A, int kBytes = kVecBytes, class Join>
inline A JoinAllLanes(typename VecOf<A, kBytes>::Type v, Join&& join) {
  if constexpr (kBytes > 16) {
    typename VecOf<A, kBytes / 2>::Type halves[2];
    std::memcpy(halves, &v, sizeof v);
    return JoinAllLanes<A, kBytes / 2>(join(halves[0], halves[1]), join);
  } else {
    constexpr int kCount = 16 / static_cast<int>(sizeof(A));
    std::array<A, kCount> values;
    std::memcpy(values.data(), &v, sizeof v);
    for (int n = kCount / 2; n > 0; n /= 2) {
      for (int i = 0; i < n; ++i) values[i] = join(values[i], values[i + n]);
    }
    return values[0];
  }
}

using FourDoubles = typename VecOf<double, 32>::Type;

/// Four elements as doubles, straight from memory: a register of floats would first have to be taken apart.
template <class T>
inline FourDoubles LoadFour(const T* p) {
#if defined(__AVX__) && defined(__F16C__)
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<FourDoubles>(_mm256_cvtps_pd(_mm_loadu_ps(p)));
  } else if constexpr (std::is_same_v<T, half>) {
    return static_cast<FourDoubles>(_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))));
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    const __m128i floats = _mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return static_cast<FourDoubles>(_mm256_cvtps_pd(_mm_castsi128_ps(floats)));
  } else
#endif
  {
    typename VecOf<Accumulator<T>, 4 * sizeof(Accumulator<T>)>::Type v;
    if constexpr (std::is_same_v<T, Accumulator<T>>) {
      std::memcpy(&v, p, sizeof v);
    } else {
      for (int i = 0; i < 4; ++i) v[i] = WidenOne<Accumulator<T>>(p[i]);
    }
    return __builtin_convertvector(v, FourDoubles);
  }
}

/// A one that the compiler does not know: 1 * x stays a multiplication.
inline const volatile double kUnknownOne = 1;

#if defined(__FMA__)
inline constexpr bool kMultiplies = true;
#else
inline constexpr bool kMultiplies = false;
#endif

enum class Fold { kSum, kSquares, kProduct };

/// Sums in double, sums of squares, or products. Complex numbers, which are only summed, are pairs of parts.
///
/// Conversions take the units that add, so that sums are left to those that multiply, as value + 1 * x, which rounds as value + x does. In
/// registers of four doubles: where wider ones are taken in halves, conversions to these run at half the speed; elsewhere four in a cycle
/// are more than the caches beyond the second deliver.
template <class T, class Acc, Fold kFold>
class FoldRegisters {
  static constexpr int kParts = static_cast<int>(sizeof(Acc) / sizeof(double));
  using Part = std::conditional_t<kParts == 1, T, std::conditional_t<sizeof(T) == 8, float, double>>;

 public:
  static constexpr int64_t kElements = 16 / kParts, kStep = kElements;
  static constexpr bool kForRows = kVecBytes >= 32;  // of narrower registers there are too few

  template <class Op>
  explicit FoldRegisters(const Op& op) : one_(op.one - FourDoubles{}) {
    for (FourDoubles& values : values_) values = kFold == Fold::kProduct ? one_ : FourDoubles{};
  }
  template <class Op>
  FoldRegisters(const Op& op, const Acc* from) : one_(op.one - FourDoubles{}) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) std::memcpy(&values_[i], from + 4 / kParts * i, sizeof values_[i]);
  }
  void Store(Acc* to) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) std::memcpy(static_cast<void*>(to + 4 / kParts * i), &values_[i], sizeof values_[i]);
  }
  void Add(const T* p) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) AddFour(i, p);
  }
  void Add(const T* p, const T* q) { Add(p), Add(q); }
  /// Takes as many of the n < kStep elements after the last kStep as it can, and says how many.
  int64_t AddRest(const T* p, int64_t n) {
    const int64_t fours = n * kParts / 4;
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      if (i < fours) AddFour(i, p);
    }
    return fours * 4 / kParts;
  }
  void Join(const FoldRegisters& other) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) values_[i] = Both(values_[i], other.values_[i]);
  }
  Acc Total() const {
    const FourDoubles v = Both(Both(values_[0], values_[2]), Both(values_[1], values_[3]));
    if constexpr (kParts == 2) return Acc(Both(v[0], v[2]), Both(v[1], v[3]));
    else return Both(Both(v[0], v[2]), Both(v[1], v[3]));
  }

 private:
  /// Of lanes or of one value.
  template <class V>
  static V Both(V a, V b) {
    if constexpr (kFold == Fold::kProduct) return a * b;
    else return a + b;
  }
  void AddFour(int i, const T* p) {
    const FourDoubles x = LoadFour(reinterpret_cast<const Part*>(p) + 4 * i);
    if constexpr (kFold == Fold::kSquares) values_[i] += x * x;
    else if constexpr (kFold == Fold::kSum && kMultiplies && !std::is_same_v<Part, double>) values_[i] += one_ * x;
    else values_[i] = Both(values_[i], x);
  }

  FourDoubles values_[4], one_;
};

/// In which lanes a NaN was met.
template <class A>
class NanLanes {
 public:
#if defined(__AVX512F__)
  /// One comparison finds those of both.
  void Look(Vec<A> a, Vec<A> b) {
    if constexpr (sizeof(A) == 4) met_ |= _mm512_cmp_ps_mask(std::bit_cast<__m512>(a), std::bit_cast<__m512>(b), _CMP_UNORD_Q);
    else met_ |= _mm512_cmp_pd_mask(std::bit_cast<__m512d>(a), std::bit_cast<__m512d>(b), _CMP_UNORD_Q);
  }
  bool any() const { return met_ != 0; }
  bool at(int lane) const { return (met_ >> lane & 1) != 0; }

 private:
  std::conditional_t<sizeof(A) == 4, __mmask16, __mmask8> met_ = 0;
#else
  void Look(Vec<A> a, Vec<A> b) { met_ |= (a != a) | (b != b); }
  bool any() const {
    bool any = false;
    for (int i = 0; i < kLanes<A>; ++i) any |= at(i);
    return any;
  }
  bool at(int lane) const { return met_[lane] != 0; }

 private:
  decltype(Vec<A>{} != Vec<A>{}) met_ = {};
#endif

 public:
  void Join(NanLanes other) { met_ |= other.met_; }
};

/// The greatest x * sign, the last of equal ones, or NaN where one was met.
template <class T>
class ExtremeRegisters {
  using A = Accumulator<T>;

 public:
  static constexpr int64_t kElements = kLanes<A>, kStep = 2 * kElements;
  static constexpr bool kForRows = true;

  template <class Op>
  explicit ExtremeRegisters(const Op& op) : best_(Broadcast<A>(Op::Identity())), sign_(SignOf(op.key)) {}
  template <class Op>
  ExtremeRegisters(const Op& op, const A* from) : best_(LoadVec(from)), sign_(SignOf(op.key)) {
    nan_.Look(best_, best_);
  }
  void Store(A* to) const {
    StoreVec(to, best_);
    if (nan_.any()) [[unlikely]] {
      for (int i = 0; i < kElements; ++i) to[i] = nan_.at(i) ? std::numeric_limits<A>::quiet_NaN() : to[i];
    }
  }
  /// kStep elements.
  void Add(const T* p) { Add(p, p + kElements); }
  void Add(const T* p, const T* q) {
    const Vec<A> x = Signed(LoadVec(p)), y = Signed(LoadVec(q));
    nan_.Look(x, y);
    best_ = Greater(Greater(best_, x), y);
  }
  /// As for sums; elements may count twice.
  int64_t AddRest(const T* p, int64_t n) {
    Add(p + n - kStep);
    return n;
  }
  void Join(const ExtremeRegisters& other) {
    best_ = Greater(best_, other.best_);
    nan_.Join(other.nan_);
  }
  A Total() const {
    if (nan_.any()) [[unlikely]] return std::numeric_limits<A>::quiet_NaN();
    return JoinAllLanes<A>(best_, [](auto a, auto b) { return a > b ? a : b; });
  }

 private:
#if defined(__AVX512F__)
  // A flipped bit and the processor's maximum make zeros of denormals, as the product would; the compiler would compare and choose.
  using Bits = Vec<std::conditional_t<sizeof(A) == 4, uint32_t, uint64_t>>;
  static Vec<A> SignOf(A key) { return Broadcast<A>(key > 0 ? A(0) : -A(0)); }
  Vec<A> Signed(Vec<A> x) const { return std::bit_cast<Vec<A>>(std::bit_cast<Bits>(x) ^ std::bit_cast<Bits>(sign_)); }
  static Vec<A> Greater(Vec<A> a, Vec<A> b) {
    if constexpr (sizeof(A) == 4) return static_cast<Vec<A>>(_mm512_max_ps(a, b));
    else return static_cast<Vec<A>>(_mm512_max_pd(a, b));
  }
#else
  static Vec<A> SignOf(A key) { return Broadcast<A>(key); }
  Vec<A> Signed(Vec<A> x) const { return x * sign_; }
  static Vec<A> Greater(Vec<A> a, Vec<A> b) { return a > b ? a : b; }
#endif

  Vec<A> best_, sign_;
  NanLanes<A> nan_;
};

}  // namespace weft::kernels
