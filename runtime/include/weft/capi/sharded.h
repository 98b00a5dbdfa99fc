/**
 * @file sharded.h
 * Part of weft.h: training of one page whose batch is cut into shards, which the processes of a job (job.h) share; or one process alone.
 *
 *     weft_sharded_options options = WEFT_SHARDED_OPTIONS_INIT;
 *     options.shards = 8;
 *     weft_sharded_open(page, &options, &run, &problems);
 *     weft_sharded_feed(run, "x.output", &batch, &problems);        // the whole batch, on every rank
 *     for (int i = 0; i < 300; ++i) weft_sharded_step(run, i == 299, &problems);
 *     weft_sharded_view(run, "loss.output", &loss, &problems);
 *
 * A step computes each shard of this rank once, joins the shards' gradients with those of the other ranks, and updates the variables once,
 * on every rank alike. The bits of all results depend on the number of shards, not on that of ranks, nor on threads. docs/scale-mpi.md
 * tells what is cut.
 *
 * RANKS. "Collective" below: all ranks make the call, in the same order among all collective ones of the job; it waits for them. Where one
 * fails on all ranks alike, the failure says so on each, and all may go on; weft_sharded_get_info tells whether a step failed so. A step,
 * or the taking of a snapshot, that failed on this rank alone or was cancelled leaves the others waiting: closing the run ends the job, after
 * `job_ends` was told the failure.
 *
 * THREADS. Steps, saving and loading are for one thread at a time; a call meanwhile on another gives WEFT_FAILED_PRECONDITION. All others
 * are for any thread at any time, and do not wait for a step.
 */
#ifndef WEFT_CAPI_SHARDED_H_
#define WEFT_CAPI_SHARDED_H_

#include "weft/capi/job.h"
#include "weft/capi/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A session of a page, cut into shards. The page must not be edited while it is used: steps then fail. */
typedef struct weft_sharded weft_sharded;

/** How gradients, and what is fetched, of the shards become one. */
enum {
  WEFT_SHARDS_MEAN = 0, /* their mean: for a loss that is a mean over the batch */
  WEFT_SHARDS_SUM = 1   /* their sum: for a loss that is a sum */
};

typedef struct weft_sharded_options {
  uint32_t size;
  int32_t shards;       /* parts of equal size that the batch is cut into: as many as ranks, or more */
  int32_t reduce;       /* WEFT_SHARDS_MEAN, WEFT_SHARDS_SUM */
  uint32_t reserved;
  const char* session;  /* these five as in weft_session_options: results are what is fetched */
  const char* const* fetches;
  size_t fetch_count;
  const char* const* operations;
  size_t operation_count;
  const char* const* cut;   /* outputs to cut besides Placeholders that are fed, readers and queues: "x.output"; may be NULL */
  size_t cut_count;
  const char* const* whole; /* outputs that every shard gets whole, although they would be cut; may be NULL */
  size_t whole_count;
  const char* settings; /* what else all ranks need alike, such as the number of steps, as the host writes it: compared, not read; may be NULL */
} weft_sharded_options;
#define WEFT_SHARDED_OPTIONS_INIT {sizeof(weft_sharded_options), 1, WEFT_SHARDS_MEAN, 0, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL}

/**
 * Cuts a session of the page. Compares the page, the session and the options of all ranks; starts the page's variables, whose first values
 * are those of rank 0. One run of a page is open at a time, as all draw from the random streams of its shards: the next is opened when that
 * was closed, or a step of it failed. Collective, and fails on all ranks alike, but for a page that is no handle.
 * Errors: WEFT_INVALID_ARGUMENT, which names them, for ranks that have another page, session or options, or another Weft, and for numbers
 * out of their range; WEFT_ABORTED for what failed on another rank; WEFT_NOT_FOUND and WEFT_FAILED_PRECONDITION as weft_session_open;
 * WEFT_FAILED_PRECONDITION while another run of the page is open; WEFT_UNSUPPORTED for a session that loops. Owner: the caller, of `run`.
 * Threads: any; waits.
 */
WEFT_API weft_status weft_sharded_open(weft_page* page, const weft_sharded_options* options, weft_sharded** run, weft_diagnostics** problems);

/**
 * Ends the handle: cancels a step in progress, and waits until it has ended. After a step that failed on this rank alone, or was cancelled,
 * in a job of several processes, it ends the job (weft_runtime_abort_job).
 * Errors: WEFT_FAILED_PRECONDITION in a callback of a step of it: the handle stays open. Owner: takes the handle. Threads: any; waits.
 */
WEFT_API weft_status weft_sharded_close(weft_sharded* run);

/**
 * Replaces a value in the steps to come by a copy of a buffer, as weft_session_feed: on every rank the same, of a value that is cut the whole
 * batch. What is fed before the first step says what is cut, and is compared among the ranks then. Later the same values may be fed anew,
 * which nothing compares: one that is cut with other numbers of rows, others in the same shape. Not collective.
 * Errors: WEFT_NOT_FOUND for the name; WEFT_INVALID_ARGUMENT for another type, and for such a shape; WEFT_FAILED_PRECONDITION for a value
 * that was not fed before the first step. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_sharded_feed(weft_sharded* run, const char* name, const weft_buffer* value, weft_diagnostics** problems);

/**
 * One step, on the calling thread. With `results` not 0 what is fetched is joined as well, for weft_sharded_view: all ranks ask for it in
 * the same steps. Collective. The first step divides the session and plans; what is wrong with page, feeds and shards is found there, by
 * all ranks.
 * Errors: WEFT_INVALID_ARGUMENT, with the block, for a batch that the shards do not divide, a block that has the size of the whole batch as
 * a constant, and ranks with other feeds; WEFT_FAILED_PRECONDITION where nothing can be cut, where the page was edited, and after a step
 * that failed: the run is over, and another is to be opened, or a snapshot loaded there; WEFT_CANCELLED; what the page's blocks report,
 * with block and port. Owner: nothing. Threads: one at a time; waits.
 */
WEFT_API weft_status weft_sharded_step(weft_sharded* run, int32_t results, weft_diagnostics** problems);

/**
 * Ends the step in progress of this rank, or the next one, between two blocks or inside a long one. The call does not wait. The run is
 * over.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_sharded_cancel(weft_sharded* run, weft_diagnostics** problems);

typedef struct weft_sharded_info {
  uint32_t size;
  int32_t shards;
  int32_t first_shard;  /* of this rank's, which are neighbours */
  int32_t shard_count;  /* of this rank */
  uint64_t steps;       /* that the page has behind it, those before a loaded snapshot included */
  int32_t last_status;  /* how the last step ended, or what ended the run; WEFT_OK before */
  uint32_t all_failed;  /* not 0: it failed on all ranks alike */
  uint32_t in_progress; /* not 0: a thread steps, saves or loads */
  uint32_t reserved;
} weft_sharded_info;
#define WEFT_SHARDED_INFO_INIT {sizeof(weft_sharded_info), 0, 0, 0, 0, 0, 0, 0, 0}

/**
 * Fills in how far the run has come.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_sharded_get_info(weft_sharded* run, weft_sharded_info* info, weft_diagnostics** problems);

/**
 * What this rank does now, as a rank that waits for it is told: "step 17, shard 5, block 'conv'".
 * Errors: none. Owner: the caller, of `text` (one text). Threads: any.
 */
WEFT_API weft_status weft_sharded_where(weft_sharded* run, weft_strings** text, weft_diagnostics** problems);

/** How steps have gone since the last time that this was asked. */
typedef struct weft_sharded_times {
  uint32_t size;
  int32_t ranks;    /* of the job: how many times there are */
  int32_t slowest;  /* the rank that computes longest */
  uint32_t reserved;
  uint64_t steps;   /* as in weft_sharded_info */
  double step_ms;   /* milliseconds of a whole step on this rank, as the mean; 0 where there was none */
} weft_sharded_times;
#define WEFT_SHARDED_TIMES_INIT {sizeof(weft_sharded_times), 0, 0, 0, 0, 0}

/**
 * Fills in how steps have gone, and into `compute_ms`, by rank, the mean milliseconds of a step until the rank waits for the others: of as
 * many ranks as `capacity` says. `compute_ms` may be NULL where that is 0. Collective, after the same step.
 * Errors: WEFT_FAILED_PRECONDITION as for a step. Owner: nothing. Threads: one at a time; waits.
 */
WEFT_API weft_status weft_sharded_progress(weft_sharded* run, weft_sharded_times* times, double* compute_ms, size_t capacity,
                                           weft_diagnostics** problems);

/* ---- results -------------------------------------------------------------------------------------------------------------- */

/**
 * The names of what the last step with results has joined, in the order of the session's fetches; none before.
 * Errors: none. Owner: the caller, of `names`. Threads: any.
 */
WEFT_API weft_status weft_sharded_results(weft_sharded* run, weft_strings** names, weft_diagnostics** problems);

/**
 * One of them, by its name or an element's; its generation is the step. The same bits on every rank. Values of Variables after the step
 * are had by weft_page_get_variable.
 * Errors: WEFT_NOT_FOUND and WEFT_INVALID_ARGUMENT for what is no value; WEFT_FAILED_PRECONDITION for one that no step has joined, or that
 * is not fetched. Owner: the caller, of `view`. Threads: any.
 */
WEFT_API weft_status weft_sharded_view(weft_sharded* run, const char* name, weft_view** view, weft_diagnostics** problems);

/* ---- snapshots ------------------------------------------------------------------------------------------------------------ */

/**
 * Saves variables, readers, queues, and the random streams of all shards to a file of rank 0, as a whole or not at all. Collective, after
 * the same step, and fails on all ranks alike.
 * Errors: WEFT_DATA_LOSS where the variables of a rank are not those of rank 0, which is named; WEFT_NOT_FOUND, WEFT_PERMISSION_DENIED and
 * WEFT_RESOURCE_EXHAUSTED of rank 0's file system, on others WEFT_ABORTED; WEFT_FAILED_PRECONDITION as for a step. Owner: nothing. Threads:
 * one at a time; waits.
 */
WEFT_API weft_status weft_sharded_save(weft_sharded* run, const char* path, weft_diagnostics** problems);

/**
 * Takes the state of such a file, which rank 0 alone needs to see; before the first step, on any number of ranks. Collective: all ranks check
 * the file before any takes it, and fail alike, with the state that they had. What fails on this rank alone after that, such as a page that
 * is edited meanwhile, ends the run as a step does.
 * Errors: as weft_page_restore_state; WEFT_INVALID_ARGUMENT for a snapshot of another number of shards; WEFT_FAILED_PRECONDITION after the
 * first step; WEFT_ABORTED for what failed on another rank. Owner: nothing. Threads: one at a time; waits.
 */
WEFT_API weft_status weft_sharded_load(weft_sharded* run, const char* path, weft_diagnostics** problems);

/**
 * As weft_sharded_save, to a folder of rank 0 that is kept for the snapshots of one run, and is made where it is missing: a file a
 * snapshot, of which the newest two stay. Only a whole one counts as the newest, whenever a process or a machine ends. `weft run
 * --snapshots` keeps the same folders. The folder is this run's until it saves to another, or ends.
 * Errors: as weft_sharded_save; WEFT_FAILED_PRECONDITION where another process, or another run, has the folder; where it was moved, removed or
 * replaced since this run opened it; and where it has snapshots and is not the one that this run last saved to or resumed from. On other ranks
 * than 0 these are WEFT_ABORTED. Owner: nothing. Threads: one at a time; waits.
 */
WEFT_API weft_status weft_sharded_save_newest(weft_sharded* run, const char* folder, weft_diagnostics** problems);

/**
 * Takes the newest whole snapshot of such a folder, as weft_sharded_load; one that is damaged is passed over. `path` (may be NULL) gets its
 * file, an empty text where the folder has none: then the run begins at its first step. The folder, where there is one, is then this run's.
 * Errors: as weft_sharded_load, where there are snapshots and none can be taken; WEFT_FAILED_PRECONDITION where another process, or another
 * run, has the folder, on other ranks than 0 WEFT_ABORTED. Owner: the caller, of `path` (one text). Threads: one at a time; waits.
 */
WEFT_API weft_status weft_sharded_resume(weft_sharded* run, const char* folder, weft_strings** path, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_SHARDED_H_ */
