#include "runtime/plan/port_facts.h"

#include <vector>

namespace weft {
namespace {

/// A type as facts name it: a variable, and a handle of one, as TensorFlow names references.
std::string TypeText(DType type, bool variable) { return Cat(type, variable ? "_REF" : ""); }

/// The types that an input takes: the one that it has, that of another input of the same type attribute, or all that are allowed. Empty where
/// it takes any, or no tensor.
std::vector<DType> TypesFor(const Node& node, size_t port, FunctionRef<InputType(uint32_t v)> type) {
  const PortSpec& spec = node.def->inputs[port];
  if (spec.dtype != DType::kInvalid) return {spec.dtype};
  const int attr = spec.type_attr.empty() ? -1 : node.def->FindAttr(spec.type_attr);
  if (attr < 0) return {};
  for (size_t p = 0; p < node.def->inputs.size(); ++p) {
    if (p == port || node.def->inputs[p].type_attr != spec.type_attr || node.in_first[p] == node.in_first[p + 1]) continue;
    if (const DType other = type(node.in_first[p]).type; other != DType::kInvalid) return {other};
  }
  return node.def->attrs[static_cast<size_t>(attr)].allowed_types;
}

/// The shape that a port's documentation begins with. A second one is that of another layout.
std::string_view DocumentedShape(std::string_view doc) {
  const size_t end = doc.find(']');
  const bool one = doc.starts_with('[') && end != doc.npos && doc.find('[', end) == doc.npos;
  return one ? doc.substr(0, end + 1) : std::string_view();
}

std::string NeededText(const Node& node, size_t port, FunctionRef<InputType(uint32_t v)> type, std::string_view shape) {
  const PortSpec& spec = node.def->inputs[port];
  std::string text;
  for (DType one : TypesFor(node, port, type)) text += Cat(text.empty() ? "" : "|", TypeText(one, spec.kind == PortKind::kReference));
  if (const std::string_view documented = DocumentedShape(spec.doc); !documented.empty()) shape = documented;
  return Cat(text, text.empty() || shape.empty() ? "" : " ", shape);
}

}  // namespace

Status WithPortFacts(const Graph& graph, const Node& node, Status status, FunctionRef<const Shape*(uint32_t v)> shape,
                     std::string_view needed_shape) {
  const auto type = [&](uint32_t v) { return node.inputs[v].valid() ? InputTypeOf(graph, node.inputs[v]) : InputType(); };
  return WithPortFacts(node, std::move(status), type, shape, needed_shape);
}

Status WithPortFacts(const Node& node, Status status, FunctionRef<InputType(uint32_t v)> type, FunctionRef<const Shape*(uint32_t v)> shape,
                     std::string_view needed_shape) {
  const std::string& name = status.place().port;
  if (status.ok() || name.empty() || node.def == nullptr) return status;
  const std::string_view port = std::string_view(name).substr(0, name.find('['));  // an element of a list port names the port
  const int index = node.def->FindInput(port);
  if (index < 0) return status;
  const bool reference = node.def->inputs[static_cast<size_t>(index)].kind == PortKind::kReference;  // else a variable gives its value
  std::string found;
  for (uint32_t v = node.in_first[index]; v < node.in_first[index + 1] && found.size() < 400; ++v) {
    const InputType given = type(v);
    if (given.type == DType::kInvalid) continue;
    const Shape* known = shape(v);
    found += Cat(found.empty() ? "" : ", ", TypeText(given.type, reference && given.reference != nullptr), known != nullptr ? Cat(" ", *known) : "");
  }
  return std::move(status).WithNeeded(NeededText(node, static_cast<size_t>(index), type, needed_shape)).WithFound(found);
}

Status AtWiredPort(const BlockDef& def, std::string_view port, DType brought, Status fault) {
  const int wired = def.FindInput(port);
  const std::string& place = fault.place().port;
  const int told = def.FindInput(std::string_view(place).substr(0, place.find('[')));
  if (wired < 0 || told < 0 || wired == told) return fault;
  const PortSpec &here = def.inputs[static_cast<size_t>(wired)], &there = def.inputs[static_cast<size_t>(told)];
  const DType other = DTypeFromName(std::string_view(fault.found()).substr(0, fault.found().find_first_of(" ,"))).value_or(DType::kInvalid);
  const bool types = !here.type_attr.empty() && here.type_attr == there.type_attr && brought != DType::kInvalid && other != DType::kInvalid &&
                     other != brought;
  const bool variable = here.kind == PortKind::kReference;
  Status told_here = types ? Status(fault.code(), Cat("the input '", here.name, "' needs ", other, ", the type of '", there.name, "', found ", brought))
                           : Status(fault.code(), Cat("what the input '", here.name, "' is given does not fit the input '", there.name, "': ", fault.message()));
  told_here = std::move(told_here).WithHint(fault.hint()).WithPhase(fault.phase()).WithBlock(fault.place().block).WithPort(here.name);
  if (types) told_here = std::move(told_here).WithNeeded(TypeText(other, variable)).WithFound(TypeText(brought, variable));
  return std::move(told_here).WithCause(std::move(fault));
}

bool MayBeEmpty(const BlockDef& def, const PortSpec& list) {
  if (list.list == PortList::kTuple) return true;
  const int length = def.FindAttr(list.list_attr);
  return list.list == PortList::kHomogeneous && length >= 0 && def.attrs[static_cast<size_t>(length)].minimum == 0;
}

}  // namespace weft
