// Files that are built into the program: the editor's, the sample pages, the description of the interface.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::serve {

struct Asset {
  const char* path;          // "editor/index.html", "graphs/xor.page.json", "openapi.json"
  const char* hash;          // of its bytes
  const unsigned char* data;
  size_t size;
  bool gzip;                 // the bytes are compressed
};

/// All files, sorted by path. Made by embed.py.
extern const Asset kAssets[];
extern const size_t kAssetCount;

/// Null where there is none.
const Asset* FindAsset(std::string_view path);
/// The bytes as they were before they were compressed.
std::string Plain(const Asset& asset);
std::string Gzip(std::string_view bytes);
/// The media type by the name's ending.
const char* MediaType(std::string_view path);

}  // namespace weft::serve
