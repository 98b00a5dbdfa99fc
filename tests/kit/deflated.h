// Bytes compressed by zlib.
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::kit {

inline constexpr int kZlibBits = 15, kGzipBits = 31;

/// As a ZLIB or a GZIP file, by the window bits.
inline std::string Deflated(std::string_view plain, int window_bits) {
  z_stream state{};
  if (deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("no zlib");
  std::string packed(deflateBound(&state, static_cast<uLong>(plain.size())) + 32, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  state.avail_in = static_cast<uInt>(plain.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  const int end = deflate(&state, Z_FINISH);
  packed.resize(state.total_out);
  deflateEnd(&state);
  if (end != Z_STREAM_END) throw std::runtime_error("zlib did not end");
  return packed;
}

}  // namespace weft::kit
