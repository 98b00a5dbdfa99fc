#include "runtime/base/failure.h"

#include <exception>
#include <new>
#include <system_error>

#include "runtime/base/call_limit.h"

namespace weft {

// (A status of this code without a message is the one that is always there: status.cc.)
Status NoMemory() noexcept { return Status(Code::kResourceExhausted, std::string()); }

// (As NoMemory and Buffer::Allocate say it.)
bool IsNoMemory(const Status& status) noexcept {
  return status.code() == Code::kResourceExhausted && status.message().starts_with("the machine has no");
}

Status FirstNoMemory(const Diagnostics& found) noexcept {
  for (const Diagnostic& one : found.all()) {
    if (one.severity == Severity::kError && IsNoMemory(one.status)) return one.status;
  }
  return {};
}

Status StatusOfException(std::string_view what) noexcept {
  try {
    try {
      throw;
    } catch (const CallStopped& stopped) {
      return stopped.status();
    } catch (const std::bad_alloc&) {
      return NoMemory();
    } catch (const std::exception& error) {
      return Internal(what, " unexpectedly: ", error.what());
    }
  } catch (...) {  // what is no std::exception, or no memory to say it
    return NoMemory();
  }
}

Status NoThread() noexcept {
  try {
    try {
      throw;
    } catch (const std::system_error& error) {
      return ResourceExhausted("no thread can be started: ", error.what()).WithHint("the system or this process has too many threads");
    }
  } catch (...) {
    return NoMemory();
  }
}

}  // namespace weft
