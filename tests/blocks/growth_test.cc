// Each block on twice the input takes at most 2.5 times the time. Its own cases are made larger, in the first way that the block takes; compared
// are inputs of a size and four times as large.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <catch2/catch.hpp>

#include "tests/kit/block_tester.h"
#include "tests/kit/growth.h"
#include "tests/kit/scaled_case.h"
#include "weft/cases/case_reader.h"

namespace weft::test {
namespace {

constexpr int64_t kMemory = int64_t{1} << 29;
constexpr double kLeastSeconds = 150e-6;  // of a run that is compared
constexpr int64_t kMostElements = int64_t{1} << 17;  // of that; in larger memory the time is that of the machine's page faults

struct ScaledBlock {
  const cases::TestCase* test = nullptr;
  kit::Scaling scaling;
};

/// The time of one run of the block with its planning; nothing where it refuses.
std::optional<double> TimeOf(const cases::TestCase& test) {
  kit::BlockTester tester(kit::Catalog(), test.block);
  tester.Attrs(test.attrs).Once(kMemory);
  for (const auto& [port, input] : test.inputs) tester.Inputs(port, input.values);
  const double begin = kit::ProcessorSeconds();
  const kit::BlockResult result = tester.Run();
  const double seconds = kit::ProcessorSeconds() - begin;
  return result.status.ok() && result.skipped.empty() ? std::optional(seconds) : std::nullopt;
}

/// The cases of each block that succeed, those with the largest inputs first.
std::map<std::string, std::vector<cases::TestCase>> CasesOfBlocks() {
  std::map<std::string, std::vector<cases::TestCase>> blocks;
  const auto files = cases::FindCaseFiles(std::filesystem::path(WEFT_SOURCE_DIR) / "tests" / "blocks");
  REQUIRE(files.ok());
  for (const auto& path : *files) {
    for (cases::TestCase& test : cases::ReadCaseFile(path).cases) {
      if (test.is_page() || test.expected.error || !test.fault.empty() || cases::UsesFolder(test)) continue;
      blocks[test.block].push_back(std::move(test));
    }
  }
  for (auto& [block, tests] : blocks) std::ranges::stable_sort(tests, std::ranges::greater(), kit::ElementsOf);
  return blocks;
}

std::optional<ScaledBlock> FindScaling(const std::vector<cases::TestCase>& tests) {
  constexpr size_t kMostTried = 12;
  for (size_t t = 0; t < std::min(tests.size(), kMostTried); ++t) {
    if (kit::ElementsOf(tests[t]) == 0 || !TimeOf(tests[t])) continue;
    for (const kit::Scaling& scaling : kit::ScalingsOf(tests[t])) {
      if (TimeOf(kit::Scaled(tests[t], scaling, 2)) && TimeOf(kit::Scaled(tests[t], scaling, 8))) return ScaledBlock{&tests[t], scaling};
    }
  }
  return std::nullopt;
}

/// Whether four times the input takes too long; best of several, since other programs share the machine.
bool TakesTooLong(const cases::TestCase& once, const cases::TestCase& four, std::string& times) {
  constexpr int kMostRounds = 8;
  double best = 1e9, best_of_four = 1e9;
  for (int round = 0; round < kMostRounds; ++round) {
    kit::WaitOutDisturbance(round);
    best = std::min(best, TimeOf(once).value_or(1e9));
    best_of_four = std::min(best_of_four, TimeOf(four).value_or(1e9));
    if (round > 0 && best_of_four <= kit::kMostForTwice * kit::kMostForTwice * best) return false;
  }
  times = Cat(1e3 * best, " ms, on four times the input ", 1e3 * best_of_four, " ms");
  return true;
}

/// What is wrong with the block's growth, or nothing. A cache that becomes too small costs time once: only what stays so as the input grows counts.
std::string CheckGrowth(const ScaledBlock& block) {
  int64_t factor = 4;
  const auto sized = [&](int64_t by) { return kit::Scaled(*block.test, block.scaling, by); };
  while (kit::ElementsOf(sized(factor)) < kMostElements && factor < kMostElements) {
    const std::optional<double> seconds = TimeOf(sized(factor));
    if (!seconds) return "";  // that large the block refuses it
    if (*seconds >= kLeastSeconds) break;
    factor *= 4;
  }
  for (int again = 0; again < 2; ++again, factor *= 4) {
    const cases::TestCase once = sized(factor), four = sized(4 * factor);
    const std::optional<double> seconds = TimeOf(once);
    if (!seconds || *seconds < kLeastSeconds / 3 || !TimeOf(four)) return "";
    std::string times;
    if (!TakesTooLong(once, four, times)) return "";
    if (again == 1) return Cat(block.test->block, " (", block.test->name, ", ", kit::ToString(block.scaling), ", ", factor, " times): ", times);
  }
  return "";
}

/// Blocks whose outputs are by what they compute more than twice as large: of n elements a diagonal matrix has n * n.
constexpr std::string_view kGrowFaster[] = {"Diag"};

/// Blocks whose cases cannot be made larger in any of the ways tried, by the reason; those without inputs, and structural ones, are not looked at.
std::map<std::string, std::string> NotScaled() {
  const std::pair<const char*, std::vector<const char*>> reasons[] = {
      {"works on a barrier: its cases name none", {"BarrierClose", "BarrierIncompleteSize", "BarrierInsertMany", "BarrierReadySize", "BarrierTakeMany"}},
      {"waits for what others put in",
       {"MapPeek", "MapUnstage", "MapUnstageNoKey", "OrderedMapPeek", "OrderedMapUnstage", "OrderedMapUnstageNoKey", "StagePeek"}},
      {"works on an accumulator or a kept tensor: its cases name none, a page is in runtime/growth_test.cc",
       {"AccumulatorApplyGradient", "AccumulatorNumAccumulated", "AccumulatorSetGlobalStep", "AccumulatorTakeGradient", "DeleteSessionTensor",
        "GetSessionTensor", "SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient"}},
      {"works on a queue or a reader: pages of those are in runtime/growth_test.cc",
       {"QueueClose", "QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo", "QueueEnqueue", "QueueEnqueueMany", "QueueSize", "ReaderNumRecordsProduced",
        "ReaderNumWorkUnitsCompleted", "ReaderRead", "ReaderReadUpTo", "ReaderReset", "ReaderRestoreState", "ReaderSerializeState"}},
      {"works on an array of tensors, or keeps what a loop's gradient needs: a page is in runtime/growth_test.cc",
       {"LoopHistoryHas", "LoopHistoryPop", "LoopHistoryPush", "TensorArrayClose", "TensorArrayConcat", "TensorArrayGather", "TensorArrayGrad",
        "TensorArrayRead", "TensorArrayScatter", "TensorArraySize", "TensorArraySplit", "TensorArrayWrite"}},
      {"takes what another process sends", {"CollectiveBcastRecvV2"}},
      {"reads or writes a file",
       {"MatchingFiles", "MergeV2Checkpoints", "ReadFile", "Restore", "RestoreSlice", "RestoreV2", "Save", "SaveSlices", "SaveV2", "WriteFile"}},
      {"gradients alone add it: it has no cases of its own",
       {"FusedBatchNormGradGrad", "SparseDenseGather", "SparseDenseScatter", "SparseReduceSumGrad", "SparseReorderGrad", "SparseRowSums",
        "SparseSampledProduct", "SparseSliceGrad", "SparseToDenseGrad", "TransposeBack"}},
      {"takes out of a map what other blocks put in", {"TakeManySparseFromTensorsMap"}},
      {"its cases are pages", {"DestroyTemporaryVariable", "Enter", "Exit", "RefSwitch", "Switch", "TensorSummary"}},
      {"its input is square", {"DiagPart"}},
      {"an attribute is the shape of what it makes", {"ParallelConcat"}},
  };
  std::map<std::string, std::string> blocks;
  for (const auto& [reason, names] : reasons) {
    for (const char* name : names) blocks[name] = reason;
  }
  return blocks;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
TEST_CASE("each block on twice the input takes at most 2.5 times the time", "[growth]") {
  const kit::KeptMemory memory;
  const auto blocks = CasesOfBlocks();
  const std::map<std::string, std::string> listed = NotScaled();
  for (const std::unique_ptr<BlockDef>& def : kit::Catalog().blocks()) {
    if (def->structural != Structural::kNone || def->inputs.empty()) continue;
    const auto tests = blocks.find(def->name);
    const std::optional<ScaledBlock> scaled = tests == blocks.end() ? std::nullopt : FindScaling(tests->second);
    if (scaled && listed.contains(def->name)) FAIL_CHECK(def->name << " can be made larger: it need not be listed");
    if (!scaled && !listed.contains(def->name)) FAIL_CHECK(def->name << " has no case that can be made larger");
    const bool faster = std::ranges::find(kGrowFaster, def->name) != std::end(kGrowFaster);
    const std::string fault = scaled && !faster ? CheckGrowth(*scaled) : "";
    if (!fault.empty()) FAIL_CHECK(fault);
  }
  for (const auto& [name, why] : listed) CHECK(kit::Catalog().Find(name) != nullptr);
}
#endif

}  // namespace weft::test
