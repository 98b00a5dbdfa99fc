// Answers of the usual kinds.
#pragma once

#include <string>

#include "tools/serve/engine.h"
#include "tools/serve/http.h"

namespace weft::serve {

Response JsonResponse(const Json& json, int status = 200);
Response TextResponse(std::string text, std::string type, int status = 200);
Response ErrorResponse(const ApiError& error);
/// 204: done, and nothing to say.
Response EmptyResponse();

}  // namespace weft::serve
