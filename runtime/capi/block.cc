// Blocks of the host: their declarations.
#include "weft/block/block.h"

#include "runtime/capi/dtypes.h"
#include "runtime/capi/host_block.h"
#include "runtime/capi/objects.h"

using namespace weft;
using namespace weft::capi;

namespace {

std::string TextOf(const char* text) { return text == nullptr ? std::string() : text; }

Result<std::optional<AttrType>> AttrTypeFrom(const char* name) {
  WEFT_RETURN_IF_ERROR(NeedPointer(name, "type"));
  for (int i = 0; i <= static_cast<int>(AttrType::kShapes); ++i) {
    if (AttrTypeName(static_cast<AttrType>(i)) == name) return std::optional(static_cast<AttrType>(i));
  }
  return InvalidArgument("needs an attribute type such as int or list(int), found '", name, "'");
}

Result<PortSpec> ReadPort(const weft_port& port) {
  WEFT_RETURN_IF_ERROR(NeedPointer(port.name, "port name"));
  const bool list = port.list == WEFT_LIST, tuple = port.list == WEFT_TUPLE;
  if (!list && !tuple && port.list != WEFT_SINGLE) return InvalidArgument("needs WEFT_SINGLE, WEFT_LIST or WEFT_TUPLE, found ", port.list);
  if ((list || tuple) && TextOf(port.list_attr).empty()) return InvalidArgument("a list port needs a list_attr");
  if (!tuple) WEFT_RETURN_IF_ERROR(NeedPointer(port.type, "type"));
  PortSpec spec = MakePortSpec(port.name, tuple ? "" : port.type, TextOf(port.doc).c_str());
  spec.list = list ? PortList::kHomogeneous : tuple ? PortList::kTuple : PortList::kSingle;
  if (list || tuple) spec.list_attr = port.list_attr;
  return spec;
}

Result<std::vector<PortSpec>> ReadPorts(const weft_port* ports, size_t count, std::string_view what) {
  if (count > kMostHostPorts) return Unsupported("needs at most ", kMostHostPorts, " ", what, ", found ", count);
  if (count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(ports, what));
  std::vector<PortSpec> specs;
  for (size_t i = 0; i < count; ++i) {
    auto spec = ReadPort(ports[i]);
    if (!spec.ok()) return std::move(spec).status().WithPort(TextOf(ports[i].name));
    specs.push_back(std::move(*spec));
  }
  return specs;
}

Result<AttrSpec> ReadAttr(const weft_attr& attr) {
  WEFT_RETURN_IF_ERROR(NeedPointer(attr.name, "attribute name"));
  if (*attr.name == '\0') return InvalidArgument("an attribute needs a name");
  WEFT_ASSIGN_OR_RETURN(auto type, AttrTypeFrom(attr.type));
  AttrSpec spec = MakeAttrSpec(*type, attr.name, nullptr, attr.doc, attr.allowed, attr.minimum == nullptr ? INT64_MIN : *attr.minimum, {});
  if (attr.default_text == nullptr) return spec;
  auto value = ParseAttrValue(*type, attr.default_text);
  if (!value.ok()) return std::move(value).status();
  WEFT_RETURN_IF_ERROR(CheckAttr(spec, *value));
  spec.default_value = std::move(*value);
  return spec;
}

Status AddTypes(const weft_type_attr& types, BlockParts& parts) {
  WEFT_RETURN_IF_ERROR(NeedPointer(types.name, "type attribute"));
  if (types.dtype_count == 0) return InvalidArgument("a type attribute needs types");
  WEFT_RETURN_IF_ERROR(NeedPointer(types.dtypes, "dtypes"));
  std::vector<DType> dtypes;
  for (size_t i = 0; i < types.dtype_count; ++i) {
    dtypes.push_back(FromC(types.dtypes[i]));
    if (dtypes.back() == DType::kInvalid) return InvalidArgument("needs an element type such as WEFT_FLOAT, found ", types.dtypes[i]);
  }
  parts.AddTypes(types.name, std::move(dtypes));
  return {};
}

// Adds the type and length attributes that ports name and the host did not declare; they are inferred from the inputs.
void AddInferred(BlockParts& parts) {
  for (const auto* side : {&parts.def.inputs, &parts.def.outputs}) {
    for (const PortSpec& port : *side) {
      if (!port.type_attr.empty() && parts.def.FindAttr(port.type_attr) < 0) parts.AddTypes(port.type_attr.c_str(), kAllTypes.dtypes());
      if (port.list_attr.empty() || parts.def.FindAttr(port.list_attr) >= 0) continue;
      AttrSpec spec;
      spec.name = port.list_attr;
      spec.type = port.list == PortList::kTuple ? AttrType::kTypes : AttrType::kInt;
      spec.inferred = true;
      spec.doc = port.list == PortList::kTuple ? "the types of the list" : "how many values the list has";
      parts.AddAttr(std::move(spec));
    }
  }
}

Status ReadFlags(const weft_block& block, BlockDef& def) {
  constexpr uint32_t kKnown = WEFT_BLOCK_STATEFUL | WEFT_BLOCK_ELEMENTWISE | WEFT_BLOCK_NOT_DIFFERENTIABLE | WEFT_BLOCK_INTERNAL;
  if ((block.flags & ~kKnown) != 0) return InvalidArgument("needs flags of WEFT_BLOCK_..., found ", block.flags);
  def.stateful = (block.flags & WEFT_BLOCK_STATEFUL) != 0;
  def.elementwise = (block.flags & WEFT_BLOCK_ELEMENTWISE) != 0;
  def.not_differentiable = (block.flags & WEFT_BLOCK_NOT_DIFFERENTIABLE) != 0;
  def.internal = (block.flags & WEFT_BLOCK_INTERNAL) != 0;
  if (def.not_differentiable && block.gradient != nullptr) {
    return InvalidArgument("a block has a gradient, or WEFT_BLOCK_NOT_DIFFERENTIABLE, not both");
  }
  if (def.elementwise && (def.inputs.empty() || def.outputs.size() != 1 || def.inputs[0].list != PortList::kSingle)) {
    return InvalidArgument("an element-wise block needs an input 0 and one output");
  }
  if (block.shaped_by_count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(block.shaped_by, "shaped_by"));
  for (size_t i = 0; i < block.shaped_by_count; ++i) {
    if (block.shaped_by[i] < 0 || static_cast<size_t>(block.shaped_by[i]) >= def.inputs.size()) {
      return InvalidArgument("shaped_by needs indices of inputs, found ", block.shaped_by[i]);
    }
    def.shaped_by.push_back(block.shaped_by[i]);
  }
  return {};
}

Result<BlockDef> ReadBlock(const weft_block& block) {
  if (block.plan == nullptr || block.run == nullptr) return InvalidArgument("a block needs the functions plan and run");
  if (TextOf(block.summary).empty()) return InvalidArgument("a block needs a summary: one sentence for its help");
  BlockParts parts;
  BlockDef& def = parts.def;
  def.name = block.name;
  def.category = block.category == nullptr ? "host" : block.category;
  def.summary = block.summary;
  def.details = TextOf(block.details);
  WEFT_ASSIGN_OR_RETURN(def.aliases, ReadTexts(block.aliases, block.alias_count, "aliases"));
  WEFT_ASSIGN_OR_RETURN(def.inputs, ReadPorts(block.inputs, block.input_count, "inputs"));
  WEFT_ASSIGN_OR_RETURN(def.outputs, ReadPorts(block.outputs, block.output_count, "outputs"));
  if (block.attr_count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(block.attrs, "attrs"));
  for (size_t i = 0; i < block.attr_count; ++i) {
    auto spec = ReadAttr(block.attrs[i]);
    if (!spec.ok()) return std::move(spec).status().WithPort(TextOf(block.attrs[i].name));
    if (def.FindAttr(spec->name) >= 0) return InvalidArgument("the attribute is declared twice").WithPort(spec->name);
    parts.AddAttr(std::move(*spec));
  }
  if (block.type_count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(block.types, "types"));
  for (size_t i = 0; i < block.type_count; ++i) {
    if (Status status = AddTypes(block.types[i], parts); !status.ok()) return std::move(status).WithPort(TextOf(block.types[i].name));
  }
  AddInferred(parts);
  WEFT_RETURN_IF_ERROR(ReadFlags(block, def));
  return std::move(parts.def);
}

}  // namespace

weft_status weft_runtime_add_block(weft_runtime* runtime, const weft_block* block, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(block, "block"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    weft_block known = WEFT_BLOCK_INIT;
    WEFT_RETURN_IF_ERROR(ReadStruct(block, known, "weft_block"));
    if (TextOf(known.name).empty()) return InvalidArgument("a block needs a name");
    auto host = std::make_shared<HostBlock>(known, object->runtime.registry());
    auto def = ReadBlock(known);
    if (!def.ok()) return std::move(def).status().WithBlock(known.name);
    def->plan = [host](PlanContext& ctx) { return PlanHost(host, ctx); };
    if (known.gradient != nullptr) {
      def->gradient_varies = true;  // weft.h promises a call for each block
      def->gradient = [host, name = def->name](GradientBuilder& builder) {
        return GradientHost(*host, *host->registry().Find(name), builder);
      };
    }
    std::lock_guard lock(object->blocks_mutex);
    if (object->sealed) {
      return FailedPrecondition("the runtime has loaded a page already")
          .WithBlock(known.name)
          .WithHint("add blocks right after weft_runtime_open");
    }
    if (Status status = object->runtime.AddBlock(std::move(*def)); !status.ok()) return std::move(status).WithBlock(known.name);
    host->SetAdded();
    return {};
  });
}
