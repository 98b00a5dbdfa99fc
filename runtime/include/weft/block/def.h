// BlockDef: the declaration of a block type as plain data; made by the fluent Block() in weft/block/block.h. Immutable once it is in a
// Registry, and then safe to read from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/attr.h"
#include "weft/base/chain.h"
#include "weft/block/context.h"
#include "weft/block/gradient.h"
#include "weft/block/partial_reduction.h"
#include "weft/block/port.h"

namespace weft {

using RunFunction = Status (*)(const void* parameters, RunContext& ctx);
using ProduceFunction = Status (*)(const void* parameters, ProduceContext& ctx);
using DescribeFunction = std::string (*)(const void* parameters);
using BindFunction = Result<ResourceHandle> (*)(const void* parameters, BindContext& ctx);

/// A block planned for one signature (types and shapes of its inputs). Exactly one of run and produce is set; both get `parameters`.
struct PlannedBlock {
  RunFunction run = nullptr;
  ProduceFunction produce = nullptr;
  BindFunction bind = nullptr;  // null: the block has no state
  DescribeFunction implementation = nullptr;  // names the one of several that runs, for people; null: there is one
  std::shared_ptr<const void> parameters;
  std::shared_ptr<const PartialReduction> partial_reduction;  // null: the block reduces nothing, or only the whole input at once
  const ChainLink* link = nullptr;  // null: cannot be part of a chain. Only element-wise blocks that cannot fail may have one
};
using PlanFunction = std::function<Result<PlannedBlock>(PlanContext&)>;

/// Blocks that describe the graph instead of computing; the plan layer implements them.
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

/// How a block passes values on, for the planner and the executor.
enum class Flow : uint8_t {
  kPlain,
  kForward,  // output 0 is input 0: it is not copied, the output shares the memory of the input (Identity)
  kSwitch,   // input 0 goes to output 0 or, where the boolean input 1 is true, to output 1; the other is dead
  kMerge,    // output 0 is the input that is not dead, output 1 its index
  kSelect,   // output 0 is the one of the references after input 0 that the integer input 0 names
  // Loops, as in TensorFlow: a frame is the part of the page between Enter and Exit blocks, evaluated once an iteration.
  kEnter,          // output 0 is input 0, in the frame's first iteration, or with is_constant in every one
  kExit,           // output 0 is input 0, outside of the frame
  kNextIteration,  // output 0 is input 0, in the frame's next iteration
};

struct BlockDef {
  // Defined in def.cc, to keep the code of every declaration small.
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
  bool stateful = false;   // outputs depend on more than the inputs: blocks with the same inputs are never merged or left out
  bool waits = false;      // may block until another block changes a resource (a queue): ordered after all blocks that do not depend on it
  bool internal = false;   // made by gradients only; not offered in a palette
  bool elementwise = false;  // output 0 may be written over an input of its size: element i needs only elements i
  std::vector<int> shaped_by;     // inputs whose values determine output shapes (Reshape's shape)
  std::vector<int> uninitialized;  // reference inputs whose variable need not have a value (Assign, IsVariableInitialized)
  std::vector<int> updates;       // reference inputs whose variable the block updates

  PlanFunction plan;                     // empty for structural blocks
  GradientFunction gradient = nullptr;   // null: no gradient; see not_differentiable
  bool gradient_varies = false;          // depends on more than types, attributes and requested inputs: not cached between blocks
  bool not_differentiable = false;       // gradients stop here without an error, as at Equal or ArgMax

  /// Index of a port, alias included, or -1.
  int FindInput(std::string_view port) const;
  int FindOutput(std::string_view port) const;
  /// Index of an attribute ("axis" or "axis_"), or -1.
  int FindAttr(std::string_view attr) const;
};

}  // namespace weft
