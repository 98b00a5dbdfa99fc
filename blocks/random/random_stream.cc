#include "blocks/random/random_stream.h"

#include <random>

namespace weft::blocks {
namespace {

uint64_t ByChance() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Result<ResourceHandle> BindStream(const Seeds& seeds, BindContext& ctx) {
  return ctx.Own([&]() -> Result<ResourceHandle> {
    const bool by_chance = seeds.seed == 0 && seeds.seed2 == 0;
    kernels::Philox start(by_chance ? ByChance() : static_cast<uint64_t>(seeds.seed),
                          by_chance ? ByChance() : static_cast<uint64_t>(seeds.seed2));
    return ResourceHandle(std::make_shared<RandomStream>(start));
  });
}

}  // namespace weft::blocks
