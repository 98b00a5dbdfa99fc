// libFuzzer's driver: the target that WEFT_FUZZ_TARGET names. (In the environment, as libFuzzer starts itself again with its own arguments.)
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"

namespace {

const weft::fuzz::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* name = std::getenv("WEFT_FUZZ_TARGET");
  target = weft::fuzz::FindTarget(name == nullptr ? "" : name);
  if (target == nullptr) {
    std::fprintf(stderr, "WEFT_FUZZ_TARGET needs to name a target; there are:");
    for (const auto& each : weft::fuzz::Targets()) std::fprintf(stderr, " %s", each.name);
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  if (weft::fuzz::MakeScratchFolder().empty()) std::exit(2);
  std::atexit([] {
    std::error_code ignored;
    std::filesystem::remove_all(weft::fuzz::ScratchFolder(), ignored);
  });
  std::set_terminate(std::abort);  // and not as the program weft does
  // What a target loads once is not an input's time.
  (void)weft::fuzz::SharedRuntime();
  if (target->by_seed()) (void)target->tell("0");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const weft::fuzz::Stopwatch watch;
    target->run({reinterpret_cast<const char*>(data), size});
    // (libFuzzer's own -timeout counts what a busy machine gives to others, and is for what hangs.)
    weft::fuzz::Require(watch.seconds() <= weft::fuzz::kMostSeconds, "it took ", watch.seconds(), " s");
  } catch (const std::exception& finding) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    std::fprintf(stderr, "found: %s\n%s\n", finding.what(), target->by_seed() ? target->tell(input).c_str() : "");
    std::abort();
  }
  return 0;
}
