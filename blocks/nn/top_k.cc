// TopK, TopKV2 and InTopK; ScatterLast and GatherLast, the ways back of a choice along the last axis.
#include <algorithm>
#include <bit>
#include <cmath>

#include "blocks/element_moves.h"
#include "blocks/gradient_block.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

// ---- TopK --------------------------------------------------------------------------------------------------------------------

constexpr In<0> input{"input", "T", "[..., n]"};
constexpr In<1> k{"k", "Tk", "a scalar from 0 to n: how many of each row"};
constexpr Out<0> values{"values", "T", "[..., k]: the greatest elements of each row, the greatest first"};
constexpr Out<1> indices{"indices", "index_type", "[..., k]: where they are in the row"};
constexpr Attr<bool> sorted{"sorted", "true", "whether the order matters; the results are sorted in any case"};
constexpr Attr<DType> index_type{"index_type", "DT_INT32", "the type of the indices"};

constexpr TypeList<int16_t, int32_t, int64_t> kIndexTypes;

struct Parameters {
  int64_t rows, size, k;
  DType index_type;
};

int64_t LargestIndex(DType dtype) { return dtype == DType::kInt16 ? INT16_MAX : dtype == DType::kInt32 ? INT32_MAX : INT64_MAX; }

/// An element of a row: its order as an unsigned number, and where it is.
struct Entry {
  uint64_t key;
  int64_t index;
  /// Whether it stands before another one: the greater, of equals the first.
  friend bool operator<(const Entry& a, const Entry& b) { return a.key != b.key ? a.key > b.key : a.index < b.index; }
};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  if (shape.rank() == 0) return ctx.Error(input, "needs rank 1 or more, found a scalar");
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, k));
  const int64_t wanted = ctx.ints(k)[0], size = shape[shape.rank() - 1];
  if (wanted < 0 || wanted > size) return ctx.Error(k, "needs 0 to ", size, " for input of shape ", shape, ", found ", wanted);
  const DType type = ctx.attr(index_type);
  if (size - 1 > LargestIndex(type)) return ctx.Error(index_type, "needs a type that holds ", size - 1, ", found ", type);
  Shape chosen = shape;
  chosen.set_dim(shape.rank() - 1, wanted);
  ctx.set(values, chosen);
  ctx.set(indices, chosen);
  const int64_t count = chosen.count();
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, input.name));
  ctx.set_scratch(count * static_cast<int64_t>(sizeof(Entry)));
  return Parameters{count == 0 ? 0 : count / wanted, size, wanted, type};
}

/// Greater for greater elements, 0 for the least. -0 is 0, and NaN is greater than all.
template <class T>
uint64_t KeyOf(T x) {
  if constexpr (Float<T>) {
    if (x != x) return ~uint64_t{0};
    constexpr uint64_t kSign = uint64_t{1} << 63;
    const uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(x) + 0.0);
    return bits & kSign ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(x) ^ uint64_t{1} << 63;
  } else {
    return x;
  }
}

constexpr int64_t kTile = 16384;  // elements that are chosen, or sorted, between two looks at whether the run is to end

/// The k first elements of a row in the order of Entry, k > 0. Leaves when the run is to end.
void ChooseRow(const auto* row, int64_t size, int64_t k, Entry* chosen, const Workers& workers) {
  kernels::ForTiles(workers, k, kernels::kItemsBetweenLooks, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) chosen[i] = {KeyOf(row[i]), i};
  });
  // A heap, the last of the chosen on top: few at once, many with looks in between.
  if (k <= kTile) std::make_heap(chosen, chosen + k);
  else kernels::ForTiles(workers, k, kTile, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::push_heap(chosen, chosen + i + 1);
  });
  const int64_t tile = k <= kTile ? 4 * kTile : kTile;
  kernels::ForTiles(workers, size - k, tile, [&](int64_t begin, int64_t end) {
    for (int64_t i = k + begin; i < k + end; ++i) {
      const uint64_t key = KeyOf(row[i]);
      if (key <= chosen[0].key) continue;
      std::pop_heap(chosen, chosen + k);
      chosen[k - 1] = {key, i};
      std::push_heap(chosen, chosen + k);
    }
  });
  kernels::ForTiles(workers, k, kTile, [&](int64_t begin, int64_t end) {
    for (int64_t left = k - begin; left > k - end; --left) std::pop_heap(chosen, chosen + left);
  });
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  if (p.rows == 0 || p.k == 0) return;
  const T* from = ctx.in<T>(input).data();
  T* to = ctx.out<T>(values).data();
  Entry* entries = ctx.scratch<Entry>().data();
  ctx.workers().For(p.rows, 8192 / p.size, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      ChooseRow(from + r * p.size, p.size, p.k, entries + r * p.k, ctx.workers());
      if (p.k > kTile && ctx.cancelled()) return;
      for (int64_t i = r * p.k; i < (r + 1) * p.k; ++i) to[i] = from[r * p.size + entries[i].index];
    }
  });
  Dispatch(p.index_type, kIndexTypes, [&]<class I>() {
    const auto out = ctx.out<I>(indices);
    kernels::ForEach(ctx.workers(), static_cast<int64_t>(out.size()), 65536, [&](int64_t i) {
      out[static_cast<size_t>(i)] = static_cast<I>(entries[i].index);
    });
  });
};

BlockDef DeclareTopK(const char* name) {
  return Block(name, "The k greatest elements of each row, and where they are.")
      .Details("Of equals the first comes first. NaN counts as greater than all else.")
      .Ports(input, k, values, indices).Attrs(sorted).Types("T", kReals).Types("Tk", kIndexTypes).Attrs(index_type)
      .Types("index_type", kIndexTypes).ShapedBy(k)
      .Gradient(GradientBlock(input, "ScatterLast", {{"grad", Grad(values)}, {"indices", indices}, {"like", input}})).Kernel(Plan, Run);
}

// ---- ScatterLast, GatherLast -------------------------------------------------------------------------------------------------

constexpr In<0> grad{"grad", "T", "[..., k]"};
constexpr In<1> positions{"indices", "index_type", "[..., k]: different places in a row"};
constexpr In<2> like{"like", "T", "[..., n]: gives its shape"};
constexpr Out<0> scattered{"output", "T", "[..., n]: the elements of grad at their places, 0 elsewhere"};
constexpr In<0> whole{"values", "T", "[..., n]"};
constexpr Out<0> gathered{"output", "T", "[..., k]: the elements of values at the places"};

/// Rows of k indices, which point into rows of `size` elements.
struct Places {
  int64_t rows, size, k;
  DType index_type;
  const ElementMoves* moves;
};

/// `wide` is the tensor whose rows the indices point into; the output is of the shape of `to`.
Result<Places> PlanPlaces(PlanContext& ctx, const Shape& wide, const Shape& to) {
  const Shape& shape = ctx.shape(positions);
  const int rank = shape.rank();
  if (rank == 0 || wide.rank() != rank || !std::ranges::equal(wide.dims().first(rank - 1), shape.dims().first(rank - 1))) {
    return ctx.Error(positions, "needs the rows of the other tensor, ", wide, ", found shape ", shape);
  }
  const int64_t k = shape[rank - 1];
  ctx.set(scattered, to);
  return Places{k == 0 ? 0 : shape.count() / k, wide[rank - 1], k, ctx.dtype(positions), &MovesOf(ctx.dtype(grad))};
}
Result<Places> PlanScatter(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, grad, positions));
  return PlanPlaces(ctx, ctx.shape(like), ctx.shape(like));
}
Result<Places> PlanGather(PlanContext& ctx) { return PlanPlaces(ctx, ctx.shape(whole), ctx.shape(positions)); }

/// From rows of k to the places, or back; what no place names is 0.
template <bool kScatter>
constexpr auto RunPlaces = [](const Places& p, RunContext& ctx) {
  const auto out = ctx.out<std::byte>(scattered);
  const std::byte* from = ctx.in<std::byte>(grad).data();
  const auto bytes = p.moves->size;
  p.moves->FillLong(out.data(), static_cast<int64_t>(out.size()), nullptr, ctx.workers());
  Dispatch(p.index_type, kIndexTypes, [&]<class I>() {
    const I* place = ctx.in<I>(positions).data();
    kernels::StopCheck stop(ctx.workers());
    for (int64_t r = 0; r < p.rows; ++r) {
      for (int64_t i = r * p.k; i < (r + 1) * p.k; ++i) {
        if (stop(4)) return;
        const auto at = static_cast<int64_t>(place[i]);
        if (at < 0 || at >= p.size) continue;
        const int64_t wide = r * p.size + at;
        p.moves->copy(from + (kScatter ? i : wide) * bytes, out.data() + (kScatter ? wide : i) * bytes, 1);
      }
    }
  });
};

/// Without its plan.
auto DeclarePlaces(const char* name, const char* summary, const auto&... ports) {
  return Block(name, summary).Ports(ports...).Types("T", kReals).Types("index_type", kIndexTypes).Internal();
}

// ---- InTopK ------------------------------------------------------------------------------------------------------------------

constexpr In<0> predictions{"predictions", "DT_FLOAT", "[batch, classes]"};
constexpr In<1> targets{"targets", "T", "[batch]: a class each"};
constexpr Out<0> precision{"precision", "DT_BOOL", "[batch]: whether fewer than k classes are predicted higher than the target"};
constexpr Attr<int64_t> top{"k", kRequired, "how many classes count as the top"};

struct InTopParameters {
  int64_t classes, k;
};

Result<InTopParameters> PlanInTop(PlanContext& ctx) {
  const Shape& shape = ctx.shape(predictions);
  if (shape.rank() != 2) return ctx.Error(predictions, "needs a matrix, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, targets, shape[0], "row of predictions"));
  ctx.set(precision, ctx.shape(targets));
  return InTopParameters{shape[1], ctx.attr(top)};
}

/// A row with a prediction that is not finite says nothing, unless k higher ones come before it, which is a no as well.
bool IsInTop(const float* row, int64_t classes, int64_t target, int64_t k, const Workers& workers) {
  if (target < 0 || target >= classes) return false;
  int64_t higher = 0;
  bool finite = true;
  kernels::ForTiles(workers, classes, 2 * kernels::kItemsBetweenLooks, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      finite &= std::isfinite(row[c]);
      higher += row[c] > row[target];
    }
  });
  return finite && higher < k;
}

constexpr auto RunInTop = []<class T>(const InTopParameters& p, RunContext& ctx) {
  const float* rows = ctx.in<float>(predictions).data();
  const T* target = ctx.in<T>(targets).data();
  const auto out = ctx.out<bool>(precision);
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(out.size()), 32768 / std::max<int64_t>(p.classes, 1), [&](int64_t r) {
    out[r] = IsInTop(rows + r * p.classes, p.classes, static_cast<int64_t>(target[r]), p.k, ctx.workers());
  });
};

}  // namespace

BlockDef TopK() { return DeclareTopK("TopK"); }

BlockDef TopKV2() { return DeclareTopK("TopKV2"); }

BlockDef ScatterLast() {
  constexpr const char* kSummary = "Puts elements at their places in rows of zeros: the gradient of TopK.";
  return DeclarePlaces("ScatterLast", kSummary, grad, positions, like, scattered)
      .Gradient(GradientBlock(grad, "GatherLast", {{"values", Grad(scattered)}, {"indices", positions}}))
      .Kernel(PlanScatter, RunPlaces<true>);
}

BlockDef GatherLast() {
  constexpr const char* kSummary = "Takes elements from places in rows: the gradient of ScatterLast.";
  return DeclarePlaces("GatherLast", kSummary, whole, positions, gathered)
      .Gradient(GradientBlock(whole, "ScatterLast", {{"grad", Grad(gathered)}, {"indices", positions}, {"like", whole}}))
      .Kernel(PlanGather, RunPlaces<false>);
}

BlockDef InTopK() {
  return Block("InTopK", "Says for each row whether its target is among the k highest predictions.")
      .Details("Predictions as high as the target do not push it out. A target that is no class gives false, and so does a prediction "
               "that is not finite.")
      .Ports(predictions, targets, precision).Attrs(top).Types("T", kIndices)
      .NotDifferentiable().Kernel(PlanInTop, RunInTop);
}

}  // namespace weft::blocks
