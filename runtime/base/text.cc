#include "weft/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

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

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

void AppendText(std::string& out, std::string_view text) { out.append(text); }
void AppendSigned(std::string& out, int64_t value) { AppendInteger(out, value); }
void AppendUnsigned(std::string& out, uint64_t value) { AppendInteger(out, value); }

void AppendText(std::string& out, double value) { AppendFloating(out, value); }
void AppendText(std::string& out, float value) { AppendFloating(out, value); }

// Two neighbouring letters that changed places count once, and a letter in the other case counts as the same: both are the commonest mistakes
// of typing. Row by row, with three rows in memory; stops as soon as the distance cannot be below `limit`. Longer names are only compared, to
// bound the time that a document can cost.
int EditDistance(std::string_view a, std::string_view b, int limit) {
  constexpr size_t kLongest = 200;
  if (a.size() > kLongest || b.size() > kLongest) return a == b ? 0 : limit;
  if (std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())) >= limit) return limit;
  std::array<std::array<int, kLongest + 1>, 3> rows;  // of the last prefixes of `a`: that of i is row i % 3
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(j);
  int before = 0;  // the smallest of the row before
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto &last = rows[(i + 2) % 3], &second_last = rows[(i + 1) % 3];
    int smallest = row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1)});
      const bool crossed = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]);
      if (crossed) row[j] = std::min(row[j], second_last[j - 2] + 1);
      smallest = std::min(smallest, row[j]);
    }
    if (smallest >= limit && before >= limit) return limit;  // letters that changed places lead past one row
    before = smallest;
  }
  return std::min(rows[a.size() % 3][b.size()], limit);
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

std::string_view BeginningOf(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t end = most;
  while (end > 0 && most - end < 3 && continues(end)) --end;
  return text.substr(0, continues(end) ? most : end);  // what has more of them is no UTF-8
}

std::string Quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace weft
