// Pictures read from and written to the bytes of their formats, by the libraries of these. Bytes are hostile: sizes are checked, and memory
// is taken from the page's budget, before anything is decoded. A failure of a library is a Status; nothing is printed and nothing leaks.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <string>
#include <string_view>

#include "weft/block/context.h"

namespace weft::blocks {

enum class PictureFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp };
/// What the first bytes say.
PictureFormat FormatOf(std::string_view bytes);
/// "JPEG"; "unknown".
const char* NameOf(PictureFormat format);

/// Pixels of one picture are fewer, of JPEG also pixels times channels, as in TensorFlow.
inline constexpr int64_t kTooManyPixels = int64_t{1} << 29;

struct JpegReading {
  int64_t channels = 0;  // 1 or 3; 0: as many as there are, at most 3
  int64_t ratio = 1;     // the picture is made smaller by 1, 2, 4 or 8
  bool fancy_upscaling = true;
  bool recover_truncated = false;
  float acceptable_fraction = 1;  // of the rows; others are black
  bool accurate = false;          // the slower transform
};
/// uint8 [height, width, channels].
Result<Tensor> ReadJpeg(std::string_view bytes, const JpegReading& how, const ProduceContext& ctx);

/// `dtype` (uint8 or uint16) [height, width, channels]; 0 channels: as many as there are.
Result<Tensor> ReadPng(std::string_view bytes, int64_t channels, DType dtype, const ProduceContext& ctx);

/// uint8 [frames, height, width, 3], each frame drawn over those before, on a canvas for the largest. Frames before a fault count.
Result<Tensor> ReadGif(std::string_view bytes, const ProduceContext& ctx);

/// uint8 [height, width, channels]; 0 channels: as many as there are.
Result<Tensor> ReadBmp(std::string_view bytes, int64_t channels, const ProduceContext& ctx);

/// Samples of a picture in memory, row by row.
struct Samples {
  const void* data = nullptr;
  int64_t height = 0, width = 0, channels = 0;
};

struct JpegWriting {
  int quality = 95;
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  uint8_t density_unit = 1;  // 1: inches, 2: centimetres
  uint16_t x_density = 300, y_density = 300;
  std::string xmp_metadata;
};
/// Of uint8, 1 or 3 channels, at most 65,500 rows and columns.
Result<String> WriteJpeg(const Samples& picture, const JpegWriting& how, const ProduceContext& ctx);

/// Of `bits` 8 or 16 (in the byte order of this machine), 1 to 4 channels, at least one pixel. Compression 0 to 9, or -1.
Result<String> WritePng(const Samples& picture, int bits, int compression, const ProduceContext& ctx);

// ---- for those who call the libraries ------------------------------------------------------------------------------------------

/// Calls body(), which a library may leave by longjmp(jump, 1): false then. body() must not have objects with destructors while it calls
/// the library.
[[gnu::noinline]] bool Guarded(std::jmp_buf& jump, const auto& body) {
  if (setjmp(jump) != 0) return false;
  body();
  return true;
}

/// Bytes that a library writes piece by piece, counted in a budget. Does not throw, for the library is written in C.
class ByteSink {
 public:
  explicit ByteSink(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)), charge_(budget_) {}
  /// False where there is no memory, and from then on.
  bool Append(const void* bytes, size_t size) noexcept;
  bool full() const { return full_; }
  /// All bytes as one string; resource_exhausted where memory lacked.
  Result<String> Take() const;

 private:
  std::shared_ptr<MemoryBudget> budget_;
  MemoryCharge charge_;
  std::string bytes_;
  bool full_ = false;
};

}  // namespace weft::blocks
