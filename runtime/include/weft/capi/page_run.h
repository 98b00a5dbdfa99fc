/**
 * @file page_run.h
 * Part of weft.h: a whole page that runs, as an editor's Run button wants it: all its sessions, those that loop (INFINITE_LOOP) beside one
 * another, the others in turn, in page order.
 */
#ifndef WEFT_CAPI_PAGE_RUN_H_
#define WEFT_CAPI_PAGE_RUN_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All sessions of a page, and the results of their last runs. */
typedef struct weft_page_run weft_page_run;

typedef struct weft_page_run_options {
  uint32_t size;
  uint32_t keep_asked; /* as in weft_session_options */
} weft_page_run_options;
#define WEFT_PAGE_RUN_OPTIONS_INIT {sizeof(weft_page_run_options), 0}

/**
 * Opens all sessions of a page as it is now; of a page without one, that of weft_session_open. Edits later on reach them as they do every
 * session; one that an edit adds is not among them. `options` may be NULL.
 * Errors: WEFT_FAILED_PRECONDITION where the page has errors at what a session asks for, followed in `problems` by all findings of the
 * page; the code of the first fault where one cannot be planned for another reason, all such faults in `problems`; WEFT_UNSUPPORTED in a job of
 * several processes where sessions that loop would run beside one another and the page has blocks of collectives. Owner: the caller, of `run`.
 * Threads: any.
 */
WEFT_API weft_status weft_page_run_open(weft_page* page, const weft_page_run_options* options, weft_page_run** run,
                                        weft_diagnostics** problems);

/**
 * Ends the handle: cancels what runs, and waits until it has ended.
 * Errors: WEFT_FAILED_PRECONDITION on a thread that runs a session of it: the handle stays open. Owner: takes the handle. Threads: any;
 * waits.
 */
WEFT_API weft_status weft_page_run_close(weft_page_run* run);

/**
 * The ids of the sessions, in page order, as the page calls them now; of a page without a ClientSession "default".
 * Errors: none. Owner: the caller, of `ids`. Threads: any.
 */
WEFT_API weft_status weft_page_run_sessions(weft_page_run* run, weft_strings** ids, weft_diagnostics** problems);

/**
 * One of the sessions: for events, breakpoints, subscriptions, feeds and pauses, before and while it runs. To close this handle does not
 * end the session; it ends with weft_page_run_close. `id`: as the page calls it now, or did when the run was opened; NULL: the first.
 * Errors: WEFT_NOT_FOUND. Owner: the caller, of `session`. Threads: any.
 */
WEFT_API weft_status weft_page_run_session(weft_page_run* run, const char* id, weft_session** session, weft_diagnostics** problems);

/**
 * Starts to run the page, and returns at once. With NULL options, or 0 as their `steps`, each session runs once, and those that loop until they
 * are stopped; else each makes `steps` runs. A session that fails cancels the others.
 * Errors: WEFT_FAILED_PRECONDITION where the page, or a session of it, runs; WEFT_INVALID_ARGUMENT for until_block, which a session's own
 * start takes. Later failures are reported by weft_page_run_wait. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_page_run_start(weft_page_run* run, const weft_run_options* options, weft_diagnostics** problems);

/**
 * The same on the calling thread: returns when all sessions have ended.
 * Errors: as weft_page_run_start; what ended the page's run: WEFT_CANCELLED or the first fault of a block. Owner: nothing. Threads: any;
 * waits.
 */
WEFT_API weft_status weft_page_run_all(weft_page_run* run, const weft_run_options* options, weft_diagnostics** problems);

/**
 * Waits until all sessions have ended, at most timeout_ms (0: not at all; negative: for ever), and tells whether some run, WEFT_IDLE or
 * WEFT_RUNNING, where `state` is not NULL. WEFT_OK where they still run, or the last run ended well.
 * Errors: what ended the last run: WEFT_CANCELLED or the first fault of a block; WEFT_FAILED_PRECONDITION on a thread that runs a session
 * of it. Owner: nothing. Threads: any; waits.
 */
WEFT_API weft_status weft_page_run_wait(weft_page_run* run, int64_t timeout_ms, int32_t* state, weft_diagnostics** problems);

/**
 * Ends running after the runs in progress, which keep their results. Does nothing where nothing runs. The call does not wait.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_page_run_stop(weft_page_run* run, weft_diagnostics** problems);

/**
 * Ends the runs in progress: they leave variables and results as they were. Does nothing where nothing runs. The call does not wait.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_page_run_cancel(weft_page_run* run, weft_diagnostics** problems);

/**
 * A result by its name, of the first session that has one; as weft_session_view.
 * Errors: WEFT_NOT_FOUND and WEFT_INVALID_ARGUMENT for what is no value; WEFT_FAILED_PRECONDITION where no run has computed it. Owner: the
 * caller, of `view`. Threads: any.
 */
WEFT_API weft_status weft_page_run_view(weft_page_run* run, const char* name, weft_view** view, weft_diagnostics** problems);

/**
 * The names of all results that the sessions keep, each once.
 * Errors: none. Owner: the caller, of `names`. Threads: any.
 */
WEFT_API weft_status weft_page_run_results(weft_page_run* run, weft_strings** names, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_PAGE_RUN_H_ */
