// DecodeJpeg, DecodePng, DecodeGif and DecodeBmp: pictures from the bytes of files. As in TensorFlow the first three read one another's
// formats.
#include "blocks/image/codec/codec.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> contents{"contents", "DT_STRING", "a scalar: the bytes of the file"};
constexpr Out<0> picture{"image", "DT_UINT8", "[height, width, channels]"};
constexpr Out<0> png_picture{"image", "dtype", "[height, width, channels]"};
constexpr Out<0> frames{"image", "DT_UINT8", "[frames, height, width, 3]"};

constexpr Attr<int64_t> channels{"channels", "0", "1 (grey), 3 (RGB), 4 (RGBA; not of JPEG and GIF); 0: as many as the file has"};
constexpr Attr<int64_t> bmp_channels{"channels", "0", "3 (RGB), 4 (RGBA); 0: as many as the file has"};
constexpr Attr<DType> dtype{"dtype", "DT_UINT8", "the type of the samples; narrower ones are stretched to it"};
constexpr Attr<int64_t> ratio{"ratio", "1", "1, 2, 4 or 8: how many times smaller the picture is made"};
constexpr Attr<bool> fancy_upscaling{"fancy_upscaling", "true", "whether colours of lower resolution are smoothed"};
constexpr Attr<bool> try_recover_truncated{"try_recover_truncated", "false",
                                           "whether a file that ends too early gives what there is of it"};
constexpr Attr<float> acceptable_fraction{"acceptable_fraction", "1",
                                          "the least part of the rows that must be there; the others are black"};
constexpr Attr<std::string> dct_method{"dct_method", "", "INTEGER_FAST (also where empty) or INTEGER_ACCURATE"};

struct Decoding {
  PictureFormat own = PictureFormat::kJpeg;  // the format that the block is named after
  int64_t channels = 0;
  DType dtype = DType::kUInt8;
  JpegReading jpeg;
};

// ---- plans -------------------------------------------------------------------------------------------------------------------

Status SetPicture(PlanContext& ctx, const OutputPort auto& port, std::initializer_list<int64_t> sizes) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, contents));
  WEFT_ASSIGN_OR_RETURN(PartialShape partial, PartialShape::Make(sizes));
  ctx.set_unknown(port, 0, std::move(partial));
  return {};
}

Result<Decoding> PlanChannels(PlanContext& ctx, PictureFormat own, int64_t count) {
  if (count != 0 && count != 1 && count != 3 && count != 4) return ctx.Error(channels, "needs 0, 1, 3 or 4, found ", count);
  WEFT_RETURN_IF_ERROR(SetPicture(ctx, picture, {-1, -1, count == 0 ? -1 : count}));
  Decoding decoding;
  decoding.own = own;
  decoding.channels = count;
  decoding.jpeg.channels = count;
  return decoding;
}

Result<Decoding> PlanJpeg(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Decoding decoding, PlanChannels(ctx, PictureFormat::kJpeg, ctx.attr(channels)));
  JpegReading& jpeg = decoding.jpeg;
  jpeg.ratio = ctx.attr(ratio);
  if (jpeg.ratio != 1 && jpeg.ratio != 2 && jpeg.ratio != 4 && jpeg.ratio != 8) {
    return ctx.Error(ratio, "needs 1, 2, 4 or 8, found ", jpeg.ratio);
  }
  const std::string method = ctx.attr(dct_method);
  jpeg.accurate = method == "INTEGER_ACCURATE";
  if (!jpeg.accurate && !method.empty() && method != "INTEGER_FAST") {
    return ctx.Error(dct_method, "needs INTEGER_FAST or INTEGER_ACCURATE, found ", method);
  }
  jpeg.fancy_upscaling = ctx.attr(fancy_upscaling);
  jpeg.recover_truncated = ctx.attr(try_recover_truncated);
  jpeg.acceptable_fraction = ctx.attr(acceptable_fraction);
  return decoding;
}

Result<Decoding> PlanPng(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Decoding decoding, PlanChannels(ctx, PictureFormat::kPng, ctx.attr(channels)));
  decoding.dtype = ctx.attr(dtype);
  return decoding;
}

Result<Decoding> PlanGif(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(SetPicture(ctx, frames, {-1, -1, -1, 3}));
  Decoding decoding;
  decoding.own = PictureFormat::kGif;
  decoding.channels = decoding.jpeg.channels = 3;
  return decoding;
}

Result<Decoding> PlanBmp(PlanContext& ctx) {
  const int64_t count = ctx.attr(bmp_channels);
  if (count == 1) return ctx.Error(bmp_channels, "needs 0, 3 or 4, found ", count);
  return PlanChannels(ctx, PictureFormat::kBmp, count);
}

// ---- runs --------------------------------------------------------------------------------------------------------------------

/// uint8 becomes uint16: v is v * 256.
Result<Tensor> Widened(const Tensor& narrow, const ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Tensor wide, ctx.Allocate(DType::kUInt16, narrow.shape()));
  const uint8_t* from = narrow.values<uint8_t>().data();
  uint16_t* to = wide.values<uint16_t>().data();
  kernels::ForEach(ctx.workers(), narrow.count(), 65536, [&](int64_t i) { to[i] = static_cast<uint16_t>(from[i] << 8); });
  if (ctx.cancelled()) return kernels::RunStopped();
  return wide;
}

/// [height, width, channels], or [frames, height, width, 3] of GIF.
Result<Tensor> Decode(const Decoding& decoding, PictureFormat format, std::string_view bytes, const ProduceContext& ctx) {
  const bool bmp = decoding.own == PictureFormat::kBmp;
  if (format == PictureFormat::kUnknown || bmp != (format == PictureFormat::kBmp)) {
    return InvalidArgument("needs the bytes of a ", bmp ? "BMP" : "JPEG, PNG or GIF", " file, found ", bytes.size(), " bytes of format ",
                           NameOf(format));
  }
  if (format == PictureFormat::kJpeg && decoding.channels == 4) {
    return InvalidArgument("has no fourth channel in a JPEG file").WithPort(channels.name);
  }
  if (format == PictureFormat::kGif && decoding.channels != 0 && decoding.channels != 3) {
    return InvalidArgument("needs 0 or 3 for a GIF file, found ", decoding.channels).WithPort(channels.name);
  }
  switch (format) {
    case PictureFormat::kJpeg: return ReadJpeg(bytes, decoding.jpeg, ctx);
    case PictureFormat::kPng: return ReadPng(bytes, decoding.channels, decoding.dtype, ctx);
    case PictureFormat::kGif: return ReadGif(bytes, ctx);
    default: return ReadBmp(bytes, decoding.channels, ctx);
  }
}

/// Only DecodeGif gives an axis of frames.
Result<Shape> ShapeFor(const Decoding& decoding, const Shape& found) {
  const bool animated = found.rank() == 4;
  if (animated == (decoding.own == PictureFormat::kGif)) return found;
  if (!animated) return Shape{1, found[0], found[1], found[2]};
  if (found[0] == 1) return Shape{found[1], found[2], found[3]};
  return InvalidArgument("needs one picture, found a GIF file of ", found[0], " frames").WithHint("DecodeGif reads them all");
}

Result<Tensor> DecodeAll(const Decoding& decoding, std::string_view bytes, const ProduceContext& ctx) {
  const PictureFormat format = FormatOf(bytes);
  WEFT_ASSIGN_OR_RETURN(Tensor decoded, Decode(decoding, format, bytes, ctx));
  WEFT_ASSIGN_OR_RETURN(Shape shape, ShapeFor(decoding, decoded.shape()));
  if (decoded.dtype() != decoding.dtype) {
    WEFT_ASSIGN_OR_RETURN(decoded, Widened(decoded, ctx));
  }
  return decoded.Reshaped(std::move(shape));
}

constexpr auto Run = [](const Decoding& decoding, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Tensor decoded, AtPort(contents, DecodeAll(decoding, ctx.in<String>(contents)[0], ctx)));
  return Emitted(ctx, picture, std::move(decoded));
};

}  // namespace

BlockDef DecodeJpeg() {
  return Block("DecodeJpeg", "A picture from the bytes of a JPEG file.")
      .Details("PNG files and GIF files of one frame are read, too. Files of inks (CMYK) become RGB.")
      .Ports(contents, picture)
      .Attrs(channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
      .Producer(PlanJpeg, Run);
}

BlockDef DecodePng() {
  return Block("DecodePng", "A picture from the bytes of a PNG file.")
      .Details("JPEG files and GIF files of one frame are read, too. 8 bits become 16 by v * 257, those of JPEG and GIF by v * 256.")
      .Ports(contents, png_picture)
      .Attrs(channels, dtype)
      .Types("dtype", TypeList<uint8_t, uint16_t>{})
      .Producer(PlanPng, Run);
}

BlockDef DecodeGif() {
  return Block("DecodeGif", "All frames of a GIF file.")
      .Details("Each is drawn over the one before, on a canvas as large as the largest. PNG and JPEG files give one frame.")
      .Ports(contents, frames)
      .Producer(PlanGif, Run);
}

BlockDef DecodeBmp() {
  return Block("DecodeBmp", "A picture from the bytes of an uncompressed BMP file of 8, 24 or 32 bits a pixel.")
      .Details("A byte of an 8-bit file is grey: palettes are not read.")
      .Ports(contents, picture)
      .Attrs(bmp_channels)
      .Producer(PlanBmp, Run);
}

}  // namespace weft::blocks
