#include "runtime/block/attr_settings.h"

#include <algorithm>

namespace weft::internal {

bool Settings::Next(Setting& setting) {
  SkipSeparators();
  if (at_ == text_.size()) return false;
  setting = Setting();
  const size_t start = setting.begin = at_;
  setting.name = Name(at_);
  if (setting.name.empty()) {
    size_t end = std::min(text_.find(';', start), text_.size());
    setting.fault = InvalidArgument("needs 'name = value;', found ", FoundText(TrimSpace(text_.substr(start, end - start))));
    at_ = end;
  } else {
    Value(setting);
  }
  setting.end = at_;
  return true;
}

// The name at `at` if a '=' follows it, with `at` moved past the '='. Else empty, with `at` moved past the characters of a name.
std::string_view Settings::Name(size_t& at) const {
  size_t start = at;
  while (at < text_.size() && IsNameChar(text_[at])) ++at;
  std::string_view name = text_.substr(start, at - start);
  size_t after = at;
  while (after < text_.size() && IsSpace(text_[after])) ++after;
  if (name.empty() || after == text_.size() || text_[after] != '=') return {};
  at = after + 1;
  return name;
}

// The value ends at a ';' that is followed by the end of the text or another `name =`.
void Settings::Value(Setting& setting) {
  NestingScanner scanner;
  size_t start = at_;
  while (at_ < text_.size()) {
    if (text_[at_] != ';' || !scanner.top()) {
      if (!scanner.Take(text_[at_])) return Unbalanced(setting, start, scanner);
      ++at_;
      continue;
    }
    size_t end = at_;
    SkipSeparators();
    size_t next = at_;
    if (at_ == text_.size() || !Name(next).empty()) {
      setting.value = TrimSpace(text_.substr(start, end - start));
      return;
    }
    at_ = next;  // the value continues; the skipped characters of a name cannot nest
  }
  setting.value = TrimSpace(text_.substr(start));
  setting.fault = scanner.Fault();
}

// Continues after the next ';', so that one fault does not hide the settings after it.
void Settings::Unbalanced(Setting& setting, size_t start, const NestingScanner& scanner) {
  at_ = std::min(text_.find(';', at_), text_.size());
  setting.value = TrimSpace(text_.substr(start, at_ - start));
  setting.fault = scanner.Fault();
}

Result<std::string> WithSetting(std::string_view text, std::string_view attr, std::optional<std::string_view> value) {
  if (attr.size() > 1 && attr.back() == '_') attr.remove_suffix(1);
  if (attr.empty() || !std::all_of(attr.begin(), attr.end(), IsNameChar)) {
    return InvalidArgument("needs the name of an attribute, found ", FoundText(attr));
  }
  std::string changed(text);
  Settings settings(text);
  bool found = false;
  for (Setting setting; !found && settings.Next(setting);) {
    if (setting.name.empty() || !NamesAttr(setting.name, attr)) continue;
    found = true;
    const size_t at = static_cast<size_t>(setting.value.data() - text.data());
    if (value) changed.replace(at, setting.value.size(), *value);
    else changed.erase(setting.begin, setting.end - setting.begin);
  }
  if (found && !value) return changed;
  if (!value) return NotFound("the attribute '", attr, "' is not given, so that it has its default already");
  if (!found) {
    if (const std::string_view before = TrimSpace(text); !before.empty() && before.back() != ';') changed += ';';
    changed += Cat(attr, "_ = ", *value, ";");
  }
  Settings again(changed);
  for (Setting setting; again.Next(setting);) {
    if (setting.name.empty() || !NamesAttr(setting.name, attr)) continue;
    if (setting.fault.ok() && setting.value == TrimSpace(*value)) return changed;
    break;
  }
  return InvalidArgument("needs a value that attribute text can hold, found ", FoundText(*value))
      .WithHint("put a text with ';' in double quotes");
}

}  // namespace weft::internal
