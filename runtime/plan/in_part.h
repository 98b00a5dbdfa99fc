// What is known of blocks with faults: types that do not depend on those.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/plan/types.h"

namespace weft {

/// One value that a block with faults reads: what a wire brings, or a literal.
struct InputInPart {
  InputType type;
  ValueRef value;                    // of a wire from a block without faults; else invalid
  const Literal* literal = nullptr;  // on the page; it may have a fault, but for its type
};

/// A block with faults, apart from the graph, in which its inputs and outputs are not known.
struct BlockInPart {
  Node node;  // its declaration, attributes as far as they could be read, inputs where all have values; outputs once InferTypes knows them
  std::vector<InputInPart> inputs;
  std::vector<char> unread;  // by attribute: it could not be read

  /// Checks the types of inputs, and infers those of outputs, as far as they do not depend on unread attributes. Gives the faults.
  std::vector<Status> InferTypes();
  bool knows_outputs() const { return !node.out_first.table().empty(); }
};

/// The types of outputs of blocks with faults, where those leave them known.
class TypesInPart {
 public:
  struct Outputs {
    const BlockDef* def;
    ShortList<DType, 8> types;
    PortTable first;
  };
  const Outputs* Find(int block) const;
  void Note(int block, Outputs outputs);

 private:
  std::unordered_map<int, Outputs> known_;
};

/// An operation that is `broken` by faults of its attributes, of values or of blocks before it. Nothing where what one of its inputs brings,
/// or whether there is such an input, is not known. `known` are the types of broken blocks before it.
std::optional<BlockInPart> ReadInPart(const Graph& graph, int block, const TypesInPart& known);
/// What an item of the block's input brings to a port, appended; false where that is not known.
bool ReadItemInPart(const Graph& graph, int block, int port, const PageInput& input, size_t item, const TypesInPart& known, std::vector<InputInPart>& values);

}  // namespace weft
