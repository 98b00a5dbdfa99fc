#include "tests/faults/fresh_process.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/faults/malloc_fault.h"
#include "tests/faults/memory_fault.h"

extern "C" int weft_command_main(int argc, char** argv);

namespace weft::faults {
namespace {

constexpr size_t kMostBytes = 4096, kMostArguments = 32;
constexpr unsigned kSeconds = 60;

/// What is asked of the process that forks, and its answer. In memory that all of them have.
struct Shared {
  char arguments[kMostBytes];  // each with a zero at its end
  size_t count;
  uint64_t number, seen;
  bool lasts;
  Allocations which;
  int status;
};
Shared* shared = nullptr;
int ask = -1, answer = -1, out = -1, err = -1;

template <class Fault>
[[noreturn]] void RunWith(char** arguments) {
  // Never ended: what happens at the end of the program has no memory either.
  const Fault& fault = *new Fault(shared->number, shared->lasts);
  const int status = weft_command_main(static_cast<int>(shared->count), arguments);
  shared->seen = fault.seen();
  std::exit(status);
}

/// The command, to the end of its process.
[[noreturn]] void RunCommand() {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  alarm(kSeconds);
  char* arguments[kMostArguments + 1] = {};
  char* at = shared->arguments;
  for (size_t i = 0; i < shared->count; ++i, at += std::strlen(at) + 1) arguments[i] = at;
  if (shared->which == Allocations::kOfNew) RunWith<MemoryFault>(arguments);
  RunWith<MallocFault>(arguments);
}

[[noreturn]] void Serve(int asked, int answers) {
  for (char byte = 0; read(asked, &byte, 1) == 1;) {
    for (const int file : {out, err}) {
      if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) _exit(1);
    }
    const pid_t process = fork();
    if (process == 0) RunCommand();
    int state = 0;
    if (process < 0 || waitpid(process, &state, 0) != process) _exit(1);
    shared->status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    if (write(answers, &byte, 1) != 1) _exit(1);
  }
  _exit(0);
}

std::string TextOf(int file) {
  std::string text(static_cast<size_t>(std::max<off_t>(lseek(file, 0, SEEK_END), 0)), '\0');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return "?";
  return text;
}

}  // namespace

void StartFreshProcesses() {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int asks[2], answers[2];
  out = memfd_create("out", MFD_CLOEXEC);
  err = memfd_create("err", MFD_CLOEXEC);
  if (memory == MAP_FAILED || pipe(asks) != 0 || pipe(answers) != 0 || out < 0 || err < 0) std::abort();
  shared = static_cast<Shared*>(memory);
  const pid_t process = fork();
  if (process < 0) std::abort();
  if (process == 0) {
    close(asks[1]);
    close(answers[0]);
    Serve(asks[0], answers[1]);
  }
  close(asks[0]);
  close(answers[1]);
  ask = asks[1];
  answer = answers[0];
}

FreshEnd RunFresh(const std::vector<std::string>& arguments, uint64_t number, bool lasts, Allocations which) {
  shared->count = 0;
  size_t used = 0;
  const auto add = [&](const std::string& argument) {
    if (used + argument.size() >= kMostBytes || shared->count == kMostArguments) std::abort();
    used += argument.copy(shared->arguments + used, argument.size());
    shared->arguments[used++] = '\0';
    ++shared->count;
  };
  add("weft");
  for (const std::string& argument : arguments) add(argument);
  shared->number = number;
  shared->lasts = lasts;
  shared->which = which;
  shared->seen = 0;
  char byte = 'x';
  if (write(ask, &byte, 1) != 1 || read(answer, &byte, 1) != 1) std::abort();
  return {shared->status, shared->seen, TextOf(out), TextOf(err)};
}

}  // namespace weft::faults
