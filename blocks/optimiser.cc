#include "blocks/optimiser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

using kernels::OptimiserStep;
using Role = OptimiserInput::Role;
using Limit = OptimiserInput::Limit;

constexpr size_t kMostInputs = 11;
constexpr Attr<bool> use_locking{"use_locking", "false", "accepted and not used: updates never interleave"};
constexpr OptimiserInput kRows{Role::kGradient, "indices", "which rows of the variable the gradient's rows are for; repeats count again"};

/// What Run needs: the places of the inputs, and sizes.
struct OptimiserPlan {
  kernels::OptimiserKernel kernel = nullptr;
  DType dtype = DType::kInvalid;
  std::vector<OptimiserInput> inputs;
  OptimiserForm form{};
  int indices = -1;       // the input, in the sparse blocks
  int index_bytes = 4;
  bool option = false;
  int64_t count = 0;      // of the variable
  int64_t rows = 0, width = 0, updates = 0;  // of the sparse blocks: the variable's, and how many are updated
};

/// f(Port<port>) for a port that is known at run time only.
template <template <int> class Port, int I = 0, class F>
decltype(auto) VisitPort(size_t port, const F& f) {
  if constexpr (I + 1 < static_cast<int>(kMostInputs)) {
    if (port != static_cast<size_t>(I)) return VisitPort<Port, I + 1>(port, f);
  }
  return f(Port<I>{});
}

const Shape& ShapeOf(const PlanContext& ctx, size_t port) {
  return VisitPort<In>(port, [&](auto in) -> const Shape& { return ctx.shape(in); });
}
DType TypeOf(const PlanContext& ctx, size_t port) {
  return VisitPort<In>(port, [&](auto in) { return ctx.dtype(in); });
}
const void* DataOf(const RunContext& ctx, size_t port) {
  return VisitPort<In>(port, [&](auto in) { return ctx.in<std::byte>(in).data(); });
}
void* UpdateOf(const RunContext& ctx, size_t port) {
  return VisitPort<RefIn>(port, [&](auto ref) { return ctx.update<std::byte>(ref).data(); });
}

// A row of the gradient for each index.
Status PlanRows(const PlanContext& ctx, size_t gradient, OptimiserPlan& plan) {
  const Shape &variable = ShapeOf(ctx, 0), &found = ShapeOf(ctx, gradient), &indices = ShapeOf(ctx, gradient + 1);
  if (variable.rank() == 0) return ctx.Error(plan.inputs[0], "needs rank 1 or more, found a scalar");
  if (indices.rank() != 1) return ctx.Error(kRows, "needs a vector, found ", indices);
  bool same = found.rank() == variable.rank() && found[0] == indices[0];
  for (int axis = 1; same && axis < variable.rank(); ++axis) same = found[axis] == variable[axis];
  if (!same) {
    std::vector<int64_t> needed(variable.dims().begin(), variable.dims().end());
    needed[0] = indices[0];
    WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(needed));
    return ctx.Error(plan.inputs[gradient], "needs a row of the variable for each index, ", shape, ", found ", found);
  }
  plan.indices = static_cast<int>(gradient) + 1;
  plan.index_bytes = static_cast<int>(ElementSize(TypeOf(ctx, gradient + 1)));
  plan.rows = variable[0];
  plan.width = variable.count(1, variable.rank());
  plan.updates = indices[0];
  return {};
}

Result<OptimiserPlan> PlanOptimiser(PlanContext& ctx, const OptimiserBlocks& blocks, OptimiserForm form) {
  OptimiserPlan plan;
  const std::vector<OptimiserInput>& inputs = blocks.inputs;
  plan.inputs = inputs;
  plan.form = form;
  plan.dtype = TypeOf(ctx, 0);
  plan.kernel = kernels::FindOptimiser(blocks.optimiser, plan.dtype);
  if (blocks.option.name != nullptr) plan.option = AttrAs<bool>(ctx.attr_value(blocks.option.name));
  const Shape& variable = ShapeOf(ctx, 0);
  plan.count = variable.count();
  for (size_t p = 0; p < inputs.size(); ++p) {
    const Shape& found = ShapeOf(ctx, p);
    const Role role = inputs[p].role;
    if ((role == Role::kScalar || role == Role::kStep) && !found.scalar()) return ctx.Error(inputs[p], "needs a scalar, found ", found);
    if (role == Role::kGradient && form.sparse) {
      WEFT_RETURN_IF_ERROR(PlanRows(ctx, p, plan));
      ++p;
    } else if ((role == Role::kValue || role == Role::kGradient) && !(found == variable)) {
      return ctx.Error(inputs[p], "needs the variable's shape ", variable, ", found ", found);
    }
  }
  if (form.sparse && blocks.needs_wide_rows && plan.width == 0) {
    return ctx.Error(inputs[0], "needs rows of one element or more, found shape ", variable);
  }
  ctx.set(RefOut<0, 0>{}, variable);
  return plan;
}

// Scalars have their limits, which only the run can check.
Status CheckScalar(const OptimiserPlan& plan, const RunContext& ctx, size_t port) {
  const OptimiserInput& input = plan.inputs[port];
  Limit limit = plan.form.sparse ? input.sparse_limit : input.limit;
  if (limit == Limit::kNone) return {};
  // With multiply_linear_by_lr a learning rate of 0 divides nothing.
  if (limit == Limit::kPositive && plan.option) limit = Limit::kNotNegative;
  const void* data = DataOf(ctx, port);
  const double value = Dispatch(plan.dtype, kFloats, [&]<class T>() { return static_cast<double>(*static_cast<const T*>(data)); });
  const bool good = limit == Limit::kPositive ? value > 0 : limit == Limit::kNotNegative ? value >= 0 : value <= 0;
  if (good) return {};
  std::string_view needed = limit == Limit::kPositive ? "a number above 0" : limit == Limit::kNotNegative ? "0 or more" : "0 or less";
  return ctx.Error(input, "needs ", needed, ", found ", value);
}

int64_t IndexAt(const void* indices, int bytes, int64_t i) {
  return bytes == 4 ? static_cast<const int32_t*>(indices)[i] : static_cast<const int64_t*>(indices)[i];
}

// Rows one after another, so that repeated ones build on each other; columns on several threads.
Status RunRows(const OptimiserPlan& plan, RunContext& ctx, OptimiserStep& step, size_t values) {
  const void* indices = DataOf(ctx, static_cast<size_t>(plan.indices));
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < plan.updates; ++i) {
    if (stop()) return kernels::RunStopped();
    const int64_t row = IndexAt(indices, plan.index_bytes, i);
    if (row >= 0 && row < plan.rows) continue;
    return ctx.Error(kRows, "needs indices of 0 to ", plan.rows - 1, ", found ", row, " at position ", i);
  }
  if (plan.count == 0) return {};
  const int64_t element = static_cast<int64_t>(ElementSize(plan.dtype));
  for (size_t v = 0; v < values; ++v) {
    auto* to = static_cast<std::byte*>(step.after[v]);
    const auto* from = static_cast<const std::byte*>(step.before[v]);
    ctx.workers().For(plan.count, int64_t{1} << 16, [=](int64_t begin, int64_t end) {
      std::memcpy(to + begin * element, from + begin * element, static_cast<size_t>((end - begin) * element));
    });
    step.before[v] = to;
  }
  const int64_t grain = std::max<int64_t>(16, 32768 / std::max<int64_t>(plan.updates, 1));
  ctx.workers().For(plan.width, grain, [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop_columns(ctx.workers());
    for (int64_t i = 0; i < plan.updates && !stop_columns(end - begin); ++i) {
      plan.kernel(step, IndexAt(indices, plan.index_bytes, i) * plan.width + begin, i * plan.width + begin, end - begin);
    }
  });
  return {};
}

Status RunOptimiser(const void* parameters, RunContext& ctx) {
  const auto& plan = *static_cast<const OptimiserPlan*>(parameters);
  OptimiserStep step{};
  step.option = plan.option;
  size_t values = 0, scalars = 0;
  for (size_t p = 0; p < plan.inputs.size(); ++p) {
    switch (plan.inputs[p].role) {
      case Role::kValue:
        step.before[values] = DataOf(ctx, p);
        step.after[values++] = UpdateOf(ctx, p);
        break;
      case Role::kScalar:
        WEFT_RETURN_IF_ERROR(CheckScalar(plan, ctx, p));
        step.scalars[scalars++] = DataOf(ctx, p);
        break;
      case Role::kGradient:
        if (static_cast<int>(p) != plan.indices) step.gradient = DataOf(ctx, p);
        break;
      case Role::kStep: step.global_step = *static_cast<const int64_t*>(DataOf(ctx, p)); break;
    }
  }
  if (plan.form.sparse) return RunRows(plan, ctx, step, values);
  // In equal parts, as short as are worth a task: what a thread's product has made of a gradient is in that thread's cache.
  const int64_t parts = std::max<int64_t>(plan.count / 3072, 1), grain = ((plan.count - 1) / parts / 16 + 1) * 16;
  ctx.workers().For(plan.count, grain, [&](int64_t begin, int64_t end) { plan.kernel(step, begin, begin, end - begin); });
  return {};
}

PortSpec InputSpec(const OptimiserInput& input, bool is_indices, OptimiserForm form) {
  const char* type = is_indices ? "Tindices" : input.role == Role::kStep ? "DT_INT64" : "T";
  PortSpec spec = MakePortSpec(input.name, type, input.doc);
  if (input.role == Role::kValue) {
    spec.kind = PortKind::kReference;
    spec.resource = form.resource;
  }
  return spec;
}

}  // namespace

BlockDef DeclareOptimiser(OptimiserBlocks blocks, OptimiserForm form) {
  BlockParts parts;
  parts.def.name = Cat(form.resource ? "Resource" : "", form.sparse ? "Sparse" : "", "Apply", blocks.name);
  parts.def.summary = Cat(blocks.summary, form.resource ? ", by its handle" : "", form.sparse ? ", in some rows." : ".");
  if (form.sparse) {
    auto is_gradient = [](const OptimiserInput& input) { return input.role == Role::kGradient; };
    auto gradient = std::find_if(blocks.inputs.begin(), blocks.inputs.end(), is_gradient);
    gradient->name = "grad";
    blocks.inputs.insert(gradient + 1, kRows);
  }
  for (size_t p = 0; p < blocks.inputs.size(); ++p) {
    const OptimiserInput& input = blocks.inputs[p];
    if (input.role == Role::kValue) parts.def.updates.push_back(static_cast<int>(p));
    parts.AddInput(InputSpec(input, input.name == kRows.name, form));
  }
  if (form.resource) parts.def.stateful = true;
  else parts.AddOutput(SpecOf(RefOut<0, 0>{"out", "T", "the variable after the update"}));
  parts.AddTypes("T", blocks.types);
  if (form.sparse) parts.AddTypes("Tindices", kIndices.dtypes());
  parts.AddAttr(SpecOf(use_locking));
  const OptimiserOption& option = blocks.option;
  if (option.name != nullptr) parts.AddAttr(SpecOf(Attr<bool>{option.name, option.initial, option.doc}));
  parts.def.plan = [blocks = std::move(blocks), form](PlanContext& ctx) -> Result<PlannedBlock> {
    WEFT_ASSIGN_OR_RETURN(OptimiserPlan plan, PlanOptimiser(ctx, blocks, form));
    PlannedBlock planned;
    planned.run = RunOptimiser;
    planned.parameters = std::make_shared<const OptimiserPlan>(std::move(plan));
    return planned;
  };
  return std::move(parts.def);
}

}  // namespace weft::blocks
