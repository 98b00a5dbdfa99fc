// Switch, RefSwitch and Merge: one of two ways, and the way back together. RefSelect: one of several variables.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "of any shape"};
constexpr In<1> pred{"pred", "DT_BOOL", "a scalar"};
constexpr Out<0> output_false{"output_false", "T", "the data where pred is false, otherwise dead"};
constexpr Out<1> output_true{"output_true", "T", "the data where pred is true, otherwise dead"};

constexpr RefIn<0> variable{"data", "T", "a variable"};
constexpr RefOut<0, 0> variable_false{"output_false", "T", "the variable where pred is false, otherwise dead"};
constexpr RefOut<1, 0> variable_true{"output_true", "T", "the variable where pred is true, otherwise dead"};

Status PlanSwitch(PlanContext& ctx) {
  if (!ctx.shape(pred).scalar()) return ctx.Error(pred, "needs a scalar, found ", ctx.shape(pred));
  ctx.set(output_false, ctx.shape(data));
  ctx.set(output_true, ctx.shape(data));
  return {};
}

// The gradient comes back on the way taken. Zeros, dead where its data is, stand for a way on which nothing of interest depends.
void SwitchGradient(GradientBuilder& g) {
  GradientValue ways[] = {g.grad(output_false), g.grad(output_true)};  // one is valid
  if (!ways[0].valid()) ways[0] = g.Add("ZerosLike", {{"x", {g.out(output_false)}}});
  if (!ways[1].valid()) ways[1] = g.Add("ZerosLike", {{"x", {g.out(output_true)}}});
  g.Set(data, g.Add("Merge", {{"inputs", {ways[0], ways[1]}}}));
}

constexpr InList<0> inputs{"inputs", "T", "N", "of any shapes; one of them is not dead"};
constexpr Out<0> output{"output", "T", "the input that is not dead"};
constexpr Out<1> value_index{"value_index", "DT_INT32", "a scalar: which input that is"};
constexpr Attr<int64_t> length{"N", kRequired, "how many inputs there are", nullptr, 1};

Status PlanMerge(PlanContext& ctx) {
  if (ctx.count(inputs) == 0) return ctx.Error(inputs, "needs one input or more, found none");
  const Shape& first = ctx.shape(inputs);
  bool same = true, same_rank = true;
  for (int k = 1; k < ctx.count(inputs); ++k) {
    same &= ctx.shape(inputs, k) == first;
    same_rank &= ctx.shape(inputs, k).rank() == first.rank();
  }
  ctx.set(value_index, Shape{});
  if (same) {
    ctx.set(output, first);
    return {};
  }
  PartialShape partial;
  if (same_rank) {
    std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
    for (int k = 1; k < ctx.count(inputs); ++k) {
      for (size_t i = 0; i < dims.size(); ++i) {
        if (ctx.shape(inputs, k)[static_cast<int>(i)] != dims[i]) dims[i] = -1;
      }
    }
    WEFT_ASSIGN_OR_RETURN(partial, PartialShape::Make(std::move(dims)));
  }
  ctx.set_unknown(output, 0, std::move(partial));
  return {};
}

// The gradient goes to the input that came through; those of the others are dead.
void MergeGradient(GradientBuilder& g) {
  for (int k = 0; k < g.count(inputs); ++k) {
    if (!g.wanted(inputs, k)) continue;
    GradientValue taken = g.Add("Equal", {{"x", {g.out(value_index)}}, {"y", {g.Constant(Tensor::Scalar<int32_t>(k))}}});
    GradientValue sent = g.Add("Switch", {{"data", {g.grad(output)}}, {"pred", {taken}}});
    g.Set(inputs, GradientBuilder::Output(sent, 1), k);
  }
}

constexpr In<0> index{"index", "DT_INT32", "a scalar: which of the inputs, from 0"};
constexpr RefInList<1> variables{"inputs", "T", "N", "variables of any shapes"};
constexpr RefOut<0, 1> chosen{"output", "T", "the variable that index names"};

Status PlanSelect(PlanContext& ctx) {
  if (!ctx.shape(index).scalar()) return ctx.Error(index, "needs a scalar, found ", ctx.shape(index));
  if (ctx.count(variables) == 0) return ctx.Error(variables, "needs one variable or more, found none");
  bool same = true;
  for (int k = 1; k < ctx.count(variables); ++k) same &= ctx.shape(variables, k) == ctx.shape(variables);
  if (same) ctx.set(chosen, ctx.shape(variables));
  else ctx.set_unknown(chosen);
  return {};
}

}  // namespace

BlockDef Switch() {
  return Block("Switch", "Sends its data one of two ways, as a boolean says; what reads the other way does not run.")
      .Ports(data, pred, output_false, output_true).Types("T", kAllTypes)
      .WithFlow(Flow::kSwitch).Gradient(SwitchGradient).PlanOnly(PlanSwitch);
}

BlockDef RefSwitch() {
  return Block("RefSwitch", "Sends a variable one of two ways, as a boolean says; what reads or updates it the other way does not run.")
      .Ports(variable, pred, variable_false, variable_true).Types("T", kAllTypes)
      .WithFlow(Flow::kSwitch).Gradient(SwitchGradient).PlanOnly(PlanSwitch);
}

BlockDef Merge() {
  return Block("Merge", "Gives on the one input that a Switch sent, and says which it is.")
      .Ports(inputs, output, value_index).Types("T", kAllTypes).Attrs(length).Inferred(length)
      .WithFlow(Flow::kMerge).Gradient(MergeGradient).PlanOnly(PlanMerge);
}

BlockDef RefSelect() {
  return Block("RefSelect", "Chooses one of several variables; an update of its output changes that one.")
      .Ports(index, variables, chosen).Types("T", kAllTypes).Attrs(length).Inferred(length)
      .WithFlow(Flow::kSelect).PlanOnly(PlanSelect);
}

}  // namespace weft::blocks
