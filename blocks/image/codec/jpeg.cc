#include "blocks/image/codec/jpeg.h"

namespace weft::blocks {
namespace {

constexpr int kMostScans = 100;  // of one file

}  // namespace

JpegCall::JpegCall(const Workers& workers) {
  jpeg_std_error(&errors_.base);
  errors_.base.error_exit = OnError;
  errors_.base.output_message = [](j_common_ptr) {};
  errors_.base.emit_message = [](j_common_ptr, int) {};
  progress_.base.progress_monitor = OnProgress;
  progress_.workers = &workers;
}

void JpegCall::OnError(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  errors->base.format_message(info, errors->text);
  std::longjmp(errors->jump, 1);
}

void JpegCall::OnProgress(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  errors->stopped = reinterpret_cast<Progress*>(info->progress)->workers->Stopped();
  errors->too_many_scans = info->is_decompressor && reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans;
  if (errors->stopped || errors->too_many_scans) std::longjmp(errors->jump, 1);
}

Status JpegCall::Failure(std::string_view needed) const {
  if (errors_.stopped) return kernels::RunStopped();
  if (errors_.too_many_scans) return InvalidArgument(needed, ": it has more than ", kMostScans, " scans");
  if (errors_.base.msg_code == JERR_OUT_OF_MEMORY) return ResourceExhausted("needs memory for libjpeg: ", errors_.text);
  return InvalidArgument(needed, ": ", errors_.text);
}

}  // namespace weft::blocks
