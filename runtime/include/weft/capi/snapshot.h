/**
 * @file snapshot.h
 * Part of weft.h: snapshots of a page's state.
 */
#ifndef WEFT_CAPI_SNAPSHOT_H_
#define WEFT_CAPI_SNAPSHOT_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_snapshot_options {
  uint32_t size;
  uint32_t partial;    /* weft_page_restore_state: not 0 takes what fits the page and leaves out the rest */
  int64_t patience_ms; /* how long to wait for runs in progress, while no other begins; 0: ten seconds; negative: not at all */
} weft_snapshot_options;
#define WEFT_SNAPSHOT_OPTIONS_INIT {sizeof(weft_snapshot_options), 0, 0}

typedef struct weft_snapshot_info {
  uint32_t size;
  uint32_t reserved;
  uint64_t variables;
  uint64_t resources; /* queues, readers, random streams and the like */
  int64_t bytes;      /* of the file */
} weft_snapshot_info;
#define WEFT_SNAPSHOT_INFO_INIT {sizeof(weft_snapshot_info), 0, 0, 0, 0}

/**
 * Saves all state of a page to a file, as it is between two runs: variables, queues, readers, random counters. Runs that are paused are
 * taken as not having begun. The file is there as a whole or as it was before, whenever the process or the machine ends. `options` and
 * `info` may be NULL.
 * Errors: WEFT_FAILED_PRECONDITION where a run is in progress for longer than the patience, and at once inside that run; WEFT_NOT_FOUND,
 * WEFT_PERMISSION_DENIED and WEFT_RESOURCE_EXHAUSTED of the file system. Owner: nothing. Threads: any; waits for runs.
 */
WEFT_API weft_status weft_page_save_state(weft_page* page, const char* path, const weft_snapshot_options* options, weft_snapshot_info* info,
                                          weft_diagnostics** problems);

/**
 * Makes the page's state that of a file; all of it or, on failure, nothing. `options` and `info` may be NULL.
 * Errors: WEFT_DATA_LOSS for a file that is cut short, damaged, or no snapshot; WEFT_UNSUPPORTED for one of a newer Weft; WEFT_NOT_FOUND
 * and WEFT_INVALID_ARGUMENT where it does not fit the page, all such faults in `problems`; WEFT_FAILED_PRECONDITION where a run is in progress
 * for longer than the patience, a paused one too, and at once inside that run. Owner: nothing. Threads: any; waits for runs.
 */
WEFT_API weft_status weft_page_restore_state(weft_page* page, const char* path, const weft_snapshot_options* options,
                                             weft_snapshot_info* info, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_SNAPSHOT_H_ */
