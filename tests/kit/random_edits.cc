#include "tests/kit/random_edits.h"

namespace weft::kit {

Wire RandomEdits::AnyOutput(const Page& page) {
  const PageBlock& block = AnyBlock(page);
  const BlockDef* def = registry_.Find(block.type);
  if (Chance(2)) return {"nowhere", "output", -1};
  if (def == nullptr || def->outputs.empty() || Chance(1)) return {block.id, "operation", -1};
  return {block.id, Any(def->outputs).name, Chance(3) ? static_cast<int>(Below(3)) : -1};
}

InputItem RandomEdits::AnyItem(const Page& page) {
  if (Chance(75)) return AnyOutput(page);
  Literal literal;
  if (Chance(20)) {
    literal.form = Literal::Form::kText;
    literal.text = Chance(80) ? "{1,2}" : "{1,";
    return literal;
  }
  const bool vector = Chance(50);
  literal.tensor = Tensor::Allocate(DType::kFloat, vector ? Shape{2} : Shape{}).value();
  for (float& value : literal.tensor.values<float>()) value = static_cast<float>(Below(7)) - 3;
  literal.dtype = literal.tensor.dtype();
  literal.shape = literal.tensor.shape();
  return literal;
}

// An input of a block, of those that it has, that its type has, or that nothing has.
Wire RandomEdits::AnyInput(const Page& page) {
  const PageBlock& block = AnyBlock(page);
  const BlockDef* def = registry_.Find(block.type);
  Wire to{block.id, "x", -1};
  if (!block.inputs.empty() && Chance(60)) to.port = Any(block.inputs).port;
  else if (def != nullptr && !def->inputs.empty() && Chance(95)) to.port = Any(def->inputs).name;
  for (const PageInput& input : block.inputs) {
    if (input.port == to.port && input.list && Chance(80)) to.index = static_cast<int>(Below(input.items.size() + 1));
  }
  return to;
}

weft::AddBlock RandomEdits::Added(const Page& page) {
  weft::AddBlock edit;
  static const std::vector<std::string> kKinds = {"Add",   "Multiply", "Negate",   "Square",      "Identity",
                                                  "Const", "AddN",     "Variable", "NoSuchBlock", "RandomUniform"};
  edit.block.id = Chance(3) ? "no id" : FreshId();
  edit.block.type = Chance(60) ? Any(kKinds) : AnyBlock(page).type;
  const BlockDef* def = registry_.Find(edit.block.type);
  for (size_t p = 0; def != nullptr && p < def->inputs.size(); ++p) {
    if (Chance(5)) continue;
    const bool list = def->inputs[p].list != PortList::kSingle;
    PageInput input{def->inputs[p].name, list, {}};
    for (uint32_t k = list ? Below(3) : 1; k > 0; --k) input.items.push_back(AnyItem(page));
    edit.block.inputs.push_back(std::move(input));
  }
  edit.block.has_inputs = !edit.block.inputs.empty();
  if (Chance(20)) edit.block.extra = "\"note\": [1, 2]";
  if (Chance(60)) edit.place = Below(page.blocks.size() + 1);
  if (Chance(30)) edit.layout = LayoutEntry{"", static_cast<double>(Below(1000)), 0.5};
  return edit;
}

Edit RandomEdits::Setting(const Page& page) {
  const PageBlock& block = AnyBlock(page);
  const BlockDef* def = registry_.Find(block.type);
  if (Chance(10)) return SetAttrs{block.id, true, "T_ = DT_FLOAT;", "", false};
  if (Chance(5)) return SetAttrs{block.id, false, "", "", false};
  SetAttr edit{block.id, "T", "", "DT_FLOAT"};
  if (def == nullptr || def->attrs.empty()) return edit;
  const AttrSpec& spec = Any(def->attrs);
  edit.attr = spec.name;
  if (Chance(20)) edit.text = "";
  else if (spec.default_value && Chance(70)) edit.text = AttrText(*spec.default_value);
  else if (Chance(50)) edit.text = Chance(50) ? "3" : "true";
  else edit.json = Chance(50) ? "[1, 2]" : "\"NHWC\"", edit.text = "";
  return edit;
}

Edit RandomEdits::Next(const Page& page) {
  if (page.blocks.empty()) {
    weft::AddBlock edit;
    edit.block.id = FreshId();
    edit.block.type = "NoOp";
    return edit;
  }
  const uint32_t kind = Below(100);
  if (kind < 16) return Added(page);
  if (kind < 30) return RemoveBlock{AnyBlock(page).id, Chance(10), Chance(10)};
  if (kind < 55) return Connect{AnyItem(page), AnyInput(page)};
  if (kind < 65) return Disconnect{AnyInput(page)};
  if (kind < 75) {
    Wire to = AnyInput(page);
    PageInput value{to.port, to.index < 0 && Chance(30), {AnyItem(page)}};
    return SetInput{std::move(to), std::move(value), Chance(50) ? -1 : static_cast<int64_t>(Below(3))};
  }
  if (kind < 85) return Setting(page);
  if (kind < 94) return RenameBlock{AnyBlock(page).id, Chance(5) ? AnyBlock(page).id : Chance(5) ? "nowhere" : FreshId()};
  return MoveBlock{AnyBlock(page).id, Chance(20) ? std::nullopt : std::optional(LayoutEntry{"", static_cast<double>(Below(1000)), -2.25}),
                   -1};
}

}  // namespace weft::kit
