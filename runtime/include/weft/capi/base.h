/**
 * @file base.h
 * Part of weft.h: versions, status codes, element types, strings, diagnostics.
 */
#ifndef WEFT_CAPI_BASE_H_
#define WEFT_CAPI_BASE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(WEFT_BUILDS_SHARED)
#define WEFT_API __declspec(dllexport)
#elif defined(_WIN32) && defined(WEFT_USES_SHARED)
#define WEFT_API __declspec(dllimport)
#elif defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions ------------------------------------------------------------------------------------------------------------- */

/** The interface described by this header: 65536 * major + minor. A new minor only adds; a new major may change or remove. */
#define WEFT_ABI_VERSION 0x00010001u

/**
 * The interface of the library. It is compatible with a host where the major numbers are equal and the library's minor is not smaller.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API uint32_t weft_abi_version(void);

/**
 * The version of the library as text, "0.1.0".
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_version(void);

/* ---- status --------------------------------------------------------------------------------------------------------------- */

/** The result of a function: one of the codes below. */
typedef int32_t weft_status;

enum {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT = 1,    /* an argument is wrong in any state */
  WEFT_NOT_FOUND = 2,           /* no such block, port, file or name */
  WEFT_ALREADY_EXISTS = 3,      /* a name that is taken */
  WEFT_OUT_OF_RANGE = 4,        /* an index or number beyond the limits */
  WEFT_FAILED_PRECONDITION = 5, /* not possible in this state: a closed handle, a session that runs, a page with errors */
  WEFT_UNSUPPORTED = 6,         /* known, but not implemented */
  WEFT_RESOURCE_EXHAUSTED = 7,  /* over the memory limit, or out of memory */
  WEFT_DATA_LOSS = 8,           /* a file that is damaged */
  WEFT_CANCELLED = 9,           /* cancelled, or past its deadline */
  WEFT_ABORTED = 10,            /* ended by the page itself (Abort), or by other sessions */
  WEFT_PERMISSION_DENIED = 11,  /* a file outside the allowed folders */
  WEFT_INTERNAL = 12            /* a fault of Weft, or of a host's block */
};

/**
 * The name of a code as case files and JSON spell it: "invalid_argument". "unknown" for any other number.
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_status_name(weft_status code);

/**
 * The numbers that the interface returns, as a JSON object: "codes" (of weft_status), "severities", "phases", "states", "pause_reasons",
 * "modes", "event_kinds", "progress", "case_verdicts"; each a list of {"number", "name", "means"}, for hosts that show or translate them.
 * Names and numbers never change; later versions may add some. `weft codes --json` prints the same.
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_codes_json(void);

/* ---- element types -------------------------------------------------------------------------------------------------------- */

/** Element types, by TensorFlow's numbers. */
enum {
  WEFT_FLOAT = 1,
  WEFT_DOUBLE = 2,
  WEFT_INT32 = 3,
  WEFT_UINT8 = 4,
  WEFT_INT16 = 5,
  WEFT_INT8 = 6,
  WEFT_STRING = 7,
  WEFT_COMPLEX64 = 8,
  WEFT_INT64 = 9,
  WEFT_BOOL = 10,
  WEFT_QINT8 = 11,
  WEFT_QUINT8 = 12,
  WEFT_QINT32 = 13,
  WEFT_BFLOAT16 = 14,
  WEFT_QINT16 = 15,
  WEFT_QUINT16 = 16,
  WEFT_UINT16 = 17,
  WEFT_COMPLEX128 = 18,
  WEFT_HALF = 19,
  WEFT_RESOURCE = 20,
  WEFT_UINT32 = 22,
  WEFT_UINT64 = 23
};

/** The largest rank of a tensor. */
#define WEFT_MAX_RANK 254

/**
 * The name of an element type, "DT_FLOAT"; "DT_INVALID" for any other number.
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_dtype_name(int32_t dtype);

/**
 * Bytes of an element in host memory; 0 for strings and resources, whose elements a host cannot read as bytes, and for any other number.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API size_t weft_dtype_size(int32_t dtype);

/* ---- strings -------------------------------------------------------------------------------------------------------------- */

/** Texts that a function returned: one (a page, a manifest) or a list (names). Immutable. */
typedef struct weft_strings weft_strings;

/**
 * The number of texts.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_strings_count(const weft_strings* strings, size_t* count);

/**
 * A text and, where `bytes` is not NULL, its length without the zero byte at its end.
 * Errors: WEFT_OUT_OF_RANGE for an index that is not below the count. Owner: `text` is the handle's. Threads: any.
 */
WEFT_API weft_status weft_strings_get(const weft_strings* strings, size_t index, const char** text, size_t* bytes);

/**
 * Ends the handle and its texts.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_strings_release(weft_strings* strings);

/* ---- diagnostics ---------------------------------------------------------------------------------------------------------- */

enum { WEFT_ERROR = 0, WEFT_WARNING = 1, WEFT_NOTE = 2 };

/** In which phase of its work the engine found something. */
enum {
  WEFT_PHASE_NONE = 0,    /* not about a page: arguments, handles, states */
  WEFT_PHASE_LOAD = 1,    /* reading the document */
  WEFT_PHASE_CONNECT = 2, /* names, wires, attributes, types */
  WEFT_PHASE_COMPILE = 3, /* shapes, and the plan */
  WEFT_PHASE_RUN = 4
};

/** One finding, with its place. Texts that do not apply are empty, never NULL. */
typedef struct weft_diagnostic {
  uint32_t size;
  int32_t severity;    /* WEFT_ERROR, WEFT_WARNING, WEFT_NOTE */
  int32_t code;        /* a weft_status, never WEFT_OK */
  uint32_t reserved;
  const char* message; /* what was needed and what was found */
  const char* hint;    /* the likely fix: "did you mean 'x'?" */
  const char* page;    /* the name of the page or its file */
  const char* pointer; /* JSON pointer into the page: "/blocks/3/inputs/value" */
  const char* block;   /* id of the block */
  const char* port;    /* port or attribute */
  int32_t phase;       /* WEFT_PHASE_NONE ... */
  uint32_t causes;     /* the number of findings (notes) after this one that are its causes, each the cause of the one before it */
  const char* needed;  /* types that the port takes, and shapes where it needs some: "DT_FLOAT [C]", "DT_INT32|DT_INT64", "DT_FLOAT []|[?]" (a
                          scalar or a vector), "DT_FLOAT [?,...]" (rank 1 or more), "DT_FLOAT_REF" (a variable, or a handle of one); may be empty */
  const char* found;   /* type and shape it was given: "DT_INT32 [2]", "DT_FLOAT_REF [2]"; of lists those of all elements, with ", " between */
} weft_diagnostic;
#define WEFT_DIAGNOSTIC_INIT {sizeof(weft_diagnostic), 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL}

/** A list of findings; those of a page come in its order. Immutable. */
typedef struct weft_diagnostics weft_diagnostics;

/**
 * The number of findings. At most 1000 are kept for one page.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_diagnostics_count(const weft_diagnostics* diagnostics, size_t* count);

/**
 * Copies a finding to `*diagnostic`.
 * Errors: WEFT_OUT_OF_RANGE for an index that is not below the count. Owner: texts are the handle's. Threads: any.
 */
WEFT_API weft_status weft_diagnostics_get(const weft_diagnostics* diagnostics, size_t index, weft_diagnostic* diagnostic);

/**
 * All findings as text, one a line: "page.json:/blocks/3/inputs/value: error: block.port: message (hint)". On failure, of NULL say, `text`
 * is empty, so that it can be printed whatever is returned.
 * Errors: none. Owner: `text` is the handle's. Threads: any.
 */
WEFT_API weft_status weft_diagnostics_text(const weft_diagnostics* diagnostics, const char** text);

/**
 * Ends the handle and its texts.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_diagnostics_release(weft_diagnostics* diagnostics);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_BASE_H_ */
