#include "weft/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace weft {
namespace {

template <class T>
void AppendFloating(std::string& out, T value) {
  if (std::isnan(value)) {
    out.append("nan");
    return;
  }
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

template <class T>
void AppendInteger(std::string& out, T value) {
  char buffer[24];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

}  // namespace

void AppendText(std::string& out, std::string_view text) { out.append(text); }
void AppendSigned(std::string& out, int64_t value) { AppendInteger(out, value); }
void AppendUnsigned(std::string& out, uint64_t value) { AppendInteger(out, value); }

void AppendText(std::string& out, double value) { AppendFloating(out, value); }
void AppendText(std::string& out, float value) { AppendFloating(out, value); }

// Row by row, with one row in memory; stops as soon as the distance cannot be below `limit`. Longer names are only compared, to bound the
// time that a document can cost.
int EditDistance(std::string_view a, std::string_view b, int limit) {
  constexpr size_t kLongest = 200;
  if (a.size() > kLongest || b.size() > kLongest) return a == b ? 0 : limit;
  if (std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())) >= limit) return limit;
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    int smallest = row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
      smallest = std::min(smallest, row[j]);
    }
    if (smallest >= limit) return limit;
  }
  return std::min(row[b.size()], limit);
}

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
    unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    unsigned second = byte(i + 1);
    if (lead == 0xE0 && second < 0xA0) return false;  // overlong
    if (lead == 0xED && second > 0x9F) return false;  // surrogate
    if (lead == 0xF0 && second < 0x90) return false;  // overlong
    if (lead == 0xF4 && second > 0x8F) return false;  // beyond U+10FFFF
    i += length;
  }
  return true;
}

}  // namespace weft
