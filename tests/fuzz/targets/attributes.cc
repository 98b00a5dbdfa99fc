// Attribute text: the first line names the block whose attributes are meant, the rest is the text.
#include <cmath>

#include "runtime/block/attr_settings.h"
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "tests/kit/block_tester.h"

namespace weft::fuzz {
namespace {

const BlockDef& BlockOf(std::string_view name) {
  const Registry& registry = kit::Catalog();
  if (const BlockDef* def = registry.Find(name)) return *def;
  return *registry.blocks()[SeedOf(name) % registry.blocks().size()];
}

/// A list that holds a NaN differs from itself.
bool HasNaN(const AttrValue& value) {
  if (const auto* number = std::get_if<float>(&value)) return std::isnan(*number);
  const auto* list = std::get_if<FloatList>(&value);
  return list != nullptr && std::ranges::any_of(*list, [](float number) { return std::isnan(number); });
}

void CheckReadsBack(const AttrSpec& spec, const AttrValue& value) {
  const std::string text = AttrText(value);
  const auto again = ParseAttrValue(spec.type, text);
  Require(again.ok(), spec.name, " is written as ", text, ", which is refused: ", ToString(again.status()));
  Require(HasNaN(value) || *again == value, spec.name, " is written as ", text, ", which is read as ", AttrText(*again));
}

/// A setting that is changed has its new value, and the text is as good as it was.
void CheckSetting(std::string_view text, const AttrSpec& spec) {
  const auto changed = internal::WithSetting(text, spec.name, "1");
  if (!changed.ok()) return CheckStatus(changed.status());
  internal::Settings settings(*changed);
  internal::Setting setting;
  while (settings.Next(setting)) {
    if (!internal::NamesAttr(setting.name, spec.name)) continue;
    Require(setting.value == "1", spec.name, " was set to 1, and is '", setting.value, "' in ", *changed);
    return;
  }
  throw Finding(Cat(spec.name, " was set, and is not there: ", *changed));
}

}  // namespace

void AttributeText(std::string_view bytes) {
  const size_t line = std::min(bytes.find('\n'), bytes.size());
  const BlockDef& def = BlockOf(bytes.substr(0, line));
  const std::string_view text = bytes.substr(std::min(line + 1, bytes.size()));
  Diagnostics found;
  const std::vector<AttrValue> values = ParseAttrs(text, def.attrs, found);
  CheckFindings(found);
  Require(values.size() == def.attrs.size(), values.size(), " values of ", def.attrs.size(), " attributes");
  for (size_t a = 0; a < values.size(); ++a) {
    if (values[a].index() != 0) CheckReadsBack(def.attrs[a], values[a]);
  }
  if (!def.attrs.empty()) CheckSetting(text, def.attrs[text.size() % def.attrs.size()]);
}

}  // namespace weft::fuzz
