// weft bench --level: the same command by a package's build for that level of processors, as the dynamic loader takes it (cmake/package.cmake).
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "tools/cli/bench.h"
#include "weft/base/text.h"

#ifndef WEFT_LEVEL
#define WEFT_LEVEL ""
#endif

namespace weft::cli {
namespace {

/// The level that this is the package's build for; empty for other builds.
constexpr std::string_view kLevel = WEFT_LEVEL;
/// Set for the program that the loader starts, which has to be the build for the level then.
constexpr const char* kAskedFor = "WEFT_BENCH_LEVEL";
constexpr const char* kMakeThem = "tools/package --levels makes the builds";

/// The highest level that the compiler was allowed for this file, and with that for the build.
constexpr const char* Compiled() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  return "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__) && defined(__F16C__)
  return "x86-64-v3";
#elif defined(__SSE4_2__) && defined(__POPCNT__)
  return "x86-64-v2";
#elif defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "armv8-a";
#else
  return "another processor";
#endif
}

bool ProcessorHas([[maybe_unused]] std::string_view level) {
#ifdef __x86_64__
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (level == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#endif
  return false;
}

/// The program that has builds for levels: a package's own, or the one of build/package beside this one's build folder.
std::filesystem::path ProgramWithLevels() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return kLevel.empty() ? (self.parent_path() / "../../package/bin/weft").lexically_normal() : self;
}

}  // namespace

std::string LevelOfBuild() { return kLevel.empty() ? Cat("native, ", Compiled()) : std::string(kLevel); }

Status RunAtLevel(const std::string& level, const std::vector<std::string>& arguments) {
  if (level == kLevel) return {};
  if (!ProcessorHas(level)) return Unsupported("--level ", level, ": this processor cannot run that");
  if (std::getenv(kAskedFor) != nullptr) {
    return FailedPrecondition("--level ", level, ": the package has no build for it, the loader took that for ", LevelOfBuild(), " (", kMakeThem, ")");
  }
  const std::string program = ProgramWithLevels().string();
  if (access(program.c_str(), X_OK) != 0) {
    // A build for this machine alone is one for the level, where the machine has no more.
    if (kLevel.empty() && level == Compiled()) return {};
    return FailedPrecondition("--level ", level, ": there is no program with a build for it, ", program, " (", kMakeThem, ")");
  }
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  std::vector<const char*> argv = {loader.c_str(), "--glibc-hwcaps-mask", level.c_str(), program.c_str()};
  for (size_t i = 1; i < arguments.size(); ++i) argv.push_back(arguments[i].c_str());
  argv.push_back(nullptr);
  setenv(kAskedFor, level.c_str(), 1);
  execv(argv[0], const_cast<char* const*>(argv.data()));
  unsetenv(kAskedFor);
  return Internal("--level ", level, ": ", loader, " cannot be run: ", std::strerror(errno));
}

}  // namespace weft::cli
