#include "weft/base/diagnostic.h"

namespace weft {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  return "error";
}

std::string ToString(const Diagnostic& diagnostic) {
  const Status& status = diagnostic.status;
  const Place& place = status.place();
  std::string out;
  if (!place.page.empty()) out += Cat(place.page, ":");
  if (!place.pointer.empty()) out += Cat(place.pointer, ":");
  out += Cat(out.empty() ? "" : " ", SeverityName(diagnostic.severity), ": ");
  if (!place.block.empty()) out += Cat(place.block, place.port.empty() ? "" : ".", place.port, ": ");
  out += status.message();
  if (!status.hint().empty()) out += Cat(" (", status.hint(), ")");
  return out;
}

void Diagnostics::Add(Severity severity, Status status) {
  if (severity == Severity::kError) ++errors_;
  if (severity == Severity::kWarning) ++warnings_;
  if (all_.size() < kLimit) all_.push_back({severity, std::move(status)});
}

void Diagnostics::Append(Diagnostics other) {
  size_t unkept_errors = other.errors_, unkept_warnings = other.warnings_;
  for (Diagnostic& diagnostic : other.all_) {
    if (diagnostic.severity == Severity::kError) --unkept_errors;
    if (diagnostic.severity == Severity::kWarning) --unkept_warnings;
    Add(diagnostic.severity, std::move(diagnostic.status));
  }
  errors_ += unkept_errors;
  warnings_ += unkept_warnings;
}

void Diagnostics::SetPhase(Phase phase) {
  for (Diagnostic& diagnostic : all_) diagnostic.status = std::move(diagnostic.status).WithPhase(phase);
}

Status Diagnostics::FirstError() const {
  for (const Diagnostic& diagnostic : all_) {
    if (diagnostic.severity == Severity::kError) return diagnostic.status;
  }
  return {};
}

}  // namespace weft
