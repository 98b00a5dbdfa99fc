#include "weft/block/def.h"

namespace weft {
namespace {

int FindPort(const std::vector<PortSpec>& ports, std::string_view name) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

PortSpec::PortSpec() = default;
PortSpec::PortSpec(const PortSpec& other) = default;
PortSpec::PortSpec(PortSpec&& other) noexcept = default;
PortSpec& PortSpec::operator=(const PortSpec& other) = default;
PortSpec& PortSpec::operator=(PortSpec&& other) noexcept = default;
PortSpec::~PortSpec() = default;

AttrSpec::AttrSpec() = default;
AttrSpec::AttrSpec(const AttrSpec& other) = default;
AttrSpec::AttrSpec(AttrSpec&& other) noexcept = default;
AttrSpec& AttrSpec::operator=(const AttrSpec& other) = default;
AttrSpec& AttrSpec::operator=(AttrSpec&& other) noexcept = default;
AttrSpec::~AttrSpec() = default;

BlockDef::BlockDef() = default;
BlockDef::BlockDef(const BlockDef& other) = default;
BlockDef::BlockDef(BlockDef&& other) noexcept = default;
BlockDef& BlockDef::operator=(const BlockDef& other) = default;
BlockDef& BlockDef::operator=(BlockDef&& other) noexcept = default;
BlockDef::~BlockDef() = default;

int BlockDef::FindInput(std::string_view port) const {
  int found = FindPort(inputs, port);
  for (size_t i = 0; found < 0 && i < port_aliases.size(); ++i) {
    if (port_aliases[i].first == port) found = FindPort(inputs, port_aliases[i].second);
  }
  return found;
}

int BlockDef::FindOutput(std::string_view port) const { return FindPort(outputs, port); }

int BlockDef::FindAttr(std::string_view attr) const {
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (attrs[i].name == attr) return static_cast<int>(i);
    if (attr.size() == attrs[i].name.size() + 1 && attr.back() == '_' && attr.starts_with(attrs[i].name)) return static_cast<int>(i);
  }
  return -1;
}

PortSpec MakePortSpec(const char* name, const char* type, const char* doc) {
  PortSpec spec;
  spec.name = name;
  spec.doc = doc;
  if (auto dtype = DTypeFromName(type)) spec.dtype = *dtype;
  else spec.type_attr = type;
  return spec;
}

}  // namespace weft
