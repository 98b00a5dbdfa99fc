// Enter, Exit, NextIteration, LoopCond: loops in TensorFlow's frames. The engine moves the values; these only say what they are.
#include "blocks/elementwise.h"
#include "blocks/limits.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "of any shape"};
constexpr Out<0> output{"output", "T", "the data"};

constexpr Attr<std::string> frame_name{"frame_name", kRequired, "the frame to enter; blocks with one name bring values into one loop"};
constexpr Attr<bool> is_constant{"is_constant", "false", "the value is there in every iteration, not in the first alone"};
constexpr Attr<int64_t> parallel_iterations{"parallel_iterations", "10", "accepted and not used: iterations run one after another"};

constexpr In<0> input{"input", "DT_BOOL", "a scalar: whether the loop goes on"};
constexpr Out<0> condition{"output", "DT_BOOL", "the input, for the pred of the loop's Switch blocks"};

constexpr auto PlanCondition = [](PlanContext& ctx) { return CheckScalars(ctx, input); };

constexpr RefIn<0> variable{"data", "T", "a variable"};
constexpr RefOut<0, 0> reference{"output", "T", "the variable"};

/// Of what stands outside of loops: in one, the gradient of the whole loop goes another way.
void HandOn(GradientBuilder& g) { g.Set(data, g.grad(output)); }

auto OfData(const char* name, const char* summary) { return Block(name, summary).Ports(data, output).Types("T", kAllTypes); }

}  // namespace

BlockDef Enter() {
  return OfData("Enter", "Brings a value into a loop's frame.")
      .Details("A loop variable goes by Enter, Merge and Switch into the loop, and by NextIteration back to the Merge; Exit takes it out.")
      .Attrs(frame_name, is_constant, parallel_iterations).WithFlow(Flow::kEnter).PlanOnly(PlanMap);
}

BlockDef Exit() { return OfData("Exit", "Takes a value out of a loop's frame.").WithFlow(Flow::kExit).PlanOnly(PlanMap); }

BlockDef NextIteration() {
  return OfData("NextIteration", "Hands a value to the next iteration of its loop, where a Merge takes it.")
      .Details("Outside of loops it hands its value on.")
      .WithFlow(Flow::kNextIteration).Gradient(HandOn).PlanOnly(PlanMap);
}

BlockDef RefNextIteration() {
  return Block("RefNextIteration", "Hands a variable to the next iteration of its loop, where a Merge takes its value.")
      .Details("Outside of loops it hands the variable on.")
      .Ports(variable, reference).Types("T", kAllTypes).WithFlow(Flow::kNextIteration).Gradient(HandOn).PlanOnly(PlanMap);
}

BlockDef LoopCond() {
  return Block("LoopCond", "Says whether a loop goes on: the pred of its Switch blocks.")
      .Ports(input, condition).WithFlow(Flow::kForward).NotDifferentiable().PlanOnly(PlanCondition);
}

}  // namespace weft::blocks
