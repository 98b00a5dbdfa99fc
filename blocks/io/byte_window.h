// What was read of a stream and is still needed: in pieces, between which a run may end, and counted in its memory budget.
#pragma once

#include <deque>
#include <string>

#include "blocks/io/byte_stream.h"
#include "weft/base/string.h"
#include "weft/block/services.h"

namespace weft::blocks {

/// Whether the run is to end; never where there are no workers.
inline bool IsStopped(const Services& services) { return IsStopped(services.workers); }

/// What was read of a stream, in one run. Takes workers and the budget of services, either may be null; its own bytes count in the budget that
/// they are first read with. Used by one thread at a time.
class ByteWindow {
 public:
  static constexpr int64_t kPieceBytes = int64_t{1} << 22;  // read, dropped or copied between two looks at whether the run is to end

  int64_t size() const { return size_; }
  /// Reads on until it has `count` bytes; false where the stream ends before. What was read stays where that fails: cancelled where the run is
  /// to end, resource_exhausted where the budget refuses, data_loss.
  Result<bool> Fill(ByteStream& stream, int64_t count, const Services& services);
  /// Drops its first bytes, no more than it has.
  void Drop(int64_t count);
  /// Its first bytes, no more than it has, as a string that counts in the budget of the services. Errors as of Fill.
  Result<String> Front(int64_t count, const Services& services) const { return Part(0, count, services); }
  /// The same of bytes further on.
  Result<String> Part(int64_t offset, int64_t count, const Services& services) const;

 private:
  /// Makes room for `count` bytes at the end of the last piece, which has them free.
  Status Grow(int64_t count);

  std::deque<std::string> pieces_;  // each but the last has kPieceBytes
  int64_t begin_ = 0;               // in the first piece
  int64_t size_ = 0;
  MemoryCharge charge_;
};

}  // namespace weft::blocks
