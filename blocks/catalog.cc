// The one list of all blocks, sorted by name. BLOCK(category, Name) stands for the function `BlockDef Name()` that declares it.
#include "weft/block/block.h"
#include "weft/block/registry.h"

#define WEFT_CATALOG(BLOCK) \
  BLOCK(core, AddSymbolicGradients) \
  BLOCK(training, ApplyGradientDescent) \
  BLOCK(state, Assign) \
  BLOCK(core, ClientSession) \
  BLOCK(core, Const) \
  BLOCK(core, Const_ex) \
  BLOCK(data_flow_ops, FIFOQueue) \
  BLOCK(core, FeedType) \
  BLOCK(core, Input) \
  BLOCK(core, InputList) \
  BLOCK(core, Input_Initializer) \
  BLOCK(math, MatMul) \
  BLOCK(core, Operation) \
  BLOCK(core, Output) \
  BLOCK(data_flow_ops, QueueClose) \
  BLOCK(data_flow_ops, QueueDequeue) \
  BLOCK(data_flow_ops, QueueDequeueMany) \
  BLOCK(data_flow_ops, QueueDequeueUpTo) \
  BLOCK(data_flow_ops, QueueEnqueue) \
  BLOCK(data_flow_ops, QueueEnqueueMany) \
  BLOCK(data_flow_ops, QueueSize) \
  BLOCK(random, RandomNormal_ex) \
  BLOCK(core, Scope) \
  BLOCK(core, Status) \
  BLOCK(core, Tensor) \
  BLOCK(state, Variable) \
  /* one block a line, sorted by name */

namespace weft {
namespace blocks {

#define WEFT_DECLARE(category, name) BlockDef name();
WEFT_CATALOG(WEFT_DECLARE)
#undef WEFT_DECLARE

}  // namespace blocks

Registry MakeCatalog() {
#define WEFT_ENTRY(category, name) CatalogEntry{#category, blocks::name},
  static constexpr CatalogEntry kEntries[] = {WEFT_CATALOG(WEFT_ENTRY) CatalogEntry{nullptr, nullptr}};
#undef WEFT_ENTRY
  return Registry(std::span(kEntries, std::size(kEntries) - 1));
}

}  // namespace weft
