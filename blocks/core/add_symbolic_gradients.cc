// AddSymbolicGradients: the gradients of outputs with respect to inputs, as blocks added to the page's graph.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr StructuralIn<0> outputs{"outputs", PortKind::kTensor, PortList::kTuple, Presence::kRequired,
                                  "the ys, of any shape; their elements are summed"};
constexpr StructuralIn<1> inputs{"inputs", PortKind::kTensor, PortList::kTuple, Presence::kRequired, "the xs, of any shape"};
constexpr StructuralOut<0> grad_outputs{"grad_outputs", PortKind::kTensor, PortList::kTuple,
                                        "for each x, in order, the gradient of the sum of the ys, in the shape of x"};

}  // namespace

BlockDef AddSymbolicGradients() {
  return Block("AddSymbolicGradients", "The gradients of the sum of some outputs with respect to others.")
      .Details("Adds the blocks that compute them to the page's graph when the page is planned.")
      .Ports(outputs, inputs, grad_outputs)
      .Structure(Structural::kGradients)
      .NoKernel();
}

}  // namespace weft::blocks
