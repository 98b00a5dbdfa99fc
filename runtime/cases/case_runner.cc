#include "weft/cases/case_runner.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft/cases/compare.h"

namespace weft::cases {
namespace {

using Outputs = std::map<std::string, Tensor>;

class Judge {
 public:
  explicit Judge(const TestCase& test) : test_(test) {}

  template <class... Parts>
  void Fail(const Parts&... parts) {
    if (!report_.message.empty()) report_.message += "\n";
    AppendText(report_.message, Cat(parts...));
    report_.verdict = CaseReport::Verdict::kFailed;
  }

  /// Reports a status that is not the expected one. True where the run succeeded as expected. `where` is put before messages; `outputs` are what
  /// the run gave, told where it was to fail.
  bool CheckStatus(const Status& status, const std::optional<ExpectedError>& expected, std::string_view where, const Outputs& outputs = {}) {
    if (!expected) {
      if (!status.ok()) Fail(where, "needs success, got ", status);
      return status.ok();
    }
    std::string_view code = CodeName(expected->code);
    if (status.ok()) {
      Fail(where, "needs the error ", code, expected->port.empty() ? "" : Cat(" at ", expected->port), ", got success", Listed(outputs));
    } else if (status.code() != expected->code) {
      Fail(where, "needs the error ", code, ", got ", status);
    } else if (!expected->port.empty() && !NamesPort(status, expected->port)) {
      Fail(where, "needs an error at the port ", expected->port, ", got ", status);
    }
    return false;
  }

  void CheckValues(const Outputs& got, const std::map<std::string, ExpectedValue>& expected, std::string_view where) {
    for (const auto& [port, value] : expected) {
      auto it = got.find(port);
      if (it == got.end() || !it->second.defined()) {
        Fail(where, port, ": no value");
        continue;
      }
      ExpectedValue wanted = value;
      if (test_.shape_only) wanted.tensor = Tensor();
      std::string difference = Difference(it->second, wanted, test_.tolerance);
      if (difference.empty()) difference = BeyondLimits(it->second, test_.limits);
      if (!difference.empty()) Fail(where, port, ": ", difference);
    }
  }

  CaseReport& report() { return report_; }

 private:
  static std::string Listed(const Outputs& outputs) {
    std::string text;
    for (const auto& [port, value] : outputs) text += Cat(text.empty() ? ": " : ", ", port, " is ", value);
    return text;
  }

  static bool NamesPort(const Status& status, const std::string& port) {
    const std::string& named = status.place().port;
    // An element of a list port names the port.
    return named == port || (named.starts_with(port) && named.size() > port.size() && named[port.size()] == '[');
  }

  const TestCase& test_;
  CaseReport report_;
};

/// A new temporary folder, removed at the end of its scope; none where not wanted.
class Folder {
 public:
  explicit Folder(bool wanted) {
    if (!wanted) return;
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "weft-case-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    // (The standard library's remove_all ends the program where it lacks memory.)
    const auto remove_one = [](const char* path, const struct stat*, int, struct FTW*) { return ::remove(path); };
    if (!path_.empty()) ::nftw(path_.c_str(), remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void JudgePage(const TestCase& test, const PageOutcome& outcome, Judge& judge) {
  // A fault that is found when the page is planned counts as a failure of its first run.
  const Expectation* loading = &test.expected;
  bool in_first_step = !outcome.loaded.ok() && !loading->error && !test.steps.empty() && test.steps[0].expected.error;
  if (in_first_step) {
    judge.CheckStatus(outcome.loaded, test.steps[0].expected.error, "step 0: ");
    return;
  }
  if (!judge.CheckStatus(outcome.loaded, loading->error, "page: ")) return;
  for (size_t i = 0; i < test.steps.size(); ++i) {
    std::string where = Cat("step ", i, ": ");
    if (i >= outcome.steps.size()) return judge.Fail(where, "was not run");
    const RunOutcome& step = outcome.steps[i];
    if (judge.CheckStatus(step.status, test.steps[i].expected.error, where, step.outputs)) judge.CheckValues(step.outputs, test.steps[i].expected.outputs, where);
  }
}

}  // namespace

CaseReport RunCase(const TestCase& test, CaseExecutor& executor) {
  if (!test.fault.empty()) return {CaseReport::Verdict::kFailed, test.fault};
  if (std::string why = executor.Skips(test); !why.empty()) return {CaseReport::Verdict::kSkipped, std::move(why)};
  Judge judge(test);
  Folder folder(UsesFolder(test));
  TestCase placed = test;
  if (UsesFolder(test)) SetFolder(placed, folder.path().string());
  if (test.is_page()) {
    JudgePage(placed, executor.RunPage(placed, folder.path()), judge);
  } else {
    RunOutcome outcome = executor.RunBlock(placed, folder.path());
    if (judge.CheckStatus(outcome.status, placed.expected.error, "", outcome.outputs)) {
      judge.CheckValues(outcome.outputs, placed.expected.outputs, "");
      judge.CheckValues(outcome.variables, placed.variables, "variable ");
    }
  }
  return std::move(judge.report());
}

std::string CaseTitle(const TestCase& test) { return Cat(test.file, ":", test.pointer, test.name.empty() ? "" : Cat(" (", test.name, ")")); }

}  // namespace weft::cases
