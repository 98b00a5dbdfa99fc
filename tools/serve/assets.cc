#include "tools/serve/assets.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

namespace weft::serve {

const Asset* FindAsset(std::string_view path) {
  const Asset* end = kAssets + kAssetCount;
  const Asset* found = std::lower_bound(kAssets, end, path, [](const Asset& asset, std::string_view wanted) { return asset.path < wanted; });
  return found != end && found->path == path ? found : nullptr;
}

std::string Plain(const Asset& asset) {
  if (!asset.gzip) return std::string(reinterpret_cast<const char*>(asset.data), asset.size);
  std::string out;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return out;
  stream.next_in = const_cast<Bytef*>(asset.data);
  stream.avail_in = static_cast<uInt>(asset.size);
  char buffer[65536];
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  return out;
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const char* MediaType(std::string_view path) {
  static constexpr std::pair<std::string_view, const char*> kTypes[] = {
      {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"}, {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"}, {".json", "application/json"}, {".svg", "image/svg+xml"}, {".png", "image/png"}, {".ico", "image/x-icon"},
      {".woff2", "font/woff2"}, {".wasm", "application/wasm"}, {".txt", "text/plain; charset=utf-8"}, {".md", "text/plain; charset=utf-8"},
      {".webmanifest", "application/manifest+json"}, {".map", "application/json"}};
  for (const auto& [ending, type] : kTypes) {
    if (path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending) return type;
  }
  return "application/octet-stream";
}

}  // namespace weft::serve
