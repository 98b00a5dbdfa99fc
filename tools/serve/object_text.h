// JSON objects of the engine with many members, of which a call needs few: texts of which only those are parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/engine.h"

namespace weft::serve {

/// The text of a JSON object, and where its members are. Of a text that is none there are no members.
class ObjectText {
 public:
  struct Member {
    std::string_view key;    // as JSON writes it, in quotes
    std::string_view value;  // JSON
    bool operator==(const Member&) const = default;
  };

  explicit ObjectText(std::string text);
  ObjectText(const ObjectText&) = delete;  // the members are in the text
  ObjectText& operator=(const ObjectText&) = delete;

  const std::string& text() const { return text_; }
  const std::vector<Member>& members() const { return members_; }

 private:
  const std::string text_;
  std::vector<Member> members_;
};

std::string KeyOf(const ObjectText::Member& member);
Json ValueOf(const ObjectText::Member& member);

/// What makes one object the other.
struct Difference {
  Json set = Json::object();  // members that are new or have another value
  Json gone = Json::array();  // keys
};
Difference DifferenceOf(const ObjectText& before, const ObjectText& now);

}  // namespace weft::serve
