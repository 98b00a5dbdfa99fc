#include "runtime/state/revision_history.h"

#include <utility>

namespace weft {

std::shared_ptr<Revision> RevisionHistory::present() const {
  std::lock_guard lock(mutex_);
  return present_;
}

std::shared_ptr<Page> RevisionHistory::Editing::TakePage() {
  std::shared_ptr<Page> page = std::exchange(history_.page_before_, nullptr);
  // The copy's end acquires what the last owner did before it let go.
  { const std::shared_ptr<const Page> copy = page; }
  if (page != nullptr && page.use_count() == 1 && ApplyEdits(*page, history_.last_edits_).ok()) return page;
  return std::make_shared<Page>(history_.present()->graph->page());
}

void RevisionHistory::Editing::Commit(std::shared_ptr<Revision> next, std::shared_ptr<Page> page, std::vector<Edit> edits) {
  history_.page_before_ = std::exchange(history_.page_, std::move(page));
  history_.last_edits_ = std::move(edits);
  {
    std::lock_guard lock(history_.mutex_);
    history_.present_ = std::move(next);
  }
  history_.edits_.fetch_add(1, std::memory_order_release);
}

}  // namespace weft
