// What reading and writing share of libjpeg.
#pragma once

#include <jpeglib.h>
#include <jerror.h>

#include "blocks/image/codec/codec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {

/// libjpeg's errors jump to where Guarded was called, and their text is kept. Its warnings are dropped. Ends a call whose run is to end,
/// and files of more scans than any encoder makes, which could take hours.
class JpegCall {
 public:
  explicit JpegCall(const Workers& workers);
  JpegCall(const JpegCall&) = delete;
  JpegCall& operator=(const JpegCall&) = delete;

  jpeg_error_mgr* errors() { return &errors_.base; }
  jpeg_progress_mgr* progress() { return &progress_.base; }
  std::jmp_buf& jump() { return errors_.jump; }
  /// Why the library gave up: `needed`, and its words.
  Status Failure(std::string_view needed) const;

 private:
  struct Errors {
    jpeg_error_mgr base;  // first, for libjpeg knows this address
    std::jmp_buf jump;
    char text[JMSG_LENGTH_MAX];
    bool stopped, too_many_scans;
  };
  struct Progress {
    jpeg_progress_mgr base;
    const Workers* workers;
  };

  [[noreturn]] static void OnError(j_common_ptr info);
  static void OnProgress(j_common_ptr info);

  Errors errors_{};
  Progress progress_{};
};

/// Bytes that libjpeg takes to hold the whole picture: the coefficients of all components.
inline int64_t CoefficientBytes(const jpeg_component_info* components, int count) {
  int64_t blocks = 0;
  for (int i = 0; i < count; ++i) {
    blocks += (static_cast<int64_t>(components[i].width_in_blocks) + 4) * (static_cast<int64_t>(components[i].height_in_blocks) + 4);
  }
  return blocks * static_cast<int64_t>(sizeof(JBLOCK));
}

}  // namespace weft::blocks
