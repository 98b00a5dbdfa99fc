// Reads and writes one attribute value.
#include <charconv>

#include "runtime/block/attr_scan.h"
#include "weft/block/attr.h"

namespace weft {
namespace {

using internal::FoundText;
using internal::TrimSpace;

Status Wrong(std::string_view needed, std::string_view found) {
  Status status = InvalidArgument("needs ", needed, ", found ", FoundText(found));
  if (!found.empty() && found.front() == '"') return std::move(status).WithHint("leave out the quotes");
  if (found == "?") return std::move(status).WithHint("'?', in JSON null, is an unknown size; leave the setting out to have its default");
  return status;
}

Result<int64_t> ParseInt(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range && end == digits.data() + digits.size()) return Wrong("an int of 64 bits", text);
  if (error != std::errc() || end != digits.data() + digits.size()) return Wrong("an int", text);
  return value;
}

/// Whether a number that a float cannot hold is too large, rather than too small. `digits` has no sign and is well formed.
bool IsLarge(std::string_view digits) {
  int64_t before_point = 0;  // digits of the integer part, or minus the number of zeros after the point
  bool point = false, nonzero = false;
  size_t i = 0;
  for (; i < digits.size() && digits[i] != 'e' && digits[i] != 'E'; ++i) {
    if (digits[i] == '.') {
      point = true;
      continue;
    }
    nonzero = nonzero || digits[i] != '0';
    if (!point && nonzero) ++before_point;
    if (point && !nonzero) --before_point;
  }
  if (i >= digits.size()) return before_point > 0;
  bool negative = digits[i + 1] == '-';
  int64_t exponent = 0;
  for (i += (negative || digits[i + 1] == '+') ? 2 : 1; i < digits.size(); ++i) exponent = std::min<int64_t>(exponent * 10 + (digits[i] - '0'), INT32_MAX);
  return before_point + (negative ? -exponent : exponent) > 0;
}

Result<float> ParseFloat(std::string_view text) {
  std::string_view digits = text;
  bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits == "inf") return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  if (digits == "nan") return std::numeric_limits<float>::quiet_NaN();
  if (digits.size() > 1 && (digits.back() == 'f' || digits.back() == 'F')) digits.remove_suffix(1);
  // from_chars would take a second sign, "infinity" and "nan(...)" as well.
  if (digits.empty() || !(digits[0] == '.' || (digits[0] >= '0' && digits[0] <= '9'))) return Wrong("a float", text);
  float value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return Wrong("a float", text);
  if (error == std::errc::result_out_of_range) {
    if (IsLarge(digits)) return Wrong("a float of 32 bits", text);
    value = 0;
  }
  return negative ? -value : value;
}

Result<bool> ParseBool(std::string_view text) {
  if (text == "true" || text == "TRUE" || text == "True" || text == "1") return true;
  if (text == "false" || text == "FALSE" || text == "False" || text == "0") return false;
  return Wrong("true or false", text);
}

Result<std::string> ParseString(std::string_view text) {
  if (text.starts_with('"')) return internal::Unquote(text);
  return std::string(text);
}

Result<DType> ParseType(std::string_view text) {
  if (auto dtype = DTypeFromName(text); dtype && *dtype != DType::kInvalid) return *dtype;
  Status status = Wrong("a type such as DT_FLOAT", text);
  std::vector<std::string_view> names;
  for (int i = 1; i < kDTypeCount; ++i) names.push_back(DTypeName(static_cast<DType>(i)));
  return std::move(status).WithHint(DidYouMean(text.substr(0, 40), names));
}

Result<int64_t> ParseSize(std::string_view text) {
  if (text == "?") return -1;
  return ParseInt(text);
}

/// The sizes between a pair of braces or brackets, or bare ones.
Result<PartialShape> ParseSizes(std::string_view text, std::string_view whole) {
  WEFT_ASSIGN_OR_RETURN(auto elements, internal::SplitList(text));
  std::vector<int64_t> dims;
  for (std::string_view element : elements) {
    auto size = ParseSize(element);
    if (!size.ok()) return Wrong("a shape such as [2][3] or {2,3}", whole);
    dims.push_back(*size);
  }
  return PartialShape::Make(std::move(dims));
}

Result<PartialShape> ParseShape(std::string_view text) {
  if (text == "?") return PartialShape();
  if (internal::IsBraced(text)) return ParseSizes(text.substr(1, text.size() - 2), text);
  if (text.empty()) return Wrong("a shape such as [2][3] or {2,3}", text);
  if (text.front() != '[') return ParseSizes(text, text);
  size_t close = text.find(']');
  if (close + 1 == text.size()) return ParseSizes(text.substr(1, close - 1), text);
  std::vector<int64_t> dims;  // [2][3]
  for (std::string_view rest = text; !rest.empty(); rest = TrimSpace(rest.substr(close + 1))) {
    close = rest.find(']');
    auto size = rest.front() == '[' && close != std::string_view::npos ? ParseSize(TrimSpace(rest.substr(1, close - 1))) : Wrong("", "");
    if (!size.ok()) return Wrong("a shape such as [2][3] or {2,3}", text);
    dims.push_back(*size);
  }
  return PartialShape::Make(std::move(dims));
}

/// The elements of a list, with or without braces around it.
Result<std::vector<std::string_view>> Elements(std::string_view text) {
  return internal::SplitList(internal::IsBraced(text) ? text.substr(1, text.size() - 2) : text);
}

template <class T>
Result<AttrValue> ParseList(std::string_view text, Result<T> (*parse)(std::string_view)) {
  WEFT_ASSIGN_OR_RETURN(auto elements, Elements(text));
  std::vector<T> values;
  values.reserve(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    auto value = parse(elements[i]);
    if (!value.ok()) return std::move(value).status().Append(Cat(" at element ", i));
    values.push_back(std::move(*value));
  }
  return AttrValue(std::move(values));
}

Result<PartialShape> ParseListedShape(std::string_view text) {
  if (text != "?" && text.front() != '[' && text.front() != '{') return Wrong("a shape such as [2][3] or {2,3}", text);
  return ParseShape(text);
}

Result<AttrValue> ParseShapes(std::string_view text) {
  if (internal::IsBraced(text)) {
    WEFT_ASSIGN_OR_RETURN(auto elements, Elements(text));
    // {2,2} is one shape; {[2][2],[3]}, {?,?} and {} are lists.
    bool sizes = false, shapes = false;
    for (std::string_view element : elements) {
      shapes = shapes || element.front() == '[' || element.front() == '{';
      sizes = sizes || element != "?";
    }
    if (sizes && !shapes) {
      WEFT_ASSIGN_OR_RETURN(PartialShape shape, ParseShape(text));
      return AttrValue(Shapes{std::move(shape)});
    }
  }
  return ParseList<PartialShape>(text, ParseListedShape);
}

template <class T>
Result<AttrValue> Wrap(Result<T> value) {
  if (!value.ok()) return std::move(value).status();
  return AttrValue(std::move(*value));
}

void AppendValue(std::string& out, int64_t value) { AppendText(out, value); }
void AppendValue(std::string& out, float value) { AppendText(out, value); }
void AppendValue(std::string& out, DType value) { AppendText(out, DTypeName(value)); }
void AppendValue(std::string& out, const PartialShape& shape) {
  if (!shape.known_rank()) out += "?";
  else if (shape.rank() == 0) out += "[]";
  for (int64_t size : shape.dims()) out += size < 0 ? std::string("[?]") : Cat("[", size, "]");
}
void AppendValue(std::string& out, const std::string& text) {
  bool plain = !text.empty();
  for (char c : text) plain = plain && (internal::IsNameChar(c) || c == '.' || c == '/' || c == ':' || c == '-');
  out += plain ? text : Quote(text);
}

}  // namespace

std::string_view AttrTypeName(AttrType type) {
  static constexpr std::string_view kNames[] = {"int",       "float",       "bool",         "string",     "type",       "shape",
                                                "list(int)", "list(float)", "list(string)", "list(type)", "list(shape)"};
  return kNames[static_cast<size_t>(type)];
}

Result<AttrValue> ParseAttrValue(AttrType type, std::string_view text) {
  text = TrimSpace(text);
  switch (type) {
    case AttrType::kInt: return Wrap(ParseInt(text));
    case AttrType::kFloat: return Wrap(ParseFloat(text));
    case AttrType::kBool: return Wrap(ParseBool(text));
    case AttrType::kString: return Wrap(ParseString(text));
    case AttrType::kType: return Wrap(ParseType(text));
    case AttrType::kShape: return Wrap(ParseShape(text));
    case AttrType::kInts: return ParseList<int64_t>(text, ParseInt);
    case AttrType::kFloats: return ParseList<float>(text, ParseFloat);
    case AttrType::kStrings: return ParseList<std::string>(text, ParseString);
    case AttrType::kTypes: return ParseList<DType>(text, ParseType);
    case AttrType::kShapes: return ParseShapes(text);
  }
  return InvalidArgument("there is no such kind of attribute");
}

std::string AttrText(const AttrValue& value) {
  std::string out;
  std::visit(
      [&]<class V>(const V& v) {
        if constexpr (std::is_same_v<V, bool>) {
          AppendText(out, v);
        } else if constexpr (requires { AppendValue(out, v); }) {
          AppendValue(out, v);
        } else if constexpr (!std::is_same_v<V, std::monostate>) {
          out += "{";
          for (size_t i = 0; i < v.size(); ++i) {
            if (i > 0) out += ",";
            AppendValue(out, v[i]);
          }
          out += "}";
        }
      },
      value);
  return out;
}

}  // namespace weft
