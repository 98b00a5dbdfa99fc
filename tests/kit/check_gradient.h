// Compares the gradients that AddSymbolicGradients builds with finite differences.
//
//   GradientReport report = CheckGradient(runtime, BlockFunction(registry, {.block = "MatMul", .inputs = {...}}));
//   CHECK(report.error < 1e-8);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/kit/page_maker.h"

namespace weft::kit {

/// Outputs of a page as functions of some of its values.
struct PageFunction {
  Page page;
  std::vector<std::string> ys;  // wires; those of floating-point and complex types are differentiated
  std::vector<std::string> xs;  // wires of constants of such types: they are varied
};

struct GradientOptions {
  int orders = 2;       // 2: the gradients of the gradients, too
  double step = 1e-3;   // times 1 or the size of the element; the function must be smooth that far
  uint32_t seed = 1;    // of the weights of the outputs
  /// The same function in double, with the same ys and xs in order: differences are taken of it. For functions in shorter types, whose
  /// own differences are too rough. Null: of the function itself.
  const PageFunction* exact = nullptr;
};

struct GradientReport {
  Status status;               // of opening, planning and running the pages; the rest holds only where it is ok
  double error = 0;            // the largest |found - expected| / max(1, |expected|) of all orders
  std::string where;           // of that: order, x, element, what was found and expected
  std::vector<double> errors;  // the largest of each order; shorter than asked for where a gradient is the same everywhere
  int64_t elements = 0;        // gradient elements compared
  int missing = 0;             // first-order gradients that nothing leads to; they are taken as zeros
};

/// Order 1: each output is multiplied by fixed weights and summed; the gradients of all sums together are compared, element by element, with
/// central differences, extrapolated from two steps. The next order does the same with these gradients as the outputs. For a complex x
/// the gradient of a real function L is dL/d(re x) + i dL/d(im x), as TensorFlow has it; of a complex output the real part counts.
GradientReport CheckGradient(Runtime& runtime, const PageFunction& function, const GradientOptions& options = {});

/// A block with constants as inputs.
struct BlockFunctionSpec {
  std::string block;
  std::string attrs;
  std::vector<std::pair<std::string, std::vector<Tensor>>> inputs;  // by port
  std::vector<std::string> ys = {};     // "port" or "port[k]"; empty: all output ports
  std::vector<std::string> fixed = {};  // input ports that are not varied
};
PageFunction BlockFunction(const Registry& registry, const BlockFunctionSpec& spec);

/// The elements of a floating-point or complex tensor, and a tensor of such a type made of elements.
std::vector<complex128> ToNumbers(const Tensor& tensor);
Tensor FromNumbers(DType dtype, const Shape& shape, const std::vector<complex128>& numbers);

}  // namespace weft::kit
