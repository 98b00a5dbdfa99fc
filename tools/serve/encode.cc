// Elements of tensors as JSON and .npy, and their statistics.
#include "tools/serve/encode.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "tools/serve/elements.h"

namespace weft::serve {
namespace {

constexpr int64_t kExact = int64_t{1} << 53;

template <class T>
Json ElementJson(T value) {
  if constexpr (std::is_same_v<T, HalfBits>) return NumberJson(FloatOfHalf(value.bits));
  else if constexpr (std::is_same_v<T, Bfloat16Bits>) return NumberJson(FloatOfBfloat16(value.bits));
  else if constexpr (std::is_same_v<T, bool>) return value;
  else if constexpr (std::is_same_v<T, float>) {
    // The shortest text that reads back as this float, not that of the double next to it.
    if (!std::isfinite(value)) return NumberJson(value);
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    double wide = 0;
    std::from_chars(text, end, wide);
    return wide;
  } else if constexpr (std::is_floating_point_v<T>) return NumberJson(value);
  else if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) == 8) {
      if (value > static_cast<T>(kExact) || (std::is_signed_v<T> && value < static_cast<T>(-kExact))) return std::to_string(value);
    }
    return value;
  } else return Json::array({ElementJson(value.real()), ElementJson(value.imag())});
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[(group >> (18 - 6 * k)) & 63u] : '=';
  }
  return text;
}

Json StringJson(std::string_view bytes) {
  std::string text(bytes);
  try {
    (void)Json(text).dump();
    return text;
  } catch (const Json::exception&) {
    return {{"base64", Base64(text)}};
  }
}

void Take(JsonRoom& room, size_t bytes) {
  if (bytes > room.bytes) throw ApiError(413, "resource_exhausted", "the values are too long for one answer of JSON", "ask for a slice, or for fewer values at once");
  room.bytes -= bytes;
}

template <class T>
double RealOf(T value) {
  if constexpr (std::is_same_v<T, HalfBits>) return FloatOfHalf(value.bits);
  else if constexpr (std::is_same_v<T, Bfloat16Bits>) return FloatOfBfloat16(value.bits);
  else if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
  else return std::abs(std::complex<double>(value));
}

template <class T>
void Measure(const Tensor& tensor, int64_t count, Statistics& all) {
  double m2 = 0;
  ForEachOffset(tensor, count, [&](int64_t offset) {
    const double value = RealOf(Load<T>(tensor.data + offset));
    if (std::isnan(value)) ++all.nan;
    else if (std::isinf(value)) ++all.inf;
    else {
      if (value == 0) ++all.zero;
      all.min = all.finite == 0 ? value : std::min(all.min, value);
      all.max = all.finite == 0 ? value : std::max(all.max, value);
      ++all.finite;
      const double step = value - all.mean;
      all.mean += step / static_cast<double>(all.finite);
      m2 += step * (value - all.mean);
    }
  });
  all.std = all.finite > 0 ? std::sqrt(m2 / static_cast<double>(all.finite)) : 0;
}

template <class T>
void Histogram(const Tensor& tensor, int64_t count, Statistics& all) {
  const double width = all.max - all.min;
  const double bins = static_cast<double>(all.histogram.size());
  ForEachOffset(tensor, count, [&](int64_t offset) {
    const double value = RealOf(Load<T>(tensor.data + offset));
    if (!std::isfinite(value)) return;
    // Halves keep the difference of two huge numbers finite.
    const double share = width == 0 ? 0 : std::isfinite(width) ? (value - all.min) / width : (value / 2 - all.min / 2) / (all.max / 2 - all.min / 2);
    ++all.histogram[static_cast<size_t>(std::min(bins - 1, std::max(0.0, share * bins)))];
  });
}

}  // namespace

Json NumberJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

std::string_view CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && most - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80) --end;
  return text.substr(0, end);
}

JsonElements ElementsJson(const Tensor& tensor, int64_t most, JsonRoom& room) {
  JsonElements elements;
  Json& values = elements.list;
  const int64_t count = std::min(tensor.count(), most);
  if (tensor.strings != nullptr) {
    ForEachOffset(tensor, count, [&](int64_t offset) {
      weft_bytes bytes{nullptr, 0};
      weft_view_string(tensor.strings, tensor.first_string + offset, &bytes);
      const std::string_view whole(bytes.data == nullptr ? "" : bytes.data, bytes.size), text = CutText(whole, room.string_bytes);
      elements.cut = elements.cut || text.size() < whole.size();
      Take(room, text.size() + sizeof(Json));
      values.push_back(StringJson(text));
    });
    return elements;
  }
  if (tensor.data == nullptr) return elements;
  Take(room, static_cast<size_t>(count) * sizeof(Json));
  WithType(tensor.dtype, [&]<class T>(T) {
    ForEachOffset(tensor, count, [&](int64_t offset) {
      if constexpr (std::is_same_v<T, bool>) values.push_back(tensor.data[offset] != 0);
      else values.push_back(ElementJson(Load<T>(tensor.data + offset)));
    });
  });
  return elements;
}

bool HasNumbers(int32_t dtype) {
  return WithType(dtype, [](auto) {});
}

Statistics StatisticsOf(const Tensor& tensor, int64_t bins) {
  Statistics all;
  all.count = tensor.count();
  if (tensor.data == nullptr || all.count == 0) return all;
  WithType(tensor.dtype, [&]<class T>(T) {
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    Measure<Element>(tensor, all.count, all);
    if (bins > 0 && all.finite > 0) {
      all.histogram.assign(static_cast<size_t>(bins), 0);
      Histogram<Element>(tensor, all.count, all);
    }
  });
  return all;
}

}  // namespace weft::serve
