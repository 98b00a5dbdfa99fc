// What the types of a block's outputs are, and whether its inputs have types and numbers that it takes.
#pragma once

#include <vector>

#include "weft/block/def.h"

namespace weft::kit {

/// The values of one block, ports in order, list ports expanded.
struct TypedBlock {
  std::vector<AttrValue> attrs;  // as given, with what follows from the inputs filled in
  std::vector<DType> outputs;
  std::vector<uint32_t> in_first, out_first;
};

/// `inputs[p]` are the types of the values of port p. invalid_argument, placed at the port, for a type or a number of values that the
/// block does not take; for attributes as ParseAttrs.
Result<TypedBlock> InferTypes(const BlockDef& def, std::string_view attrs, const std::vector<std::vector<DType>>& inputs);

}  // namespace weft::kit
