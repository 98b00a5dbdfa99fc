// The blocks whose rows have other last bits in a batch of another size, the last two at few shapes; the README lists them, too.
#pragma once

#include <set>
#include <string>

namespace weft::kit {

inline const std::set<std::string> kRowDependent = {"BatchMatMulV2", "MatMul", "SparseMatMul", "TanhGrad"};

}  // namespace weft::kit
