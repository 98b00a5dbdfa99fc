// The kernel cases of `weft bench`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/cli/bench.h"
#include "weft/base/dtype.h"

namespace weft::cli {

/// An input of a kernel, made before the first run: random, given integers (axes, sizes) or strings, or the bytes of a picture.
struct KernelInput {
  std::string port;
  DType dtype = DType::kFloat;
  std::vector<int64_t> shape;
  bool normal = true;  // standard normal; else uniform in [0, 1)
  std::vector<int64_t> values = {};
  std::string encoder = {};  // the block that makes the bytes of a picture of this shape
  std::vector<std::string> texts = {};
  bool list = false;  // one value of a list port, after those before it
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
  nlohmann::ordered_json beside = nullptr;  // other blocks of its page: "blocks", the kernel's "inputs" that are wires to them, "run"; null: none
  int64_t record_bytes = 0;  // of a file of records that is read; the block is run by a page of its own then
};

/// A case that moves the bytes of every input read once and `output_bytes` written. Cases that must read an input twice add that.
KernelCase MakeCase(std::string name, const char* block, nlohmann::ordered_json attrs, std::vector<KernelInput> inputs,
                    std::vector<std::string> outputs, double output_bytes);
/// The cases that work on strings.
void AddTexts(std::vector<KernelCase>& cases);
/// All cases, in the order of the report.
std::vector<KernelCase> KernelCases();
/// Whether the values are given, and those as JSON.
bool IsGiven(const KernelInput& input);
nlohmann::ordered_json GivenValues(const KernelInput& input);
/// For `--list --json` and other programs: case, block, attrs, inputs (port, dtype, shape, values: "normal", "uniform", "integers below N", integers, strings
/// or the block that writes a picture; list: of a list port), outputs, bytes, flops.
nlohmann::ordered_json Describe(const KernelCase& kernel);
/// The page that runs the case. Random tensors are Variables, so that a run copies no input.
std::string KernelPage(const KernelCase& kernel);

}  // namespace weft::cli
