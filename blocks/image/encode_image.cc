// EncodeJpeg and EncodePng: the bytes of files from pictures.
#include "blocks/image/codec/codec.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> rgb{"image", "DT_UINT8", "[height, width, channels]: 1 channel (grey) or 3 (RGB)"};
constexpr In<0> pictures{"image", "T", "[..., height, width, channels]: 1 channel (grey), 2 (with alpha), 3 (RGB) or 4 (RGBA)"};
constexpr Out<0> file{"contents", "DT_STRING", "a scalar: the bytes of the file"};
constexpr Out<0> files{"contents", "DT_STRING", "[...]: the bytes of a file for each picture"};

constexpr Attr<std::string> format{"format", "", "grayscale or rgb; empty: as the picture has channels", "|grayscale|rgb"};
constexpr Attr<int64_t> quality{"quality", "95", "0 to 100: the higher, the nearer to the picture and the longer"};
constexpr Attr<bool> progressive{"progressive", "false", "whether a coarse picture comes first in the file"};
constexpr Attr<bool> optimize_size{"optimize_size", "false", "whether the tables are made for the picture: shorter files, more time"};
constexpr Attr<bool> chroma_downsampling{"chroma_downsampling", "true", "whether colours are kept at half of the resolution"};
constexpr Attr<std::string> density_unit{"density_unit", "in", "the unit of the densities", "in|cm"};
constexpr Attr<int64_t> x_density{"x_density", "300", "pixels for a unit of width"};
constexpr Attr<int64_t> y_density{"y_density", "300", "pixels for a unit of height"};
constexpr Attr<std::string> xmp_metadata{"xmp_metadata", "", "a text that is put into the file"};
constexpr Attr<int64_t> compression{"compression", "-1", "0 (none) to 9 (shortest); -1: zlib's own"};

/// The last three sizes of `shape`: at least one pixel, and not too many of them.
Result<Samples> SizesOf(const PlanContext& ctx, const InputPort auto& port, int64_t most_side) {
  const Shape& shape = ctx.shape(port);
  const int axis = shape.rank() - 3;
  const Samples sizes{nullptr, shape[axis], shape[axis + 1], shape[axis + 2]};
  if (sizes.height < 1 || sizes.width < 1) return ctx.Error(port, "needs at least one pixel, found shape ", shape);
  if (sizes.height > most_side || sizes.width > most_side || sizes.height * sizes.width >= kTooManyPixels) {
    return ctx.Error(port, "needs at most ", most_side, " rows and columns and less than ", kTooManyPixels, " pixels, found shape ", shape);
  }
  return sizes;
}

struct JpegEncoding {
  Samples picture;
  JpegWriting how;
};

Result<int64_t> Within(const PlanContext& ctx, const auto& attr, int64_t least, int64_t most) {
  const int64_t value = ctx.attr(attr);
  if (value < least || value > most) return ctx.Error(attr, "needs a number from ", least, " to ", most, ", found ", value);
  return value;
}

Status CheckFormat(const PlanContext& ctx) {
  const Shape& shape = ctx.shape(rgb);
  if (shape.rank() != 3) return ctx.Error(rgb, "needs rank 3, found shape ", shape);
  const std::string wanted = ctx.attr(format);
  if (wanted.empty() && shape[2] != 1 && shape[2] != 3) return ctx.Error(rgb, "needs 1 or 3 channels, found shape ", shape);
  if (wanted == "grayscale" && shape[2] != 1) return ctx.Error(rgb, "needs 1 channel for format_ = grayscale, found shape ", shape);
  if (wanted == "rgb" && shape[2] != 3) return ctx.Error(rgb, "needs 3 channels for format_ = rgb, found shape ", shape);
  return {};
}

Result<JpegEncoding> PlanJpeg(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckFormat(ctx));
  JpegEncoding encoding;
  WEFT_ASSIGN_OR_RETURN(encoding.picture, SizesOf(ctx, rgb, 65500));
  WEFT_ASSIGN_OR_RETURN(const int64_t level, Within(ctx, quality, 0, 100));
  WEFT_ASSIGN_OR_RETURN(const int64_t x, Within(ctx, x_density, 0, UINT16_MAX));
  WEFT_ASSIGN_OR_RETURN(const int64_t y, Within(ctx, y_density, 0, UINT16_MAX));
  JpegWriting& how = encoding.how;
  how.quality = static_cast<int>(level);
  how.progressive = ctx.attr(progressive);
  how.optimize_size = ctx.attr(optimize_size);
  how.chroma_downsampling = ctx.attr(chroma_downsampling);
  how.density_unit = ctx.attr(density_unit) == "in" ? 1 : 2;
  how.x_density = static_cast<uint16_t>(x);
  how.y_density = static_cast<uint16_t>(y);
  how.xmp_metadata = ctx.attr(xmp_metadata);
  constexpr size_t kMostMetadata = 65504;  // what a marker holds
  if (how.xmp_metadata.size() > kMostMetadata) {
    return ctx.Error(xmp_metadata, "needs at most ", kMostMetadata, " bytes, found ", how.xmp_metadata.size());
  }
  return encoding;
}

constexpr auto RunJpeg = [](const JpegEncoding& encoding, ProduceContext& ctx) -> Status {
  Samples picture = encoding.picture;
  picture.data = ctx.in<uint8_t>(rgb).data();
  WEFT_ASSIGN_OR_RETURN(String bytes, AtPort(rgb, WriteJpeg(picture, encoding.how, ctx)));
  return Emitted(ctx, file, Tensor::Scalar<String>(std::move(bytes)));
};

struct PngEncoding {
  Samples picture;
  Shape batch;
  int bits = 8, compression = -1;
};

Result<PngEncoding> PlanPng(PlanContext& ctx) {
  const Shape& shape = ctx.shape(pictures);
  if (shape.rank() < 3) return ctx.Error(pictures, "needs rank 3 or more, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, pictures.name));
  PngEncoding encoding;
  WEFT_ASSIGN_OR_RETURN(encoding.picture, SizesOf(ctx, pictures, 1000000));
  if (encoding.picture.channels < 1 || encoding.picture.channels > 4) {
    return ctx.Error(pictures, "needs 1 to 4 channels, found shape ", shape);
  }
  WEFT_ASSIGN_OR_RETURN(const int64_t level, Within(ctx, compression, -1, 9));
  encoding.compression = static_cast<int>(level);
  encoding.bits = ctx.dtype(pictures) == DType::kUInt16 ? 16 : 8;
  encoding.batch = Shape(shape.dims().first(static_cast<size_t>(shape.rank()) - 3));
  ctx.set(files, encoding.batch);
  return encoding;
}

constexpr auto RunPng = [](const PngEncoding& encoding, ProduceContext& ctx) -> Status {
  const auto* from = ctx.in<std::byte>(pictures).data();
  WEFT_ASSIGN_OR_RETURN(Tensor texts, ctx.Allocate(DType::kString, encoding.batch));
  Samples picture = encoding.picture;
  const int64_t bytes = picture.height * picture.width * picture.channels * encoding.bits / 8;
  constexpr int64_t kBegun = 1000;  // items' time that a file takes, however small
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < texts.count(); ++i) {
    if (stop(kBegun)) return kernels::RunStopped();
    picture.data = from + i * bytes;
    WEFT_ASSIGN_OR_RETURN(texts.values<String>()[static_cast<size_t>(i)],
                          AtPort(pictures, WritePng(picture, encoding.bits, encoding.compression, ctx)));
  }
  return Emitted(ctx, files, std::move(texts));
};

}  // namespace

BlockDef EncodeJpeg() {
  return Block("EncodeJpeg", "The bytes of a JPEG file from a picture.")
      .Ports(rgb, file)
      .Attrs(format, quality, progressive, optimize_size, chroma_downsampling, density_unit, x_density, y_density, xmp_metadata)
      .Producer(PlanJpeg, RunJpeg);
}

BlockDef EncodePng() {
  return Block("EncodePng", "The bytes of a PNG file from each picture.")
      .Ports(pictures, files)
      .Attrs(compression)
      .Types("T", TypeList<uint8_t, uint16_t>{})
      .Producer(PlanPng, RunPng);
}

}  // namespace weft::blocks
