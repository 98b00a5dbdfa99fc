/**
 * @file library.h
 * Part of weft.h: blocks in shared libraries, and case files, which test blocks and pages as data.
 */
#ifndef WEFT_CAPI_LIBRARY_H_
#define WEFT_CAPI_LIBRARY_H_

#include "weft/capi/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- blocks in shared libraries ------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define WEFT_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define WEFT_EXPORT __attribute__((visibility("default")))
#else
#define WEFT_EXPORT
#endif

/** weft_runtime_add_block, as a library gets it: so a library calls no function of Weft by name, and need not be linked with it. */
typedef weft_status (*weft_add_block_function)(weft_runtime* runtime, const weft_block* block, weft_diagnostics** problems);

/**
 * The one function that a library of blocks exports, under the name weft_library:
 *
 *     WEFT_EXPORT weft_status weft_library(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems) {
 *       weft_block block = WEFT_BLOCK_INIT;
 *       block.name = "Twice"; ...
 *       return add_block(runtime, &block, problems);
 *     }
 *
 * It adds the library's blocks to the runtime, and returns WEFT_OK or the failure of the first that could not be added, whose `problems`
 * it hands on. Called on the thread that loads the library, once for each runtime that does. To build one, tested by case files:
 *
 *     cc -std=c99 -shared -fPIC twice.c -o libtwice.so $(pkg-config --cflags weft)
 *     weft test --library ./libtwice.so twice.cases.json
 */
typedef weft_status (*weft_library_function)(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems);

/**
 * Loads a shared library and adds its blocks to a runtime that has loaded no page yet. A path without a slash is searched for as the
 * system searches for libraries. What the library does is the host's affair: it runs in this process.
 * Errors: WEFT_NOT_FOUND where there is no such library, or it cannot be loaded (the system's reason is in the message);
 * WEFT_INVALID_ARGUMENT for one that exports no weft_library; WEFT_FAILED_PRECONDITION once the runtime has loaded a page; what
 * weft_library returns, its earlier blocks staying added. Owner: the runtime, of the library: it is unloaded when the runtime has ended.
 * Threads: any, for one runtime one at a time.
 */
WEFT_API weft_status weft_runtime_add_library(weft_runtime* runtime, const char* path, weft_diagnostics** problems);

/* ---- case files ----------------------------------------------------------------------------------------------------------- */

/** How a case went. */
enum { WEFT_CASE_PASSED = 0, WEFT_CASE_FAILED = 1, WEFT_CASE_SKIPPED = 2 };

/** A case that was run. Texts live until the callback returns. */
typedef struct weft_case {
  uint32_t size;
  int32_t verdict;     /* WEFT_CASE_PASSED ... */
  const char* file;
  const char* pointer; /* JSON pointer of the case in the file: "/cases/3"; empty for a file that cannot be read */
  const char* name;
  const char* block;   /* the block that its file tests; may be empty for a page */
  const char* message; /* what failed, one finding a line */
} weft_case;
#define WEFT_CASE_INIT {sizeof(weft_case), 0, NULL, NULL, NULL, NULL, NULL}

typedef struct weft_test_options {
  uint32_t size;
  uint32_t reserved;
  const char* const* blocks; /* only cases of these blocks; NULL: all, those of pages as well */
  size_t block_count;
  void (*report)(void* user, const weft_case* ended); /* called after each case, on the calling thread; may be NULL */
  void* user;
  int64_t deadline_ns; /* from now; what still runs then is cancelled; 0: none */
} weft_test_options;
#define WEFT_TEST_OPTIONS_INIT {sizeof(weft_test_options), 0, NULL, 0, NULL, NULL, 0}

typedef struct weft_test_totals {
  uint32_t size;
  uint32_t reserved;
  uint64_t passed, failed, skipped;
} weft_test_totals;
#define WEFT_TEST_TOTALS_INIT {sizeof(weft_test_totals), 0, 0, 0, 0}

/**
 * Runs the cases of a file, or of all NAME.cases.json in a folder and below, with the blocks of the runtime, the host's own included:
 * what `weft test` does. A case that fails is no failure of the function: `totals` and the reports tell. `options` may be NULL. The
 * runtime takes no more blocks afterwards.
 * Errors: WEFT_NOT_FOUND where there is no such file or folder, no case file in it, or no case of the blocks asked for;
 * WEFT_INVALID_ARGUMENT for a negative deadline; WEFT_CANCELLED after weft_runtime_cancel_tests or at the deadline: `totals` then has the
 * cases up to there, without the one that was cut short. Owner: nothing. Threads: any; waits.
 */
WEFT_API weft_status weft_runtime_test(weft_runtime* runtime, const char* path, const weft_test_options* options, weft_test_totals* totals,
                                       weft_diagnostics** problems);

/**
 * Ends the calls of weft_runtime_test in progress for the runtime, between two blocks or inside a long one. Does nothing where there are
 * none. The call does not wait.
 * Errors: none. Owner: nothing. Threads: any; from `report`, too.
 */
WEFT_API weft_status weft_runtime_cancel_tests(weft_runtime* runtime, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_LIBRARY_H_ */
