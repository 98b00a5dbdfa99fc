// The tokens of JSON as protobuf's reader takes them: besides JSON also strings in single quotes, keys that are bare words, a comma after the
// last element, and control characters in strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks::json {

enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kTrue, kFalse, kNull, kNone };

/// Reads one text from its begin to its end; the text must be UTF-8 and outlive the lexer. Functions that return a bool are false at a fault,
/// which fault() tells, or where the run is to end.
class Lexer {
 public:
  Lexer(std::string_view text, kernels::StopCheck& stop) : rest_(text), text_(text), stop_(stop) {}

  /// What the next value is, by its first character; kNone at the end, or where none can be.
  Kind Peek();
  bool SkipNull() { return SkipWord("null"); }
  /// Whether nothing but blanks is left.
  bool at_end();

  /// visit(key), which takes a value and returns a bool, for each entry of an object.
  bool VisitObject(const auto& visit) {
    return VisitItems('{', '}', [&] {
      std::string key;
      return TakeKey(key) && Expect(':') && visit(std::string_view(key));
    });
  }
  /// visit(), which takes a value and returns a bool, for each element of an array.
  bool VisitArray(const auto& visit) { return VisitItems('[', ']', visit); }

  bool TakeString(std::string& value);
  /// The text of a number.
  bool TakeNumber(std::string_view& number);

  /// Makes the fault known, if it is the first; false.
  bool Fail(std::string_view fault);
  /// "needs a string, found otherwise at byte 17".
  const std::string& fault() const { return fault_; }

 private:
  static constexpr int kDeepest = 100;  // objects and arrays inside of one another

  bool VisitItems(char open, char close, const auto& item) {
    if (!Expect(open)) return false;
    if (++depth_ > kDeepest) return Fail("objects and arrays at most 100 deep");
    for (bool comma = true; !SkipIf(close); comma = SkipIf(',')) {
      if (stop_() || (!comma && !Fail("a comma or an end"))) return false;
      if (!item()) return false;
    }
    --depth_;
    return true;
  }
  void SkipBlanks();
  bool SkipIf(char c);
  bool SkipWord(std::string_view word);
  bool Expect(char c);
  bool TakeKey(std::string& key);
  bool TakeEscape(std::string& value);
  bool TakeHex(uint32_t& code);

  std::string_view rest_;
  const std::string_view text_;
  kernels::StopCheck& stop_;
  int depth_ = 0;
  std::string fault_;
};

}  // namespace weft::blocks::json
