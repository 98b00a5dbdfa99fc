// RandomNormal_ex: RandomNormal whose shape is an attribute.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Out<0> output{"output", "dtype", "of the given shape"};
constexpr Attr<PartialShape> shape{"shape", kRequired, "the shape of the output, fully known"};
constexpr Attr<DType> dtype{"dtype", "DT_DOUBLE", "the type of the elements"};
constexpr Attr<int64_t> seed{"seed", "0", "the seed; where both are 0 the numbers differ from session to session"};
constexpr Attr<int64_t> seed2{"seed2", "0", "a second seed"};

}  // namespace

BlockDef RandomNormal_ex() {
  return Block("RandomNormal_ex", "Normal random numbers of mean 0 and deviation 1, in a fixed shape.")
      .Details("The same numbers as RandomNormal gives.")
      .Ports(output)
      .Attrs(shape, dtype, seed, seed2)
      .Types("dtype", kFloats)
      .Structure(Structural::kAlias)
      .Stateful()
      .NotDifferentiable()
      .NoKernel();
}

}  // namespace weft::blocks
