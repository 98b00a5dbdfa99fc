#include "blocks/sparse/place_order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"
#include "weft/base/shape.h"

namespace weft::blocks {
namespace {

constexpr int64_t kBlock = int64_t{1} << 16;  // places of a task
constexpr int kMostDigitBits = 11;            // of a pass: 2,048 places in memory are written side by side
constexpr int64_t kMostDigits = int64_t{1} << kMostDigitBits;
constexpr int64_t kFew = 32;  // places that are sorted by insertion

/// The least and the greatest number of a column.
struct Column {
  int64_t low = INT64_MAX, high = INT64_MIN;
};

/// Where the parts of the scratch memory are.
struct Scratch {
  SortedPlace *from, *to;
  int64_t* counts;   // of each digit in each block
  Column* columns;   // of each block
  KeyPart* parts;    // of each column
  int64_t* ordered;  // of each block whether it is in order

  Scratch(std::byte* memory, int64_t count, int64_t rank) {
    const int64_t blocks = DivideUp(count, kBlock);
    from = reinterpret_cast<SortedPlace*>(memory);
    to = from + count;
    counts = reinterpret_cast<int64_t*>(to + count);
    columns = reinterpret_cast<Column*>(counts + blocks * kMostDigits);
    parts = reinterpret_cast<KeyPart*>(columns + blocks * rank);
    ordered = reinterpret_cast<int64_t*>(parts + rank);
  }
};

struct Sort {
  const int64_t* indices;
  int64_t count, rank;
  std::span<const int64_t> axes;
  Scratch scratch;
  Workers& workers;

  int64_t blocks() const { return DivideUp(count, kBlock); }
  int BitsOf(int64_t axis) const { return std::bit_width(scratch.parts[axis].mask); }

  bool InOrder(int64_t place) const {
    const int64_t *b = indices + place * rank, *a = b - rank;
    for (int64_t axis : axes) {
      if (a[axis] != b[axis]) return a[axis] < b[axis];
    }
    return true;
  }

  /// Finds what each column holds; whether all places are in order.
  bool Survey() {
    workers.For(count, kBlock, [&](int64_t begin, int64_t end) {
      for (int64_t axis : axes) {
        Column own;
        for (int64_t place = begin; place < end; ++place) {
          const int64_t index = indices[place * rank + axis];
          own.low = std::min(own.low, index);
          own.high = std::max(own.high, index);
        }
        scratch.columns[begin / kBlock * rank + axis] = own;
      }
      int64_t place = std::max<int64_t>(begin, 1);
      while (place < end && InOrder(place)) ++place;
      scratch.ordered[begin / kBlock] = place >= end;
    });
    if (workers.Stopped()) return false;
    for (int64_t axis : axes) {
      Column all;
      for (int64_t block = 0; block < blocks(); ++block) {
        const Column& own = scratch.columns[block * rank + axis];
        all = {std::min(all.low, own.low), std::max(all.high, own.high)};
      }
      const uint64_t range = static_cast<uint64_t>(all.high) - static_cast<uint64_t>(all.low);
      scratch.parts[axis] = {static_cast<uint64_t>(all.low), range == 0 ? 0 : UINT64_MAX >> std::countl_zero(range), 0};
    }
    return std::all_of(scratch.ordered, scratch.ordered + blocks(), [](int64_t in_order) { return in_order != 0; });
  }

  /// Packs the columns axes[first, last) into the keys of scratch.from; the first time also the places.
  void SetKeys(size_t first, size_t last, bool first_time) {
    const auto columns = axes.subspan(first, last - first);
    int shift = 0;
    for (size_t a = last; a-- > first;) {
      scratch.parts[axes[a]].shift = BitsOf(axes[a]) > 0 ? shift : 0;
      shift += BitsOf(axes[a]);
    }
    kernels::ForEach(workers, count, kBlock, [&](int64_t i) {
      SortedPlace& entry = scratch.from[i];
      if (first_time) entry.place = i;
      const int64_t* index = indices + entry.place * rank;
      uint64_t key = 0;
      for (int64_t axis : columns) {
        const KeyPart& part = scratch.parts[axis];
        key |= (static_cast<uint64_t>(index[axis]) - part.low) << part.shift;
      }
      entry.key = key;
    });
  }

  void Insert() {
    SortedPlace* entries = scratch.from;
    for (int64_t i = 1; i < count; ++i) {
      const SortedPlace entry = entries[i];
      int64_t at = i;
      for (; at > 0 && entries[at - 1].key > entry.key; --at) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
  }

  /// One pass: from `from` to `to`, by the bits [shift, shift + bits) of the keys.
  void Pass(int shift, int bits) {
    const int64_t digits = int64_t{1} << bits;
    const uint64_t mask = static_cast<uint64_t>(digits) - 1;
    const SortedPlace* from = scratch.from;
    workers.For(count, kBlock, [&](int64_t begin, int64_t end) {
      int64_t* counts = scratch.counts + begin / kBlock * kMostDigits;
      std::fill(counts, counts + digits, int64_t{0});
      for (int64_t i = begin; i < end; ++i) ++counts[(from[i].key >> shift) & mask];
    });
    if (workers.Stopped()) return;  // not all were counted
    int64_t next[kMostDigits];      // first how many there are of each digit, then where they go
    std::fill(next, next + digits, int64_t{0});
    for (int64_t block = 0; block < blocks(); ++block) {
      int64_t* counts = scratch.counts + block * kMostDigits;
      for (int64_t d = 0; d < digits; ++d) next[d] += std::exchange(counts[d], next[d]);
    }
    std::exclusive_scan(next, next + digits, next, int64_t{0});
    workers.For(count, kBlock, [&](int64_t begin, int64_t end) {
      int64_t* places = scratch.counts + begin / kBlock * kMostDigits;
      for (int64_t d = 0; d < digits; ++d) places[d] += next[d];
      for (int64_t i = begin; i < end; ++i) scratch.to[places[(from[i].key >> shift) & mask]++] = from[i];
    });
    std::swap(scratch.from, scratch.to);
  }

  void ByKeys(int key_bits) {
    if (count <= kFew) return Insert();
    const int passes = static_cast<int>(DivideUp(key_bits, kMostDigitBits));
    for (int shift = 0; shift < key_bits && !workers.Stopped();) {
      const int bits = static_cast<int>(DivideUp(key_bits, passes));
      Pass(shift, std::min(bits, key_bits - shift));
      shift += bits;
    }
  }

  /// As many columns at once as 64 bits hold, the last ones first.
  Result<PlaceOrder> Run() {
    const bool in_order = Survey();
    if (workers.Stopped()) return kernels::RunStopped();
    if (in_order) return PlaceOrder{};
    bool first_time = true, at_once = false;
    for (size_t last = axes.size(); last > 0;) {
      size_t first = last;
      int bits = 0;
      while (first > 0 && bits + BitsOf(axes[first - 1]) <= 64) bits += BitsOf(axes[--first]);
      if (bits > 0) {
        SetKeys(first, last, first_time);
        if (workers.Stopped()) return kernels::RunStopped();  // not all places are set
        ByKeys(bits);
        if (workers.Stopped()) return kernels::RunStopped();
        at_once = first_time && first == 0 && last == axes.size();
        first_time = false;
      }
      last = first;
    }
    return PlaceOrder{scratch.from, at_once ? scratch.parts : nullptr};
  }
};

}  // namespace

Result<int64_t> OrderScratchBytes(int64_t count, int64_t rank) {
  if (count <= 1) return 0;
  constexpr int64_t kMost = INT64_MAX / 4;
  const auto places = CheckedMultiply(count, 2 * sizeof(SortedPlace));
  const int64_t blocks = DivideUp(count, kBlock);
  const auto counts = CheckedMultiply(blocks, (kMostDigits + 1) * static_cast<int64_t>(sizeof(int64_t)));
  const auto columns = CheckedMultiply(blocks + 2, static_cast<int64_t>(sizeof(Column)) * rank);
  if (!places || !counts || !columns || *places > kMost || *counts > kMost || *columns > kMost) {
    return InvalidArgument("needs fewer places, found ", count, " of ", rank, " indices");
  }
  return *places + *counts + *columns;
}

Result<PlaceOrder> OrderPlaces(const int64_t* indices, int64_t count, int64_t rank, std::span<const int64_t> axes, std::byte* scratch,
                               Workers& workers) {
  if (count <= 1 || axes.empty()) return PlaceOrder{};
  return Sort{indices, count, rank, axes, Scratch(scratch, count, rank), workers}.Run();
}

void TakeIndices(const PlaceOrder& order, const int64_t* from, int64_t* to, int64_t count, int64_t rank, Workers& workers) {
  if (order.parts == nullptr) return TakeInOrder(order, from, to, count, rank, workers);
  workers.For(count, 32768, [&](int64_t begin, int64_t end) {  // the keys are read one after another, where the rows are anywhere
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = order.sorted[i].key;
      for (int64_t axis = 0; axis < rank; ++axis) {
        const KeyPart& part = order.parts[axis];
        to[i * rank + axis] = static_cast<int64_t>(part.low + (key >> part.shift & part.mask));
      }
    }
  });
}

}  // namespace weft::blocks
