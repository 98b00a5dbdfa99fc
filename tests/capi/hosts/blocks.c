/* A library of blocks in C99, to be copied. It needs weft.h alone; weft_runtime_add_library loads it, and case files test it:
 *
 *     cc -std=c99 -shared -fPIC blocks.c -o libblocks.so $(pkg-config --cflags weft)
 *     weft test --library ./libblocks.so blocks.cases.json
 */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

/* ---- Scale: y = factor * x, element by element, with a gradient ---- */

/* Checks all that types, shapes and attributes can prove, and gives each output its shape. What it stores, run gets. */
static int32_t scale_plan(void* user, const weft_plan_call* call, void** parameters) {
  double* factor = malloc(sizeof *factor);
  (void)user;
  if (factor == NULL) return call->fail(call, WEFT_RESOURCE_EXHAUSTED, NULL, "there is no memory for the factor", NULL);
  *factor = call->attrs[0].real;
  *parameters = factor;
  if (*factor == 0) return call->fail(call, WEFT_INVALID_ARGUMENT, "factor", "needs a factor that is not 0", "use ZerosLike");
  return call->set_shape(call, 0, call->inputs[0].rank, call->inputs[0].shape);
}

/* Computes, and nothing else. */
static int32_t scale_run(void* user, void* parameters, const weft_run_call* call) {
  const float* x = call->inputs[0].data;
  float* y = call->outputs[0].data;
  const float factor = (float)*(const double*)parameters;
  int64_t i;
  (void)user;
  for (i = 0; i < call->inputs[0].count; ++i) y[i] = factor * x[i];
  return WEFT_OK;
}

static void scale_free(void* user, void* parameters) {
  (void)user;
  free(parameters);
}

/* The gradient of x is that of y, scaled: one more block of this kind. */
static int32_t scale_gradient(void* user, const weft_gradient_call* call) {
  const weft_gradient_input dy = {"x", &call->gradients[0], 1};
  char attrs[64];
  (void)user;
  snprintf(attrs, sizeof attrs, "factor_ = %s;", call->attrs[0].text);
  return call->set(call, 0, call->add(call, "Scale", attrs, &dy, 1));
}

static weft_status add_scale(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems) {
  const weft_port inputs[] = {{"x", "DT_FLOAT", WEFT_SINGLE, NULL, "of any shape"}};
  const weft_port outputs[] = {{"y", "DT_FLOAT", WEFT_SINGLE, NULL, "the shape of x"}};
  const weft_attr attrs[] = {{"factor", "float", "2", NULL, NULL, "what x is multiplied by, not 0"}};
  weft_block block = WEFT_BLOCK_INIT;
  block.name = "Scale";
  block.category = "example";
  block.summary = "Multiplies by a factor.";
  block.flags = WEFT_BLOCK_ELEMENTWISE;
  block.inputs = inputs;
  block.input_count = 1;
  block.outputs = outputs;
  block.output_count = 1;
  block.attrs = attrs;
  block.attr_count = 1;
  block.plan = scale_plan;
  block.run = scale_run;
  block.free_parameters = scale_free;
  block.gradient = scale_gradient;
  return add_block(runtime, &block, problems);
}

/* ---- Positives: the elements above 0. How many there are, only the run can tell ---- */

static int32_t positives_plan(void* user, const weft_plan_call* call, void** parameters) {
  const int64_t some = -1;
  (void)user;
  (void)parameters;
  if (call->inputs[0].rank != 1) return call->fail(call, WEFT_INVALID_ARGUMENT, "x", "needs a vector", "use Reshape");
  return call->set_unknown(call, 0, 1, &some);
}

static int32_t positives_run(void* user, void* parameters, const weft_run_call* call) {
  const float* x = call->inputs[0].data;
  int64_t count = 0, next = 0, i;
  int32_t code;
  void* memory = NULL;
  (void)user;
  (void)parameters;
  for (i = 0; i < call->inputs[0].count; ++i) count += x[i] > 0;
  code = call->set_output(call, 0, 1, &count, &memory);
  if (code != WEFT_OK) return code;
  for (i = 0; i < call->inputs[0].count; ++i) {
    if (x[i] > 0) ((float*)memory)[next++] = x[i];
  }
  return WEFT_OK;
}

static weft_status add_positives(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems) {
  const weft_port inputs[] = {{"x", "DT_FLOAT", WEFT_SINGLE, NULL, "[n]"}};
  const weft_port outputs[] = {{"y", "DT_FLOAT", WEFT_SINGLE, NULL, "[m]: the elements of x above 0, in their order"}};
  weft_block block = WEFT_BLOCK_INIT;
  block.name = "Positives";
  block.category = "example";
  block.summary = "Gives the elements above 0.";
  block.flags = WEFT_BLOCK_NOT_DIFFERENTIABLE;
  block.inputs = inputs;
  block.input_count = 1;
  block.outputs = outputs;
  block.output_count = 1;
  block.plan = positives_plan;
  block.run = positives_run;
  return add_block(runtime, &block, problems);
}

WEFT_EXPORT weft_status weft_library(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems);

/* What Weft calls when it has loaded the library. */
weft_status weft_library(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems) {
  weft_status status = add_scale(runtime, add_block, problems);
  if (status == WEFT_OK) status = add_positives(runtime, add_block, problems);
  return status;
}
