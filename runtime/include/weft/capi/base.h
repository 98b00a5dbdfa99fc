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

/** The interface described by this header: 65536 * major + minor. A new minor adds; a new major may change. */
#define WEFT_ABI_VERSION 0x00010000u

/**
 * The interface that the library has. A host works with it where the major numbers agree and the library's minor is not smaller.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API uint32_t weft_abi_version(void);

/**
 * The version of the library as text, "0.1.0".
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_version(void);

/* ---- status --------------------------------------------------------------------------------------------------------------- */

/** How a function ended: one of the codes below. */
typedef int32_t weft_status;

enum {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT = 1,    /* what was given is wrong, whatever the state */
  WEFT_NOT_FOUND = 2,           /* a block, port, file or name that does not exist */
  WEFT_ALREADY_EXISTS = 3,      /* a name that is taken */
  WEFT_OUT_OF_RANGE = 4,        /* an index or number beyond the limits */
  WEFT_FAILED_PRECONDITION = 5, /* not in this state: a closed handle, a session that runs, a page with errors */
  WEFT_UNSUPPORTED = 6,         /* known, but not offered */
  WEFT_RESOURCE_EXHAUSTED = 7,  /* over the memory limit, or over what the machine has */
  WEFT_DATA_LOSS = 8,           /* a file that is damaged */
  WEFT_CANCELLED = 9,           /* cancelled, or past its deadline */
  WEFT_ABORTED = 10,            /* ended by the page itself (Abort), or by other sessions */
  WEFT_PERMISSION_DENIED = 11,  /* a file outside the allowed folders */
  WEFT_INTERNAL = 12            /* a fault of Weft, or of a host's block */
};

/**
 * The name of a code as case files and JSON spell it: "invalid_argument". "unknown" for a number that is no code.
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_status_name(weft_status code);

/**
 * All numbers that the interface gives for a host to put into words, as a JSON object: "codes" (of weft_status), "severities", "phases",
 * "states", "pause_reasons", "modes", "event_kinds", "progress", "case_verdicts"; each a list of {"number", "name", "means"}. Names and
 * numbers never change, so that a host can translate what they mean; later versions add some. `weft codes --json` prints the same.
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

/** The most dimensions that a tensor has. */
#define WEFT_MAX_RANK 254

/**
 * The name of an element type, "DT_FLOAT"; "DT_INVALID" for a number that is none.
 * Errors: none. Owner: the library; lives for ever. Threads: any.
 */
WEFT_API const char* weft_dtype_name(int32_t dtype);

/**
 * Bytes of an element in host memory; 0 for strings and resources, whose elements a host cannot read as bytes, and for numbers that are
 * no type.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API size_t weft_dtype_size(int32_t dtype);

/* ---- strings -------------------------------------------------------------------------------------------------------------- */

/** Texts that a function gave: one (a page, a manifest), or a list (names). Immutable. */
typedef struct weft_strings weft_strings;

/**
 * How many texts there are.
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

/** What the engine was at when it found something. */
enum {
  WEFT_PHASE_NONE = 0,    /* no work on a page: arguments, handles, states */
  WEFT_PHASE_LOAD = 1,    /* reading the document */
  WEFT_PHASE_CONNECT = 2, /* names, wires, attributes, types */
  WEFT_PHASE_COMPILE = 3, /* shapes, and the plan */
  WEFT_PHASE_RUN = 4
};

/** One finding, with its place. Texts are empty where there is nothing to say. */
typedef struct weft_diagnostic {
  uint32_t size;
  int32_t severity;    /* WEFT_ERROR, WEFT_WARNING, WEFT_NOTE */
  int32_t code;        /* a weft_status, never WEFT_OK */
  uint32_t reserved;
  const char* message; /* what was needed and what was found */
  const char* hint;    /* the likely fix: "did you mean 'x'?" */
  const char* page;    /* what the page is called */
  const char* pointer; /* JSON pointer into the page: "/blocks/3/inputs/value" */
  const char* block;   /* id of the block */
  const char* port;    /* port or attribute */
  int32_t phase;       /* WEFT_PHASE_NONE ... */
  uint32_t causes;     /* so many findings that follow, notes, say what this one came from, each what the one before it came from */
  const char* needed;  /* what the port takes, as types and shapes: "DT_FLOAT [2,3]"; empty where it is not about that, or not known */
  const char* found;   /* what it was given: "DT_INT32 [2]" */
} weft_diagnostic;
#define WEFT_DIAGNOSTIC_INIT {sizeof(weft_diagnostic), 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL}

/** A list of findings, in the order found. Immutable. */
typedef struct weft_diagnostics weft_diagnostics;

/**
 * How many findings the list has. Of one page at most 1000 are kept.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_diagnostics_count(const weft_diagnostics* diagnostics, size_t* count);

/**
 * Fills in a finding.
 * Errors: WEFT_OUT_OF_RANGE for an index that is not below the count. Owner: texts are the handle's. Threads: any.
 */
WEFT_API weft_status weft_diagnostics_get(const weft_diagnostics* diagnostics, size_t index, weft_diagnostic* diagnostic);

/**
 * All findings as people read them, a line each: "page.json:/blocks/3/inputs/value: error: block.port: message (hint)".
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
