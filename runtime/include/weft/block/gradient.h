// How a block declares its symbolic gradient: by building the blocks that compute it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/base/tensor.h"
#include "weft/block/attr.h"
#include "weft/block/port.h"

namespace weft {

/// An output of a block in the graph under construction; invalid where there is none.
struct GradientValue {
  int node = -1;
  int output = 0;  // value index, list ports expanded
  bool valid() const { return node >= 0; }
};

using GradientInputs = std::vector<std::pair<std::string_view, std::vector<GradientValue>>>;  // port -> values
using GradientAttrs = std::vector<std::pair<std::string_view, AttrValue>>;

/// Passed to a block's gradient function, once for each block between the ys and xs. The function calls Set for each input that has a
/// gradient; inputs it does not set have none. Valid during that call, on its thread.
class GradientBuilder {
 public:
  virtual ~GradientBuilder() = default;

  // The block being differentiated.
  template <InputPort P>
  GradientValue in(const P&, int k = 0) const { return InputValue(P::index, k); }
  template <InputPort P>
  int count(const P&) const { return InputCount(P::index); }
  template <OutputPort P>
  int count(const P&) const { return OutputCount(P::index); }
  template <OutputPort P>
  GradientValue out(const P&, int k = 0) const { return OutputValue(P::index, k); }
  /// The gradient of the outputs (ys) with respect to this output; invalid where the ys do not depend on it through this output.
  template <OutputPort P>
  GradientValue grad(const P&, int k = 0) const { return OutputGradient(P::index, k); }
  /// Whether the gradient of this input is used; one that is not need not be built.
  template <InputPort P>
  bool wanted(const P&, int k = 0) const { return InputWanted(P::index, k); }
  template <class V>
  V attr(const Attr<V>& a) const { return AttrAs<V>(AttrOf(a.name)); }
  /// The attribute's value, to pass on to a gradient block; std::monostate where it has none.
  virtual const AttrValue& AttrOf(std::string_view name) const = 0;
  virtual DType dtype(GradientValue value) const = 0;

  // Building.
  /// Adds a block and returns its first output. Attributes not given have their defaults.
  virtual GradientValue Add(std::string_view block, const GradientInputs& inputs, const GradientAttrs& attrs = {}) = 0;
  /// Another output of a block that Add made: value index `output`.
  static GradientValue Output(GradientValue first, int output) { return {first.node, output}; }
  virtual GradientValue Constant(Tensor value) = 0;
  /// A scalar of the type of `like`.
  GradientValue Scalar(GradientValue like, double value);

  template <InputPort P>
  void Set(const P&, GradientValue gradient, int k = 0) { SetInput(P::index, k, gradient); }

 protected:
  virtual GradientValue InputValue(int port, int k) const = 0;
  virtual int InputCount(int port) const = 0;
  virtual int OutputCount(int port) const = 0;
  virtual GradientValue OutputValue(int port, int k) const = 0;
  virtual GradientValue OutputGradient(int port, int k) const = 0;
  virtual bool InputWanted(int port, int k) const = 0;
  virtual void SetInput(int port, int k, GradientValue gradient) = 0;
};

/// Called where an output has a gradient: of a block with one output that is always valid. Fails where the block has no gradient for these
/// attributes or types; the caller adds the block's name to the message.
using GradientFunction = std::function<Status(GradientBuilder&)>;
/// One that cannot fail.
GradientFunction Unfailing(void (*gradient)(GradientBuilder&));

}  // namespace weft
