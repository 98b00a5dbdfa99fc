// What the cross entropies of softmax have in common.
#pragma once

#include "blocks/gradients.h"

namespace weft::blocks {

/// A gradient of the losses, [batch], repeated for each class, as `backprop` has them.
inline GradientValue SpreadOverClasses(GradientBuilder& g, GradientValue loss_grad, GradientValue backprop) {
  const GradientValue axis = g.Constant(Tensor::Scalar<int32_t>(-1));
  return g.Add("SpreadLike", {{"grad", {loss_grad}}, {"like", {backprop}}, {"axis", {axis}}});
}

/// The gradient of the logits, [batch, classes]: what comes through the loss, backprop times its gradient, and what comes through backprop
/// itself. At least one of the two gradients is valid.
inline GradientValue CrossEntropyGradient(GradientBuilder& g, GradientValue logits, GradientValue backprop, GradientValue loss_grad,
                                          GradientValue backprop_grad) {
  GradientValue total;
  if (loss_grad.valid()) total = Times(g, SpreadOverClasses(g, loss_grad, backprop), backprop);
  if (backprop_grad.valid()) {
    const GradientValue axis = g.Constant(Tensor::Scalar<int32_t>(-1));
    const GradientValue softmax = g.Add("Softmax", {{"logits", {logits}}});
    const GradientValue sum = g.Add("Sum", {{"input", {Times(g, backprop_grad, softmax)}}, {"axis", {axis}}}, {{"keep_dims", true}});
    const GradientValue second = Times(g, Minus(g, backprop_grad, sum), softmax);
    total = total.valid() ? g.Add("AddN", {{"inputs", {total, second}}}) : second;
  }
  return total;
}

}  // namespace weft::blocks
