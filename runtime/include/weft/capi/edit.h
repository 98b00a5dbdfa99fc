/**
 * @file edit.h
 * Part of weft.h: small edits of a loaded page, each with its inverse.
 */
#ifndef WEFT_CAPI_EDIT_H_
#define WEFT_CAPI_EDIT_H_

#include "weft/capi/page.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What to do with edits. */
enum {
  WEFT_EDIT_APPLY = 0,  /* make them, whatever they mean: a page in the making has faults */
  WEFT_EDIT_STRICT = 1, /* make them where the page has no error afterwards that it did not have before */
  WEFT_EDIT_TRY = 2,    /* make nothing, and say what WEFT_EDIT_STRICT would */
  WEFT_EDIT_OPEN_INPUTS = 3 /* as WEFT_EDIT_STRICT, but inputs may be left without a wire or a value: an editor's pages are not ready for long */
};

/**
 * Edits a page. `edits` is JSON, a list of small operations or one of them, done in order, all or none:
 *
 *     {"op": "add", "block": {"id": "y", "block": "Add", "inputs": {"x": "a.z"}}, "place": 3, "layout": [40, 80]}
 *     {"op": "remove", "block": "y"}                        with the wires that come from it
 *     {"op": "connect", "from": "a.z", "to": "y.x"}         to an element of a list: "to": "y.inputs[2]"
 *     {"op": "connect", "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}, "to": "y.inputs"}
 *     {"op": "disconnect", "to": "y.x"}
 *     {"op": "set", "input": "c.value", "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}   or a wire, a list, null
 *     {"op": "set", "block": "y", "attr": "data_format", "value": "NHWC"}   or "text": "{1,2}"; "value": null for the default
 *     {"op": "set", "block": "y", "attrs": "data_format_ = NHWC;"}          all attributes; or an object, or null
 *     {"op": "set", "block": "y", "key": "note", "value": "slow"}           what the engine does not look at: a note, a colour; or null
 *     {"op": "set", "key": "page", "value": "xor"}          a key of the page: its name, "layout" as a whole, or an unknown one
 *     {"op": "rename", "block": "y", "to": "z"}             its wires follow
 *     {"op": "move", "block": "y", "layout": [40, 80]}      or null: not placed any more
 *
 * Inverse edits use further keys: "place", where something new goes, is an index among blocks ("add"), inputs ("set" of one), entries of
 * the layout ("move") or unknown keys ("set" of a key), at the end without it; "keep_wires" and "keep_layout" of "remove" are true where the
 * wires from the block and its layout stay.
 *
 * `inverse` (may be NULL) gets two texts: the edits that take these back, with which the page is written as the same bytes again; and what
 * is different, {"edits": 7, "added": [ids], "removed": [ids], "changed": [ids], "renamed": [[from, to]], "moved": [ids], "keys": [keys of
 * the page]}: "edits" is weft_page_edits, "changed" are blocks whose wires, values, attributes or keys are others. A session that runs
 * finishes its run of the page as it was; its next one is of the page as it is now. Variables keep their values, and queues and random
 * streams their state, where their blocks stay what they are. What is then wrong with the page is in weft_page_diagnostics.
 * Values in files are read from the folder that the page was loaded with.
 * Errors: WEFT_INVALID_ARGUMENT for text that is no edit, an unknown mode, or what a page cannot hold; WEFT_NOT_FOUND for a block, wire
 * or file that is not there; WEFT_ALREADY_EXISTS for an id that is taken; WEFT_OUT_OF_RANGE for an index or place; WEFT_PERMISSION_DENIED
 * for a file outside the folder; with other modes than WEFT_EDIT_APPLY the code of the page's first new error, which leads `problems`, each
 * other finding of the page following once. It is told of the input that the edits wired, where a block's checks tell it of another of its
 * inputs: that finding is then its cause. Of what is no edit, the JSON pointer in `problems` is that of the edit in the list ("/2"). Owner: the caller, of `inverse` (two texts).
 * Threads: any; edits of one page take turns.
 */
WEFT_API weft_status weft_page_edit(weft_page* page, const char* edits, int32_t mode, weft_strings** inverse, weft_diagnostics** problems);

/**
 * Takes back the last call of weft_page_edit that changed the page and is not taken back, as its inverse does; a page keeps the last 1,000,
 * fewer where they take more than an eighth of its memory limit.
 * `edits` (may be NULL) gets two texts: the edits that this makes of the page, as weft_page_edit takes them, and what is different, as
 * weft_page_edit says it.
 * Errors: WEFT_FAILED_PRECONDITION where nothing is left to take back. Owner: the caller, of `edits` (two texts). Threads: any; edits of
 * one page take turns.
 */
WEFT_API weft_status weft_page_undo(weft_page* page, weft_strings** edits, weft_diagnostics** problems);

/**
 * Makes the edits again that were taken back last. weft_page_edit ends what could be made again.
 * Errors: WEFT_FAILED_PRECONDITION where nothing is left to make again. Owner: the caller, of `edits` (two texts; may be NULL). Threads:
 * any; edits of one page take turns.
 */
WEFT_API weft_status weft_page_redo(weft_page* page, weft_strings** edits, weft_diagnostics** problems);

/**
 * How many calls weft_page_undo and weft_page_redo have left. Either pointer may be NULL.
 * Errors: none. Owner: nothing. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_history(weft_page* page, size_t* undo, size_t* redo, weft_diagnostics** problems);

/**
 * Counts the changes of the page by weft_page_edit, _undo and _redo: what was read of it is out of date where the number is another.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_page_edits(weft_page* page, uint64_t* edits, weft_diagnostics** problems);

/**
 * For hosts that keep names themselves: the name of a value (convention 12), or the condition of a breakpoint on one, as it is after the block
 * `from` was renamed to `to`; a text of another block as it was. Of several renames that an edit has made ("renamed") each text has one.
 * Names that the engine was given (what is fed, bound, subscribed to, fetched, paused at) follow edits by themselves.
 * Errors: none. Owner: the caller, of `now` (one text). Threads: any.
 */
WEFT_API weft_status weft_name_renamed(const char* name, const char* from, const char* to, weft_strings** now, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_EDIT_H_ */
