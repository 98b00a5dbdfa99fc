/**
 * @file inspect.h
 * Part of weft.h: what an editor shows of a page, whether it can run or not: blocks, wires, layout, types and shapes, plans, why a block is
 * not planned, which wires would fit; and all results of a run in one call.
 *
 * What is computed for a page is kept until its next edit: asking port by port costs little more than asking for all at once.
 */
#ifndef WEFT_CAPI_INSPECT_H_
#define WEFT_CAPI_INSPECT_H_

#include "weft/capi/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lists of texts ------------------------------------------------------------------------------------------------------- */

/**
 * All texts of a list as an array of zero-terminated strings.
 * Errors: none. Owner: `texts` is the handle's. Threads: any.
 */
WEFT_API weft_status weft_strings_all(const weft_strings* strings, const char* const** texts, size_t* count);

/* ---- what is written on the page ------------------------------------------------------------------------------------------ */

/**
 * A block as the page file spells it: {"id": "y", "block": "Add", "inputs": {"x": "a.z"}}, unknown keys included.
 * Errors: WEFT_NOT_FOUND. Owner: the caller, of `json` (one text). Threads: any.
 */
WEFT_API weft_status weft_page_block_json(weft_page* page, const char* block, weft_strings** json, weft_diagnostics** problems);

/**
 * All wires as JSON, in page order: [["a.z", "y.x"], ["b.z", "sum.inputs[1]"], ...]: an output and an input, which of a list names the
 * element. Wires that lead from nothing are among them.
 * Errors: none. Owner: the caller, of `json` (one text). Threads: any.
 */
WEFT_API weft_status weft_page_wires_json(weft_page* page, weft_strings** json, weft_diagnostics** problems);

/** Where blocks stand. */
enum {
  WEFT_LAYOUT_PAGE = 0, /* as the page says: blocks that it does not place are left out */
  WEFT_LAYOUT_AUTO = 1  /* in layers from left to right, as `weft show --layout auto` draws them: every block */
};

/**
 * Places of blocks as JSON: {"a": [40, 80], ...}, x and y of the upper left corner in pixels, y downwards. As the value of the edit
 * {"op": "set", "key": "layout", "value": ...} it becomes the page's.
 * Errors: WEFT_INVALID_ARGUMENT for an unknown `how`; WEFT_FAILED_PRECONDITION for WEFT_LAYOUT_PAGE where the page's layout is of another
 * form. Owner: the caller, of `json` (one text). Threads: any.
 */
WEFT_API weft_status weft_page_layout_json(weft_page* page, int32_t how, weft_strings** json, weft_diagnostics** problems);

/**
 * The page as an SVG picture, as `weft show` draws it, faults included. With WEFT_LAYOUT_PAGE blocks stand where the page says; of a page
 * that places none, as with WEFT_LAYOUT_AUTO.
 * Errors: WEFT_INVALID_ARGUMENT for an unknown `how`. Owner: the caller, of `svg` (one text). Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_picture(weft_page* page, int32_t how, weft_strings** svg, weft_diagnostics** problems);

/* ---- types and shapes before a run ---------------------------------------------------------------------------------------- */

/** The type and shape of a port as far as the page tells them, before it runs. */
typedef struct weft_port_type {
  uint32_t size;
  int32_t dtype;     /* WEFT_FLOAT ...; 0: not known, or the port carries no tensor */
  int32_t rank;      /* -1: not known */
  uint32_t variable; /* not 0: the port stands for a variable, or a handle of one */
  int64_t* shape;    /* in: room for `capacity` sizes, or NULL; out: the first of `rank` sizes, -1 for each that only a run can tell */
  size_t capacity;
} weft_port_type;
#define WEFT_PORT_TYPE_INIT {sizeof(weft_port_type), 0, -1, 0, NULL, 0}

/**
 * The type and shape of an output, `ID.port` or `ID.port[k]`, or of what an input has; also on a page that cannot run yet: what depends on
 * a faulty block is not known. Shapes are those that the page's sessions would see; of what they leave out, those of a run of everything.
 * Errors: WEFT_NOT_FOUND for a block or port that is not there. Owner: nothing. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_port_type(weft_page* page, const char* port, weft_port_type* type, weft_diagnostics** problems);

/**
 * The same of all outputs as JSON: {"a.z": {"dtype": "DT_FLOAT", "shape": [2, -1]}, "n.ref": {"dtype": "DT_INT32", "shape": [], "variable":
 * true}, "b.z": {}, ...}. Of list outputs each element, but no more than 1,000 outputs of a block: weft_page_port_type tells the others. What
 * is not known is left out.
 * Errors: none. Owner: the caller, of `json` (one text). Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_types_json(weft_page* page, weft_strings** json, weft_diagnostics** problems);

/**
 * Why a block is not planned: its own faults or, where it has none, those of the blocks that it depends on, nearest first. Empty where it
 * can run.
 * Errors: WEFT_NOT_FOUND. Owner: the caller, of `reasons`. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_why_not(weft_page* page, const char* block, weft_diagnostics** reasons, weft_diagnostics** problems);

/**
 * What a session of the page would do, as JSON: {"steps": [{"block", "type", "kind", "inputs": [{"value", "dtype", "shape", "storage",
 * "offset"}], "outputs": [...]}], "arena_bytes", "kept_bytes"}. `session` is the id of a ClientSession block; NULL: the page's first, or
 * what nobody reads.
 * Errors: WEFT_NOT_FOUND for the session; where it cannot be planned, its faults. Owner: the caller, of `json` (one text). Threads: any.
 */
WEFT_API weft_status weft_page_plan_json(weft_page* page, const char* session, weft_strings** json, weft_diagnostics** problems);

/* ---- wires before they are made ------------------------------------------------------------------------------------------- */

/**
 * Whether a wire from an output to an input would fit: WEFT_OK, or the reason, with code, message, hint and place as the edit
 * {"op": "connect"} gives them with WEFT_EDIT_STRICT. An input that has a wire or value would get this one instead; a list grows.
 * It is stricter than an edit where the block lacks other inputs, for which an edit waits: the type must be one that the block can take.
 * Errors: WEFT_NOT_FOUND for blocks and ports; what the edit would be refused for. Owner: nothing. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_check_wire(weft_page* page, const char* from, const char* to, weft_diagnostics** problems);

/**
 * The inputs of the whole page, `ID.port`, that a wire from the output may go to; for highlighting while it is dragged. List inputs are
 * named once. It looks at types and kinds (values, variables, handles, operations, feeds), at what would follow for the blocks behind,
 * and at cycles, but not at shapes, nor at whether gradients (AddSymbolicGradients) can still be made: weft_page_check_wire does.
 * Errors: WEFT_NOT_FOUND for the output. Owner: the caller, of `inputs`. Threads: any.
 */
WEFT_API weft_status weft_page_inputs_for(weft_page* page, const char* from, weft_strings** inputs, weft_diagnostics** problems);

/**
 * The reverse: the outputs, `ID.port`, that may feed the input `to`. Elements of list outputs are not named one by one.
 * Errors: WEFT_NOT_FOUND for the input. Owner: the caller, of `outputs`. Threads: any.
 */
WEFT_API weft_status weft_page_outputs_for(weft_page* page, const char* to, weft_strings** outputs, weft_diagnostics** problems);

/* ---- all results of a run ------------------------------------------------------------------------------------------------- */

/** Values of one run, read in one call. Immutable; a value stays as it is, whatever runs next. */
typedef struct weft_results weft_results;

typedef struct weft_result {
  const char* name;
  int32_t code;           /* WEFT_OK, or why it cannot be read: then the rest is 0 */
  int32_t dtype;          /* WEFT_FLOAT ... */
  int32_t rank;
  uint32_t stale;         /* as in weft_view_info */
  const int64_t* shape;   /* `rank` sizes; NULL for a scalar */
  const int64_t* strides; /* in bytes; NULL for a scalar */
  int64_t count;          /* elements */
  int64_t bytes;          /* of `data`; 0 for strings and resources */
  const void* data;       /* not to be written; NULL for strings and resources, and where there are no elements */
  uint64_t generation;    /* the run that computed it, counted from 1 */
} weft_result;

/**
 * The values of many names at once, all of the same run, as weft_session_view gives each; `names` NULL: of all that the session keeps, in
 * the order of its plan, but for those that no run has computed.
 * Errors: none for names that cannot be read: `code` says it. Owner: the caller, of `results`. Threads: any.
 */
WEFT_API weft_status weft_session_read_results(weft_session* session, const char* const* names, size_t count, weft_results** results,
                                               weft_diagnostics** problems);

/**
 * All values as an array, in the order asked for.
 * Errors: none. Owner: `array` and all that it points to are the handle's. Threads: any.
 */
WEFT_API weft_status weft_results_all(const weft_results* results, const weft_result** array, size_t* count);

/**
 * One of them as a view, which outlives the handle.
 * Errors: WEFT_OUT_OF_RANGE for an index that is not below the count; the value's code where it could not be read. Owner: the caller, of
 * `view`. Threads: any.
 */
WEFT_API weft_status weft_results_view(const weft_results* results, size_t index, weft_view** view, weft_diagnostics** problems);

/**
 * Ends the handle.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_results_release(weft_results* results);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_INSPECT_H_ */
