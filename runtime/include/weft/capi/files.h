/**
 * @file files.h
 * Part of weft.h: the files that a page may use, for a host's own files: its choice of a data set, a picture that it exports.
 *
 * A page reads the folder that it was loaded from and the allowed_folders of weft_page_options, and writes and reads its write_folders. A
 * name is relative to the page's folder, or absolute; what counts is the real place, links and ".." included. file_access of the options sees
 * each access, those of the functions here, too, and may refuse it.
 */
#ifndef WEFT_CAPI_FILES_H_
#define WEFT_CAPI_FILES_H_

#include "weft/capi/page.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a page would do with a file. */
enum { WEFT_FILE_READ = 0, WEFT_FILE_WRITE = 1 };

/**
 * The real place of a file that the page may use, which need not exist: as an absolute path without links.
 * Errors: WEFT_PERMISSION_DENIED outside the folders, with what would allow it as the hint; WEFT_INVALID_ARGUMENT for an unknown `access`,
 * an empty name, a device or a pipe; WEFT_NOT_FOUND for a place that cannot be. Owner: the caller, of `path` (one text). Threads: any.
 */
WEFT_API weft_status weft_page_file_path(weft_page* page, const char* name, int32_t access, weft_strings** path,
                                         weft_diagnostics** problems);

/**
 * All bytes of a file that the page may read. The place is checked and opened as one: a link put on its way meanwhile leads nowhere.
 * Errors: as weft_page_file_path; WEFT_NOT_FOUND where there is no such file; WEFT_RESOURCE_EXHAUSTED for more than 4 GiB. Owner: the
 * caller, of `content` (one text: any bytes). Threads: any.
 */
WEFT_API weft_status weft_page_read_file(weft_page* page, const char* name, weft_strings** content, weft_diagnostics** problems);

/**
 * Writes a whole file that the page may write, in place of one that may be there: that one stays until all is on the disk, and on failure.
 * Errors: as weft_page_file_path; WEFT_NOT_FOUND where its folder is missing; WEFT_RESOURCE_EXHAUSTED for a full disk. Owner: nothing.
 * Threads: any.
 */
WEFT_API weft_status weft_page_write_file(weft_page* page, const char* name, const void* bytes, size_t count, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_FILES_H_ */
