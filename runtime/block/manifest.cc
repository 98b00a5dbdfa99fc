#include "weft/block/manifest.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

// Of single values alone: the end of a list or an object of the library takes memory, and without any it ends the program.
using Json = nlohmann::json;

std::string Text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }  // a host's text need not be UTF-8

std::string ListText(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) text += Cat(text.size() > 1 ? "," : "", value);
  return text + "]";
}

template <class Values, class TextOf>
std::string ListText(const Values& values, TextOf text_of) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(text_of(value));
  return ListText(texts);
}

/// An object, member by member.
class Members {
 public:
  void Set(std::string_view key, const Json& value) { SetText(key, Text(value)); }
  void SetText(std::string_view key, std::string_view json) { text_ += Cat(text_.size() > 1 ? "," : "", Text(Json(key)), ":", json); }
  std::string Take() && { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

std::string FloatText(float value) {
  // Shortest text of the float itself, not of the double it widens to.
  const std::string text = Cat(value);
  if (!std::isfinite(value)) return Text(Json(text));
  if (text.find_first_not_of("-0123456789") == std::string::npos) return Text(Json(std::stoll(text)));
  return Text(Json(std::stod(text)));
}

struct ValueText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(int64_t v) const { return Text(Json(v)); }
  std::string operator()(float v) const { return FloatText(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return Text(Json(v)); }
  std::string operator()(DType v) const { return Text(Json(DTypeName(v))); }
  std::string operator()(const PartialShape& v) const { return v.known_rank() ? ListText(v.dims(), *this) : "null"; }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return ListText(values, [this](const T& value) { return (*this)(value); });
  }
};

std::string PortMembers(const PortSpec& port) {
  Members json;
  json.Set("port", port.name);
  if (port.resource) json.Set("type", DTypeName(DType::kResource));
  else if (port.dtype != DType::kInvalid) json.Set("type", DTypeName(port.dtype));
  if (!port.type_attr.empty()) json.Set(port.resource ? "variable_type_attr" : "type_attr", port.type_attr);
  if (port.list == PortList::kHomogeneous) json.Set("list_length_attr", port.list_attr);
  if (port.list == PortList::kTuple && !port.list_attr.empty()) json.Set("type_list_attr", port.list_attr);
  if (port.list == PortList::kTuple && port.list_attr.empty()) json.Set("list", true);
  if (port.kind == PortKind::kReference && !port.resource) json.Set("reference", true);
  if (port.kind == PortKind::kOperation) json.Set("kind", "operation");
  if (port.kind == PortKind::kFeed) json.Set("kind", "feed");
  if (port.kind == PortKind::kStatus) json.Set("kind", "status");
  if (port.optional) json.Set("optional", true);
  json.Set("doc", port.doc);
  return std::move(json).Take();
}

std::string AttrMembers(const AttrSpec& attr) {
  Members json;
  json.Set("name", attr.name);
  json.Set("type", AttrTypeName(attr.type));
  if (attr.inferred) json.Set("inferred", true);
  if (attr.default_value) json.SetText("default", std::visit(ValueText(), *attr.default_value));
  if (attr.minimum) json.Set("minimum", *attr.minimum);
  if (!attr.allowed_types.empty()) json.SetText("allowed", ListText(attr.allowed_types, ValueText()));
  else if (!attr.allowed.empty()) json.SetText("allowed", ListText(attr.allowed, [](const auto& one) { return Text(Json(one)); }));
  json.Set("doc", attr.doc);
  return std::move(json).Take();
}

}  // namespace

std::string WriteManifest(const BlockDef& def) {
  Members json;
  json.Set("block", def.name);
  json.Set("category", def.category);
  json.Set("summary", def.summary);
  if (!def.details.empty()) json.Set("details", def.details);
  if (!def.aliases.empty()) json.SetText("aliases", ListText(def.aliases, [](const auto& one) { return Text(Json(one)); }));
  json.SetText("inputs", ListText(def.inputs, PortMembers));
  json.SetText("outputs", ListText(def.outputs, PortMembers));
  json.SetText("attrs", ListText(def.attrs, AttrMembers));
  Members spellings;
  for (const auto& [spelling, port] : def.port_aliases) spellings.Set(spelling, port);
  if (!def.port_aliases.empty()) json.SetText("palette_spelling", std::move(spellings).Take());
  if (def.structural != Structural::kNone) json.Set("structural", true);
  if (def.stateful) json.Set("stateful", true);
  if (def.internal) json.Set("internal", true);
  json.Set("gradient", def.gradient != nullptr ? "yes" : def.not_differentiable ? "stops" : "none");
  return std::move(json).Take();
}

std::string WriteManifest(const Registry& registry) {
  std::vector<const BlockDef*> blocks;
  for (const auto& def : registry.blocks()) blocks.push_back(def.get());
  return WriteManifest(std::move(blocks));
}

std::string WriteManifest(std::vector<const BlockDef*> blocks) {
  std::sort(blocks.begin(), blocks.end(), [](const BlockDef* a, const BlockDef* b) { return a->name < b->name; });
  std::string out = "[\n";
  for (size_t i = 0; i < blocks.size(); ++i) out += Cat(" ", WriteManifest(*blocks[i]), i + 1 < blocks.size() ? ",\n" : "\n");
  return out + "]\n";
}

std::string PortTypeText(const PortSpec& port) {
  std::string type = port.dtype != DType::kInvalid ? ToString(port.dtype) : port.type_attr.empty() ? "any" : port.type_attr;
  switch (port.kind) {
    case PortKind::kOperation: type = "operation"; break;
    case PortKind::kFeed: type = "feed"; break;
    case PortKind::kStatus: type = "status"; break;
    case PortKind::kReference: type = Cat(port.resource ? "handle of a variable of " : "variable of ", type); break;
    case PortKind::kTensor: break;
  }
  if (port.list == PortList::kHomogeneous) return Cat("list of ", port.list_attr, " ", type);
  if (port.list == PortList::kTuple) return port.list_attr.empty() ? Cat("list of ", type) : Cat("values of ", port.list_attr);
  return type;
}

}  // namespace weft
