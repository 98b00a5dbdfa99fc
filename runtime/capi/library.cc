// Blocks in shared libraries, and case files.
#include <algorithm>
#include <filesystem>

#include "runtime/capi/objects.h"
#include "runtime/capi/run_options.h"
#include "weft/capi/runtime.hpp"
#include "weft/cases/case_reader.h"
#include "weft/cases/session_executor.h"

using namespace weft;
using namespace weft::capi;

namespace {

constexpr const char* kEntry = "weft_library";

Result<weft_library_function> EntryOf(const SharedLibrary& library, const char* path) {
  auto entry = reinterpret_cast<weft_library_function>(library.Find(kEntry));
  if (entry != nullptr) return entry;
  return InvalidArgument("the library '", path, "' exports no function ", kEntry).WithHint("see weft/capi/library.h");
}

/// The system looks elsewhere for what has no slash.
std::string PathOf(const std::string& library) {
  std::error_code unknown;
  return library.find('/') == std::string::npos && std::filesystem::exists(library, unknown) ? "./" + library : library;
}

/// What a call of the C interface said of its failure.
Status StatusOf(weft_diagnostics* problems, weft_status code) {
  auto list = Find(problems);
  Status status = list.ok() ? (*list)->diagnostics.FirstError() : Status(static_cast<Code>(code), weft_status_name(code));
  (void)weft_diagnostics_release(problems);
  return status;
}

}  // namespace

Result<std::shared_ptr<Runtime>> weft::OpenRuntime(const RuntimeOptions& options, const std::vector<std::string>& libraries,
                                                   const BlockLists& lists) {
  WEFT_ASSIGN_OR_RETURN(Registry registry, ApplyLists(MakeCatalog(), lists));
  auto object = std::make_shared<RuntimeObject>(Job::Alone(), std::move(registry), options);
  std::shared_ptr<Runtime> opened(object, &object->runtime);
  if (libraries.empty()) return opened;
  weft_runtime* runtime = nullptr;  // what a library's entry takes
  WEFT_RETURN_IF_ERROR(Give(std::move(object), &runtime));
  weft_diagnostics* problems = nullptr;
  weft_status code = WEFT_OK;
  for (size_t i = 0; i < libraries.size() && code == WEFT_OK; ++i) {
    code = weft_runtime_add_library(runtime, PathOf(libraries[i]).c_str(), &problems);
  }
  (void)weft_runtime_close(runtime);
  if (code != WEFT_OK) return StatusOf(problems, code);
  return opened;
}

weft_status weft_runtime_add_library(weft_runtime* runtime, const char* path, weft_diagnostics** problems) {
  std::shared_ptr<RuntimeObject> object;  // and the library with it, also where the library closes the runtime
  weft_library_function entry = nullptr;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(object, Find(runtime));
    WEFT_RETURN_IF_ERROR(NeedPointer(path, "path"));
    std::lock_guard lock(object->blocks_mutex);
    if (object->sealed) return FailedPrecondition("the runtime has loaded a page already").WithHint("add libraries right after weft_runtime_open");
    WEFT_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::Load(path));
    WEFT_ASSIGN_OR_RETURN(entry, EntryOf(library, path));
    object->libraries.push_back(std::move(library));
    return {};
  });
  if (status != WEFT_OK) return status;
  status = entry(runtime, weft_runtime_add_block, problems);
  const bool known = status >= WEFT_OK && status <= WEFT_INTERNAL;
  if (status != WEFT_OK && known && problems != nullptr && *problems != nullptr) return status;
  // Of a success nothing is reported, also where the library continued after a failure.
  if (problems != nullptr) weft_diagnostics_release(*problems);
  return Guard(problems, [&]() -> Status {
    if (status == WEFT_OK) return {};
    if (!known) return Internal("the library '", path, "' returned ", status, ", which is no status");
    return Status(static_cast<Code>(status), Cat("the library '", path, "' failed with ", weft_status_name(status), " and said no more"));
  });
}

// ---- case files ------------------------------------------------------------------------------------------------------------------------

namespace {

static_assert(static_cast<int32_t>(cases::CaseReport::Verdict::kFailed) == WEFT_CASE_FAILED &&
              static_cast<int32_t>(cases::CaseReport::Verdict::kSkipped) == WEFT_CASE_SKIPPED);

class Tests {
 public:
  Tests(RuntimeObject& runtime, const weft_test_options& options, std::vector<std::string> blocks)
      : runtime_(runtime), executor_(runtime.runtime), options_(options), blocks_(std::move(blocks)) {
    if (options.deadline_ns > 0) {
      executor_.set_deadline(std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::min(options.deadline_ns, kLongestNs)));
    }
    std::lock_guard lock(runtime_.tests_mutex);
    runtime_.tests.push_back(&executor_);
  }
  ~Tests() {
    std::lock_guard lock(runtime_.tests_mutex);
    std::erase(runtime_.tests, &executor_);
  }
  Tests(const Tests&) = delete;
  Tests& operator=(const Tests&) = delete;

  /// cancelled where the cases were cut short: what was run before counts.
  Status RunFile(const std::filesystem::path& path) {
    const cases::CaseFile file = cases::ReadCaseFile(path);
    if (file.diagnostics.has_errors() && file.cases.empty()) {
      const Status fault = file.diagnostics.FirstError();
      Tell(path.string(), "", "", "", {cases::CaseReport::Verdict::kFailed, ToString(fault)});
    }
    for (const cases::TestCase& test : file.cases) {
      if (!blocks_.empty() && std::find(blocks_.begin(), blocks_.end(), test.block) == blocks_.end()) continue;
      WEFT_RETURN_IF_ERROR(executor_.Over());
      const cases::CaseReport report = cases::RunCase(test, executor_);
      if (report.verdict == cases::CaseReport::Verdict::kFailed) WEFT_RETURN_IF_ERROR(executor_.Over());  // it may have failed by that
      Tell(test.file, test.pointer, test.name, test.block, report);
    }
    return {};
  }

  const weft_test_totals& totals() const { return totals_; }

 private:
  void Tell(const std::string& file, const std::string& pointer, const std::string& name, const std::string& block,
            const cases::CaseReport& report) {
    const auto verdict = static_cast<int32_t>(report.verdict);
    ++(verdict == WEFT_CASE_PASSED ? totals_.passed : verdict == WEFT_CASE_FAILED ? totals_.failed : totals_.skipped);
    if (options_.report == nullptr) return;
    const weft_case result = {sizeof result, verdict, file.c_str(), pointer.c_str(), name.c_str(), block.c_str(), report.message.c_str()};
    options_.report(options_.user, &result);
  }

  RuntimeObject& runtime_;
  cases::SessionExecutor executor_;
  const weft_test_options& options_;
  const std::vector<std::string> blocks_;
  weft_test_totals totals_ = WEFT_TEST_TOTALS_INIT;
};

}  // namespace

weft_status weft_runtime_test(weft_runtime* runtime, const char* path, const weft_test_options* options, weft_test_totals* totals,
                              weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(FillStruct(weft_test_totals WEFT_TEST_TOTALS_INIT, totals, "weft_test_totals"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    WEFT_RETURN_IF_ERROR(NeedPointer(path, "path"));
    weft_test_options known = WEFT_TEST_OPTIONS_INIT;
    WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_test_options"));
    WEFT_ASSIGN_OR_RETURN(std::vector<std::string> blocks, ReadTexts(known.blocks, known.block_count, "blocks"));
    WEFT_ASSIGN_OR_RETURN(auto files, cases::FindCaseFiles(path));
    if (known.deadline_ns < 0) return InvalidArgument("needs a time of 0 or more, found ", known.deadline_ns).WithPort("deadline_ns");
    object->Seal();
    Tests tests(*object, known, std::move(blocks));
    Status over;
    for (size_t f = 0; f < files.size() && over.ok(); ++f) over = tests.RunFile(files[f]);
    const weft_test_totals& all = tests.totals();
    if (!over.ok()) {
      WEFT_RETURN_IF_ERROR(FillStruct(all, totals, "weft_test_totals"));
      return over;
    }
    if (all.passed + all.failed + all.skipped == 0) return NotFound("no case was found in '", path, "'", known.block_count > 0 ? " for these blocks" : "");
    return FillStruct(all, totals, "weft_test_totals");
  });
}

weft_status weft_runtime_cancel_tests(weft_runtime* runtime, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    std::lock_guard lock(object->tests_mutex);
    for (cases::SessionExecutor* test : object->tests) test->Cancel();
    return {};
  });
}
