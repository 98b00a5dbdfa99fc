// BlockDef: everything that Weft knows of a block type, as plain data; made by the fluent Block() in weft/block/block.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/attr.h"
#include "weft/block/chain.h"
#include "weft/block/context.h"
#include "weft/block/gradient.h"
#include "weft/block/pieces.h"
#include "weft/block/port.h"

namespace weft {

using RunFunction = Status (*)(const void* parameters, RunContext& ctx);
using ProduceFunction = Status (*)(const void* parameters, ProduceContext& ctx);
using BindFunction = Result<ResourceHandle> (*)(const void* parameters, BindContext& ctx);

/// A block made ready for one signature. Just one of run and produce is set.
struct PlannedBlock {
  RunFunction run = nullptr;
  ProduceFunction produce = nullptr;
  BindFunction bind = nullptr;  // null: the block has no state
  std::shared_ptr<const void> parameters;
  std::shared_ptr<const Pieces> pieces;  // null: the input is taken whole
  const ChainLink* link = nullptr;       // null: does not run on elements in registers; an element-wise block that cannot fail may
};
using PlanFunction = std::function<Result<PlannedBlock>(PlanContext&)>;

/// Blocks that shape the graph rather than compute; the plan layer knows what each means.
enum class Structural : uint8_t {
  kNone,
  kConstant,      // Const, Const_ex, Input, Input_Initializer, Tensor: the value of an input as an output
  kVariable,      // Variable, VarHandleOp
  kTemporary,     // TemporaryVariable: a variable for one run
  kList,          // InputList: outputs to a list
  kOperation,     // Operation: a block as an operation
  kOutput,        // Output: an operation's output by index
  kFeed,          // FeedType
  kGradients,     // AddSymbolicGradients
  kSession,       // ClientSession
  kAlias,         // rewritten to another block: RandomNormal_ex
  kNothing,       // Scope, Status
};

/// How values flow through a block, for the parts of the engine that schedule it.
enum class Flow : uint8_t {
  kPlain,
  kForward,  // output 0 is input 0: no step copies it, the slot shares its memory (Identity)
  kSwitch,   // input 0 goes to output 0 or, where the boolean input 1 is true, to output 1; the other is dead
  kMerge,    // output 0 is the input that is not dead, output 1 its index
  kSelect,   // output 0 is the one of the references after input 0 that the integer input 0 names
  // Loops: a frame is what lies between Enter and Exit blocks; its turns are iterations.
  kEnter,          // output 0 is input 0, in the frame's first iteration, or in each where it says is_constant
  kExit,           // output 0 is input 0, outside of the frame
  kNextIteration,  // output 0 is input 0, in the frame's next iteration
};

struct BlockDef {
  // Compiled once, not wherever a block is declared.
  BlockDef();
  BlockDef(const BlockDef& other);
  BlockDef(BlockDef&& other) noexcept;
  BlockDef& operator=(const BlockDef& other);
  BlockDef& operator=(BlockDef&& other) noexcept;
  ~BlockDef();

  std::string name;
  std::string category;  // set by the registry from the catalog
  std::string summary;   // one sentence
  std::string details;   // what else a user must know; may be empty
  std::vector<std::string> aliases;  // TensorFlow's operation name, palette spellings
  std::vector<std::pair<std::string, std::string>> port_aliases;  // palette spelling -> port
  std::vector<PortSpec> inputs;
  std::vector<PortSpec> outputs;
  std::vector<AttrSpec> attrs;

  Structural structural = Structural::kNone;
  Flow flow = Flow::kPlain;
  bool stateful = false;   // two of them with the same inputs may differ; never merged or left out
  bool waits = false;      // may wait for what other blocks of the page do to a resource; runs after those that it can wait for
  bool internal = false;   // made by gradients only; not offered in a palette
  bool elementwise = false;  // output 0 may be written over an input of its size: element i needs only elements i
  std::vector<int> shaped_by;     // inputs whose values shape the outputs (Reshape's shape)
  std::vector<int> uninitialized;  // reference inputs whose variable need not have a value (Assign, IsVariableInitialized)
  std::vector<int> updates;       // reference inputs whose variable the block updates

  PlanFunction plan;                     // empty for structural blocks
  GradientFunction gradient = nullptr;   // null: no gradient; see not_differentiable
  bool gradient_varies = false;          // with more than types, settings, and what is asked for: then each block is asked anew
  bool not_differentiable = false;       // gradients stop here without an error, as at Equal or ArgMax

  /// Index of a port, alias included, or -1.
  int FindInput(std::string_view port) const;
  int FindOutput(std::string_view port) const;
  /// Index of an attribute ("axis" or "axis_"), or -1.
  int FindAttr(std::string_view attr) const;
};

}  // namespace weft
