/**
 * @file debug.h
 * Part of weft.h: breakpoints, and values of a run that is paused.
 */
#ifndef WEFT_CAPI_DEBUG_H_
#define WEFT_CAPI_DEBUG_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_DEBUG_H_ */
