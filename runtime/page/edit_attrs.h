// Changes one attribute of a block, whether the page writes its attributes as text or as an object; parses the JSON of edits.
#pragma once

#include "weft/page/edit.h"

namespace weft::page {

/// The edit that sets all attributes of the block to what they are with one changed; other settings keep their spelling. Attribute text is
/// changed with the scanner of the block layer (WithSetting). invalid_argument for a name or value that cannot be written; not_found where an
/// attribute to remove is not given.
Result<SetAttrs> WithAttr(const PageBlock& block, const SetAttr& edit);

struct JsonMember {
  std::string key;
  std::string value;  // canonical JSON text
};
/// The members of a JSON object, in their order. invalid_argument where the text is not one JSON object; its pointer is the place in the text.
Result<std::vector<JsonMember>> JsonMembers(std::string_view json);

/// The elements of a JSON array as canonical JSON text. Errors as for JsonMembers.
Result<std::vector<std::string>> JsonElements(std::string_view json);

/// The text of an attribute object: {"strides": [1, 2]} gives `strides_ = {1,2};`.
Result<std::string> AttrsOfObject(std::string_view json);

/// The value of a JSON string. invalid_argument for other JSON.
Result<std::string> JsonString(std::string_view json);

}  // namespace weft::page
