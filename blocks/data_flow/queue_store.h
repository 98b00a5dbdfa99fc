// QueueStore: the elements of a queue, and which of them comes out next. One class for each kind of queue.
#pragma once

#include <memory>
#include <vector>

#include "blocks/kernels/random/philox.h"
#include "weft/base/tensor.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

using QueueElement = std::vector<Tensor>;

/// The elements of a queue in the order of its kind. Used with the queue's lock held.
class QueueStore {
 public:
  virtual ~QueueStore() = default;
  virtual int64_t size() const = 0;
  virtual void Add(QueueElement element) = 0;
  /// The next element; only called where size() > 0. Takes no memory.
  virtual QueueElement Take() = 0;
  /// Puts back the element that Take gave last and that was not put back yet: without taking memory, until Forget.
  virtual void Return(QueueElement element) = 0;
  /// What was taken will hardly be put back.
  virtual void Forget() = 0;
  /// Another store of this kind, empty and as it was when it was new.
  virtual std::unique_ptr<QueueStore> Fresh() const = 0;
  /// Becomes empty, and as it was when it was new. Takes no memory.
  virtual void Clear() = 0;
  /// All elements, in an order that Add brings back.
  virtual std::vector<QueueElement> Elements() const = 0;
  /// How many elements may not be taken while the queue is open.
  virtual int64_t held_back() const { return 0; }
  /// Whether elements that are asked for together are taken only once all of them are there.
  virtual bool whole_batches() const { return false; }
  /// What the order depends on beside the elements.
  virtual void SaveOrder(StateWriter&) const {}
  virtual Status LoadOrder(StateReader&) { return {}; }
};

/// First in, first out.
std::unique_ptr<QueueStore> MakeFifoStore();
/// The smallest first component, a 64-bit integer, comes out first; among equal ones TensorFlow's order, that of a binary heap.
std::unique_ptr<QueueStore> MakePriorityStore();
/// One by chance, by TensorFlow's numbers of the stream that begins at `start`.
std::unique_ptr<QueueStore> MakeShuffleStore(kernels::Philox start, int64_t held_back);

}  // namespace weft::blocks
