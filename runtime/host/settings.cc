#include "weft/host/settings.h"

#include <algorithm>

#include "weft/page/edit.h"
#include "weft/page/literal.h"

namespace weft {
namespace {

/// The text as a literal of the type that the page's literal at this input has; of its shape, too, where the text has as many elements.
Literal AsBefore(const PageBlock& block, const BlockDef& def, int input, const std::string& text) {
  Literal literal;
  literal.form = Literal::Form::kText;
  literal.text = text;
  for (const PageInput& before : block.inputs) {
    const Literal* old = before.items.size() == 1 && def.FindInput(before.port) == input ? LiteralOf(before.items[0]) : nullptr;
    if (old == nullptr) continue;
    literal.dtype = old->dtype;
    if (old->shape && ParseTextLiteral(text, old->dtype, old->shape).ok()) literal.shape = old->shape;
  }
  return literal;
}

/// A pin of an imported page may hold an attribute's value as an input.
Status SetAttribute(Page& page, PageBlock& block, const BlockDef& def, int attr, const std::string& value) {
  std::erase_if(block.inputs, [&](const PageInput& input) { return def.FindAttr(input.port) == attr; });
  const Edit edit = SetAttr{block.id, def.attrs[static_cast<size_t>(attr)].name, "", value};
  return ApplyEdits(page, std::span(&edit, 1)).status();
}

void SetInputText(PageBlock& block, const BlockDef& def, int input, const std::string& value) {
  Literal literal = AsBefore(block, def, input, value);
  std::erase_if(block.inputs, [&](const PageInput& before) { return def.FindInput(before.port) == input; });
  block.inputs.push_back({def.inputs[static_cast<size_t>(input)].name, false, {std::move(literal)}});
  block.has_inputs = true;
}

}  // namespace

Status ApplySetting(Page& page, const Registry& registry, std::string_view setting) {
  const size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const size_t dot = name.rfind('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0) {
    return InvalidArgument("a setting needs the form ID.pin=VALUE, found '", setting, "'");
  }
  const std::string_view id = name.substr(0, dot), pin = name.substr(dot + 1);
  const std::string value(setting.substr(equals + 1));
  const int index = page.Find(id);
  if (index < 0) {
    std::vector<std::string_view> ids;
    for (const PageBlock& block : page.blocks) ids.push_back(block.id);
    return NotFound("the setting '", name, "': there is no block '", id, "'").WithHint(DidYouMean(id, ids));
  }
  PageBlock& block = page.blocks[static_cast<size_t>(index)];
  const BlockDef* def = registry.Find(block.type);
  if (def == nullptr) return NotFound("the setting '", name, "': the block type '", block.type, "' is not known");
  const int input = def->FindInput(pin), attr = def->FindAttr(pin);
  if (input < 0 && attr < 0) {
    std::vector<std::string_view> pins;
    for (const PortSpec& port : def->inputs) pins.push_back(port.name);
    for (const AttrSpec& spec : def->attrs) pins.push_back(spec.name);
    return NotFound("the setting '", name, "': ", def->name, " has no input or attribute '", pin, "'").WithHint(DidYouMean(pin, pins));
  }
  if (input < 0) return SetAttribute(page, block, *def, attr, value);
  SetInputText(block, *def, input, value);
  return {};
}

}  // namespace weft
