// RandomNormal_ex: RandomNormal whose shape is an attribute.
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Out<0> output{"output", "dtype", "of the given shape"};
constexpr Attr<PartialShape> shape{"shape", kRequired, "the shape of the output, fully known"};
constexpr Attr<DType> dtype{"dtype", "DT_DOUBLE", "the type of the elements"};

}  // namespace

BlockDef RandomNormal_ex() {
  return Block("RandomNormal_ex", "Normal random numbers of mean 0 and deviation 1, in a fixed shape.")
      .Details("The same numbers as RandomNormal gives: with seeds those that TensorFlow draws, without other numbers every time.")
      .Ports(output)
      .Attrs(shape, dtype, kSeed, kSeed2)
      .Types("dtype", kFloats)
      .Structure(Structural::kAlias)
      .Stateful()
      .NotDifferentiable()
      .NoKernel();
}

}  // namespace weft::blocks
