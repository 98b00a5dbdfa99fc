#include "tools/serve/editor_files.h"

#include "tools/serve/assets.h"
#include "tools/serve/responses.h"

namespace weft::serve {
namespace {

constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

EditorFiles::EditorFiles(weft_runtime* runtime, const std::string& folder, const Limits& limits)
    : folder_(folder.empty() ? nullptr : std::make_unique<const Folder>(runtime, folder, true)), limits_(limits) {}

Response EditorFiles::FromDisk(const std::string& path) const {
  try {
    Response response = TextResponse(folder_->Read(path.substr(1), limits_.page_bytes), MediaType(path));
    response.headers.emplace_back("Cache-Control", "no-cache");
    return response;
  } catch (const ApiError& error) {
    return ErrorResponse(error);
  }
}

Response EditorFiles::FromProgram(const std::string& path, const Request& request) const {
  const Asset* asset = FindAsset("editor" + path);
  if (asset == nullptr && path == "/index.html") asset = FindAsset("no_editor.html");
  if (asset == nullptr) return ErrorResponse(ApiError(404, "not_found", "there is no '" + path.substr(0, 200) + "'"));
  const std::string etag = std::string("\"") + asset->hash + "\"";
  Response response;
  response.type = MediaType(asset->path);
  response.headers.emplace_back("ETag", etag);
  // Names with a hash in them never change their bytes.
  const bool hashed = std::string_view(asset->path).find("/assets/") != std::string_view::npos;
  response.headers.emplace_back("Cache-Control", hashed ? "private, max-age=31536000, immutable" : "no-cache");
  if (request.Header("if-none-match") == etag) {
    response.status = 304;
  } else if (asset->gzip && request.Header("accept-encoding").find("gzip") != std::string_view::npos) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = std::make_shared<const std::string>(reinterpret_cast<const char*>(asset->data), asset->size);
  } else {
    response.body = std::make_shared<const std::string>(Plain(*asset));
  }
  if (asset->gzip) response.headers.emplace_back("Vary", "Accept-Encoding");
  return response;
}

Response EditorFiles::Answer(const Request& request) const {
  const std::string path = request.path == "/" ? "/index.html" : request.path;
  Response response = folder_ ? FromDisk(path) : FromProgram(path, request);
  response.headers.emplace_back("Content-Security-Policy", kContentSecurityPolicy);
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Permissions-Policy", "camera=(), microphone=(), geolocation=()");
  return response;
}

}  // namespace weft::serve
