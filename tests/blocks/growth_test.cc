// Each block on twice the input takes at most 2.5 times the time. Its own cases are made larger, in the first way that the block takes; compared
// are inputs of a size and four times as large; where instructions are counted, twice as large.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/kit/growth.h"
#include "tests/kit/scaled_case.h"
#include "tests/runtime/growth_families.h"
#include "tests/runtime/thread_ranks.h"
#include "weft/host/rank_link.h"

namespace weft::test {
namespace {

constexpr double kLeastSeconds = 150e-6;  // of a run that is compared
constexpr int64_t kMostElements = int64_t{1} << 17;  // of that; in larger memory the time is that of the machine's page faults

struct ScaledBlock {
  const cases::TestCase* test = nullptr;
  kit::Scaling scaling;
};

/// The time of one run of the block with its planning; nothing where it refuses.
std::optional<double> TimeOf(const cases::TestCase& test) {
  kit::BlockResult result;
  const double seconds = kit::CostOf([&] { result = kit::RunScaled(test); });
  return result.status.ok() && result.skipped.empty() ? std::optional(seconds) : std::nullopt;
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

/// Whether the larger input takes too long; best of several, since other programs share the machine.
bool TakesTooLong(const kit::Comparison& by, const cases::TestCase& small, const cases::TestCase& large, std::string& times) {
  double of_small = 1e9, of_large = 1e9;
  for (int round = 0; round < by.rounds; ++round) {
    kit::WaitOutDisturbance(round);
    of_small = std::min(of_small, TimeOf(small).value_or(1e9));
    of_large = std::min(of_large, TimeOf(large).value_or(1e9));
    if ((round > 0 || by.rounds == 1) && of_large <= by.most() * of_small) return false;
  }
  times = Cat(kit::CostText(of_small), ", on ", 1 << by.doublings, " times the input ", kit::CostText(of_large));
  return true;
}

/// What is wrong with the block's growth, or nothing. A cache that becomes too small costs time once: only what stays so as the input grows counts.
std::string CheckGrowth(const ScaledBlock& block) {
  constexpr double kMemory = 1.5;  // what only copies leaves a cache by degrees: with the square it would be 16 times, not 9.4
  const kit::Comparison by = kit::Compare(2, kMemory);
  int64_t factor = 4;
  const auto sized = [&](int64_t by) { return kit::Scaled(*block.test, block.scaling, by); };
  while (kit::ElementsOf(sized(factor)) < kMostElements && factor < kMostElements) {
    const std::optional<double> seconds = TimeOf(sized(factor));
    if (!seconds) return "";  // that large the block refuses it
    if (*seconds >= kLeastSeconds) break;
    factor *= 4;
  }
  for (int again = 0; again < 2; ++again, factor *= 4) {
    const cases::TestCase small = sized((4 * factor) >> by.doublings), large = sized(4 * factor);
    const std::optional<double> seconds = TimeOf(small);
    if (!seconds || *seconds < kLeastSeconds / 3 || !TimeOf(large)) return "";
    std::string times;
    if (!TakesTooLong(by, small, large, times)) return "";
    if (again == 1) return Cat(block.test->block, " (", block.test->name, ", ", kit::ToString(block.scaling), ", ", factor, " times): ", times);
  }
  return "";
}

/// Blocks whose outputs are by what they compute more than twice as large: of n elements a diagonal matrix has n * n.
constexpr std::string_view kGrowFaster[] = {"Diag"};

/// Blocks whose cases cannot be made larger in any of the ways tried, for they need others beside them: by the pages of runtime/growth_families.h
/// that grow and run them. (Those without inputs, and structural ones, are not looked at.)
struct OnPage {
  std::string_view family;
  std::vector<std::string_view> blocks;
};
std::vector<OnPage> BlocksOnPages() {
  return {{"a queue of many", {"QueueEnqueueMany", "QueueDequeueMany", "QueueDequeueUpTo", "QueueSize"}},
          {"readers and writers of a queue", {"QueueEnqueue", "QueueDequeue"}},
          {"a barrier of many", {"BarrierInsertMany", "BarrierTakeMany", "BarrierReadySize", "BarrierIncompleteSize"}},
          {"queues and barriers that are closed", {"QueueClose", "BarrierClose"}},
          {"a staged map", {"MapPeek", "MapUnstage", "MapUnstageNoKey"}},
          {"a staged map in order", {"OrderedMapPeek", "OrderedMapUnstage", "OrderedMapUnstageNoKey"}},
          {"a staging area", {"StagePeek"}},
          {"gradients that are gathered, tensors that are kept", {"AccumulatorApplyGradient", "AccumulatorTakeGradient", "GetSessionTensor"}},
          {"sparse gradients that are gathered", {"SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient", "AccumulatorNumAccumulated",
                                                  "AccumulatorSetGlobalStep", "DeleteSessionTensor"}},
          {"long gradients that are gathered", {"SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient", "AccumulatorApplyGradient"}},
          {"a long array of tensors", {"TensorArrayScatter", "TensorArrayGather", "TensorArraySize", "TensorArrayGrad", "TensorArraySplit", "TensorArrayConcat"}},
          {"elements of an array of tensors", {"TensorArrayWrite", "TensorArrayRead", "TensorArrayClose"}},
          {"an if in a loop", {"LoopHistoryHas", "LoopHistoryPop", "LoopHistoryPush"}},
          {"long values", {"Switch", "RefSwitch", "Enter", "Exit", "DestroyTemporaryVariable", "TensorSummary"}},
          {"long rows", {"TakeManySparseFromTensorsMap", "ParallelConcat"}},
          {"sparse gradients", {"SparseDenseGather", "SparseDenseScatter", "SparseReduceSumGrad", "SparseReorderGrad", "SparseRowSums", "SparseSampledProduct",
                                "SparseSliceGrad", "SparseToDenseGrad"}},
          {"gradients of gradients", {"FusedBatchNormGradGrad", "TransposeBack"}},
          {"readers", {"ReaderRead", "ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderReset", "ReaderRestoreState", "ReaderSerializeState"}},
          {"lines of a file", {"ReaderReadUpTo"}},
          {"whole files", {"MatchingFiles", "ReadFile", "WriteFile"}},
          {"a checkpoint", {"Restore", "RestoreSlice", "Save", "SaveSlices"}},
          {"a checkpoint in two files", {"MergeV2Checkpoints", "RestoreV2", "SaveV2"}}};
}

/// Those; and that the pages run them.
std::set<std::string_view> CheckedOnPages() {
  std::set<std::string_view> listed;
  const std::vector<growth::Family> families = growth::Families();
  for (const OnPage& page : BlocksOnPages()) {
    const auto family = std::ranges::find(families, page.family, [](const growth::Family& one) { return std::string_view(one.name); });
    INFO(page.family);
    REQUIRE(family != families.end());
    REQUIRE((family->kind == growth::Kind::kRuns || family->kind == growth::Kind::kRunsOnce));
    const std::set<std::string> run = growth::BlocksRunBy(*family);
    for (const std::string_view block : page.blocks) {
      if (!run.contains(std::string(block))) FAIL_CHECK("no session of the page '" << page.family << "' runs " << block);
      listed.insert(block);
    }
  }
  return listed;
}

/// Takes what another process sends: grows in a test of its own, below.
constexpr std::string_view kReceiver = "CollectiveBcastRecvV2";

/// The time in which one rank has sent n numbers to another one, with what both do for that.
double TimeOfBroadcast(int n) {
  const auto keys = [](std::vector<std::pair<std::string, std::string>> own) {
    for (const char* port : {"group_size", "group_key", "instance_key"}) own.emplace_back(port, Literal("DT_INT32", {}, {2}));
    return own;
  };
  const std::vector<std::string> sends = {Block("v", "Fill", {{"dims", Ints({static_cast<double>(n)})}, {"value", Scalar(2)}}),
                                          Block("b", "CollectiveBcastSendV2", keys({{"input", "v.output"}}))};
  const std::vector<std::string> receives = {Block("b", kReceiver, keys({{"shape", Ints({static_cast<double>(n)})}}), "T_ = DT_FLOAT;")};
  Boxes boxes(2);
  const TestPage pages[] = {TestPage(sends), TestPage(receives)};
  std::unique_ptr<Session> sessions[2];
  for (int r = 0; r < 2; ++r) {
    REQUIRE(UseCollectives(*pages[r].scope(), std::make_shared<ThreadRank>(boxes, r)).ok());
    sessions[r] = pages[r].Open({"b.data"});
  }
  double seconds = 0;
  for (int run = 0; run < 2; ++run) {  // the first one plans
    Status sent;
    seconds = kit::CostOf([&] {
      std::thread other([&] { sent = sessions[0]->Run(); });
      RunOk(*sessions[1]);
      other.join();
    });
    REQUIRE(sent.ok());
  }
  return seconds;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
TEST_CASE("each block on twice the input takes at most 2.5 times the time", "[growth]") {
  const kit::KeptMemory memory;
  const auto blocks = kit::CasesOfBlocks();
  REQUIRE(!blocks.empty());
  const std::set<std::string_view> listed = CheckedOnPages();
  for (const std::unique_ptr<BlockDef>& def : kit::Catalog().blocks()) {
    if (def->structural != Structural::kNone || def->inputs.empty()) continue;
    const auto tests = blocks.find(def->name);
    const std::optional<ScaledBlock> scaled = tests == blocks.end() ? std::nullopt : FindScaling(tests->second);
    if (scaled && listed.contains(def->name)) FAIL_CHECK(def->name << " can be made larger: it need not be listed");
    if (!scaled && !listed.contains(def->name) && def->name != kReceiver) FAIL_CHECK(def->name << " has no case that can be made larger");
    const bool faster = std::ranges::find(kGrowFaster, def->name) != std::end(kGrowFaster);
    const std::string fault = scaled && !faster ? CheckGrowth(*scaled) : "";
    if (!fault.empty()) FAIL_CHECK(fault);
  }
}

TEST_CASE("a broadcast of twice the numbers takes at most 2.5 times the time", "[growth]") {
  constexpr int kMost = 1 << 20;
  const kit::KeptMemory memory;
  const kit::Comparison by = kit::Compare(2, 1);
  const std::vector<std::string> too_much = kit::CostsTooMuch(
      by, [&](kit::LeastCosts& time) { time.Note("broadcast", TimeOfBroadcast(kMost >> by.doublings)); },
      [&](kit::LeastCosts& time) { time.Note("broadcast", TimeOfBroadcast(kMost)); });
  for (const std::string& fault : too_much) FAIL_CHECK(fault);
}
#endif

}  // namespace weft::test
