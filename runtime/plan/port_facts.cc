#include "runtime/plan/port_facts.h"

#include "weft/block/manifest.h"

namespace weft {

Status WithPortFacts(const Graph& graph, const Node& node, Status status, FunctionRef<const Shape*(uint32_t v)> shape) {
  const std::string& name = status.place().port;
  if (status.ok() || name.empty() || node.def == nullptr) return status;
  const std::string_view port = std::string_view(name).substr(0, name.find('['));  // an element of a list port names the port
  const int index = node.def->FindInput(port);
  if (index < 0) return status;
  const PortSpec& spec = node.def->inputs[static_cast<size_t>(index)];
  std::string found;
  for (uint32_t v = node.in_first[index]; v < node.in_first[index + 1] && found.size() < 400; ++v) {
    if (!node.inputs[v].valid()) continue;
    const Shape* known = shape(v);
    found += Cat(found.empty() ? "" : ", ", graph.TypeOf(node.inputs[v]), known != nullptr ? Cat(" ", *known) : "");
  }
  return std::move(status).WithNeeded(Cat(PortTypeText(spec), spec.doc.empty() ? "" : Cat(" ", spec.doc))).WithFound(found);
}

}  // namespace weft
