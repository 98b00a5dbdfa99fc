// The kernel cases of `weft bench`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/cli/bench.h"
#include "weft/base/dtype.h"

namespace weft::cli {

/// An input of a kernel, made before the first run: random, or given integers (axes, sizes).
struct KernelInput {
  std::string port;
  DType dtype = DType::kFloat;
  std::vector<int64_t> shape;
  bool normal = true;  // standard normal; else uniform in [0, 1)
  std::vector<int64_t> values;
  int64_t below = 0;  // above 0, and without values: integers in [0, below)
};

/// One block with its inputs, described completely, so that other programs can time the same.
struct KernelCase {
  std::string name;
  std::string block;
  nlohmann::ordered_json attrs;
  std::vector<KernelInput> inputs;
  std::vector<std::string> outputs;  // ports computed
  Work work;
  bool quick = false;  // part of the smoke test
};

/// All cases, in the order of the report.
std::vector<KernelCase> KernelCases();
/// For `--list --json` and other programs: case, block, attrs, inputs (port, dtype, shape, values: "normal", "uniform", "integers below N" or integers), outputs, bytes, flops.
nlohmann::ordered_json Describe(const KernelCase& kernel);
/// The page that runs the case. Random tensors are Variables, so that a run copies no input.
std::string KernelPage(const KernelCase& kernel);

}  // namespace weft::cli
