// Each block ends soon after the deadline of its run: its own cases are made so large that a run which is left takes several times as long.
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/blocks/deadline_rows.h"
#include "tests/kit/case_page.h"
#include "tests/kit/growth.h"
#include "tests/kit/scaled_case.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
namespace weft::test::deadline {
namespace {

constexpr double kLongRun = 400;                    // milliseconds that a run would take, if it were left
constexpr double kTellingRun = 10;                  // milliseconds of a run that tells how long a larger one takes
constexpr int64_t kMostGiven = int64_t{256} << 20;  // bytes of a case's inputs
constexpr int64_t kMostMade = int64_t{512} << 20;   // of what a page holds besides
constexpr double kHung = 20'000;                    // milliseconds of the clock, however busy the machine is
constexpr int kFewestBlocks = 120;                  // that become slow enough for a deadline to stop them

/// A case, and how it is made larger: at most `most` times.
struct GrowingCase {
  const cases::TestCase* test = nullptr;
  kit::Scaling scaling;
  int64_t most = 0;
};

struct TimedRun {
  Status status;
  double took = 0, worked = 0;  // milliseconds: of the clock or, where less, of this thread's processor; of the processor
  bool hung = false;
  bool late() const { return hung || took > static_cast<double>(kDeadline.count()) + kLatest; }
  bool stopped() const { return status.code() == Code::kCancelled; }
};

double ThreadMilliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

Session SessionOf(const std::shared_ptr<Scope>& scope, const std::vector<std::string>& run) {
  SessionSpec spec;
  spec.id = "sweep";
  for (const std::string& id : run) spec.run.push_back(scope->graph().FindNode(id).value());
  return Session(scope, std::move(spec), Keep::kAll);
}

/// One run with kDeadline, on this thread. (Each time a page of its own: what one run has made would be used again.)
TimedRun RunWithDeadline(Runtime& runtime, const cases::TestCase& test) {
  constexpr int64_t kMostWritten = 64;  // elements
  kit::CasePage made = kit::PageOfCase(test, runtime.registry(), kMostWritten);
  Diagnostics found;
  const auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(made.page)), "p", {}, found);
  if (scope == nullptr || found.has_errors()) return {found.FirstError()};
  if (!made.variables.empty()) {
    Session first = SessionOf(scope, made.variables);
    if (Status status = first.Run(); !status.ok()) return {std::move(status)};
  }
  Session session = SessionOf(scope, {kit::CasePage::kBlock});
  for (auto& [id, value] : made.feeds) {
    if (Status status = session.Feed(scope->graph().FindValue(id + ".output").value(), std::move(value)); !status.ok()) return {std::move(status)};
  }
  TimedRun run;
  const double before = ThreadMilliseconds();
  const auto begin = Clock::now();
  run.status = session.Run({.observer = nullptr, .deadline = begin + kDeadline});
  run.took = MillisecondsSince(begin);
  run.hung = run.took > kHung;
  run.worked = ThreadMilliseconds() - before;
  run.took = std::min(run.took, run.worked);
  return run;
}

/// How many times as large the case may be: its inputs are within kMostGiven, and the integer that is multiplied within its type.
int64_t MostTimes(const cases::TestCase& test, const kit::Scaling& scaling) {
  constexpr int64_t kTried = 8;
  int64_t most = int64_t{1} << 30;
  const int64_t bytes = kit::BytesOf(test), more = kit::BytesOf(kit::Scaled(test, scaling, kTried)) - bytes;
  if (more > 0) most = std::min(most, (kTried - 1) * (kMostGiven - bytes) / more);
  if (scaling.element >= 0) {
    const Tensor& sizes = test.inputs.at(scaling.port).values[0];
    Dispatch(sizes.dtype(), kIntegers, [&]<class T>() {
      const T value = std::max(sizes.values<T>()[static_cast<size_t>(scaling.element)], T{1});
      const T times = std::numeric_limits<T>::max() / value;
      if (static_cast<uint64_t>(times) < static_cast<uint64_t>(most)) most = static_cast<int64_t>(times);
    });
  }
  return most;
}

/// The first way in which a case of the block can be made larger.
std::optional<GrowingCase> GrowingCaseOf(const std::vector<cases::TestCase>& tests) {
  constexpr size_t kMostTried = 12;
  const auto runs = [](const cases::TestCase& test) {
    const kit::BlockResult result = kit::RunScaled(test);
    return result.status.ok() && result.skipped.empty();
  };
  for (size_t t = 0; t < std::min(tests.size(), kMostTried); ++t) {
    if (kit::ElementsOf(tests[t]) == 0 || !runs(tests[t])) continue;
    for (const kit::Scaling& scaling : kit::ScalingsOf(tests[t])) {
      if (!runs(kit::Scaled(tests[t], scaling, 2)) || !runs(kit::Scaled(tests[t], scaling, 8))) continue;
      return GrowingCase{&tests[t], scaling, MostTimes(tests[t], scaling)};
    }
  }
  return std::nullopt;
}

/// About how many times as large the case is to be for a run of kLongRun; 0 where no size that it may have takes long enough to be late.
int64_t TimesForLongRun(Runtime& runtime, const GrowingCase& block) {
  constexpr int64_t kStep = 8;
  int64_t times = std::min(kStep, block.most), measured = 0;
  double took = 0;
  while (times > measured && took < kTellingRun) {
    const TimedRun run = RunWithDeadline(runtime, kit::Scaled(*block.test, block.scaling, times));
    if (run.stopped() || run.late()) return std::min(block.most, std::max(times, measured * static_cast<int64_t>(kLongRun / std::max(took, 1.0))));
    if (!run.status.ok()) break;
    took = run.took;
    measured = times;
    times = std::min(block.most, kStep * times);
  }
  if (measured == 0) return 0;
  const double each = std::max(took, 1e-3) / static_cast<double>(measured);
  if (each * static_cast<double>(block.most) < static_cast<double>(kDeadline.count()) + kLatest) return 0;
  return std::min(block.most, static_cast<int64_t>(kLongRun / each));
}

TimedRun BestRun(Runtime& runtime, const cases::TestCase& test) {
  TimedRun best = RunWithDeadline(runtime, test);
  for (int tries = 1; tries < kTries && best.late(); ++tries) {  // others may keep the machine busy
    TimedRun again = RunWithDeadline(runtime, test);
    if (again.took < best.took) best = std::move(again);
  }
  return best;
}

/// What came of a block: a fault, or whether a deadline has stopped it.
struct BlockEnd {
  bool stopped = false;
  std::string fault;
};

BlockEnd SweepBlock(Runtime& runtime, const GrowingCase& block) {
  constexpr int kMostSizes = 4;
  int64_t times = TimesForLongRun(runtime, block);
  for (int sizes = 0; times > 0 && sizes < kMostSizes; ++sizes) {
    const TimedRun run = BestRun(runtime, kit::Scaled(*block.test, block.scaling, times));
    if (run.late()) {
      return {true, Cat(block.test->block, " (", block.test->name, ", ", kit::ToString(block.scaling), ", ", times, " times) ended ",
                        run.took - static_cast<double>(kDeadline.count()), " ms after its deadline: ", ToString(run.status))};
    }
    // Of a run that works on other threads the time would not be known.
    if (run.stopped()) return {run.worked >= static_cast<double>(kDeadline.count()) / 4, ""};
    if (run.status.ok() && times == block.most) break;
    times = run.status.ok() ? std::min(block.most, 4 * times) : times / 2;  // (a refused one was too large)
  }
  return {};
}

std::vector<GrowingCase> GrowingCases(const std::map<std::string, std::vector<cases::TestCase>>& cases_of) {
  std::vector<GrowingCase> blocks;
  for (const std::unique_ptr<BlockDef>& def : kit::Catalog().blocks()) {
    if (def->structural != Structural::kNone || def->inputs.empty()) continue;
    const auto tests = cases_of.find(def->name);
    if (tests == cases_of.end()) continue;
    if (std::optional<GrowingCase> block = GrowingCaseOf(tests->second)) blocks.push_back(std::move(*block));
  }
  return blocks;
}

}  // namespace

TEST_CASE("Every block whose run can be made long ends within 100 ms of its deadline", "[deadline][sweep-of-blocks]") {
  const kit::KeptMemory memory;
  const auto cases_of = kit::CasesOfBlocks();
  const std::vector<GrowingCase> blocks = GrowingCases(cases_of);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  int stopped = 0;
  std::vector<std::string> faults;
  const auto work = [&] {
    Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = kMostMade});
    for (size_t i = next++; i < blocks.size(); i = next++) {
      BlockEnd end;
      try {
        end = SweepBlock(runtime, blocks[i]);
      } catch (const std::exception& error) {
        end.fault = Cat(blocks[i].test->block, ": ", error.what());
      }
      const std::lock_guard lock(mutex);
      stopped += end.stopped ? 1 : 0;
      if (!end.fault.empty()) faults.push_back(std::move(end.fault));
    }
  };
  std::thread other(work);
  work();
  other.join();
  for (const std::string& fault : faults) FAIL_CHECK(fault);
  INFO(blocks.size() << " of " << kit::Catalog().blocks().size() << " blocks can be made larger; of these the others are too quick, or refuse it");
  CHECK(stopped >= kFewestBlocks);
}

}  // namespace weft::test::deadline
#endif
