#include "blocks/random/random_stream.h"

#include <random>

namespace weft::blocks {
namespace {

uint64_t ByChance() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Status RandomStream::Save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  for (uint32_t word : next_.state()) out.Put(word);
  return {};
}

Result<std::function<void()>> RandomStream::Load(StateReader& in) {
  kernels::Philox::State state{};
  for (uint32_t& word : state) {
    WEFT_ASSIGN_OR_RETURN(const uint64_t number, in.NumberUpTo(UINT32_MAX));
    word = static_cast<uint32_t>(number);
  }
  return std::function<void()>([this, state] { Set(kernels::Philox::Of(state)); });
}

kernels::Philox StreamStart(const Seeds& seeds) {
  if (seeds.seed == 0 && seeds.seed2 == 0) return {ByChance(), ByChance()};
  return {static_cast<uint64_t>(seeds.seed), static_cast<uint64_t>(seeds.seed2)};
}

Result<ResourceHandle> BindStream(const Seeds& seeds, BindContext& ctx) {
  return ctx.Own([&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<RandomStream>(StreamStart(seeds))); });
}

}  // namespace weft::blocks
