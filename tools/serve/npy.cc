// Values of clients as buffers: from JSON and .npy; and values as .npy.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "tools/serve/elements.h"
#include "tools/serve/encode.h"

namespace weft::serve {
namespace {

constexpr int64_t kMostValueBytes = int64_t{1} << 32;

const std::map<std::string, int32_t>& NpyTypes() {
  static const std::map<std::string, int32_t> types = {
      {"f4", WEFT_FLOAT}, {"f8", WEFT_DOUBLE}, {"f2", WEFT_HALF}, {"i1", WEFT_INT8}, {"i2", WEFT_INT16}, {"i4", WEFT_INT32}, {"i8", WEFT_INT64},
      {"u1", WEFT_UINT8}, {"u2", WEFT_UINT16}, {"u4", WEFT_UINT32}, {"u8", WEFT_UINT64}, {"b1", WEFT_BOOL}, {"c8", WEFT_COMPLEX64},
      {"c16", WEFT_COMPLEX128}};
  return types;
}

std::string NpyNameOf(int32_t dtype) {
  switch (dtype) {
    case WEFT_QINT8: dtype = WEFT_INT8; break;
    case WEFT_QUINT8: dtype = WEFT_UINT8; break;
    case WEFT_QINT16: dtype = WEFT_INT16; break;
    case WEFT_QUINT16: dtype = WEFT_UINT16; break;
    case WEFT_QINT32: dtype = WEFT_INT32; break;
    case WEFT_BFLOAT16: dtype = WEFT_FLOAT; break;
    default: break;
  }
  for (const auto& [name, type] : NpyTypes()) {
    if (type == dtype) return (weft_dtype_size(dtype) == 1 ? "|" : "<") + name;
  }
  throw ApiError(501, "unsupported", std::string(weft_dtype_name(dtype)) + " has no form as .npy", "ask for JSON");
}

[[noreturn]] void Bad(const std::string& what, const char* hint = "") { throw ApiError(400, "invalid_argument", what, hint); }

/// The elements of a shape; throws for one that no memory holds.
int64_t CountOf(const std::vector<int64_t>& shape, int64_t element_bytes) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || (size != 0 && count > kMostValueBytes / size)) Bad("the shape is too large or has a negative size");
    count *= size;
  }
  if (count * std::max<int64_t>(element_bytes, 1) > kMostValueBytes) Bad("the value is larger than 4 GiB");
  return count;
}

double RealFrom(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity" || text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  Bad("'" + Dump(value).substr(0, 100) + "' is no number", "numbers, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

template <class T>
T IntegerFrom(const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.is_number_integer() ? value.dump() : "";
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    Bad("'" + Dump(value).substr(0, 100) + "' is no whole number of the type's range");
  }
  return number;
}

template <class T>
T ElementFrom(const Json& value) {
  if constexpr (std::is_same_v<T, HalfBits>) return {HalfOf(static_cast<float>(RealFrom(value)))};
  else if constexpr (std::is_same_v<T, Bfloat16Bits>) return {Bfloat16Of(static_cast<float>(RealFrom(value)))};
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(RealFrom(value));
  else if constexpr (std::is_integral_v<T>) return IntegerFrom<T>(value);
  else {
    using Real = typename T::value_type;
    if (!value.is_array()) return T(static_cast<Real>(RealFrom(value)));
    if (value.size() != 2) Bad("a complex number is a list of two numbers");
    return T(static_cast<Real>(RealFrom(value[0])), static_cast<Real>(RealFrom(value[1])));
  }
}

/// How many lists are inside of one another.
size_t DepthOf(const Json& value) {
  size_t depth = 0;
  for (const Json* at = &value; at->is_array(); at = &at->front()) {
    ++depth;
    if (at->empty()) break;
  }
  return depth;
}

/// Lists inside of lists are laid flat; the pairs of complex numbers stay.
void Flatten(const Json& value, size_t depth, std::vector<const Json*>& flat) {
  if (!value.is_array() || depth == 0) {
    flat.push_back(&value);
    return;
  }
  for (const Json& item : value) Flatten(item, depth - 1, flat);
}

template <class T>
void PutAll(const std::vector<const Json*>& values, std::string& bytes) {
  bytes.resize(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T element = ElementFrom<T>(*values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
}

void Finish(OwnedBuffer& owned, int32_t dtype) {
  owned.buffer.dtype = dtype;
  owned.buffer.rank = static_cast<int32_t>(owned.shape.size());
  owned.buffer.shape = owned.shape.data();
  owned.buffer.data = owned.bytes.data();
  owned.buffer.bytes = static_cast<int64_t>(owned.bytes.size());
}

void PutStrings(const std::vector<const Json*>& values, OwnedBuffer& owned) {
  for (const Json* value : values) {
    if (!value->is_string()) Bad("'" + Dump(*value).substr(0, 100) + "' is no text");
    owned.strings.push_back(value->get<std::string>());
  }
  for (const std::string& text : owned.strings) owned.string_views.push_back({text.data(), text.size()});
  Finish(owned, WEFT_STRING);
  owned.buffer.data = owned.string_views.data();
  owned.buffer.bytes = static_cast<int64_t>(owned.string_views.size() * sizeof(weft_bytes));
}

std::string_view HeaderValue(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) Bad("the header of the .npy file lacks " + std::string(key));
  return header.substr(header.find(':', at) + 1);
}

void ReverseElements(std::string& bytes, size_t size) {
  for (size_t at = 0; at + size <= bytes.size(); at += size) std::reverse(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + size));
}

/// Column-major elements in row-major order.
std::string FromFortran(const std::string& bytes, const std::vector<int64_t>& shape, size_t size) {
  if (bytes.empty()) return bytes;  // however large the other sizes are
  Tensor tensor;
  tensor.shape = shape;
  int64_t stride = static_cast<int64_t>(size);
  for (int64_t length : shape) {
    tensor.strides.push_back(stride);
    stride *= length;
  }
  std::string out;
  out.reserve(bytes.size());
  ForEachOffset(tensor, tensor.count(), [&](int64_t offset) { out.append(bytes, static_cast<size_t>(offset), size); });
  return out;
}

}  // namespace

int32_t DTypeNamed(std::string_view name) {
  for (int32_t dtype = 1; dtype <= WEFT_UINT64; ++dtype) {
    if (name == weft_dtype_name(dtype)) return dtype;
  }
  return 0;
}

std::unique_ptr<OwnedBuffer> BufferFromJson(const Json& value) {
  if (!value.is_object()) Bad("a value is an object of 'dtype', 'shape' and 'values'");
  const std::string name = TextField(value, "dtype");
  const int32_t dtype = DTypeNamed(name);
  if (dtype == 0 || dtype == WEFT_RESOURCE) Bad("'" + name + "' is no type of values", "DT_FLOAT, DT_INT32, DT_STRING, ...");
  auto owned = std::make_unique<OwnedBuffer>();
  const auto shape = value.find("shape");
  if (shape == value.end() || !shape->is_array() || shape->size() > WEFT_MAX_RANK) Bad("'shape' must be a list of sizes");
  for (const Json& size : *shape) owned->shape.push_back(IntegerFrom<int64_t>(size));
  const int64_t count = CountOf(owned->shape, static_cast<int64_t>(weft_dtype_size(dtype)));
  const auto values = value.find("values");
  if (values == value.end() || !values->is_array()) Bad("'values' must be a list");
  std::vector<const Json*> flat;
  const bool is_complex = dtype == WEFT_COMPLEX64 || dtype == WEFT_COMPLEX128;
  const size_t depth = DepthOf(*values);
  Flatten(*values, is_complex && depth > 1 ? depth - 1 : depth, flat);
  if (static_cast<int64_t>(flat.size()) != count) {
    Bad("the shape needs " + std::to_string(count) + " values, there are " + std::to_string(flat.size()));
  }
  if (dtype == WEFT_STRING) {
    PutStrings(flat, *owned);
    return owned;
  }
  WithType(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      for (const Json* item : flat) {
        if (!item->is_boolean() && *item != 0 && *item != 1) Bad("'" + Dump(*item).substr(0, 100) + "' is neither true nor false");
        owned->bytes += item->is_boolean() ? static_cast<char>(item->get<bool>()) : static_cast<char>(*item == 1);
      }
    } else {
      PutAll<T>(flat, owned->bytes);
    }
  });
  Finish(*owned, dtype);
  return owned;
}

std::unique_ptr<OwnedBuffer> BufferFromNpy(std::string_view npy) {
  if (npy.size() < 12 || npy.substr(0, 6) != "\x93NUMPY") Bad("this is no .npy file", "numpy.save writes one");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(npy[at])); };
  const size_t start = npy[6] == 1 ? 10 : 12;
  const size_t length = npy[6] == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (npy[6] < 1 || npy[6] > 3 || length > npy.size() - start) Bad("the header of the .npy file is damaged");
  const std::string_view header = npy.substr(start, length);
  std::string_view descr = HeaderValue(header, "'descr'");
  const size_t open = descr.find('\''), close = open == std::string_view::npos ? open : descr.find('\'', open + 1);
  if (close == std::string_view::npos) Bad("the .npy file has records", "a plain array of numbers is needed");
  const std::string name(descr.substr(open + 1, close - open - 1));
  const auto type = name.size() < 3 ? NpyTypes().end() : NpyTypes().find(name.substr(1));
  if (type == NpyTypes().end()) Bad("the .npy file has elements of type '" + name + "'", "numbers, booleans and complex numbers can be read");
  auto owned = std::make_unique<OwnedBuffer>();
  std::string_view sizes = HeaderValue(header, "'shape'");
  const size_t left = sizes.find('('), right = sizes.find(')');
  if (left == std::string_view::npos || right == std::string_view::npos || right < left) Bad("the shape of the .npy file cannot be read");
  sizes = sizes.substr(left + 1, right - left - 1);
  if (sizes.find_first_not_of("0123456789, L") != std::string_view::npos) Bad("the shape of the .npy file has other than sizes");
  while (sizes.find_first_of("0123456789") != std::string_view::npos) {
    sizes.remove_prefix(sizes.find_first_of("0123456789"));
    int64_t size = 0;
    const auto [end, error] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
    if (error != std::errc() || owned->shape.size() == WEFT_MAX_RANK) Bad("the shape of the .npy file is too large");
    owned->shape.push_back(size);
    sizes.remove_prefix(static_cast<size_t>(end - sizes.data()));
  }
  const size_t size = weft_dtype_size(type->second);
  const int64_t count = CountOf(owned->shape, static_cast<int64_t>(size));
  const std::string_view rest = npy.substr(start + length);
  if (rest.size() < static_cast<size_t>(count) * size) Bad("the .npy file is cut short");
  owned->bytes = std::string(rest.substr(0, static_cast<size_t>(count) * size));
  const bool is_complex = type->second == WEFT_COMPLEX64 || type->second == WEFT_COMPLEX128;
  if (name[0] == '>') ReverseElements(owned->bytes, is_complex ? size / 2 : size);
  const std::string_view fortran = HeaderValue(header, "'fortran_order'");
  if (fortran.substr(0, 6).find("True") != std::string_view::npos && owned->shape.size() > 1) owned->bytes = FromFortran(owned->bytes, owned->shape, size);
  Finish(*owned, type->second);
  return owned;
}

std::string NpyBytes(const Tensor& tensor) {
  const std::string name = NpyNameOf(tensor.dtype);
  std::string shape;
  for (int64_t size : tensor.shape) shape += std::to_string(size) + ", ";
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header = "{'descr': '" + name + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255u);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  const std::string data = DenseBytes(tensor, std::numeric_limits<int64_t>::max());
  if (tensor.dtype != WEFT_BFLOAT16) return bytes + data;
  for (size_t at = 0; at < data.size(); at += 2) {
    const float wide = FloatOfBfloat16(Load<uint16_t>(data.data() + at));
    bytes.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  return bytes;
}

}  // namespace weft::serve
