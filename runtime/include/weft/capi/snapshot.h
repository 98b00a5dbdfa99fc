/**
 * @file snapshot.h
 * Part of weft.h: snapshots of a page's state.
 */
#ifndef WEFT_CAPI_SNAPSHOT_H_
#define WEFT_CAPI_SNAPSHOT_H_

#include "weft/capi/session.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_SNAPSHOT_H_ */
