/**
 * @file session.h
 * Part of weft.h: sessions and how they run.
 *
 * A session is idle, running or paused. weft_session_run runs on the calling thread; weft_session_start on a thread of the session's own,
 * which weft_session_wait waits for. Everything that controls a run (pause, resume, stop, cancel) may be called from anywhere.
 */
#ifndef WEFT_CAPI_SESSION_H_
#define WEFT_CAPI_SESSION_H_

#include "weft/capi/page.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A plan of what to evaluate, run against its page's state, and the results of its last run. A page may have many.
 *
 * The page may be edited while its sessions run: each run is of the page as it is when the run begins. Where that has faults at what the
 * session asks for, or has that no more (a fetched block, or the session's own ClientSession, was removed), runs of a session that has had
 * a run that succeeded continue with the last plan that could be made, and say so: outdated_page in weft_session_info, in weft_view_info and in events of runs; weft_session_faults says
 * why. Every later edit, and every other value that is fed, is tried, and the first page that can be planned is taken. Results and their
 * names are meanwhile those of the page that runs.
 */
typedef struct weft_session weft_session;

typedef struct weft_session_options {
  uint32_t size;
  uint32_t keep_asked;  /* 0: results of all blocks evaluated are kept; else only of those fetched, so that plans fuse and reuse memory */
  const char* session;  /* id of a ClientSession block; NULL: the page's first, or what nobody reads */
  const char* const* fetches;    /* values to compute instead: "loss.output"; may be NULL */
  size_t fetch_count;
  const char* const* operations; /* blocks to run for their effect besides: "train_w"; may be NULL */
  size_t operation_count;
} weft_session_options;
#define WEFT_SESSION_OPTIONS_INIT {sizeof(weft_session_options), 0, NULL, NULL, 0, NULL, 0}

/**
 * Opens a session of a page. `options` may be NULL.
 * Errors: WEFT_NOT_FOUND for a block or value that the page does not have; WEFT_FAILED_PRECONDITION where the page has errors at what is
 * asked for, followed in `problems` by all findings of the page; the fault's code where it cannot be planned for another reason, with all
 * such faults in `problems`. Owner: the caller, of `session`. Threads: any.
 */
WEFT_API weft_status weft_session_open(weft_page* page, const weft_session_options* options, weft_session** session,
                                       weft_diagnostics** problems);

/**
 * Ends the handle: cancels what runs and waits until it has ended, unless called from a callback of that very run. Inside a block's plan
 * or gradient that the page waits for (convention 9) it is refused, and the handle stays open.
 * Errors: none. Owner: takes the handle. Threads: any; waits.
 */
WEFT_API weft_status weft_session_close(weft_session* session);

/* ---- running -------------------------------------------------------------------------------------------------------------- */

/** As a number of steps: until stopped, cancelled, or a run fails. */
#define WEFT_UNTIL_STOPPED (-1)

typedef struct weft_run_options {
  uint32_t size;
  uint32_t reserved;
  int64_t steps;           /* runs to make: 1 or more, or WEFT_UNTIL_STOPPED */
  int64_t deadline_ns;     /* from now; what still runs then is cancelled; 0: none */
  int64_t interval_ns;     /* least time from the start of one run to that of the next, for pages that run at a rate; 0: none */
  const char* until_block; /* weft_session_start only: pause before this block runs; may be NULL */
} weft_run_options;
#define WEFT_RUN_OPTIONS_INIT {sizeof(weft_run_options), 0, 1, 0, 0, NULL}

/**
 * Runs on the calling thread, and returns when that has ended. NULL options mean one run. Meanwhile, other threads may pause,
 * stop and cancel it.
 * Errors: WEFT_FAILED_PRECONDITION where the session is not idle, or the page has faults and no run has succeeded before; WEFT_CANCELLED;
 * what the page's blocks report, with block and port. A run that fails or is cancelled leaves variables and results as they were.
 * Owner: nothing. Threads: any; waits.
 */
WEFT_API weft_status weft_session_run(weft_session* session, const weft_run_options* options, weft_diagnostics** problems);

/**
 * Starts to run on the session's own thread, and returns at once. NULL options mean one run.
 * Errors: WEFT_FAILED_PRECONDITION where the session is not idle; WEFT_NOT_FOUND for until_block. Later failures are reported by
 * weft_session_wait. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_start(weft_session* session, const weft_run_options* options, weft_diagnostics** problems);

/** States of a session. */
enum { WEFT_IDLE = 0, WEFT_RUNNING = 1, WEFT_PAUSED = 2 };

/**
 * Waits until the session is idle or paused, at most timeout_ms (0: not at all; negative: for ever), and tells the state, where `state`
 * is not NULL. WEFT_OK where it still runs, is paused, or its last run or start ended well.
 * Errors: where it is idle, what ended the last run or start: WEFT_CANCELLED or a block's fault. WEFT_FAILED_PRECONDITION on a thread
 * that runs the session. Owner: nothing. Threads: any; waits.
 */
WEFT_API weft_status weft_session_wait(weft_session* session, int64_t timeout_ms, int32_t* state, weft_diagnostics** problems);

/**
 * Asks a running session to pause before its next block, or its next run. The call does not wait: weft_session_wait does.
 * Errors: WEFT_FAILED_PRECONDITION where it does not run. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_pause(weft_session* session, weft_diagnostics** problems);

/** How a paused session continues. */
enum {
  WEFT_GO_ON = 0,       /* as it was started */
  WEFT_STEP_BLOCK = 1,  /* runs one block, and pauses before the next */
  WEFT_STEP_RUN = 2     /* to the end of this run, and pauses before the next */
};

/**
 * Lets a paused session continue.
 * Errors: WEFT_FAILED_PRECONDITION where it is not paused; WEFT_INVALID_ARGUMENT for an unknown `how`. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_resume(weft_session* session, int32_t how, weft_diagnostics** problems);

/**
 * Ends running after the current run, which keeps its results. What is paused within a run finishes that run. Does nothing where
 * the session is idle. The call does not wait.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_stop(weft_session* session, weft_diagnostics** problems);

/**
 * Ends the current run, between two blocks or inside a long one: it leaves variables and results as they were. Does nothing where
 * the session is idle. The call does not wait.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_cancel(weft_session* session, weft_diagnostics** problems);

/**
 * The same for one run or start alone, by its number in weft_session_info: one that began meanwhile is not hit.
 * Errors: WEFT_FAILED_PRECONDITION where it is over, or has not begun. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_cancel_start(weft_session* session, uint64_t start, weft_diagnostics** problems);

/** Why a session is paused. */
enum {
  WEFT_NOT_PAUSED = 0,
  WEFT_PAUSE_ASKED = 1,   /* weft_session_pause, or the mode FREEZE */
  WEFT_PAUSE_REACHED = 2, /* before until_block */
  WEFT_PAUSE_STEPPED = 3, /* WEFT_STEP_BLOCK or WEFT_STEP_RUN has been done */
  WEFT_PAUSE_BREAK = 4    /* a breakpoint */
};

typedef struct weft_session_info {
  uint32_t size;
  int32_t state;         /* WEFT_IDLE, WEFT_RUNNING, WEFT_PAUSED */
  int32_t pause_reason;  /* WEFT_NOT_PAUSED ... */
  int32_t mode;          /* WEFT_MODE_EDIT ...: the last that was set */
  int32_t last_status;   /* how the last run or start ended; WEFT_OK before */
  uint32_t outdated_page; /* not 0: runs and results are of an earlier page: weft_session_faults says why. As of the last run or feed */
  uint64_t runs;         /* that succeeded since the session was opened */
  int64_t steps_left;    /* of the run or start in progress; WEFT_UNTIL_STOPPED; 0 where idle */
  int64_t elapsed_ns;    /* since the run or start in progress began; where idle, what the last one took */
  uint64_t start;        /* the number of the run or start in progress, or was the last; counted from 1, never used again */
  uint32_t loops;        /* not 0: its block on the page as it is now is to run until it is stopped (INFINITE_LOOP), as weft_page_run_start does */
  uint32_t reserved;     /* 0 */
} weft_session_info;
#define WEFT_SESSION_INFO_INIT {sizeof(weft_session_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Fills in how the session is.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_get_info(weft_session* session, weft_session_info* info, weft_diagnostics** problems);

/**
 * Why the session cannot run the page as it is now: what its last run found, or what was fed after it. Empty where it can.
 * Errors: none. Owner: the caller, of `faults`. Threads: any.
 */
WEFT_API weft_status weft_session_faults(weft_session* session, weft_diagnostics** faults, weft_diagnostics** problems);

/**
 * Where a session is paused: the id of the block that runs next, empty between two runs; and what a breakpoint says, or "".
 * Errors: WEFT_FAILED_PRECONDITION where it is not paused. Owner: the caller, of `place` (two texts). Threads: any.
 */
WEFT_API weft_status weft_session_paused_at(weft_session* session, weft_strings** place, weft_diagnostics** problems);

/* ---- enuSpace's modes ----------------------------------------------------------------------------------------------------- */

/** enuSpace's task modes, by its numbers. */
enum {
  WEFT_MODE_EDIT = 0,   /* nothing runs */
  WEFT_MODE_FREEZE = 1, /* paused between two blocks; results stay readable */
  WEFT_MODE_STEP = 2,   /* one run, then FREEZE */
  WEFT_MODE_RUN = 3     /* runs until another mode is set */
};

/**
 * Sets a mode, in terms of the functions above. EDIT cancels and waits until the session is idle. FREEZE pauses what runs. STEP makes
 * one run, or finishes the current one, or the one that is frozen, and freezes. RUN starts or continues. What STEP or RUN starts has the interval,
 * deadline and until_block of `options` (may be NULL); the steps of `options` do not count.
 * Errors: WEFT_INVALID_ARGUMENT for a number that is no mode; WEFT_FAILED_PRECONDITION for EDIT on a thread that runs the session.
 * Owner: nothing. Threads: any; EDIT waits.
 */
WEFT_API weft_status weft_session_set_mode(weft_session* session, int32_t mode, const weft_run_options* options,
                                           weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_SESSION_H_ */
