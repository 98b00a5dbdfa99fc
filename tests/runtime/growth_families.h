// The pages that the tests of growth measure.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/runtime/growth_file_pages.h"
#include "tests/runtime/growth_order_pages.h"
#include "tests/runtime/growth_plan_pages.h"
#include "weft/host/session_choice.h"

namespace weft::test::growth {

/// What is done with them: kRuns: all; kRunsOnce: they are run, but not again; kPlans: they are planned; kFaulty: they are looked at.
enum class Kind : uint8_t { kRuns, kRunsOnce, kPlans, kFaulty };

struct Family {
  const char* name;
  std::function<Blocks(int)> blocks;
  int n;
  Kind kind = Kind::kRuns;
};

inline std::function<Blocks(int)> Of(Blocks (*page)(std::string_view, int), const char* what) {
  return [=](int n) { return page(what, n); };
}

inline std::vector<Family> Families() {
  return {{"a chain", ChainBlocks, 250},
          {"a chain, last block first", Backwards, 250},
          {"one to many", FanOut, 250},
          {"many to one", FanIn, 250},
          {"a grid", Grid, 250},
          {"sessions", Sessions, 125},
          {"sessions that train", Trainers, 62},
          {"variables", Variables, 125},
          {"updates of one variable", Updates, 125},
          {"updates, the last first", Backward, 125},
          {"readers and writers of a queue", Queue, 100},
          {"gradients that are gathered, tensors that are kept", Accumulators, 60},
          {"a gradient", Gradients, 125},
          {"feeds", Feeds, 100},
          {"loops", Loops, 25},
          {"arrays of tensors in a loop", ArraysInLoops, 125},
          {"a queue of many", Of(QueueOfMany, "FIFOQueue"), 2000},
          {"a padding queue of many", Of(QueueOfMany, "PaddingFIFOQueue"), 2000},
          {"a queue of many by priority", Of(QueueOfMany, "PriorityQueue"), 2000},
          {"a shuffled queue of many", Of(QueueOfMany, "RandomShuffleQueue"), 2000},
          {"a barrier of many", BarrierOfMany, 2000},
          {"queues and barriers that are closed", Closed, 60, Kind::kRunsOnce},
          {"a staged map", Of(StagedMap, "Map"), 40},
          {"a staged map in order", Of(StagedMap, "OrderedMap"), 40},
          {"a staging area", StagingArea, 60},
          {"sparse gradients that are gathered", SparseAccumulators, 40},
          {"long gradients that are gathered", LongGradients, 2000},
          {"a long array of tensors", LongArray, 2000},
          {"elements of an array of tensors", ArrayElements, 60},
          {"long values", LongValues, 10000},
          {"long rows", LongRows, 2000},
          {"sparse gradients", SparseGradients, 2000},
          {"gradients of gradients", DenseGradients, 2000},
          {"an if in a loop", IfInLoop, 125},
          {"readers", Readers, 40},
          {"lines of a file", Of(RecordFile, "TextLineReader"), 2000},
          {"records of a file", Of(RecordFile, "FixedLengthRecordReader"), 2000},
          {"whole files", WholeFiles, 12},
          {"a checkpoint", Checkpoints, 100},
          {"a checkpoint in two files", CheckpointsV2, 100},
          {"a value that is handed on", HandedOn, 300},
          {"a value that is handed on behind a wait", HandedOnBehindWait, 250},
          {"many that wait for one behind them", WaitsBeforeFiller, 125, Kind::kPlans},
          {"variables that start one after another", VariablesInARow, 400},
          {"updates before a chain", UpdatesBeforeAChain, 125, Kind::kPlans},
          {"updates of two variables, the first behind the last", UpdatesOfTwoVariables, 125, Kind::kPlans},
          {"updates of a reference, in a row", UpdatesInARow, 250},
          {"updates of one of many variables", OneOfManyVariables, 250},
          {"free ranges that are too small", ScatteredRanges, 500, Kind::kPlans},
          {"frames whose parents are found one after another", FramesInARow, 125, Kind::kPlans},
          {"a group of fused steps", FusedGroup, 125, Kind::kPlans},
          {"long names", LongNames, 15},
          {"attributes", Attributes, 125},
          {"long attributes", LongAttributes, 2500},
          {"literals", Literals, 125},
          {"long literals", LongLiterals, 250},
          {"wires to nothing", MissingBlocks, 250, Kind::kFaulty},
          {"inputs of one block at fault", BadInputs, 250, Kind::kFaulty},
          {"attributes and types at fault", BadAttributes, 125, Kind::kFaulty},
          {"shapes at fault", BadShapes, 250, Kind::kFaulty},
          {"cycles", Cycles, 250, Kind::kFaulty},
          {"the same id", SameIds, 250, Kind::kFaulty}};
}

/// The blocks that the sessions of a family's page run, by their types; those that gradients add are among them.
inline std::set<std::string> BlocksRunBy(const Family& family) {
  const TestPage page(family.blocks(std::max(family.n / 16, 2)));
  for (const std::string& error : page.errors()) FAIL_CHECK(family.name << ": " << error);
  std::set<std::string> blocks;
  for (const SessionSpec& spec : SessionsOf(page.graph())) {
    Diagnostics found;
    Session session(page.scope(), spec, Keep::kAll);
    session.Prepare(found);
    INFO(family.name << ": " << ToString(found.FirstError()));
    REQUIRE(session.plan() != nullptr);
    for (const Step& step : session.plan()->steps) blocks.insert(page.graph().nodes()[static_cast<size_t>(step.node)].def->name);
  }
  return blocks;
}

}  // namespace weft::test::growth
