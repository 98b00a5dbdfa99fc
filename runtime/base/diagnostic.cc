#include "weft/base/diagnostic.h"

#include <algorithm>
#include <array>

namespace weft {

namespace {

// A page of long names, each in many findings, takes little memory.
constexpr size_t kMostMessage = Diagnostics::kMostMessage, kMostText = Diagnostics::kMostText;

/// The beginning of a text that is too long, and how much is left out.
std::string Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::string_view beginning = BeginningOf(text, most - 32);
  return Cat(beginning, "... (", text.size() - beginning.size(), " more bytes)");
}

/// A JSON pointer that is too long, up to the last object or list that fits.
std::string_view CutPointer(std::string_view pointer) {
  if (pointer.size() <= kMostText) return pointer;
  const size_t end = pointer.rfind('/', kMostText);
  return pointer.substr(0, end == pointer.npos ? 0 : end);
}

/// All but the message.
std::array<std::string_view, 7> TextsOf(const Status& status) {
  const Place& place = status.place();
  return {status.hint(), status.needed(), status.found(), place.page, place.pointer, place.block, place.port};
}

int64_t BytesOf(const Status& status) {
  constexpr size_t kObject = 10 * sizeof(std::string);  // what a failure is besides its texts
  size_t bytes = kObject + status.message().size();
  for (const std::string_view text : TextsOf(status)) bytes += text.size();
  return static_cast<int64_t>(bytes) + (status.cause() == nullptr ? 0 : BytesOf(*status.cause()));
}

bool IsShort(const Status& status) {
  for (const std::string_view text : TextsOf(status)) {
    if (text.size() > kMostText) return false;
  }
  return status.message().size() <= kMostMessage && (status.cause() == nullptr || IsShort(*status.cause()));
}

Status Shortened(Status status) {
  if (IsShort(status)) return status;
  const Place& place = status.place();
  Status cut = Status(status.code(), Cut(status.message(), kMostMessage))
                   .WithPage(Cut(place.page, kMostText))
                   .WithPointer(CutPointer(place.pointer))
                   .WithBlock(Cut(place.block, kMostText))
                   .WithPort(Cut(place.port, kMostText))
                   .WithHint(Cut(status.hint(), kMostText))
                   .WithPhase(status.phase())
                   .WithNeeded(Cut(status.needed(), kMostText))
                   .WithFound(Cut(status.found(), kMostText));
  if (status.cause() != nullptr) cut = std::move(cut).WithCause(Shortened(*status.cause()));
  return cut;
}

}  // namespace

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
  if (all_.size() < kLimit) all_.push_back({severity, Shortened(std::move(status))});
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

void Diagnostics::SortBy(const std::function<int(const Status&)>& key) {
  std::vector<std::pair<int, size_t>> order;  // unique, so that no order is left open
  order.reserve(all_.size());
  for (size_t i = 0; i < all_.size(); ++i) order.emplace_back(key(all_[i].status), i);
  if (std::ranges::is_sorted(order)) return;
  std::ranges::sort(order);
  std::vector<Diagnostic> sorted;
  sorted.reserve(all_.size());
  for (const auto& [unused, i] : order) sorted.push_back(std::move(all_[i]));
  all_ = std::move(sorted);
}

void Diagnostics::SetPhase(Phase phase) {
  for (Diagnostic& diagnostic : all_) diagnostic.status = std::move(diagnostic.status).WithPhase(phase);
}

int64_t Diagnostics::bytes() const {
  int64_t bytes = 0;
  for (const Diagnostic& diagnostic : all_) bytes += static_cast<int64_t>(sizeof(Diagnostic)) + BytesOf(diagnostic.status);
  return bytes;
}

Status Diagnostics::FirstError() const {
  for (const Diagnostic& diagnostic : all_) {
    if (diagnostic.severity == Severity::kError) return diagnostic.status;
  }
  return {};
}

}  // namespace weft
