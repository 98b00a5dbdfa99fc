#include "tools/serve/http.h"

#include <charconv>

namespace weft::serve {
namespace {

/// The text without percent escapes. False for an escape that is none, and for bytes that no name has.
bool Decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const std::string_view digits = text.substr(i + 1, 2);
      uint8_t byte = 0;
      if (digits.size() < 2 || std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr != digits.data() + 2) return false;
      c = static_cast<char>(byte);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return false;
    out += c;
  }
  return true;
}

}  // namespace

std::string_view RequestHead::Header(const std::string& lower_name) const {
  const auto found = headers.find(lower_name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::string> RequestHead::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string UrlHost(const std::string& address) { return address.find(':') == std::string::npos ? address : "[" + address + "]"; }

void ParseTarget(std::string_view target, RequestHead& head) {
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  if (target.empty() || target[0] != '/' || !Decode(target.substr(0, mark), false, head.path)) {
    head.malformed = true;
    return;
  }
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    std::pair<std::string, std::string> entry;
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (!Decode(part.substr(0, equals), true, entry.first) || !Decode(value, true, entry.second)) head.malformed = true;
    head.query.push_back(std::move(entry));
  }
}

}  // namespace weft::serve
