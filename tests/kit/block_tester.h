// BlockTester runs one block through its real lifecycle (attributes, types, plan, state, runs) without pages or sessions:
//
//   BlockResult result = BlockTester(Catalog(), "BiasAdd").Attrs("data_format_ = NHWC;").Input("value", x).Input("bias", b).Run();
//   REQUIRE(result.status.ok());
//   CHECK(SameBits(result.outputs.at("output"), expected));
//
// It runs with 1, 2 and 5 threads, twice each, and with the first output over an input where the block says that this is allowed. All
// runs must give the same bits; guards round every buffer must stay as they are, and so must the inputs. Where that does not hold the
// status is `internal` and says which port it was.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/block/registry.h"

namespace weft::kit {

/// The blocks that Weft brings.
const Registry& Catalog();

struct BlockResult {
  Status status;
  std::string skipped;                      // why the block cannot be run alone; empty where it was
  std::map<std::string, Tensor> outputs;    // "port", or "port[i]" of a list port; without dead ones
  std::map<std::string, Tensor> variables;  // by reference input, after the run
  std::string log;                          // what the block printed in one run
};

class BlockTester {
 public:
  /// `registry` must outlive the tester.
  BlockTester(const Registry& registry, std::string block) : registry_(registry), block_(std::move(block)) {}

  BlockTester& Attrs(std::string text);
  /// The one value of a port; of a reference port the value that its variable starts with.
  BlockTester& Input(const std::string& port, Tensor value) { return Inputs(port, {std::move(value)}); }
  /// The values of a list port.
  BlockTester& Inputs(const std::string& port, std::vector<Tensor> values);
  /// Runs need not give the same bits (a random block without a seed).
  BlockTester& Random();
  /// One run on two threads within a memory limit, rather than many: for malformed input by the thousand.
  BlockTester& Once(int64_t memory_limit);
  /// The folder whose files the block may touch; without one it may touch none.
  BlockTester& Folder(std::filesystem::path folder);

  /// Why the block cannot be run alone; empty where it can.
  std::string WhySkipped() const;
  BlockResult Run() const;

 private:
  const Registry& registry_;
  std::string block_, attrs_;
  std::map<std::string, std::vector<Tensor>> inputs_;
  bool random_ = false;
  std::optional<int64_t> once_within_;
  std::filesystem::path folder_ = "/nonexistent";
};

}  // namespace weft::kit
