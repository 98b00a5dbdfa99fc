// What tests of faults share: handles that close themselves, a page that runs, and calls of which each allocation fails once.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capi/handles.h"
#include "tests/faults/memory_fault.h"
#include "weft.h"

namespace weft::faults {

/// A handle, closed at the end.
template <class Handle, weft_status (*Close)(Handle*)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { (void)Close(handle_); }
  operator Handle*() const { return handle_; }
  Handle** out() { return &handle_; }

 private:
  Handle* handle_ = nullptr;
};
using OwnedRuntime = Owned<weft_runtime, weft_runtime_close>;
using OwnedPage = Owned<weft_page, weft_page_close>;
using OwnedSession = Owned<weft_session, weft_session_close>;
using OwnedRun = Owned<weft_page_run, weft_page_run_close>;
using OwnedView = Owned<weft_view, weft_view_release>;
using OwnedStrings = Owned<weft_strings, weft_strings_release>;
using OwnedEvents = Owned<weft_events, weft_events_close>;
using OwnedProblems = Owned<weft_diagnostics, weft_diagnostics_release>;

OwnedRuntime OpenRuntime(int threads = 2);
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
  OwnedRun run;
};

/// A page of two sessions that loop, one for the other, and one that does not, `once`.
OwnedPage LoadLoops(weft_runtime* runtime);

/// What of the process must be as it was before.
struct Held {
  size_t handles = capi::LiveHandles();
  int descriptors = OpenDescriptors();
  static int OpenDescriptors();
  bool operator==(const Held&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Held& held);

/// Which allocations fail: each of the first ones, then some of the rest.
uint64_t Next(uint64_t number);

/// Calls trial(fault) for allocation 1, 2 and so on that fails, by itself and with all that follow it, until none fails any more. The trial
/// makes what it needs, calls what is tested by fault(call), and ends with all given back, but for what others keep of it.
using FaultyCall = std::function<weft_status(const std::function<weft_status()>&)>;
void EveryAllocationFails(const std::string& what, const std::function<void(const FaultyCall& fault)>& trial, bool others_keep = false);

}  // namespace weft::faults
