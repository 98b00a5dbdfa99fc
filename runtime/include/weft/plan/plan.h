// Plan: what a session will do, as inert data: ordered steps over integer slots, and where each value lives. Names are for printing only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weft/base/discard.h"
#include "weft/plan/fused.h"
#include "weft/plan/graph.h"
#include "weft/plan/node_numbers.h"

namespace weft {

/// Whether a step of the flow only hands on its input 0.
inline bool IsForward(Flow flow) {
  return flow == Flow::kForward || flow == Flow::kEnter || flow == Flow::kExit || flow == Flow::kNextIteration;
}

/// What a session keeps as results: the outputs of every block it evaluates, or only those asked for.
enum class Keep : uint8_t { kAll, kAsked };

struct PlanRequest {
  std::vector<ValueRef> fetches;
  std::vector<int> run;  // nodes run for their effect
  struct Feed {
    ValueRef value;
    Shape shape;
    friend bool operator==(const Feed&, const Feed&) = default;
  };
  std::vector<Feed> feeds;
  Keep keep = Keep::kAll;
  /// The shape that a variable (of Graph::variables()) has now; absent where it has no value, then what the page says of it counts. Called
  /// while the plan is made, for variables that it reads or updates. Empty: none has a value.
  std::function<std::optional<Shape>(int variable)> shape_of;
  /// Whether the same is asked for; variables are not compared.
  friend bool operator==(const PlanRequest& a, const PlanRequest& b) {
    return a.keep == b.keep && a.fetches == b.fetches && a.run == b.run && a.feeds == b.feeds;
  }
};

/// One value of a plan.
struct Slot {
  enum class Storage : uint8_t {
    kArena,     // shared memory at `offset`, reused when the value is dead
    kKept,      // memory of its own: a result
    kConstant,  // the graph's
    kVariable,  // the variable's value at the start of the run, or (an update's output) after that update
    kFeed,      // the host's
    kOwned,     // made during the run: strings, handles, shapes that only the run can tell
    kShared,    // another slot's memory: `source`; through a Merge, one of several
    kTile,      // read by steps of one FusedSteps only: never whole in memory
  };
  ValueRef value;
  DType dtype = DType::kInvalid;
  Storage storage = Storage::kArena;
  bool shape_known = false;
  bool kept = false;    // stays readable after the run
  bool result = false;  // and is listed among the results
  bool bound = false;   // kShared: where its memory is is known before the run, so that no step sets it
  int source = -1;      // kShared: the slot whose memory it is, where that is known before the run
  int last_use = -1;    // the last step that reads its memory
  int64_t offset = 0;   // kArena; kTile: in bytes for each element of a tile
  Shape shape;
};

struct Step {
  enum class Kind : uint8_t {
    kRun,      // shapes known: call the kernel
    kProduce,  // the kernel hands over its outputs
    kForward,  // the output shares the input's memory
    kSwitch,
    kMerge,
    kSelect,
    kDynamic,  // plan the block first: shapes or shaping values come from the run
  };
  struct Update {
    uint32_t input;  // input value of the block: a reference. Its slot is this step's own: the variable as the last update left it
    int variable;    // index into Graph::variables(); -1: the one that `selector` holds
    int selector = -1;         // slot of the RefSelect that says which variable it is, or -1
    std::span<const int> choices;  // of those, where there is a selector: one of Plan::choices
    std::optional<Shape> before;  // the variable's shape when the step starts, where it is known before the run
    Shape shape;                  // of the new value; not for kDynamic
    bool may_be_empty = false;    // the variable need not have a value yet
  };
  Kind kind = Kind::kRun;
  int node = -1;
  int loop = -1;                               // index into Plan::loops: the innermost that it runs in
  uint32_t first_input = 0, first_output = 0;  // into Plan::operands; what a fed output computes goes to a slot of its own
  PlannedBlock block;                          // not for kDynamic, kForward, kSwitch, kMerge, kSelect
  RareList<Update> updates;
  RareList<std::pair<uint32_t, int>> reads;  // in loops: input values that are variables which the loop updates, read as they are now
  int64_t scratch_bytes = 0;
  int64_t scratch_offset = 0;  // in the arena
};

/// Steps that run again for as long as their LoopCond, where there is one, is true and a NextIteration among them gets a value. Loops come before those that they contain.
struct Loop {
  int frame = 0;    // index into Graph::frames()
  int parent = -1;  // index into Plan::loops
  int first = 0, last = -1;         // its steps, those of inner loops included
  std::vector<uint32_t> entering;   // slots that have a value in the first iteration only
  std::vector<uint32_t> next;       // slots that keep their value for the next iteration
  int condition = -1;               // slot of its LoopCond, or -1
};

struct Plan {
  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;
  ~Plan() { DiscardAll(slots); }  // there may be millions

  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<Loop> loops;
  std::vector<FusedSteps> fused;   // in the order of their steps
  std::vector<uint32_t> operands;  // slots of the inputs and outputs of all steps
  NodeNumbers first_slot;          // slot of a node's output 0
  std::vector<ValueRef> fetches;
  std::vector<std::vector<int>> choices;  // of the RefSelects that updates go through: indices into Graph::variables()
  std::vector<int> variables;           // indices into Graph::variables() that the plan reads or updates; some more than once
  std::vector<std::optional<Shape>> variable_shapes;  // of each of those when the plan was made; absent where it was not known
  std::vector<int> required_variables;  // those that need a value when the run starts
  Keep keep = Keep::kAll;
  bool has_dead_values = false;  // there is a Switch, or a loop
  bool updates_variables = false;
  int64_t arena_bytes = 0;        // memory shared by values that are not kept
  int64_t kept_bytes = 0;         // results
  int64_t live_bytes = 0;         // lower bound of arena_bytes: the most that lives at one time

  /// About how much memory the plan itself takes, without the values of its runs.
  int64_t bytes() const {
    int64_t more = BytesOfUpdates();
    for (const Slot& slot : slots) more += slot.shape.heap_bytes();
    for (const FusedSteps& group : fused) more += group.bytes();
    return more +
           static_cast<int64_t>(slots.size() * sizeof(Slot) + steps.size() * sizeof(Step) + operands.size() * sizeof(uint32_t) + first_slot.bytes());
  }
  int SlotOf(ValueRef value) const {
    const int first = first_slot[value.node];
    return first < 0 ? -1 : first + value.output;
  }

 private:
  /// And of what variables need.
  int64_t BytesOfUpdates() const {
    size_t sum = variables.size() * sizeof(int) + variable_shapes.size() * sizeof(std::optional<Shape>) + required_variables.size() * sizeof(int);
    for (const std::vector<int>& some : choices) sum += sizeof(some) + some.size() * sizeof(int);
    if (!updates_variables && loops.empty()) return static_cast<int64_t>(sum);
    for (const Step& step : steps) sum += step.updates.size() * sizeof(Step::Update) + step.reads.size() * sizeof(*step.reads.begin());
    return static_cast<int64_t>(sum);
  }
};

/// Plans what the request needs. Faults of blocks (shapes that do not fit) are added to `diagnostics`, placed; all are found in one go.
/// The plan can be run only where nothing was added.
Plan MakePlan(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics);

/// The request that a session of the page makes, before any variable has a value.
PlanRequest RequestFor(const SessionSpec& session, Keep keep);
/// The shape of a variable when a run starts: that of its value, its initial value or its attribute; absent where none is known.
std::optional<Shape> ShapeAtStart(const Graph& graph, const PlanRequest& request, int variable);

/// Which of a block's implementations runs ("direct convolution"); empty where there is one, or only the run can tell.
std::string ImplementationOf(const Step& step);

/// "run", "produce", ...
std::string_view KindName(Step::Kind kind);

/// The steps, one a line: block, inputs and outputs with types, shapes and places; then the memory it needs.
std::string PrintPlan(const Graph& graph, const Plan& plan);

/// Adds "block.port" and a page pointer to what a block's Plan or Run said.
Status PlaceAtNode(const Graph& graph, int node, Status status);

/// The values that shape the outputs of a dynamic step, and the call of its Plan. Shared by the planner and the executor.
Result<PlannedBlock> PlanNode(const Node& node, std::span<const InputInfo> inputs, PlannedShapes& shapes);

/// Gives arena slots their offsets: each value lives from its step to its last use; an element-wise output may take over an input's place.
/// Fused steps count as one.
void PlanMemory(const Graph& graph, Plan& plan);

}  // namespace weft
