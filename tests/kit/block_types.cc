#include "tests/kit/block_types.h"

#include <map>

namespace weft::kit {
namespace {

class Inference {
 public:
  Inference(const BlockDef& def, const std::vector<std::vector<DType>>& inputs) : def_(def), inputs_(inputs) {}

  Result<TypedBlock> Run(std::string_view attrs) {
    Diagnostics diagnostics;
    typed_.attrs = ParseAttrs(attrs, def_.attrs, diagnostics);
    WEFT_RETURN_IF_ERROR(diagnostics.FirstError());
    WEFT_RETURN_IF_ERROR(TakeInputs());
    WEFT_RETURN_IF_ERROR(CheckTypes());
    WEFT_RETURN_IF_ERROR(AddOutputs());
    return std::move(typed_);
  }

 private:
  template <class... Parts>
  static Status At(const PortSpec& port, const Parts&... parts) {
    return InvalidArgument(parts...).WithPort(port.name);
  }

  /// The attribute's value; null for no name. Those that the block does not declare are known all the same.
  AttrValue* attr(std::string_view name) {
    if (name.empty()) return nullptr;
    int index = def_.FindAttr(name);
    return index < 0 ? &undeclared_[std::string(name)] : &typed_.attrs[index];
  }

  Status TakeInputs() {
    typed_.in_first.push_back(0);
    for (size_t p = 0; p < def_.inputs.size(); ++p) {
      const PortSpec& port = def_.inputs[p];
      const std::vector<DType>& types = inputs_[p];
      if (port.list == PortList::kSingle && types.size() != 1) return At(port, "needs one value, found ", types.size());
      WEFT_RETURN_IF_ERROR(port.list == PortList::kTuple ? TakeTuple(port, types) : TakeSame(port, types));
      typed_.in_first.push_back(typed_.in_first.back() + static_cast<uint32_t>(types.size()));
    }
    return {};
  }

  /// The value that follows from an input goes into the attribute, or must be the one that is there.
  template <class V>
  Status Agree(const PortSpec& port, std::string_view name, const V& value) {
    AttrValue* known = attr(name);
    if (known == nullptr) return {};
    if (std::holds_alternative<std::monostate>(*known)) *known = value;
    if (*known != AttrValue(value)) return At(port, "needs ", AttrText(*known), " as ", name, " says, found ", AttrText(value));
    return {};
  }

  Status TakeTuple(const PortSpec& port, const std::vector<DType>& types) { return Agree(port, port.list_attr, types); }

  Status TakeSame(const PortSpec& port, const std::vector<DType>& types) {
    if (port.list == PortList::kHomogeneous) {
      WEFT_RETURN_IF_ERROR(Agree(port, port.list_attr, static_cast<int64_t>(types.size())));
    }
    for (DType type : types) {
      if (port.dtype != DType::kInvalid && type != port.dtype) return At(port, "needs ", port.dtype, ", found ", type);
      if (port.dtype == DType::kInvalid) WEFT_RETURN_IF_ERROR(Agree(port, port.type_attr, type));
    }
    return {};
  }

  /// The port that an attribute speaks of, to blame it where the attribute was not written.
  std::string_view PortOf(std::string_view name) const {
    for (const PortSpec& port : def_.inputs) {
      if (port.type_attr == name || port.list_attr == name) return port.name;
    }
    return name;
  }

  Status CheckTypes() {
    for (size_t i = 0; i < def_.attrs.size(); ++i) {
      if (std::holds_alternative<std::monostate>(typed_.attrs[i])) continue;
      Status status = CheckAttr(def_.attrs[i], typed_.attrs[i]);
      if (!status.ok()) return Status(status.code(), status.message()).WithPort(PortOf(def_.attrs[i].name));
    }
    return {};
  }

  /// Neither written nor to be seen from the inputs (an empty list port has no type).
  Status NotKnown(std::string_view name) const { return InvalidArgument("needs a value for ", name, ", found nothing to tell it from").WithPort(PortOf(name)); }

  Status AddOutputs() {
    typed_.out_first.push_back(0);
    for (const PortSpec& port : def_.outputs) {
      const AttrValue* list = attr(port.list_attr);
      const AttrValue* type = attr(port.type_attr);
      if (port.list == PortList::kTuple) {
        const DTypes* types = list == nullptr ? nullptr : std::get_if<DTypes>(list);
        if (types == nullptr) return NotKnown(port.list_attr);
        typed_.outputs.insert(typed_.outputs.end(), types->begin(), types->end());
      } else {
        const int64_t* length = list == nullptr ? nullptr : std::get_if<int64_t>(list);
        if (port.list == PortList::kHomogeneous && length == nullptr) return NotKnown(port.list_attr);
        const DType* dtype = port.dtype != DType::kInvalid ? &port.dtype : type == nullptr ? nullptr : std::get_if<DType>(type);
        if (dtype == nullptr) return NotKnown(port.type_attr);
        int64_t count = port.list == PortList::kSingle ? 1 : *length;
        if (count < 0 || count > 100000) return At(port, "needs a sensible number of values, found ", count);
        typed_.outputs.insert(typed_.outputs.end(), static_cast<size_t>(count), *dtype);
      }
      typed_.out_first.push_back(static_cast<uint32_t>(typed_.outputs.size()));
    }
    return {};
  }

  const BlockDef& def_;
  const std::vector<std::vector<DType>>& inputs_;
  TypedBlock typed_;
  std::map<std::string, AttrValue> undeclared_;
};

}  // namespace

Result<TypedBlock> InferTypes(const BlockDef& def, std::string_view attrs, const std::vector<std::vector<DType>>& inputs) {
  return Inference(def, inputs).Run(attrs);
}

}  // namespace weft::kit
