// BMP: uncompressed pictures of 8, 24 or 32 bits a pixel.
#include <cstdlib>

#include "blocks/image/codec/codec.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks {
namespace {

constexpr size_t kHeaderBytes = 32;  // as far as the bits of a pixel

struct Bmp {
  const uint8_t* rows = nullptr;
  int64_t height = 0, width = 0, channels = 0, line = 0;
  bool top_down = false;

  const uint8_t* row(int64_t y) const { return rows + (top_down ? y : height - 1 - y) * line; }
};

Result<Bmp> ReadHeader(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return InvalidArgument("needs a BMP file of at least ", kHeaderBytes, " bytes, found ", bytes.size());
  const auto number = [&](size_t at) { return int64_t{protobuf::LoadFixed<int32_t>(bytes.data() + at)}; };
  const int64_t begin = number(10), width = number(18), height = number(22), bits = protobuf::LoadFixed<uint16_t>(bytes.data() + 28);
  Bmp bmp;
  bmp.channels = bits / 8;
  if (bmp.channels != 1 && bmp.channels != 3 && bmp.channels != 4) {
    return InvalidArgument("needs a BMP file of 8, 24 or 32 bits a pixel, found ", bits);
  }
  if (begin < 0 || width <= 0 || height == 0) {
    return InvalidArgument("needs a BMP file of at least one pixel, found ", height, " rows of ", width, " pixels from byte ", begin);
  }
  bmp.top_down = height < 0;
  bmp.height = std::abs(height);
  bmp.width = width;
  bmp.line = (bmp.channels * width + 3) / 4 * 4;
  const int64_t size = static_cast<int64_t>(bytes.size()) - begin;
  if (size < 0 || size / bmp.line != bmp.height || size % bmp.line != 0) {
    return InvalidArgument("needs ", bmp.height, " rows of ", bmp.line, " bytes from byte ", begin, " of the BMP file to its end, found ",
                           size, " bytes");
  }
  bmp.rows = reinterpret_cast<const uint8_t*>(bytes.data()) + begin;
  return bmp;
}

/// Blue comes first in the file. Pixels of one channel are grey.
void CopyRow(const Bmp& bmp, const uint8_t* from, int64_t channels, uint8_t* to) {
  const bool grey = bmp.channels == 1;
  for (int64_t x = 0; x < bmp.width; ++x, from += bmp.channels, to += channels) {
    to[0] = from[grey ? 0 : 2];
    if (channels == 1) continue;
    to[1] = from[grey ? 0 : 1];
    to[2] = from[0];
    if (channels == 4) to[3] = bmp.channels == 4 ? from[3] : 255;
  }
}

}  // namespace

Result<Tensor> ReadBmp(std::string_view bytes, int64_t channels, const ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Bmp bmp, ReadHeader(bytes));
  if (channels == 0) channels = bmp.channels;
  WEFT_ASSIGN_OR_RETURN(Tensor picture, ctx.Allocate(DType::kUInt8, Shape{bmp.height, bmp.width, channels}));
  uint8_t* const to = picture.values<uint8_t>().data();
  ctx.workers().For(bmp.height, std::max<int64_t>(1, 65536 / bmp.width), [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(ctx.workers());
    for (int64_t y = begin; y < end && !stop(bmp.width); ++y) CopyRow(bmp, bmp.row(y), channels, to + y * bmp.width * channels);
  });
  if (ctx.cancelled()) return kernels::RunStopped();
  return picture;
}

}  // namespace weft::blocks
