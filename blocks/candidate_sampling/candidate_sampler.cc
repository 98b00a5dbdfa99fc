#include "blocks/candidate_sampling/candidate_sampler.h"

namespace weft::blocks {

Result<SamplerPlan> PlanSampler(const PlanContext& ctx, int64_t range) {
  const SamplerPlan plan{SeedsOf(ctx),
                         ctx.shape(kTrueClasses).rank() == 2 ? ctx.shape(kTrueClasses)[0] : 0,
                         ctx.attr(kNumTrue),
                         ctx.attr(kNumSampled),
                         range,
                         ctx.attr(kUnique)};
  const Shape& shape = ctx.shape(kTrueClasses);
  if (shape.rank() != 2 || shape[1] != plan.num_true) {
    return ctx.Error(kTrueClasses, "needs shape [batch, ", plan.num_true, "], found ", shape);
  }
  if (plan.num_sampled >= INT32_MAX) return ctx.Error(kNumSampled, "needs less than 2^31 - 1, found ", plan.num_sampled);
  if (plan.unique && plan.num_sampled > range) {
    return ctx.Error(kNumSampled, "needs at most as many as there are classes (unique_ = true), ", range, ", found ", plan.num_sampled);
  }
  return plan;
}

void SetSamples(PlanContext& ctx, const SamplerPlan& plan) {
  ctx.set(kSampledCandidates, Shape{plan.num_sampled});
  ctx.set(kTrueExpectedCount, ctx.shape(kTrueClasses));
  ctx.set(kSampledExpectedCount, Shape{plan.num_sampled});
  ctx.set_scratch(plan.memory() * static_cast<int64_t>(sizeof(int64_t)));
}

Status CheckTrueClasses(const SamplerPlan& plan, const SamplerRun& run) {
  kernels::StopCheck stop(run.workers);
  for (int64_t one : run.true_classes) {
    if (stop()) return kernels::RunStopped();
    if (one < 0 || one >= plan.range) {
      return InvalidArgument("needs classes in [0, ", plan.range, "), found ", one).WithPort(kTrueClasses.name);
    }
  }
  return {};
}

}  // namespace weft::blocks
