// Attributes: settings of a block that are fixed when the page is loaded, written `data_format_ = NHWC;strides_ = {1,2,2,1};`. All
// functions are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/base/dtype.h"
#include "weft/base/shape.h"

namespace weft {

enum class AttrType : uint8_t { kInt, kFloat, kBool, kString, kType, kShape, kInts, kFloats, kStrings, kTypes, kShapes };
/// As blocks.json spells it: "int", "list(shape)".
std::string_view AttrTypeName(AttrType type);

using Ints = std::vector<int64_t>;
using FloatList = std::vector<float>;
using Strings = std::vector<std::string>;
using DTypes = std::vector<DType>;
using Shapes = std::vector<PartialShape>;

/// One alternative for each AttrType, in that order, after std::monostate (no value).
using AttrValue = std::variant<std::monostate, int64_t, float, bool, std::string, DType, PartialShape, Ints, FloatList, Strings, DTypes, Shapes>;

/// The declaration of one attribute.
struct AttrSpec {
  // Defined in def.cc, to keep the code of every declaration small.
  AttrSpec();
  AttrSpec(const AttrSpec& other);
  AttrSpec(AttrSpec&& other) noexcept;
  AttrSpec& operator=(const AttrSpec& other);
  AttrSpec& operator=(AttrSpec&& other) noexcept;
  ~AttrSpec();

  std::string name;  // without enuSpace's trailing underscore
  AttrType type = AttrType::kInt;
  std::optional<AttrValue> default_value;  // absent: the attribute must be given
  bool inferred = false;                   // inferred from the inputs; a given value must agree with them
  std::vector<std::string> allowed;        // kString: the values; empty means any
  std::vector<DType> allowed_types;        // kType and kTypes: the types; empty means any
  std::optional<int64_t> minimum;          // kInt: least value; lists: least length
  std::string doc;
};

/// Reads one value. Spaces and line breaks outside quotes are ignored. invalid_argument: what was needed and found.
/// Spellings: `true`, `TRUE`, `1`; lists `{1,2}` or a bare element; shapes `{2,2}`, `[2][2]`, `[2,2]`, `[]`, `?`; lists of shapes
/// `{2,2},{3}`, `[2][2];[3]`, `{[2][2],[3]}`; types `DT_FLOAT`; a float may end in `f`; a value in double quotes is a JSON string.
Result<AttrValue> ParseAttrValue(AttrType type, std::string_view text);

/// The value as ParseAttrValue reads it back, for any value but std::monostate (which gives "").
std::string AttrText(const AttrValue& value);

/// Reads "a_ = 1;b_ = {1,2};". The result has one value for each spec, in their order: the given one, the default, or std::monostate
/// (absent and inferred, or in error). Diagnostics carry the attribute as port:
/// unknown name (not_found, with a suggestion), wrong type, value not allowed, below the minimum, unbalanced brace or quote, missing
/// attribute (invalid_argument), repeated name (a warning; the first value is used). An empty value means the default.
std::vector<AttrValue> ParseAttrs(std::string_view text, const std::vector<AttrSpec>& specs, Diagnostics& diagnostics);

/// Checks a value that was not read from attribute text (a pin of its own, for example): type, allowed values, minimum.
Status CheckAttr(const AttrSpec& spec, const AttrValue& value);

// ---- typed constants for declarations ------------------------------------------------------------------------------------

/// How the channels of an image batch are laid out.
enum class Layout : uint8_t { NHWC, NCHW, NDHWC, NCDHW };
enum class Padding : uint8_t { SAME, VALID, EXPLICIT };

/// Texts of an enumeration used as an attribute, in its order.
template <class E>
struct EnumTexts;
template <>
struct EnumTexts<Layout> {
  static constexpr const char* values[] = {"NHWC", "NCHW", "NDHWC", "NCDHW"};
};
template <>
struct EnumTexts<Padding> {
  static constexpr const char* values[] = {"SAME", "VALID", "EXPLICIT"};
};

/// A typed attribute: `constexpr Attr<Layout> data_format{"data_format", "NHWC", "layout of the input"}`. V is int64_t, float, bool,
/// std::string, DType, PartialShape, a list of these (Ints, FloatList, Strings, DTypes, Shapes), or an enumeration with EnumTexts.
template <class V>
struct Attr {
  const char* name;
  const char* default_text;       // as a page writes it; null: must be given
  const char* doc;
  const char* allowed = nullptr;  // "NHWC|NCHW"; null: any, or all of the enumeration's texts
  int64_t minimum = INT64_MIN;    // INT64_MIN: none
};
inline constexpr const char* kRequired = nullptr;

template <class V>
constexpr AttrType AttrTypeOf() {
  if constexpr (std::is_enum_v<V> && !std::is_same_v<V, DType>) return AttrType::kString;
  else if constexpr (std::is_same_v<V, int64_t>) return AttrType::kInt;
  else if constexpr (std::is_same_v<V, float>) return AttrType::kFloat;
  else if constexpr (std::is_same_v<V, bool>) return AttrType::kBool;
  else if constexpr (std::is_same_v<V, std::string>) return AttrType::kString;
  else if constexpr (std::is_same_v<V, DType>) return AttrType::kType;
  else if constexpr (std::is_same_v<V, PartialShape>) return AttrType::kShape;
  else if constexpr (std::is_same_v<V, Ints>) return AttrType::kInts;
  else if constexpr (std::is_same_v<V, FloatList>) return AttrType::kFloats;
  else if constexpr (std::is_same_v<V, Strings>) return AttrType::kStrings;
  else if constexpr (std::is_same_v<V, DTypes>) return AttrType::kTypes;
  else return AttrType::kShapes;
}

/// The spec of a typed constant. `allowed_texts` are the texts of its enumeration, or empty; `allowed`, where not null, replaces them.
AttrSpec MakeAttrSpec(AttrType type, const char* name, const char* default_text, const char* doc, const char* allowed, int64_t minimum,
                      std::vector<std::string> allowed_texts);

template <class V>
AttrSpec SpecOf(const Attr<V>& attr) {
  std::vector<std::string> texts;
  if constexpr (std::is_enum_v<V> && !std::is_same_v<V, DType>) texts.assign(std::begin(EnumTexts<V>::values), std::end(EnumTexts<V>::values));
  return MakeAttrSpec(AttrTypeOf<V>(), attr.name, attr.default_text, attr.doc, attr.allowed, attr.minimum, std::move(texts));
}

/// The typed value of an AttrValue that CheckAttr accepted.
template <class V>
V AttrAs(const AttrValue& value) {
  if constexpr (std::is_enum_v<V> && !std::is_same_v<V, DType>) {
    const std::string& text = std::get<std::string>(value);
    int index = 0;
    for (const char* candidate : EnumTexts<V>::values) {
      if (text == candidate) return static_cast<V>(index);
      ++index;
    }
    return V{};
  } else {
    return std::get<V>(value);
  }
}

}  // namespace weft
