// Diagnostics: the findings of a reader or checker about a document, each with its place. All are collected, not only the first.
#pragma once

#include <cstdint>
#include <functional>
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

/// Findings in the order found, or sorted. Keeps the first kLimit and only counts the rest, so that a page of 100,000 faults takes little memory.
/// Not thread-safe.
class Diagnostics {
 public:
  static constexpr size_t kLimit = 1000;
  static constexpr size_t kMostMessage = 4096;  // bytes of a message; what is longer is cut, and says how much is left out
  static constexpr size_t kMostText = 1024;     // bytes of each other text of a finding

  void Add(Severity severity, Status status);
  void Error(Status status) { Add(Severity::kError, std::move(status)); }
  void Warning(Status status) { Add(Severity::kWarning, std::move(status)); }
  /// Adds the findings of `other`, and its counts of those it did not keep.
  void Append(Diagnostics other);
  /// Sorts the findings kept by a key, which is asked for once for each; those of one key stay in their order.
  void SortBy(const std::function<int(const Status&)>& key);
  /// Sets the phase of all findings that have none yet.
  void SetPhase(Phase phase);

  const std::vector<Diagnostic>& all() const { return all_; }
  bool has_errors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  size_t warnings() const { return warnings_; }
  /// About how many bytes of memory the findings kept hold.
  int64_t bytes() const;
  /// The first error kept, or ok.
  Status FirstError() const;

 private:
  std::vector<Diagnostic> all_;
  size_t errors_ = 0, warnings_ = 0;
};

}  // namespace weft
