// Status and Result<T>: how every function in Weft reports failure. No exception crosses a public interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weft/base/text.h"

namespace weft {

enum class Code : uint8_t {
  kOk,
  kInvalidArgument,
  kNotFound,
  kAlreadyExists,
  kOutOfRange,
  kFailedPrecondition,
  kUnsupported,
  kResourceExhausted,
  kDataLoss,
  kCancelled,
  kAborted,
  kPermissionDenied,
  kInternal,
};

/// The name used in case files and in JSON output: "invalid_argument".
std::string_view CodeName(Code code);
std::optional<Code> CodeFromName(std::string_view name);

/// Where a failure is. Any field may be empty.
struct Place {
  std::string page;     // file or page name
  std::string pointer;  // JSON pointer into the page document, "/blocks/3/inputs/value"
  std::string block;    // block id
  std::string port;     // port or attribute name
};

/// In which phase of its work the engine found a failure.
enum class Phase : uint8_t {
  kNone,     // no work on a page
  kLoad,     // reading the document
  kConnect,  // names, wires, attributes, types
  kCompile,  // shapes, and the plan
  kRun,
};
/// "load"; empty for kNone.
std::string_view PhaseName(Phase phase);

/// Success, or a code with a message and a place. One pointer wide; null means success.
/// A Status may be copied and read from several threads; changing one from two threads at once is a race.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return rep_ == nullptr; }
  Code code() const;
  /// What was needed and what was found, as text; empty for success.
  const std::string& message() const;
  /// The likely fix ("did you mean 'x'?"); may be empty.
  const std::string& hint() const;
  const Place& place() const;
  Phase phase() const;
  /// The type and shape that a port or attribute needs, and what it was given ("DT_FLOAT [2,3]"); empty for failures of other kinds.
  const std::string& needed() const;
  const std::string& found() const;
  /// The failure that caused this one, owned by this Status; null where there is none.
  const Status* cause() const;

  /// Each fills its field only if that is empty, so that the innermost caller's place is kept. No effect on a success.
  Status&& WithPage(std::string_view page) &&;
  Status&& WithPointer(std::string_view pointer) &&;
  Status&& WithBlock(std::string_view block) &&;
  Status&& WithPort(std::string_view port) &&;
  Status&& WithHint(std::string_view hint) &&;
  Status&& WithPhase(Phase phase) &&;
  Status&& WithNeeded(std::string_view needed) &&;
  Status&& WithFound(std::string_view found) &&;
  Status&& WithCause(Status cause) &&;
  /// Adds to the end of the message.
  Status&& Append(std::string_view text) &&;

 private:
  struct Rep;
  struct FreeRep {
    void operator()(Rep* rep) const;
  };
  std::unique_ptr<Rep, FreeRep> rep_;
};

/// "page: block.port: message (hint)", as far as known.
std::string ToString(const Status& status);

template <class... Parts>
[[gnu::cold]] Status InvalidArgument(const Parts&... parts) { return {Code::kInvalidArgument, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status NotFound(const Parts&... parts) { return {Code::kNotFound, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status AlreadyExists(const Parts&... parts) { return {Code::kAlreadyExists, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status OutOfRange(const Parts&... parts) { return {Code::kOutOfRange, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status FailedPrecondition(const Parts&... parts) { return {Code::kFailedPrecondition, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status Unsupported(const Parts&... parts) { return {Code::kUnsupported, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status ResourceExhausted(const Parts&... parts) { return {Code::kResourceExhausted, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status DataLoss(const Parts&... parts) { return {Code::kDataLoss, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status Cancelled(const Parts&... parts) { return {Code::kCancelled, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status Aborted(const Parts&... parts) { return {Code::kAborted, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status PermissionDenied(const Parts&... parts) { return {Code::kPermissionDenied, Cat(parts...)}; }
template <class... Parts>
[[gnu::cold]] Status Internal(const Parts&... parts) { return {Code::kInternal, Cat(parts...)}; }

/// A value or the Status that explains why there is none. Reading the value of a failed Result is a programming error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace weft

/// Leaves the function with the Status of `expression` where that is a failure.
#define WEFT_RETURN_IF_ERROR(expression)              \
  do {                                                \
    ::weft::Status weft_status_ = (expression);       \
    if (!weft_status_.ok()) return weft_status_;      \
  } while (false)

#define WEFT_CONCAT_INNER(a, b) a##b
#define WEFT_CONCAT(a, b) WEFT_CONCAT_INNER(a, b)

/// WEFT_ASSIGN_OR_RETURN(auto x, Compute()): x is the value, or the function is left with the Status.
#define WEFT_ASSIGN_OR_RETURN(declaration, expression) \
  WEFT_ASSIGN_OR_RETURN_INNER(WEFT_CONCAT(weft_result_, __LINE__), declaration, expression)
#define WEFT_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) return std::move(result).status();               \
  declaration = std::move(result).value()
