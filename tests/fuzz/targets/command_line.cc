// Arguments of the program weft, one a line: read, and where they are harmless, run. The files that they may name are those of a folder with
// a page, a case file, a value and a snapshot.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <streambuf>
#include <vector>

#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"

extern "C" int weft_command_main(int argc, char** argv);

namespace weft::fuzz {
namespace {

constexpr std::string_view kPage = R"({
  "weft": 1,
  "page": "line",
  "blocks": [
    {"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT;shape_ = [2];", "inputs": {}},
    {"id": "w", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}},
    {"id": "up", "block": "AssignAdd", "inputs": {"ref": "w.ref", "value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 1]}}},
    {"id": "z", "block": "Multiply", "inputs": {"x": "w.ref", "y": "w.ref"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["z.z"], "run_outputs": ["up.operation"]}}
  ],
  "layout": {"w": [40, 80], "z": [260, 80]}
}
)";
constexpr std::string_view kCases = R"({"block": "Negate", "cases": [
  {"name": "one", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}, "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [-1]}}}]}
)";

/// Commands that end by themselves and use nothing but the files they name.
constexpr std::string_view kCommands[] = {"check", "run", "plan", "convert", "show", "blocks", "codes", "test", "replay"};

/// A file of another folder could be written, a library be loaded.
bool IsHarmless(const std::vector<std::string>& arguments) {
  return std::ranges::none_of(arguments, [](const std::string& argument) {
    return argument.find('/') != argument.npos || argument.find("..") != argument.npos || argument.starts_with("--lib") || argument.find('~') != argument.npos;
  });
}

/// Numbers of runs and threads are cut: a million runs of a page take long, and rightly.
void CutNumbers(std::string& argument) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (argument.size() > 3 && std::ranges::all_of(argument, digit)) argument.resize(3);
  const size_t equals = argument.find('=');
  if ((argument.starts_with("--steps=") || argument.starts_with("--threads=")) && argument.size() > equals + 4) argument.resize(equals + 4);
}

/// Counts what is written to it, by any thread.
class Counter : public std::streambuf {
 public:
  size_t bytes() const { return bytes_; }

 private:
  int_type overflow(int_type c) override {
    ++bytes_;
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* /*text*/, std::streamsize size) override {
    bytes_ += static_cast<size_t>(size);
    return size;
  }

  std::atomic<size_t> bytes_ = 0;
};

/// Standard input is empty while this lives, and what goes to standard output and std::cerr is counted and does not come out. (Standard error
/// itself stays: a sanitizer writes its report there.)
class Silence {
 public:
  Silence() {
    std::cout.flush();
    std::fflush(stdout);
    const int streams[kStreams] = {open("/dev/null", O_RDWR | O_CLOEXEC), memfd_create("output", MFD_CLOEXEC)};
    for (int fd = 0; fd < kStreams; ++fd) {
      kept_[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
      dup2(streams[fd], fd);
      close(streams[fd]);
    }
  }
  ~Silence() {
    std::cout.flush();
    std::fflush(stdout);
    std::cout.clear();
    std::cin.clear();
    std::cerr.rdbuf(errors_);
    for (int fd = 0; fd < kStreams; ++fd) {
      dup2(kept_[fd], fd);
      close(kept_[fd]);
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

  /// Bytes that were written until now.
  size_t printed() const {
    std::cout.flush();
    std::fflush(stdout);
    struct stat output{};
    const bool known = fstat(STDOUT_FILENO, &output) == 0;
    return counter_.bytes() + (known ? static_cast<size_t>(output.st_size) : 0);
  }

 private:
  static constexpr int kStreams = 2;
  int kept_[kStreams];
  Counter counter_;
  std::streambuf* errors_ = std::cerr.rdbuf(&counter_);
};

/// The folder, as the working folder while this lives. What a command wrote into it is removed before the next one.
class WorkingFolder {
 public:
  WorkingFolder() : before_(std::filesystem::current_path()), folder_(ScratchFolder() / "command_line") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
    std::ofstream("p.json") << kPage;
    std::ofstream("n.cases.json") << kCases;
    std::ofstream("x.npy", std::ios::binary) << kNpy;
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  inline static const std::string kNpy = std::string("\x93NUMPY\x01\x00\x37\x00", 10) + "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}" +
                                         std::string("\0\0\x80\x3f\0\0\0\x40", 8);
  std::filesystem::path before_, folder_;
};

std::vector<std::string> Arguments(std::string_view bytes) {
  std::vector<std::string> arguments = {"weft"};
  while (!bytes.empty() && arguments.size() < 16) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string argument(bytes.substr(0, end));
    argument = argument.substr(0, argument.find('\0'));
    CutNumbers(argument);
    arguments.push_back(std::move(argument));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return arguments;
}

}  // namespace

void CommandLine(std::string_view bytes) {
  std::vector<std::string> arguments = Arguments(bytes);
  const bool known = arguments.size() < 2 || arguments[1].starts_with('-') || std::ranges::find(kCommands, arguments[1]) != std::end(kCommands);
  if (!known || !IsHarmless(arguments)) return;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int status = 0;
  size_t printed = 0;
  {
    const WorkingFolder folder;
    const Silence silence;
    status = weft_command_main(static_cast<int>(arguments.size()), argv.data());
    printed = silence.printed();
  }
  Require(printed <= MostPrinted(bytes.size()), printed, " bytes were printed");
  Require(status >= 0 && status <= 2, "the exit status is ", status);
}

}  // namespace weft::fuzz
