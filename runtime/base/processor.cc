#include "weft/base/processor.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft {
namespace {

#if defined(__x86_64__)
/// On AMD's and Hygon's processors a few cores share a third level that is a victim cache of their second levels, so that the sizes add up,
/// and that writes at full speed. CPUID leaf 0x8000001D describes it (AMD64 Architecture Programmer's Manual, volume 3, E.4.15).
int64_t ReadCacheBytes() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  char vendor[12];
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return 0;
  std::memcpy(vendor, &b, 4), std::memcpy(vendor + 4, &d, 4), std::memcpy(vendor + 8, &c, 4);
  if (std::memcmp(vendor, "AuthenticAMD", 12) != 0 && std::memcmp(vendor, "HygonGenuine", 12) != 0) return 0;
  constexpr unsigned kCaches = 0x8000001D, kMaxCaches = 8;
  int64_t bytes = 0;
  bool last = false;
  for (unsigned i = 0; i < kMaxCaches && __get_cpuid_count(kCaches, i, &a, &b, &c, &d) != 0 && (a & 0x1F) != 0; ++i) {
    const unsigned level = a >> 5 & 7, line = (b & 0xFFF) + 1, parts = (b >> 12 & 0x3FF) + 1, ways = (b >> 22) + 1;
    if (level == 2 || level == 3) bytes += (int64_t{c} + 1) * line * parts * ways;
    last |= level == 3;
  }
  return last ? bytes : 0;
}
#else
int64_t ReadCacheBytes() { return 0; }
#endif

}  // namespace

int64_t FastCacheBytes() {
  static const int64_t bytes = ReadCacheBytes();
  return bytes;
}

int64_t FirstCacheBytes() {
  static const int64_t bytes = std::max<int64_t>(sysconf(_SC_LEVEL1_DCACHE_SIZE), 0);
  return bytes;
}

}  // namespace weft
