#include "blocks/data_flow/queue.h"

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr size_t kBetweenLooks = 1024;  // elements that go in or out between two looks at whether the run is to end

template <class T>
std::string ListText(const std::vector<T>& list) {
  std::string text = "{";
  for (const T& item : list) AppendText(text, Cat(text.size() > 1 ? "," : "", item));
  return text + "}";
}

std::string CapacityText(int64_t capacity) { return capacity < 0 ? "no limit" : Cat(capacity); }

}  // namespace

bool QueueSpec::joinable() const {
  auto known = [&](const PartialShape& shape) { return padded ? shape.known_rank() : shape.complete(); };
  return !shapes.empty() && std::all_of(shapes.begin(), shapes.end(), known);
}

Status Queue::CheckSame(const QueueSpec& other) const {
  auto differ = [](std::string_view what, const auto& needed, const auto& found) {
    return InvalidArgument("needs a queue of ", what, " ", needed, ", found one of that name of ", what, " ", found)
        .WithPort("shared_name")
        .WithHint("give the queues different names, or the same settings");
  };
  if (other.block != spec_.block) return differ("kind", other.block, spec_.block);
  if (other.types != spec_.types) return differ("component types", ListText(other.types), ListText(spec_.types));
  if (other.shapes != spec_.shapes) return differ("shapes", ListText(other.shapes), ListText(spec_.shapes));
  if (std::max<int64_t>(other.capacity, -1) != std::max<int64_t>(spec_.capacity, -1)) {
    return differ("capacity", CapacityText(other.capacity), CapacityText(spec_.capacity));
  }
  if (other.min_after_dequeue != spec_.min_after_dequeue) {
    return differ("min_after_dequeue", other.min_after_dequeue, spec_.min_after_dequeue);
  }
  if (other.seed != spec_.seed || other.seed2 != spec_.seed2) {
    return differ("seeds", Cat(other.seed, " and ", other.seed2), Cat(spec_.seed, " and ", spec_.seed2));
  }
  return {};
}

Status Queue::CheckTypes(const DTypes& types) const {
  if (types == spec_.types) return {};
  return InvalidArgument("needs the queue's component types ", ListText(spec_.types), ", found ", ListText(types));
}

Status Queue::CheckShape(int component, const Shape& shape) const {
  if (spec_.shapes.empty() || spec_.shapes[component].Accepts(shape)) return {};
  return InvalidArgument("component ", component, " needs the queue's shape ", spec_.shapes[component], ", found ", shape);
}

Status Queue::ClosedError() const { return Status(Code::kCancelled, "needs an open queue, found one that is closed"); }

Status Queue::Enqueue(std::vector<QueueElement> elements, Waiter& waiter, int64_t timeout_ms, const Workers* workers,
                      const ResourceHandle& self) {
  ArrivingElements arrival{std::move(elements)};
  std::unique_lock lock(mutex_);
  if (arrival.elements.empty()) return {};
  if (closed_) return ClosedError();
  while (line_.empty() && arrival.next < arrival.elements.size() && HasRoom()) {
    if ((arrival.next + 1) % kBetweenLooks == 0 && workers != nullptr && workers->Stopped()) return kernels::RunStopped();
    store_->Add(std::move(arrival.elements[arrival.next++]));
    changed_.notify_all();
  }
  if (arrival.next == arrival.elements.size()) return {};
  const auto ticket = line_.Join(std::move(arrival));
  lock.unlock();
  return WaitInLine(ticket, waiter, TimeLeft(timeout_ms), "room in a queue", self);
}

// Lets in what there is room for.
void Queue::Admit() {
  line_.Admit(true, [&](ArrivingElements& arrival) -> Result<bool> {
    for (; arrival.next < arrival.elements.size(); ++arrival.next) {
      if (!HasRoom()) return false;
      store_->Add(std::move(arrival.elements[arrival.next]));
    }
    return true;
  });
  changed_.notify_all();
}

Status Queue::TakeAll(int64_t count, bool up_to, Waiter& waiter, int64_t timeout_ms, std::unique_lock<std::mutex>& lock,
                      std::vector<QueueElement>& taken, const Workers* workers) {
  if (store_->whole_batches() && !up_to && !closed_ && spec_.capacity >= 0 && count > spec_.capacity) {
    return InvalidArgument("needs no more elements at a time than the queue's capacity of ", spec_.capacity, ", found ", count);
  }
  TimeLeft left(timeout_ms);
  TakerLine::Turn turn(takers_, changed_);
  auto missing = [&] { return count - static_cast<int64_t>(taken.size()); };
  auto ready = [&] { return turn.first() && (CanGive(missing()) || Ended()); };
  while (missing() > 0) {
    if (taken.size() % kBetweenLooks == kBetweenLooks - 1 && workers != nullptr && workers->Stopped()) return kernels::RunStopped();
    if (!ready()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, ready, left.ms(), "an element of a queue"));
    if (Available() <= 0 && up_to && !taken.empty()) return {};
    if (Available() <= 0 || (Ended() && !up_to && Available() < missing())) {
      return OutOfRange("needs ", count, count == 1 ? " element" : " elements", " of the queue, found it closed with ",
                        count - missing() + Available(), " left");
    }
    if (taken.size() == taken.capacity()) taken.reserve(std::max<size_t>(4, 2 * taken.size()));  // before one is out of the queue
    in_hand_ = &taken;
    taken.push_back(store_->Take());
    Admit();
  }
  return {};
}

Result<std::vector<QueueElement>> Queue::Dequeue(int64_t count, bool up_to, Waiter& waiter, int64_t timeout_ms, const Workers* workers) {
  std::vector<QueueElement> taken;
  std::unique_lock lock(mutex_);
  store_->Forget();
  Status status;
  try {
    status = TakeAll(count, up_to, waiter, timeout_ms, lock, taken, workers);
  } catch (...) {  // of too little memory
    if (in_hand_ == &taken) in_hand_ = nullptr;
    PutBack(taken);
    throw;
  }
  if (in_hand_ == &taken) in_hand_ = nullptr;
  if (status.ok()) return taken;
  PutBack(taken);
  return status;
}

void Queue::Return(std::vector<QueueElement> elements) {
  std::lock_guard lock(mutex_);
  PutBack(elements);
}

void Queue::PutBack(std::vector<QueueElement>& elements) {
  for (auto element = elements.rbegin(); element != elements.rend(); ++element) store_->Return(std::move(*element));
  changed_.notify_all();
}

Status Queue::Close(bool cancel_pending) {
  std::lock_guard lock(mutex_);
  if (closed_ && !cancel_pending) return ClosedError();
  closed_ = true;
  if (cancel_pending) line_.Refuse(ClosedError());
  changed_.notify_all();
  return {};
}

int64_t Queue::size() const {
  std::lock_guard lock(mutex_);
  return store_->size();
}

// With what a run has in hand while it waits for more: it is saved as if that run had not begun.
std::vector<QueueElement> Queue::AllElements() const {
  if (in_hand_ == nullptr || in_hand_->empty()) return store_->Elements();
  const std::unique_ptr<QueueStore> all = store_->Fresh();
  for (QueueElement& element : store_->Elements()) all->Add(std::move(element));
  for (auto element = in_hand_->rbegin(); element != in_hand_->rend(); ++element) all->Return(*element);
  return all->Elements();
}

Status Queue::Save(StateWriter& out) const {
  std::vector<QueueElement> elements;
  {
    std::lock_guard lock(mutex_);
    out.PutText(spec_.block);
    out.Put(closed_);
    store_->SaveOrder(out);
    elements = AllElements();
  }
  out.Put(elements.size());
  for (const QueueElement& element : elements) {
    out.Put(element.size());
    for (const Tensor& component : element) WEFT_RETURN_IF_ERROR(out.PutTensor(component));
  }
  return {};
}

Status Queue::CheckElement(const QueueElement& element) const {
  DTypes types;
  for (const Tensor& component : element) types.push_back(component.dtype());
  WEFT_RETURN_IF_ERROR(CheckTypes(types));
  for (size_t c = 0; c < element.size(); ++c) WEFT_RETURN_IF_ERROR(CheckShape(static_cast<int>(c), element[c].shape()));
  return {};
}

Result<std::function<void()>> Queue::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string block, in.Text());
  if (block != spec_.block) return InvalidArgument("needs the state of a ", spec_.block, ", found that of a ", block);
  WEFT_ASSIGN_OR_RETURN(const uint64_t closed, in.NumberUpTo(1));
  std::shared_ptr<QueueStore> store = store_->Fresh();
  WEFT_RETURN_IF_ERROR(store->LoadOrder(in));
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  std::vector<QueueElement> elements;
  for (uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const uint64_t components, in.NumberUpTo(spec_.types.size()));
    QueueElement& element = elements.emplace_back();
    for (uint64_t c = 0; c < components; ++c) {
      WEFT_ASSIGN_OR_RETURN(Tensor component, in.ReadTensor());
      element.push_back(std::move(component));
    }
    WEFT_RETURN_IF_ERROR(CheckElement(element));
  }
  for (QueueElement& element : elements) store->Add(std::move(element));
  return std::function<void()>([this, store = std::move(store), closed]() mutable { Replace(std::move(store), closed != 0); });
}

void Queue::Replace(std::shared_ptr<QueueStore> store, bool closed) {
  std::lock_guard lock(mutex_);
  store_.swap(store);
  closed_ = closed;
  Admit();
}

void Queue::Reset() {
  std::lock_guard lock(mutex_);
  store_->Clear();
  closed_ = false;
  Admit();
}

}  // namespace weft::blocks
