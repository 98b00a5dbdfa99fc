// Const and its relatives: a value on the page as an output.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr StructuralIn<0> value{"value", PortKind::kTensor, PortList::kSingle, Presence::kRequired,
                                "the value, of any shape: a literal or a wire"};
constexpr StructuralIn<0> initvalues{"initvalues", PortKind::kTensor, PortList::kSingle, Presence::kRequired,
                                     "the value, of any shape: a literal or a wire"};
constexpr StructuralIn<0> t{"t", PortKind::kTensor, PortList::kSingle, Presence::kRequired, "the value, of any shape: a literal or a wire"};
constexpr Out<0> output{"output", "dtype", "the value, in the shape of the input"};
constexpr Out<0> input{"input", "dtype", "the value, in the shape of the input"};
constexpr StructuralOut<0> untyped_output{"output", PortKind::kTensor, PortList::kSingle, "the value, in the type and shape of the input"};
constexpr Attr<DType> literal_dtype{"dtype", kRequired,
                                    "the type of the elements; where it is not given, the type that the value's text shows"};
constexpr Attr<DType> dtype{"dtype", "DT_INT32", "the type of the elements"};

BlockDef TypedConstant(const char* name, const char* summary, const auto& in, const auto& out) {
  return Block(name, summary).Ports(in, out).Attrs(dtype).Types("dtype", kAllTypes).Structure(Structural::kConstant).NoKernel();
}

}  // namespace

BlockDef Const() {
  return Block("Const", "A constant: the value of its input, the same in every run.")
      .Ports(value, output).Attrs(literal_dtype).Inferred(literal_dtype).Types("dtype", kAllTypes)
      .PortAlias("val", "value")
      .Structure(Structural::kConstant).NotDifferentiable().NoKernel();
}

BlockDef Const_ex() {
  BlockDef def = TypedConstant("Const_ex", "A constant whose type an attribute says.", value, output);
  def.port_aliases.emplace_back("val", "value");
  def.not_differentiable = true;
  return def;
}

BlockDef Input() {
  return TypedConstant("Input", "A value for the inputs of other blocks, of the type that an attribute says.", initvalues, input);
}

BlockDef Tensor() { return TypedConstant("Tensor", "A tensor on the page, of the type that an attribute says.", initvalues, output); }

BlockDef Input_Initializer() {
  return Block("Input_Initializer", "A value that starts a constant or feeds an output.")
      .Ports(t, untyped_output).Structure(Structural::kConstant).NoKernel();
}

}  // namespace weft::blocks
