// What wires and blocks of a page bring, as it is or with some outputs changed.
#pragma once

#include <optional>
#include <vector>

#include "runtime/plan/wire_fit_typing.h"

namespace weft {

/// Outputs that would be others, by block. They are not copied.
class ChangedOutputs {
 public:
  explicit ChangedOutputs(size_t blocks) : outputs_(blocks, nullptr) {}

  bool empty() const { return blocks_.empty(); }
  const OfferedOutputs* Find(int block) const { return outputs_[static_cast<size_t>(block)]; }
  void Set(int block, const OfferedOutputs& outputs) {
    if (Find(block) == nullptr) blocks_.push_back(block);
    outputs_[static_cast<size_t>(block)] = &outputs;
  }
  void Clear() {
    for (int block : blocks_) outputs_[static_cast<size_t>(block)] = nullptr;
    blocks_.clear();
  }

 private:
  std::vector<const OfferedOutputs*> outputs_;  // by block; null: as they are
  std::vector<int> blocks_;                     // that have some
};

/// A wire's start.
struct WireSource {
  Wire wire;
  int block = -1;
  std::optional<Status> refused;  // it carries no values: why
  bool broken = false;            // what it carries is not known
  std::vector<OfferedValue> values;
};

class PageValues {
 public:
  explicit PageValues(const Graph& graph);

  const PageBlock& Written(int block) const { return graph_.page().blocks[static_cast<size_t>(block)]; }
  /// Of the type that the page names; null where that is not known.
  const BlockDef* DefOf(int block) const { return defs_[static_cast<size_t>(block)]; }

  OfferedValue ValueOf(ValueRef value) const;
  OfferedOutputs OutputsOf(int block) const;
  /// Whether the block has these outputs already.
  bool Gives(int block, const OfferedOutputs& outputs) const;
  WireSource SourceOf(const Wire& wire, const ChangedOutputs& changed) const;
  /// What the inputs of a sound block would have, where the blocks that changed have as many values as before; faster than ItemsOf.
  void ValuesOf(int block, const ChangedOutputs& changed, std::vector<GivenItem>& given) const;
  /// What the inputs of a block would have; false where some of it is not known. `source` replaces or extends what `port` has.
  bool ItemsOf(int block, const ChangedOutputs& changed, std::vector<GivenItem>& given, const WireSource* source = nullptr, int port = -1,
               int index = -1) const;

 private:
  void KnownItems(int block, const WireSource* source, int port, std::vector<GivenItem>& given) const;

  const Graph& graph_;
  std::vector<const BlockDef*> defs_;  // by block
};

}  // namespace weft
