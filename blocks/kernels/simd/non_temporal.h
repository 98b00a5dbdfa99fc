// Results that go past the cache.
//
// A store to memory that is not in the cache reads the line first; one that goes past the cache does not, which saves a third of the bytes
// of a copy. Only whole lines may go that way: computed into a buffer in the nearest cache where a kernel does not store whole registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// Smaller outputs stay in a core's own cache beside the inputs.
inline constexpr int64_t kStreamBytes = 2 << 20;
/// Bytes. So short that a processor already loads what the next piece needs while this one's stores wait: of two inputs of 67 MB, pieces of
/// 8 KB take 1.2 to 1.5 times as long.
inline constexpr int64_t kStreamPiece = 1024;

/// Inputs and a result of together so many bytes stay in the cache from one step to the next, and are written through it 2 to 3 times as
/// fast. 0 on processors where the last-level cache gains nothing.
int64_t ResultCacheBytes();
/// Tests take the place of the machine's cache; a negative number gives it back. Not while anything runs.
void SetResultCacheBytes(int64_t bytes);

/// What kernels that go through memory in order may have to read and write and still write through the cache. It keeps most of what is a
/// little larger: 39 to 51 MB in one of 34 MB are written up to twice as fast through it, if no other program takes part of it, else as fast.
inline int64_t StreamLimit() { return ResultCacheBytes() / 2 * 3; }

/// Whether an output of `bytes` is better written past the cache by a kernel whose inputs have `read` bytes.
inline bool IsStreamed(int64_t bytes, int64_t read, int64_t limit) { return bytes >= kStreamBytes && bytes + read > limit; }
inline bool IsStreamed(int64_t bytes, int64_t read) { return bytes >= kStreamBytes && IsStreamed(bytes, read, StreamLimit()); }

/// kStreamPiece bytes, both sides aligned to 64.
inline void StreamPiece(const std::byte* from, std::byte* to) {
  for (int64_t i = 0; i < kStreamPiece; i += kVecBytes) {
    StoreVec<true>(reinterpret_cast<uint8_t*>(to + i), LoadVec(reinterpret_cast<const uint8_t*>(from + i)));
  }
}

/// Calls compute(first, n, to) for neighbouring stretches of `count` elements of `size` bytes: all at once, or where `stream`, in pieces
/// that are computed in a buffer and written past the cache. `to` is no input then. Elements with constructors, which are larger than any
/// number but one, never are. A StreamFence is left to the caller: one after many short stretches, as each waits for all stores.
void StreamUnfenced(void* to, int64_t count, int64_t size, bool stream, auto&& compute) {
  alignas(64) std::byte buffer[kStreamPiece];
  stream = stream && size <= 8 && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  const int64_t piece = stream ? kStreamPiece / size : count;
  for (int64_t first = 0; first < count; first += piece) {
    const int64_t n = std::min(piece, count - first);
    std::byte* const target = static_cast<std::byte*>(to) + first * size;
    const bool whole = stream && n == piece;
    compute(first, n, whole ? buffer : target);
    if (whole) StreamPiece(buffer, target);
  }
}

/// The same, with the fence.
void StreamElements(void* to, int64_t count, int64_t size, bool stream, auto&& compute) {
  StreamUnfenced(to, count, size, stream, compute);
  if (stream) StreamFence();
}

}  // namespace weft::kernels
