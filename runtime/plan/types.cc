// Type inference: the types of a node's outputs from those of its inputs and its attributes.
#include <algorithm>
#include <string>
#include <vector>

#include "runtime/plan/connecting.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/types.h"

namespace weft {
namespace {

/// The declaration of the port that a reference comes from; null for a value.
const PortSpec* ReferencePort(const Graph& graph, ValueRef value) {
  const Node& node = graph.node(value.node);
  if (node.def == nullptr) return nullptr;
  int port = node.out_first.PortOf(static_cast<uint32_t>(value.output));
  return port >= 0 && node.def->outputs[port].kind == PortKind::kReference ? &node.def->outputs[port] : nullptr;
}

Status CheckKind(const PortSpec& spec, const PortSpec* reference) {
  if (spec.kind == PortKind::kReference && reference == nullptr) {
    return InvalidArgument("the input '", spec.name, "' needs a variable, found a value")
        .WithPort(spec.name)
        .WithHint("wire it to a Variable block");
  }
  if (spec.kind == PortKind::kTensor && reference != nullptr && reference->resource) {
    return InvalidArgument("the input '", spec.name, "' needs a value, found a handle of a variable")
        .WithPort(spec.name)
        .WithHint("a ReadVariableOp block gives its value");
  }
  return {};
}

Status TypeClash(const PortSpec& spec, DType needed, std::string_view because, DType found) {
  const bool convertible = !IsManaged(needed) && !IsManaged(found);
  const bool variable = spec.kind != PortKind::kTensor;  // a Cast gives a value, and no variable
  return InvalidArgument("the input '", spec.name, "' needs ", needed, because, ", found ", found)
      .WithPort(spec.name)
      .WithHint(convertible && !variable ? "a Cast block converts" : "");
}

/// Lists of one length attribute have one length, also where the block does not declare the attribute.
Status CheckLength(const Node& node, size_t port) {
  const PortSpec& spec = node.def->inputs[port];
  const uint32_t length = node.in_first[port + 1] - node.in_first[port];
  for (size_t p = 0; p < port && !spec.list_attr.empty(); ++p) {
    const PortSpec& earlier = node.def->inputs[p];
    const uint32_t needed = node.in_first[p + 1] - node.in_first[p];
    if (earlier.list == PortList::kSingle || earlier.list_attr != spec.list_attr || needed == length) continue;
    return InvalidArgument("the input '", spec.name, "' needs ", needed, " values, as many as '", earlier.name, "', found ", length).WithPort(spec.name);
  }
  return {};
}

/// An output whose type nothing says: neither an attribute nor a value of a list port, which may be empty.
Status TypeUnknown(const BlockDef& def, const PortSpec& output) {
  for (const PortSpec& input : def.inputs) {
    if (input.type_attr != output.type_attr) continue;
    return InvalidArgument("needs at least one value, from which the output '", output.name, "' takes its type; found none").WithPort(input.name);
  }
  return InvalidArgument("the type of the output '", output.name, "' is not known").WithPort(output.type_attr);
}

/// The types of one node.
class TypeInference {
 public:
  /// Of the node there are the attributes that are given, and of which port each of `inputs` is.
  TypeInference(Node& node, std::span<const InputType> inputs) : node_(node), inputs_(inputs) {}
  /// Gives the first fault; the others, which do not depend on it, are `more`.
  Status Run();
  /// The same, where some attributes could not be read (by attribute): as far as types do not depend on those.
  Status RunInPart(const std::vector<char>& unread);
  std::vector<Status> TakeMore() { return std::move(more_); }

 private:
  void BindInputTypes();
  void BindTypesOf(size_t port);
  void BindLengthOf(size_t port);
  Status BindType(int port, DType type);
  Status BindLength(size_t port, int list_attr);
  void CheckAllowedTypes();
  Status BindInputs();
  /// `attr`: what the fault is of; empty: of one input alone.
  void Note(Status fault, std::string_view attr = {});
  void SetTypes(const std::vector<char>& unread);
  bool KnowsOutputs(const std::vector<char>& unread) const;
  Status SetOutputs();

  Node& node_;
  const std::span<const InputType> inputs_;
  std::vector<DType> bound_;         // by attribute: the type it stands for
  std::vector<AttrValue> settings_;  // by attribute: its value so far
  Status fault_;
  std::vector<Status> more_;
  // Attributes of types and lengths of which a fault is noted: what else is said of them may follow from it.
  std::vector<std::string_view> at_fault_;
};

void TypeInference::Note(Status fault, std::string_view attr) {
  if (fault.ok() || (!attr.empty() && std::ranges::find(at_fault_, attr) != at_fault_.end())) return;
  if (!attr.empty()) at_fault_.push_back(attr);
  if (fault_.ok()) {
    fault_ = std::move(fault);
  } else {
    more_.push_back(std::move(fault));
  }
}

Status TypeInference::BindType(int port, DType type) {
  const PortSpec& spec = node_.def->inputs[port];
  if (spec.dtype != DType::kInvalid) {
    return spec.dtype == type ? Status() : TypeClash(spec, spec.dtype, "", type);
  }
  int attr = node_.def->FindAttr(spec.type_attr);
  if (attr < 0) return {};  // structural ports take any type
  if (bound_[attr] == DType::kInvalid) bound_[attr] = type;
  if (bound_[attr] == type) return {};
  // An attribute that was given binds before any input; else the first input of the type does.
  if (settings_[attr].index() != 0) return TypeClash(spec, bound_[attr], Cat(", its attribute ", spec.type_attr), type);
  for (int p = 0; p < port; ++p) {
    const PortSpec& earlier = node_.def->inputs[p];
    if (earlier.type_attr != spec.type_attr || node_.in_first[p] == node_.in_first[p + 1]) continue;
    return TypeClash(spec, bound_[attr], Cat(", the type of '", earlier.name, "'"), type);
  }
  return TypeClash(spec, bound_[attr], ", the type of the values before it", type);
}

// What is at fault binds nothing, so that it hides no other fault and brings none.
void TypeInference::BindInputTypes() {
  for (size_t p = 0; p < node_.def->inputs.size(); ++p) {
    BindTypesOf(p);
    if (node_.def->inputs[p].list != PortList::kSingle) BindLengthOf(p);
  }
  CheckAllowedTypes();
}

void TypeInference::BindTypesOf(size_t p) {
  const PortSpec& spec = node_.def->inputs[p];
  const uint32_t begin = node_.in_first[p], end = node_.in_first[p + 1];
  for (uint32_t v = begin; v < end; ++v) {
    if (Status status = CheckKind(spec, inputs_[v].reference); !status.ok()) return Note(std::move(status));
    if (spec.list == PortList::kTuple) continue;
    Status status = BindType(static_cast<int>(p), inputs_[v].type);
    if (!status.ok() && spec.list != PortList::kSingle) status = std::move(status).Append(Cat(" at index ", v - begin));
    if (!status.ok()) return Note(std::move(status), spec.dtype != DType::kInvalid ? std::string_view() : spec.type_attr);
  }
}

void TypeInference::BindLengthOf(size_t p) {
  const PortSpec& spec = node_.def->inputs[p];
  const int list_attr = node_.def->FindAttr(spec.list_attr);
  if (node_.in_first[p] == node_.in_first[p + 1] && spec.list == PortList::kHomogeneous && !MayBeEmpty(*node_.def, spec)) {
    return Note(InvalidArgument("the input '", spec.name, "' of ", node_.def->name, " needs at least one value, found none").WithPort(spec.name), spec.list_attr);
  }
  Note(list_attr < 0 ? CheckLength(node_, p) : BindLength(p, list_attr), spec.list_attr);
}

// The attribute that a list port gives its length or its types.
Status TypeInference::BindLength(size_t p, int list_attr) {
  const BlockDef& def = *node_.def;
  const PortSpec& spec = def.inputs[p];
  const uint32_t begin = node_.in_first[p], end = node_.in_first[p + 1];
  AttrValue inferred = static_cast<int64_t>(end - begin);
  if (spec.list == PortList::kTuple) {
    DTypes types;
    for (uint32_t v = begin; v < end; ++v) types.push_back(inputs_[v].type);
    inferred = std::move(types);
  }
  AttrValue& given = settings_[list_attr];
  if (given.index() != 0 && given != inferred) {
    WEFT_RETURN_IF_ERROR(CheckLength(node_, p));  // what an earlier list says is not the attribute's fault
    return InvalidArgument("the input '", spec.name, "' has ", AttrText(inferred), ", but the attribute ", spec.list_attr, " says ", AttrText(given))
        .WithPort(spec.name);
  }
  given = std::move(inferred);
  if (Status status = CheckAttr(def.attrs[list_attr], given); !status.ok()) {
    // The input is at fault, not the attribute that counts it.
    return InvalidArgument("the input '", spec.name, "' ", status.message()).WithPort(spec.name);
  }
  return {};
}

void TypeInference::CheckAllowedTypes() {
  const BlockDef& def = *node_.def;
  for (size_t p = 0; p < def.inputs.size(); ++p) {
    int attr = def.inputs[p].type_attr.empty() ? -1 : def.FindAttr(def.inputs[p].type_attr);
    if (attr < 0 || bound_[attr] == DType::kInvalid) continue;
    const std::vector<DType>& allowed_types = def.attrs[attr].allowed_types;
    if (std::find(allowed_types.begin(), allowed_types.end(), bound_[attr]) != allowed_types.end()) continue;
    if (Status status = CheckAttr(def.attrs[attr], AttrValue(bound_[attr])); !status.ok()) {
      std::string allowed;
      for (DType t : def.attrs[attr].allowed_types) allowed += Cat(allowed.empty() ? "" : ", ", t);
      Note(InvalidArgument("the input '", def.inputs[p].name, "' of ", def.name, " does not take ", bound_[attr], "; it takes ", allowed)
               .WithPort(def.inputs[p].name),
           def.inputs[p].type_attr);
    }
  }
}

Status TypeInference::SetOutputs() {
  const BlockDef& def = *node_.def;
  std::vector<uint32_t> first;  // filled only where there are list ports
  node_.output_types.clear();
  const bool single = std::none_of(def.outputs.begin(), def.outputs.end(), [](const PortSpec& spec) { return spec.list != PortList::kSingle; });
  if (!single) first.push_back(0);
  for (const PortSpec& spec : def.outputs) {
    if (spec.list == PortList::kTuple) {
      int attr = def.FindAttr(spec.list_attr);
      const auto* types = attr < 0 ? nullptr : std::get_if<DTypes>(&node_.attrs[attr]);
      if (types != nullptr) node_.output_types.append(std::span<const DType>(*types));
    } else {
      int64_t count = 1;
      if (spec.list == PortList::kHomogeneous) {
        int attr = def.FindAttr(spec.list_attr);
        const auto* given = attr < 0 ? nullptr : std::get_if<int64_t>(&node_.attrs[attr]);
        count = given == nullptr ? 0 : *given;
        if (count < 0 || count > (1 << 20)) return InvalidArgument("needs a list of 0 to 1048576 outputs, found ", count).WithPort(spec.list_attr);
      }
      DType type = spec.dtype;
      if (type == DType::kInvalid) {
        int attr = def.FindAttr(spec.type_attr);
        const DType* given = attr < 0 ? nullptr : std::get_if<DType>(&node_.attrs[attr]);
        if (given == nullptr) return TypeUnknown(def, spec);
        type = *given;
      }
      node_.output_types.append(static_cast<size_t>(count), type);
    }
    if (!single) first.push_back(static_cast<uint32_t>(node_.output_types.size()));
  }
  node_.out_first = single ? PortTable::Single(def.outputs.size()) : PortTable::Of(std::move(first));
  return {};
}

Status TypeInference::BindInputs() {
  bound_.assign(node_.def->attrs.size(), DType::kInvalid);
  const std::span<const AttrValue> given = node_.attrs;
  settings_.assign(given.begin(), given.end());
  for (size_t a = 0; a < settings_.size(); ++a) {
    if (const DType* type = std::get_if<DType>(&settings_[a])) bound_[a] = *type;
  }
  BindInputTypes();
  return std::move(fault_);
}

// What inputs say of type attributes, or else their defaults, which those that could not be read do not have.
void TypeInference::SetTypes(const std::vector<char>& unread) {
  const BlockDef& def = *node_.def;
  for (size_t a = 0; a < def.attrs.size(); ++a) {
    const bool has_default = def.attrs[a].default_value && (unread.empty() || !unread[a]);
    if (bound_[a] == DType::kInvalid && def.attrs[a].type == AttrType::kType && has_default) bound_[a] = std::get<DType>(*def.attrs[a].default_value);
    if (bound_[a] != DType::kInvalid && settings_[a].index() == 0) settings_[a] = bound_[a];
  }
  const std::span<const AttrValue> given = node_.attrs;
  if (!std::ranges::equal(settings_, given)) node_.attrs = AttrList(settings_);
}

Status TypeInference::Run() {
  WEFT_RETURN_IF_ERROR(BindInputs());
  SetTypes({});
  return SetOutputs();
}

// Whether how many outputs there are, and of which types, depends on no attribute that could not be read.
bool TypeInference::KnowsOutputs(const std::vector<char>& unread) const {
  const BlockDef& def = *node_.def;
  const auto known = [&](const std::string& name) {
    const int attr = name.empty() ? -1 : def.FindAttr(name);
    return attr < 0 || !unread[static_cast<size_t>(attr)];
  };
  return std::ranges::all_of(def.outputs, [&](const PortSpec& output) { return known(output.type_attr) && known(output.list_attr); });
}

Status TypeInference::RunInPart(const std::vector<char>& unread) {
  WEFT_RETURN_IF_ERROR(BindInputs());
  if (!KnowsOutputs(unread)) return {};
  SetTypes(unread);
  return SetOutputs();
}

}  // namespace

InputType InputTypeOf(const Graph& graph, ValueRef value) { return {graph.TypeOf(value), ReferencePort(graph, value)}; }

uint16_t TypeKey(const Graph& graph, ValueRef value) {
  const PortSpec* reference = ReferencePort(graph, value);
  const int kind = reference == nullptr ? 0 : reference->resource ? 2 : 1;
  return static_cast<uint16_t>(kind << 8 | static_cast<int>(graph.TypeOf(value)));
}

Status InferTypes(Draft& draft, Node& node, std::vector<Status>* more) {
  Reuse::TypeKeys keys;
  keys.reserve(node.inputs.size());
  for (ValueRef value : node.inputs) keys.push_back(TypeKey(draft.graph, value));
  if (draft.reuse.TakeTypes(node, keys)) return {};
  const AttrList given = node.attrs;
  std::vector<InputType> inputs;
  inputs.reserve(node.inputs.size());
  for (ValueRef value : node.inputs) inputs.push_back(InputTypeOf(draft.graph, value));
  TypeInference inference(node, inputs);
  if (Status status = inference.Run(); !status.ok()) {
    if (more != nullptr) *more = inference.TakeMore();
    return status;
  }
  draft.reuse.KeepTypes(node, given, keys);
  return {};
}

Status InferTypesInPart(Node& node, std::span<const InputType> inputs, const std::vector<char>& unread, std::vector<Status>& more) {
  TypeInference inference(node, inputs);
  Status status = inference.RunInPart(unread);
  more = inference.TakeMore();
  return status;
}

}  // namespace weft
