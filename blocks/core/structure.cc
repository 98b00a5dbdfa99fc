// Blocks that shape the page rather than compute: sessions, gradients, lists, operations, feeds, status.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr StructuralIn<0> outputlist{"outputlist", PortKind::kTensor, PortList::kTuple, Presence::kOptional,
                                     "the outputs to gather, in order"};
constexpr StructuralOut<0> list_output{"output", PortKind::kTensor, PortList::kTuple, "the same values, for a list port"};

constexpr StructuralIn<0> operation{"operation", PortKind::kOperation, PortList::kSingle, Presence::kRequired,
                                    "a block, wired as ID.operation or from any of its ports"};
constexpr StructuralOut<0> operation_output{"output", PortKind::kOperation, PortList::kSingle,
                                            "the block as an operation, to be run for its effect"};

constexpr StructuralIn<0> output_op{"output_op", PortKind::kOperation, PortList::kSingle, Presence::kRequired,
                                    "the block whose output is taken"};
constexpr StructuralOut<0> output{"output", PortKind::kTensor, PortList::kSingle, "that output, in its type and shape"};
constexpr Attr<int64_t> index{"index", "0", "which output, lists expanded, from 0", nullptr, 0};

constexpr StructuralIn<0> feed_input{"input", PortKind::kTensor, PortList::kSingle, Presence::kRequired,
                                     "the output whose value is replaced"};
constexpr StructuralIn<1> initializer{"initializer", PortKind::kTensor, PortList::kSingle, Presence::kRequired,
                                      "the value that replaces it, of the output's type"};
constexpr StructuralIn<2> outputhash{"outputhash", PortKind::kTensor, PortList::kSingle, Presence::kOptional,
                                     "not used; kept for pages that have it"};
constexpr StructuralOut<0> feed_output{"output", PortKind::kFeed, PortList::kSingle, "the feed, for the inputs of a ClientSession"};

constexpr StructuralIn<0> status{"status", PortKind::kStatus, PortList::kSingle, Presence::kOptional, "the status of a ClientSession"};
constexpr StructuralOut<0> status_output{"output", PortKind::kTensor, PortList::kSingle, "a string: OK, or the last run's failure"};

constexpr StructuralIn<0> fetch_outputs{"fetch_outputs", PortKind::kTensor, PortList::kTuple, Presence::kOptional,
                                        "the outputs to evaluate"};
constexpr StructuralIn<1> run_outputs{"run_outputs", PortKind::kOperation, PortList::kTuple, Presence::kOptional,
                                      "the blocks to run for their effect, each wired as ID.operation"};
constexpr StructuralIn<2> feeds{"inputs", PortKind::kFeed, PortList::kTuple, Presence::kOptional,
                                 "FeedType blocks: outputs with the values that replace them"};
constexpr StructuralOut<0> run_status{"status", PortKind::kStatus, PortList::kSingle, "how the last run ended"};
constexpr Attr<std::string> device{"device", "/cpu:0", "accepted and not used: blocks run on the processor"};
constexpr Attr<bool> show_debug{"SHOW_DEBUG", "false", "report every block as it runs"};
constexpr Attr<bool> infinite_loop{"INFINITE_LOOP", "false", "run again and again until told to stop"};

constexpr StructuralIn<0> ys{"outputs", PortKind::kTensor, PortList::kTuple, Presence::kRequired,
                                  "the ys, of any shape; their elements are summed"};
constexpr StructuralIn<1> xs{"inputs", PortKind::kTensor, PortList::kTuple, Presence::kRequired, "the xs, of any shape"};
constexpr StructuralOut<0> grad_outputs{"grad_outputs", PortKind::kTensor, PortList::kTuple,
                                        "for each x, in order, the gradient of the sum of the ys, in the shape of x"};

}  // namespace

BlockDef AddSymbolicGradients() {
  return Block("AddSymbolicGradients", "The gradients of the sum of some outputs with respect to others.")
      .Details("Adds the blocks that compute them to the page's graph when the page is planned.")
      .Ports(ys, xs, grad_outputs).Structure(Structural::kGradients).NoKernel();
}

BlockDef ClientSession() {
  return Block("ClientSession", "A session: evaluates its fetches and runs its operations, once a cycle or in a loop.")
      .Ports(fetch_outputs, run_outputs, feeds, run_status).Attrs(device, show_debug, infinite_loop)
      .Structure(Structural::kSession).NoKernel();
}

BlockDef InputList() {
  return Block("InputList", "Gathers outputs into a list, for a list port.")
      .Ports(outputlist, list_output).Structure(Structural::kList).NoKernel();
}

BlockDef Operation() {
  return Block("Operation", "A block as an operation, to be run for its effect.")
      .Ports(operation, operation_output).Structure(Structural::kOperation).NoKernel();
}

BlockDef Output() {
  return Block("Output", "One output of an operation, by index.")
      .Ports(output_op, output).Attrs(index).Structure(Structural::kOutput).NoKernel();
}

BlockDef FeedType() {
  return Block("FeedType", "Replaces the value of an output in the runs of a session.")
      .Ports(feed_input, initializer, outputhash, feed_output).Structure(Structural::kFeed).NoKernel();
}

BlockDef Scope() {
  return Block("Scope", "The page's scope; it needs no wiring.").Structure(Structural::kNothing).NoKernel();
}

BlockDef Status() {
  return Block("Status", "Shows the status of a session.").Ports(status, status_output).Structure(Structural::kNothing).NoKernel();
}

}  // namespace weft::blocks
