#include "runtime/host/listener_list.h"

#include <algorithm>

namespace weft {

void RunListener::WantSteps(bool wants) {
  std::lock_guard lock(total_mutex_);
  if ((wants_steps_.exchange(wants ? 1 : 0) != 0) == wants || total_ == nullptr) return;
  if (wants) total_->fetch_add(1, std::memory_order_relaxed);
  else total_->fetch_sub(1, std::memory_order_relaxed);
}

void RunListener::CountIn(Total total) {
  std::lock_guard lock(total_mutex_);
  const uint32_t own = wants_steps_.load();
  if (total_ != nullptr) total_->fetch_sub(own, std::memory_order_relaxed);
  total_ = std::move(total);
  if (total_ != nullptr) total_->fetch_add(own, std::memory_order_relaxed);
}

bool ListenerList::Add(std::shared_ptr<RunListener> listener) {
  std::lock_guard lock(mutex_);
  auto next = entries_ == nullptr ? std::make_shared<Entries>() : std::make_shared<Entries>(*entries_);
  if (std::any_of(next->begin(), next->end(), [&](const Entry& entry) { return entry.listener == listener; })) return false;
  RunListener& added = *next->emplace_back(Entry{std::move(listener), last_number_ + 1}).listener;
  MakeSpares(next->size());
  // From here on nothing fails.
  ++last_number_;
  entries_ = std::move(next);
  any_.store(true);
  added.CountIn(steps_wanted_);
  return true;
}

// Called with the lock held. A list without one of its entries is put into memory that is there: removing cannot fail.
void ListenerList::MakeSpares(size_t entries) {
  spares_.reserve(entries);
  while (spares_.size() < entries) spares_.push_back(std::make_shared<Entries>());
  for (const std::shared_ptr<Entries>& spare : spares_) spare->reserve(entries);
}

void ListenerList::Remove(const RunListener* listener) {
  std::shared_ptr<const Entries> before;  // ends without the lock
  std::lock_guard lock(mutex_);
  if (entries_ == nullptr) return;
  const auto is = [&](const Entry& entry) { return entry.listener.get() == listener; };
  if (std::none_of(entries_->begin(), entries_->end(), is)) return;
  std::shared_ptr<Entries> next = std::move(spares_.back());  // as many as there are entries
  spares_.pop_back();
  for (const Entry& entry : *entries_) {
    if (is(entry)) entry.listener->CountIn(nullptr);
    else next->push_back(entry);
  }
  any_.store(!next->empty());
  before = std::exchange(entries_, std::move(next));
}

void ListenerList::Clear() {
  std::shared_ptr<const Entries> before;  // ends without the lock
  std::lock_guard lock(mutex_);
  before = std::move(entries_);
  entries_ = nullptr;
  spares_.clear();
  any_.store(false);
  if (before == nullptr) return;
  for (const Entry& entry : *before) entry.listener->CountIn(nullptr);
}

std::shared_ptr<const ListenerList::Entries> ListenerList::All() const {
  if (!any_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace weft
