// RevisionHistory: which revision of a page is the present one, and the way to the next.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "weft/page/edit.h"
#include "weft/state/revision.h"

namespace weft {

/// Thread-safe.
class RevisionHistory {
 public:
  std::shared_ptr<Revision> present() const;
  void Begin(std::shared_ptr<Revision> first) { present_ = std::move(first); }
  /// Counts the edits of the page. Without a lock.
  uint64_t edits() const { return edits_.load(std::memory_order_acquire); }

  /// While it lives no other thread edits the page.
  class Editing {
   public:
    explicit Editing(RevisionHistory& history) : history_(history), lock_(history.editing_mutex_) {}
    /// A page that is as the present one, and nobody else's.
    std::shared_ptr<Page> TakePage();
    /// Makes `next` the present revision. `page` is its page, and `edits` what made it.
    void Commit(std::shared_ptr<Revision> next, std::shared_ptr<Page> page, std::vector<Edit> edits);

   private:
    RevisionHistory& history_;
    std::lock_guard<std::mutex> lock_;
  };

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Revision> present_;
  std::atomic<uint64_t> edits_{0};
  std::mutex editing_mutex_;
  // The page before the last edits, and those: where nobody has it any more, it is brought up to date for the next ones, and none is copied.
  std::shared_ptr<Page> page_, page_before_;
  std::vector<Edit> last_edits_;
};

}  // namespace weft
