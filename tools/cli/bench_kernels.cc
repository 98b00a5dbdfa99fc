// weft bench: kernels, each as a page of one block whose inputs are Variables.
#include <iostream>
#include <optional>

#include "tools/cli/bench_cases.h"
#include "tools/cli/bench_records.h"
#include "tools/cli/common.h"
#include "weft/page/reader.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Adds the blocks that make the bytes of a picture: some random pixels, stretched and encoded.
Json AddPicture(const KernelInput& input, Json& blocks) {
  const auto ints = [](std::vector<int64_t> values) {
    return Json{{"dtype", "DT_INT32"}, {"shape", {values.size()}}, {"values", values}};
  };
  const Json factor = {{"dtype", "DT_FLOAT"}, {"shape", Json::array()}, {"values", {255}}};
  const auto add = [&](const char* id, const std::string& block, Json attrs, Json inputs) {
    blocks.push_back({{"id", id}, {"block", block}, {"attrs", std::move(attrs)}, {"inputs", std::move(inputs)}});
  };
  add("pixels", "RandomUniform", {{"dtype", "DT_FLOAT"}, {"seed", 1}},
      {{"shape", ints({1, input.shape[0] / 8, input.shape[1] / 8, input.shape[2]})}});
  add("large", "ResizeBilinear", Json::object(), {{"images", "pixels.output"}, {"size", ints({input.shape[0], input.shape[1]})}});
  add("bright", "Multiply", Json::object(), {{"x", "large.resized_images"}, {"y", factor}});
  add("bytes", "Cast", {{"DstT", "DT_UINT8"}}, {{"x", "bright.z"}});
  add("picture", "Reshape", Json::object(), {{"tensor", "bytes.y"}, {"shape", ints(input.shape)}});
  add("file", input.encoder, Json::object(), {{"image", "picture.output"}});
  add(input.port.c_str(), "Variable", {{"shape", Json::array()}, {"dtype", "DT_STRING"}}, {{"initvalues", "file.contents"}});
  return input.port + ".ref";
}

/// Adds the blocks that make an input; returns the value for the kernel's port.
Json AddInput(const KernelInput& input, Json& blocks) {
  if (!input.encoder.empty()) return AddPicture(input, blocks);
  Json shape = {{"dtype", "DT_INT32"}, {"shape", {input.shape.size()}}, {"values", input.shape}};
  if (IsGiven(input)) return {{"dtype", DTypeName(input.dtype)}, {"shape", input.shape}, {"values", GivenValues(input)}};
  Json attrs = {{"seed", 1 + blocks.size()}}, inputs = {{"shape", shape}};
  const bool integers = input.below > 0;
  if (integers) {
    inputs["minval"] = {{"dtype", DTypeName(input.dtype)}, {"shape", Json::array()}, {"values", {0}}};
    inputs["maxval"] = {{"dtype", DTypeName(input.dtype)}, {"shape", Json::array()}, {"values", {input.below}}};
  } else {
    attrs["dtype"] = DTypeName(input.dtype);
  }
  const char* block = integers ? "RandomUniformInt" : input.normal ? "RandomNormal" : "RandomUniform";
  blocks.push_back({{"id", input.port + "_start"}, {"block", block}, {"attrs", attrs}, {"inputs", inputs}});
  blocks.push_back({{"id", input.port},
                    {"block", "Variable"},
                    {"attrs", {{"shape", input.shape}, {"dtype", DTypeName(input.dtype)}}},
                    {"inputs", {{"initvalues", input.port + "_start.output"}}}});
  return input.port + ".ref";
}

bool Chosen(const KernelCase& kernel, const BenchOptions& options) {
  if (options.quick && !kernel.quick) return false;
  if (options.cases.empty()) return true;
  for (const std::string& part : options.cases) {
    if (kernel.name.find(part) != std::string::npos) return true;
  }
  return false;
}

Status Bench(const KernelCase& kernel, Runtime& runtime, double seconds, MachineLimits& limits, BenchReport& report) {
  std::optional<RecordFile> records;
  ScopeOptions files;
  if (kernel.record_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(RecordFile made, RecordFile::Make(kernel.record_bytes));
    files.files = std::make_shared<FileSandbox>(records.emplace(std::move(made)).rules());
  }
  const std::string page = records ? RecordFile::Page(kernel.name) : KernelPage(kernel);
  ReadPageResult read = ReadPage(page, {.name = kernel.name, .read_file = {}});
  auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), kernel.name, std::move(files), read.diagnostics);
  if (read.diagnostics.has_errors()) return read.diagnostics.FirstError();
  Session session(scope, scope->graph().sessions()[0], Keep::kAsked);
  WEFT_ASSIGN_OR_RETURN(Timing timing, TimeRuns(session, seconds));
  Limit limit = limits.Of(kernel.work);
  if (limit.seconds * 1e6 > timing.best_us) {
    limits.MeasureAgain(kernel.work);
    limit = limits.Of(kernel.work);
  }
  report.Kernel(kernel.name, timing, kernel.work, limit);
  return {};
}

}  // namespace

// The block is run and no result is kept, as in the programs it is compared with: a kept result would use two buffers in turn.
std::string KernelPage(const KernelCase& kernel) {
  Json blocks = Json::array(), inputs = Json::object(), outputs = Json::array();
  for (const KernelInput& input : kernel.inputs) {
    Json value = AddInput(input, blocks);
    if (input.list) inputs[input.port].push_back(std::move(value));
    else inputs[input.port] = std::move(value);
  }
  for (const std::string& output : kernel.outputs) outputs.push_back("kernel." + output);
  if (!kernel.beside.is_null()) {
    for (const Json& block : kernel.beside["blocks"]) blocks.push_back(block);
    for (const Json& id : kernel.beside["run"]) outputs.push_back(id);
    inputs.update(kernel.beside["inputs"]);
  }
  blocks.push_back({{"id", "kernel"}, {"block", kernel.block}, {"attrs", kernel.attrs}, {"inputs", inputs}});
  blocks.push_back({{"id", "run"}, {"block", "ClientSession"}, {"inputs", {{"run_outputs", outputs}}}});
  return Json{{"weft", 1}, {"page", kernel.name}, {"blocks", blocks}}.dump();
}

int BenchKernels(const BenchOptions& options) {
  std::vector<KernelCase> kernels = KernelCases();
  std::erase_if(kernels, [&](const KernelCase& kernel) { return !Chosen(kernel, options); });
  if (kernels.empty()) {
    Report(NotFound("no case has a name with that in it (weft bench --list shows all)"), options.json);
    return kFailed;
  }
  if (options.list) {
    for (const KernelCase& kernel : kernels) std::cout << (options.json ? Describe(kernel).dump() : kernel.name) << "\n";
    return kOk;
  }
  Runtime runtime(MakeCatalog(), {.threads = options.threads, .memory_limit = 0});
  MachineLimits limits(runtime.threads(), options.quick ? 0.02 : 0.1);
  BenchReport report(options.json, runtime.threads());
  for (const KernelCase& kernel : kernels) {
    if (Status status = Bench(kernel, runtime, options.seconds, limits, report); !status.ok()) {
      Report(status, options.json);
      return kFailed;
    }
  }
  return kOk;
}

}  // namespace weft::cli
