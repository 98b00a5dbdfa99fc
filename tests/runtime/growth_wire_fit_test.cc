// Wires before they are made, on faulty pages: which of them fit takes at most 2.5 times the time where the page is twice as large.
#include <functional>

#include "runtime/base/call_limit.h"
#include "tests/kit/growth.h"
#include "tests/runtime/growth_pages.h"
#include "weft/plan/wire_fit.h"

namespace weft::test {
namespace {

/// A block that lacks its input, and n sessions that do not need it.
Blocks BesideSessions(int n) {
  Blocks blocks = ChainBlocks(n);
  blocks.push_back(Block("bad", "Identity", {{"input", "nothing.output"}}));
  for (int i = 0; i < n; ++i) blocks.push_back(Fetching(Cat("s", i), "[\"b1.y\"]"));
  return blocks;
}

/// A block that lacks its input, and n that follow from it.
Blocks BehindAFault(int n) {
  Blocks blocks = {Block("bad", "Identity", {{"input", "nothing.output"}}), Block("c", "Const", {{"value", Scalar(1)}}),
                   Block("z", "Negate", {{"x", "c.output"}}), Fetching("s", "[\"z.y\"]")};
  for (int i = 0; i < n; ++i) blocks.push_back(Block(Cat("i", i), "Identity", {{"input", i == 0 ? "bad.output" : Cat("i", i - 1, ".output")}}));
  return blocks;
}

std::vector<std::string> FitsOf(WireFit& fit, bool inputs, const char* port) {
  const Wire wire = ParseWire(port).value();
  auto found = inputs ? fit.InputsFor(wire) : fit.OutputsFor(wire);
  INFO(ToString(found.status()));
  REQUIRE(found.ok());
  return *found;
}

struct FaultyPage {
  const char* name;
  Blocks (*blocks)(int);
  bool inputs;
  const char* port;
};
constexpr FaultyPage kFaultyPages[] = {{"inputs, many sessions", BesideSessions, true, "bad.output"},
                                       {"outputs, many behind a fault", BehindAFault, false, "z.x"}};

}  // namespace

TEST_CASE("Which wires fit a faulty block ends at the call's deadline, and can be asked again", "[wire_fit][call_limit]") {
  for (const FaultyPage& faulty : kFaultyPages) {
    INFO(faulty.name);
    const TestPage page(faulty.blocks(200));
    const auto all = [&] {
      WireFit fit(page.graph());
      return FitsOf(fit, faulty.inputs, faulty.port);
    };
    const std::vector<std::string> before = all();
    CHECK(!before.empty());
    WireFit fit(page.graph());
    {
      const CallLimit over(CallLimit::Clock::now());
      CHECK_THROWS_AS(FitsOf(fit, faulty.inputs, faulty.port), CallStopped);
    }
    CHECK(all() == before);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
TEST_CASE("Which wires fit a faulty block takes no more than 2.5 times the time where the page is twice as large", "[growth][wire_fit]") {
  constexpr int kMostBlocks = 8000;
  const kit::KeptMemory memory;
  const kit::Comparison by = kit::Compare(4, 1.5);
  for (const FaultyPage& faulty : kFaultyPages) {
    const TestPage small(faulty.blocks(kMostBlocks >> by.doublings)), large(faulty.blocks(kMostBlocks));
    const auto measure = [&](const TestPage& page) {
      return [&](kit::LeastCosts& time) {
        time(faulty.name, [&] {
          WireFit fit(page.graph());
          FitsOf(fit, faulty.inputs, faulty.port);
        });
      };
    };
    for (const std::string& fault : kit::CostsTooMuch(by, measure(small), measure(large))) FAIL_CHECK(fault);
  }
}
#endif

}  // namespace weft::test
