#include "tools/serve/responses.h"

namespace weft::serve {

Response JsonResponse(const Json& json, int status) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(Dump(json));
  return response;
}

Response TextResponse(std::string text, std::string type, int status) {
  Response response;
  response.status = status;
  response.type = std::move(type);
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

Response ErrorResponse(const ApiError& error) {
  Json body = {{"error", error.diagnostic()}};
  if (error.revision) body["revision"] = *error.revision;
  Response response = JsonResponse(body, error.http());
  if (error.http() == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.http() == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response EmptyResponse() {
  Response response;
  response.status = 204;
  return response;
}

}  // namespace weft::serve
