// Elements of tensors as C++ sees them.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "weft.h"

namespace weft::serve {

inline float FloatOfBfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline float FloatOfHalf(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float small = std::ldexp(static_cast<float>(fraction), -24);
  return sign != 0 ? -small : small;
}

inline uint16_t Bfloat16Of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// The nearest half; ties to even.
inline uint16_t HalfOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u);
  const float size = std::fabs(value);
  if (size >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00u);
  if (size < std::ldexp(1.0f, -14)) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(size, 24))));
  const uint32_t magnitude = bits & 0x7fffffffu;
  return static_cast<uint16_t>(sign | ((magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
}

template <class T>
T Load(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

struct HalfBits {
  uint16_t bits;
};
struct Bfloat16Bits {
  uint16_t bits;
};

/// Calls `call` with a value of the C++ type of the element type: float, ..., bool, std::complex<float>, HalfBits, Bfloat16Bits. False for
/// strings, resources and unknown types.
template <class F>
bool WithType(int32_t dtype, F&& call) {
  switch (dtype) {
    case WEFT_FLOAT: call(float()); return true;
    case WEFT_DOUBLE: call(double()); return true;
    case WEFT_INT32:
    case WEFT_QINT32: call(int32_t()); return true;
    case WEFT_UINT8:
    case WEFT_QUINT8: call(uint8_t()); return true;
    case WEFT_INT16:
    case WEFT_QINT16: call(int16_t()); return true;
    case WEFT_INT8:
    case WEFT_QINT8: call(int8_t()); return true;
    case WEFT_UINT16:
    case WEFT_QUINT16: call(uint16_t()); return true;
    case WEFT_COMPLEX64: call(std::complex<float>()); return true;
    case WEFT_COMPLEX128: call(std::complex<double>()); return true;
    case WEFT_INT64: call(int64_t()); return true;
    case WEFT_UINT32: call(uint32_t()); return true;
    case WEFT_UINT64: call(uint64_t()); return true;
    case WEFT_BOOL: call(bool()); return true;
    case WEFT_HALF: call(HalfBits()); return true;
    case WEFT_BFLOAT16: call(Bfloat16Bits()); return true;
    default: return false;
  }
}

}  // namespace weft::serve
