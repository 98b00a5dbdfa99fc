#include "tools/cli/libraries.h"

#include <filesystem>

#include "runtime/capi/objects.h"

namespace weft::cli {
namespace {

/// What a call of the C interface said of its failure.
Status StatusOf(weft_diagnostics* problems, weft_status code) {
  auto list = capi::Find(problems);
  Status status = list.ok() ? (*list)->diagnostics.FirstError() : Status(static_cast<Code>(code), weft_status_name(code));
  weft_diagnostics_release(problems);
  return status;
}

/// The system looks elsewhere for what has no slash.
std::string PathOf(const std::string& library) {
  std::error_code unknown;
  return library.find('/') == std::string::npos && std::filesystem::exists(library, unknown) ? "./" + library : library;
}

}  // namespace

Option AddLibraryOption(Command& command, std::vector<std::string>& libraries) {
  return command.Add("--library", libraries, "Also take the blocks of this shared library (weft/capi/library.h; may be given again)")
      .Type("LIBRARY")
      .Repeated()
      .TakesOne();
}

Result<std::shared_ptr<Runtime>> OpenRuntime(int threads, const std::vector<std::string>& libraries) {
  weft_runtime_options known = WEFT_RUNTIME_OPTIONS_INIT;
  known.threads = threads;
  weft_runtime* runtime = nullptr;
  weft_diagnostics* problems = nullptr;
  weft_status code = weft_runtime_open(&known, &runtime, &problems);
  if (code != WEFT_OK) return StatusOf(problems, code);
  auto object = capi::Find(runtime);
  for (const std::string& library : libraries) {
    if (code == WEFT_OK) code = weft_runtime_add_library(runtime, PathOf(library).c_str(), &problems);
  }
  weft_runtime_close(runtime);
  if (code != WEFT_OK) return StatusOf(problems, code);
  return std::shared_ptr<Runtime>(*object, &(*object)->runtime);
}

}  // namespace weft::cli
