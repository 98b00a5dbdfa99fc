#include "runtime/page/imported.h"

#include <charconv>

#include "runtime/base/call_limit.h"
#include "weft/page/literal.h"

namespace weft::page {
namespace {

constexpr std::string_view kResultPrefix = "result_";

struct PinType {
  std::string_view name;
  DType dtype;
};
constexpr PinType kPinTypes[] = {
    {"double", DType::kDouble}, {"float", DType::kFloat}, {"int", DType::kInt32}, {"bool", DType::kBool}, {"string", DType::kString},
};

std::optional<DType> TypeOfPin(std::string_view name) {
  for (const PinType& type : kPinTypes) {
    if (type.name == name) return type.dtype;
  }
  return DTypeFromName(name);
}

std::string_view WithoutIndices(std::string_view pin) { return pin.substr(0, pin.find('[')); }

// The palette adds a number to some pins: attrs_60, scope_56.
bool IsNamed(std::string_view pin, std::string_view base) {
  if (!pin.starts_with(base)) return false;
  pin.remove_prefix(base.size());
  return pin.empty() || (pin.size() > 1 && pin[0] == '_' && pin.find_first_not_of("0123456789", 1) == pin.npos);
}

// "[2]" before the shape in "result_outputs[2][4][4]", where the shape is [4][4].
int ElementIndex(std::string_view pin, std::string_view shape) {
  std::string_view indices = pin.substr(WithoutIndices(pin).size());
  if (shape.empty() || indices.size() <= shape.size() || !indices.ends_with(shape)) return -1;
  indices.remove_suffix(shape.size());
  Result<Shape> index = ParsePinShape(indices);
  return index.ok() && index->rank() == 1 && index->dim(0) < (1 << 30) ? static_cast<int>(index->dim(0)) : -1;
}

}  // namespace

Result<Shape> ParsePinShape(std::string_view text) {
  std::vector<int64_t> dims;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t close = rest.find(']');
    int64_t size = 0;
    const char* end = rest.data() + std::min(close, rest.size());
    const auto [stop, error] = std::from_chars(rest.data() + 1, end, size);
    if (rest[0] != '[' || close == rest.npos || close < 2 || stop != end || error == std::errc::invalid_argument) {
      return InvalidArgument("needs a shape such as [2][3], found '", text, "'");
    }
    if (error == std::errc::result_out_of_range) return OutOfRange("needs sizes below 2^63, found '", text, "'");
    dims.push_back(size);
    rest.remove_prefix(close + 1);
  }
  return Shape::Make(dims);
}

size_t Importer::AddBlock(std::string pointer) {
  CallLimit::Grow(static_cast<int64_t>(sizeof(PageBlock) + pointer.size()));
  PageBlock& block = page_.blocks.emplace_back();
  block.pointer = std::move(pointer);
  ports_.emplace_back();
  return page_.blocks.size() - 1;
}

void Importer::SetType(size_t block, std::string_view symbol) {
  if (symbol.starts_with('#')) symbol.remove_prefix(1);
  page_.blocks[block].type = symbol;
}

size_t Importer::InputOf(size_t block, std::string_view pin) {
  pin = WithoutIndices(pin);
  const int64_t known = ports_[block].Insert(pin);
  if (known >= 0) return static_cast<size_t>(known);
  CallLimit::Grow(static_cast<int64_t>(sizeof(PageInput) + sizeof(InputItem) + pin.size()));
  page_.blocks[block].inputs.push_back({std::string(pin), false, {}});
  return page_.blocks[block].inputs.size() - 1;
}

// Sets type and shape of a literal. False where the shape is malformed.
bool Importer::Describe(const Pin& pin, const std::string& pointer, Literal& literal) {
  const std::string name(WithoutIndices(pin.name));
  literal.dtype = TypeOfPin(pin.type);
  if (!literal.dtype && !pin.type.empty()) {
    report_.Warning(InvalidArgument("the pin type '", pin.type, "' is not known; the text of the value decides")
                        .WithHint(DidYouMean(pin.type, std::vector<std::string_view>{"double", "float", "int", "bool", "string"})),
                    pointer, name);
  }
  const std::string_view indices = std::string_view(pin.name).substr(name.size());
  const std::string_view written = pin.shape.empty() ? indices : std::string_view(pin.shape);
  if (written.empty()) return true;
  Result<Shape> shape = ParsePinShape(written);
  if (shape.ok()) {
    literal.shape = std::move(*shape);
    return true;
  }
  report_.Error(std::move(shape).status(), pointer, name);
  return false;
}

Result<Tensor> Importer::Binary(const Pin& pin, const Literal& literal) {
  if (!literal.dtype || *literal.dtype == DType::kString) return Unsupported("a value of type '", pin.type, "' cannot be kept in binary");
  int64_t position = 0;
  const char* end = pin.binary_position.data() + pin.binary_position.size();
  const auto [stop, error] = std::from_chars(pin.binary_position.data(), end, position);
  if (stop != end || error != std::errc() || position < 0) {
    return InvalidArgument("needs the position of the value in the .dat file, found '", pin.binary_position, "'");
  }
  return ReadBinary(options_, page_.name + ".dat", position, *literal.dtype, literal.shape.value_or(Shape()));
}

void Importer::AddValue(size_t block, const Pin& pin, const std::string& pointer) {
  const std::string name(WithoutIndices(pin.name));
  if (IsNamed(name, "scope") || (pin.text.empty() && !pin.binary)) return;
  if (Status status = CheckName("a pin", name); !status.ok()) return report_.Error(std::move(status), pointer);
  PageBlock& owner = page_.blocks[block];
  if (IsNamed(name, "attrs")) {
    if (!owner.attrs.empty() && !owner.attrs.ends_with(';')) owner.attrs += ';';
    owner.attrs += pin.text;
    owner.has_attrs = true;
    return;
  }
  const size_t input = InputOf(block, name);
  if (!owner.inputs[input].items.empty()) return;  // wired, or a repeated value
  Literal literal;
  owner.inputs[input].faulty = true;
  if (!Describe(pin, pointer, literal)) return;
  if (pin.binary) {
    Result<Tensor> tensor = Binary(pin, literal);
    if (!tensor.ok()) return report_.Error(std::move(tensor).status(), pointer, name);
    literal.tensor = std::move(*tensor);
    literal.shape = literal.tensor.shape();
  } else {
    literal.form = Literal::Form::kText;
    literal.text = pin.text;
    if (pin.type == "string") literal.dtype.reset();
  }
  owner.inputs[input].faulty = false;
  owner.inputs[input].items.push_back(std::move(literal));
}

void Importer::AddRecorded(size_t block, const Pin& pin, const std::string& pointer) {
  const std::string_view name = WithoutIndices(pin.name);
  if (!name.starts_with(kResultPrefix) || (pin.text.empty() && !pin.binary)) return;
  RecordedResult recorded;
  recorded.block = page_.blocks[block].id;
  recorded.port = name.substr(kResultPrefix.size());
  recorded.index = ElementIndex(pin.name, pin.shape);
  Literal& literal = recorded.value;
  if (!Describe(pin, pointer, literal)) return;
  if (!literal.shape) literal.shape = Shape();
  if (pin.binary) {
    Result<Tensor> tensor = Binary(pin, literal);
    if (!tensor.ok()) {
      // A page can run without recorded results, so a missing file is a warning; a truncated file is an error.
      const Code code = tensor.status().code();
      const bool absent = code == Code::kNotFound || code == Code::kFailedPrecondition;
      Status status = std::move(tensor).status();
      return absent ? report_.Warning(std::move(status).Append("; the recorded result is left out"), pointer, name)
                    : report_.Error(std::move(status), pointer, name);
    }
    literal.tensor = std::move(*tensor);
  } else if (Result<Tensor> tensor = ParseTextLiteral(pin.text, literal.dtype, literal.shape); tensor.ok()) {
    literal.tensor = std::move(*tensor);
    literal.dtype = literal.tensor.dtype();
  } else {
    literal.form = Literal::Form::kText;
    literal.text = pin.text;
  }
  page_.recorded.push_back(std::move(recorded));
}

void Importer::AddWire(size_t block, std::string_view pin, std::string_view from_id, std::string_view from_pin,
                       const std::string& pointer) {
  const std::string_view name = WithoutIndices(pin);
  if (IsNamed(name, "scope")) return;
  if (Status status = CheckName("a pin", name); !status.ok()) return report_.Error(std::move(status), pointer);
  Result<Wire> wire = ParseWire(Cat(from_id, ".", from_pin));
  const size_t index = InputOf(block, name);
  PageInput& input = page_.blocks[block].inputs[index];
  if (!wire.ok()) {
    input.faulty = true;
    return report_.Error(std::move(wire).status(), pointer, name);
  }
  if (!input.items.empty() && LiteralOf(input.items[0]) != nullptr) input.items.clear();  // a wire takes precedence over a value
  input.items.push_back(std::move(*wire));
  input.list = input.items.size() > 1;
}

void Importer::Finish() {
  for (PageBlock& block : page_.blocks) {
    CallLimit::Check();
    std::erase_if(block.inputs, [](const PageInput& input) { return input.items.empty() && !input.faulty; });
    block.has_inputs = !block.inputs.empty();
  }
  UniqueIds().ReportRepeated(report_, page_);
}

}  // namespace weft::page
