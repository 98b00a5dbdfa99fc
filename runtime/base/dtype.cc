#include "weft/base/dtype.h"

#include <array>

#include "weft/base/float16.h"

namespace weft {
namespace {

struct Row {
  std::string_view name;   // TensorFlow's enumerator
  std::string_view other;  // TensorFlow's name in Python
  size_t size;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"DT_INVALID", "invalid", 0},
    {"DT_FLOAT", "float32", sizeof(float)},
    {"DT_DOUBLE", "float64", sizeof(double)},
    {"DT_HALF", "float16", sizeof(half)},
    {"DT_BFLOAT16", "bfloat16", sizeof(bfloat16)},
    {"DT_INT8", "int8", 1},
    {"DT_INT16", "int16", 2},
    {"DT_INT32", "int32", 4},
    {"DT_INT64", "int64", 8},
    {"DT_UINT8", "uint8", 1},
    {"DT_UINT16", "uint16", 2},
    {"DT_UINT32", "uint32", 4},
    {"DT_UINT64", "uint64", 8},
    {"DT_BOOL", "bool", sizeof(bool)},
    {"DT_STRING", "string", sizeof(String)},
    {"DT_COMPLEX64", "complex64", sizeof(complex64)},
    {"DT_COMPLEX128", "complex128", sizeof(complex128)},
    {"DT_QINT8", "qint8", 1},
    {"DT_QUINT8", "quint8", 1},
    {"DT_QINT16", "qint16", 2},
    {"DT_QUINT16", "quint16", 2},
    {"DT_QINT32", "qint32", 4},
    {"DT_RESOURCE", "resource", sizeof(ResourceHandle)},
}};

}  // namespace

size_t ElementSize(DType dtype) { return kRows[static_cast<size_t>(dtype)].size; }

std::string_view DTypeName(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  if (name.ends_with("_REF")) name.remove_suffix(4);
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name || kRows[i].other == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace weft
