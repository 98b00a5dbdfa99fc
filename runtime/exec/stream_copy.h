// Copies past the cache, for results that are too large to stay in it: lines are written without being read first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace weft {

/// Copies `bytes` bytes; StreamCopiesDone must follow, on the same thread, before another thread reads them.
inline void StreamCopy(const void* from, void* to, int64_t bytes) {
#if defined(__SSE2__)
#if defined(__AVX512F__)
  using Line = __m512i;
  const auto copy = [](const std::byte* a, std::byte* b) { _mm512_stream_si512(reinterpret_cast<Line*>(b), _mm512_loadu_si512(a)); };
#elif defined(__AVX__)
  using Line = __m256i;
  const auto copy = [](const std::byte* a, std::byte* b) {
    _mm256_stream_si256(reinterpret_cast<Line*>(b), _mm256_loadu_si256(reinterpret_cast<const Line*>(a)));
  };
#else
  using Line = __m128i;
  const auto copy = [](const std::byte* a, std::byte* b) {
    _mm_stream_si128(reinterpret_cast<Line*>(b), _mm_loadu_si128(reinterpret_cast<const Line*>(a)));
  };
#endif
  constexpr int64_t kLine = sizeof(Line);
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  const int64_t head = std::min<int64_t>(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % kLine));
  std::memcpy(target, source, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kLine <= bytes; i += kLine) copy(source + i, target + i);
  std::memcpy(target + i, source + i, static_cast<size_t>(bytes - i));
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

inline void StreamCopiesDone() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace weft
