/**
 * @file runtime.h
 * Part of weft.h: runtimes, and what they offer as JSON.
 */
#ifndef WEFT_CAPI_RUNTIME_H_
#define WEFT_CAPI_RUNTIME_H_

#include "weft/capi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The blocks, threads and memory that pages share. A process may have many; they know nothing of each other. */
typedef struct weft_runtime weft_runtime;

typedef struct weft_runtime_options {
  uint32_t size;
  int32_t threads;      /* that work at the same time, at most one a processor that the caller may run on; 0: one a processor */
  int64_t memory_limit; /* bytes that all pages hold together: values, their strings, state, texts, graphs, plans; 0: four fifths of the machine's memory */
  /* Of each call that loads, checks, edits or plans a page, from its begin: one that still works then ends with WEFT_CANCELLED (a page that is
   * loaded: with that error), and what it worked on is as it was. 0: none. Runs have deadlines of their own. */
  int64_t call_deadline_ns;
  /* Names of blocks or of categories ("io_ops"): where there are any, no other blocks run; may be NULL. They hold for blocks that Weft brings
   * and that compute something, also for those that gradients add; ClientSession, Const, Variable and their like are always allowed. */
  const char* const* allowed_blocks;
  size_t allowed_block_count;
  const char* const* refused_blocks; /* names of blocks or of categories that do not run; may be NULL */
  size_t refused_block_count;
  int64_t page_memory_limit; /* bytes that one page holds, of the same kinds; 0: as much as there is */
  /* Joins the job of the launcher that has started this process (job.h): the library of messages between its processes. "auto": the one that is
   * built against the launcher's MPI; without a launcher the process is rank 0 of 1. Otherwise the name or path of one. NULL or "none": the
   * process is alone. */
  const char* messages;
  int64_t job_deadline_ns; /* of joining the job, of each collective, and of leaving the job; 0: two minutes */
  /* Told why the job ends, just before that ends the process: on any thread, which may use nothing of Weft. NULL: a line on standard error. */
  void (*job_ends)(void* user, const char* why);
  void* job_user;
} weft_runtime_options;
#define WEFT_RUNTIME_OPTIONS_INIT {sizeof(weft_runtime_options), 0, 0, 0, NULL, 0, NULL, 0, 0, NULL, 0, NULL, NULL}

/**
 * Makes a runtime with all blocks that Weft brings. `options` may be NULL. A page with a block that the lists refuse is faulty:
 * WEFT_PERMISSION_DENIED, at the block, with the type and the list. With `messages` it waits until all processes of the job have come as far, and
 * ends this one where the deadline passes; `threads` 0 then is this rank's share of the processors of its machine.
 * Errors: WEFT_INVALID_ARGUMENT for negative numbers, more than 4096 threads, or a refused block that computes nothing; WEFT_NOT_FOUND for a
 * name on a list that is none, with a suggestion as the hint, and for a library of messages that is not installed; WEFT_UNSUPPORTED for one
 * that is none, or of another version; WEFT_FAILED_PRECONDITION where the process has joined its job before: it does so once. Owner: the
 * caller, of `runtime`. Threads: any; waits with `messages`.
 */
WEFT_API weft_status weft_runtime_open(const weft_runtime_options* options, weft_runtime** runtime, weft_diagnostics** problems);

/**
 * Ends the handle. The runtime itself goes with the last of its pages, sessions and views; then it leaves its job, which waits for the other
 * processes to leave it, too, and ends this one where the deadline passes.
 * Errors: none. Owner: takes the handle. Threads: any; waits where it leaves a job.
 */
WEFT_API weft_status weft_runtime_close(weft_runtime* runtime);

typedef struct weft_runtime_info {
  uint32_t size;
  int32_t threads;      /* that work at the same time */
  int64_t memory_limit; /* bytes */
  int64_t memory_used;  /* bytes of tensors now */
} weft_runtime_info;
#define WEFT_RUNTIME_INFO_INIT {sizeof(weft_runtime_info), 0, 0, 0}

/**
 * Fills in what the runtime has and uses.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_runtime_get_info(weft_runtime* runtime, weft_runtime_info* info, weft_diagnostics** problems);

/**
 * The blocks of the runtime as a JSON array, sorted by name, the host's own included: what palettes, help and completion need. Each has
 * "block" (its name), "category", "summary", "inputs", "outputs", "attrs" and "gradient" ("yes", "stops", "none"), and where they apply
 * "details", "aliases", "palette_spelling", and "stateful", "internal" or "structural" as true. blocks.json of an installation is one.
 * Errors: none. Owner: the caller, of `json` (one text). Threads: any.
 */
WEFT_API weft_status weft_blocks_json(weft_runtime* runtime, weft_strings** json, weft_diagnostics** problems);

/**
 * A hash of what weft_blocks_json gives, 16 hexadecimal digits: the same for the same blocks of the same Weft, another where a block was
 * added or one says something else. For hosts that keep the JSON, or serve it (as an ETag).
 * Errors: none. Owner: the caller, of `hash` (one text). Threads: any.
 */
WEFT_API weft_status weft_blocks_hash(weft_runtime* runtime, weft_strings** hash, weft_diagnostics** problems);

/**
 * The JSON object of one block, by its name or an alias.
 * Errors: WEFT_NOT_FOUND, with a suggestion as the hint. Owner: the caller, of `json` (one text). Threads: any.
 */
WEFT_API weft_status weft_block_json(weft_runtime* runtime, const char* block, weft_strings** json, weft_diagnostics** problems);

/**
 * The page of the block reference about one block, by its name or an alias, as Markdown: summary, ports, attributes, gradient, and an example
 * page. What `weft blocks NAME --markdown` prints.
 * Errors: WEFT_NOT_FOUND, with a suggestion as the hint. Owner: the caller, of `markdown` (one text). Threads: any.
 */
WEFT_API weft_status weft_block_markdown(weft_runtime* runtime, const char* block, weft_strings** markdown, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_RUNTIME_H_ */
