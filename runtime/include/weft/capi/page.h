/**
 * @file page.h
 * Part of weft.h: loading, checking and writing pages, and their variables.
 */
#ifndef WEFT_CAPI_PAGE_H_
#define WEFT_CAPI_PAGE_H_

#include "weft/capi/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded page and the state that its blocks keep: variables, queues, random streams. Its sessions share it. */
typedef struct weft_page weft_page;

typedef struct weft_page_options {
  uint32_t size;
  uint32_t keep_faulty;   /* not 0: a page with errors is loaded, too, to be looked at and edited */
  const char* name;       /* what diagnostics call the page; NULL: the path, or "page" */
  const char* folder;     /* where the files that the page names start, and it may read; NULL: the file's folder; of bytes: no files */
  const char* const* allowed_folders; /* folders that it may read besides; may be NULL */
  size_t allowed_count;
  /* How long all running sessions may wait for one another before that is an error, since the host may start one that ends the wait;
   * -1: for ever; 0: 5000. Where a weft_page_run runs every open session of the page none is left to start: there it is an error at once,
   * whatever the limit is, but for -1. */
  int64_t stall_limit_ms;
  /* Where Print blocks and warnings go, a text a call, on the threads that run; may be NULL. Called until the page has ended. */
  void (*print)(void* user, const char* text);
  void* user;
  const char* const* write_folders; /* folders that the page may read and write; without, it writes nothing; may be NULL */
  size_t write_count;
  /* Sees each access of the page to a file before the file is opened, and refuses it by giving 0; may be NULL. `name` is as the page has it,
   * `path` its real place, which need not exist, `access` WEFT_FILE_READ or WEFT_FILE_WRITE; `allowed` is 0 where the folders do not allow it,
   * which is refused in any case. Of a pattern it sees the pattern, the folders that are looked into, and each file. Called on any thread, by
   * several at once, until the page has ended; it must not call functions of the page. */
  int32_t (*file_access)(void* user, const char* name, const char* path, int32_t access, int32_t allowed);
  void* file_user;
} weft_page_options;
#define WEFT_PAGE_OPTIONS_INIT {sizeof(weft_page_options), 0, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 0, NULL, NULL}

/**
 * Loads a page from bytes: Weft's JSON, or enuSpace's runtime JSON or design SVG, told apart by their content. All faults are found,
 * also those of shapes, and listed in `problems` with the first error first. `options` may be NULL.
 * Errors: the first error's code where the page has errors; with keep_faulty none, and a page. Owner: the caller, of `page`.
 * Threads: any.
 */
WEFT_API weft_status weft_page_load(weft_runtime* runtime, const void* bytes, size_t count, const weft_page_options* options,
                                    weft_page** page, weft_diagnostics** problems);

/**
 * Loads a page from a file, and the files it names from the file's folder.
 * Errors: as weft_page_load; WEFT_NOT_FOUND and WEFT_PERMISSION_DENIED of the file. Owner: the caller, of `page`. Threads: any.
 */
WEFT_API weft_status weft_page_load_file(weft_runtime* runtime, const char* path, const weft_page_options* options, weft_page** page,
                                         weft_diagnostics** problems);

/**
 * Ends the handle. The page itself goes with the last of its sessions.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_page_close(weft_page* page);

/**
 * All that is wrong or odd with the page as it is now: errors, warnings and notes of reading, connecting and planning. Empty for a page
 * without fault.
 * Errors: none. Owner: the caller, of `diagnostics`. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_diagnostics(weft_page* page, weft_diagnostics** diagnostics, weft_diagnostics** problems);

/**
 * The page as canonical Weft JSON. Of a canonical file that was not edited: the same bytes.
 * Errors: none. Owner: the caller, of `json` (one text). Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_write(weft_page* page, weft_strings** json, weft_diagnostics** problems);

/**
 * The ids of the page's blocks, in page order.
 * Errors: none. Owner: the caller, of `ids`. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_blocks(weft_page* page, weft_strings** ids, weft_diagnostics** problems);

/**
 * The ids of the page's ClientSession blocks, in page order. Empty where the page has none: then a session of it fetches what nobody reads.
 * Errors: none. Owner: the caller, of `ids`. Threads: any; waits for edits.
 */
WEFT_API weft_status weft_page_sessions(weft_page* page, weft_strings** ids, weft_diagnostics** problems);

/** An element of a string tensor: any bytes. */
typedef struct weft_bytes {
  const char* data;
  size_t size;
} weft_bytes;

/** A value of a page in memory of the caller. */
typedef struct weft_buffer {
  uint32_t size;
  int32_t dtype;        /* WEFT_FLOAT ... */
  int32_t rank;         /* 0 for a scalar */
  uint32_t reserved;
  const int64_t* shape; /* `rank` sizes */
  /* Row-major elements without gaps, aligned to the element's size. Of strings: a weft_bytes each. */
  void* data;
  int64_t bytes;        /* that `data` has room for; at least what the shape needs */
  /* Called when the library no longer uses `data`, on any thread; may be NULL. Only where memory is bound, not where it is copied. */
  void (*release)(void* user, void* data);
  void* user;
} weft_buffer;
#define WEFT_BUFFER_INIT {sizeof(weft_buffer), 0, 0, 0, NULL, NULL, 0, NULL, NULL}

/** A value that stays as it is; see result.h. */
typedef struct weft_view weft_view;

/**
 * The value of a variable, as the last run that succeeded left it.
 * Errors: WEFT_NOT_FOUND where the page has no such variable; WEFT_FAILED_PRECONDITION where it has no value yet.
 * Owner: the caller, of `view`. Threads: any.
 */
WEFT_API weft_status weft_page_get_variable(weft_page* page, const char* block, weft_view** view, weft_diagnostics** problems);

/**
 * Replaces the value of a variable; runs in progress see it in their next one. The buffer is copied.
 * Errors: WEFT_NOT_FOUND where the page has no such variable; WEFT_INVALID_ARGUMENT for another type, a wrong shape or too few bytes. A
 * shape that the page cannot take makes the next run fail. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_page_set_variable(weft_page* page, const char* block, const weft_buffer* value, weft_diagnostics** problems);

/**
 * Counts memory that the host holds for the page, such as values that it will give to sessions, in the page's part of the memory limit:
 * `bytes` in all from now on, in place of what was counted before. 0 gives all of it back, and so does the end of the page.
 * Errors: WEFT_INVALID_ARGUMENT for less than 0; WEFT_RESOURCE_EXHAUSTED where the limit has no room for them: what was counted before stays.
 * Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_page_hold_memory(weft_page* page, int64_t bytes, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_PAGE_H_ */
