#include "weft/block/manifest.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json FloatJson(float value) {
  // Shortest text of the float itself, not of the double it widens to.
  const std::string text = Cat(value);
  if (!std::isfinite(value)) return text;
  if (text.find_first_not_of("-0123456789") == std::string::npos) return std::stoll(text);
  return std::stod(text);
}

Json ShapeJson(const PartialShape& shape) { return shape.known_rank() ? Json(shape.dims()) : Json(nullptr); }

struct ValueJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(int64_t v) const { return v; }
  Json operator()(float v) const { return FloatJson(v); }
  Json operator()(bool v) const { return v; }
  Json operator()(const std::string& v) const { return v; }
  Json operator()(DType v) const { return DTypeName(v); }
  Json operator()(const PartialShape& v) const { return ShapeJson(v); }
  template <class T>
  Json operator()(const std::vector<T>& values) const {
    Json list = Json::array();
    for (const T& value : values) list.push_back((*this)(value));
    return list;
  }
};

Json PortJson(const PortSpec& port) {
  Json json = {{"port", port.name}};
  if (port.resource) json["type"] = DTypeName(DType::kResource);
  else if (port.dtype != DType::kInvalid) json["type"] = DTypeName(port.dtype);
  if (!port.type_attr.empty()) json[port.resource ? "variable_type_attr" : "type_attr"] = port.type_attr;
  if (port.list == PortList::kHomogeneous) json["list_length_attr"] = port.list_attr;
  if (port.list == PortList::kTuple && !port.list_attr.empty()) json["type_list_attr"] = port.list_attr;
  if (port.list == PortList::kTuple && port.list_attr.empty()) json["list"] = true;
  if (port.kind == PortKind::kReference && !port.resource) json["reference"] = true;
  if (port.kind == PortKind::kOperation) json["kind"] = "operation";
  if (port.kind == PortKind::kFeed) json["kind"] = "feed";
  if (port.kind == PortKind::kStatus) json["kind"] = "status";
  if (port.optional) json["optional"] = true;
  json["doc"] = port.doc;
  return json;
}

Json AttrJson(const AttrSpec& attr) {
  Json json = {{"name", attr.name}, {"type", AttrTypeName(attr.type)}};
  if (attr.inferred) json["inferred"] = true;
  if (attr.default_value) json["default"] = std::visit(ValueJson(), *attr.default_value);
  if (attr.minimum) json["minimum"] = *attr.minimum;
  if (!attr.allowed.empty()) json["allowed"] = attr.allowed;
  if (!attr.allowed_types.empty()) {
    json["allowed"] = Json::array();
    for (DType type : attr.allowed_types) json["allowed"].push_back(DTypeName(type));
  }
  json["doc"] = attr.doc;
  return json;
}

}  // namespace

std::string WriteManifest(const BlockDef& def) {
  Json json = {{"block", def.name}, {"category", def.category}, {"summary", def.summary}};
  if (!def.details.empty()) json["details"] = def.details;
  if (!def.aliases.empty()) json["aliases"] = def.aliases;
  for (const char* side : {"inputs", "outputs"}) {
    json[side] = Json::array();
    for (const PortSpec& port : side[0] == 'i' ? def.inputs : def.outputs) json[side].push_back(PortJson(port));
  }
  json["attrs"] = Json::array();
  for (const AttrSpec& attr : def.attrs) json["attrs"].push_back(AttrJson(attr));
  for (const auto& [spelling, port] : def.port_aliases) json["palette_spelling"][spelling] = port;
  if (def.structural != Structural::kNone) json["structural"] = true;
  if (def.stateful) json["stateful"] = true;
  if (def.internal) json["internal"] = true;
  json["gradient"] = def.gradient != nullptr ? "yes" : def.not_differentiable ? "stops" : "none";
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a host's text need not be UTF-8
}

std::string WriteManifest(const Registry& registry) {
  std::vector<const BlockDef*> sorted;
  for (const auto& def : registry.blocks()) sorted.push_back(def.get());
  std::sort(sorted.begin(), sorted.end(), [](const BlockDef* a, const BlockDef* b) { return a->name < b->name; });
  std::string out = "[\n";
  for (size_t i = 0; i < sorted.size(); ++i) out += Cat(" ", WriteManifest(*sorted[i]), i + 1 < sorted.size() ? ",\n" : "\n");
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
