// Large pages of memory for large tables: the first touch of each small page costs about as much as what is written to it, and a table of
// many of them does not fit what the processor remembers of their places.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

/// Advises the system to back memory by large pages, before it is written for the first time. Does nothing for less than a few megabytes,
/// and where the system has no such pages.
void AdviseLargePages(const void* data, size_t bytes);

/// Reserves room for `count` elements, on large pages where it is much.
template <class T>
void ReserveLarge(std::vector<T>& list, size_t count) {
  if (count <= list.capacity()) return;
  list.reserve(count);
  AdviseLargePages(list.data(), list.capacity() * sizeof(T));
}

/// As list.assign(count, value), on large pages where it is much.
template <class T>
void AssignLarge(std::vector<T>& list, size_t count, const T& value = T()) {
  list.clear();
  ReserveLarge(list, count);
  list.assign(count, value);
}

}  // namespace weft
