// Text: messages by concatenation, Cat("needs rank ", 2, ", found ", shape); suggestions for misspelt names; UTF-8.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

// Not inline where they have a body of any size, since every message of the engine calls them.
void AppendText(std::string& out, std::string_view text);
inline void AppendText(std::string& out, const char* text) { AppendText(out, std::string_view(text)); }
inline void AppendText(std::string& out, char c) { AppendText(out, std::string_view(&c, 1)); }
inline void AppendText(std::string& out, bool value) { AppendText(out, std::string_view(value ? "true" : "false")); }
void AppendSigned(std::string& out, int64_t value);
void AppendUnsigned(std::string& out, uint64_t value);
void AppendText(std::string& out, double value);  // shortest text that reads back as the same double
void AppendText(std::string& out, float value);

template <std::integral T>
void AppendText(std::string& out, T value) {
  if constexpr (std::is_signed_v<T>) AppendSigned(out, value);
  else AppendUnsigned(out, value);
}

/// Anything with a `ToString()` found by argument-dependent look-up (DType, Shape, Status...) can be part of a message.
template <class T>
  requires requires(const T& value) { { ToString(value) } -> std::convertible_to<std::string>; }
void AppendText(std::string& out, const T& value) {
  AppendText(out, std::string_view(ToString(value)));
}

template <class... Parts>
std::string Cat(const Parts&... parts) {
  std::string out;
  (AppendText(out, parts), ...);
  return out;
}

/// Edit distance in which two letters that changed places count once, or `limit` where it is not below that.
int EditDistance(std::string_view a, std::string_view b, int limit);

/// The candidate closest to `word` by edit distance, or an empty view where none is close enough to be a typing mistake.
/// `candidates` is any range of string-like values, which the result refers to.
template <class Range>
std::string_view ClosestName(std::string_view word, const Range& candidates) {
  std::string_view best;
  int best_distance = static_cast<int>(word.size()) / 3 + 2;
  for (const auto& candidate : candidates) {
    int distance = EditDistance(word, candidate, best_distance);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

/// "did you mean 'x'?" for the closest candidate, or an empty string.
template <class Range>
std::string DidYouMean(std::string_view word, const Range& candidates) {
  std::string_view best = ClosestName(word, candidates);
  return best.empty() ? std::string() : Cat("did you mean '", best, "'?");
}

/// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view text);

/// The first `most` bytes of a text, or up to three fewer, so that no UTF-8 sequence is cut.
std::string_view BeginningOf(std::string_view text, size_t most);

/// The text in double quotes, on one line: quotes, backslashes and control characters are escaped as in JSON; other bytes stay as they are,
/// also where they are not UTF-8.
std::string Quote(std::string_view text);

}  // namespace weft
