/**
 * @file result.h
 * Part of weft.h: results as views, DLPack, and memory of the host as input or output.
 */
#ifndef WEFT_CAPI_RESULT_H_
#define WEFT_CAPI_RESULT_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- views ---------------------------------------------------------------------------------------------------------------- */
/*
 * A view shows a value without a copy, and never changes: runs that come later use other memory as long as the view is not released. Reading a
 * view needs no turn and no lock.
 */

typedef struct weft_view_info {
  uint32_t size;
  int32_t dtype;          /* WEFT_FLOAT ... */
  int32_t rank;
  uint32_t stale;         /* not 0: older than the session's last run: a Switch left it out there, or that run failed or was cancelled */
  const int64_t* shape;   /* `rank` sizes; NULL for a scalar */
  const int64_t* strides; /* in bytes, as numpy counts them; NULL for a scalar */
  int64_t count;          /* elements */
  int64_t bytes;          /* of `data`; 0 for strings and resources */
  const void* data;       /* not to be written; NULL for strings and resources, and where there are no elements */
  uint64_t generation;    /* the run that computed it, counted from 1; 0 for variables */
  uint32_t in_progress;   /* not 0: of the run that is paused, as far as it has come; no result yet */
  uint32_t outdated_page; /* not 0: of an earlier page than the one as it is now, which has faults (weft_session_faults) */
} weft_view_info;
#define WEFT_VIEW_INFO_INIT {sizeof(weft_view_info), 0, 0, 0, NULL, NULL, 0, 0, NULL, 0, 0, 0}

/**
 * A view of a value by its name (convention 12): while the session is paused within a run, a copy of what that run has computed so far
 * (in_progress), where it has; else, as the last run that succeeded left it. One of memory that is bound as an input is a copy, made now.
 * Errors: WEFT_NOT_FOUND, with a suggestion as the hint; WEFT_INVALID_ARGUMENT for a name that cannot be read; WEFT_OUT_OF_RANGE for
 * an element that is not there; WEFT_FAILED_PRECONDITION where no run has computed it, or it is not kept.
 * Owner: the caller, of `view`. Threads: any.
 */
WEFT_API weft_status weft_session_view(weft_session* session, const char* name, weft_view** view, weft_diagnostics** problems);

/**
 * Views of many values at once: views[i] is that of names[i]. All are of the same run, but that while the session is paused within a run
 * those that it has not computed are of the last one. A value that cannot be read gives NULL there; the function succeeds where at least
 * one can.
 * Errors: where none can be read, those of weft_session_view, one a name. Owner: the caller, of each view. Threads: any.
 */
WEFT_API weft_status weft_session_views(weft_session* session, const char* const* names, size_t count, weft_view** views,
                                        weft_diagnostics** problems);

/**
 * The names of all values that the session keeps, in the order of its plan: of the last one that could be made, where the page has faults.
 * Errors: WEFT_FAILED_PRECONDITION where there is none, as after a run that failed since the page cannot take the shape of a feed. Owner: the
 * caller, of `names`. Threads: any.
 */
WEFT_API weft_status weft_session_results(weft_session* session, weft_strings** names, weft_diagnostics** problems);

/**
 * Fills in what the view shows.
 * Errors: none. Owner: pointers are the view's. Threads: any.
 */
WEFT_API weft_status weft_view_get_info(const weft_view* view, weft_view_info* info);

/**
 * An element of a string tensor, counted in row-major order.
 * Errors: WEFT_INVALID_ARGUMENT for a view of another type; WEFT_OUT_OF_RANGE. Owner: the bytes are the view's. Threads: any.
 */
WEFT_API weft_status weft_view_string(const weft_view* view, int64_t index, weft_bytes* bytes);

/**
 * The value as a person would write it, cut after `limit` elements: "DT_FLOAT [2,2] {{1,2},{3,4}}". Of a string it has the first 4,096 bytes
 * and how many more there are (weft_view_string has all); of lists without elements the first 1,000.
 * Errors: WEFT_INVALID_ARGUMENT for a negative limit. Owner: the caller, of `text` (one text). Threads: any.
 */
WEFT_API weft_status weft_view_text(const weft_view* view, int64_t limit, weft_strings** text, weft_diagnostics** problems);

/**
 * Adds a reference to the view; each is released once.
 * Errors: none. Owner: the caller, of one reference more. Threads: any.
 */
WEFT_API weft_status weft_view_retain(weft_view* view);

/**
 * Releases a reference; the handle ends with the last.
 * Errors: none. Owner: takes one reference. Threads: any.
 */
WEFT_API weft_status weft_view_release(weft_view* view);

/* ---- DLPack --------------------------------------------------------------------------------------------------------------- */
/* The structs of DLPack 0.x and 1.0 (an unversioned "dltensor"), laid out as its ABI says. */

typedef struct weft_dl_device {
  int32_t device_type; /* 1: CPU */
  int32_t device_id;
} weft_dl_device;

typedef struct weft_dl_data_type {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool */
  uint8_t bits;
  uint16_t lanes;
} weft_dl_data_type;

typedef struct weft_dl_tensor {
  void* data;
  weft_dl_device device;
  int32_t ndim;
  weft_dl_data_type dtype;
  int64_t* shape;
  int64_t* strides; /* in elements */
  uint64_t byte_offset;
} weft_dl_tensor;

typedef struct weft_dl_managed_tensor {
  weft_dl_tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct weft_dl_managed_tensor* self);
} weft_dl_managed_tensor;

/**
 * The view as a DLPack tensor, without a copy: what a Python capsule named "dltensor" contains. Its memory must not be written. Quantized
 * types go as plain integers of their width.
 * Errors: WEFT_UNSUPPORTED for strings and resources. Owner: the caller, of `tensor`, until its deleter is called; it holds the value by
 * itself, and may outlive the view. Threads: any; the deleter may be called on any, too.
 */
WEFT_API weft_status weft_view_dlpack(const weft_view* view, weft_dl_managed_tensor** tensor, weft_diagnostics** problems);

/* ---- values from the host ------------------------------------------------------------------------------------------------- */
/*
 * What is fed or bound stays with the value's block when edits rename it. While the page has no such block, nothing is fed, no memory is
 * written, and runs go on (an event of the edit tells what was removed); when a block with the id that it had last is back, as an undo list
 * brings it, all is as before. It is named by what the page calls it now, or else by the name that it was given under, also while it is away.
 */

/**
 * Replaces a value of the page, such as "x.output", in the session's runs to come by a copy of the buffer. A run in progress is not
 * disturbed; its successor takes the new value.
 * Errors: WEFT_NOT_FOUND for the name; WEFT_INVALID_ARGUMENT for another type, a wrong shape or too few bytes. A shape that the page
 * cannot take makes the next run fail. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_session_feed(weft_session* session, const char* name, const weft_buffer* value, weft_diagnostics** problems);

/**
 * As weft_session_feed, but without a copy: each run reads the host's memory as it then is. The host may write it between runs.
 * Errors: as weft_session_feed; WEFT_UNSUPPORTED for strings and resources; WEFT_INVALID_ARGUMENT for memory that is not aligned to the
 * element's size. Owner: the session borrows the memory until the value is fed or bound anew, unbound, or the session has ended and no
 * view shows it; then release is called. On failure release is not called. Threads: any; release is called on any.
 */
WEFT_API weft_status weft_session_bind_input(weft_session* session, const char* name, const weft_buffer* memory,
                                             weft_diagnostics** problems);

/**
 * Has a value of the page written to the host's memory at the end of each run that succeeds, before the run counts as ended. The host
 * may read the memory between runs. The type and count of elements must be the value's; a run that finds another shape fails
 * with WEFT_FAILED_PRECONDITION after its results are kept. The value must be one that the session keeps; memory is not written while edits
 * have it that the session does not.
 * Errors: WEFT_NOT_FOUND for the name; WEFT_INVALID_ARGUMENT for another type or too few bytes; WEFT_UNSUPPORTED for strings and
 * resources; WEFT_FAILED_PRECONDITION for a value that is not kept. Owner: as weft_session_bind_input. Threads: any.
 */
WEFT_API weft_status weft_session_bind_output(weft_session* session, const char* name, const weft_buffer* memory,
                                              weft_diagnostics** problems);

/**
 * Ends what was fed or bound under this name: the page's own value counts again, and memory is written no more. During a run, that
 * is so from its end.
 * Errors: WEFT_NOT_FOUND where nothing is, or the page has no such name. Owner: the host has its memory back when release is called. Threads: any.
 */
WEFT_API weft_status weft_session_unbind(weft_session* session, const char* name, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_RESULT_H_ */
