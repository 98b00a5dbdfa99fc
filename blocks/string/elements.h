// What blocks share that work string by string: a loop that may fail at any element, and the making of strings within the page's memory.
#pragma once

#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>

#include "blocks/kernels/stop_check.h"
#include "weft/block/context.h"

namespace weft::blocks {

/// Calls body(i, stop), a Status, for each i below `count`, in tasks of `grain` elements. The failure of the lowest i is returned, on any
/// number of threads. A body that works on many bytes counts them: stop(bytes / 16). What is left undone where the run is to end nobody may
/// read.
Status ForElements(Workers& workers, int64_t count, const auto& body, int64_t grain = 1024) {
  constexpr int64_t kElement = 16;  // what an element counts at least
  std::mutex mutex;
  Status failure;
  std::atomic<int64_t> failed{std::numeric_limits<int64_t>::max()};
  workers.For(count, grain, [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(workers);
    for (int64_t i = begin; i < end && i < failed.load(std::memory_order_relaxed) && !stop(kElement); ++i) {
      Status status = body(i, stop);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (i < failed.load(std::memory_order_relaxed)) {
        failure = std::move(status);
        failed.store(i, std::memory_order_relaxed);
      }
      return;
    }
  });
  return failure;
}

/// out[i] = make(i, stop), a Result<String>, for all strings of an output.
Status ForStrings(RunContext& ctx, std::span<String> out, const auto& make) {
  return ForElements(ctx.workers(), static_cast<int64_t>(out.size()), [&](int64_t i, kernels::StopCheck& stop) -> Status {
    WEFT_ASSIGN_OR_RETURN(out[static_cast<size_t>(i)], make(i, stop));
    return {};
  });
}

/// Calls write(from, size) for the pieces of `count` bytes, until the run is to end.
void ForPieces(size_t count, kernels::StopCheck& stop, const auto& write) {
  constexpr size_t kPiece = size_t{1} << 20;
  for (size_t done = 0; done < count;) {
    const size_t size = std::min(kPiece, count - done);
    write(done, size);
    done += size;
    if (stop(static_cast<int64_t>(size / 16))) return;
  }
}
/// Copies the bytes to where there is room for them, until the run is to end.
inline void CopyBytes(std::string_view bytes, char* to, kernels::StopCheck& stop) {
  ForPieces(bytes.size(), stop, [&](size_t from, size_t size) { std::memcpy(to + from, bytes.data() + from, size); });
}

/// Writes a string of a known size from its begin to its end, and leaves early where the run is to end.
class StringWriter {
 public:
  /// resource_exhausted where the budget, which may be null, lacks `size` bytes.
  static Result<StringWriter> Make(size_t size, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
    WEFT_ASSIGN_OR_RETURN(String text, String::Uninitialized(size, budget));
    return StringWriter(std::move(text), stop);
  }
  void Put(std::string_view bytes) {
    CopyBytes(bytes, text_.mutable_data() + at_, stop_);
    at_ += bytes.size();
  }
  void Fill(char byte, size_t count) {
    ForPieces(count, stop_, [&](size_t from, size_t size) { std::memset(text_.mutable_data() + at_ + from, byte, size); });
    at_ += count;
  }
  /// Counts one step; whether the run is to end.
  bool stopped() { return stop_(); }
  String Take() { return std::move(text_); }

 private:
  StringWriter(String text, kernels::StopCheck& stop) : text_(std::move(text)), stop_(stop) {}

  String text_;
  size_t at_ = 0;
  kernels::StopCheck& stop_;
};

/// A string of these bytes within the budget, which may be null.
inline Result<String> MakeString(std::string_view bytes, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
  constexpr size_t kSmall = 4096;  // so few may be allocated before they are counted
  if (bytes.size() <= kSmall) {
    String text(bytes);
    WEFT_RETURN_IF_ERROR(text.Hold(budget));
    return text;
  }
  WEFT_ASSIGN_OR_RETURN(StringWriter writer, StringWriter::Make(bytes.size(), budget, stop));
  writer.Put(bytes);
  return writer.Take();
}

}  // namespace weft::blocks
