/**
 * @file sample.h
 * Part of weft.h: subscriptions to values, with a rate and a reduction.
 */
#ifndef WEFT_CAPI_SAMPLE_H_
#define WEFT_CAPI_SAMPLE_H_

#include "weft/capi/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A value of a session that the host wants to have as it changes. It stays the same value when an edit renames its block. Where one removes the
 * block, that is told once; when a block with the id that it had last is back, the subscription is to its value.
 */
typedef struct weft_subscription weft_subscription;

/** What becomes of the values between two deliveries. */
enum {
  WEFT_EACH = 0,      /* all are delivered */
  WEFT_LAST = 1,      /* the last one */
  WEFT_MEAN = 2,      /* of each element over the runs, as WEFT_DOUBLE */
  WEFT_MIN_MAX = 3,   /* of each element over the runs */
  WEFT_DECIMATE = 4,  /* one of every `every` runs */
  WEFT_HISTOGRAM = 5  /* of the elements of the last one */
};

typedef struct weft_subscription_options {
  uint32_t size;
  int32_t reduction;     /* WEFT_EACH ... */
  int64_t interval_ns;   /* least time between two deliveries; 0: every run delivers */
  int64_t max_bytes;     /* longer values are thinned to every n-th element; 0: never */
  uint64_t every;        /* WEFT_DECIMATE; 0 means 1 */
  int64_t bins;          /* WEFT_HISTOGRAM: up to 65536; 0 means 64 */
  uint64_t most_pending; /* samples that wait to be taken; then the oldest is dropped. 0: 64 for EACH and DECIMATE, else 1 */
  uint64_t tag;          /* comes back in each sample */
} weft_subscription_options;
#define WEFT_SUBSCRIPTION_OPTIONS_INIT {sizeof(weft_subscription_options), WEFT_LAST, 0, 0, 0, 0, 0, 0}

/** What is delivered. */
typedef struct weft_sample {
  uint32_t size;
  int32_t code;          /* WEFT_OK, or why there is no value: delivered once, with views NULL */
  uint64_t tag;          /* of the subscription */
  uint64_t first_run, run; /* the first and last run that it speaks of */
  uint64_t runs;         /* how many that computed the value */
  uint64_t dropped;      /* samples of the subscription that were not taken in time, so far */
  int64_t t_ns;          /* when, on the machine's monotonic clock */
  int64_t stride;        /* more than 1: only every so many elements, of shape [n] */
  weft_view* value;      /* the caller's; WEFT_HISTOGRAM: how many elements lie in each bin, as WEFT_INT64 */
  weft_view* high;       /* the caller's; WEFT_MIN_MAX: the greatest, `value` has the least. NULL for others */
  double lowest, highest; /* WEFT_HISTOGRAM: where the first bin begins and the last one ends */
  int64_t not_finite;    /* WEFT_HISTOGRAM: elements in no bin */
} weft_sample;
#define WEFT_SAMPLE_INIT {sizeof(weft_sample), 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0}

/**
 * Subscribes to a value by its name (convention 12). `options` may be NULL: the last value of every run. Samples are taken at the end of
 * each run that succeeds, on its thread: the last value without a copy, reductions at the cost of a pass over the value.
 * Errors: WEFT_NOT_FOUND for the name; WEFT_INVALID_ARGUMENT for a reduction of what has no real numbers, and options out of their range.
 * Owner: the caller, of `subscription`. Threads: any.
 */
WEFT_API weft_status weft_session_subscribe(weft_session* session, const char* name, const weft_subscription_options* options,
                                            weft_subscription** subscription, weft_diagnostics** problems);

/**
 * Ends the subscription; samples that were not taken are gone.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_subscription_close(weft_subscription* subscription);

/**
 * The value's name as the page calls it now; the last one where an edit took it from the page.
 * Errors: none. Owner: the caller, of `name` (one text). Threads: any.
 */
WEFT_API weft_status weft_subscription_name(weft_subscription* subscription, weft_strings** name, weft_diagnostics** problems);

/**
 * Takes the samples of all subscriptions of a session that are ready, at most `capacity`, into an array, and says how many; the oldest
 * first of each subscription. Each element has its size set like the first. Does not wait: WEFT_EVENT_VALUES tells when to come.
 * Errors: none. Owner: the caller, of the views in it. Threads: any.
 */
WEFT_API weft_status weft_session_samples(weft_session* session, weft_sample* array, size_t capacity, size_t* count,
                                          weft_diagnostics** problems);

/**
 * The same of one subscription.
 * Errors: none. Owner: the caller, of the views in it. Threads: any.
 */
WEFT_API weft_status weft_subscription_samples(weft_subscription* subscription, weft_sample* array, size_t capacity, size_t* count,
                                               weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_SAMPLE_H_ */
