/* A host in C99, phase by phase: open, load, look, run, read, close. It needs weft.h and libweft.so alone:
 *
 *     cc -std=c99 host.c -o host $(pkg-config --cflags --libs weft) && ./host page.json
 *
 * Usage: host [--write FOLDER] PAGE...    pages may write into the folder
 *
 * For each page it runs every session five times, in turn, and prints a digest of all results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { ROUNDS = 5, MOST_SESSIONS = 16 };

/* Every call ends in a status; what went wrong, where, and what to do about it is in `problems`. */
static void check(weft_status status, weft_diagnostics* problems, const char* phase) {
  const char* text = "";
  if (status == WEFT_OK) return;
  weft_diagnostics_text(problems, &text);
  fprintf(stderr, "%s: %s\n%s\n", phase, weft_status_name(status), text);
  weft_diagnostics_release(problems);
  exit(1);
}

/* ---- open: a runtime has the blocks, the threads and the memory limit ---- */
static weft_runtime* open_runtime(void) {
  weft_runtime* runtime = NULL;
  weft_diagnostics* problems = NULL;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  if (weft_abi_version() >> 16 != WEFT_ABI_VERSION >> 16) {
    fprintf(stderr, "this libweft.so has another interface than the header\n");
    exit(1);
  }
  options.threads = 2;
  check(weft_runtime_open(&options, &runtime, &problems), problems, "open");
  return runtime;
}

/* ---- load: all faults are found at once ---- */
static weft_page* load_page(weft_runtime* runtime, const char* path, const char* write_folder) {
  weft_page* page = NULL;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  weft_diagnostics* problems = NULL;
  options.write_folders = &write_folder;
  options.write_count = write_folder != NULL;
  check(weft_page_load_file(runtime, path, &options, &page, &problems), problems, "load");
  return page;
}

/* ---- look: what a page describes ---- */
static size_t open_sessions(weft_page* page, weft_session** sessions) {
  weft_strings* ids = NULL;
  weft_diagnostics* problems = NULL;
  size_t count = 0, i;
  check(weft_page_sessions(page, &ids, &problems), problems, "look");
  weft_strings_count(ids, &count);
  if (count > MOST_SESSIONS) count = MOST_SESSIONS;
  for (i = 0; i < count || i == 0; ++i) {
    weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
    if (count > 0) weft_strings_get(ids, i, &options.session, NULL); /* else: what nobody reads is fetched */
    check(weft_session_open(page, &options, &sessions[i], &problems), problems, "look");
  }
  weft_strings_release(ids);
  return i;
}

/* ---- run: on this thread; weft_session_start would return at once ---- */
static void run_all(weft_session** sessions, size_t count) {
  weft_diagnostics* problems = NULL;
  int round;
  size_t i;
  for (round = 0; round < ROUNDS; ++round) {
    for (i = 0; i < count; ++i) check(weft_session_run(sessions[i], NULL, &problems), problems, "run");
  }
}

/* ---- read: views show results without a copy, and never change ---- */
static uint64_t add_bytes(uint64_t digest, const void* data, size_t count) { /* FNV-1a */
  const unsigned char* bytes = data;
  size_t i;
  for (i = 0; i < count; ++i) digest = (digest ^ bytes[i]) * 1099511628211u;
  return digest;
}

static uint64_t add_view(uint64_t digest, const char* name, const weft_view* view) {
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  int64_t i;
  weft_view_get_info(view, &info);
  digest = add_bytes(digest, name, strlen(name) + 1);
  digest = add_bytes(digest, weft_dtype_name(info.dtype), strlen(weft_dtype_name(info.dtype)) + 1);
  for (i = 0; i < info.rank; ++i) digest = add_bytes(digest, &info.shape[i], sizeof info.shape[i]);
  if (info.data != NULL) digest = add_bytes(digest, info.data, (size_t)info.bytes);
  for (i = 0; info.dtype == WEFT_STRING && i < info.count; ++i) {
    weft_bytes element = {NULL, 0};
    weft_view_string(view, i, &element);
    digest = add_bytes(digest, element.data, element.size);
  }
  return digest;
}

static int by_text(const void* a, const void* b) { return strcmp(*(const char* const*)a, *(const char* const*)b); }

static uint64_t read_results(uint64_t digest, weft_session* session) {
  weft_strings* results = NULL;
  weft_diagnostics* problems = NULL;
  size_t count = 0, i;
  check(weft_session_results(session, &results, &problems), problems, "read");
  weft_strings_count(results, &count);
  const char** names = calloc(count + 1, sizeof *names);
  weft_view** views = calloc(count + 1, sizeof *views);
  for (i = 0; i < count; ++i) weft_strings_get(results, i, &names[i], NULL);
  qsort(names, count, sizeof *names, by_text);
  check(weft_session_views(session, names, count, views, &problems), problems, "read"); /* all of one run */
  for (i = 0; i < count; ++i) {
    if (views[i] != NULL) digest = add_view(digest, names[i], views[i]); /* NULL: a Switch has never sent it */
    weft_view_release(views[i]);
  }
  free(views);
  free(names);
  weft_strings_release(results);
  return digest;
}

/* ---- close: in any order ---- */
int main(int argc, char** argv) {
  weft_runtime* runtime = open_runtime();
  const char* write_folder = argc > 2 && strcmp(argv[1], "--write") == 0 ? argv[2] : NULL;
  for (int i = write_folder != NULL ? 3 : 1; i < argc; ++i) {
    weft_session* sessions[MOST_SESSIONS] = {NULL};
    weft_page* page = load_page(runtime, argv[i], write_folder);
    size_t count = open_sessions(page, sessions), k;
    uint64_t digest = 14695981039346656037u;
    run_all(sessions, count);
    for (k = 0; k < count; ++k) digest = read_results(digest, sessions[k]);
    printf("%s %016" PRIx64 "\n", argv[i], digest);
    for (k = 0; k < count; ++k) weft_session_close(sessions[k]);
    weft_page_close(page);
  }
  weft_runtime_close(runtime);
  return 0;
}
