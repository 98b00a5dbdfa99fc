// Changing one setting among the attributes of a block, in either of their spellings.
#pragma once

#include "weft/page/edit.h"

namespace weft::page {

/// All attributes of the block with one setting changed, as little of their spelling as possible. invalid_argument for a name or value that
/// cannot be written.
Result<SetAttrs> WithAttr(const PageBlock& block, const SetAttr& edit);

/// The members of a JSON object, canonical, in their order.
struct JsonMember {
  std::string key;
  std::string value;  // JSON text
};
/// invalid_argument where the text is not one JSON object; its pointer is the place in the text.
Result<std::vector<JsonMember>> JsonMembers(std::string_view json);

/// The elements of a JSON array, canonical.
Result<std::vector<std::string>> JsonElements(std::string_view json);

/// The text of an attribute object: {"strides": [1, 2]} gives `strides_ = {1,2};`.
Result<std::string> AttrsOfObject(std::string_view json);

/// A JSON string without its quotes and escapes. invalid_argument for other JSON.
Result<std::string> JsonString(std::string_view json);

}  // namespace weft::page
