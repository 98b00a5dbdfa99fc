// Edits as JSON. What they hold of a page is spelled as on a page, and read by its reader.
#include <algorithm>
#include <charconv>

#include "runtime/page/edit_attrs.h"
#include "runtime/page/json_text.h"
#include "runtime/page/report.h"
#include "runtime/page/writer_parts.h"

namespace weft {
namespace {

using page::AppendJsonNumber;
using page::AppendJsonString;
using page::AppendMember;
using page::JsonMember;

/// One edit being written.
class Line {
 public:
  explicit Line(std::string_view op) { String("op", op); }

  void String(std::string_view key, std::string_view text) {
    std::string value;
    AppendJsonString(value, text);
    AppendMember(members_, key, value);
  }
  void Json(std::string_view key, std::string_view value) { AppendMember(members_, key, value); }
  void Flag(std::string_view key, bool value) {
    if (value) AppendMember(members_, key, "true");
  }
  void Place(int64_t place) {
    if (place >= 0) AppendMember(members_, "place", std::to_string(place));
  }
  void Layout(const LayoutEntry& entry) {
    std::string value = "[";
    AppendJsonNumber(value, entry.x);
    value += ", ";
    AppendJsonNumber(value, entry.y);
    AppendMember(members_, "layout", value + "]");
  }
  std::string Take() { return Cat("{", members_, "}"); }

 private:
  std::string members_;
};

std::string Write(const AddBlock& edit) {
  Line line("add");
  std::string block;
  page::AppendBlock(block, edit.block);
  line.Json("block", block);
  line.Place(edit.place);
  if (edit.layout) line.Layout(*edit.layout);
  return line.Take();
}

std::string Write(const RemoveBlock& edit) {
  Line line("remove");
  line.String("block", edit.block);
  line.Flag("keep_wires", edit.keep_wires);
  line.Flag("keep_layout", edit.keep_layout);
  return line.Take();
}

std::string Write(const Connect& edit) {
  Line line("connect");
  if (const Wire* wire = WireOf(edit.item)) {
    line.String("from", ToString(*wire));
  } else {
    std::string value;
    page::AppendInputValue(value, {{}, false, {edit.item}});
    line.Json("value", value);
  }
  line.String("to", ToString(edit.to));
  return line.Take();
}

std::string Write(const Disconnect& edit) {
  Line line("disconnect");
  line.String("to", ToString(edit.to));
  return line.Take();
}

std::string Write(const SetInput& edit) {
  Line line("set");
  line.String("input", ToString(edit.to));
  std::string value = "null";
  if (edit.value) page::AppendInputValue(value = "", *edit.value);
  line.Json("value", value);
  line.Place(edit.place);
  return line.Take();
}

std::string Write(const SetAttr& edit) {
  Line line("set");
  line.String("block", edit.block);
  line.String("attr", edit.attr);
  if (!edit.text.empty()) line.String("text", edit.text);
  else line.Json("value", edit.json.empty() ? "null" : edit.json);
  return line.Take();
}

std::string Write(const SetAttrs& edit) {
  Line line("set");
  line.String("block", edit.block);
  if (!edit.has_attrs) line.Json("attrs", "null");
  else if (!edit.attrs_object.empty()) line.Json("attrs", edit.attrs_object);
  else line.String("attrs", edit.attrs);
  return line.Take();
}

std::string Write(const RenameBlock& edit) {
  Line line("rename");
  line.String("block", edit.block);
  line.String("to", edit.to);
  return line.Take();
}

std::string Write(const MoveBlock& edit) {
  Line line("move");
  line.String("block", edit.block);
  if (edit.layout) line.Layout(*edit.layout);
  else line.Json("layout", "null");
  line.Place(edit.place);
  return line.Take();
}

std::string Write(const SetKey& edit) {
  Line line("set");
  if (!edit.block.empty()) line.String("block", edit.block);
  line.String("key", edit.key);
  line.Json("value", edit.json.empty() ? "null" : edit.json);
  line.Place(edit.place);
  return line.Take();
}

/// The members of one edit being read.
class Members {
 public:
  Members(std::vector<JsonMember> members, const ReadOptions& options) : members_(std::move(members)), options_(options) {}

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  /// The member's JSON; it must be there.
  Result<std::string> Json(std::string_view key) const;
  Result<std::string> String(std::string_view key) const;
  Result<Wire> WireAt(std::string_view key) const;
  Result<bool> Flag(std::string_view key) const;
  Result<int64_t> Place() const;
  Result<std::optional<LayoutEntry>> Layout() const;
  Result<PageBlock> Block(std::string_view key) const;
  /// None for null.
  Result<std::optional<PageInput>> Input(std::string_view key) const;
  /// invalid_argument for members that are not among these.
  Status Only(const std::vector<std::string_view>& known) const;

 private:
  const JsonMember* Find(std::string_view key) const {
    for (const JsonMember& member : members_) {
      if (member.key == key) return &member;
    }
    return nullptr;
  }
  Result<PageBlock> ReadBlock(const std::string& json, std::string_view at, std::string_view key) const;

  std::vector<JsonMember> members_;
  const ReadOptions& options_;
};

Status At(Status status, std::string_view key) { return std::move(status).WithPointer(Cat("/", key)); }

Result<std::string> Members::Json(std::string_view key) const {
  if (const JsonMember* member = Find(key)) return member->value;
  return InvalidArgument("the edit needs the key \"", key, "\"");
}

Result<std::string> Members::String(std::string_view key) const {
  WEFT_ASSIGN_OR_RETURN(const std::string json, Json(key));
  auto text = page::JsonString(json);
  return text.ok() ? std::move(text) : Result<std::string>(At(std::move(text).status(), key));
}

Result<Wire> Members::WireAt(std::string_view key) const {
  WEFT_ASSIGN_OR_RETURN(const std::string text, String(key));
  auto wire = ParseWire(text);
  return wire.ok() ? std::move(wire) : Result<Wire>(At(std::move(wire).status(), key));
}

Result<bool> Members::Flag(std::string_view key) const {
  const JsonMember* member = Find(key);
  if (member == nullptr || member->value == "false") return false;
  if (member->value == "true") return true;
  return At(InvalidArgument("needs true or false, found ", member->value), key);
}

Result<int64_t> Members::Place() const {
  const JsonMember* member = Find("place");
  if (member == nullptr) return int64_t{-1};
  int64_t place = -1;
  const char* end = member->value.data() + member->value.size();
  auto [stop, error] = std::from_chars(member->value.data(), end, place);
  if (error != std::errc() || stop != end || place < 0)
    return At(InvalidArgument("needs a number, 0 or more, found ", member->value), "place");
  return place;
}

Result<std::optional<LayoutEntry>> Members::Layout() const {
  const JsonMember* member = Find("layout");
  if (member == nullptr || member->value == "null") return std::optional<LayoutEntry>();
  LayoutEntry entry;
  auto parts = page::JsonElements(member->value);
  bool good = parts.ok() && parts->size() == 2;
  for (size_t i = 0; good && i < 2; ++i) {
    const std::string& part = (*parts)[i];
    auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), i == 0 ? entry.x : entry.y);
    good = error == std::errc() && stop == part.data() + part.size();
  }
  if (!good) return At(InvalidArgument("needs [x, y], found ", member->value.substr(0, 60)), "layout");
  return std::optional(entry);
}

// As the one block of a page. `at` is where the member stands in that page.
Result<PageBlock> Members::ReadBlock(const std::string& json, std::string_view at, std::string_view key) const {
  ReadPageResult read = ReadPage(Cat("{\"weft\": 1, \"page\": \"\", \"blocks\": [", json, "]}"), options_);
  for (const Diagnostic& diagnostic : read.diagnostics.all()) {
    const weft::Place& place = diagnostic.status.place();
    // Whether the id is good depends on the page.
    if (diagnostic.severity != Severity::kError || place.pointer == "/blocks/0/id") continue;
    std::string pointer = Cat("/", key);
    if (place.pointer.starts_with(at)) pointer += place.pointer.substr(at.size());
    const Status& found = diagnostic.status;
    return Status(found.code(), found.message()).WithHint(found.hint()).WithPort(place.port).WithPointer(pointer);
  }
  if (read.page.blocks.size() != 1) return At(InvalidArgument("needs one block"), key);
  return std::move(read.page.blocks[0]);
}

Result<PageBlock> Members::Block(std::string_view key) const {
  WEFT_ASSIGN_OR_RETURN(const std::string json, Json(key));
  return ReadBlock(json, "/blocks/0", key);
}

Result<std::optional<PageInput>> Members::Input(std::string_view key) const {
  WEFT_ASSIGN_OR_RETURN(const std::string json, Json(key));
  if (json == "null") return std::optional<PageInput>();
  WEFT_ASSIGN_OR_RETURN(PageBlock block,
                        ReadBlock(Cat("{\"id\": \"b\", \"block\": \"B\", \"inputs\": {\"v\": ", json, "}}"), "/blocks/0/inputs/v", key));
  return std::optional(std::move(block.inputs.at(0)));
}

Status Members::Only(const std::vector<std::string_view>& known) const {
  for (const JsonMember& member : members_) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    return At(InvalidArgument("the edit does not know the key \"", member.key, "\"").WithHint(DidYouMean(member.key, known)), member.key);
  }
  return {};
}

Result<Edit> ReadAdd(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "place", "layout"}));
  AddBlock edit;
  WEFT_ASSIGN_OR_RETURN(edit.block, members.Block("block"));
  WEFT_ASSIGN_OR_RETURN(edit.place, members.Place());
  WEFT_ASSIGN_OR_RETURN(edit.layout, members.Layout());
  return Edit(std::move(edit));
}

Result<Edit> ReadRemove(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "keep_wires", "keep_layout"}));
  RemoveBlock edit;
  WEFT_ASSIGN_OR_RETURN(edit.block, members.String("block"));
  WEFT_ASSIGN_OR_RETURN(edit.keep_wires, members.Flag("keep_wires"));
  WEFT_ASSIGN_OR_RETURN(edit.keep_layout, members.Flag("keep_layout"));
  return Edit(std::move(edit));
}

Result<Edit> ReadConnect(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "from", "value", "to"}));
  WEFT_ASSIGN_OR_RETURN(Wire to, members.WireAt("to"));
  if (!members.Has("value")) {
    WEFT_ASSIGN_OR_RETURN(Wire from, members.WireAt("from"));
    return Edit(Connect{std::move(from), std::move(to)});
  }
  if (members.Has("from")) return InvalidArgument("the edit needs \"from\" or \"value\", found both");
  WEFT_ASSIGN_OR_RETURN(std::optional<PageInput> input, members.Input("value"));
  if (!input || input->list || input->items.size() != 1) return At(InvalidArgument("needs one wire or value"), "value");
  return Edit(Connect{std::move(input->items[0]), std::move(to)});
}

Result<Edit> ReadDisconnect(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "to"}));
  WEFT_ASSIGN_OR_RETURN(Wire to, members.WireAt("to"));
  return Edit(Disconnect{std::move(to)});
}

Result<Edit> ReadSetInput(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "input", "value", "place"}));
  SetInput edit;
  WEFT_ASSIGN_OR_RETURN(edit.to, members.WireAt("input"));
  WEFT_ASSIGN_OR_RETURN(edit.value, members.Input("value"));
  WEFT_ASSIGN_OR_RETURN(edit.place, members.Place());
  return Edit(std::move(edit));
}

Result<Edit> ReadSetAttr(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "attr", "value", "text"}));
  SetAttr edit;
  WEFT_ASSIGN_OR_RETURN(edit.block, members.String("block"));
  WEFT_ASSIGN_OR_RETURN(edit.attr, members.String("attr"));
  if (members.Has("text") == members.Has("value")) return InvalidArgument("the edit needs either \"value\" or \"text\"");
  if (members.Has("text")) {
    WEFT_ASSIGN_OR_RETURN(edit.text, members.String("text"));
    if (edit.text.empty())
      return At(InvalidArgument("needs a text, found an empty one").WithHint("\"value\": null stands for the default"), "text");
  } else {
    WEFT_ASSIGN_OR_RETURN(edit.json, members.Json("value"));
    if (edit.json == "null") edit.json.clear();
  }
  return Edit(std::move(edit));
}

Result<Edit> ReadSetAttrs(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "attrs"}));
  SetAttrs edit;
  WEFT_ASSIGN_OR_RETURN(edit.block, members.String("block"));
  WEFT_ASSIGN_OR_RETURN(const std::string json, members.Json("attrs"));
  edit.has_attrs = json != "null";
  if (json.starts_with('{')) {
    auto attrs = page::AttrsOfObject(json);
    if (!attrs.ok()) return At(std::move(attrs).status(), "attrs");
    edit.attrs_object = json;
    edit.attrs = std::move(*attrs);
  } else if (edit.has_attrs) {
    WEFT_ASSIGN_OR_RETURN(edit.attrs, members.String("attrs"));
  }
  return Edit(std::move(edit));
}

Result<Edit> ReadSetKey(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "key", "value", "place"}));
  SetKey edit;
  if (members.Has("block")) {
    WEFT_ASSIGN_OR_RETURN(edit.block, members.String("block"));
    if (edit.block.empty()) return At(InvalidArgument("needs a block's id, found an empty text").WithHint("leave it out for a key of the page"), "block");
  }
  WEFT_ASSIGN_OR_RETURN(edit.key, members.String("key"));
  WEFT_ASSIGN_OR_RETURN(edit.json, members.Json("value"));
  if (edit.json == "null") edit.json.clear();
  WEFT_ASSIGN_OR_RETURN(edit.place, members.Place());
  return Edit(std::move(edit));
}

Result<Edit> ReadRename(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "to"}));
  RenameBlock edit;
  WEFT_ASSIGN_OR_RETURN(edit.block, members.String("block"));
  WEFT_ASSIGN_OR_RETURN(edit.to, members.String("to"));
  return Edit(std::move(edit));
}

Result<Edit> ReadMove(const Members& members) {
  WEFT_RETURN_IF_ERROR(members.Only({"op", "block", "layout", "place"}));
  MoveBlock edit;
  WEFT_ASSIGN_OR_RETURN(edit.block, members.String("block"));
  WEFT_RETURN_IF_ERROR(members.Json("layout").status());
  WEFT_ASSIGN_OR_RETURN(edit.layout, members.Layout());
  WEFT_ASSIGN_OR_RETURN(edit.place, members.Place());
  return Edit(std::move(edit));
}

Result<Edit> ReadEdit(std::string_view json, const ReadOptions& options) {
  WEFT_ASSIGN_OR_RETURN(std::vector<JsonMember> found, page::JsonMembers(json));
  const Members members(std::move(found), options);
  WEFT_ASSIGN_OR_RETURN(const std::string op, members.String("op"));
  if (op == "add") return ReadAdd(members);
  if (op == "remove") return ReadRemove(members);
  if (op == "connect") return ReadConnect(members);
  if (op == "disconnect") return ReadDisconnect(members);
  if (op == "set" && members.Has("input")) return ReadSetInput(members);
  if (op == "set" && members.Has("key")) return ReadSetKey(members);
  if (op == "set") return members.Has("attr") ? ReadSetAttr(members) : ReadSetAttrs(members);
  if (op == "rename") return ReadRename(members);
  if (op == "move") return ReadMove(members);
  const std::vector<std::string_view> ops = {"add", "remove", "connect", "disconnect", "set", "rename", "move"};
  return At(InvalidArgument("there is no edit '", op, "'").WithHint(DidYouMean(op, ops)), "op");
}

// What was said of a part of the text, with the place of the part in front.
Status Within(Status status, std::string_view outer) {
  Status placed(status.code(), status.message());
  const Place& place = status.place();
  return std::move(placed).WithHint(status.hint()).WithBlock(place.block).WithPort(place.port).WithPointer(Cat(outer, place.pointer));
}

}  // namespace

std::string WriteEdits(std::span<const Edit> edits) {
  std::string out = "[";
  for (size_t i = 0; i < edits.size(); ++i) {
    out += i == 0 ? "\n  " : ",\n  ";
    out += std::visit([](const auto& edit) { return Write(edit); }, edits[i]);
  }
  return out + (edits.empty() ? "]\n" : "\n]\n");
}

Result<std::vector<Edit>> ReadEdits(std::string_view json, const ReadOptions& options) {
  const size_t start = json.find_first_not_of(" \t\r\n");
  std::vector<std::string> texts;
  if (start != json.npos && json[start] == '{') {
    texts.emplace_back(json);
  } else {
    auto elements = page::JsonElements(json);
    if (!elements.ok()) return std::move(elements).status().WithPage(options.name);
    texts = std::move(*elements);
  }
  std::vector<Edit> edits;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto edit = ReadEdit(texts[i], options);
    if (!edit.ok()) return Within(std::move(edit).status(), Cat("/", i)).WithPage(options.name);
    edits.push_back(std::move(*edit));
  }
  return edits;
}

}  // namespace weft
