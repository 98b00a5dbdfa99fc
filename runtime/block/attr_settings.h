// Attribute text as a list of settings, independent of specs; and changing one of them in the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/block/attr_scan.h"

namespace weft::internal {

/// A name and its value, as written. Views refer to the text.
struct Setting {
  std::string_view name, value;
  size_t begin = 0, end = 0;  // bytes of the whole setting, with the separator after it
  Status fault;               // of the value
};

/// Splits attribute text into settings.
class Settings {
 public:
  explicit Settings(std::string_view text) : text_(text) {}

  /// Reads the next setting. False at the end of the text. A fault without a name is a fault of the text between settings.
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

/// Whether the name, as written, is that of the attribute: a trailing '_' is ignored.
inline bool NamesAttr(std::string_view name, std::string_view attr) {
  if (!name.starts_with(attr)) return false;
  return name.size() == attr.size() || (name.size() == attr.size() + 1 && name.back() == '_');
}

/// The text with the attribute's first setting changed, removed (no value), or added at the end. All other bytes are kept.
/// invalid_argument for a malformed name, and for a value that would end its setting; not_found where there is none to remove.
Result<std::string> WithSetting(std::string_view text, std::string_view attr, std::optional<std::string_view> value);

}  // namespace weft::internal
