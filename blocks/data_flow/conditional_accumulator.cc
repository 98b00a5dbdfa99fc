// ConditionalAccumulator, AccumulatorApplyGradient, AccumulatorTakeGradient: dense gradients added up until enough are there.
// AccumulatorNumAccumulated and AccumulatorSetGlobalStep, for sparse accumulators, too.
#include "blocks/data_flow/accumulator_blocks.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {

using namespace accumulating;

namespace accumulating {

Result<Made> PlanMake(PlanContext& ctx) {
  ctx.set(made, Shape{2});
  const bool mean = ctx.attr(reduction_type) == "MEAN";
  return Made{{ctx.def().name, ctx.attr(dtype), ctx.attr(shape), mean}, ctx.attr(container), ctx.attr(shared_name)};
}

}  // namespace accumulating

namespace {

constexpr int64_t kGrain = int64_t{1} << 16;  // elements added by one task

class DenseAccumulator final : public Accumulator {
 public:
  static constexpr std::string_view kBlock = "ConditionalAccumulator";

  using Accumulator::Accumulator;

  Status Apply(ProduceContext& ctx);
  Result<Tensor> TakeReduced(int64_t required, const Services& services);

 private:
  Status CheckShape(const Shape& shape, bool first) const;
  /// Memory of its own for the next sum.
  Result<Tensor> Next(const Shape& shape, const std::shared_ptr<MemoryBudget>& budget);
  Status SaveSum(StateWriter& out) const override { return out.PutTensor(sum_); }
  Result<std::function<void()>> LoadSum(StateReader& in) override;
  void DropSum() override { sum_ = spare_ = Tensor(); }

  // A gradient is added from one into the other, so that a run that is cancelled meanwhile leaves the sum as it was.
  Tensor sum_, spare_;
};

constexpr In<2> gradient{"gradient", "dtype", "the gradient, of the accumulator's shape"};

Status DenseAccumulator::CheckShape(const Shape& shape, bool first) const {
  const auto refuse = [&](const auto& needed) {
    return InvalidArgument("needs the accumulator's shape ", needed, ", found ", shape).WithPort(gradient.name);
  };
  if (!first && !(shape == sum_.shape())) return refuse(sum_.shape());
  return spec().shape.Accepts(shape) ? Status() : refuse(spec().shape);
}

Result<Tensor> DenseAccumulator::Next(const Shape& shape, const std::shared_ptr<MemoryBudget>& budget) {
  Tensor next = std::exchange(spare_, Tensor());
  if (next.defined() && next.shape() == shape) return next;
  next = Tensor();
  return Tensor::Allocate(spec().dtype, shape, budget);
}

Status DenseAccumulator::Apply(ProduceContext& ctx) {
  const auto add = [&](bool first) -> Status {
    const Shape& shape = ctx.shape(gradient);
    WEFT_RETURN_IF_ERROR(CheckShape(shape, first));
    WEFT_ASSIGN_OR_RETURN(Tensor next, Next(shape, ctx.services().budget));
    Dispatch(spec().dtype, kAccumulated, [&]<class T>() {
      const T* added = ctx.in<T>(gradient).data();
      const T* before = first ? nullptr : sum_.values<T>().data();
      T* after = next.values<T>().data();
      ctx.workers().For(shape.count(), kGrain, [=](int64_t begin, int64_t end) {
        if (before == nullptr) {
          std::copy(added + begin, added + end, after + begin);
        } else {
          for (int64_t i = begin; i < end; ++i) after[i] = before[i] + added[i];
        }
      });
    });
    if (ctx.cancelled()) {
      spare_ = std::move(next);
      return kernels::RunStopped();
    }
    spare_ = std::exchange(sum_, std::move(next));
    return {};
  };
  return Add(ctx.in<int64_t>(local_step)[0], *ctx.services().waiter, add);
}

Result<Tensor> DenseAccumulator::TakeReduced(int64_t required, const Services& services) {
  Tensor taken;
  WEFT_ASSIGN_OR_RETURN(const int64_t count, Take(required, *services.waiter, [&] { taken = std::exchange(sum_, Tensor()); }));
  if (!spec().mean || count == 1) return taken;
  Dispatch(spec().dtype, kAccumulated, [&]<class T>() {
    T* values = taken.values<T>().data();
    const T divisor = static_cast<T>(static_cast<double>(count));
    services.workers->For(taken.count(), kGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[i] = values[i] / divisor;
    });
  });
  return taken;
}

Result<std::function<void()>> DenseAccumulator::LoadSum(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(Tensor sum, in.ReadTensor());
  if (sum.dtype() != spec().dtype || !spec().shape.Accepts(sum.shape())) {
    return InvalidArgument("needs a sum of ", spec().dtype, " ", spec().shape, ", found ", sum.dtype(), " ", sum.shape());
  }
  return std::function<void()>([this, sum = std::move(sum)] {
    sum_ = sum;
    spare_ = Tensor();
  });
}

// ---- the blocks ------------------------------------------------------------------------------------------------------------------------

constexpr In<1> new_global_step{"new_global_step", "DT_INT64", "a scalar: gradients of earlier steps are left out from now on"};
constexpr Out<0> num_accumulated{"num_accumulated", "DT_INT32", "a scalar: how many gradients are in it"};
constexpr Out<0> average{"average", "dtype", "the mean of the gradients, or their sum, as the accumulator says"};

Result<DType> PlanApply(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, local_step));
  return ctx.dtype(gradient);
}

constexpr auto RunApply = [](const DType& type, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto accumulator, FindOfType<DenseAccumulator>(ctx, type));
  return accumulator->Apply(ctx);
};

Result<DType> PlanTake(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, num_required));
  ctx.set_unknown(average);
  return ctx.attr(dtype);
}

constexpr auto RunTake = [](const DType& type, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto accumulator, FindOfType<DenseAccumulator>(ctx, type));
  WEFT_ASSIGN_OR_RETURN(const int64_t required, Required(ctx));
  WEFT_ASSIGN_OR_RETURN(Tensor taken, accumulator->TakeReduced(required, ctx.services()));
  return Emitted(ctx, average, std::move(taken));
};

Status PlanCount(PlanContext& ctx) { return CheckNamedHandle(ctx, handle); }

constexpr auto RunCount = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto accumulator, FindNamed<Accumulator>(ctx, handle));
  ctx.out<int32_t>(num_accumulated)[0] = static_cast<int32_t>(std::min<int64_t>(accumulator->count(), INT32_MAX));
  return {};
};

Status PlanSetStep(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  return CheckScalars(ctx, new_global_step);
}

constexpr auto RunSetStep = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto accumulator, FindNamed<Accumulator>(ctx, handle));
  accumulator->SetStep(ctx.in<int64_t>(new_global_step)[0]);
  return {};
};

}  // namespace

BlockDef ConditionalAccumulator() {
  return MakerBlock<DenseAccumulator>("ConditionalAccumulator",
                                      "An accumulator: adds gradients up until one that waits for enough of them takes their mean or sum.");
}

BlockDef AccumulatorApplyGradient() {
  return StateBlock("AccumulatorApplyGradient",
                    "Adds a gradient to an accumulator, unless it belongs to an earlier step than the accumulator is at.")
      .Ports(handle, local_step, gradient)
      .Types("dtype", kDeclared)
      .Producer(PlanApply, RunApply, kBindHandles);
}

BlockDef AccumulatorTakeGradient() {
  return StateBlock("AccumulatorTakeGradient",
                    "Waits until an accumulator has enough gradients, and takes their mean, or their sum, out of it; its step moves on by one.")
      .Ports(handle, num_required, average)
      .Attrs(dtype)
      .Types("dtype", kDeclared)
      .Waits()
      .Producer(PlanTake, RunTake, kBindHandles);
}

BlockDef AccumulatorNumAccumulated() {
  return StateBlock("AccumulatorNumAccumulated", "How many gradients are in an accumulator.")
      .Ports(handle, num_accumulated)
      .Kernel(PlanCount, RunCount, kBindHandles);
}

BlockDef AccumulatorSetGlobalStep() {
  return StateBlock("AccumulatorSetGlobalStep", "Sets the step of an accumulator: gradients of earlier steps are left out from then on.")
      .Ports(handle, new_global_step)
      .Kernel(PlanSetStep, RunSetStep, kBindHandles);
}

}  // namespace weft::blocks
