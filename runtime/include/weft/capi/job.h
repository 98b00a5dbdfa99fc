/**
 * @file job.h
 * Part of weft.h: the job that this process is part of, where a launcher of MPI (mpirun, srun) has started several that run the same program:
 *
 *     weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
 *     options.messages = "auto";
 *     weft_runtime_open(&options, &runtime, &problems);      // mpirun -n 4 host: each is one of the ranks 0 to 3
 *
 * The pages of that runtime then run on all processes together: blocks of collectives (CollectiveReduceV2 and the like) exchange values, and
 * sharded.h trains one page with a batch that all share. Every rank makes the same calls of these kinds in the same order.
 *
 * WHEN SOMETHING FAILS, no rank goes on without another. A rank that waits for one that has stopped names it by the deadline, and the job
 * ends: `job_ends` of the options is told why, then all its processes end. A rank that fails alone, and cannot go on, ends the job by
 * weft_runtime_abort_job; one that just exits is noticed by the launcher.
 */
#ifndef WEFT_CAPI_JOB_H_
#define WEFT_CAPI_JOB_H_

#include "weft/capi/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_job_info {
  uint32_t size;
  int32_t rank;        /* of this process: 0 to ranks - 1 */
  int32_t ranks;       /* processes of the job; 1 where this one is alone */
  uint32_t reserved;
  const char* library; /* of messages: "Open MPI v4.1.4"; empty where none is open */
} weft_job_info;
#define WEFT_JOB_INFO_INIT {sizeof(weft_job_info), 0, 0, 0, NULL}

/**
 * Fills in which process of which job this one is. A runtime without `messages` has a job of one.
 * Errors: none. Owner: `library` is the runtime's. Threads: any.
 */
WEFT_API weft_status weft_runtime_get_job(weft_runtime* runtime, weft_job_info* info, weft_diagnostics** problems);

/**
 * The name of each rank with its machine, "rank 2 (node7)", in their order; of one that is alone "this process".
 * Errors: none. Owner: the caller, of `names`. Threads: any.
 */
WEFT_API weft_status weft_runtime_rank_names(weft_runtime* runtime, weft_strings** names, weft_diagnostics** problems);

/**
 * Ends all processes of the job at once, with exit status 1, after telling `job_ends` of this rank "rank 2 (node7) WHY". For a rank that has failed
 * alone, so that others do not wait for it until the deadline. Where this process is alone it does nothing. `why` is text such as "found no data".
 * Errors: WEFT_INVALID_ARGUMENT for NULL as `why`. Owner: nothing. Threads: any; does not return in a job of several.
 */
WEFT_API weft_status weft_runtime_abort_job(weft_runtime* runtime, const char* why, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_JOB_H_ */
