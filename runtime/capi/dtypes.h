// Maps element types to the numbers of weft.h and back.
#pragma once

#include <array>

#include "weft.h"
#include "weft/base/dtype.h"

namespace weft::capi {

inline constexpr std::array<std::pair<DType, int32_t>, 22> kDTypes = {{
    {DType::kFloat, WEFT_FLOAT},         {DType::kDouble, WEFT_DOUBLE},
    {DType::kHalf, WEFT_HALF},           {DType::kBFloat16, WEFT_BFLOAT16},
    {DType::kInt8, WEFT_INT8},           {DType::kInt16, WEFT_INT16},
    {DType::kInt32, WEFT_INT32},         {DType::kInt64, WEFT_INT64},
    {DType::kUInt8, WEFT_UINT8},         {DType::kUInt16, WEFT_UINT16},
    {DType::kUInt32, WEFT_UINT32},       {DType::kUInt64, WEFT_UINT64},
    {DType::kBool, WEFT_BOOL},           {DType::kString, WEFT_STRING},
    {DType::kComplex64, WEFT_COMPLEX64}, {DType::kComplex128, WEFT_COMPLEX128},
    {DType::kQInt8, WEFT_QINT8},         {DType::kQUInt8, WEFT_QUINT8},
    {DType::kQInt16, WEFT_QINT16},       {DType::kQUInt16, WEFT_QUINT16},
    {DType::kQInt32, WEFT_QINT32},       {DType::kResource, WEFT_RESOURCE},
}};
static_assert(kDTypes.size() + 1 == kDTypeCount);

/// kInvalid for a number that is not a type.
constexpr DType FromC(int32_t dtype) {
  for (auto [own, number] : kDTypes) {
    if (number == dtype) return own;
  }
  return DType::kInvalid;
}

/// 0 for kInvalid.
constexpr int32_t ToC(DType dtype) {
  for (auto [own, number] : kDTypes) {
    if (own == dtype) return number;
  }
  return 0;
}

}  // namespace weft::capi
