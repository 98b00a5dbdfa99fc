// Files of pictures: after the byte of the mode, the file.
#include "tests/fuzz/mending.h"
#include "tests/fuzz/run_block.h"
#include "tests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

struct Way {
  const char* block;
  const char* attrs;
};
constexpr Way kWays[] = {
    {"DecodeJpeg", ""},
    {"DecodeJpeg", "channels_ = 1;"},
    {"DecodeJpeg", "channels_ = 3;ratio_ = 2;dct_method_ = INTEGER_ACCURATE;"},
    {"DecodeJpeg", "try_recover_truncated_ = true;"},
    {"DecodeJpeg", "acceptable_fraction_ = 0.3f;fancy_upscaling_ = false;"},
    {"DecodeJpeg", "ratio_ = 8;try_recover_truncated_ = true;"},
    {"DecodePng", ""},
    {"DecodePng", "dtype_ = DT_UINT16;"},
    {"DecodePng", "channels_ = 1;"},
    {"DecodePng", "channels_ = 3;dtype_ = DT_UINT16;"},
    {"DecodePng", "channels_ = 4;"},
    {"DecodeGif", ""},
    {"DecodeBmp", ""},
    {"DecodeBmp", "channels_ = 3;"},
    {"DecodeBmp", "channels_ = 4;"},
};

}  // namespace

void Pictures(std::string_view bytes) {
  const Mode mode(bytes, std::size(kWays));
  std::string file(mode.rest);
  if (mode.mend && file.starts_with("\x89PNG")) MendPng(file);
  BlockCase(kWays[mode.way].block, kWays[mode.way].attrs).Text("contents", file).Try(mode.alone);
  CheckMemoryReturned();
}

}  // namespace weft::fuzz
