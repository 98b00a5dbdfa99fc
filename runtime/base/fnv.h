// The FNV-1a hash (Fowler, Noll and Vo), in 64 bits: the same on every machine and in every process, not for what strangers choose.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

constexpr uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace weft
