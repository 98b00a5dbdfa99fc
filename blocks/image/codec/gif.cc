// GIF by giflib, frame by frame: what a file says of its frames is checked before memory is taken for them.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "blocks/image/codec/codec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

int ReadBytes(GifFileType* file, GifByteType* to, int size) {
  auto* left = static_cast<std::string_view*>(file->UserData);
  const size_t count = std::min(static_cast<size_t>(size), left->size());
  std::memcpy(to, left->data(), count);
  left->remove_prefix(count);
  return static_cast<int>(count);
}

/// The canvas that frames are drawn on.
struct GifCanvas {
  int64_t frames = 0, height = 0, width = 0;

  int64_t line() const { return 3 * width; }
  int64_t frame() const { return height * line(); }
};

/// One walk over a file's records, from the first one.
class GifFile {
 public:
  explicit GifFile(std::string_view bytes) : bytes_(bytes), left_(bytes), file_(DGifOpen(&left_, ReadBytes, &error_)) {}
  ~GifFile() {
    if (file_ != nullptr) DGifCloseFile(file_, nullptr);
  }
  GifFile(const GifFile&) = delete;
  GifFile& operator=(const GifFile&) = delete;

  bool is_open() const { return file_ != nullptr; }
  /// Goes to the next frame, whose description is then known: false at the end or a fault.
  bool NextFrame();
  /// Leaves its pixels out.
  bool SkipFrame();
  /// Draws it; false at a fault.
  bool DrawFrame(const GifCanvas& canvas, uint8_t* to, kernels::StopCheck& stop);

  const GifImageDesc& frame() const { return file_->Image; }
  bool LacksMemory() const;
  Status Failure() const;

 private:
  std::string Fault() const;
  bool ReadExtension();
  const ColorMapObject* colours() const { return frame().ColorMap != nullptr ? frame().ColorMap : file_->SColorMap; }
  bool DrawLine(const GifCanvas& canvas, int64_t y, uint8_t* to);

  const std::string_view bytes_;
  std::string_view left_;
  int error_ = D_GIF_SUCCEEDED;
  GifFileType* file_;
  const char* fault_ = nullptr;          // that giflib does not find
  std::optional<int> transparent_;       // the colour that the next frame leaves out
  std::vector<GifPixelType> indices_;    // of a line
};

std::string GifFile::Fault() const {
  if (fault_ != nullptr) return fault_;
  const int error = file_ != nullptr ? file_->Error : error_;
  const char* text = error == D_GIF_SUCCEEDED ? nullptr : GifErrorString(error);
  return text != nullptr ? text : "it has no frame";
}

/// giflib says of a palette of all frames for which there is no memory what it says of one that the file does not have.
bool GifFile::LacksMemory() const {
  constexpr size_t kHeader = 13, kFlags = 10;
  const int error = file_ != nullptr ? file_->Error : error_;
  if (error != D_GIF_ERR_NO_SCRN_DSCR || bytes_.size() < kHeader) return error == D_GIF_ERR_NOT_ENOUGH_MEM;
  const auto flags = static_cast<unsigned char>(bytes_[kFlags]);
  const size_t palette = (flags & 0x80) != 0 ? size_t{3} << ((flags & 7) + 1) : 0;
  return bytes_.size() >= kHeader + palette;
}

Status GifFile::Failure() const {
  if (LacksMemory()) return ResourceExhausted("needs memory for giflib, found none");
  return InvalidArgument("needs a GIF file that can be decoded: ", Fault());
}

/// The first extension that says which colour is transparent counts.
bool GifFile::ReadExtension() {
  int code = 0;
  GifByteType* data = nullptr;
  if (DGifGetExtension(file_, &code, &data) != GIF_OK) return false;
  while (data != nullptr) {
    GraphicsControlBlock control;
    if (code == GRAPHICS_EXT_FUNC_CODE && !transparent_ && DGifExtensionToGCB(data[0], data + 1, &control) == GIF_OK) {
      transparent_ = control.TransparentColor;
    }
    if (DGifGetExtensionNext(file_, &data) != GIF_OK) return false;
    code = CONTINUE_EXT_FUNC_CODE;
  }
  return true;
}

bool GifFile::NextFrame() {
  transparent_.reset();
  GifRecordType record = UNDEFINED_RECORD_TYPE;
  while (DGifGetRecordType(file_, &record) == GIF_OK) {
    if (record == TERMINATE_RECORD_TYPE) return false;
    if (record == EXTENSION_RECORD_TYPE && !ReadExtension()) return false;
    if (record != IMAGE_DESC_RECORD_TYPE) continue;
    if (DGifGetImageDesc(file_) != GIF_OK) return false;
    if (frame().Width > 0 && frame().Height > 0) return true;
    fault_ = "a frame has no pixels";
    return false;
  }
  return false;
}

bool GifFile::SkipFrame() {
  int size = 0;
  int64_t bytes = 0;
  GifByteType* codes = nullptr;
  if (DGifGetCode(file_, &size, &codes) != GIF_OK) return false;
  while (codes != nullptr) {
    bytes += codes[0];
    if (DGifGetCodeNext(file_, &codes) != GIF_OK) return false;
  }
  constexpr int64_t kMostPixels = 4096;  // of a byte: a code of 12 bits stands for at most 4,095
  if (bytes * kMostPixels >= int64_t{frame().Width} * frame().Height) return true;
  fault_ = "a frame has more pixels than its data can hold";
  return false;
}

bool GifFile::DrawLine(const GifCanvas& canvas, int64_t y, uint8_t* to) {
  if (DGifGetLine(file_, indices_.data(), frame().Width) != GIF_OK) return false;
  const int64_t row = frame().Top + y, count = std::min<int64_t>(frame().Width, canvas.width - frame().Left);
  if (row >= canvas.height || count <= 0) return true;
  uint8_t* pixel = to + row * canvas.line() + 3 * frame().Left;
  for (int64_t x = 0; x < count; ++x, pixel += 3) {
    const int index = indices_[static_cast<size_t>(x)];
    if (index == transparent_.value_or(NO_TRANSPARENT_COLOR)) continue;
    if (index >= colours()->ColorCount) {
      fault_ = "a pixel has a colour that the palette lacks";
      return false;
    }
    const GifColorType& colour = colours()->Colors[index];
    pixel[0] = colour.Red;
    pixel[1] = colour.Green;
    pixel[2] = colour.Blue;
  }
  return true;
}

bool GifFile::DrawFrame(const GifCanvas& canvas, uint8_t* to, kernels::StopCheck& stop) {
  if (colours() == nullptr) {
    fault_ = "a frame has no palette";
    return false;
  }
  indices_.resize(static_cast<size_t>(frame().Width));
  // The lines of an interlaced frame come in four groups.
  constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int group = 0; group < (frame().Interlace ? 4 : 1); ++group) {
    const int first = frame().Interlace ? kFirst[group] : 0, step = frame().Interlace ? kStep[group] : 1;
    for (int y = first; y < frame().Height; y += step) {
      if (stop(4 * frame().Width) || !DrawLine(canvas, y, to)) return false;
    }
  }
  return true;
}

/// How large the canvas of the first `most` frames is, as far as their descriptions can be read.
GifCanvas Measure(GifFile& file, int64_t most, kernels::StopCheck& stop) {
  GifCanvas canvas;
  while (canvas.frames < most && !stop(1024) && file.NextFrame()) {
    const GifImageDesc frame = file.frame();
    if (!file.SkipFrame()) break;
    canvas.height = std::max<int64_t>(canvas.height, frame.Height);
    canvas.width = std::max<int64_t>(canvas.width, frame.Width);
    ++canvas.frames;
  }
  return canvas;
}

/// Draws all frames of the canvas. Gives the number of those without fault.
int64_t Draw(GifFile& file, const GifCanvas& canvas, uint8_t* to, Workers& workers, kernels::StopCheck& stop) {
  for (int64_t k = 0; k < canvas.frames; ++k, to += canvas.frame()) {
    if (stop(canvas.frame()) || !file.NextFrame()) return k;
    if (k > 0) kernels::CopyLong(workers, to - canvas.frame(), to, canvas.frame());
    else kernels::FillLong(workers, to, canvas.frame(), uint8_t{0});
    if (!file.DrawFrame(canvas, to, stop)) return k;
  }
  return canvas.frames;
}

}  // namespace

Result<Tensor> ReadGif(std::string_view bytes, const ProduceContext& ctx) {
  kernels::StopCheck stop(ctx.workers());
  for (int64_t most = INT64_MAX;;) {  // once more where a frame turns out to be damaged
    GifFile measured(bytes), drawn(bytes);
    if (!measured.is_open()) return measured.Failure();
    if (!drawn.is_open()) return ResourceExhausted("needs memory for giflib, found none");  // the same bytes were opened before
    const GifCanvas canvas = Measure(measured, most, stop);
    if (stop(0)) return kernels::RunStopped();
    // (Of a damaged file the frames before count; where memory lacks, those after would be left out.)
    if (canvas.frames == 0 || measured.LacksMemory()) return measured.Failure();
    const int64_t sizes[] = {canvas.frames, canvas.height, canvas.width, 3};
    WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(sizes));
    WEFT_ASSIGN_OR_RETURN(Tensor pictures, ctx.Allocate(DType::kUInt8, std::move(shape)));
    most = Draw(drawn, canvas, pictures.values<uint8_t>().data(), ctx.workers(), stop);
    if (stop(0)) return kernels::RunStopped();
    if (most == canvas.frames) return pictures;
    if (most == 0 || drawn.LacksMemory()) return drawn.Failure();
  }
}

}  // namespace weft::blocks
