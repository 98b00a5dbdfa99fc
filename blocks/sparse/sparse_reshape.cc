// SparseReshape: the places of a sparse tensor under another shape.
#include <algorithm>

#include "blocks/kernels/index/strided_copy.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> input_indices{"input_indices", "DT_INT64", "[places, rank], in any order"};
constexpr In<1> input_shape{"input_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr In<2> new_shape{"new_shape", "DT_INT64", "[new rank]: a shape of as many elements; one size may be -1: what is left"};
constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[places, new rank]: the same elements, in their order"};
constexpr Out<1> output_shape{"output_shape", "DT_INT64", "[new rank]: new_shape, with the size that was found"};

struct Sizes {
  Places places;
  std::vector<int64_t> step;  // of the new shape
  std::vector<int64_t> size;
  bool same = false;  // then indices are not looked at
};

/// Fills in the size that is -1.
Status FindSize(PlanContext& ctx, Sizes& p, int64_t elements) {
  const auto unknown = std::ranges::find(p.size, -1);
  const bool known = unknown == p.size.end();
  if (!known) *unknown = 1;
  const auto negative = std::ranges::find_if(p.size, [](int64_t size) { return size < 0; });
  if (negative != p.size.end()) {
    return ctx.Error(new_shape, "needs sizes of 0 or more, and at most one that is -1, found ", PlaceText(ctx.ints(new_shape)));
  }
  const auto others = ProductOf(p.size);
  if (!others) return ctx.Error(new_shape, "needs sizes whose product fits 63 bits, found ", PlaceText(p.size));
  if (known ? *others == elements : *others > 0 && elements % *others == 0) {
    if (!known) *unknown = elements / *others;
    return {};
  }
  return ctx.Error(new_shape, known ? "needs the " : "needs sizes that divide the ", elements, " elements of ", p.places.SizeText(),
                   ", found ", PlaceText(ctx.ints(new_shape)));
}

Result<Sizes> Plan(PlanContext& ctx) {
  Sizes p;
  WEFT_ASSIGN_OR_RETURN(p.places, PlanPlaces(ctx, input_indices, input_shape));
  if (ctx.shape(new_shape).rank() != 1) return ctx.Error(new_shape, "needs a vector of sizes, found shape ", ctx.shape(new_shape));
  WEFT_RETURN_IF_ERROR(CheckCounted(ctx, p.places, input_shape));
  const int64_t elements = *ProductOf(p.places.size);
  p.size = ctx.ints(new_shape);
  WEFT_RETURN_IF_ERROR(FindSize(ctx, p, elements));
  p.same = p.size == p.places.size;
  if (elements == 0 && p.places.count > 0 && !p.same) {
    return ctx.Error(input_indices, "needs no places in a tensor without elements, found ", p.places.count);
  }
  if (elements > 0) {
    p.places.step = kernels::DenseSteps(p.places.size);
    p.step = kernels::DenseSteps(p.size);
  }
  const int64_t sizes[] = {p.places.count, static_cast<int64_t>(p.size.size())};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output_indices, sizes, input_indices));
  ctx.set(output_shape, ctx.shape(new_shape));
  return p;
}

/// Places [begin, end). What is outside of the shape is not refused: its offset is taken apart as that of others.
void Move(const Sizes& p, const int64_t* from, int64_t* to, int64_t begin, int64_t end) {
  const size_t rank = p.places.rank(), new_rank = p.size.size();
  for (int64_t place = begin; place < end; ++place) {
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) {
      offset = WrapAdd(offset, WrapMultiply(from[place * static_cast<int64_t>(rank) + static_cast<int64_t>(i)], p.places.step[i]));
    }
    for (size_t i = 0; i < new_rank; ++i) {
      to[place * static_cast<int64_t>(new_rank) + static_cast<int64_t>(i)] = offset / p.step[i];
      offset %= p.step[i];
    }
  }
}

constexpr auto Run = [](const Sizes& p, RunContext& ctx) {
  const int64_t* from = ctx.in<int64_t>(input_indices).data();
  int64_t* to = ctx.out<int64_t>(output_indices).data();
  const int64_t rank = static_cast<int64_t>(p.size.size());
  ctx.workers().For(p.places.count, 16384, [&](int64_t begin, int64_t end) {
    if (p.same) std::copy(from + begin * rank, from + end * rank, to + begin * rank);
    else Move(p, from, to, begin, end);
  });
  std::ranges::copy(p.size, ctx.out<int64_t>(output_shape).begin());
};

}  // namespace

BlockDef SparseReshape() {
  return Block("SparseReshape", "The places of a sparse tensor, and its shape, when it is reshaped.")
      .Details("Values stay where they are: the places keep their order.")
      .Ports(input_indices, input_shape, new_shape, output_indices, output_shape)
      .ShapedBy(input_shape, new_shape)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
