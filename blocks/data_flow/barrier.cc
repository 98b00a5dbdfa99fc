#include "blocks/data_flow/barrier.h"

#include <algorithm>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

QueueSpec ReadySpec(const DTypes& types, const Shapes& shapes) {
  QueueSpec spec;
  spec.block = "Barrier";
  spec.types = {DType::kInt64, DType::kString};
  std::copy(types.begin(), types.end(), std::back_inserter(spec.types));
  spec.shapes = {PartialShape(Shape{}), PartialShape(Shape{})};
  std::copy(shapes.begin(), shapes.end(), std::back_inserter(spec.shapes));
  return spec;
}

/// A component that counts with its place in the element.
template <class T>
Result<Tensor> ScalarOf(T value, const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(kDTypeOf<T>, Shape{}, budget, static_cast<int64_t>(sizeof(Tensor))));
  tensor.values<T>()[0] = std::move(value);
  return tensor;
}

/// What an element begins with, with room for its components.
Result<QueueElement> FrontOf(int64_t index, const String& key, size_t components, const std::shared_ptr<MemoryBudget>& budget) {
  QueueElement element;
  element.reserve(2 + components);
  WEFT_ASSIGN_OR_RETURN(Tensor number, ScalarOf(index, budget));
  WEFT_ASSIGN_OR_RETURN(Tensor name, ScalarOf(key, budget));
  element.push_back(std::move(number));
  element.push_back(std::move(name));
  return element;
}

}  // namespace

ElementBarrier::ElementBarrier(const DTypes& types, const Shapes& shapes)
    : types_(types), shapes_(shapes), ready_(ReadySpec(types, shapes), MakePriorityStore()) {}

Status ElementBarrier::CheckSame(const DTypes& types, const Shapes& shapes) const {
  if (types == types_ && shapes == shapes_) return {};
  return InvalidArgument("needs a barrier of other component types or shapes than the one of that name")
      .WithPort("shared_name")
      .WithHint("give the barriers different names, or the same settings");
}

Status ElementBarrier::ClosedError(std::string_view found) const {
  return Status(Code::kCancelled, Cat("needs a barrier that takes this, found one that is closed", found));
}

// ---- in ------------------------------------------------------------------------------------------------------------------------

Status ElementBarrier::CheckComponent(int64_t component, const Tensor& row) const {
  const DType type = types_[static_cast<size_t>(component)];
  const PartialShape& shape = shapes_[static_cast<size_t>(component)];
  if (row.dtype() != type) {
    return InvalidArgument("needs ", type, " for component ", component, " of the barrier, found ", row.dtype()).WithPort("values");
  }
  if (shape.Accepts(row.shape())) return {};
  return InvalidArgument("needs rows of shape ", shape, " for component ", component, " of the barrier, found ", row.shape())
      .WithPort("values");
}

Result<ElementBarrier::Entries::iterator> ElementBarrier::Begin(State& state, const String& key, int64_t index,
                                                                const std::shared_ptr<MemoryBudget>& budget) const {
  constexpr int64_t kEntry = sizeof(Entries::value_type) + 4 * sizeof(void*);  // with its node
  MemoryCharge room(budget);
  WEFT_RETURN_IF_ERROR(room.Hold(kEntry + std::ssize(types_) * static_cast<int64_t>(sizeof(Tensor))));
  WEFT_RETURN_IF_ERROR(key.Hold(budget));
  return state.incomplete.emplace(key, HeldIncomplete{{index, types_.size(), std::vector<Tensor>(types_.size())}, std::move(room)}).first;
}

// First all that may fail, so that no component is in an element that never becomes ready.
Status ElementBarrier::InsertOne(const String& key, size_t component, Tensor row, const std::shared_ptr<MemoryBudget>& budget,
                                 bool& is_new, std::vector<QueueElement>& complete) {
  auto entry = state_.incomplete.find(key);
  const bool begins = entry == state_.incomplete.end();
  if (begins && state_.closed) return ClosedError(Cat(", and the new key '", key, "'"));
  if (!begins && entry->second.components[component].defined()) {
    return InvalidArgument("needs keys without the component ", component, ", found '", key, "', which has it").WithPort("keys");
  }
  const bool last = (begins ? types_.size() : entry->second.missing) == 1;
  const int64_t index = begins ? state_.next_index : entry->second.index;
  QueueElement element;
  if (last) {
    // The key of the entry is kept already: the copy shares its text.
    WEFT_ASSIGN_OR_RETURN(element, FrontOf(index, begins ? key : entry->first, types_.size(), budget));
  }
  if (begins) {
    WEFT_ASSIGN_OR_RETURN(entry, Begin(state_, key, index, budget));
    is_new = true;
  }
  std::vector<Tensor>& components = entry->second.components;
  components[component] = std::move(row);
  --entry->second.missing;
  if (!last) return {};
  std::move(components.begin(), components.end(), std::back_inserter(element));
  complete.push_back(std::move(element));
  state_.incomplete.erase(entry);
  return {};
}

Status ElementBarrier::InsertSome(std::span<const String> keys, size_t component, std::span<QueueElement> rows, const Services& services,
                                  bool& is_new) {
  std::vector<QueueElement> complete;
  complete.reserve(keys.size());
  Status status;
  for (size_t i = 0; i < keys.size() && status.ok(); ++i) {
    status = InsertOne(keys[i], component, std::move(rows[i][0]), services.budget, is_new, complete);
  }
  Status added = ready_.Enqueue(std::move(complete), *services.waiter, 0);
  return status.ok() ? added : status;
}

Status ElementBarrier::Insert(std::span<const String> keys, int64_t component, std::vector<QueueElement> rows, const Services& services) {
  constexpr size_t kBetweenLooks = 1024;  // keys that go in between two looks at whether the run is to end
  const DiscardAtEnd discard(rows);
  if (component >= static_cast<int64_t>(types_.size())) {
    return InvalidArgument("needs one of the ", types_.size(), " components of the barrier, found ", component).WithPort("component_index");
  }
  if (!rows.empty()) WEFT_RETURN_IF_ERROR(CheckComponent(component, rows[0][0]));
  std::lock_guard lock(mutex_);
  if (state_.closed && (state_.cancelled || (!keys.empty() && state_.incomplete.empty()))) return ClosedError("");
  bool is_new = false;
  Status status;
  for (size_t i = 0; i < keys.size() && status.ok(); i += kBetweenLooks) {
    const size_t count = std::min(keys.size() - i, kBetweenLooks);
    if (i > 0 && services.workers != nullptr && services.workers->Stopped()) status = kernels::RunStopped();
    else status = InsertSome(keys.subspan(i, count), static_cast<size_t>(component), std::span(rows).subspan(i, count), services, is_new);
  }
  if (is_new && status.ok()) ++state_.next_index;  // as in TensorFlow: after a failure the next keys share the index
  EndWhereDone();
  return status;
}

// ---- out -----------------------------------------------------------------------------------------------------------------------

Result<std::vector<QueueElement>> ElementBarrier::Take(int64_t count, bool small, const Services& services, const Workers& workers) {
  {
    std::lock_guard lock(mutex_);
    const int64_t ready = ready_.size(), incomplete = static_cast<int64_t>(state_.incomplete.size());
    if (state_.closed && small) count = std::min(count, ready);
    const int64_t available = small ? ready : ready + incomplete;
    if (state_.closed && available < std::max<int64_t>(count, 1)) {
      return OutOfRange("needs ", std::max<int64_t>(count, 1), " elements of the barrier, found it closed with ", available, " left");
    }
  }
  return ready_.Dequeue(count, small, *services.waiter, -1, &workers);
}

// With the lock: once nothing more can become ready, who waits is told so.
void ElementBarrier::EndWhereDone() {
  if (state_.closed && state_.incomplete.empty()) (void)ready_.Close(true).ok();
}

Status ElementBarrier::Close(bool cancel) {
  std::lock_guard lock(mutex_);
  if (state_.closed && (state_.cancelled || !cancel)) return ClosedError(" already");
  state_.closed = true;
  state_.cancelled = cancel;
  if (cancel) DiscardAll(state_.incomplete);
  EndWhereDone();
  return {};
}

int64_t ElementBarrier::incomplete_size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(state_.incomplete.size());
}

// ---- snapshots -----------------------------------------------------------------------------------------------------------------

Status ElementBarrier::Save(StateWriter& out) const {
  std::vector<std::pair<String, Incomplete>> entries;
  {
    std::lock_guard lock(mutex_);
    out.Put(state_.closed);
    out.Put(state_.cancelled);
    out.PutSigned(state_.next_index);
    entries.assign(state_.incomplete.begin(), state_.incomplete.end());
  }
  out.Put(entries.size());
  for (const auto& [key, incomplete] : entries) {
    out.PutText(key);
    out.PutSigned(incomplete.index);
    for (const Tensor& component : incomplete.components) {
      out.Put(component.defined());
      if (component.defined()) WEFT_RETURN_IF_ERROR(out.PutTensor(component));
    }
  }
  return ready_.Save(out);
}

Status ElementBarrier::LoadComponents(StateReader& in, Incomplete& to) const {
  for (size_t k = 0; k < types_.size(); ++k) {
    WEFT_ASSIGN_OR_RETURN(const uint64_t there, in.NumberUpTo(1));
    if (there == 0) continue;
    WEFT_ASSIGN_OR_RETURN(to.components[k], in.ReadTensor());
    WEFT_RETURN_IF_ERROR(CheckComponent(static_cast<int64_t>(k), to.components[k]));
    --to.missing;
  }
  return {};
}

Result<std::function<void()>> ElementBarrier::Load(StateReader& in) {
  auto state = std::make_shared<State>();
  WEFT_ASSIGN_OR_RETURN(const uint64_t closed, in.NumberUpTo(1));
  WEFT_ASSIGN_OR_RETURN(const uint64_t cancelled, in.NumberUpTo(1));
  state->closed = closed != 0;
  state->cancelled = cancelled != 0;
  WEFT_ASSIGN_OR_RETURN(state->next_index, in.Signed());
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  for (uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const std::string text, in.Text());
    const String key(text);
    if (state->incomplete.contains(key)) return DataLoss("needs keys that differ, found '", key, "' twice");
    WEFT_ASSIGN_OR_RETURN(const int64_t index, in.Signed());
    WEFT_ASSIGN_OR_RETURN(const auto entry, Begin(*state, key, index, in.budget()));
    WEFT_RETURN_IF_ERROR(LoadComponents(in, entry->second));
  }
  WEFT_ASSIGN_OR_RETURN(const std::function<void()> restore_ready, ready_.Load(in));
  return std::function<void()>([this, state, restore_ready] {
    std::lock_guard lock(mutex_);
    state_ = std::move(*state);
    restore_ready();
  });
}

void ElementBarrier::Reset() {
  std::lock_guard lock(mutex_);
  state_ = {};
  ready_.Reset();
}

}  // namespace weft::blocks
