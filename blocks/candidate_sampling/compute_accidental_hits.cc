// ComputeAccidentalHits: which of the classes drawn are true ones.
#include <cfloat>

#include "blocks/candidate_sampling/id_table.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> true_classes{"true_classes", "DT_INT64", "[batch, num_true]: the classes that are right for each example"};
constexpr In<1> sampled_candidates{"sampled_candidates", "DT_INT64", "[num_sampled]: the classes drawn"};
constexpr Out<0> indices{"indices", "DT_INT32", "[hits]: the example of each hit"};
constexpr Out<1> ids{"ids", "DT_INT64", "[hits]: the position of the class among those drawn"};
constexpr Out<2> weights{"weights", "DT_FLOAT", "[hits]: the lowest float, to be added to the logit of the class"};
constexpr Attr<int64_t> num_true{"num_true", kRequired, "true classes of an example"};
constexpr Attr<int64_t> seed{"seed", "0", "changes nothing"};
constexpr Attr<int64_t> seed2{"seed2", "0", "changes nothing"};

Status Plan(PlanContext& ctx) {
  const Shape &right = ctx.shape(true_classes), &drawn = ctx.shape(sampled_candidates);
  if (right.rank() != 2 || right[1] != ctx.attr(num_true)) {
    return ctx.Error(true_classes, "needs shape [batch, ", ctx.attr(num_true), "], found ", right);
  }
  if (right[0] > INT32_MAX) return ctx.Error(true_classes, "needs fewer than 2^31 examples, found shape ", right);
  if (drawn.rank() != 1) return ctx.Error(sampled_candidates, "needs a vector, found shape ", drawn);
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(drawn, sampled_candidates.name));
  WEFT_ASSIGN_OR_RETURN(const PartialShape any, PartialShape::Make({-1}));
  ctx.set_unknown(indices, 0, any);
  ctx.set_unknown(ids, 0, any);
  ctx.set_unknown(weights, 0, any);
  return {};
}

/// Calls hit(example, position) for each, as long as the run goes on.
void ForHits(const ProduceContext& ctx, const IdTable& positions, auto hit) {
  const auto right = ctx.in<int64_t>(true_classes);
  const auto columns = static_cast<size_t>(ctx.shape(true_classes)[1]);
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < right.size() && !stop(8); ++i) {
    if (const int64_t position = positions.Position(right[i]); position >= 0) hit(static_cast<int32_t>(i / columns), position);
  }
}

/// Of a class that was drawn twice the last position counts.
constexpr auto Run = [](const NoParameters&, ProduceContext& ctx) -> Status {
  const auto drawn = ctx.in<int64_t>(sampled_candidates);
  WEFT_ASSIGN_OR_RETURN(Tensor memory, ctx.Allocate(DType::kInt64, Shape{IdTable::MemoryFor(static_cast<int64_t>(drawn.size()))}));
  IdTable positions(memory.values<int64_t>(), ctx.workers());
  if (ctx.cancelled()) return kernels::RunStopped();  // not every slot is empty
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < drawn.size() && !stop(8); ++i) positions[drawn[i]] = static_cast<int64_t>(i);
  int64_t count = 0;
  ForHits(ctx, positions, [&](int32_t, int64_t) { ++count; });
  WEFT_ASSIGN_OR_RETURN(Tensor examples, ctx.Allocate(DType::kInt32, Shape{count}));
  WEFT_ASSIGN_OR_RETURN(Tensor places, ctx.Allocate(DType::kInt64, Shape{count}));
  WEFT_ASSIGN_OR_RETURN(Tensor lowest, ctx.Allocate(DType::kFloat, Shape{count}));
  if (ctx.cancelled()) return kernels::RunStopped();  // the count may be short
  size_t k = 0;
  ForHits(ctx, positions, [&](int32_t example, int64_t position) {
    examples.values<int32_t>()[k] = example;
    places.values<int64_t>()[k] = position;
    lowest.values<float>()[k++] = -FLT_MAX;
  });
  if (ctx.cancelled()) return kernels::RunStopped();
  return Emitted(ctx, indices, std::move(examples), ids, std::move(places), weights, std::move(lowest));
};

}  // namespace

BlockDef ComputeAccidentalHits() {
  return Block("ComputeAccidentalHits", "Which of the classes that a sampler drew are true ones.")
      .Ports(true_classes, sampled_candidates, indices, ids, weights)
      .Attrs(num_true, seed, seed2)
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
