#include "runtime/page/edit_keys.h"

#include <algorithm>

#include "runtime/page/edit_attrs.h"
#include "runtime/page/json_text.h"
#include "runtime/page/unicode.h"
#include "runtime/page/writer_parts.h"

namespace weft::page {
namespace {

// Between unknown keys, as pages are written: a block has its keys on one line, a page each of its own on a line.
constexpr std::string_view kBlockSeparator = ", ", kPageSeparator = ",\n  ";

/// One JSON value in canonical spelling.
Result<std::string> Canonical(const std::string& json, const std::string& key) {
  auto values = JsonElements(Cat("[", json, "]"));
  if (values.ok() && values->size() == 1) return std::move((*values)[0]);
  return InvalidArgument("the key \"", key, "\" needs one JSON value, found ", json.substr(0, 60)).WithPort(key);
}

/// Changes one of the members in `extra`, which `separator` stands between; gives its value before, empty where there was none, and its place.
Result<SetKey> SetMember(std::string& extra, std::string_view separator, const SetKey& edit) {
  if (FindInvalidUtf8(edit.key) != edit.key.npos) return InvalidArgument("a key needs to be UTF-8").WithPort(edit.key);
  WEFT_ASSIGN_OR_RETURN(std::vector<JsonMember> members, JsonMembers(Cat("{", extra, "}")));
  std::string value;
  if (!edit.json.empty()) {
    WEFT_ASSIGN_OR_RETURN(value, Canonical(edit.json, edit.key));
  }
  SetKey undo{edit.block, edit.key, "", -1};
  auto member = std::ranges::find(members, edit.key, &JsonMember::key);
  if (member != members.end()) {
    undo.json = member->value;
    undo.place = member - members.begin();
    if (value.empty()) members.erase(member);
    else member->value = std::move(value);
  } else if (value.empty()) {
    return NotFound("there is no key \"", edit.key, "\"").WithPort(edit.key);
  } else {
    if (edit.place < -1 || edit.place > static_cast<int64_t>(members.size())) {
      return OutOfRange("needs a place among ", members.size(), " keys, 0 to ", members.size(), ", found ", edit.place).WithPort(edit.key).WithHint("leave it out for the end");
    }
    members.insert(edit.place < 0 ? members.end() : members.begin() + static_cast<ptrdiff_t>(edit.place), {edit.key, std::move(value)});
  }
  extra.clear();
  for (const JsonMember& kept : members) AppendMember(extra, kept.key, kept.value, separator);
  return undo;
}

Result<SetKey> SetName(Page& page, const SetKey& edit, bool undoing) {
  if (edit.json.empty()) return InvalidArgument("a page needs a name").WithPort(edit.key);
  auto name = JsonString(edit.json);
  if (!name.ok()) return std::move(name).status().WithPort(edit.key);
  if (!undoing && name->find('\0') != name->npos) {
    return InvalidArgument("the name of a page needs to be without NUL characters").WithPort(edit.key);
  }
  SetKey undo{"", edit.key, "", -1};
  AppendJsonString(undo.json, page.name);
  page.name = std::move(*name);
  return undo;
}

Result<SetKey> SetLayout(Page& page, const SetKey& edit) {
  SetKey undo{"", edit.key, LayoutText(page), -1};
  Page read;  // its layout as a page's reader takes it
  if (!edit.json.empty()) {
    WEFT_ASSIGN_OR_RETURN(const std::string json, Canonical(edit.json, edit.key));
    ReadPageResult result = ReadPage(Cat("{\"weft\": 1, \"page\": \"\", \"blocks\": [], \"layout\": ", json, "}"), {});
    if (result.diagnostics.has_errors()) {
      const Status first = result.diagnostics.FirstError();
      return Status(first.code(), first.message()).WithHint(first.hint()).WithPort(edit.key);
    }
    read = std::move(result.page);
  }
  page.has_layout = read.has_layout;
  page.layout = std::move(read.layout);
  page.layout_text = std::move(read.layout_text);
  return undo;
}

}  // namespace

Result<SetKey> SetBlockKey(PageBlock& block, const SetKey& edit) {
  std::string_view hint;
  if (edit.key == "id") hint = "the edit \"rename\" changes it";
  else if (edit.key == "block") hint = "remove the block, and add one of the other type";
  else if (edit.key == "attrs") hint = "\"attr\" or \"attrs\" instead of \"key\" sets attributes";
  else if (edit.key == "inputs") hint = "\"input\" instead of \"key\" sets an input";
  if (!hint.empty()) return InvalidArgument("the key \"", edit.key, "\" is not set as a key").WithBlock(block.id).WithPort(edit.key).WithHint(hint);
  auto undo = SetMember(block.extra, kBlockSeparator, edit);
  return undo.ok() ? std::move(undo) : Result<SetKey>(std::move(undo).status().WithBlock(block.id));
}

Result<SetKey> SetPageKey(Page& page, const SetKey& edit, bool undoing) {
  if (edit.key == "page") return SetName(page, edit, undoing);
  if (edit.key == "layout") return SetLayout(page, edit);
  if (edit.key == "weft" || edit.key == "blocks") {
    return InvalidArgument("the key \"", edit.key, "\" of a page is not set as a key").WithPort(edit.key).WithHint("\"add\" and \"remove\" change its blocks");
  }
  return SetMember(page.extra, kPageSeparator, edit);
}

}  // namespace weft::page
