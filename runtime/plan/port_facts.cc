#include "runtime/plan/port_facts.h"

#include "weft/block/manifest.h"

namespace weft {
namespace {

/// The types that an input takes: the one that it has, that of another input of the same type attribute, or all that are allowed.
std::string TypesFor(const Node& node, size_t port, FunctionRef<DType(uint32_t v)> type) {
  const PortSpec& spec = node.def->inputs[port];
  if (spec.dtype != DType::kInvalid) return ToString(spec.dtype);
  const int attr = spec.type_attr.empty() ? -1 : node.def->FindAttr(spec.type_attr);
  if (attr < 0) return "any";
  for (size_t p = 0; p < node.def->inputs.size(); ++p) {
    if (p == port || node.def->inputs[p].type_attr != spec.type_attr || node.in_first[p] == node.in_first[p + 1]) continue;
    if (const DType other = type(node.in_first[p]); other != DType::kInvalid) return ToString(other);
  }
  const std::vector<DType>& allowed = node.def->attrs[static_cast<size_t>(attr)].allowed_types;
  std::string types;
  for (DType type : allowed) types += Cat(types.empty() ? "" : "|", type);
  return types.empty() ? "any" : types;
}

/// What the port needs, without prose: a list, a variable or a value of some types, and a shape where its documentation begins with one.
std::string NeededText(const Node& node, size_t port, FunctionRef<DType(uint32_t v)> type) {
  const PortSpec& spec = node.def->inputs[port];
  if (spec.kind != PortKind::kTensor && spec.kind != PortKind::kReference) return PortTypeText(spec);
  std::string text = TypesFor(node, port, type);
  if (spec.kind == PortKind::kReference) text = Cat(spec.resource ? "handle of a variable of " : "variable of ", text);
  if (spec.list != PortList::kSingle) text = Cat("list of ", text);
  const std::string_view doc = spec.doc;
  const size_t end = doc.find(']');
  // A second shape is that of another layout.
  if (doc.starts_with('[') && end != doc.npos && doc.find('[', end) == doc.npos) text += Cat(" ", doc.substr(0, end + 1));
  return text;
}

}  // namespace

Status WithPortFacts(const Graph& graph, const Node& node, Status status, FunctionRef<const Shape*(uint32_t v)> shape) {
  const auto type = [&](uint32_t v) { return node.inputs[v].valid() ? graph.TypeOf(node.inputs[v]) : DType::kInvalid; };
  return WithPortFacts(node, std::move(status), type, shape);
}

Status WithPortFacts(const Node& node, Status status, FunctionRef<DType(uint32_t v)> type, FunctionRef<const Shape*(uint32_t v)> shape) {
  const std::string& name = status.place().port;
  if (status.ok() || name.empty() || node.def == nullptr) return status;
  const std::string_view port = std::string_view(name).substr(0, name.find('['));  // an element of a list port names the port
  const int index = node.def->FindInput(port);
  if (index < 0) return status;
  std::string found;
  for (uint32_t v = node.in_first[index]; v < node.in_first[index + 1] && found.size() < 400; ++v) {
    if (type(v) == DType::kInvalid) continue;
    const Shape* known = shape(v);
    found += Cat(found.empty() ? "" : ", ", type(v), known != nullptr ? Cat(" ", *known) : "");
  }
  return std::move(status).WithNeeded(NeededText(node, static_cast<size_t>(index), type)).WithFound(found);
}

Status AtWiredPort(const BlockDef& def, std::string_view port, DType brought, Status fault) {
  const int wired = def.FindInput(port);
  const std::string& place = fault.place().port;
  const int told = def.FindInput(std::string_view(place).substr(0, place.find('[')));
  if (wired < 0 || told < 0 || wired == told) return fault;
  const PortSpec &here = def.inputs[static_cast<size_t>(wired)], &there = def.inputs[static_cast<size_t>(told)];
  const std::string_view other = std::string_view(fault.found()).substr(0, fault.found().find_first_of(" ,"));
  const bool types = !here.type_attr.empty() && here.type_attr == there.type_attr && brought != DType::kInvalid && !other.empty() && other != ToString(brought);
  Status told_here = types ? Status(fault.code(), Cat("the input '", here.name, "' needs ", other, ", the type of '", there.name, "', found ", brought))
                           : Status(fault.code(), Cat("what the input '", here.name, "' is given does not fit the input '", there.name, "': ", fault.message()));
  told_here = std::move(told_here).WithHint(fault.hint()).WithPhase(fault.phase()).WithBlock(fault.place().block).WithPort(here.name);
  if (types) told_here = std::move(told_here).WithNeeded(other).WithFound(ToString(brought));
  return std::move(told_here).WithCause(std::move(fault));
}

bool MayBeEmpty(const BlockDef& def, const PortSpec& list) {
  if (list.list == PortList::kTuple) return true;
  const int length = def.FindAttr(list.list_attr);
  return list.list == PortList::kHomogeneous && length >= 0 && def.attrs[static_cast<size_t>(length)].minimum == 0;
}

}  // namespace weft
