// JPEG written by libjpeg.
#include <string>

#include "blocks/image/codec/jpeg.h"

namespace weft::blocks {
namespace {

constexpr char kNeeded[] = "needs a picture that JPEG can hold";

struct JpegTarget {
  jpeg_destination_mgr base;  // first, for libjpeg knows this address
  ByteSink* sink;
  JOCTET buffer[16384];

  static void Init(j_compress_ptr info) {
    auto* target = reinterpret_cast<JpegTarget*>(info->dest);
    target->base.next_output_byte = target->buffer;
    target->base.free_in_buffer = sizeof target->buffer;
  }
  static void Write(j_compress_ptr info, size_t size) {
    auto* target = reinterpret_cast<JpegTarget*>(info->dest);
    if (!target->sink->Append(target->buffer, size)) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  }
  static boolean Empty(j_compress_ptr info) {
    Write(info, sizeof reinterpret_cast<JpegTarget*>(info->dest)->buffer);
    Init(info);
    return TRUE;
  }
  static void Term(j_compress_ptr info) {
    Write(info, sizeof reinterpret_cast<JpegTarget*>(info->dest)->buffer - info->dest->free_in_buffer);
  }
};

/// The marker that Adobe's metadata stands in.
std::string Packet(const std::string& metadata) {
  std::string packet = "http://ns.adobe.com/xap/1.0/";
  packet.push_back('\0');
  return packet + metadata;
}

class JpegWriter {
 public:
  JpegWriter(const Samples& picture, const JpegWriting& how, const ProduceContext& ctx)
      : picture_(picture), how_(how), ctx_(ctx), call_(ctx.workers()), sink_(ctx.services().budget) {
    info_.err = call_.errors();
    target_.base.init_destination = JpegTarget::Init;
    target_.base.empty_output_buffer = JpegTarget::Empty;
    target_.base.term_destination = JpegTarget::Term;
    target_.sink = &sink_;
  }
  ~JpegWriter() { jpeg_destroy_compress(&info_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  Result<String> Write();

 private:
  void Begin();
  void WriteAll(const std::string& packet);

  const Samples& picture_;
  const JpegWriting& how_;
  const ProduceContext& ctx_;
  JpegCall call_;
  ByteSink sink_;
  JpegTarget target_{};
  jpeg_compress_struct info_{};
};

void JpegWriter::Begin() {
  jpeg_create_compress(&info_);
  info_.dest = &target_.base;
  info_.progress = call_.progress();
  info_.image_width = static_cast<JDIMENSION>(picture_.width);
  info_.image_height = static_cast<JDIMENSION>(picture_.height);
  info_.input_components = static_cast<int>(picture_.channels);
  info_.in_color_space = picture_.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info_);
  info_.optimize_coding = how_.optimize_size;
  info_.density_unit = how_.density_unit;
  info_.X_density = how_.x_density;
  info_.Y_density = how_.y_density;
  jpeg_set_quality(&info_, how_.quality, TRUE);
  if (how_.progressive) jpeg_simple_progression(&info_);
  for (int i = 0; !how_.chroma_downsampling && i < info_.num_components; ++i) {
    info_.comp_info[i].h_samp_factor = info_.comp_info[i].v_samp_factor = 1;
  }
}

void JpegWriter::WriteAll(const std::string& packet) {
  jpeg_start_compress(&info_, TRUE);
  if (!how_.xmp_metadata.empty()) {
    jpeg_write_marker(&info_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(packet.data()), static_cast<unsigned>(packet.size()));
  }
  const auto* rows = static_cast<const uint8_t*>(picture_.data);
  while (info_.next_scanline < info_.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(rows + info_.next_scanline * picture_.width * picture_.channels);
    jpeg_write_scanlines(&info_, &row, 1);
  }
  jpeg_finish_compress(&info_);
}

Result<String> JpegWriter::Write() {
  if (!Guarded(call_.jump(), [this] { Begin(); })) return call_.Failure(kNeeded);
  // Where the tables or the order of the coefficients follow from the picture, libjpeg holds all of them.
  MemoryCharge charge(ctx_.services().budget);
  const int64_t samples = picture_.height * picture_.width * picture_.channels, rows = picture_.width * 128;
  WEFT_RETURN_IF_ERROR(charge.Hold(how_.progressive || how_.optimize_size ? rows + samples * static_cast<int64_t>(sizeof(JCOEF)) : rows));
  const std::string packet = Packet(how_.xmp_metadata);
  const bool written = Guarded(call_.jump(), [&] { WriteAll(packet); });
  if (!written && !sink_.full()) return call_.Failure(kNeeded);
  return sink_.Take();
}

}  // namespace

Result<String> WriteJpeg(const Samples& picture, const JpegWriting& how, const ProduceContext& ctx) {
  return JpegWriter(picture, how, ctx).Write();
}

}  // namespace weft::blocks
