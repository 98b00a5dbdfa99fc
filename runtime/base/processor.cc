#include "weft/base/processor.h"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft {
namespace {

#if defined(__x86_64__)
/// AMD's and Hygon's processors: a few neighbouring cores share a last level, write through it at full speed and keep in it only what the
/// second level has let go, so that their sizes add up. They describe their caches in leaf 0x8000001D (AMD64 Architecture Programmer's
/// Manual, volume 3, E.4.15).
int64_t BytesOfCaches() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  char maker[12];
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return 0;
  std::memcpy(maker, &b, 4), std::memcpy(maker + 4, &d, 4), std::memcpy(maker + 8, &c, 4);
  if (std::memcmp(maker, "AuthenticAMD", 12) != 0 && std::memcmp(maker, "HygonGenuine", 12) != 0) return 0;
  constexpr unsigned kCaches = 0x8000001D, kMost = 8;
  int64_t bytes = 0;
  bool last = false;
  for (unsigned i = 0; i < kMost && __get_cpuid_count(kCaches, i, &a, &b, &c, &d) != 0 && (a & 0x1F) != 0; ++i) {
    const unsigned level = a >> 5 & 7, line = (b & 0xFFF) + 1, parts = (b >> 12 & 0x3FF) + 1, ways = (b >> 22) + 1;
    if (level == 2 || level == 3) bytes += (int64_t{c} + 1) * line * parts * ways;
    last |= level == 3;
  }
  return last ? bytes : 0;
}
#else
int64_t BytesOfCaches() { return 0; }
#endif

}  // namespace

int64_t FastCacheBytes() {
  static const int64_t bytes = BytesOfCaches();
  return bytes;
}

}  // namespace weft
