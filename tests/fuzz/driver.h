// Runs one target in a process of its own, so that the end of that process is a finding and not the end of the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace weft::fuzz {

struct DriverOptions {
  uint32_t seed = 1;
  uint64_t inputs = 0;  // how many at most besides the corpus; 0: any number
  double seconds = 0;   // how long a target runs at most; 0: any time
  std::filesystem::path source = WEFT_SOURCE_DIR;  // where corpus and dictionaries are
  std::filesystem::path findings;                  // where inputs that found something are written
};

struct TargetReport {
  uint64_t inputs = 0;
  double seconds = 0, longest = 0;    // the time of all, and that of the input that took most
  std::vector<std::string> findings;  // what it was, and in which file the input is
};

/// The corpus, each input once, then changed ones. Input i is made of seed and i alone. Ends after kMostFindings.
TargetReport RunTarget(const Target& target, const DriverOptions& options);
inline constexpr size_t kMostFindings = 10;

/// One input, in this process: an exception or signal of the target is the caller's.
void RunInput(const Target& target, std::string_view input);

/// The files of a target's corpus, by their names.
std::vector<std::filesystem::path> CorpusFiles(const DriverOptions& options, const Target& target);

}  // namespace weft::fuzz
