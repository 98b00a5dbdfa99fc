/**
 * @file block.h
 * Part of weft.h: blocks of the host. They work like built-in blocks: ports, types and attributes are checked, and they have shapes, help, a
 * place in palettes and in weft_blocks_json, errors with block and port, gradients, and case files (library.h).
 *
 *     static int32_t plan(void* user, const weft_plan_call* call, void** parameters) {
 *       return call->set_shape(call, 0, call->inputs[0].rank, call->inputs[0].shape);
 *     }
 *     static int32_t run(void* user, void* parameters, const weft_run_call* call) {
 *       const float* x = call->inputs[0].data;
 *       float* y = call->outputs[0].data;
 *       for (int64_t i = 0; i < call->inputs[0].count; ++i) y[i] = 2 * x[i];
 *       return WEFT_OK;
 *     }
 *     const weft_port x = {"x", "DT_FLOAT", WEFT_SINGLE, NULL, "any shape"}, y = {"y", "DT_FLOAT", WEFT_SINGLE, NULL, "the shape of x"};
 *     weft_block block = WEFT_BLOCK_INIT;
 *     block.name = "Twice"; block.summary = "Twice its input.";
 *     block.inputs = &x; block.input_count = 1; block.outputs = &y; block.output_count = 1;
 *     block.plan = plan; block.run = run;
 *     weft_runtime_add_block(runtime, &block, &problems);
 */
#ifndef WEFT_CAPI_BLOCK_H_
#define WEFT_CAPI_BLOCK_H_

#include "weft/capi/page.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a block declares ------------------------------------------------------------------------------------------------ */

enum {
  WEFT_SINGLE = 0, /* one value */
  WEFT_LIST = 1,   /* values of one type, as many as the attribute `list_attr` says */
  WEFT_TUPLE = 2   /* values of the types that the attribute `list_attr` lists */
};

/** An input or output port. */
typedef struct weft_port {
  const char* name;
  const char* type;      /* "DT_FLOAT", the name of a type attribute ("T"), or "" for any type; NULL for a tuple */
  int32_t list;          /* WEFT_SINGLE, WEFT_LIST, WEFT_TUPLE */
  const char* list_attr; /* NULL for a single value */
  const char* doc;       /* its shape and meaning: "[N, ..., C]" */
} weft_port;

/** A setting that is fixed when the page is loaded. Attributes for types and list lengths are inferred and need not be declared. */
typedef struct weft_attr {
  const char* name;          /* without enuSpace's trailing underscore */
  const char* type;          /* "int", "float", "bool", "string", "type", "shape", or a list: "list(int)" */
  const char* default_text;  /* as a page writes it; NULL: must be given */
  const char* allowed;       /* strings: "NHWC|NCHW"; types: "DT_FLOAT|DT_DOUBLE"; NULL: any */
  const int64_t* minimum;    /* least int, or least length of a list; NULL: none */
  const char* doc;
} weft_attr;

/** The types that a type attribute, which is inferred from the inputs, may have. */
typedef struct weft_type_attr {
  const char* name;
  const int32_t* dtypes;
  size_t dtype_count;
} weft_type_attr;

/* ---- what a block sees ---------------------------------------------------------------------------------------------------- */

/** A value that a block reads or writes. */
typedef struct weft_value {
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  int64_t count;  /* elements */
  void* data;     /* row-major elements; of strings: NULL (see get_string, set_string) */
} weft_value;

/** The value of an attribute: `text` for every type, and the member for its type. */
typedef struct weft_attr_value {
  const char* name;
  const char* text;     /* as a page would write it; "" where it has no value */
  int64_t number;       /* int, bool (0 or 1), type (WEFT_FLOAT ...) */
  double real;          /* float */
  const char* string;   /* string; else NULL */
  const int64_t* list;  /* list(int), list(type), and the sizes of a shape, unknown ones -1; else NULL */
  const double* reals;  /* list(float); else NULL */
  size_t list_count;
} weft_attr_value;

/**
 * Passed to `plan`; valid during the call. Values are in port order, lists expanded: those of input port p are
 * inputs[input_first[p]] up to, not including, inputs[input_first[p + 1]].
 */
typedef struct weft_plan_call {
  uint32_t size;
  uint32_t reserved;
  const weft_value* inputs;  /* types and shapes; data only of ports in shaped_by */
  const weft_value* outputs; /* types; `plan` sets the shapes */
  size_t input_count, output_count;
  const uint32_t *input_first, *output_first;
  const weft_attr_value* attrs; /* in the order declared, type attributes at the end */
  size_t attr_count;
  /* Sets the shape of an output value. Required for each output value, or set_unknown below; the last call for a value is used. Returns
     a code for `plan` to return where the shape is invalid. */
  int32_t (*set_shape)(const struct weft_plan_call* call, size_t output, int32_t rank, const int64_t* shape);
  /* Requests memory that `run` gets as `scratch`, aligned to 64 bytes, uninitialised. */
  int32_t (*set_scratch)(const struct weft_plan_call* call, int64_t bytes);
  /* Records a failure, at a port or attribute (may be NULL), with a hint (may be NULL). Returns `code`, for `plan` to return. */
  int32_t (*fail)(const struct weft_plan_call* call, int32_t code, const char* port, const char* message, const char* hint);
  void* engine; /* of the engine; not for the block */
  /* Instead of set_shape, for an output whose shape depends on data: what is known of it. Unknown sizes are -1; a rank of -1 means that
     nothing is known. `run` must then call set_output for it. Not for element-wise blocks. */
  int32_t (*set_unknown)(const struct weft_plan_call* call, size_t output, int32_t rank, const int64_t* shape);
} weft_plan_call;

/** Passed to `run`; valid during the call. Values as in weft_plan_call. */
typedef struct weft_run_call {
  uint32_t size;
  uint32_t reserved;
  const weft_value* inputs;  /* `run` must not write them */
  const weft_value* outputs; /* `run` must write all elements */
  size_t input_count, output_count;
  const uint32_t *input_first, *output_first;
  void* scratch;
  int64_t scratch_bytes;
  /* Calls task(user, 0) ... task(user, count - 1), each once, on the engine's threads, and returns when all have ended. Divide work by its
     size alone, so that results have the same bits on any number of threads. */
  void (*parallel)(const struct weft_run_call* call, int64_t count, void (*task)(void* user, int64_t index), void* user);
  /* Not 0 where the run was cancelled: return soon, outputs are discarded. */
  int32_t (*cancelled)(const struct weft_run_call* call);
  /* An element of a string input; its bytes are valid during the call of `run`. */
  int32_t (*get_string)(const struct weft_run_call* call, size_t input, int64_t element, const char** data, size_t* bytes);
  /* Sets an element of a string output to a copy of the bytes. */
  int32_t (*set_string)(const struct weft_run_call* call, size_t output, int64_t element, const char* data, size_t bytes);
  int32_t (*fail)(const struct weft_run_call* call, int32_t code, const char* port, const char* message, const char* hint);
  void* engine; /* of the engine; not for the block */
  /* Sets the shape of an output for which `plan` called set_unknown; once, on the thread that called `run`. `*data` (may be NULL) gets its
     memory, which `run` must fill; outputs[output] has both from then on. */
  int32_t (*set_output)(const struct weft_run_call* call, size_t output, int32_t rank, const int64_t* shape, void** data);
} weft_run_call;

/** The values for an input port of a block that a gradient adds. */
typedef struct weft_gradient_input {
  const char* port;
  const int64_t* values; /* one; of a list port `count` */
  size_t count;
} weft_gradient_input;

/**
 * Passed to `gradient`; valid during the call. The function adds blocks that compute the gradients of the block's inputs from the gradients
 * of its outputs. Values are numbers, valid during the call; 0 is none.
 *
 *     static int32_t twice_gradient(void* user, const weft_gradient_call* call) {     (of y = 2 * x)
 *       const weft_gradient_input x = {"x", &call->gradients[0], 1};
 *       return call->set(call, 0, call->add(call, "Twice", "", &x, 1));
 *     }
 */
typedef struct weft_gradient_call {
  uint32_t size;
  uint32_t reserved;
  const int64_t *inputs, *outputs; /* the block's values, in port order, lists expanded */
  const int64_t* gradients;        /* by output; 0 where nothing depends on that output */
  const unsigned char* wanted;     /* by input: not 0 where its gradient is used */
  const int32_t *input_dtypes, *output_dtypes;
  size_t input_count, output_count;
  const uint32_t *input_first, *output_first; /* as in weft_plan_call */
  const weft_attr_value* attrs;
  size_t attr_count;
  /* Adds a block that computes (not Variable, ClientSession, Enter and the like; for Const see below), with attributes as a page writes
     them (may be NULL). Returns its first output, or 0 on failure; the failure is recorded, and need not be reported again. */
  int64_t (*add)(const struct weft_gradient_call* call, const char* block, const char* attrs, const weft_gradient_input* inputs,
                 size_t input_count);
  /* Another output of a block, by index, from its first one. */
  int64_t (*output)(const struct weft_gradient_call* call, int64_t first, size_t output);
  /* A constant, copied from the buffer; a scalar of the type of `like`. */
  int64_t (*constant)(const struct weft_gradient_call* call, const struct weft_buffer* value);
  int64_t (*scalar)(const struct weft_gradient_call* call, int64_t like, double value);
  /* Sets the gradient of an input; it has the input's type. Inputs for which it is not called have no gradient. */
  int32_t (*set)(const struct weft_gradient_call* call, size_t input, int64_t gradient);
  int32_t (*fail)(const struct weft_gradient_call* call, int32_t code, const char* message, const char* hint);
  void* engine; /* of the engine; not for the block */
} weft_gradient_call;

/**
 * Checks everything that types, shapes and attributes can prove, and sets the shape of each output. May store `*parameters`, which `run`
 * gets and must not change: blocks with the same attributes, types and shapes share the parameters of one call, unless they are
 * WEFT_BLOCK_STATEFUL, and so do sessions. Called on the threads that load, plan and run pages, on several at a time. The page waits for the
 * call: inside it, functions of that page and its sessions return WEFT_FAILED_PRECONDITION; other threads that the function waits for must
 * not call them either. Returns WEFT_OK or what call->fail returned. Where a function of the call has failed, planning fails whether or not this
 * returns WEFT_OK.
 */
typedef int32_t (*weft_plan_function)(void* user, const weft_plan_call* call, void** parameters);
/**
 * Computes the outputs. Called on the threads that run sessions, on several at a time. Returns WEFT_OK or what call->fail returned, for
 * faults of the data. Where a function of the call has failed, parallel too, the run fails whether or not this returns WEFT_OK.
 */
typedef int32_t (*weft_run_function)(void* user, void* parameters, const weft_run_call* call);

/**
 * Adds the blocks that compute the block's gradient. Called on the threads that load and edit pages, once for each block that gradients
 * (AddSymbolicGradients) pass through. Inside it, functions of that page and its sessions fail as in a plan. Returns WEFT_OK or what
 * call->fail returned.
 */
typedef int32_t (*weft_gradient_function)(void* user, const weft_gradient_call* call);

/** A block type. */
typedef struct weft_block {
  uint32_t size;
  uint32_t flags;            /* WEFT_BLOCK_... */
  const char* name;          /* "Twice" */
  const char* category;      /* where palettes show it; NULL: "host" */
  const char* summary;       /* one sentence; required */
  const char* details;       /* more help; may be NULL */
  const char* const* aliases; /* other names; may be NULL */
  size_t alias_count;
  const weft_port* inputs;
  size_t input_count;
  const weft_port* outputs;
  size_t output_count;
  const weft_attr* attrs;
  size_t attr_count;
  const weft_type_attr* types;
  size_t type_count;
  const int32_t* shaped_by;  /* indices of inputs whose values determine output shapes: `plan` sees their data */
  size_t shaped_by_count;
  weft_plan_function plan;
  weft_run_function run;
  void (*free_parameters)(void* user, void* parameters); /* frees what `plan` stored; may be NULL */
  void (*release)(void* user);                           /* called when the runtime has ended; may be NULL */
  void* user;
  weft_gradient_function gradient; /* NULL: none, see WEFT_BLOCK_NOT_DIFFERENTIABLE */
} weft_block;
#define WEFT_BLOCK_INIT                                                                                                               \
  {sizeof(weft_block), 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL}

enum {
  WEFT_BLOCK_STATEFUL = 1,           /* outputs depend on more than the inputs: never merged or left out */
  /* One output, whose element i depends only on elements i of inputs of its size, and on inputs of one element. It may be computed in
     place of an input, and `plan` and `run` may be called for parts of a tensor, as tensors of rank 1, on several threads at a time. */
  WEFT_BLOCK_ELEMENTWISE = 2,
  /* Gradients stop here without an error. Without it, and without `gradient`, a gradient through the block is an error. */
  WEFT_BLOCK_NOT_DIFFERENTIABLE = 4,
  WEFT_BLOCK_INTERNAL = 8            /* added by gradients only: not shown in palettes */
};

/**
 * Adds a block to a runtime that has loaded no page yet. Its declaration is copied.
 * Errors: WEFT_ALREADY_EXISTS for a name that is taken; WEFT_INVALID_ARGUMENT for an inconsistent declaration, placed at the block and its
 * port or attribute; WEFT_UNSUPPORTED for more than 32 ports on a side; WEFT_FAILED_PRECONDITION once the runtime has
 * loaded a page. On failure release is not called.
 * Owner: the runtime borrows `user` until it has ended, then calls release. Threads: any.
 */
WEFT_API weft_status weft_runtime_add_block(weft_runtime* runtime, const weft_block* block, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_BLOCK_H_ */
