#include "tests/kit/block_tester.h"

#include <algorithm>
#include <exception>

#include "tests/kit/block_run.h"
#include "tests/kit/block_types.h"

namespace weft::kit {
namespace {

/// Inputs of the case in the order of the block's ports.
Result<std::vector<std::vector<Tensor>>> InPortOrder(const BlockDef& def, const std::map<std::string, std::vector<Tensor>>& given) {
  std::vector<std::vector<Tensor>> ports(def.inputs.size());
  for (const auto& [name, values] : given) {
    int port = def.FindInput(name);
    if (port < 0) return NotFound("the block has no input '", name, "'").WithPort(name);
    ports[port] = values;
  }
  for (size_t p = 0; p < ports.size(); ++p) {
    if (ports[p].empty() && def.inputs[p].list == PortList::kSingle) {
      return InvalidArgument("needs a value, found none").WithPort(def.inputs[p].name);
    }
  }
  return ports;
}

/// Everything of one block that all its runs share.
Result<PlannedCase> PlanCase(const BlockDef& def, std::string_view attrs, const std::map<std::string, std::vector<Tensor>>& given) {
  WEFT_ASSIGN_OR_RETURN(auto ports, InPortOrder(def, given));
  std::vector<std::vector<DType>> types(ports.size());
  PlannedCase planned{def, {}, {}, {}, {}, {}};
  for (size_t p = 0; p < ports.size(); ++p) {
    for (Tensor& value : ports[p]) {
      types[p].push_back(value.dtype());
      planned.inputs.push_back(std::move(value));
      planned.input_port.push_back(static_cast<int>(p));
    }
  }
  WEFT_ASSIGN_OR_RETURN(planned.types, InferTypes(def, attrs, types));
  std::vector<InputInfo> infos;
  for (size_t i = 0; i < planned.inputs.size(); ++i) {
    bool shapes = std::ranges::find(def.shaped_by, planned.input_port[i]) != def.shaped_by.end();
    infos.push_back({planned.inputs[i].dtype(), &planned.inputs[i].shape(), shapes ? &planned.inputs[i] : nullptr});
  }
  BlockSignature signature{infos, planned.types.outputs, planned.types.in_first, planned.types.out_first};
  PlanContext context(def, planned.types.attrs, signature);
  WEFT_ASSIGN_OR_RETURN(planned.block, def.plan(context));
  planned.shapes = context.take_planned();
  return planned;
}

/// Why a block cannot be run alone, or nothing.
std::string CannotRun(const BlockDef* def, const std::map<std::string, std::vector<Tensor>>& given) {
  if (def == nullptr) return "the block is not in the catalog";
  if (!def->plan) return "the block is structural";
  for (const PortSpec& port : def->inputs) {
    auto it = given.find(port.name);
    if (port.kind == PortKind::kTensor && port.dtype == DType::kResource && it != given.end()) return "a resource needs a session";
  }
  return "";
}

/// What differs between two runs that should be the same; ok where nothing does.
Status Compare(const BlockResult& first, const BlockResult& other, std::string_view how) {
  if (first.status.code() != other.status.code()) {
    return Internal("another answer ", how, ": ", ToString(first.status), " and ", ToString(other.status));
  }
  for (const auto* values : {&first.outputs, &first.variables}) {
    const auto& others = values == &first.outputs ? other.outputs : other.variables;
    for (const auto& [port, value] : *values) {
      auto it = others.find(port);
      if (it == others.end()) return Internal("no value ", how).WithPort(port);
      if (value.dtype() == DType::kResource || SameBits(value, it->second)) continue;
      return Internal("other bits ", how, ": ", ToString(value), " and ", ToString(it->second)).WithPort(port);
    }
  }
  return {};
}

BlockResult RunGuarded(const PlannedCase& planned, const RunOptions& options) {
  try {
    return RunOnce(planned, options);
  } catch (const std::exception& e) {
    BlockResult result;
    result.status = Internal("an exception left the block: ", e.what());
    return result;
  }
}

/// Inputs whose memory output 0 may be in.
std::vector<int> Overlaps(const PlannedCase& planned) {
  std::vector<int> inputs;
  if (!planned.def.elementwise || planned.block.run == nullptr || planned.types.outputs.empty()) return inputs;
  DType output = planned.types.outputs[0];
  for (size_t i = 0; i < planned.inputs.size(); ++i) {
    const Tensor& input = planned.inputs[i];
    bool plain = !IsManaged(output) && !IsManaged(input.dtype()) && planned.def.inputs[planned.input_port[i]].kind == PortKind::kTensor;
    if (plain && ElementSize(input.dtype()) == ElementSize(output) && input.count() == planned.shapes.outputs[0].count()) {
      inputs.push_back(static_cast<int>(i));
    }
  }
  return inputs;
}

}  // namespace

const Registry& Catalog() {
  static const Registry registry = MakeCatalog();
  return registry;
}

BlockTester& BlockTester::Attrs(std::string text) {
  attrs_ = std::move(text);
  return *this;
}

BlockTester& BlockTester::Inputs(const std::string& port, std::vector<Tensor> values) {
  inputs_[port] = std::move(values);
  return *this;
}

BlockTester& BlockTester::Random() {
  random_ = true;
  return *this;
}

BlockTester& BlockTester::Once(int64_t memory_limit) {
  once_within_ = memory_limit;
  return *this;
}

BlockTester& BlockTester::Folder(std::filesystem::path folder) {
  folder_ = std::move(folder);
  return *this;
}

std::string BlockTester::WhySkipped() const { return CannotRun(registry_.Find(block_), inputs_); }

BlockResult BlockTester::Run() const {
  BlockResult result;
  const BlockDef* def = registry_.Find(block_);
  result.skipped = CannotRun(def, inputs_);
  if (!result.skipped.empty()) return result;
  auto planned = PlanCase(*def, attrs_, inputs_);
  if (!planned.ok()) {
    result.status = std::move(planned).status().WithBlock(block_);
    return result;
  }
  if (once_within_) {
    result = RunGuarded(*planned, {.threads = 2, .folder = folder_, .memory_limit = *once_within_});
    result.status = std::move(result.status).WithBlock(block_);
    return result;
  }
  bool first = true;
  auto run = [&](const RunOptions& options, const std::string& how) {
    if (result.status.code() == Code::kInternal) return;
    BlockResult other = RunGuarded(*planned, options);
    if (first) result = std::move(other);
    else if (Status broken = random_ ? other.status : Compare(result, other, how); broken.code() == Code::kInternal) result.status = std::move(broken);
    first = false;
  };
  for (int threads : {1, 2, 5}) {
    for (int turn = 0; turn < 2; ++turn) {
      unsigned char fill = turn == 0 ? GuardedBuffer::kNaNFill : 0x5A;
      const char* how = turn == 0 ? "" : ", tasks from the last to the first, other bytes in the outputs before";
      run({.threads = threads, .backwards = turn == 1, .fill = fill, .folder = folder_}, Cat("on ", threads, " threads", how));
    }
  }
  for (int input : Overlaps(*planned)) {
    run({.overlap = input, .folder = folder_}, Cat("with output 0 in the memory of input value ", input));
  }
  result.status = std::move(result.status).WithBlock(block_);
  return result;
}

}  // namespace weft::kit
