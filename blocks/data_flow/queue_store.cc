#include "blocks/data_flow/queue_store.h"

#include <algorithm>
#include <list>

#include "blocks/kernels/random/distributions.h"
#include "weft/base/discard.h"

namespace weft::blocks {
namespace {

class FifoStore final : public QueueStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void Add(QueueElement element) override { elements_.push_back(std::move(element)); }
  QueueElement Take() override {
    QueueElement element = std::move(elements_.front());
    empty_.splice(empty_.begin(), elements_, elements_.begin());
    return element;
  }
  void Return(QueueElement element) override {
    if (empty_.empty()) empty_.emplace_front();
    empty_.front() = std::move(element);
    elements_.splice(elements_.begin(), empty_, empty_.begin());
  }
  void Forget() override { DiscardAll(empty_); }
  std::unique_ptr<QueueStore> Fresh() const override { return MakeFifoStore(); }
  void Clear() override {
    DiscardAll(elements_);
    DiscardAll(empty_);
  }
  std::vector<QueueElement> Elements() const override { return {elements_.begin(), elements_.end()}; }

 private:
  std::list<QueueElement> elements_, empty_;  // and places of what was taken, which may come back
};

/// Elements in an array that has room for those that were taken and may come back.
template <class Entry>
class ArrayStore : public QueueStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(entries_.size()); }
  void Forget() override {
    taken_ = 0;
    if (entries_.empty()) std::vector<Entry>().swap(entries_);
  }

 protected:
  void MakeRoom() {
    const size_t needed = entries_.size() + taken_ + 1;
    if (needed > entries_.capacity()) entries_.reserve(std::max<size_t>(2 * entries_.capacity(), std::max<size_t>(needed, 4)));
  }
  void Push(Entry entry) { entries_.push_back(std::move(entry)); }
  Entry Pop() {
    Entry entry = std::move(entries_.back());
    entries_.pop_back();
    ++taken_;
    return entry;
  }
  void CameBack() { taken_ -= std::min<size_t>(taken_, 1); }

  std::vector<Entry> entries_;

 private:
  size_t taken_ = 0;
};

struct Prioritised {
  int64_t priority;
  QueueElement element;
};

class PriorityStore final : public ArrayStore<Prioritised> {
 public:
  void Add(QueueElement element) override {
    MakeRoom();
    PushElement(std::move(element));
  }
  QueueElement Take() override {
    std::pop_heap(entries_.begin(), entries_.end(), Later);
    return Pop().element;
  }
  void Return(QueueElement element) override {
    PushElement(std::move(element));
    CameBack();
  }
  std::unique_ptr<QueueStore> Fresh() const override { return MakePriorityStore(); }
  void Clear() override {
    DiscardAll(entries_);
    Forget();
  }
  std::vector<QueueElement> Elements() const override {
    std::vector<QueueElement> elements;
    for (const Prioritised& entry : entries_) elements.push_back(entry.element);
    return elements;
  }
  bool whole_batches() const override { return true; }  // else a batch would not be sorted

 private:
  static bool Later(const Prioritised& a, const Prioritised& b) { return a.priority > b.priority; }
  void PushElement(QueueElement element) {
    const int64_t priority = element[0].values<int64_t>()[0];
    Push({priority, std::move(element)});
    std::push_heap(entries_.begin(), entries_.end(), Later);
  }
};

class ShuffleStore final : public ArrayStore<QueueElement> {
 public:
  ShuffleStore(kernels::Philox start, int64_t held_back) : held_back_(held_back), start_(start), from_(start), words_(start) {}

  void Add(QueueElement element) override {
    MakeRoom();
    Push(std::move(element));
  }
  QueueElement Take() override {
    std::swap(entries_[words_() % entries_.size()], entries_.back());
    ++drawn_;
    return Pop();
  }
  void Return(QueueElement element) override {
    Push(std::move(element));
    CameBack();
  }
  std::unique_ptr<QueueStore> Fresh() const override { return MakeShuffleStore(start_, held_back_); }
  void Clear() override {
    DiscardAll(entries_);
    Forget();
    Continue(start_, 0);
  }
  std::vector<QueueElement> Elements() const override { return entries_; }
  int64_t held_back() const override { return held_back_; }
  void SaveOrder(StateWriter& out) const override {
    for (uint32_t word : from_.state()) out.Put(word);
    out.Put(drawn_);
  }
  Status LoadOrder(StateReader& in) override {
    kernels::Philox::State state{};
    for (uint32_t& word : state) {
      WEFT_ASSIGN_OR_RETURN(const uint64_t number, in.NumberUpTo(UINT32_MAX));
      word = static_cast<uint32_t>(number);
    }
    WEFT_ASSIGN_OR_RETURN(const uint64_t drawn, in.Number());
    Continue(kernels::Philox::Of(state), drawn);
    return {};
  }

 private:
  /// The stream from `start` on, after `drawn` numbers of it.
  void Continue(kernels::Philox start, uint64_t drawn) {
    from_ = start;
    drawn_ = drawn;
    start.Skip(drawn / 4);
    words_ = kernels::WordStream(start);
    for (uint64_t i = 0; i < drawn % 4; ++i) words_();
  }

  const int64_t held_back_;
  const kernels::Philox start_;
  kernels::Philox from_;  // where the stream began
  uint64_t drawn_ = 0;    // numbers of it
  kernels::WordStream words_;
};

}  // namespace

std::unique_ptr<QueueStore> MakeFifoStore() { return std::make_unique<FifoStore>(); }
std::unique_ptr<QueueStore> MakePriorityStore() { return std::make_unique<PriorityStore>(); }
std::unique_ptr<QueueStore> MakeShuffleStore(kernels::Philox start, int64_t held_back) {
  return std::make_unique<ShuffleStore>(start, held_back);
}

}  // namespace weft::blocks
