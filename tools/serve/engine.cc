#include "tools/serve/engine.h"

namespace weft::serve {
namespace {

const char* SeverityName(int32_t severity) {
  return severity == WEFT_ERROR ? "error" : severity == WEFT_WARNING ? "warning" : "note";
}

const char* PhaseName(int32_t phase) {
  static constexpr const char* kNames[] = {"none", "load", "connect", "compile", "run"};
  return phase >= 0 && phase < 5 ? kNames[phase] : "none";
}

void Put(Json& object, const char* name, const char* text) {
  if (text != nullptr && *text != '\0') object[name] = text;
}

[[noreturn]] void Wrong(const char* name, const std::string& needed) {
  throw ApiError(400, "invalid_argument", "'" + std::string(name) + "' must be " + needed);
}

}  // namespace

ApiError::ApiError(int http, const char* code, std::string message, std::string hint)
    : http_(http), diagnostic_({{"code", code}, {"severity", "error"}, {"message", std::move(message)}}) {
  if (!hint.empty()) diagnostic_["hint"] = std::move(hint);
}

const char* ApiError::what() const noexcept {
  const auto found = diagnostic_.find("message");
  return found == diagnostic_.end() ? "" : found->get_ref<const std::string&>().c_str();
}

Json DiagnosticJson(const weft_diagnostic& diagnostic) {
  Json json = {{"code", weft_status_name(diagnostic.code)}, {"severity", SeverityName(diagnostic.severity)}, {"message", diagnostic.message}};
  Put(json, "hint", diagnostic.hint);
  Put(json, "page", diagnostic.page);
  Put(json, "pointer", diagnostic.pointer);
  Put(json, "block", diagnostic.block);
  Put(json, "port", diagnostic.port);
  if (diagnostic.phase != WEFT_PHASE_NONE) json["phase"] = PhaseName(diagnostic.phase);
  Put(json, "needed", diagnostic.needed);
  Put(json, "found", diagnostic.found);
  return json;
}

Json DiagnosticsJson(const weft_diagnostics* diagnostics) {
  Json list = Json::array();
  size_t count = 0, causes = 0;
  if (diagnostics == nullptr || weft_diagnostics_count(diagnostics, &count) != WEFT_OK) return list;
  for (size_t i = 0; i < count; ++i) {
    weft_diagnostic diagnostic = WEFT_DIAGNOSTIC_INIT;
    if (weft_diagnostics_get(diagnostics, i, &diagnostic) != WEFT_OK) break;
    if (causes > 0) {
      --causes;
      list.back()["causes"].push_back(DiagnosticJson(diagnostic));
    } else {
      list.push_back(DiagnosticJson(diagnostic));
      causes = diagnostic.causes;
    }
  }
  return list;
}

Json ErrorOf(weft_status code, const weft_diagnostics* problems) {
  Json list = DiagnosticsJson(problems);
  if (list.empty()) return {{"code", weft_status_name(code)}, {"severity", "error"}, {"message", weft_status_name(code)}};
  Json error = std::move(list[0]);
  if (list.size() > 1) error["others"] = Json(list.begin() + 1, list.end());
  return error;
}

int HttpStatusOf(weft_status code, Refusal refusal) {
  const bool engine = refusal == Refusal::kEngine;
  switch (code) {
    case WEFT_INVALID_ARGUMENT:
    case WEFT_OUT_OF_RANGE: return engine ? 422 : 400;
    case WEFT_NOT_FOUND: return engine ? 422 : 404;
    case WEFT_ALREADY_EXISTS: return engine ? 422 : 409;
    case WEFT_FAILED_PRECONDITION: return engine ? 422 : 409;
    case WEFT_UNSUPPORTED: return engine ? 422 : 501;
    case WEFT_RESOURCE_EXHAUSTED: return 507;
    case WEFT_DATA_LOSS: return engine ? 422 : 500;
    case WEFT_CANCELLED: return 504;
    case WEFT_ABORTED: return 409;
    case WEFT_PERMISSION_DENIED: return engine ? 422 : 403;
    default: return 500;
  }
}

std::string TextOf(const StringsHandle& strings, size_t index) {
  const char* text = nullptr;
  size_t bytes = 0;
  if (weft_strings_get(strings.get(), index, &text, &bytes) != WEFT_OK) return "";
  return std::string(text, bytes);
}

std::vector<std::string> TextsOf(const StringsHandle& strings) {
  size_t count = 0;
  const char* const* texts = nullptr;
  if (weft_strings_all(strings.get(), &texts, &count) != WEFT_OK) return {};
  return {texts, texts + count};
}

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json ParseObject(std::string_view body) {
  if (body.empty()) return Json::object();
  // Deep nesting would need a deep stack.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > 200) throw ApiError(400, "invalid_argument", "the body is nested too deeply");
    return true;
  };
  Json json;
  try {
    json = Json::parse(body, shallow);
  } catch (const Json::exception& error) {
    throw ApiError(400, "invalid_argument", std::string("the body is no JSON: ") + error.what());
  }
  if (!json.is_object()) throw ApiError(400, "invalid_argument", "the body must be a JSON object");
  return json;
}

std::string TextField(const Json& object, const char* name, std::optional<std::string> otherwise) {
  const auto found = object.find(name);
  if (found == object.end() || (found->is_null() && otherwise)) {
    if (otherwise) return *otherwise;
    throw ApiError(400, "invalid_argument", "'" + std::string(name) + "' is missing");
  }
  if (!found->is_string()) Wrong(name, "a text");
  std::string text = found->get<std::string>();
  if (text.find('\0') != std::string::npos) Wrong(name, "a text without zero bytes");
  return text;
}

int64_t NumberField(const Json& object, const char* name, int64_t otherwise, int64_t least, int64_t most) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return otherwise;
  const bool fits = found->is_number_integer() && !(found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  if (!fits || found->get<int64_t>() < least || found->get<int64_t>() > most) {
    Wrong(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return found->get<int64_t>();
}

bool FlagField(const Json& object, const char* name, bool otherwise) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return otherwise;
  if (!found->is_boolean()) Wrong(name, "true or false");
  return found->get<bool>();
}

std::vector<std::string> TextsField(const Json& object, const char* name, size_t most) {
  std::vector<std::string> texts;
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return texts;
  if (!found->is_array() || found->size() > most) Wrong(name, "a list of at most " + std::to_string(most) + " texts");
  for (const Json& item : *found) {
    if (!item.is_string() || item.get_ref<const std::string&>().find('\0') != std::string::npos) Wrong(name, "a list of texts");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace weft::serve
