#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/base/call_limit.h"
#include "runtime/page/elements.h"
#include "runtime/page/unicode.h"
#include "weft/page/literal.h"

namespace weft {
namespace {

using page::ElementStore;
using page::Number;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool EqualsWord(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) { return Lower(a) == b; });
}

// A token for a message, shortened.
std::string Shown(std::string_view token) { return token.size() <= 40 ? Cat("'", token, "'") : Cat("'", token.substr(0, 40), "...'"); }

std::optional<bool> BoolWord(std::string_view token) {
  if (EqualsWord(token, "true")) return true;
  if (EqualsWord(token, "false")) return false;
  return std::nullopt;
}

// inf and nan as C, Python and Microsoft's library print them, without a sign.
std::optional<double> SpecialNumber(std::string_view token) {
  if (EqualsWord(token, "inf") || EqualsWord(token, "infinity") || EqualsWord(token, "1.#inf"))
    return std::numeric_limits<double>::infinity();
  if (EqualsWord(token, "nan") || EqualsWord(token, "nan(ind)") || EqualsWord(token, "1.#ind") || EqualsWord(token, "1.#qnan")) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::nullopt;
}

DType TypeOfText(std::string_view text) {
  if (text.find('"') != text.npos) return DType::kString;
  bool boolean = false, complex = false, single = false, real = false;
  for (size_t i = 0; i < text.size();) {
    CallLimit::CheckAt(i);
    if (!std::isalpha(static_cast<unsigned char>(text[i]))) {
      real |= text[i++] == '.';
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i]))) ++i;
    std::string_view word = text.substr(begin, i - begin);
    boolean |= BoolWord(word).has_value();
    if (word.size() > 3 && Lower(word.back()) == 'j') {  // infj
      complex = true;
      word.remove_suffix(1);
    }
    if (SpecialNumber(word) || EqualsWord(word, "ind") || EqualsWord(word, "qnan")) {
      real = true;
      continue;
    }
    for (const char c : word) {
      complex |= c == 'j';
      single |= Lower(c) == 'f';
      real |= Lower(c) == 'e';
    }
  }
  return boolean ? DType::kBool : complex ? DType::kComplex128 : single ? DType::kFloat : real ? DType::kDouble : DType::kInt32;
}

// The value of a number outside the range of double: 0 where it is too small, infinity where it is too large.
double BeyondDouble(std::string_view digits) {
  const size_t exponent = digits.find_first_of("eE");
  const bool small =
      exponent != digits.npos ? digits.substr(exponent + 1).starts_with('-') : digits.starts_with('0') || digits.starts_with('.');
  return small ? 0.0 : std::numeric_limits<double>::infinity();
}

// One number, with or without sign and trailing f.
Result<Number> ParseNumber(std::string_view token) {
  const std::string_view written = token;
  const auto refuse = [&] { return InvalidArgument("needs a number, found ", Shown(written)); };
  if (token.starts_with('+')) token.remove_prefix(1);
  const bool minus = token.starts_with('-');
  std::string_view digits = token.substr(minus ? 1 : 0);
  Number number;
  if (const auto special = SpecialNumber(digits)) {
    number.real = minus ? -*special : *special;
    return number;
  }
  if (digits.empty() || !(std::isdigit(static_cast<unsigned char>(digits[0])) || digits[0] == '.')) return refuse();
  const char* end = token.data() + token.size();
  if (minus && digits != "0") {
    const auto [stop, error] = std::from_chars(token.data(), end, number.negative);
    number.kind = Number::Kind::kNegative;
    if (error == std::errc() && stop == end) return number;
  } else if (!minus) {
    const auto [stop, error] = std::from_chars(token.data(), end, number.natural);
    number.kind = Number::Kind::kUnsigned;
    if (error == std::errc() && stop == end) return number;
  }
  number = {};
  if (Lower(token.back()) == 'f') token.remove_suffix(1);
  end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, number.real);
  if (stop != end || error == std::errc::invalid_argument) return refuse();
  if (error == std::errc::result_out_of_range) {
    number.real = BeyondDouble(digits);
    if (std::isinf(number.real)) return OutOfRange("needs a number that a double can hold, found ", Shown(written));
    if (minus) number.real = -number.real;
  } else {
    number.text = token;
  }
  return number;
}

// 1+2j, 2j, -j, 1, (1+2j).
Status AddComplexToken(ElementStore& store, std::string_view token) {
  if (token.starts_with('(') && token.ends_with(')')) token = Trim(token.substr(1, token.size() - 2));
  Number real{.kind = Number::Kind::kUnsigned};
  Number imaginary{.kind = Number::Kind::kUnsigned};
  std::string_view real_text = token, imaginary_text;
  if (!token.empty() && Lower(token.back()) == 'j') {
    token.remove_suffix(1);
    size_t split = token.size();
    while (split > 0 && !((token[split - 1] == '+' || token[split - 1] == '-') && (split == 1 || Lower(token[split - 2]) != 'e'))) --split;
    split = split > 0 ? split - 1 : 0;
    real_text = Trim(token.substr(0, split));
    imaginary_text = token.substr(split);
    if (imaginary_text.empty() || imaginary_text == "+") imaginary_text = "1";
    if (imaginary_text == "-") imaginary_text = "-1";
    WEFT_ASSIGN_OR_RETURN(imaginary, ParseNumber(imaginary_text));
  }
  if (!real_text.empty() || imaginary_text.empty()) {
    WEFT_ASSIGN_OR_RETURN(real, ParseNumber(real_text));
  }
  return store.AddComplex(real, imaginary);
}

class TextReader {
 public:
  TextReader(std::string_view text, DType dtype) : text_(text), store_(dtype) {}

  Result<Tensor> Read(const std::optional<Shape>& shape) {
    Skip();
    const bool braces = Peek() == '{';
    std::vector<int64_t> dims;
    WEFT_RETURN_IF_ERROR(braces ? Braces(dims) : Flat(dims));
    if (shape) return store_.Take(*shape);
    WEFT_ASSIGN_OR_RETURN(Shape found, Shape::Make(dims));
    return store_.Take(found);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  void Skip() {
    while (!AtEnd() && IsSpace(text_[at_])) CallLimit::CheckAt(++at_);
  }
  Status At(Status status, size_t position) const { return std::move(status).Append(Cat(" at character ", position + 1)); }
  Status Needs(std::string_view what) const {
    return AtEnd() ? InvalidArgument("needs ", what, ", found the end of the text")
                   : At(InvalidArgument("needs ", what, ", found '", text_.substr(at_, 1), "'"), at_);
  }

  // Reads one element. A token without quotes ends at any of `separators`.
  Status Element(std::string_view separators) {
    CallLimit::Check();
    Skip();
    const size_t begin = at_;
    if (Peek() == '"' && store_.dtype() == DType::kString) {
      std::string value;
      WEFT_RETURN_IF_ERROR(Quoted(value));
      return store_.AddString(std::move(value));
    }
    at_ = std::min(text_.find_first_of(separators, at_), text_.size());
    const std::string_view token = Trim(text_.substr(begin, at_ - begin));
    if (store_.dtype() == DType::kString) return store_.AddString(std::string(token));
    if (token.empty()) return Needs("a value");
    Status status = AddToken(token);
    return status.ok() ? Status() : At(std::move(status), begin);
  }

  Status AddToken(std::string_view token) {
    if (store_.dtype() == DType::kBool) {
      if (const auto value = BoolWord(token)) return store_.AddBool(*value);
      if (token == "1" || token == "0") return store_.AddBool(token == "1");
      return InvalidArgument("needs true or false (DT_BOOL), found ", Shown(token));
    }
    if (IsComplex(store_.dtype())) return AddComplexToken(store_, token);
    Result<Number> number = ParseNumber(token);
    if (number.ok()) return store_.AddNumber(*number);
    const bool word = std::isalpha(static_cast<unsigned char>(token[0])) && !BoolWord(token);
    return std::move(number).status().WithHint(word ? "a string stands in double quotes" : "");
  }

  Status Quoted(std::string& value) {
    const size_t begin = at_++;
    for (; !AtEnd() && Peek() != '"'; ++at_) {
      if (Peek() == '\\') WEFT_RETURN_IF_ERROR(Escape(value));
      else value += Peek();
    }
    if (AtEnd()) return At(InvalidArgument("needs a closing quote for the one"), begin);
    ++at_;
    return {};
  }

  // Reads an escape; leaves at_ on its last character.
  Status Escape(std::string& value) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    const size_t begin = at_++;
    if (const size_t i = AtEnd() ? kFrom.npos : kFrom.find(Peek()); i != kFrom.npos) {
      value += kTo[i];
      return {};
    }
    uint32_t c = 0, low = 0;
    bool good = Hex(c);
    if (good && c >= 0xD800 && c < 0xDC00) {
      good = text_.substr(at_ + 1, 2) == "\\u" && (at_ += 2, Hex(low)) && low >= 0xDC00 && low < 0xE000;
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    } else {
      good = good && !(c >= 0xDC00 && c < 0xE000);
    }
    if (!good)
      return At(InvalidArgument("needs one of the escapes of JSON, found a backslash"), begin).WithHint("write \\\\ for a backslash");
    page::AppendUtf8(value, c);
    return {};
  }

  // Four hexadecimal digits after a 'u'.
  bool Hex(uint32_t& c) {
    if (Peek() != 'u' || text_.size() - at_ < 5) return false;
    const char* begin = text_.data() + at_ + 1;
    if (std::from_chars(begin, begin + 4, c, 16).ptr != begin + 4) return false;
    at_ += 4;
    return true;
  }

  Status Flat(std::vector<int64_t>& dims) {
    const bool bare_strings = store_.dtype() == DType::kString && Peek() != '"';
    const std::string_view separators = bare_strings ? ";" : ";,";
    if (AtEnd()) return InvalidArgument("needs a value, found an empty text").WithHint("an empty string is written \"\"");
    while (true) {
      WEFT_RETURN_IF_ERROR(Element(separators));
      Skip();
      if (AtEnd()) break;
      if (separators.find(Peek()) == separators.npos) return Needs("';' or ','");
      const bool semicolon = Peek() == ';';
      ++at_;
      Skip();
      if (AtEnd() && semicolon && !bare_strings) break;  // the separator at the end of a list
    }
    if (store_.count() != 1) dims.push_back(static_cast<int64_t>(store_.count()));
    return {};
  }

  // dims[level] is the number of elements in the first closed brace of that level.
  Status Braces(std::vector<int64_t>& dims) {
    std::vector<int64_t> counts;
    size_t leaf = 0;  // the nesting level of elements; 0: not known yet
    do {
      if (Peek() == '{') {
        if (leaf != 0 && counts.size() >= leaf) return Needs("elements that are nested equally deep");
        if (counts.size() >= static_cast<size_t>(kMaxRank)) return Needs(Cat("at most ", kMaxRank, " nested braces"));
        counts.push_back(0);
        ++at_;
        Skip();
        if (Peek() != '}') continue;
      } else {
        if (leaf == 0) leaf = counts.size();
        if (leaf != counts.size() || dims.size() > counts.size()) return Needs("elements that are nested equally deep");
        WEFT_RETURN_IF_ERROR(Element(",;{}"));
        ++counts.back();
      }
      WEFT_RETURN_IF_ERROR(CloseBraces(counts, dims));
    } while (!counts.empty());
    Skip();
    return AtEnd() ? Status() : Needs("the end after the last brace");
  }

  // After an element: any number of '}', then a separator unless the outermost brace is closed.
  Status CloseBraces(std::vector<int64_t>& counts, std::vector<int64_t>& dims) {
    for (Skip(); Peek() == '}'; Skip()) {
      const size_t level = counts.size() - 1;
      if (dims.size() <= level) dims.resize(level + 1, -1);
      if (dims[level] >= 0 && dims[level] != counts[level]) {
        return At(InvalidArgument("needs rows of one length: ", dims[level], " elements, found ", counts[level], " in the one that ends"),
                  at_);
      }
      dims[level] = counts[level];
      counts.pop_back();
      ++at_;
      if (counts.empty()) return {};
      ++counts.back();
    }
    if (Peek() != ',' && Peek() != ';') return Needs("',' or '}'");
    ++at_;
    Skip();
    return AtEnd() ? Needs("a value") : Status();
  }

  std::string_view text_;
  size_t at_ = 0;
  ElementStore store_;
};

}  // namespace

Result<Tensor> ParseTextLiteral(std::string_view text, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  if (dtype == DType::kResource || dtype == DType::kInvalid) return Unsupported("a value of ", *dtype, " cannot be written on a page");
  if (Trim(text).empty() && dtype && shape && shape->count() == 0) return Tensor::Allocate(*dtype, *shape);
  return TextReader(text, dtype ? *dtype : TypeOfText(text)).Read(shape);
}

}  // namespace weft
