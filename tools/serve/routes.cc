#include "tools/serve/routes.h"

#include <algorithm>

#include "tools/serve/server.h"

namespace weft::serve {
namespace {

/// What the * of the pattern stand for; nothing where the path is another.
std::optional<std::vector<std::string>> Match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> parts;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = pattern.substr(0, pattern.find('/')), given = path.substr(0, path.find('/'));
    if (wanted == "*" && !given.empty()) parts.emplace_back(given);
    else if (wanted != given) return std::nullopt;
    const bool more = wanted.size() < pattern.size();
    if (more != (given.size() < path.size())) return std::nullopt;
    if (!more) break;
    pattern.remove_prefix(wanted.size() + 1);
    path.remove_prefix(given.size() + 1);
  }
  return parts;
}

/// All routes; each file of calls gives its part.
const std::vector<Route>& Routes() {
  static const std::vector<Route> routes = [] {
    std::vector<Route> all;
    AddServerRoutes(all);
    AddPageRoutes(all);
    AddValueRoutes(all);
    AddRunRoutes(all);
    return all;
  }();
  return routes;
}

}  // namespace

FoundRoute FindRoute(std::string_view method, std::string_view path) {
  FoundRoute found;
  for (const Route& route : Routes()) {
    auto matched = Match(route.path, path);
    if (!matched) continue;
    if (method == route.method || (method == "HEAD" && std::string_view(route.method) == "GET")) {
      found.route = &route;
      found.parts = std::move(*matched);
      return found;
    }
    found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return found;
}

std::string Called::Need(const char* name) const {
  auto value = request.Query(name);
  if (!value || value->empty()) throw ApiError(400, "invalid_argument", "the query parameter '" + std::string(name) + "' is missing");
  return *value;
}

std::string Called::Get(const char* name, const char* otherwise) const { return request.Query(name).value_or(otherwise); }

bool Called::Flag(const char* name) const {
  const std::string value = Get(name, "0");
  if (value != "0" && value != "1" && value != "true" && value != "false") {
    throw ApiError(400, "invalid_argument", "'" + std::string(name) + "' must be 1 or 0");
  }
  return value == "1" || value == "true";
}

int64_t Called::Number(const char* name, int64_t otherwise, int64_t least, int64_t most) const {
  const auto value = request.Query(name);
  if (!value) return otherwise;
  const Json number = Json::parse(*value, nullptr, false);
  return NumberField({{name, number.is_discarded() ? Json("") : number}}, name, otherwise, least, most);
}

std::optional<uint64_t> Called::IfMatch() const {
  if (!request.headers.contains("if-match")) return std::nullopt;
  std::string value(request.Header("if-match"));
  value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
  if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string::npos) {
    throw ApiError(400, "invalid_argument", "If-Match must be a revision in quotes, as ETag says it");
  }
  return std::stoull(value);
}

void Called::NeedFiles() const {
  if (server.options().no_files) throw ApiError(403, "permission_denied", "the server was started with --no-files");
}

std::shared_ptr<Document> Called::Page() const { return server.pages().Find(parts.at(0)); }

}  // namespace weft::serve
