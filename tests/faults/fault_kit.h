// What tests of faults share: a page that runs, and calls of which each allocation fails once.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/capi/handles.h"
#include "tests/faults/memory_fault.h"
#include "tests/kit/owned.h"
#include "tests/kit/test_services.h"
#include "weft.h"

namespace weft::faults {

using kit::OpenRuntime, kit::OwnedBreakpoint, kit::OwnedEvents, kit::OwnedPage, kit::OwnedPageRun, kit::OwnedProblems, kit::OwnedResults, kit::OwnedRuntime;
using kit::OwnedSession, kit::OwnedStrings, kit::OwnedSubscription, kit::OwnedView;

/// The pages of graphs/ that run by themselves; `folder` gets a copy of each that is loaded.
std::vector<std::string> SamplePages();
std::string PageText(const std::string& name);

/// A page of graphs/ in a folder of its own, with all its sessions.
class Sample {
 public:
  Sample(weft_runtime* runtime, const std::string& name, std::string folder);
  weft_status Load(weft_diagnostics** problems = nullptr);
  weft_status Open() { return weft_page_run_open(page, nullptr, run.out(), nullptr); }
  weft_status Run(weft_diagnostics** problems = nullptr);
  /// The values of all results, by name, as text.
  std::map<std::string, std::string> Results() const;

  std::string text, folder;
  weft_runtime* runtime;
  OwnedPage page;
  OwnedPageRun run;
};

/// A page of two sessions that loop, one for the other, and one that does not, `once`.
OwnedPage LoadLoops(weft_runtime* runtime);

/// Checks that the session is idle, starts and ends well.
void IsIdleAndStarts(weft_session* session);

/// A folder, at its real place, with its names and of what is below it, sorted; hidden ones are those that no pattern of ours matches.
struct Folder : kit::TemporaryFolder {
  const std::filesystem::path at = std::filesystem::canonical(path());
  const std::string text = at.string();
};
std::vector<std::string> Names(const std::filesystem::path& folder);
bool IsHidden(const std::string& name);

/// What of the process must be as it was before.
struct Held {
  size_t handles = capi::LiveHandles();
  int descriptors = OpenDescriptors();
  static int OpenDescriptors();
  bool operator==(const Held&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Held& held);

/// Whether WEFT_EVERY_ALLOCATION=1 asks for each allocation, however long that takes.
bool TriesEach();

/// So many allocations fail each by itself; of more, some of the rest.
inline constexpr uint64_t kEachAllocation = 4096;
struct TrialOptions {
  bool others_keep = false;  // what the trial made, and gave back
  /// Of trials that take long: so many are tried each in any case, and more of them in this time.
  uint64_t at_least = kEachAllocation;
  std::chrono::milliseconds time{0};
};

/// Calls trial(fault) for allocation 1, 2 and so on that fails, by itself and with all that follow it, until none fails any more; gives the last
/// number. The trial makes what it needs, calls what is tested by fault(call), and ends with all given back, but for what others keep of it.
using FaultyCall = std::function<weft_status(const std::function<weft_status()>&)>;
uint64_t EveryAllocationFails(const std::string& what, const std::function<void(const FaultyCall& fault)>& trial, TrialOptions options = {});

}  // namespace weft::faults
