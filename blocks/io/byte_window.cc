#include "blocks/io/byte_window.h"

#include <algorithm>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 16;  // that are counted at once

}  // namespace

Status ByteWindow::Grow(int64_t count) {
  std::string& last = pieces_.back();
  const int64_t needed = static_cast<int64_t>(last.size()) + count;
  if (needed <= static_cast<int64_t>(last.capacity())) return {};
  const int64_t room = std::clamp(2 * needed, std::max(needed, kLeastBytes), std::max(needed, kPieceBytes));
  WEFT_RETURN_IF_ERROR(charge_.Hold((static_cast<int64_t>(pieces_.size()) - 1) * kPieceBytes + room));
  last.reserve(static_cast<size_t>(room));
  return {};
}

Result<bool> ByteWindow::Fill(ByteStream& stream, int64_t count, const Services& services) {
  for (bool first = true; size_ < count; first = false) {
    if (!first && IsStopped(services)) return kernels::RunStopped();
    if (pieces_.empty()) charge_ = MemoryCharge(services.budget);
    if (pieces_.empty() || static_cast<int64_t>(pieces_.back().size()) == kPieceBytes) pieces_.emplace_back();
    std::string& last = pieces_.back();
    const auto before = static_cast<int64_t>(last.size()), part = std::min(count - size_, kPieceBytes - before);
    WEFT_RETURN_IF_ERROR(Grow(part));
    const Result<bool> found = stream.Read(part, last, services.workers);
    size_ += static_cast<int64_t>(last.size()) - before;
    if (!found.ok() || !*found) return found;
  }
  return true;
}

void ByteWindow::Drop(int64_t count) {
  size_ -= count;
  begin_ += count;
  while (!pieces_.empty() && begin_ >= static_cast<int64_t>(pieces_.front().size())) {
    begin_ -= static_cast<int64_t>(pieces_.front().size());
    if (pieces_.size() == 1) {  // its memory serves again
      pieces_.front().clear();
      break;
    }
    pieces_.pop_front();
    charge_.Resize(std::min(charge_.bytes(), static_cast<int64_t>(pieces_.size()) * kPieceBytes));
  }
}

Result<String> ByteWindow::Part(int64_t offset, int64_t count, const Services& services) const {
  WEFT_ASSIGN_OR_RETURN(String bytes, String::Uninitialized(static_cast<size_t>(count), services.budget));
  char* to = bytes.mutable_data();
  const int64_t begin = begin_ + offset;  // each piece but the last has as many bytes
  int64_t at = begin % kPieceBytes;
  const auto first = pieces_.begin() + begin / kPieceBytes;
  for (auto piece = first; count > 0; ++piece, at = 0) {
    if (piece != first && IsStopped(services)) return kernels::RunStopped();
    const int64_t part = std::min(count, static_cast<int64_t>(piece->size()) - at);
    to = std::copy_n(piece->data() + at, part, to);
    count -= part;
  }
  return bytes;
}

}  // namespace weft::blocks
