#include "tools/serve/admission.h"

#include <algorithm>

#include "tools/serve/random.h"
#include "tools/serve/routes.h"

namespace weft::serve {
namespace {

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view MediaTypeOf(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (!header.empty() && header.back() == ' ') header.remove_suffix(1);
  return header;
}

bool BodyTypeFits(Route::Body body, const std::string& type) {
  if (type == "application/json") return body != Route::kBytes;
  if (type == "application/x-npy") return body == Route::kValue;
  return type == "application/octet-stream" && body == Route::kBytes;
}

}  // namespace

bool IsCall(std::string_view path) { return path == "/v1" || path.substr(0, 4) == "/v1/"; }

Admission::Admission(AdmissionRules rules, const Limits& limits) : rules_(std::move(rules)), limits_(limits), token_(RandomDigits(16)) {}

void Admission::Listen(const std::string& address, uint16_t port_number) {
  const std::string port = ":" + std::to_string(port_number), implied = rules_.tls ? ":443" : ":80";
  std::vector<std::string> names = rules_.names;
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) names.push_back(name);
  if (address != "0.0.0.0" && address != "::") names.push_back(UrlHost(address));
  for (const std::string& name : names) {
    hosts_.push_back(LowerCase(name) + port);
    if (port == implied) hosts_.push_back(LowerCase(name));
  }
}

bool Admission::KnownHost(std::string_view host) const { return std::find(hosts_.begin(), hosts_.end(), LowerCase(host)) != hosts_.end(); }

/// Takes as long for a wrong token as for the right one.
bool Admission::RightToken(std::string_view token) const {
  unsigned different = token.size() == token_.size() ? 0 : 1;
  for (size_t i = 0; i < token_.size(); ++i) different |= static_cast<unsigned char>(i < token.size() ? token[i] : '\0') ^ static_cast<unsigned char>(token_[i]);
  return different == 0;
}

std::optional<Response> Admission::RefuseAny(const RequestHead& head) const {
  if (!KnownHost(head.Header("host"))) {
    return ErrorResponse(ApiError(421, "permission_denied", "this server is not called '" + std::string(head.Header("host").substr(0, 100)) + "'",
                                  "use the printed address, or start it with --host-name"));
  }
  if (head.headers.contains("origin")) {
    const std::string scheme = rules_.tls ? "https://" : "http://";
    const std::string_view origin = head.Header("origin");
    if (origin.substr(0, scheme.size()) != scheme || !KnownHost(origin.substr(scheme.size()))) {
      return ErrorResponse(ApiError(403, "permission_denied", "calls from pages of other origins are refused"));
    }
  }
  return std::nullopt;
}

std::optional<Response> Admission::Refuse(const RequestHead& head, uint64_t& body_limit) const {
  body_limit = 0;
  if (auto refusal = RefuseAny(head)) return refusal;
  if (!IsCall(head.path)) {
    if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
    return ErrorResponse(ApiError(405, "invalid_argument", "only GET is known here"));
  }
  const std::string_view given = head.Header("authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (given.substr(0, kBearer.size()) != kBearer || !RightToken(given.substr(kBearer.size()))) {
    return ErrorResponse(ApiError(401, "permission_denied", given.empty() ? "the token is missing" : "the token is wrong",
                                  "the address that the server printed at its start has it; a server that was started anew has another one"));
  }
  const auto [route, parts, allowed] = FindRoute(head.method, head.path);
  if (route == nullptr) {
    if (allowed.empty()) return ErrorResponse(ApiError(404, "not_found", "there is no '" + head.path.substr(0, 200) + "'"));
    Response refusal = ErrorResponse(ApiError(405, "invalid_argument", head.method.substr(0, 20) + " is not known here", allowed));
    refusal.headers.emplace_back("Allow", allowed);
    return refusal;
  }
  if (route->changes && rules_.read_only) {
    return ErrorResponse(ApiError(403, "permission_denied", "the server was started with --read-only"));
  }
  if (route->body != Route::kNone) {
    const std::string type = LowerCase(MediaTypeOf(head.Header("content-type")));
    if (!BodyTypeFits(route->body, type)) {
      return ErrorResponse(ApiError(415, "invalid_argument", "the body is of type '" + type.substr(0, 100) + "'",
                                    route->body == Route::kBytes ? "Content-Type: application/octet-stream" : "Content-Type: application/json"));
    }
  }
  body_limit = route->body == Route::kPage || route->body == Route::kBytes || route->body == Route::kValue ? limits_.page_bytes : limits_.body_bytes;
  if (route->body == Route::kNone) body_limit = 4096;  // none is needed; one that comes is read and left
  return std::nullopt;
}

std::optional<Response> Admission::RefuseSocket(const RequestHead& head) const {
  if (auto refusal = RefuseAny(head)) return refusal;
  if (head.path != "/v1/ws") return ErrorResponse(ApiError(404, "not_found", "WebSockets are at /v1/ws"));
  bool known = false, token = false;
  std::string_view protocols = head.Header("sec-websocket-protocol");
  while (!protocols.empty()) {
    std::string_view protocol = protocols.substr(0, protocols.find(','));
    protocols.remove_prefix(std::min(protocol.size() + 1, protocols.size()));
    while (!protocol.empty() && protocol.front() == ' ') protocol.remove_prefix(1);
    while (!protocol.empty() && protocol.back() == ' ') protocol.remove_suffix(1);
    constexpr std::string_view kToken = "weft.token.";
    known = known || protocol == "weft.v1";
    token = token || (protocol.substr(0, kToken.size()) == kToken && RightToken(protocol.substr(kToken.size())));
  }
  if (!token) return ErrorResponse(ApiError(401, "permission_denied", "the token is missing or wrong", "the subprotocols weft.v1 and weft.token.TOKEN"));
  if (!known) return ErrorResponse(ApiError(400, "invalid_argument", "the subprotocol weft.v1 is missing"));
  return std::nullopt;
}

}  // namespace weft::serve
