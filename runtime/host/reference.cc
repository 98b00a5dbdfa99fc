#include "weft/host/reference.h"

#include <algorithm>
#include <map>
#include <vector>

#include "weft/block/manifest.h"

namespace weft {
namespace {

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

const AttrSpec* AttrOf(const BlockDef& def, const std::string& name) {
  const int index = def.FindAttr(name);
  return index < 0 ? nullptr : &def.attrs[static_cast<size_t>(index)];
}

/// The default type, else DT_FLOAT where it is allowed, else the first allowed type.
DType TypeFor(const AttrSpec* attr) {
  if (attr == nullptr || attr->allowed_types.empty()) return DType::kFloat;
  if (attr->default_value && std::holds_alternative<DType>(*attr->default_value)) return std::get<DType>(*attr->default_value);
  const auto& types = attr->allowed_types;
  return std::find(types.begin(), types.end(), DType::kFloat) != types.end() ? DType::kFloat : types[0];
}

DType TypeFor(const BlockDef& def, const PortSpec& port) {
  if (port.dtype != DType::kInvalid) return port.dtype;
  const std::string& attr = port.type_attr.empty() ? port.list_attr : port.type_attr;
  return attr.empty() ? DType::kFloat : TypeFor(AttrOf(def, attr));
}

/// A valid value for an attribute: the default, unless `given`.
std::string ValueFor(const AttrSpec& attr, bool given = false) {
  if (attr.default_value && !given) return AttrText(*attr.default_value);
  const int64_t least = std::max<int64_t>(attr.minimum.value_or(1), 1);
  const auto repeated = [](int64_t times, const char* one) {
    std::string list = "{";
    for (int64_t i = 0; i < times; ++i) list += Cat(i == 0 ? "" : ",", one);
    return list + "}";
  };
  switch (attr.type) {
    case AttrType::kInt: return Cat(least);
    case AttrType::kFloat: return "1";
    case AttrType::kBool: return "false";
    case AttrType::kString: return attr.allowed.empty() ? "name" : attr.allowed[0];
    case AttrType::kType: return ToString(TypeFor(&attr));
    case AttrType::kShape: return "{2}";
    case AttrType::kInts: return repeated(attr.minimum ? least : 4, "1");
    case AttrType::kFloats: return repeated(least, "1");
    case AttrType::kStrings: return repeated(least, "name");
    case AttrType::kTypes: return repeated(least, "DT_FLOAT");
    case AttrType::kShapes: return repeated(least, "{2}");
  }
  return "";
}

/// The attributes without a default, as a page writes them; where there are lists of types and of shapes, both when one is needed.
std::string RequiredAttrs(const BlockDef& def) {
  const auto needed = [&](AttrType type) {
    return std::ranges::any_of(def.attrs, [&](const AttrSpec& attr) { return attr.type == type && !attr.inferred && !attr.default_value; });
  };
  const auto has = [&](AttrType type) {
    return std::ranges::any_of(def.attrs, [&](const AttrSpec& attr) { return attr.type == type && !attr.inferred; });
  };
  const bool lists = has(AttrType::kTypes) && has(AttrType::kShapes) && (needed(AttrType::kTypes) || needed(AttrType::kShapes));
  std::string attrs;
  for (const AttrSpec& attr : def.attrs) {
    const bool of_lists = lists && (attr.type == AttrType::kTypes || attr.type == AttrType::kShapes);
    if (attr.inferred || (attr.default_value && !of_lists)) continue;
    attrs += Cat(attr.name, "_ = ", ValueFor(attr, of_lists), ";");
  }
  return attrs;
}

std::string BlockLine(const std::string& id, const std::string& block, const std::string& attrs, const std::string& inputs) {
  return Cat("{\"id\": \"", id, "\", \"block\": \"", block, "\"", attrs.empty() ? "" : Cat(", \"attrs\": \"", attrs, "\""),
             inputs.empty() ? "" : Cat(", \"inputs\": {", inputs, "}"), "}");
}

bool IsHandle(const PortSpec& port) { return port.kind == PortKind::kTensor && port.dtype == DType::kResource; }

size_t CommonLength(const std::string& a, const std::string& b) {
  size_t longest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t length = longest + 1;
    while (i + length <= a.size() && b.find(a.substr(i, length)) != std::string::npos) longest = length++;
  }
  return longest;
}

/// The block that makes a handle for the port: a queue for queue_handle, a reader for ReaderRead's handle. Found by similar names.
const BlockDef* MakerOfHandle(const Registry& registry, const BlockDef& def, const PortSpec& port) {
  const std::string word = port.name.substr(0, port.name.find("handle"));
  const std::string wanted = LowerCase(word.size() > 4 ? word.substr(0, word.find('_')) : def.name);
  const BlockDef* maker = nullptr;
  size_t common = 3;
  for (const auto& other : registry.blocks()) {
    const bool takes_handle = std::any_of(other->inputs.begin(), other->inputs.end(), IsHandle);
    if (other->internal || other->outputs.empty() || !IsHandle(other->outputs[0]) || takes_handle) continue;
    if (const size_t length = CommonLength(wanted, LowerCase(other->name)); length > common) {
      common = length;
      maker = other.get();
    }
  }
  return maker;
}

struct PageLines {
  const Registry& registry;
  std::vector<std::string> lines;

  /// Adds a block whose output fits the port; returns the wire from it.
  std::string AddSource(const BlockDef& def, const PortSpec& port, const std::string& id) {
    const DType type = TypeFor(def, port);
    if (port.kind == PortKind::kReference) {
      if (port.resource) {
        lines.push_back(BlockLine(id, "VarHandleOp", Cat("dtype_ = ", type, ";shape_ = {2};"), ""));
        return id + ".resource";
      }
      const bool scalar = port.doc.find("scalar") != std::string::npos;
      std::string values = type == DType::kString ? "\"a\", \"b\"" : type == DType::kBool ? "false, true" : "1, 2";
      if (scalar) values.resize(values.find(','));
      lines.push_back(BlockLine(id, "Variable", "", Cat("\"initvalues\": {\"dtype\": \"", type, "\", \"shape\": ", scalar ? "[]" : "[2]",
                                                         ", \"values\": [", values, "]}")));
      return id + ".ref";
    }
    if (const BlockDef* maker = IsHandle(port) ? MakerOfHandle(registry, def, port) : nullptr; maker != nullptr) {
      const std::string inputs = AddSources(*maker, id + "_");
      lines.push_back(BlockLine(id, maker->name, RequiredAttrs(*maker), inputs));
      return Cat(id, ".", maker->outputs[0].name);
    }
    lines.push_back(BlockLine(id, "Placeholder", Cat("dtype_ = ", type, ";"), ""));
    return id + ".output";
  }

  /// Adds blocks for all inputs; returns the text of the inputs.
  std::string AddSources(const BlockDef& def, const std::string& prefix) {
    std::string inputs;
    for (const PortSpec& port : def.inputs) {
      const bool list = port.list != PortList::kSingle;
      std::string wires;
      for (int k = 0; k < (list ? 2 : 1); ++k) {
        const std::string id = list ? Cat(prefix, port.name, "_", k) : prefix + port.name;
        wires += Cat(k == 0 ? "" : ", ", "\"", AddSource(def, port, id), "\"");
      }
      inputs += Cat(inputs.empty() ? "" : ", ", "\"", port.name, "\": ", list ? "[" : "", wires, list ? "]" : "");
    }
    return inputs;
  }
};

/// An id that no input has.
std::string IdFor(const BlockDef& def) {
  const std::string id = LowerCase(def.name);
  return def.FindInput(id) < 0 && id != "run" ? id : id + "_block";
}

/// Text in a cell of a table.
std::string Cell(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.replace(at, 1, "\\|");
  return text;
}

std::string PortRows(const char* title, const std::vector<PortSpec>& ports) {
  if (ports.empty()) return "";
  std::string text = Cat("\n## ", title, "\n\n| port | type | what it is |\n| --- | --- | --- |\n");
  for (const PortSpec& port : ports) {
    const char* open = port.optional ? ", may be left open" : "";
    text += Cat("| `", port.name, "` | ", Cell(PortTypeText(port)), open, " | ", Cell(port.doc), " |\n");
  }
  return text;
}

std::string AttrTable(const BlockDef& def) {
  if (def.attrs.empty()) return "";
  std::string text = "\n## Attributes\n\n| attribute | type | default | values | what it is |\n| --- | --- | --- | --- | --- |\n";
  for (const AttrSpec& attr : def.attrs) {
    const std::string given = attr.default_value ? AttrText(*attr.default_value) : "";
    const std::string fallback = attr.inferred ? "follows from the inputs" : !attr.default_value ? "must be given"
                                 : given.empty() ? "empty" : Cat("`", given, "`");
    text += Cat("| `", attr.name, "_` | ", AttrTypeName(attr.type), " | ", Cell(fallback), " | ", Cell(ValuesText(attr)), " | ");
    text += Cell(attr.doc) + " |\n";
  }
  return text;
}

std::string NamesText(const BlockDef& def) {
  std::string text;
  for (const std::string& alias : def.aliases) text += Cat(text.empty() ? "Also called " : ", ", "`", alias, "`");
  if (!text.empty()) text += ".\n";
  for (const auto& [spelling, port] : def.port_aliases) text += Cat("Some pages spell `", port, "` as `", spelling, "`.\n");
  return text.empty() ? "" : "\n" + text;
}

const char* GradientText(const BlockDef& def) {
  if (def.gradient != nullptr) return "The block has a gradient: `AddSymbolicGradients` goes through it.";
  return def.not_differentiable ? "Gradients stop at this block." : "The block has no gradient: a gradient through it is refused.";
}

}  // namespace

Result<const BlockDef*> FindBlock(const Registry& registry, const std::string& name) {
  if (const BlockDef* def = registry.Find(name)) return def;
  return NotFound("there is no block '", name, "'").WithHint(DidYouMean(name, registry.Names()));
}

std::string ValuesText(const AttrSpec& attr) {
  std::string text;
  for (DType type : attr.allowed_types) text += Cat(text.empty() ? "" : " ", type);
  for (const std::string& value : attr.allowed) text += Cat(text.empty() ? "" : " | ", value.empty() ? "\"\"" : value);
  return text;
}

std::string ExampleLine(const BlockDef& def) {
  std::string inputs;
  for (const PortSpec& port : def.inputs) {
    if (port.optional) continue;
    const bool list = port.list != PortList::kSingle;
    inputs += Cat(inputs.empty() ? "" : ", ", "\"", port.name, "\": ", list ? "[" : "", "\"other.output\"", list ? "]" : "");
  }
  return BlockLine(LowerCase(def.name), def.name, RequiredAttrs(def), inputs);
}

std::string ExamplePage(const Registry& registry, const BlockDef& def) {
  PageLines made{registry, {}};
  const std::string id = IdFor(def);
  const std::string inputs = made.AddSources(def, "");
  std::vector<std::string>& lines = made.lines;
  lines.push_back(BlockLine(id, def.name, RequiredAttrs(def), inputs));
  const PortSpec* output = def.outputs.empty() ? nullptr : &def.outputs[0];
  const bool carries = output != nullptr && output->kind == PortKind::kTensor && !IsHandle(*output);
  const std::string wire = carries ? Cat(id, ".", output->name, output->list != PortList::kSingle ? "[0]" : "") : Cat(id, ".operation");
  lines.push_back(BlockLine("run", "ClientSession", "", Cat(carries ? "\"fetch_outputs\": [\"" : "\"run_outputs\": [\"", wire, "\"]")));
  std::string page = Cat("{\n  \"weft\": 1,\n  \"page\": \"", id, "\",\n  \"blocks\": [\n");
  for (size_t i = 0; i < lines.size(); ++i) page += Cat("    ", lines[i], i + 1 < lines.size() ? ",\n" : "\n");
  return page + "  ]\n}\n";
}

std::string BlockMarkdown(const Registry& registry, const BlockDef& def) {
  std::string text = Cat("# ", def.name, "\n\n", def.summary, def.details.empty() ? "" : " ", def.details, "\n", NamesText(def));
  text += PortRows("Inputs", def.inputs) + PortRows("Outputs", def.outputs) + AttrTable(def);
  if (def.structural == Structural::kNone) text += Cat("\n## Gradient\n\n", GradientText(def), "\n");
  const bool alone = def.structural == Structural::kNone && def.category != "control_flow_ops" && def.name != "DestroyTemporaryVariable";
  text += Cat("\n## Example\n\n```json\n", alone ? ExamplePage(registry, def) : ExampleLine(def) + "\n", "```\n");
  return text + Cat("\nCategory ", def.category, "; [all blocks](README.md).\n");
}

std::string IndexMarkdown(const Registry& registry) {
  std::map<std::string, std::map<std::string, const BlockDef*>> categories;
  size_t count = 0;
  for (const auto& def : registry.blocks()) {
    if (def->internal) continue;
    categories[def->category][def->name] = def.get();
    ++count;
  }
  std::string text = Cat("# Blocks\n\n", count, " blocks, by category:");
  for (const auto& [category, blocks] : categories) text += Cat(" [", category, "](#", LowerCase(category), ") (", blocks.size(), ")");
  text += "\n";
  for (const auto& [category, blocks] : categories) {
    text += Cat("\n## ", category, "\n\n| block | what it does |\n| --- | --- |\n");
    for (const auto& [name, def] : blocks) text += Cat("| [", name, "](", name, ".md) | ", Cell(def->summary), " |\n");
  }
  return text;
}

}  // namespace weft
