#include "blocks/kernels/simd/non_temporal.h"

#include "weft/base/processor.h"

namespace weft::kernels {
namespace {
int64_t set_bytes = -1;
}  // namespace

int64_t ResultCacheBytes() { return set_bytes < 0 ? FastCacheBytes() : set_bytes; }

void SetResultCacheBytes(int64_t bytes) { set_bytes = bytes; }

}  // namespace weft::kernels
