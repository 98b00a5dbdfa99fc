#include "blocks/image/codec/codec.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace weft::blocks {

PictureFormat FormatOf(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xff\xd8\xff"sv)) return PictureFormat::kJpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return PictureFormat::kPng;
  if (bytes.starts_with("GIF8"sv)) return PictureFormat::kGif;
  if (bytes.starts_with("BM"sv)) return PictureFormat::kBmp;
  return PictureFormat::kUnknown;
}

const char* NameOf(PictureFormat format) {
  constexpr const char* kNames[] = {"unknown", "JPEG", "PNG", "GIF", "BMP"};
  return kNames[static_cast<int>(format)];
}

bool ByteSink::Append(const void* bytes, size_t size) noexcept {
  if (full_) return false;
  const size_t needed = bytes_.size() + size;
  if (needed > bytes_.capacity()) {
    const size_t room = std::max(needed, 2 * bytes_.capacity());
    full_ = !charge_.Resize(static_cast<int64_t>(room));
    try {
      if (!full_) bytes_.reserve(room);
    } catch (const std::bad_alloc&) {
      full_ = true;
    }
  }
  if (!full_) bytes_.append(static_cast<const char*>(bytes), size);
  return !full_;
}

Result<String> ByteSink::Take() const {
  if (full_) return ResourceExhausted("needs more than the ", bytes_.size(), " bytes of memory that the picture takes so far");
  WEFT_ASSIGN_OR_RETURN(String bytes, String::Uninitialized(bytes_.size(), budget_));
  std::memcpy(bytes.mutable_data(), bytes_.data(), bytes_.size());
  return bytes;
}

}  // namespace weft::blocks
