// Discard: destroys what takes long to destroy on a thread of its own, so that a call or run which has to end need not wait for it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft {

/// What waits to be destroyed. Its destructor must not throw, wait, or call the host.
class Discarded {
 public:
  Discarded() = default;
  virtual ~Discarded() = default;
  Discarded(const Discarded&) = delete;
  Discarded& operator=(const Discarded&) = delete;

 private:
  friend class DiscardLine;
  std::unique_ptr<Discarded> next_;
};

/// Takes it over. Where the system refuses a thread it is destroyed here.
void DiscardLater(std::unique_ptr<Discarded> object) noexcept;

/// Destroys an object later: one that owns millions of others. Where there is no memory for that it is destroyed here.
template <class T>
void Discard(T&& object) noexcept {
  static_assert(std::is_rvalue_reference_v<T&&>, "what is discarded is moved");
  struct Object final : Discarded {
    explicit Object(T&& from) : object(std::move(from)) {}
    T object;
  };
  std::unique_ptr<Discarded> later(new (std::nothrow) Object(std::move(object)));
  if (later != nullptr) DiscardLater(std::move(later));
  else [[maybe_unused]] const T here(std::move(object));
}

/// Empties a container; where that may take long its elements are discarded.
template <class Container>
void DiscardAll(Container& container) noexcept {
  constexpr size_t kMany = size_t{1} << 16;  // elements, each of which may own others: milliseconds
  if (container.size() >= kMany) Discard(std::move(container));
  container.clear();
}

/// DiscardAll at the end of a scope, however it is left.
template <class Container>
class DiscardAtEnd {
 public:
  explicit DiscardAtEnd(Container& container) : container_(container) {}
  ~DiscardAtEnd() { DiscardAll(container_); }
  DiscardAtEnd(const DiscardAtEnd&) = delete;
  DiscardAtEnd& operator=(const DiscardAtEnd&) = delete;

 private:
  Container& container_;
};

/// Waits until one more of what was discarded has been destroyed; false where there is nothing left. For who needs its memory.
bool AwaitDiscarded();
/// Waits until all that was discarded before is destroyed, and its thread has ended if nothing was discarded since.
void FinishDiscarding();

}  // namespace weft
