/**
 * @file debug.h
 * Part of weft.h: breakpoints, and values that replace those of a run that is paused. What it has computed is read as always
 * (weft_session_view).
 */
#ifndef WEFT_CAPI_DEBUG_H_
#define WEFT_CAPI_DEBUG_H_

#include "weft/capi/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A place or a value at which the runs of a session are paused, also when it is off: it stays with its block, or its value's, when an edit
 * renames that. While the page has no such block it pauses nothing, and does again when a block with the id that it had last is back.
 */
typedef struct weft_breakpoint weft_breakpoint;

enum {
  WEFT_BREAK_BEFORE = 0,     /* before the block runs */
  WEFT_BREAK_NOT_FINITE = 1, /* after a block, where a floating or complex output holds a NaN or an infinity */
  WEFT_BREAK_CONDITION = 2   /* where the condition holds: after the block whose value it compares, or before a run's first block */
};

typedef struct weft_breakpoint_options {
  uint32_t size;
  int32_t kind;          /* WEFT_BREAK_BEFORE ... */
  const char* block;     /* BEFORE: needed; NOT_FINITE: NULL for any */
  const char* port;      /* NOT_FINITE: NULL for any output */
  const char* condition; /* CONDITION: "run >= 100", "loss.output < 0.5", "w.ref[0][2] == 0"; without indices any element does */
  uint64_t from_hit;     /* pauses from this time on that it comes true; 0 means 1 */
  uint32_t once;         /* not 0: off after its first pause */
  uint32_t reserved;
} weft_breakpoint_options;
#define WEFT_BREAKPOINT_OPTIONS_INIT {sizeof(weft_breakpoint_options), 0, NULL, NULL, NULL, 0, 0, 0}

typedef struct weft_breakpoint_info {
  uint32_t size;
  uint32_t enabled;  /* not 0: on */
  uint64_t hits;     /* times that it came true */
  uint32_t paused;   /* not 0: the session is paused by it */
  uint32_t reserved;
} weft_breakpoint_info;
#define WEFT_BREAKPOINT_INFO_INIT {sizeof(weft_breakpoint_info), 0, 0, 0, 0}

/**
 * Adds a breakpoint; the current run meets it, too. While the session is paused by one, weft_session_paused_at says where and why,
 * weft_session_view shows values of the run, and weft_session_resume continues.
 * Errors: WEFT_NOT_FOUND for a block, port or value that the page has not; WEFT_INVALID_ARGUMENT for a condition that is none, or of what
 * has no real numbers. Owner: the caller, of `breakpoint`. Threads: any.
 */
WEFT_API weft_status weft_session_break(weft_session* session, const weft_breakpoint_options* options, weft_breakpoint** breakpoint,
                                        weft_diagnostics** problems);

/**
 * Removes the breakpoint. A run that is paused by it stays so.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_breakpoint_close(weft_breakpoint* breakpoint);

/**
 * Turns it on (not 0) or off.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_breakpoint_enable(weft_breakpoint* breakpoint, int32_t enabled, weft_diagnostics** problems);

/**
 * Fills in how it is.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_breakpoint_get_info(weft_breakpoint* breakpoint, weft_breakpoint_info* info, weft_diagnostics** problems);

/**
 * For debuggers that may be lost: from now on the session's breakpoints are on, and its runs stay paused for whatever reason, only for
 * lease_ms from now or from the last weft_session_heartbeat. Then the breakpoints are off and a paused run continues. 0: for ever.
 * Errors: WEFT_INVALID_ARGUMENT for a negative time. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_lease(weft_session* session, int64_t lease_ms, weft_diagnostics** problems);

/**
 * The lease begins anew.
 * Errors: WEFT_FAILED_PRECONDITION where there is none, or it is over. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_heartbeat(weft_session* session, weft_diagnostics** problems);

/**
 * While the session is paused within a run: replaces a value, by its name (convention 12), by a copy of the buffer. The blocks that come
 * after in this run take it, and it is the run's result; the next run computes its own. What has been computed before stays as it is. What
 * only hands the value on (Identity, Reshape) follows, unless a block that has run already has read it: then it stays what that block read.
 * On pages with a Switch or a loop, and for values whose shape only the run tells, what hands on is a block that runs like any other.
 * To replace a value in every run: weft_session_feed.
 * Errors: WEFT_FAILED_PRECONDITION where it is not paused there, or the value is not computed yet or not kept; WEFT_INVALID_ARGUMENT for
 * another type or, where the plan knows it, shape; WEFT_UNSUPPORTED for constants, variables (weft_page_set_variable changes them from
 * the next run on) and single elements; WEFT_NOT_FOUND for the name. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_override(weft_session* session, const char* name, const weft_buffer* value, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_DEBUG_H_ */
