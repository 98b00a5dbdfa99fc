// What one block makes of the types at its inputs, apart from its page.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// All that the types of a page look at of a value.
struct OfferedValue {
  DType type = DType::kInvalid;
  enum class Kind : uint8_t { kValue, kVariable, kHandle } kind = Kind::kValue;
  const Tensor* constant = nullptr;  // where it is known before the run

  friend bool operator==(const OfferedValue& a, const OfferedValue& b) {
    const auto data = [](const OfferedValue& value) { return value.constant == nullptr ? nullptr : value.constant->data(); };
    return a.type == b.type && a.kind == b.kind && data(a) == data(b);
  }
};

/// What one item of an input brings: a literal of the page, or a value.
struct GivenItem {
  int port = 0;  // index of the declaration's inputs
  const Literal* literal = nullptr;
  OfferedValue value;
};

/// The outputs of a block: of each port its values.
struct OfferedOutputs {
  bool broken = true;  // no types are known
  std::vector<OfferedValue> values;
  std::vector<uint32_t> first;  // by port, and the number of values

  friend bool operator==(const OfferedOutputs&, const OfferedOutputs&) = default;
};

/// Has the graph layer connect one block alone, with stand-ins for what its wires bring, and keeps what that said: a page has few kinds of
/// blocks with few combinations of types.
class BlockTyping {
 public:
  explicit BlockTyping(const Graph& graph) : graph_(graph), block_keys_(graph.page().blocks.size(), 0) {}

  struct Outcome {
    Status status;         // of the block, without its place on the page
    Status lacking;        // of an input that nothing is given for
    bool complete = true;  // it has all inputs that it needs
    OfferedOutputs outputs;
    Tensor constant;  // its output, where that is known before the run
  };
  /// `given` in the page's order. What the block lacks besides is taken to be of a type that fits: then the outputs are broken.
  const Outcome& Connect(int block, std::span<const GivenItem> given);

 private:
  uint64_t KeyOf(int block, std::span<const GivenItem> given);
  Outcome ConnectAnew(int block, std::span<const GivenItem> given) const;
  /// Stand-ins for the required inputs that have nothing; by port.
  void Complete(const Node& node, std::vector<GivenItem>& given) const;
  InputItem ItemFor(const BlockDef& def, const GivenItem& given, std::vector<PageBlock>& stubs) const;

  const Graph& graph_;
  std::vector<uint64_t> block_keys_;  // by block: of its type and attributes; 0 until needed
  std::unordered_map<uint64_t, Outcome> known_;
};

/// The kind of an output port.
OfferedValue::Kind KindOf(const PortSpec& output);

}  // namespace weft
