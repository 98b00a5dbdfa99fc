#include "runtime/page/edit_checks.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "runtime/page/edit_attrs.h"
#include "runtime/page/edited_list.h"
#include "runtime/page/json_text.h"
#include "runtime/page/report.h"
#include "runtime/page/unicode.h"

namespace weft::page {
namespace {

constexpr std::string_view kBlockKeys[] = {"id", "block", "attrs", "inputs"};
constexpr std::string_view kLiteralKeys[] = {"dtype", "shape", "values", "text", "file", "offset"};

/// `"a": 1, "b": [2]` in the canonical spelling; none of them may be one that the engine reads.
Result<std::string> Canonical(const std::string& extra, std::span<const std::string_view> known) {
  if (extra.empty()) return std::string();
  WEFT_ASSIGN_OR_RETURN(const std::vector<JsonMember> members, JsonMembers(Cat("{", extra, "}")));
  std::string text;
  for (const JsonMember& member : members) {
    if (std::ranges::find(known, member.key) != known.end()) {
      return InvalidArgument("the key \"", member.key, "\" is one that Weft reads, and cannot be among the others");
    }
    AppendMember(text, member.key, member.value);
  }
  return text;
}

/// Text that is not UTF-8 would be written as another.
Status CheckText(std::string_view what, std::string_view text) {
  return FindInvalidUtf8(text) == text.npos ? Status() : InvalidArgument(what, " needs to be UTF-8");
}

Status CheckWire(const Wire& wire) {
  WEFT_RETURN_IF_ERROR(CheckText("a wire", wire.block));
  WEFT_RETURN_IF_ERROR(CheckText("a wire", wire.port));
  auto parsed = ParseWire(ToString(wire));
  if (!parsed.ok()) return std::move(parsed).status();
  if (*parsed == wire) return {};
  return InvalidArgument("'", wire, "' is not a wire").WithHint("a wire is written ID.port, or ID.port[2]");
}

Status CheckLiteral(const Literal& literal) {
  if (literal.form != Literal::Form::kText && !literal.tensor.defined()) return InvalidArgument("needs a value, found none");
  WEFT_RETURN_IF_ERROR(CheckText("the text of a value", literal.text));
  WEFT_RETURN_IF_ERROR(CheckText("the name of a file", literal.file));
  WEFT_ASSIGN_OR_RETURN(const std::string extra, Canonical(literal.extra, kLiteralKeys));
  if (extra != literal.extra) return InvalidArgument("the keys of a value need to be written as {", extra, "}, found {", literal.extra, "}");
  return {};
}

}  // namespace

Status CheckInput(const PageInput& input, bool imported) {
  WEFT_RETURN_IF_ERROR(imported || input.faulty ? CheckName("a port", input.port) : CheckPort(input.port));
  if (input.faulty) return {};  // as the reader left it; the page has an error there
  if (!input.list && input.items.size() != 1) {
    return InvalidArgument("an input that is no list needs one wire or value, found ", input.items.size()).WithPort(input.port);
  }
  for (const InputItem& item : input.items) {
    const Wire* wire = WireOf(item);
    if (Status status = wire != nullptr ? CheckWire(*wire) : CheckLiteral(*LiteralOf(item)); !status.ok()) {
      return std::move(status).WithPort(input.port);
    }
  }
  return {};
}

Status CheckBlock(PageBlock& block, bool imported) {
  if (!block.faulty) WEFT_RETURN_IF_ERROR(CheckName("a block type", block.type));
  std::unordered_set<std::string_view, NameHash> ports;
  for (const PageInput& input : block.inputs) {
    WEFT_RETURN_IF_ERROR(CheckInput(input, imported));
    if (ports.insert(input.port).second) continue;
    return InvalidArgument("the input '", input.port, "' is written twice").WithPort(input.port);
  }
  SetAttrs attrs{block.id, block.has_attrs, std::move(block.attrs), std::move(block.attrs_object), block.faulty};
  WEFT_RETURN_IF_ERROR(CheckAttrs(attrs));
  block.attrs = std::move(attrs.attrs);
  block.attrs_object = std::move(attrs.attrs_object);
  WEFT_ASSIGN_OR_RETURN(block.extra, Canonical(block.extra, kBlockKeys));
  return {};
}

Status CheckAttrs(SetAttrs& attrs) {
  WEFT_RETURN_IF_ERROR(CheckText("attribute text", attrs.attrs));
  if (attrs.attrs_object.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(const std::vector<JsonMember> members, JsonMembers(attrs.attrs_object));
  std::string text;
  for (const JsonMember& member : members) AppendMember(text, member.key, member.value);
  attrs.attrs_object = Cat("{", text, "}");
  auto settings = AttrsOfObject(attrs.attrs_object);
  // What a page with a fault has there comes back as it was.
  if (!settings.ok()) return attrs.faulty ? Status() : std::move(settings).status();
  attrs.attrs = std::move(*settings);
  return {};
}

Status CheckPlace(int64_t place, size_t size, std::string_view what) {
  if (place >= -1 && place <= static_cast<int64_t>(size)) return {};
  return OutOfRange("needs a place among ", size, " ", what, ", 0 to ", size, ", found ", place).WithHint("leave it out for the end");
}

}  // namespace weft::page
