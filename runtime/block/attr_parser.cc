// Reads attribute text: matches names to specs, parses and checks values.
#include <algorithm>

#include "runtime/block/attr_settings.h"
#include "weft/block/attr.h"

namespace weft {
namespace {

using internal::FoundText;
using internal::Setting;
using internal::Settings;

int FindSpec(const std::vector<AttrSpec>& specs, std::string_view name) {
  for (size_t i = 0; i < specs.size(); ++i) {
    if (internal::NamesAttr(name, specs[i].name)) return static_cast<int>(i);
  }
  return -1;
}

std::string_view ClosestSpec(const std::vector<AttrSpec>& specs, std::string_view name) {
  if (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
  std::vector<std::string_view> names;
  for (const AttrSpec& spec : specs) names.push_back(spec.name);
  return ClosestName(name.substr(0, 100), names);
}

Status UnknownName(const std::vector<AttrSpec>& specs, std::string_view name) {
  if (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
  std::vector<std::string_view> names;
  for (const AttrSpec& spec : specs) names.push_back(spec.name);
  Status status = names.empty() ? NotFound("the block has no attributes, found ", FoundText(name))
                                : NotFound("the block has no attribute ", FoundText(name));
  return std::move(status).WithPort(name.substr(0, 100)).WithHint(DidYouMean(name.substr(0, 100), names));
}

Result<AttrValue> ReadValue(const AttrSpec& spec, std::string_view text) {
  WEFT_ASSIGN_OR_RETURN(AttrValue value, ParseAttrValue(spec.type, text));
  WEFT_RETURN_IF_ERROR(CheckAttr(spec, value));
  return value;
}

template <class Range>
std::string JoinNames(const Range& names) {
  std::string out;
  for (const auto& name : names) out += Cat(out.empty() ? "" : ", ", name);
  return out;
}

Status CheckType(const AttrSpec& spec, DType dtype) {
  if (spec.allowed_types.empty() || std::ranges::find(spec.allowed_types, dtype) != spec.allowed_types.end()) return {};
  return InvalidArgument("needs one of ", JoinNames(spec.allowed_types), ", found ", dtype);
}

/// The number that `minimum` limits: the value of an int, the length of a list.
std::optional<int64_t> Measure(const AttrValue& value) {
  return std::visit(
      []<class V>(const V& v) -> std::optional<int64_t> {
        if constexpr (std::is_same_v<V, int64_t>) return v;
        else if constexpr (!std::is_same_v<V, std::string> && requires { v.size(); }) return static_cast<int64_t>(v.size());
        else return std::nullopt;
      },
      value);
}

Status CheckValue(const AttrSpec& spec, const AttrValue& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    if (spec.default_value || spec.inferred) return {};
    return InvalidArgument("needs a value of type ", AttrTypeName(spec.type), ", found none").WithHint(Cat("add ", spec.name, "_ = ...;"));
  }
  if (value.index() != static_cast<size_t>(spec.type) + 1) {
    return InvalidArgument("needs a value of type ", AttrTypeName(spec.type), ", found ", AttrTypeName(static_cast<AttrType>(value.index() - 1)), " ",
                           FoundText(AttrText(value)));
  }
  if (const std::string* text = std::get_if<std::string>(&value); text != nullptr && !spec.allowed.empty()) {
    if (std::ranges::find(spec.allowed, *text) == spec.allowed.end()) {
      Status status = InvalidArgument("needs one of ", JoinNames(spec.allowed), ", found ", FoundText(*text));
      return std::move(status).WithHint(DidYouMean(std::string_view(*text).substr(0, 100), spec.allowed));
    }
  }
  if (const DType* dtype = std::get_if<DType>(&value)) return CheckType(spec, *dtype);
  if (const DTypes* dtypes = std::get_if<DTypes>(&value)) {
    for (DType dtype : *dtypes) WEFT_RETURN_IF_ERROR(CheckType(spec, dtype));
  }
  if (auto measure = Measure(value); spec.minimum && measure && *measure < *spec.minimum) {
    std::string_view counted = spec.type == AttrType::kInt ? "" : *spec.minimum == 1 ? " element" : " elements";
    return InvalidArgument("needs ", *spec.minimum, counted, " or more, found ", *measure);
  }
  return {};
}

}  // namespace

Status CheckAttr(const AttrSpec& spec, const AttrValue& value) { return CheckValue(spec, value).WithPort(spec.name); }

std::vector<AttrValue> ParseAttrs(std::string_view text, const std::vector<AttrSpec>& specs, Diagnostics& diagnostics) {
  std::vector<AttrValue> values(specs.size());
  if (text.empty()) {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].default_value) values[i] = *specs[i].default_value;
      else if (Status missing = CheckAttr(specs[i], values[i]); !missing.ok()) diagnostics.Error(std::move(missing));
    }
    return values;
  }
  std::vector<bool> named(specs.size()), faulty(specs.size());
  bool unterminated = false;  // a value without an end may contain the settings after it, which then are not reported as missing
  Settings settings(text);
  for (Setting setting; settings.Next(setting);) {
    int index = setting.name.empty() ? -1 : FindSpec(specs, setting.name);
    if (index < 0) {
      diagnostics.Error(setting.name.empty() ? std::move(setting.fault) : UnknownName(specs, setting.name));
      // The attribute that was probably meant is not reported as missing in addition.
      int meant = setting.name.empty() ? -1 : FindSpec(specs, ClosestSpec(specs, setting.name));
      if (meant >= 0) faulty[meant] = true;
      continue;
    }
    const AttrSpec& spec = specs[index];
    if (named[index]) {
      diagnostics.Warning(InvalidArgument("the attribute is given more than once; the first value counts").WithPort(spec.name));
      continue;
    }
    named[index] = true;
    unterminated |= !setting.fault.ok();
    if (setting.fault.ok() && setting.value.empty()) continue;
    auto value = setting.fault.ok() ? ReadValue(spec, setting.value) : Result<AttrValue>(std::move(setting.fault));
    if (value.ok()) {
      values[index] = std::move(*value);
    } else {
      faulty[index] = true;
      diagnostics.Error(std::move(value).status().WithPort(spec.name));
    }
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (faulty[i] || !std::holds_alternative<std::monostate>(values[i])) continue;
    if (specs[i].default_value) values[i] = *specs[i].default_value;
    else if (unterminated) continue;
    else if (Status missing = CheckAttr(specs[i], values[i]); !missing.ok()) diagnostics.Error(std::move(missing));
  }
  return values;
}

AttrSpec MakeAttrSpec(AttrType type, const char* name, const char* default_text, const char* doc, const char* allowed, int64_t minimum,
                      std::vector<std::string> allowed_texts) {
  AttrSpec spec;
  spec.name = name;
  spec.type = type;
  spec.doc = doc == nullptr ? "" : doc;
  if (allowed != nullptr) {
    allowed_texts.clear();
    for (std::string_view rest = allowed; !rest.empty();) {
      size_t end = std::min(rest.find('|'), rest.size());
      allowed_texts.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (type == AttrType::kType || type == AttrType::kTypes) {
    for (const std::string& text : allowed_texts) {
      if (auto dtype = DTypeFromName(text)) spec.allowed_types.push_back(*dtype);
    }
  } else {
    spec.allowed = std::move(allowed_texts);
  }
  if (minimum != INT64_MIN) spec.minimum = minimum;
  if (default_text == nullptr) return spec;
  auto value = ParseAttrValue(type, default_text);
  if (value.ok()) spec.default_value = std::move(*value);
  else spec.doc += Cat(" (the declared default cannot be read: ", value.status().message(), ")");
  return spec;
}

}  // namespace weft
