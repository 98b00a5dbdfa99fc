// PNG by libpng, compressed data by libdeflate.
#include <png.h>
#include <zlib.h>

#include <bit>
#include <cstdlib>
#include <cstring>

#include "blocks/image/codec/codec.h"
#include "blocks/image/codec/png_unpack.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

/// What libpng's callbacks know of the call they belong to.
struct PngCall {
  std::jmp_buf jump;
  char error[128] = "";
  bool lacks_memory = false;
  std::string_view left;  // to read
  ByteSink* sink = nullptr;
};

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto* call = static_cast<PngCall*>(png_get_error_ptr(png));
  std::strncpy(call->error, message, sizeof call->error - 1);
  std::longjmp(call->jump, 1);
}
void OnWarning(png_structp, png_const_charp) {}

// libpng and zlib have many words for a lack of memory: it is noted where it arises.
png_voidp Allocate(png_structp png, png_alloc_size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) static_cast<PngCall*>(png_get_mem_ptr(png))->lacks_memory = true;
  return memory;
}
void Free(png_structp, png_voidp memory) { std::free(memory); }

Status FailureOf(std::string_view needed, const PngCall& call) {
  if (call.lacks_memory) return ResourceExhausted("needs memory for libpng: ", call.error);
  return InvalidArgument(needed, ": ", call.error);
}

void ReadBytes(png_structp png, png_bytep to, size_t size) {
  auto* call = static_cast<PngCall*>(png_get_io_ptr(png));
  if (size > call->left.size()) png_error(png, "the file ends too early");
  std::memcpy(to, call->left.data(), size);
  call->left.remove_prefix(size);
}
void WriteBytes(png_structp png, png_bytep bytes, size_t size) {
  if (!static_cast<PngCall*>(png_get_io_ptr(png))->sink->Append(bytes, size)) png_error(png, "out of memory");
}
void Flush(png_structp) {}

/// What a picture is made from its file.
struct PngHeader {
  png_uint_32 width = 0, height = 0;
  int bits = 0, colour = 0, passes = 1;
  bool transparent = false;  // by a colour or the palette

  bool palette() const { return colour == PNG_COLOR_TYPE_PALETTE; }
  bool grey() const { return (colour & PNG_COLOR_MASK_COLOR) == 0; }
  bool alpha() const { return (colour & PNG_COLOR_MASK_ALPHA) != 0; }
};

class PngReader {
 public:
  PngReader(std::string_view bytes, int64_t channels, DType dtype) : channels_(channels), wide_(dtype == DType::kUInt16) {
    call_.left = bytes;
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Result<Tensor> Read(const ProduceContext& ctx);

 private:
  void Open();
  void IgnoreTexts();
  void ReadHeader();
  void Transform();
  void TransformAlpha();
  void ReadRows(std::byte* to, size_t line, kernels::StopCheck& stop);
  /// What is 8 bits wide, in half of the memory, becomes 16: v is v * 257.
  Status Widen(Tensor& picture, const ProduceContext& ctx) const;
  Status Failure() const { return FailureOf("needs a PNG file that can be decoded", call_); }

  PngCall call_;
  std::optional<UnpackedPng> unpacked_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  PngHeader header_;
  int64_t channels_;
  const bool wide_;
};

void PngReader::Open() {
  png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &call_, OnError, OnWarning, &call_, Allocate, Free);
  if (png_ == nullptr) return;
  info_ = png_create_info_struct(png_);
  if (info_ == nullptr) png_error(png_, "out of memory");
  png_set_read_fn(png_, &call_, ReadBytes);
  if (unpacked_) {
    png_set_crc_action(png_, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    png_set_option(png_, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
  }
  IgnoreTexts();
}

/// Texts may be packed to a thousandth of the memory they take; nothing here asks for them.
void PngReader::IgnoreTexts() {
  static constexpr png_byte kIgnored[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0eXIf\0pCAL\0sCAL\0tIME\0pHYs\0oFFs";
  png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kIgnored, static_cast<int>(sizeof kIgnored / 5));
}

void PngReader::ReadHeader() {
  png_read_info(png_, info_);
  png_get_IHDR(png_, info_, &header_.width, &header_.height, &header_.bits, &header_.colour, nullptr, nullptr, nullptr);
  header_.transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  if (channels_ != 0) return;
  if (header_.palette()) channels_ = header_.transparent ? 4 : 3;
  else channels_ = png_get_channels(png_, info_);
}

/// An opaque pixel has the largest number of the output, also where the file's samples are narrower.
void PngReader::TransformAlpha() {
  const bool wanted = channels_ % 2 == 0;
  if (!wanted && (header_.alpha() || header_.transparent)) png_set_strip_alpha(png_);
  if (!wanted || header_.alpha()) return;
  if (header_.transparent) png_set_tRNS_to_alpha(png_);
  else png_set_add_alpha(png_, header_.bits > 8 ? 65535 : 255, PNG_FILLER_AFTER);
}

void PngReader::Transform() {
  TransformAlpha();
  if (header_.bits > 8 && !wide_) png_set_strip_16(png_);
  png_set_packing(png_);
  header_.passes = png_set_interlace_handling(png_);
  if (wide_ && std::endian::native == std::endian::little) png_set_swap(png_);
  if (header_.palette()) png_set_palette_to_rgb(png_);
  if (header_.grey() && header_.bits < 8) png_set_expand_gray_1_2_4_to_8(png_);
  if (channels_ < 3 && !header_.grey()) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (channels_ >= 3 && header_.grey()) png_set_gray_to_rgb(png_);
  png_read_update_info(png_, info_);
}

void PngReader::ReadRows(std::byte* to, size_t line, kernels::StopCheck& stop) {
  const size_t bytes = wide_ && header_.bits <= 8 ? line / 2 : line;
  if (png_get_rowbytes(png_, info_) != bytes) png_error(png_, "its rows are not what its header says");
  for (int pass = 0; pass < header_.passes; ++pass) {
    for (png_uint_32 row = 0; row < header_.height; ++row) {
      if (stop(static_cast<int64_t>(line) + 64)) return;
      png_read_row(png_, reinterpret_cast<png_bytep>(to + row * line), nullptr);
    }
  }
  png_read_end(png_, nullptr);
}

Status PngReader::Widen(Tensor& picture, const ProduceContext& ctx) const {
  const auto height = static_cast<int64_t>(header_.height), line = static_cast<int64_t>(header_.width) * channels_;
  kernels::ForEach(ctx.workers(), height, std::max<int64_t>(1, 65536 / line), [&](int64_t row) {
    uint16_t* const to = picture.values<uint16_t>().data() + row * line;
    const auto* from = reinterpret_cast<const uint8_t*>(to);
    for (int64_t i = line - 1; i >= 0; --i) to[i] = static_cast<uint16_t>(from[i] * 257);
  });
  return ctx.cancelled() ? kernels::RunStopped() : Status();
}

Result<Tensor> PngReader::Read(const ProduceContext& ctx) {
  unpacked_ = UnpackPng(call_.left, ctx);
  if (unpacked_) call_.left = unpacked_->file;
  const auto open = [this] {
    Open();
    if (png_ == nullptr) return;
    ReadHeader();
    Transform();
  };
  if (!Guarded(call_.jump, open)) return Failure();
  if (png_ == nullptr) return ResourceExhausted("needs memory for libpng");
  const int64_t sizes[] = {header_.height, header_.width, channels_};
  if (sizes[0] * sizes[1] >= kTooManyPixels) {
    return InvalidArgument("needs a PNG file of fewer than ", kTooManyPixels, " pixels, found ", sizes[0], " by ", sizes[1]);
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(sizes));
  WEFT_ASSIGN_OR_RETURN(Tensor picture, ctx.Allocate(wide_ ? DType::kUInt16 : DType::kUInt8, std::move(shape)));
  kernels::StopCheck stop(ctx.workers());
  auto* to = static_cast<std::byte*>(picture.data());
  const size_t line = static_cast<size_t>(header_.width) * static_cast<size_t>(channels_) * (wide_ ? 2 : 1);
  if (!Guarded(call_.jump, [&] { ReadRows(to, line, stop); })) return Failure();
  if (stop(0)) return kernels::RunStopped();
  if (wide_ && header_.bits <= 8) WEFT_RETURN_IF_ERROR(Widen(picture, ctx));
  return picture;
}

class PngWriter {
 public:
  PngWriter() = default;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  Result<String> Write(const Samples& picture, int bits, int compression, const ProduceContext& ctx);

 private:
  void WriteAll(const Samples& picture, int bits, int compression, kernels::StopCheck& stop);

  PngCall call_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void PngWriter::WriteAll(const Samples& picture, int bits, int compression, kernels::StopCheck& stop) {
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_ = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &call_, OnError, OnWarning, &call_, Allocate, Free);
  if (png_ == nullptr) return;
  info_ = png_create_info_struct(png_);
  if (info_ == nullptr) png_error(png_, "out of memory");
  png_set_write_fn(png_, &call_, WriteBytes, Flush);
  png_set_compression_level(png_, compression < 0 ? Z_DEFAULT_COMPRESSION : compression);
  png_set_compression_mem_level(png_, MAX_MEM_LEVEL);
  png_set_IHDR(png_, info_, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height), bits,
               kColours[picture.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png_, info_);
  if (bits > 8 && std::endian::native == std::endian::little) png_set_swap(png_);
  const int64_t line = picture.width * picture.channels * bits / 8;
  for (int64_t row = 0; row < picture.height; ++row) {
    if (stop(8 * line)) return;
    png_write_row(png_, static_cast<png_const_bytep>(picture.data) + row * line);
  }
  png_write_end(png_, nullptr);
}

Result<String> PngWriter::Write(const Samples& picture, int bits, int compression, const ProduceContext& ctx) {
  ByteSink sink(ctx.services().budget);
  call_.sink = &sink;
  kernels::StopCheck stop(ctx.workers());
  const bool written = Guarded(call_.jump, [&] { WriteAll(picture, bits, compression, stop); });
  if (stop(0)) return kernels::RunStopped();
  if (png_ == nullptr) return ResourceExhausted("needs memory for libpng");
  if (!written && !sink.full()) return FailureOf("needs a picture that PNG can hold", call_);
  return sink.Take();
}

}  // namespace

Result<Tensor> ReadPng(std::string_view bytes, int64_t channels, DType dtype, const ProduceContext& ctx) {
  return PngReader(bytes, channels, dtype).Read(ctx);
}

Result<String> WritePng(const Samples& picture, int bits, int compression, const ProduceContext& ctx) {
  return PngWriter().Write(picture, bits, compression, ctx);
}

}  // namespace weft::blocks
