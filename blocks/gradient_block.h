// Gradients that are one block, declared by what its ports get:
//
//   .Gradient(GradientBlock(input, "PadGrad", {{"grad", Grad(output)}, {"paddings", paddings}}))
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "blocks/gradients.h"

namespace weft::blocks {

/// A value that a gradient is made of: an input or an output of the block that is differentiated or, by Grad, the gradient of an output.
struct GradientSource {
  GradientValue (*value)(GradientBuilder& g);
  explicit GradientSource(GradientValue (*from)(GradientBuilder&)) : value(from) {}
  template <InputPort P>
  GradientSource(const P&) : value([](GradientBuilder& g) { return g.in(P{}); }) {}
  template <OutputPort P>
  GradientSource(const P&) : value([](GradientBuilder& g) { return g.out(P{}); }) {}
};
template <OutputPort P>
GradientSource Grad(const P&) { return GradientSource([](GradientBuilder& g) { return g.grad(P{}); }); }

/// The gradient of an input that is what one block gives for these values, with the attributes named as this block has them. Without the
/// gradient of an output that it takes there is none.
template <InputPort P>
GradientFunction GradientBlock(const P&, const char* block, std::vector<std::pair<const char*, GradientSource>> inputs,
                               std::vector<std::string_view> attrs = {}) {
  return [=](GradientBuilder& g) -> Status {
    GradientInputs values;
    for (const auto& [port, source] : inputs) {
      values.push_back({port, {source.value(g)}});
      if (!values.back().second[0].valid()) return {};
    }
    g.Set(P{}, g.Add(block, values, SameAttrs(g, attrs)));
    return {};
  };
}

}  // namespace weft::blocks
