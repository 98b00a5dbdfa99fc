// Control flow: dead values, and the steps that hand values on or leave them out. A dead value is one that a Switch sent the other way:
// steps that read it do not run, and their outputs are dead; a Merge continues with the value that is not.
#pragma once

#include "runtime/exec/result_set.h"
#include "runtime/exec/run_memory.h"
#include "runtime/exec/variables.h"

namespace weft {

/// Whether the step does not run, for it reads a dead value; its outputs then are dead, else not.
bool SkipDead(const SessionPlan& planned, const Step& step, ResultSet& set);

/// The slot `to` gets the value of the slot `from`, and shares its memory.
void Forward(const Plan& plan, ResultSet& set, uint32_t from, uint32_t to, const Shape& shape);

/// invalid_argument at "pred" where that is no scalar.
Status RunSwitch(const Plan& plan, const Step& step, ResultSet& set);

/// Hands on the input that is not dead, and gives its index.
Status RunMerge(const SessionPlan& planned, const Step& step, const RunMemory& memory, ResultSet& set);

/// The output is the variable that the index chooses, for what reads it and for what updates it. invalid_argument at "index".
Status RunSelect(const SessionPlan& planned, const Step& step, VariableTransaction& variables, ResultSet& set);

}  // namespace weft
