#include "weft/block/block.h"

namespace weft {
namespace {

/// "the type of x, y and z": the ports that carry a type attribute.
std::string TypeDoc(const BlockDef& def, std::string_view type_attr) {
  std::vector<std::string_view> ports;
  for (const auto* side : {&def.inputs, &def.outputs}) {
    for (const PortSpec& port : *side) {
      if (port.type_attr == type_attr) ports.push_back(port.name);
    }
  }
  if (ports.empty()) return "the type of the elements";
  std::string doc = "the type of ";
  for (size_t i = 0; i < ports.size(); ++i) AppendText(doc, Cat(i == 0 ? "" : i + 1 == ports.size() ? " and " : ", ", ports[i]));
  return doc;
}

}  // namespace

void BlockParts::AddInput(PortSpec port) { def.inputs.push_back(std::move(port)); }
void BlockParts::AddOutput(PortSpec port) { def.outputs.push_back(std::move(port)); }
void BlockParts::AddAttr(AttrSpec attr) { def.attrs.push_back(std::move(attr)); }

void BlockParts::AddTypes(const char* type_attr, std::vector<DType> dtypes) {
  int index = def.FindAttr(type_attr);
  if (index < 0) {
    AttrSpec spec;
    spec.name = type_attr;
    spec.type = AttrType::kType;
    spec.inferred = true;
    spec.doc = TypeDoc(def, type_attr);
    AddAttr(std::move(spec));
    index = static_cast<int>(def.attrs.size()) - 1;
  }
  def.attrs[index].allowed_types = std::move(dtypes);
}

void BlockParts::AddDetails(const char* text) { def.details = text; }
void BlockParts::AddAlias(const char* name) { def.aliases.emplace_back(name); }
void BlockParts::AddPortAlias(const char* spelling, const char* port) { def.port_aliases.emplace_back(spelling, port); }
void BlockParts::MarkInferred(const char* attr) { def.attrs[def.FindAttr(attr)].inferred = true; }

void BlockParts::SetPlan(std::function<Status(PlanContext&, PlannedBlock&)> plan) {
  def.plan = [plan = std::move(plan)](PlanContext& ctx) -> Result<PlannedBlock> {
    PlannedBlock planned;
    WEFT_RETURN_IF_ERROR(plan(ctx, planned));
    return planned;
  };
}

BlockDef BlockParts::WithBind(BlockDef def, BindFunction bind) {
  def.stateful = true;
  def.plan = [inner = std::move(def.plan), bind](PlanContext& ctx) -> Result<PlannedBlock> {
    auto planned = inner(ctx);
    if (planned.ok()) planned->bind = bind;
    return planned;
  };
  return def;
}

BlockBuilder<> Block(const char* name, const char* summary) {
  BlockParts parts;
  parts.def.name = name;
  parts.def.summary = summary;
  return BlockBuilder<>(std::move(parts));
}

}  // namespace weft
