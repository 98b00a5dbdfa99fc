// What every function of the C interface does: no exception leaves it, failures become diagnostics, structs are read by their size.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "runtime/capi/handles.h"
#include "weft/base/diagnostic.h"

namespace weft::capi {

/// How many errors and warnings were counted and not kept.
inline size_t LeftOut(const Diagnostics& found) {
  size_t kept = 0;
  for (const Diagnostic& one : found.all()) kept += one.severity != Severity::kNote;
  return found.errors() + found.warnings() - kept;
}

/// Findings as C texts. What one came from follows it, as notes; how many were left out, beside those counted in `given`, is the last one.
class DiagnosticsObject final : public Object {
 public:
  explicit DiagnosticsObject(Diagnostics given, size_t left_out = 0);
  struct Finding {
    Severity severity;
    const Status* status;
    uint32_t causes;  // how many of the next ones say what it came from
  };
  const Diagnostics diagnostics;
  Status left_out;  // a note, where there were more
  std::vector<Finding> findings;
  std::string text;
};

/// One text or a list of them.
class StringsObject final : public Object {
 public:
  explicit StringsObject(std::vector<std::string> all) : texts(std::move(all)) {
    pointers.reserve(texts.size());
    for (const std::string& text : texts) pointers.push_back(text.c_str());
  }
  const std::vector<std::string> texts;
  std::vector<const char*> pointers;  // to each
};

}  // namespace weft::capi

WEFT_HANDLE(weft_diagnostics, weft::capi::DiagnosticsObject, kDiagnostics);
WEFT_HANDLE(weft_strings, weft::capi::StringsObject, kStrings);

namespace weft::capi {

inline weft_status CodeOf(const Status& status) { return static_cast<weft_status>(status.code()); }

/// Hands a failure over through `problems`, which may be null, and gives its code. `more` are findings to list after it,
/// `left_out` counts others.
weft_status Report(const Status& failure, weft_diagnostics** problems, const Diagnostics* more = nullptr, size_t left_out = 0) noexcept;

/// The same for findings: the first error leads, the others follow as they were found. There must be one.
weft_status ReportAll(const Diagnostics& found, weft_diagnostics** problems) noexcept;

/// The same for the exception that is being handled, where there may be no memory for a status.
weft_status ReportException(weft_diagnostics** problems) noexcept;

/// Calls body() -> Status: exceptions become statuses, the status is reported. Inlined also in builds for debuggers, so that of each
/// function of the interface a stack shows itself and its body.
template <class Body>
[[gnu::always_inline]] inline weft_status Guard(weft_diagnostics** problems, Body&& body) noexcept {
  if (problems != nullptr) *problems = nullptr;
  try {
    const Status status = body();
    return status.ok() ? WEFT_OK : Report(status, problems);
  } catch (...) {
    return ReportException(problems);
  }
}

/// A pointer that must not be null. `what` is the parameter's name.
inline Status NeedPointer(const void* pointer, std::string_view what) {
  return pointer != nullptr ? Status() : InvalidArgument("needs a pointer as '", what, "', found NULL");
}

/// Copies a struct that the host passes: what it is too short for keeps the defaults in `known`, which has its own size set; what is
/// longer must be zero. invalid_argument where its size cannot be; unsupported for what is not known here.
template <class Struct>
Status ReadStruct(const Struct* given, Struct& known, std::string_view name) {
  if (given == nullptr) return {};
  uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof(uint32_t) || size > 65536) return InvalidArgument("needs a ", name, " with its size set, found size ", size);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) return Unsupported("the ", name, " is of a newer interface, and says what this library does not know");
  }
  std::memcpy(&known, given, size < sizeof(Struct) ? size : sizeof(Struct));
  known.size = sizeof(Struct);
  return {};
}

/// Fills in a struct of the host: what fits into its size.
template <class Struct>
Status FillStruct(const Struct& filled, Struct* out, std::string_view name) {
  WEFT_RETURN_IF_ERROR(NeedPointer(out, name));
  uint32_t size = 0;
  std::memcpy(&size, out, sizeof size);
  if (size < sizeof(uint32_t)) return InvalidArgument("needs a ", name, " with its size set, found size ", size);
  Struct copy = filled;
  copy.size = size;
  std::memcpy(out, &copy, size < sizeof(Struct) ? size : sizeof(Struct));
  return {};
}

/// Texts as a handle.
Status GiveText(std::string text, weft_strings** out);
Status GiveTexts(std::vector<std::string> texts, weft_strings** out);

}  // namespace weft::capi
