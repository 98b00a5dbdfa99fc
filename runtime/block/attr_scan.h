// Scans attribute text: where a value ends, the elements of a list, the contents of a quoted string. Linear in the text, without recursion.
// Views refer to the scanned text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/base/status.h"

namespace weft::internal {

/// Without spaces, tabs and line breaks at both ends.
std::string_view TrimSpace(std::string_view text);
inline bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
inline bool IsNameChar(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Text for a message: in single quotes, shortened to about 60 bytes.
std::string FoundText(std::string_view text);

/// Tracks, character by character, whether a position is inside braces, brackets or quotes.
class NestingScanner {
 public:
  /// Takes the next character. False where it closes what is not open, or nests deeper than kMaxDepth.
  bool Take(char c);
  /// Whether nothing is open, so that a separator here separates.
  bool top() const { return depth_ == 0 && !quoted_; }
  bool quoted() const { return quoted_; }
  int depth() const { return depth_; }
  /// The fault where Take returned false, or where the text ended with something open; else ok.
  Status Fault() const;

 private:
  static constexpr int kMaxDepth = 8;
  char open_[kMaxDepth] = {};
  int depth_ = 0;
  bool quoted_ = false, escaped_ = false;
  char unexpected_ = 0;
};

/// Whether the text is one pair of braces, from its first character to its last.
bool IsBraced(std::string_view text);

/// Splits at ',' and ';' outside braces, brackets and quotes; elements are trimmed. Empty text has no elements. invalid_argument for an
/// empty element or an open brace or quote.
Result<std::vector<std::string_view>> SplitList(std::string_view text);

/// Reads a JSON string with its quotes, the inverse of Quote. Bytes that need no escape are kept as they are, also where they are not UTF-8.
Result<std::string> Unquote(std::string_view text);

}  // namespace weft::internal
