// weft.h for C++: handles that release themselves, and failures as exceptions with the shape of the protocol's errors.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft.h"

namespace weft::serve {

using Json = nlohmann::json;

/// Owns a handle of weft.h.
template <class T, weft_status (*kRelease)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { reset(); }
  T* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  /// For a function that fills it in.
  T** out() {
    reset();
    return &handle_;
  }
  void reset() {
    if (handle_ != nullptr) kRelease(std::exchange(handle_, nullptr));
  }

 private:
  T* handle_ = nullptr;
};

using RuntimeHandle = Handle<weft_runtime, weft_runtime_close>;
using PageHandle = Handle<weft_page, weft_page_close>;
using SessionHandle = Handle<weft_session, weft_session_close>;
using PageRunHandle = Handle<weft_page_run, weft_page_run_close>;
using StringsHandle = Handle<weft_strings, weft_strings_release>;
using DiagnosticsHandle = Handle<weft_diagnostics, weft_diagnostics_release>;
using ViewHandle = Handle<weft_view, weft_view_release>;
using ResultsHandle = Handle<weft_results, weft_results_release>;
using EventsHandle = Handle<weft_events, weft_events_close>;
using SubscriptionHandle = Handle<weft_subscription, weft_subscription_close>;
using BreakpointHandle = Handle<weft_breakpoint, weft_breakpoint_close>;

/// A failure on its way to the client.
class ApiError : public std::exception {
 public:
  ApiError(int http, Json diagnostic) : http_(http), diagnostic_(std::move(diagnostic)) {}
  ApiError(int http, const char* code, std::string message, std::string hint = "");
  int http() const { return http_; }
  /// A Diagnostic of the protocol.
  const Json& diagnostic() const { return diagnostic_; }
  const char* what() const noexcept override;
  /// Stands beside the error in the body: the revision of a stale If-Match.
  std::optional<uint64_t> revision;

 private:
  int http_;
  Json diagnostic_;
};

/// A Diagnostic of the protocol.
Json DiagnosticJson(const weft_diagnostic& diagnostic);
/// All findings, with causes inside of those that they are causes of.
Json DiagnosticsJson(const weft_diagnostics* diagnostics);
/// The same as an error: the first finding, the others as "others".
Json ErrorOf(weft_status code, const weft_diagnostics* problems);

/// What a refusal of the engine is in HTTP. kEngine: 422 for what the page or an edit is refused for.
enum class Refusal { kCall, kEngine };
int HttpStatusOf(weft_status code, Refusal refusal);

/// Calls a function of weft.h; its failure is thrown as ApiError.
template <class F>
void Call(F&& function, Refusal refusal = Refusal::kCall) {
  weft_diagnostics* problems = nullptr;
  const weft_status code = function(&problems);
  const DiagnosticsHandle owned(problems);
  if (code != WEFT_OK) throw ApiError(HttpStatusOf(code, refusal), ErrorOf(code, problems));
}

/// A text of a list.
std::string TextOf(const StringsHandle& strings, size_t index = 0);
/// All of them.
std::vector<std::string> TextsOf(const StringsHandle& strings);

/// The result of a function that gives texts: TextFrom([&](auto** text, auto** problems) { return weft_page_write(page, text, problems); })
template <class F>
std::string TextFrom(F&& function, Refusal refusal = Refusal::kCall) {
  StringsHandle text;
  Call([&](weft_diagnostics** problems) { return function(text.out(), problems); }, refusal);
  return TextOf(text);
}
template <class F>
std::vector<std::string> TextsFrom(F&& function, Refusal refusal = Refusal::kCall) {
  StringsHandle text;
  Call([&](weft_diagnostics** problems) { return function(text.out(), problems); }, refusal);
  return TextsOf(text);
}

/// null for an empty text.
inline Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
/// JSON as text; bytes that are no UTF-8 become U+FFFD.
std::string Dump(const Json& json);
/// The object of a body; throws 400 for what is none. An empty body is an empty object.
Json ParseObject(std::string_view body);

/// A field of a body. Throws 400 where it has another type, or is missing and has no default.
std::string TextField(const Json& object, const char* name, std::optional<std::string> otherwise = std::nullopt);
int64_t NumberField(const Json& object, const char* name, int64_t otherwise, int64_t least, int64_t most);
bool FlagField(const Json& object, const char* name, bool otherwise);
std::vector<std::string> TextsField(const Json& object, const char* name, size_t most);

}  // namespace weft::serve
