// Few bytes of a page that name huge shapes: rows of which there are none, and rows that a single index asks for.
#include "tests/blocks/deadline_rows.h"
#include "tests/kit/block_tester.h"

namespace weft::test::deadline {
namespace {

constexpr int64_t kHugeRow = int64_t{1} << 61;
const std::string kNoHugeRows = Literal("DT_FLOAT", {0, kHugeRow}, {});

/// The optimisers that update rows.
std::vector<const BlockDef*> RowOptimisers() {
  std::vector<const BlockDef*> found;
  for (const auto& def : kit::Catalog().blocks()) {
    if (def->name.find("SparseApply") != std::string::npos) found.push_back(def.get());
  }
  return found;
}

/// A value for an input of an optimiser that is no variable.
std::string OptimiserValue(std::string_view port) {
  if (port == "grad") return kNoHugeRows;
  if (port == "indices") return Sizes({});
  if (port == "global_step") return Whole("DT_INT64", {1}, true);
  return Scalar(port == "lr_power" ? -0.5 : 0.5);
}

std::string VariableOf(const BlockDef& def, const PortSpec& port) { return Cat(def.name, "_", port.name); }

std::vector<std::string> PageOfOptimisers(const std::vector<const BlockDef*>& defs) {
  std::vector<std::string> blocks;
  for (const BlockDef* def : defs) {
    std::vector<std::pair<std::string, std::string>> inputs;
    for (const PortSpec& port : def->inputs) {
      const bool variable = port.kind == PortKind::kReference;
      if (variable) blocks.push_back(Variable(VariableOf(*def, port), kNoHugeRows));
      inputs.emplace_back(port.name, variable ? VariableOf(*def, port) + ".ref" : OptimiserValue(port.name));
    }
    blocks.push_back(Block(def->name, def->name, inputs));
  }
  return blocks;
}

}  // namespace

TEST_CASE("Every optimiser of rows is at once done with no rows of 2^61 elements", "[deadline]") {
  const std::vector<const BlockDef*> defs = RowOptimisers();
  CHECK(defs.size() == 18);
  TestPage page(PageOfOptimisers(defs));
  for (const BlockDef* def : defs) {
    INFO(def->name);
    const auto session = page.Open({}, {def->name});
    RunOk(*session, {.observer = nullptr, .deadline = Clock::now() + std::chrono::seconds(kit::kSanitized ? 10 : 1)});
    for (const PortSpec& port : def->inputs) {
      if (port.kind == PortKind::kReference) CHECK(page.scope()->GetVariable(VariableOf(*def, port)).value().shape() == Shape{0, kHugeRow});
    }
  }
}

TEST_CASE("DynamicStitch refuses rows up to a huge index where they go over the memory limit", "[memory]") {
  const auto [dtype, value] = GENERATE(table<DType, std::string>({{DType::kInt8, "1"}, {DType::kFloat, "1"}, {DType::kString, "\"a\""}}));
  INFO(Cat(dtype));
  const std::string data = Cat("[{\"dtype\": \"", dtype, "\", \"shape\": [1], \"values\": [", value, "]}]");
  TestPage page({Block("s", "DynamicStitch", {{"indices", Cat('[', Sizes({INT32_MAX}), ']')}, {"data", data}})},
                {.threads = 1, .memory_limit = int64_t{64} << 20});
  const int64_t before = page.runtime().budget()->used();
  const Status status = page.Open({"s.merged"})->Run();
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(status.place().block == "s");
  CHECK_THAT(status.message(), Catch::Contains(Cat("needs ", (int64_t{1} << 31) * static_cast<int64_t>(ElementSize(dtype)), " bytes")));
  CHECK(page.runtime().budget()->used() <= before + 10'000);
}

}  // namespace weft::test::deadline
