// Diagnostics: what a reader or checker has to say about a document, each with its place. A report lists all at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/base/status.h"

namespace weft {

enum class Severity : uint8_t { kError, kWarning, kNote };
std::string_view SeverityName(Severity severity);

/// One finding. The Status holds code, message, hint and place; it is never ok.
struct Diagnostic {
  Severity severity = Severity::kError;
  Status status;
};

/// "page.json:/blocks/3/inputs/value: error: block.port: message (hint)".
std::string ToString(const Diagnostic& diagnostic);

/// In the order found. Keeps at most kLimit findings and counts the rest, so that a page of 100,000 faults stays readable.
class Diagnostics {
 public:
  static constexpr size_t kLimit = 1000;

  void Add(Severity severity, Status status);
  void Error(Status status) { Add(Severity::kError, std::move(status)); }
  void Warning(Status status) { Add(Severity::kWarning, std::move(status)); }
  void Append(Diagnostics other);
  /// Those found so far that have no phase yet were found in this one.
  void SetPhase(Phase phase);

  const std::vector<Diagnostic>& all() const { return all_; }
  bool has_errors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  size_t warnings() const { return warnings_; }
  /// The first error, or ok.
  Status FirstError() const;

 private:
  std::vector<Diagnostic> all_;
  size_t errors_ = 0, warnings_ = 0;
};

}  // namespace weft
