#include "tests/kit/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace weft::kit {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

WeftProcess::WeftProcess(const std::vector<std::string>& arguments, const ProgramOptions& options) : options_(options) {
  std::string program = WEFT_PROGRAM;
  std::vector<std::string> texts = arguments;
  std::vector<char*> argv = {program.data()};
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  std::vector<std::string> settings = options.environment;
  std::vector<char*> environment;
  for (std::string& setting : settings) environment.push_back(setting.data());
  for (char** own = environ; *own != nullptr; ++own) environment.push_back(*own);  // of two of a name the first counts
  environment.push_back(nullptr);
  std::string out = options.out_path.empty() ? (folder_.path() / "out").string() : options.out_path;
  std::string err = (folder_.path() / "err").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, options.in_path.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  if (posix_spawn(&process_, program.c_str(), &actions, nullptr, argv.data(), environment.data()) != 0) process_ = -1;
  posix_spawn_file_actions_destroy(&actions);
}

WeftProcess::~WeftProcess() {
  if (process_ > 0) Wait(0);
}

void WeftProcess::Signal(int signal) const {
  if (process_ > 0) kill(process_, signal);
}

std::string WeftProcess::out() const { return FileBytes(options_.out_path.empty() ? (folder_.path() / "out").string() : options_.out_path); }
std::string WeftProcess::err() const { return FileBytes(folder_.path() / "err"); }

ProgramResult WeftProcess::Wait(double seconds) {
  ProgramResult result;
  double start = Now();
  int code = 0;
  bool ended = false;
  for (auto pause = std::chrono::microseconds(100); process_ > 0 && !ended;) {
    ended = waitpid(process_, &code, WNOHANG) == process_;
    if (ended) break;
    if (Now() - start > seconds) {
      kill(process_, SIGKILL);
      ended = waitpid(process_, &code, 0) == process_;
      break;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(500));
  }
  process_ = -1;
  result.seconds = Now() - start;
  if (ended) result.status = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
  if (options_.out_path.empty()) result.out = out();
  result.err = err();
  return result;
}

ProgramResult RunWeft(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  return WeftProcess(arguments, options).Wait();
}

}  // namespace weft::kit
