// NoOp, ControlTrigger, Fact, Abort: blocks that compute nothing.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Out<0> fact{"fact", "DT_STRING", "a scalar: the fact"};
constexpr Attr<std::string> error_msg{"error_msg", "", "the message of the run that it ends"};
constexpr Attr<bool> exit_without_error{"exit_without_error", "false", "end the run as if it had been cancelled, not as a failure"};

Status PlanNothing(PlanContext&) { return {}; }

BlockDef Nothing(const char* name) {
  constexpr auto kRun = [](const NoParameters&, RunContext&) {};
  return Block(name, "Does nothing; something for others to wait for.").Stateful().Kernel(PlanNothing, kRun);
}

constexpr auto RunFact = [](const NoParameters&, RunContext& ctx) { ctx.out<String>(fact)[0] = "0! == 1"; };

struct Ending {
  std::string message;
  Code code = Code::kAborted;
};
Result<Ending> PlanAbort(PlanContext& ctx) {
  const std::string message = ctx.attr(error_msg);
  return Ending{message.empty() ? "the page ends its run here" : message, ctx.attr(exit_without_error) ? Code::kCancelled : Code::kAborted};
}
constexpr auto RunAbort = [](const Ending& ending, RunContext&) { return Status(ending.code, ending.message); };

}  // namespace

BlockDef NoOp() { return Nothing("NoOp"); }
BlockDef ControlTrigger() { return Nothing("ControlTrigger"); }

BlockDef Fact() {
  return Block("Fact", "A fact about factorials.").Ports(fact).NotDifferentiable().Kernel(PlanNothing, RunFact);
}

BlockDef Abort() {
  return Block("Abort", "Ends the run with a message; the program goes on.")
      .Attrs(error_msg, exit_without_error).Stateful().Kernel(PlanAbort, RunAbort);
}

}  // namespace weft::blocks
