/**
 * @file weft.h
 * The C interface of Weft: plain C99, and C++. This is all that a host includes. A page of blocks is loaded from bytes or a file, a
 * session runs it, and results are read while it runs:
 *
 *     weft_runtime* runtime = NULL;
 *     weft_page* page = NULL;
 *     weft_session* session = NULL;
 *     weft_view* loss = NULL;
 *     weft_diagnostics* problems = NULL;
 *     if (weft_runtime_open(NULL, &runtime, &problems) != WEFT_OK ||
 *         weft_page_load_file(runtime, "xor.page.json", NULL, &page, &problems) != WEFT_OK ||
 *         weft_session_open(page, NULL, &session, &problems) != WEFT_OK ||
 *         weft_session_run(session, NULL, &problems) != WEFT_OK ||
 *         weft_session_view(session, "loss.output", &loss, &problems) != WEFT_OK) {
 *       weft_diagnostic first = WEFT_DIAGNOSTIC_INIT;
 *       weft_diagnostics_get(problems, 0, &first);
 *       fprintf(stderr, "%s.%s: %s\n", first.block, first.port, first.message);
 *     }
 *
 * CONVENTIONS. Functions name what they add to these.
 *
 *  1. Names. Functions and types begin with weft_, constants with WEFT_. What is here stays: functions, fields and constants are only
 *     added, and the numbers of constants never change. weft_abi_version() says what the library has.
 *  2. Handles. A handle is a pointer whose bits name an object; it is no address and must not be followed. Handles are used once: after
 *     its close or release a handle stays invalid for good, also when its object's place is taken by another.
 *  3. Invalid handles. Every function says what it was given: NULL, a number that is no handle, or a handle of another kind gives
 *     WEFT_INVALID_ARGUMENT; a handle that was closed gives WEFT_FAILED_PRECONDITION. Objects that do not belong together (a session of
 *     one page, a subscription of another) give WEFT_INVALID_ARGUMENT. Nothing is read through a handle that is not valid. To
 *     close or release NULL is no error and does nothing.
 *  4. Status. Functions return a weft_status: WEFT_OK, which is 0, or what went wrong. On failure outputs are set to NULL or 0, except
 *     where a function says otherwise, and nothing has changed. A required pointer that is NULL gives WEFT_INVALID_ARGUMENT.
 *  5. Problems. The last parameter of most functions, `problems`, may be NULL. Where it is not, it is set to NULL on success and on
 *     failure to a list whose first item is the failure (code, message, page, JSON pointer, block, port, hint), to be released. There is
 *     no "last error" anywhere, so threads never see each other's.
 *  6. Ownership. What comes out of a function through a handle pointer is owned by the caller, who closes or releases it once. What the
 *     caller passes in is copied before the function returns, except memory that is bound (weft_session_bind_input, _output).
 *     Strings and arrays inside filled structs belong to the handle they were asked of, and live as long as that.
 *  7. Lifetime. Handles may be closed in any order and from any thread: an object keeps what it needs of its parents. Closing a page
 *     leaves its sessions running; closing a session cancels its run. Views outlive session, page and runtime.
 *  8. Threads. Every function may be called from any thread. Calls on one session take turns. A run on one thread never keeps a
 *     call on another waiting, except the functions that wait by their nature: weft_session_wait, closing a session, EDIT of
 *     weft_session_set_mode, weft_page_run_wait and closing a page's run, and saving and restoring a page's state. Edits of a page wait for
 *     each other, not for its runs. Different runtimes share no state; what the process shares is the table that tells live handles from
 *     others, which nothing waits in.
 *  9. Callbacks get the `user` pointer they were given with, are called with no lock held, and on the thread named in their description.
 *     A callback may call every function of this header; one that would wait for the callback itself gives
 *     WEFT_FAILED_PRECONDITION instead: inside `plan` and `gradient` of a block (block.h) these are all functions of the page that it
 *     is called for and of its sessions. A callback must not throw or jump out.
 * 10. Structs that cross this interface begin with `size`, set by their WEFT_..._INIT. A library that is older than the header refuses a
 *     longer struct with WEFT_UNSUPPORTED where the part it does not know is not zero; a newer one takes the default of what is missing.
 *     Of structs that are filled in, what fits is written. Fields called `reserved` are zero. Structs without `size` never change.
 * 11. Text is UTF-8 and ends in a zero byte. Text in structs that are filled in is never NULL; it may be empty.
 * 12. Values are row-major tensors. Their names are `ID.port`, `ID.port[k]` for an element of a list port, `ID.result_port` as enuSpace
 *     says it, and `ID.result_port[i][j]` for one element.
 * 13. No exception leaves a function, and no input ends the process. Too little memory is WEFT_RESOURCE_EXHAUSTED.
 *
 * "Errors" below leaves out what follows from 3, 4, 9, 10 and 13; "Owner" what follows from 6; "Threads: any" means 8.
 */
#ifndef WEFT_H_
#define WEFT_H_

#include "weft/capi/base.h"
#include "weft/capi/runtime.h"
#include "weft/capi/job.h"
#include "weft/capi/page.h"
#include "weft/capi/edit.h"
#include "weft/capi/files.h"
#include "weft/capi/session.h"
#include "weft/capi/page_run.h"
#include "weft/capi/result.h"
#include "weft/capi/inspect.h"
#include "weft/capi/events.h"
#include "weft/capi/sample.h"
#include "weft/capi/debug.h"
#include "weft/capi/snapshot.h"
#include "weft/capi/sharded.h"
#include "weft/capi/block.h"
#include "weft/capi/library.h"

#endif /* WEFT_H_ */
