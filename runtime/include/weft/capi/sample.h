/**
 * @file sample.h
 * Part of weft.h: subscriptions to values, with a rate and a reduction.
 */
#ifndef WEFT_CAPI_SAMPLE_H_
#define WEFT_CAPI_SAMPLE_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_SAMPLE_H_ */
