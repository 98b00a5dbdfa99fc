// StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong: strings as numbers below a limit, by a hash of their bytes.
#include <farmhash.h>
#include <sodium/crypto_shorthash.h>

#include <cstring>

#include "blocks/kernels/stop_check.h"
#include "blocks/murmur_hash.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> string_tensor{"string_tensor", "DT_STRING", "of any shape"};
constexpr In<0> input{"input", "DT_STRING", "of any shape"};
constexpr Out<0> output{"output", "DT_INT64", "the shape of the input: a number in [0, num_buckets) for each string"};
constexpr Attr<int64_t> num_buckets{"num_buckets", kRequired, "how many buckets there are", nullptr, 1};
constexpr Attr<Ints> key{"key", kRequired, "two numbers that change the hash; whoever does not know them cannot choose strings that collide"};

/// hash(bytes, stop) modulo the buckets, for each string. (Libraries' do not stop within one: a gigabyte takes tenths of a second.)
void RunHash(RunContext& ctx, const auto& port, int64_t buckets, const auto& hash) {
  constexpr int64_t kGrain = 4096, kString = 8;  // strings of a task; what one of them counts at least
  const auto texts = ctx.in<String>(port);
  int64_t* out = ctx.out<int64_t>(output).data();
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(texts.size()), kGrain, [&](int64_t i, kernels::StopCheck& stop) {
    const std::string_view text = texts[static_cast<size_t>(i)];
    if (stop(kString + static_cast<int64_t>(text.size() / 16))) return;
    out[i] = static_cast<int64_t>(hash(text, stop) % static_cast<uint64_t>(buckets));
  });
}

// ---- StringToHashBucket ---------------------------------------------------------------------------------------------------

int64_t PlanBuckets(PlanContext& ctx, const auto& port) {
  ctx.set(output, ctx.shape(port));
  return ctx.attr(num_buckets);
}

constexpr uint64_t kSeed = 0xDECAFCAFFE;  // TensorFlow's

Result<int64_t> Plan(PlanContext& ctx) { return PlanBuckets(ctx, string_tensor); }
constexpr auto Run = [](const int64_t& buckets, RunContext& ctx) {
  RunHash(ctx, string_tensor, buckets, [](std::string_view text, auto& stop) { return MurmurHash64A(text, kSeed, stop); });
};

// ---- StringToHashBucketFast -----------------------------------------------------------------------------------------------

Result<int64_t> PlanFast(PlanContext& ctx) { return PlanBuckets(ctx, input); }
constexpr auto RunFast = [](const int64_t& buckets, RunContext& ctx) {
  RunHash(ctx, input, buckets, [](std::string_view text, auto&) { return util::Fingerprint64(text.data(), text.size()); });
};

// ---- StringToHashBucketStrong ---------------------------------------------------------------------------------------------

struct Strong {
  int64_t buckets;
  unsigned char key[crypto_shorthash_siphash24_KEYBYTES];
};

Result<Strong> PlanStrong(PlanContext& ctx) {
  const Ints given = ctx.attr(key);
  if (given.size() != 2) return ctx.Error(key, "needs two numbers, found ", given.size());
  Strong strong{PlanBuckets(ctx, input), {}};
  std::memcpy(strong.key, given.data(), sizeof strong.key);
  return strong;
}

constexpr auto RunStrong = [](const Strong& strong, RunContext& ctx) {
  RunHash(ctx, input, strong.buckets, [&](std::string_view text, auto&) {
    uint64_t hash = 0;
    crypto_shorthash_siphash24(reinterpret_cast<unsigned char*>(&hash), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                               strong.key);
    return hash;
  });
};

}  // namespace

BlockDef StringToHashBucket() {
  return Block("StringToHashBucket", "A bucket for each string, by a hash of its bytes (MurmurHash64A).")
      .Details("StringToHashBucketFast is faster and spreads better.")
      .Ports(string_tensor, output)
      .Attrs(num_buckets)
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

BlockDef StringToHashBucketFast() {
  return Block("StringToHashBucketFast", "A bucket for each string, by a fast hash of its bytes (FarmHash Fingerprint64).")
      .Details("Whoever chooses the strings can make them collide: StringToHashBucketStrong does not allow that.")
      .Ports(input, output)
      .Attrs(num_buckets)
      .NotDifferentiable()
      .Kernel(PlanFast, RunFast);
}

BlockDef StringToHashBucketStrong() {
  return Block("StringToHashBucketStrong", "A bucket for each string, by a keyed hash of its bytes (SipHash-2-4).")
      .Ports(input, output)
      .Attrs(num_buckets, key)
      .NotDifferentiable()
      .Kernel(PlanStrong, RunStrong);
}

}  // namespace weft::blocks
