#include "tools/serve/object_text.h"

#include <algorithm>
#include <unordered_map>

namespace weft::serve {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

size_t Skip(std::string_view text, size_t from, std::string_view characters) {
  return std::min(text.find_first_not_of(characters, from), text.size());
}

/// The end of the string that begins at `at`.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// The end of the value that begins at `at`.
size_t EndOfValue(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
      if (depth == 0) return at;
      --at;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;  // after a number: the end of the object itself
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || kSpace.find(c) != std::string_view::npos)) {
      return at;
    }
  }
  return at;
}

}  // namespace

ObjectText::ObjectText(std::string text) : text_(std::move(text)) {
  const std::string_view all = text_;
  size_t at = Skip(all, 0, kSpace);
  if (at == all.size() || all[at] != '{') return;
  at = Skip(all, at + 1, kSpace);
  while (at < all.size() && all[at] == '"') {
    const size_t key_end = EndOfString(all, at);
    const size_t value = Skip(all, key_end, " \t\r\n:");
    const size_t end = EndOfValue(all, value);
    members_.push_back({all.substr(at, key_end - at), all.substr(value, end - value)});
    at = Skip(all, end, " \t\r\n,");
  }
}

std::string KeyOf(const ObjectText::Member& member) {
  if (member.key.find('\\') == std::string_view::npos && member.key.size() >= 2) return std::string(member.key.substr(1, member.key.size() - 2));
  const Json key = Json::parse(member.key, nullptr, false);
  return key.is_string() ? key.get<std::string>() : "";
}

Json ValueOf(const ObjectText::Member& member) { return Json::parse(member.value, nullptr, false); }

Difference DifferenceOf(const ObjectText& before, const ObjectText& now) {
  const auto &old_members = before.members(), &new_members = now.members();
  // Most are where they were.
  size_t first = 0, old_end = old_members.size(), new_end = new_members.size();
  while (first < old_end && first < new_end && old_members[first] == new_members[first]) ++first;
  while (first < old_end && first < new_end && old_members[old_end - 1] == new_members[new_end - 1]) --old_end, --new_end;
  std::unordered_map<std::string_view, std::string_view> left;
  for (size_t i = first; i < old_end; ++i) left.insert_or_assign(old_members[i].key, old_members[i].value);
  Difference difference;
  for (size_t i = first; i < new_end; ++i) {
    const auto was = left.find(new_members[i].key);
    if (was == left.end() || was->second != new_members[i].value) difference.set[KeyOf(new_members[i])] = ValueOf(new_members[i]);
    if (was != left.end()) left.erase(was);
  }
  if (left.empty()) return difference;
  // A page may have an id twice, and so a key: of two that were there one may remain.
  for (const ObjectText::Member& member : new_members) {
    if (left.erase(member.key) > 0) difference.set[KeyOf(member)] = ValueOf(member);
  }
  for (const auto& [key, value] : left) difference.gone.push_back(KeyOf({key, value}));
  return difference;
}

}  // namespace weft::serve
