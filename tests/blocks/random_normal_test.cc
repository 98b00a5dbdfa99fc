// RandomNormal gives the bits that TensorFlow 2.21.0 gives, however many threads share the work.
#include <catch2/catch.hpp>
#include <span>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

uint64_t Fingerprint(const Tensor& tensor) {
  uint64_t hash = 1469598103934665603u;
  for (uint8_t byte : std::span(static_cast<const uint8_t*>(tensor.data()), static_cast<size_t>(tensor.bytes()))) {
    hash = (hash ^ byte) * 1099511628211u;
  }
  return hash;
}

TEST_CASE("RandomNormal: 100,003 numbers of each type are TensorFlow's to the bit", "[random]") {
  const std::pair<const char*, uint64_t> expected[] = {{"DT_FLOAT", 0xd8a1dc4dbfc63b63},
                                                       {"DT_DOUBLE", 0xa7c382d502ea76a6},
                                                       {"DT_HALF", 0x4d1caed8a777aab6},
                                                       {"DT_BFLOAT16", 0x4fcccb56707dbc39}};
  for (const auto& [dtype, fingerprint] : expected) {
    INFO(dtype);
    BlockResult result = BlockTester(Catalog(), "RandomNormal")
                             .Attrs("dtype_ = " + std::string(dtype) + ";seed_ = 7;seed2_ = 13;")
                             .Input("shape", Tensor::Of<int32_t>({100003}))
                             .Run();
    INFO(ToString(result.status));
    REQUIRE(result.status.ok());
    CHECK(Fingerprint(result.outputs.at("output")) == fingerprint);
  }
}

}  // namespace
}  // namespace weft::kit
