// ClientSession: what a session evaluates and feeds.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr StructuralIn<0> fetch_outputs{"fetch_outputs", PortKind::kTensor, PortList::kTuple, Presence::kOptional,
                                        "the outputs to evaluate"};
constexpr StructuralIn<1> run_outputs{"run_outputs", PortKind::kOperation, PortList::kTuple, Presence::kOptional,
                                      "the blocks to run for their effect, each wired as ID.operation"};
constexpr StructuralIn<2> inputs{"inputs", PortKind::kFeed, PortList::kTuple, Presence::kOptional,
                                 "FeedType blocks: outputs with the values that replace them"};
constexpr StructuralOut<0> status{"status", PortKind::kStatus, PortList::kSingle, "how the last run ended"};
constexpr Attr<std::string> device{"device", "/cpu:0", "accepted and not used: blocks run on the processor"};
constexpr Attr<bool> show_debug{"SHOW_DEBUG", "false", "report every block as it runs"};
constexpr Attr<bool> infinite_loop{"INFINITE_LOOP", "false", "run again and again until told to stop"};

}  // namespace

BlockDef ClientSession() {
  return Block("ClientSession", "A session: evaluates its fetches and runs its operations, once a cycle or in a loop.")
      .Ports(fetch_outputs, run_outputs, inputs, status)
      .Attrs(device, show_debug, infinite_loop)
      .Structure(Structural::kSession)
      .NoKernel();
}

}  // namespace weft::blocks
