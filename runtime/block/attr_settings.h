// Attribute text as a list of settings, before anything is known of what they mean; and changing one of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/block/attr_scan.h"

namespace weft::internal {

/// A name and its value, as they stand in the text.
struct Setting {
  std::string_view name, value;
  size_t begin = 0, end = 0;  // of all of it, with what separates it from the next
  Status fault;               // of the value
};

/// Cuts attribute text into settings.
class Settings {
 public:
  explicit Settings(std::string_view text) : text_(text) {}

  /// False at the end of the text. A fault without a name is one of the text.
  bool Next(Setting& setting);

 private:
  void SkipSeparators() {
    while (at_ < text_.size() && (IsSpace(text_[at_]) || text_[at_] == ';')) ++at_;
  }
  std::string_view Name(size_t& at) const;
  void Value(Setting& setting);
  void Unbalanced(Setting& setting, size_t start, const NestingScanner& scanner);

  std::string_view text_;
  size_t at_ = 0;
};

/// Whether the name, as written, is that of the attribute: a '_' at its end does not count.
inline bool NamesAttr(std::string_view name, std::string_view attr) {
  if (!name.starts_with(attr)) return false;
  return name.size() == attr.size() || (name.size() == attr.size() + 1 && name.back() == '_');
}

/// The text with the attribute's first setting changed or taken away (no value), or with a new one at its end. All else stays as it is.
/// invalid_argument for a name that is none, and a value that would end its setting.
Result<std::string> WithSetting(std::string_view text, std::string_view attr, std::optional<std::string_view> value);

}  // namespace weft::internal
