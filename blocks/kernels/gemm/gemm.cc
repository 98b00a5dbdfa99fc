#include "blocks/kernels/gemm/gemm.h"

#include "blocks/kernels/gemm/blocking.h"

namespace weft::kernels {

const char* NameOf(Gemm implementation) {
  constexpr const char* kNames[] = {"plain", "skinny gemv", "skinny dot", "blocked"};
  return kNames[static_cast<int>(implementation)];
}

int64_t MostWorkspace(int64_t rows, int64_t columns, int64_t inner) {
  using S = gemm::TileSizes<float>;  // of the most elements
  const auto of = [&](int64_t r, int64_t c) {
    const int64_t padded = std::min<int64_t>(DivideUp(c, int64_t{S::kWide}) * S::kWide, S::kColumns);
    const int64_t right = std::min<int64_t>(padded * std::min<int64_t>(inner, S::kSharedDepth), S::kColumns * S::kDepth);
    return right + std::min<int64_t>(r, gemm::kMostShortRows) * padded;
  };
  constexpr int64_t kLine = 64;
  return DivideUp(std::max(of(rows, columns), of(columns, rows)), kLine) * kLine;
}

}  // namespace weft::kernels
