// What inspect.h tells, as JSON.
#include "runtime/page/json_text.h"
#include "weft/host/inspect.h"

namespace weft {
namespace {

using page::AppendJsonNumber;
using page::AppendJsonString;
using page::AppendMember;

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

void AppendShape(std::string& out, const PartialShape& shape) {
  out += '[';
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ", ";
    AppendJsonNumber(out, shape.dim(i));
  }
  out += ']';
}

std::string ShapeJson(const PartialShape& shape) {
  std::string out;
  AppendShape(out, shape);
  return out;
}

void AppendType(std::string& out, const PortType& type) {
  out += '{';
  const size_t start = out.size();
  const auto begin = [&](std::string_view key) {
    if (out.size() > start) out += ", ";
    AppendJsonString(out, key);
    out += ": ";
  };
  if (type.dtype != DType::kInvalid) {
    begin("dtype");
    AppendJsonString(out, DTypeName(type.dtype));
  }
  if (type.shape.known_rank()) {
    begin("shape");
    AppendShape(out, type.shape);
  }
  if (type.variable) {
    begin("variable");
    out += "true";
  }
  out += '}';
}

std::string_view StorageName(Slot::Storage storage) {
  switch (storage) {
    case Slot::Storage::kArena: return "arena";
    case Slot::Storage::kKept: return "kept";
    case Slot::Storage::kConstant: return "constant";
    case Slot::Storage::kVariable: return "variable";
    case Slot::Storage::kFeed: return "feed";
    case Slot::Storage::kOwned: return "owned";
    case Slot::Storage::kShared: return "shared";
    case Slot::Storage::kTile: return "tile";
  }
  return "";
}

std::string SlotJson(const Graph& graph, const Slot& slot) {
  std::string members;
  AppendMember(members, "value", Quoted(graph.ValueName(slot.value)));
  AppendMember(members, "dtype", Quoted(DTypeName(slot.dtype)));
  if (slot.shape_known) AppendMember(members, "shape", ShapeJson(slot.shape));
  AppendMember(members, "storage", Quoted(StorageName(slot.storage)));
  if (slot.storage == Slot::Storage::kArena) AppendMember(members, "offset", Cat(slot.offset));
  return Cat("{", members, "}");
}

std::string SlotsJson(const Graph& graph, const Plan& plan, uint32_t first, size_t count) {
  std::string out = "[";
  for (size_t v = 0; v < count; ++v) out += Cat(v > 0 ? ", " : "", SlotJson(graph, plan.slots[plan.operands[first + v]]));
  return out + "]";
}

std::string StepJson(const Graph& graph, const Plan& plan, const Step& step) {
  const Node& node = graph.node(step.node);
  std::string members, updates;
  AppendMember(members, "block", Quoted(node.id));
  AppendMember(members, "type", Quoted(node.def->name));
  AppendMember(members, "kind", Quoted(KindName(step.kind)));
  AppendMember(members, "inputs", SlotsJson(graph, plan, step.first_input, node.inputs.size()));
  AppendMember(members, "outputs", SlotsJson(graph, plan, step.first_output, node.output_types.size()));
  if (const std::string name = ImplementationOf(step); !name.empty()) AppendMember(members, "implementation", Quoted(name));
  if (step.scratch_bytes > 0) AppendMember(members, "scratch_bytes", Cat(step.scratch_bytes));
  for (const Step::Update& update : step.updates) {
    if (update.variable < 0) continue;
    updates += Cat(updates.empty() ? "" : ", ", Quoted(graph.node(graph.variables()[static_cast<size_t>(update.variable)]).id));
  }
  if (!updates.empty()) AppendMember(members, "updates", Cat("[", updates, "]"));
  if (step.loop >= 0) {
    const int frame = plan.loops[static_cast<size_t>(step.loop)].frame;
    AppendMember(members, "loop", Quoted(graph.frames()[static_cast<size_t>(frame)].name));
  }
  return Cat("{", members, "}");
}

}  // namespace

std::string TypeJson(const PortType& type) {
  std::string out;
  AppendType(out, type);
  return out;
}

std::string TypesJson(const Graph& graph, const Inspection& inspection) {
  std::string out;
  for (size_t b = 0; b < graph.page().blocks.size(); ++b) {
    inspection.ForOutputs(graph, static_cast<int>(b), [&](const std::string& name, const PortType& type) {
      out += out.empty() ? "{\n  " : ",\n  ";
      AppendJsonString(out, name);
      out += ": ";
      AppendType(out, type);
    });
  }
  return out.empty() ? "{}\n" : out + "\n}\n";
}

std::string PlanJson(const Graph& graph, const Plan& plan) {
  std::string steps;
  for (const Step& step : plan.steps) steps += Cat(steps.empty() ? "\n    " : ",\n    ", StepJson(graph, plan, step));
  std::string fused;
  for (const FusedSteps& run : plan.fused) fused += Cat(fused.empty() ? "" : ", ", "[", run.first, ", ", run.last, "]");
  return Cat("{\n  \"steps\": [", steps, steps.empty() ? "" : "\n  ", "],\n  \"fused\": [", fused, "],\n  \"arena_bytes\": ", plan.arena_bytes,
             ",\n  \"kept_bytes\": ", plan.kept_bytes, "\n}\n");
}

std::string WiresJson(const Page& page) {
  std::string out;
  for (const PageBlock& block : page.blocks) {
    for (const PageInput& input : block.inputs) {
      for (size_t k = 0; k < input.items.size(); ++k) {
        const Wire* wire = WireOf(input.items[k]);
        if (wire == nullptr) continue;
        out += out.empty() ? "[\n  [" : ",\n  [";
        AppendJsonString(out, ToString(*wire));
        out += ", ";
        AppendJsonString(out, ToString(Wire{block.id, input.port, input.list ? static_cast<int>(k) : -1}));
        out += "]";
      }
    }
  }
  return out.empty() ? "[]\n" : out + "\n]\n";
}

std::string LayoutJson(const std::vector<LayoutEntry>& layout) {
  std::string out;
  for (const LayoutEntry& entry : layout) {
    out += out.empty() ? "{\n  " : ",\n  ";
    AppendJsonString(out, entry.block);
    out += ": [";
    AppendJsonNumber(out, entry.x);
    out += ", ";
    AppendJsonNumber(out, entry.y);
    out += "]";
  }
  return out.empty() ? "{}\n" : out + "\n}\n";
}

}  // namespace weft
