// One run of a planned block, as the executor does it, with guards round all memory.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/kit/block_tester.h"
#include "tests/kit/block_types.h"
#include "tests/kit/guarded_buffer.h"

namespace weft::kit {

struct PlannedCase {
  const BlockDef& def;
  std::vector<Tensor> inputs;   // values; of reference ports what the variable holds
  std::vector<int> input_port;  // the port of each
  TypedBlock types;
  PlannedBlock block;
  PlannedShapes shapes;
};

struct RunOptions {
  int threads = 1;
  bool backwards = false;  // the order in which tasks are handed out
  unsigned char fill = GuardedBuffer::kNaNFill;
  int overlap = -1;  // the input value whose memory output 0 is in
  std::filesystem::path folder;
  int64_t memory_limit = GuardedBuffer::kMostBytes;  // of each output, and of what the block allocates
};

/// internal where a guard or an input was overwritten, or the block broke its word to the executor.
BlockResult RunOnce(const PlannedCase& planned, const RunOptions& options);

}  // namespace weft::kit
