// The numbers of the interface as JSON.
#include "weft.h"

namespace {

// One line for each number; names are those of the constants, in lower case.
constexpr const char kCodes[] = R"({
 "codes": [
  {"number": 0, "name": "ok", "means": "it succeeded"},
  {"number": 1, "name": "invalid_argument", "means": "an argument is wrong in any state"},
  {"number": 2, "name": "not_found", "means": "no such block, port, file or name"},
  {"number": 3, "name": "already_exists", "means": "the name is taken"},
  {"number": 4, "name": "out_of_range", "means": "an index or number is beyond the limits"},
  {"number": 5, "name": "failed_precondition", "means": "not possible in this state"},
  {"number": 6, "name": "unsupported", "means": "known, but not implemented"},
  {"number": 7, "name": "resource_exhausted", "means": "over the memory limit, or out of memory"},
  {"number": 8, "name": "data_loss", "means": "a file is damaged"},
  {"number": 9, "name": "cancelled", "means": "cancelled, or past its deadline"},
  {"number": 10, "name": "aborted", "means": "ended by the page itself, or by other sessions"},
  {"number": 11, "name": "permission_denied", "means": "a file outside the allowed folders"},
  {"number": 12, "name": "internal", "means": "a fault of Weft, or of a host's block"}
 ],
 "severities": [
  {"number": 0, "name": "error", "means": "the page, or a part of it, cannot run"},
  {"number": 1, "name": "warning", "means": "it can run, but may not be what was meant"},
  {"number": 2, "name": "note", "means": "more about the finding before it"}
 ],
 "phases": [
  {"number": 0, "name": "none", "means": "not about a page"},
  {"number": 1, "name": "load", "means": "reading the document"},
  {"number": 2, "name": "connect", "means": "names, wires, attributes and types"},
  {"number": 3, "name": "compile", "means": "shapes and the plan"},
  {"number": 4, "name": "run", "means": "running"}
 ],
 "states": [
  {"number": 0, "name": "idle", "means": "nothing runs"},
  {"number": 1, "name": "running", "means": "a run is in progress"},
  {"number": 2, "name": "paused", "means": "a run is paused, or the next one will be"}
 ],
 "pause_reasons": [
  {"number": 0, "name": "not_paused", "means": "not paused"},
  {"number": 1, "name": "asked", "means": "the host paused it"},
  {"number": 2, "name": "reached", "means": "the next block is the one to run to"},
  {"number": 3, "name": "stepped", "means": "a single step has ended"},
  {"number": 4, "name": "break", "means": "a breakpoint was hit"}
 ],
 "modes": [
  {"number": 0, "name": "edit", "means": "nothing runs"},
  {"number": 1, "name": "freeze", "means": "paused between two blocks"},
  {"number": 2, "name": "step", "means": "one run, then freeze"},
  {"number": 3, "name": "run", "means": "runs until another mode is set"}
 ],
 "event_kinds": [
  {"number": 0, "name": "state", "means": "the session became idle, running or paused"},
  {"number": 1, "name": "run", "means": "a run began or ended"},
  {"number": 2, "name": "progress", "means": "a block began or ended"},
  {"number": 3, "name": "error", "means": "a run failed"},
  {"number": 4, "name": "print", "means": "output or a warning of a block"},
  {"number": 5, "name": "values", "means": "samples of subscriptions are ready"},
  {"number": 6, "name": "gap", "means": "events were dropped"},
  {"number": 7, "name": "edited", "means": "the page was edited"}
 ],
 "progress": [
  {"number": 0, "name": "no_progress", "means": "not about progress"},
  {"number": 1, "name": "began", "means": "it began"},
  {"number": 2, "name": "ended", "means": "it succeeded"},
  {"number": 3, "name": "skipped", "means": "not run: a Switch sent its input elsewhere"},
  {"number": 4, "name": "failed", "means": "it failed"},
  {"number": 5, "name": "ended_cancelled", "means": "it was cancelled"}
 ],
 "case_verdicts": [
  {"number": 0, "name": "passed", "means": "all results are as expected"},
  {"number": 1, "name": "failed", "means": "a result is not as expected"},
  {"number": 2, "name": "skipped", "means": "it could not be run here"}
 ]
}
)";

}  // namespace

const char* weft_codes_json(void) { return kCodes; }
