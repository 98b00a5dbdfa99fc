// Variable: a value that lives in the page's scope and that other blocks read and update.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr StructuralIn<0> initvalues{"initvalues", PortKind::kTensor, PortList::kSingle, Presence::kOptional,
                                     "the value it starts with, a literal or a wire; without one the variable starts empty"};
constexpr RefOut<0, -1> ref{"ref", "dtype", "the variable, in its present shape"};
constexpr Attr<PartialShape> shape{"shape", kRequired, "its shape; where it is not given, that of the first value"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of its elements; where it is not given, that of the first value"};
constexpr Attr<std::string> container{"container", "", "variables of one container and shared name are one"};
constexpr Attr<std::string> shared_name{"shared_name", "", "the name to share it under; empty for a variable of the block's own"};

}  // namespace

BlockDef Variable() {
  return Block("Variable", "Keeps a value between runs; it starts once, when the page's first session does.")
      .Ports(initvalues, ref)
      .Attrs(shape, dtype, container, shared_name)
      .Inferred(shape, dtype)
      .Types("dtype", kAllTypes)
      .Alias("VariableV2")
      .Structure(Structural::kVariable)
      .Stateful()
      .NoKernel();
}

}  // namespace weft::blocks
