/**
 * @file edit.h
 * Part of weft.h: small edits of a loaded page, each with its inverse.
 */
#ifndef WEFT_CAPI_EDIT_H_
#define WEFT_CAPI_EDIT_H_

#include "weft/capi/page.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_EDIT_H_ */
