#include "tests/kit/random_page.h"

#include "weft/base/float16.h"

namespace weft::fuzz {
namespace {

constexpr DType kPageTypes[] = {DType::kFloat,  DType::kFloat, DType::kFloat, DType::kDouble,  DType::kInt32,
                                DType::kInt64,  DType::kHalf,  DType::kUInt8, DType::kInt8,    DType::kComplex64,
                                DType::kString, DType::kBool,  DType::kQInt8, DType::kBFloat16};

const std::vector<Shape>& SmallShapes() {
  static const std::vector<Shape> kShapes = {Shape{},           Shape{1},          Shape{2},       Shape{3},          Shape{0},
                                             Shape{2, 2},       Shape{2, 3},       Shape{3, 2},    Shape{1, 2},       Shape{4, 4},
                                             Shape{1, 3, 3, 2}, Shape{2, 2, 2, 2}, Shape{2, 0, 3}, Shape{1, 1, 1, 1, 1}, Shape{4, 1, 3}};
  return kShapes;
}

// Any value of the type, most of them small.
template <class T>
T AnyValue(std::mt19937& random) {
  const int small = static_cast<int>(random() % 9) - 3;
  const bool odd = random() % 20 == 0;
  if constexpr (std::is_same_v<T, bool>) return random() % 2 == 0;
  else if constexpr (std::is_same_v<T, String>) return odd ? std::string("\xff\0x", 3) : Cat("s", small);
  else if constexpr (Complex<T>) return T(static_cast<typename T::value_type>(small), 1);
  else if constexpr (Float<T>) return odd ? static_cast<T>(random() % 2 ? INFINITY : NAN) : static_cast<T>(static_cast<float>(small) / 2);
  else if constexpr (Integer<T>) return odd ? std::numeric_limits<T>::min() : random() % 20 == 0 ? std::numeric_limits<T>::max() : static_cast<T>(small);
  else return T();
}

}  // namespace

Shape RandomPage::AnyShape() { return Chance(70) ? shape_ : Any(SmallShapes()); }

Tensor RandomPage::AnyTensor(DType dtype, Shape shape) {
  Tensor tensor = Tensor::Allocate(dtype, std::move(shape)).value();
  Dispatch(dtype, kAllTypes, [&]<class T>() {
    for (T& value : tensor.values<T>()) value = AnyValue<T>(random_);
  });
  return tensor;
}

DType RandomPage::TypeFor(const BlockDef& def, const PortSpec& port) {
  if (port.dtype != DType::kInvalid) return port.dtype;
  const int attr = def.FindAttr(port.type_attr);
  if (attr < 0 || def.attrs[attr].allowed_types.empty()) return dtype_;
  const std::vector<DType>& allowed = def.attrs[attr].allowed_types;
  for (DType dtype : allowed) {
    if (dtype == dtype_) return dtype_;
  }
  return Any(allowed);
}

std::string RandomPage::AnyText(DType dtype) {
  static const std::vector<std::string> kTexts = {"1", "{1,2}", "{{1,2},{3,4}}", "1;2;3", "{1,{2}}", "", "{", "nan", "-1", "\"a\";\"b\"", "true",
                                                  "1e400", "99999999999999999999", "1+2j", "{{},{}}", "0.5f"};
  return Chance(60) && dtype != DType::kString ? "{1,2}" : Any(kTexts);
}

Wire RandomPage::AnyWire(const PortSpec& port) {
  if (outputs_.empty() || Slip(3)) return {"nothing", "output", -1};
  Output output = Any(outputs_);
  const auto fits = [&] {
    return output.reference == (port.kind == PortKind::kReference) && (port.dtype == DType::kInvalid || output.dtype == port.dtype || slips_);
  };
  for (int tries = 0; tries < 20 && !fits(); ++tries) output = Any(outputs_);
  if (Slip(1)) output.port += "x";
  return {output.block, output.port, Slip(4) ? static_cast<int>(Below(3)) : -1};
}

InputItem RandomPage::Item(const BlockDef& def, const PortSpec& port) {
  if (port.kind != PortKind::kTensor ? !Slip(3) : Chance(50) && !outputs_.empty()) return AnyWire(port);
  Literal literal;
  DType dtype = !Slip(5) ? TypeFor(def, port) : kPageTypes[Below(std::size(kPageTypes))];
  if (dtype == DType::kResource) return AnyWire(port);
  literal.dtype = dtype;
  const bool shaping = std::find(def.shaped_by.begin(), def.shaped_by.end(), def.FindInput(port.name)) != def.shaped_by.end();
  const Shape shape = shaping ? (Chance(50) ? Shape{static_cast<int64_t>(Below(4))} : Shape{}) : AnyShape();
  if (Slip(10)) {
    literal.form = Literal::Form::kText;
    literal.text = AnyText(dtype);
    if (Chance(30)) literal.shape = shape;
    return literal;
  }
  literal.tensor = AnyTensor(dtype, shape);
  literal.shape = shape;
  return literal;
}

std::string RandomPage::AttrValueOf(const AttrSpec& spec) {
  static const std::vector<std::string> kSlips = {"", "{", "}", "\"", "-1", "{1,2", "maybe", "1e99", "99999999999999999999", "DT_NOTHING", "{{1}}", "[1][?]"};
  if (Slip(4)) return Any(kSlips);
  if (spec.default_value && Chance(60)) return AttrText(*spec.default_value);
  switch (spec.type) {
    case AttrType::kInt: return Cat(static_cast<int>(Below(6)) - 1);
    case AttrType::kFloat: return Chance(80) ? "0.5f" : "nan";
    case AttrType::kBool: return Chance(50) ? "true" : "false";
    case AttrType::kString: return spec.allowed.empty() ? "name" : Any(spec.allowed);
    case AttrType::kType: return Cat(Chance(70) || spec.allowed_types.empty() ? dtype_ : Any(spec.allowed_types));
    case AttrType::kShape: return Chance(60) ? ToString(shape_) : Chance(50) ? "?" : "[2][?]";
    case AttrType::kInts: return Chance(70) ? "{1,1,1,1}" : Chance(50) ? "{1,2,2,1}" : "{}";
    case AttrType::kFloats: return "{0.5,1}";
    case AttrType::kStrings: return "{a,b}";
    case AttrType::kTypes: return Cat("{", dtype_, "}");
    case AttrType::kShapes: return Chance(50) ? "" : Cat("{", shape_, "}");
  }
  return "";
}

std::string RandomPage::AttrsOf(const BlockDef& def) {
  std::string text;
  for (const AttrSpec& spec : def.attrs) {
    const bool needed = !spec.default_value && !spec.inferred;
    if (!needed && (spec.inferred ? !Slip(2) : !Chance(25))) continue;
    if (Slip(1)) continue;
    text += Cat(spec.name, Chance(90) ? "_ = " : " =", AttrValueOf(spec), Slip(2) ? " " : ";");
  }
  if (Slip(1)) text += "unknown_ = 1;";
  return text;
}

PageBlock RandomPage::Block(const BlockDef& def, size_t index) {
  PageBlock block;
  block.id = Slip(1) ? "b0" : Cat("b", index);
  block.type = Slip(1) ? def.name + "x" : def.name;
  block.attrs = AttrsOf(def);
  block.has_attrs = !block.attrs.empty();
  for (const PortSpec& port : def.inputs) {
    if (port.optional ? Chance(50) : Slip(1)) continue;
    PageInput input;
    input.port = Slip(1) ? port.name + "s" : port.name;
    input.list = port.list != PortList::kSingle || Slip(1);
    const size_t items = input.list ? 1 + Below(3) : 1;
    for (size_t k = 0; k < items; ++k) input.items.push_back(Item(def, port));
    block.inputs.push_back(std::move(input));
  }
  block.has_inputs = !block.inputs.empty();
  ids_.push_back(block.id);
  for (const PortSpec& port : def.outputs) outputs_.push_back({block.id, port.name, port.kind == PortKind::kReference, port.dtype});
  return block;
}

PageBlock RandomPage::SessionBlock(size_t index) {
  PageBlock block;
  block.id = Cat("session", index);
  block.type = "ClientSession";
  for (const char* port : {"fetch_outputs", "run_outputs"}) {
    PageInput input{port, true, {}};
    for (uint32_t k = Below(4); k > 0; --k) input.items.push_back(AnyWire(PortSpec()));
    if (!input.items.empty()) block.inputs.push_back(std::move(input));
  }
  block.has_inputs = true;
  return block;
}

Page RandomPage::Make() {
  dtype_ = Chance(60) ? DType::kFloat : kPageTypes[Below(std::size(kPageTypes))];
  shape_ = Any(SmallShapes());
  outputs_.clear();
  ids_.clear();
  Page page;
  page.name = "fuzz";
  slips_ = Chance(40);
  const size_t blocks = 1 + Below(slips_ ? 9 : 3);
  for (size_t i = 0; i < blocks; ++i) {
    const BlockDef* def = i == 0 && Chance(60) ? registry_.Find("Variable") : registry_.blocks()[Below(static_cast<uint32_t>(registry_.blocks().size()))].get();
    page.blocks.push_back(Block(*def, i));
  }
  if (Chance(40)) page.blocks.push_back(SessionBlock(0));
  if (Chance(5)) page.blocks.push_back(SessionBlock(1));
  // A wire back makes a cycle.
  if (Slip(3) && !page.blocks.front().inputs.empty()) page.blocks.front().inputs.front().items = {AnyWire(PortSpec())};
  return page;
}

}  // namespace weft::fuzz
