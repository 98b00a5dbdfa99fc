// JPEG read by libjpeg.
#include <algorithm>
#include <cstring>
#include <vector>

#include "blocks/image/codec/jpeg.h"

namespace weft::blocks {
namespace {

constexpr char kNeeded[] = "needs a JPEG file that can be decoded";

/// All bytes at once. Where they end before the picture does, reading stops there; or, to save what there is of it, goes on. As in
/// TensorFlow it goes on with what is left from the start of the block that the end cuts, and, where nothing is left, as if the end was
/// marked.
struct JpegSource {
  jpeg_source_mgr base;  // first, for libjpeg knows this address
  bool recover;

  static void Init(j_decompress_ptr) {}
  static void Term(j_decompress_ptr) {}
  static boolean Fill(j_decompress_ptr info) {
    static constexpr JOCTET kEnd[] = {0xff, JPEG_EOI};
    auto* source = reinterpret_cast<JpegSource*>(info->src);
    if (!source->recover) return FALSE;
    const JOCTET *left = source->base.next_input_byte, *end = left + source->base.bytes_in_buffer;
    if (std::any_of(left, end, [](JOCTET byte) { return byte != 0xff; })) return TRUE;  // libjpeg would read 0xff for ever
    source->base.next_input_byte = kEnd;
    source->base.bytes_in_buffer = sizeof kEnd;
    return TRUE;
  }
  static void Skip(j_decompress_ptr info, long count) {
    jpeg_source_mgr& base = *info->src;
    if (count <= 0) return;
    const size_t skipped = std::min(static_cast<size_t>(count), base.bytes_in_buffer);
    base.next_input_byte += skipped;
    base.bytes_in_buffer -= skipped;
    if (skipped < static_cast<size_t>(count)) Fill(info);
  }
};

class JpegReader {
 public:
  JpegReader(std::string_view bytes, const JpegReading& how, const ProduceContext& ctx);
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Result<Tensor> Read();

 private:
  void ReadHeader();
  void ReadRows(uint8_t* to, uint8_t* inks);
  void CopyInks(const uint8_t* inks, uint8_t* to) const;
  /// Rows that were not read: as the last one where the picture is to be recovered, else black.
  void FillRest(uint8_t* to) const;
  Status CheckRows() const;
  /// Runs a part of the work that libjpeg may leave; `whole` is false where the file ended before the part did.
  Status Run(const auto& part);

  const JpegReading& how_;
  const ProduceContext& ctx_;
  JpegCall call_;
  JpegSource source_{};
  jpeg_decompress_struct info_{};
  int64_t channels_ = 0, rows_read_ = 0;
  bool whole_ = true;
};

JpegReader::JpegReader(std::string_view bytes, const JpegReading& how, const ProduceContext& ctx)
    : how_(how), ctx_(ctx), call_(ctx.workers()), channels_(how.channels) {
  source_.base.init_source = JpegSource::Init;
  source_.base.fill_input_buffer = JpegSource::Fill;
  source_.base.skip_input_data = JpegSource::Skip;
  source_.base.resync_to_restart = jpeg_resync_to_restart;
  source_.base.term_source = JpegSource::Term;
  source_.base.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  source_.base.bytes_in_buffer = bytes.size();
  source_.recover = how.recover_truncated;
  info_.err = call_.errors();
}

Status JpegReader::Run(const auto& part) {
  if (!Guarded(call_.jump(), part)) return call_.Failure(kNeeded);
  if (!whole_) return InvalidArgument(kNeeded, ": it ends too early");
  return {};
}

void JpegReader::ReadHeader() {
  jpeg_create_decompress(&info_);
  info_.src = &source_.base;
  info_.progress = call_.progress();
  whole_ = jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
  if (!whole_) return;
  if (channels_ == 0) channels_ = std::min(info_.num_components, 3);
  const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  if (channels_ == 1) info_.out_color_space = JCS_GRAYSCALE;
  else if (channels_ == 3) info_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  else ERREXIT(&info_, JERR_CONVERSION_NOTIMPL);
  info_.do_fancy_upsampling = how_.fancy_upscaling;
  info_.scale_num = 1;
  info_.scale_denom = static_cast<unsigned>(how_.ratio);
  info_.dct_method = how_.accurate ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_calc_output_dimensions(&info_);
}

/// Files made by Adobe's programs have inks the wrong way round.
void JpegReader::CopyInks(const uint8_t* inks, uint8_t* to) const {
  const int flip = info_.saw_Adobe_marker ? 0 : 255;
  for (JDIMENSION x = 0; x < info_.output_width; ++x, inks += 4, to += 3) {
    const int black = inks[3] ^ flip;
    for (int c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>(black * (inks[c] ^ flip) / 255);
  }
}

void JpegReader::ReadRows(uint8_t* to, uint8_t* inks) {
  const int64_t line = static_cast<int64_t>(info_.output_width) * channels_;
  for (; info_.output_scanline < info_.output_height; to += line) {
    JSAMPROW row = inks != nullptr ? inks : to;
    if (jpeg_read_scanlines(&info_, &row, 1) == 0) return;
    if (inks != nullptr) CopyInks(inks, to);
    rows_read_ = info_.output_scanline;
  }
  jpeg_finish_decompress(&info_);
}

void JpegReader::FillRest(uint8_t* to) const {
  const int64_t line = static_cast<int64_t>(info_.output_width) * channels_;
  for (int64_t row = rows_read_; row < info_.output_height; ++row) {
    if (how_.recover_truncated && row > 0) std::memcpy(to + row * line, to + (row - 1) * line, static_cast<size_t>(line));
    else std::memset(to + row * line, 0, static_cast<size_t>(line));
  }
}

Status JpegReader::CheckRows() const {
  const float needed = how_.acceptable_fraction < 1 ? how_.acceptable_fraction : 1.0f;
  const float read = how_.recover_truncated ? 1.0f : static_cast<float>(rows_read_) / static_cast<float>(info_.output_height);
  if (read >= needed) return {};
  return InvalidArgument(kNeeded, ": of ", info_.output_height, " rows only ", rows_read_, " are there (acceptable_fraction takes less)");
}

Result<Tensor> JpegReader::Read() {
  WEFT_RETURN_IF_ERROR(Run([this] { ReadHeader(); }));
  const int64_t sizes[] = {info_.output_height, info_.output_width, channels_};
  if (sizes[0] * sizes[1] * info_.num_components >= kTooManyPixels) {
    return InvalidArgument("needs a JPEG file of fewer than ", kTooManyPixels, " samples, found ", sizes[0], " by ", sizes[1], " by ",
                           info_.num_components);
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(sizes));
  WEFT_ASSIGN_OR_RETURN(Tensor picture, ctx_.Allocate(DType::kUInt8, std::move(shape)));
  // Beside this libjpeg holds some rows, or all coefficients.
  MemoryCharge charge(ctx_.services().budget);
  WEFT_RETURN_IF_ERROR(charge.Hold(jpeg_has_multiple_scans(&info_) ? CoefficientBytes(info_.comp_info, info_.num_components)
                                                                  : static_cast<int64_t>(info_.image_width) * 128));
  WEFT_RETURN_IF_ERROR(Run([this] { whole_ = jpeg_start_decompress(&info_); }));
  uint8_t* const to = picture.values<uint8_t>().data();
  std::vector<uint8_t> inks(info_.out_color_space == JCS_CMYK ? size_t{4} * info_.output_width : 0);
  WEFT_RETURN_IF_ERROR(Run([&] { ReadRows(to, inks.empty() ? nullptr : inks.data()); }));
  WEFT_RETURN_IF_ERROR(CheckRows());
  FillRest(to);
  return picture;
}

}  // namespace

Result<Tensor> ReadJpeg(std::string_view bytes, const JpegReading& how, const ProduceContext& ctx) {
  return JpegReader(bytes, how, ctx).Read();
}

}  // namespace weft::blocks
