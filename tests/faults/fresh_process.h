// The program `weft` in processes in which nothing of it has been called yet, and whose allocations fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::faults {

struct FreshEnd {
  int status = -1;    // of exit; 128 + N where signal N ended it
  uint64_t seen = 0;  // allocations, where the command came to its end
  std::string out, err;
};

/// Makes the process that each of RunFresh is forked from. Called by main, before anything else is.
void StartFreshProcesses();

/// Whose allocations fail: those of MemoryFault, or of MallocFault.
enum class Allocations : int { kOfNew, kOfLibraries };

/// `weft ARGUMENTS`, in which allocation `number` (from 1 on) fails, and all that follow it, too, where it `lasts`. 0: none fails.
FreshEnd RunFresh(const std::vector<std::string>& arguments, uint64_t number, bool lasts = false, Allocations which = Allocations::kOfNew);

}  // namespace weft::faults
