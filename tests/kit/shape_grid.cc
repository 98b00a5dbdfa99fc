#include "tests/kit/shape_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "weft/base/float16.h"

namespace weft::fuzz {
namespace {

/// Each has at most 2^20 elements.
const std::vector<std::vector<int64_t>>& Grid() {
  constexpr int64_t kLong = int64_t{1} << 40, kMost = std::numeric_limits<int64_t>::max(), kMega = int64_t{1} << 20;
  static const std::vector<std::vector<int64_t>> kShapes = {
      {}, {0}, {1}, {2}, {3}, {4}, {17}, {1 << 10}, {1 << 16}, {kMega},
      {2, 2}, {2, 3}, {3, 3}, {4, 1}, {1, 4}, {1 << 16, 1}, {1, 1 << 16}, {1 << 10, 1 << 10}, {kMega, 1}, {1, kMega},
      {0, 2}, {2, 0}, {0, kLong}, {kLong, 0}, {kMost, 0}, {0, kMost}, {0, 0},
      {2, 3, 4}, {1, 1, 1}, {0, kLong, 1}, {kLong, 0, 1}, {1, kLong, 0}, {kLong, kLong, 0}, {0, kLong, kLong}, {1 << 10, 1, 1 << 10}, {1, 1 << 18, 1},
      {1, 2, 2, 1}, {1, 3, 3, 2}, {2, 4, 4, 3}, {1, 1, 1, 1}, {1, 256, 256, 4}, {0, 4, 4, 3}, {1, 0, 4, 3}, {1, 4, 0, 3}, {1, 4, 4, 0}, {3, 3, 2, 4}, {3, 3, 2, 1},
      {1, kLong, 0, 1}, {1, kLong, kLong, 0}, {1, 1, 1 << 18, 1}, {1, 1 << 18, 1, 1}, {1 << 18, 1, 1, 1}, {1, 1, 1, 1 << 18},
      {1, 2, 2, 2, 1}, {1, 2, 3, 4, 2}, {1, 0, 2, 2, 1}, {2, 2, 2, 1, 1}, {1, kLong, 2, 0, 1}, {1, 1, 1, 1, 1, 1}, {2, 1, 2, 1, 2, 1, 2}, {1, 1, 1, 1, 1, 1, 1, 1},
      {2, 2, 2, 2, 2, 2, 2, 2, 2}, std::vector<int64_t>(32, 1), std::vector<int64_t>(254, 1), {kMost, 1, 0, kMost}};
  return kShapes;
}

class GridBlock {
  uint32_t Below(size_t n) { return n == 0 ? 0 : random_() % static_cast<uint32_t>(n); }
  template <class Range>
  const auto& Any(const Range& range) { return range[Below(range.size())]; }

 public:
  GridBlock(const BlockDef& def, uint32_t index) : def_(def), random_(index * 2654435761U + 1) {
    const auto& shapes = Grid();
    // The first rounds go through the grid, with one shape for all inputs and then with a pair of them.
    common_ = shapes[index % shapes.size()];
    other_ = index < shapes.size() ? common_ : Any(shapes);
    same_ = Below(3) != 0;
    for (const AttrSpec& spec : def.attrs) {
      if (spec.type == AttrType::kType && !spec.allowed_types.empty()) types_.emplace_back(spec.name, Any(spec.allowed_types));
    }
  }

  Page Make();

 private:
  int64_t AnySize();
  DType TypeNamed(std::string_view attr) const;
  DType TypeOf(const PortSpec& port) const { return port.dtype != DType::kInvalid ? port.dtype : TypeNamed(port.type_attr); }
  Shape AnyShape() { return ShapeWith(Any(Grid())); }
  static Shape ShapeWith(const std::vector<int64_t>& dims);
  Shape ShapeOf(const PortSpec& port, size_t input);
  Tensor Value(DType dtype, const Shape& shape, bool shaping);
  InputItem Item(const PortSpec& port, size_t input);
  InputItem Resource(size_t input);
  std::string AttrOf(const AttrSpec& spec);

  const BlockDef& def_;
  std::mt19937 random_;
  std::vector<int64_t> common_, other_;
  bool same_ = true;
  std::vector<std::pair<std::string, DType>> types_;
  Page page_;
};

int64_t GridBlock::AnySize() {
  static constexpr int64_t kSizes[] = {0, 1, 1, 2, 2, 3, 4, -1, -2, 5, 255, 1 << 10, 1 << 20, int64_t{1} << 31, (int64_t{1} << 31) - 1, -(int64_t{1} << 31),
                                       int64_t{1} << 40, int64_t{1} << 62, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  return kSizes[Below(Below(3) == 0 ? std::size(kSizes) : 7)];
}

DType GridBlock::TypeNamed(std::string_view attr) const {
  for (const auto& [name, dtype] : types_) {
    if (name == attr) return dtype;
  }
  return DType::kFloat;
}

Shape GridBlock::ShapeWith(const std::vector<int64_t>& dims) {
  auto shape = Shape::Make(dims);
  return shape.ok() ? *shape : Shape{0};
}

Shape GridBlock::ShapeOf(const PortSpec& port, size_t input) {
  const bool shaping = std::ranges::find(def_.shaped_by, def_.FindInput(port.name)) != def_.shaped_by.end();
  if (shaping && Below(4) != 0) return Below(3) == 0 ? Shape{} : Shape{static_cast<int64_t>(Below(6))};
  const std::vector<int64_t>& dims = same_ || input == 0 ? common_ : input == 1 ? other_ : Any(Grid());
  return ShapeWith(dims);
}

Tensor GridBlock::Value(DType dtype, const Shape& shape, bool shaping) {
  Tensor tensor = Tensor::Allocate(dtype, shape).value();
  const bool plain = shape.count() > 4096;  // one value for all: the time is the block's
  Dispatch(dtype, kAllTypes, [&]<class T>() {
    auto values = tensor.values<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      if (plain && i > 0) values[i] = values[0];
      else if constexpr (std::is_same_v<T, bool>) values[i] = Below(2) == 0;
      else if constexpr (Integer<T>) values[i] = static_cast<T>(shaping || Below(8) == 0 ? AnySize() : static_cast<int64_t>(Below(4)));
      else if constexpr (Float<T>) values[i] = static_cast<T>(Below(8) == 0 ? static_cast<float>(AnySize()) : static_cast<float>(Below(5)) / 2);
      else if constexpr (std::is_same_v<T, String>) values[i] = std::string(Below(20), 'a');
    }
  });
  return tensor;
}

/// Something that a handle may be of.
InputItem GridBlock::Resource(size_t input) {
  PageBlock owner;
  owner.id = Cat("owner", input);
  const uint32_t kind = Below(3);
  owner.type = kind == 0 ? "VarHandleOp" : kind == 1 ? "FIFOQueue" : "WholeFileReader";
  owner.attrs = kind == 0 ? "dtype_ = DT_FLOAT;shape_ = [2];" : kind == 1 ? "component_types_ = {DT_FLOAT};" : "";
  owner.has_attrs = true;
  page_.blocks.push_back(std::move(owner));
  return Wire{Cat("owner", input), kind == 0 ? "resource" : kind == 1 ? "handle" : "reader_handle", -1};
}

InputItem GridBlock::Item(const PortSpec& port, size_t input) {
  const DType dtype = TypeOf(port);
  if (dtype == DType::kResource) return Resource(input);
  const bool shaping = std::ranges::find(def_.shaped_by, def_.FindInput(port.name)) != def_.shaped_by.end();
  Literal literal;
  literal.dtype = dtype;
  literal.tensor = Value(dtype, ShapeOf(port, input), shaping);
  literal.shape = literal.tensor.shape();
  if (port.kind != PortKind::kReference) return literal;
  PageBlock variable;
  variable.id = Cat("var", input);
  variable.type = "Variable";
  variable.inputs.push_back({"initvalues", false, {std::move(literal)}});
  page_.blocks.push_back(std::move(variable));
  return Wire{Cat("var", input), "ref", -1};
}

std::string GridBlock::AttrOf(const AttrSpec& spec) {
  const auto list = [&](auto&& element) {
    std::string text = "{";
    for (uint32_t i = 0, n = Below(6) == 0 ? Below(7) : 4; i < n; ++i) text += Cat(i == 0 ? "" : ",", element());
    return text + "}";
  };
  switch (spec.type) {
    case AttrType::kInt: return Cat(AnySize());
    case AttrType::kFloat: return Below(3) == 0 ? "1e38" : Below(3) == 0 ? "nan" : "0.5";
    case AttrType::kBool: return Below(2) == 0 ? "true" : "false";
    case AttrType::kString: return spec.allowed.empty() ? "name" : Any(spec.allowed);
    case AttrType::kType: return Cat(TypeNamed(spec.name));
    case AttrType::kShape: return Below(3) == 0 ? "?" : Below(2) == 0 ? ToString(AnyShape()) : Cat("[", AnySize(), "][", AnySize(), "]");
    case AttrType::kInts: return list([&] { return AnySize(); });
    case AttrType::kFloats: return list([&] { return Below(4) == 0 ? "-1e38" : "1"; });
    case AttrType::kStrings: return list([] { return "a"; });
    case AttrType::kTypes: return list([] { return "DT_FLOAT"; });
    case AttrType::kShapes: return Below(2) == 0 ? "" : "{[1099511627776][0]}";
  }
  return "";
}

Page GridBlock::Make() {
  page_.name = "grid";
  PageBlock block;
  block.id = "block";
  block.type = def_.name;
  for (size_t i = 0; i < def_.inputs.size(); ++i) {
    const PortSpec& port = def_.inputs[i];
    if (port.optional && Below(2) == 0) continue;
    PageInput input{port.name, port.list != PortList::kSingle, {}};
    for (uint32_t k = input.list ? 1 + Below(3) : 1; k > 0; --k) input.items.push_back(Item(port, i * 4 + k - 1));
    block.inputs.push_back(std::move(input));
  }
  for (const AttrSpec& spec : def_.attrs) {
    const bool needed = !spec.default_value && !spec.inferred;
    if (needed || (!spec.inferred && Below(3) == 0)) block.attrs += Cat(spec.name, "_ = ", AttrOf(spec), ";");
  }
  block.has_attrs = !block.attrs.empty();
  block.has_inputs = true;
  page_.blocks.push_back(std::move(block));
  return std::move(page_);
}

}  // namespace

Page GridPage(const BlockDef& def, uint32_t index) { return GridBlock(def, index).Make(); }

}  // namespace weft::fuzz
