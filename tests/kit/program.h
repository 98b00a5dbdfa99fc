// The program `weft` as its users run it: arguments in, exit status and texts out.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/kit/test_services.h"

namespace weft::kit {

struct ProgramResult {
  int status = -1;  // of exit; 128 + N where signal N ended it
  std::string out, err;
  double seconds = 0;
};

struct ProgramOptions {
  std::filesystem::path folder;  // where it runs; empty: here
  std::string out_path;          // where standard output goes instead of `out`
  std::string in_path = "/dev/null";  // what standard input is
  std::vector<std::string> environment{};  // "NAME=VALUE", besides the test's own
};

/// A running `weft`. Output goes to files.
class WeftProcess {
 public:
  explicit WeftProcess(const std::vector<std::string>& arguments, const ProgramOptions& options = {});
  ~WeftProcess();
  WeftProcess(const WeftProcess&) = delete;
  WeftProcess& operator=(const WeftProcess&) = delete;

  void Signal(int signal) const;
  /// What it has written so far.
  std::string out() const;
  std::string err() const;
  /// Ends it after `seconds`, which gives the status 137.
  ProgramResult Wait(double seconds = 120);

 private:
  TemporaryFolder folder_;
  ProgramOptions options_;
  pid_t process_ = -1;
};

ProgramResult RunWeft(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

/// Where the sources are.
inline const std::filesystem::path kSourceFolder = WEFT_SOURCE_DIR;

}  // namespace weft::kit
