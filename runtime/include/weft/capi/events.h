/**
 * @file events.h
 * Part of weft.h: what runs report: by callback, or by a queue that the host drains.
 */
#ifndef WEFT_CAPI_EVENTS_H_
#define WEFT_CAPI_EVENTS_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_EVENTS_H_ */
