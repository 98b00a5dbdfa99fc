// Unique, UniqueWithCounts and SetDiff1D: vectors whose elements are looked up by value.
#include <bit>

#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/number_hash.h"
#include "weft/base/keyed_hash.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "[n]: the elements"};
constexpr In<1> y{"y", "T", "[m]: the elements to take away"};
constexpr Out<0> distinct{"y", "T", "[k]: each element of x once, in the order of first sight"};
constexpr Out<1> idx{"idx", "out_idx", "[n]: where in y each element of x is"};
constexpr Out<2> count{"count", "out_idx", "[k]: how often each element of y is in x"};
constexpr Out<0> out{"out", "T", "[k]: the elements of x that are not in y, in their order"};
constexpr Out<1> out_idx_port{"idx", "out_idx", "[k]: where in x they are"};
constexpr Attr<DType> out_idx{"out_idx", "DT_INT32", "the type of the positions"};

constexpr auto kElements = kReals + TypeList<String>{};

// ---- elements by value -------------------------------------------------------------------------------------------------------

constexpr int64_t kHashed = 8, kCompared = 64;       // bytes of a string that a simple step hashes, and compares
constexpr size_t kPieceBytes = size_t{1} << 20;  // of a string, between two looks

/// Whether two strings are the same; true where the run is to end, which the caller asks next.
bool SameString(const String& a, const String& b, kernels::StopCheck& stop) {
  if (a.size() != b.size()) return false;
  if (a.size() <= kPieceBytes || a.data() == b.data()) return a == b;
  for (size_t at = 0; at < a.size(); at += kPieceBytes) {
    if (stop(kPieceBytes / kCompared)) return true;
    if (a.view().substr(at, kPieceBytes) != b.view().substr(at, kPieceBytes)) return false;
  }
  return true;
}

/// Elements as words, equal where the elements are; strings as hashes, then compared. -0 is 0, but of the short floats, which TensorFlow
/// tells apart by their bits; a NaN, which equals nothing, is kNaN.
struct Keys {
  static constexpr uint64_t kNaN = ~uint64_t{0};
  Tensor words;  // uint64
  const String* strings = nullptr;
  bool floating = false;

  uint64_t word(int64_t i) const { return words.values<uint64_t>()[i]; }
  bool never_equal(int64_t i) const { return floating && word(i) == kNaN; }
  /// Whether element i is element `other` of keys whose word is the same.
  bool IsSame(int64_t i, const Keys& others, int64_t other, kernels::StopCheck& stop) const {
    return strings == nullptr || SameString(strings[i], others.strings[other], stop);
  }
  /// Simple steps that looking element i up takes as long as.
  int64_t LookUpItems(int64_t i) const {
    constexpr int64_t kLookUp = 16;
    return strings == nullptr ? kLookUp : kLookUp + static_cast<int64_t>(std::min(strings[i].size(), kPieceBytes)) / kCompared;
  }
};

/// Of a long string that of its pieces' hashes, one after the other; anything where the run is to end.
uint64_t HashOf(const String& text, kernels::StopCheck& stop) {
  const std::string_view all = text;
  uint64_t hashes[2] = {};
  for (size_t at = 0; at == 0 || at < all.size(); at += kPieceBytes) {
    const std::string_view piece = all.substr(at, kPieceBytes);
    if (stop(1 + static_cast<int64_t>(piece.size()) / kHashed)) return 0;
    if (at > 0) hashes[0] = KeyedHash({reinterpret_cast<const char*>(hashes), sizeof hashes});
    hashes[1] = KeyedHash(piece);
  }
  return all.size() <= kPieceBytes ? hashes[1] : KeyedHash({reinterpret_cast<const char*>(hashes), sizeof hashes});
}

template <class T>
uint64_t WordOf(const T& value) {
  if constexpr (ShortFloat<T>) return value != value ? Keys::kNaN : std::bit_cast<uint16_t>(value);
  else if constexpr (Float<T>) return value != value ? Keys::kNaN : std::bit_cast<uint64_t>(static_cast<double>(value) + 0.0);
  else return static_cast<uint64_t>(value);
}

constexpr int64_t kTile = 65536;  // elements that are worth a task

Result<Keys> KeysOf(const InputPort auto& port, DType dtype, ProduceContext& ctx) {
  Keys keys;
  keys.floating = IsFloating(dtype);
  WEFT_ASSIGN_OR_RETURN(keys.words, ctx.Allocate(DType::kUInt64, ctx.shape(port)));
  uint64_t* words = keys.words.values<uint64_t>().data();
  Dispatch(dtype, kElements + TypeList<bool>{}, [&]<class T>() {
    const T* values = ctx.in<T>(port).data();
    const int64_t n = keys.words.count();
    if constexpr (std::is_same_v<T, String>) {
      keys.strings = values;
      kernels::ForEach(ctx.workers(), n, kTile, [&](int64_t i, kernels::StopCheck& stop) { words[i] = HashOf(values[i], stop); });
    } else {
      kernels::ForEach(ctx.workers(), n, kTile, [&](int64_t i) { words[i] = WordOf<T>(values[i]); });
    }
  });
  if (ctx.cancelled()) return kernels::RunStopped();  // not every word was written
  return keys;
}

constexpr int64_t kSlotItems = 16;  // simple steps that moving a slot takes as long as
constexpr int64_t kAhead = 8;       // look-ups: what one of them needs of a table larger than the caches is there by then

/// Numbers of different elements, found by their words: open addressing, at most half full.
class ValueTable {
 public:
  static Result<ValueTable> Make(ProduceContext& ctx) {
    ValueTable table;
    WEFT_RETURN_IF_ERROR(table.Clear(kLeast, ctx));
    return table;
  }
  void Prefetch(uint64_t word) const { __builtin_prefetch(slots() + (hash_(word) & mask_)); }
  /// The number of the element that has this word and for whose number is_equal says so; or -1 in a free place: who sets a number there calls
  /// Added next. The reference lasts until then.
  int64_t& Find(uint64_t word, auto&& is_equal) {
    for (uint64_t at = hash_(word) & mask_;; at = (at + 1) & mask_) {
      Slot& slot = slots()[at];
      if (slot.number < 0) slot.word = word;
      else if (slot.word != word || !is_equal(slot.number)) continue;
      return slot.number;
    }
  }
  Status Added(ProduceContext& ctx) { return ++count_ > mask_ / 2 ? Grow(ctx) : Status(); }

 private:
  struct Slot {
    uint64_t word;
    int64_t number;  // negative: free
  };
  static constexpr int64_t kLeast = 1024;

  Slot* slots() const { return static_cast<Slot*>(const_cast<void*>(memory_.data())); }
  Status Clear(int64_t size, ProduceContext& ctx) {
    WEFT_ASSIGN_OR_RETURN(memory_, ctx.Allocate(DType::kInt64, Shape{size, 2}));
    kernels::FillLong(ctx.workers(), slots(), size, Slot{0, -1});
    if (ctx.cancelled()) return kernels::RunStopped();  // not every slot is free
    mask_ = static_cast<uint64_t>(size) - 1;
    return {};
  }
  Status Grow(ProduceContext& ctx) {
    const Tensor before = memory_;
    const std::span<const Slot> old(slots(), mask_ + 1);
    WEFT_RETURN_IF_ERROR(Clear(4 * static_cast<int64_t>(old.size()), ctx));
    kernels::StopCheck stop(ctx.workers());
    for (const Slot& slot : old) {
      if (stop(kSlotItems)) return kernels::RunStopped();
      if (slot.number < 0) continue;
      uint64_t at = hash_(slot.word) & mask_;
      while (slots()[at].number >= 0) at = (at + 1) & mask_;
      slots()[at] = slot;
    }
    return {};
  }

  Tensor memory_;
  uint64_t mask_ = 0, count_ = 0;
  NumberHash hash_;
};

// ---- results -----------------------------------------------------------------------------------------------------------------

struct Parameters {
  DType dtype, positions;
};

/// A vector of positions in the type asked for.
Result<Tensor> Positions(std::span<const int64_t> values, DType dtype, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, ctx.Allocate(dtype, Shape{static_cast<int64_t>(values.size())}));
  Dispatch(dtype, kIndices, [&]<class I>() {
    I* to = tensor.values<I>().data();
    kernels::ForEach(ctx.workers(), static_cast<int64_t>(values.size()), kTile, [&](int64_t i) {
      to[i] = static_cast<I>(values[static_cast<size_t>(i)]);
    });
  });
  return tensor;
}

/// The elements of x at some positions.
Result<Tensor> Taken(std::span<const int64_t> positions, DType dtype, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, ctx.Allocate(dtype, Shape{static_cast<int64_t>(positions.size())}));
  const ElementMoves& moves = MovesOf(dtype);
  const std::byte* from = ctx.in<std::byte>(x).data();
  std::byte* to = static_cast<std::byte*>(tensor.data());
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(positions.size()), kTile, [&](int64_t i) {
    moves.copy(from + positions[static_cast<size_t>(i)] * moves.size, to + i * moves.size, 1);
  });
  return tensor;
}

/// Positions have to fit their type.
Status CheckPositions(PlanContext& ctx) {
  if (ctx.attr(out_idx) == DType::kInt64 || ctx.shape(x).count() <= INT32_MAX) return {};
  return ctx.Error(x, "needs no more elements than int32 positions reach (out_idx_ = DT_INT64 reaches more), found shape ", ctx.shape(x));
}

PartialShape SomeVector() { return PartialShape::Make({-1}).value(); }

// ---- Unique, UniqueWithCounts ------------------------------------------------------------------------------------------------

template <bool kCounts>
Result<Parameters> PlanUnique(PlanContext& ctx) {
  if (ctx.shape(x).rank() != 1) return ctx.Error(x, "needs a vector, found shape ", ctx.shape(x));
  WEFT_RETURN_IF_ERROR(CheckPositions(ctx));
  ctx.set_unknown(distinct, 0, SomeVector());
  ctx.set(idx, ctx.shape(x));
  if constexpr (kCounts) ctx.set_unknown(count, 0, SomeVector());
  return Parameters{ctx.dtype(x), ctx.attr(out_idx)};
}

/// Of each different element its first position, and how often it is there where that is asked for.
struct Distinct {
  int64_t* firsts;
  int64_t* counts = nullptr;
  int64_t found = 0;
};

template <class I>
Status FindPlaces(const Keys& keys, I* places, Distinct& of, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(ValueTable table, ValueTable::Make(ctx));
  kernels::StopCheck stop(ctx.workers());
  const int64_t n = ctx.shape(x).count();
  for (int64_t i = 0; i < n; ++i) {
    if (stop(keys.LookUpItems(i))) return kernels::RunStopped();
    table.Prefetch(keys.word(std::min(i + kAhead, n - 1)));
    int64_t unfound = -1;
    const bool looked_up = !keys.never_equal(i);
    const auto is_same = [&](int64_t place) { return keys.IsSame(i, keys, of.firsts[place], stop); };
    int64_t& number = looked_up ? table.Find(keys.word(i), is_same) : unfound;
    const bool fresh = number < 0;
    if (fresh) {
      number = of.found++;
      of.firsts[number] = i;
      if (of.counts != nullptr) of.counts[number] = 0;
    }
    places[i] = static_cast<I>(number);
    if (of.counts != nullptr) ++of.counts[number];
    if (fresh && looked_up) WEFT_RETURN_IF_ERROR(table.Added(ctx));
  }
  return stop(0) ? kernels::RunStopped() : Status();
}

template <bool kCounts>
constexpr auto RunUnique = [](const Parameters& p, ProduceContext& ctx) -> Status {
  const int64_t n = ctx.shape(x).count();
  WEFT_ASSIGN_OR_RETURN(const Keys keys, KeysOf(x, p.dtype, ctx));
  WEFT_ASSIGN_OR_RETURN(Tensor memory, ctx.Allocate(DType::kInt64, Shape{kCounts ? 2 : 1, n}));
  WEFT_ASSIGN_OR_RETURN(Tensor places, ctx.Allocate(p.positions, Shape{n}));
  Distinct of{.firsts = memory.values<int64_t>().data()};
  if (kCounts) of.counts = of.firsts + n;
  WEFT_RETURN_IF_ERROR(Dispatch(p.positions, kIndices, [&]<class I>() { return FindPlaces(keys, places.values<I>().data(), of, ctx); }));
  const auto span = [&](const int64_t* from) { return std::span<const int64_t>(from, static_cast<size_t>(of.found)); };
  WEFT_ASSIGN_OR_RETURN(Tensor values, Taken(span(of.firsts), p.dtype, ctx));
  ctx.Emit(distinct, std::move(values));
  ctx.Emit(idx, std::move(places));
  if constexpr (kCounts) {
    WEFT_ASSIGN_OR_RETURN(Tensor times, Positions(span(of.counts), p.positions, ctx));
    ctx.Emit(count, std::move(times));
  }
  return {};
};

// ---- SetDiff1D ---------------------------------------------------------------------------------------------------------------

Result<Parameters> PlanDifference(PlanContext& ctx) {
  if (ctx.shape(x).rank() != 1) return ctx.Error(x, "needs a vector, found shape ", ctx.shape(x));
  if (ctx.shape(y).rank() != 1) return ctx.Error(y, "needs a vector, found shape ", ctx.shape(y));
  WEFT_RETURN_IF_ERROR(CheckPositions(ctx));
  ctx.set_unknown(out, 0, SomeVector());
  ctx.set_unknown(out_idx_port, 0, SomeVector());
  return Parameters{ctx.dtype(x), ctx.attr(out_idx)};
}

constexpr auto RunDifference = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const Keys keys, KeysOf(x, p.dtype, ctx));
  WEFT_ASSIGN_OR_RETURN(const Keys taken, KeysOf(y, p.dtype, ctx));
  WEFT_ASSIGN_OR_RETURN(ValueTable table, ValueTable::Make(ctx));
  kernels::StopCheck stop(ctx.workers());
  const int64_t count_taken = ctx.shape(y).count(), count = ctx.shape(x).count();
  for (int64_t i = 0; i < count_taken; ++i) {
    if (stop(taken.LookUpItems(i))) return kernels::RunStopped();
    int64_t& number = table.Find(taken.word(i), [&](int64_t other) { return taken.IsSame(i, taken, other, stop); });
    if (std::exchange(number, i) < 0) WEFT_RETURN_IF_ERROR(table.Added(ctx));
  }
  WEFT_ASSIGN_OR_RETURN(Tensor memory, ctx.Allocate(DType::kInt64, ctx.shape(x)));
  int64_t* left = memory.values<int64_t>().data();
  size_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (stop(keys.LookUpItems(i))) return kernels::RunStopped();
    table.Prefetch(keys.word(std::min(i + kAhead, count - 1)));
    const auto is_same = [&](int64_t other) { return keys.IsSame(i, taken, other, stop); };
    if (keys.never_equal(i) || table.Find(keys.word(i), is_same) < 0) left[found++] = i;
  }
  if (stop(0)) return kernels::RunStopped();
  WEFT_ASSIGN_OR_RETURN(Tensor values, Taken({left, found}, p.dtype, ctx));
  WEFT_ASSIGN_OR_RETURN(Tensor where, Positions({left, found}, p.positions, ctx));
  return Emitted(ctx, out, std::move(values), out_idx_port, std::move(where));
};

constexpr const char* kEqual = "-0 and 0 are one element, but of half and bfloat16; a NaN equals nothing.";

}  // namespace

BlockDef Unique() {
  return Block("Unique", "The different elements of a vector, in the order of first sight, and where each element is among them.")
      .Details(kEqual)
      .Ports(x, distinct, idx).Types("T", kElements + TypeList<bool>{}).Attrs(out_idx).Types("out_idx", kIndices)
      .Producer(PlanUnique<false>, RunUnique<false>);
}

BlockDef UniqueWithCounts() {
  return Block("UniqueWithCounts", "The different elements of a vector, where each element is among them, and how often.")
      .Details(kEqual)
      .Ports(x, distinct, idx, count).Types("T", kElements + TypeList<bool>{}).Attrs(out_idx).Types("out_idx", kIndices)
      .Producer(PlanUnique<true>, RunUnique<true>);
}

BlockDef SetDiff1D() {
  return Block("SetDiff1D", "The elements of x that are not in y, in their order, and where they are.")
      .Details("What is several times in x stays so. -0 and 0 are one element, but of half and bfloat16; a NaN equals nothing.")
      .Alias("ListDiff").Ports(x, y, out, out_idx_port).Types("T", kElements).Attrs(out_idx).Types("out_idx", kIndices)
      .Producer(PlanDifference, RunDifference);
}

}  // namespace weft::blocks
