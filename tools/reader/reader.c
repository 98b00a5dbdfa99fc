/* What a host that reads every result costs a page that runs at a rate: for tools/bench_reader.
 *
 *   reader PAGE --pairs N --interval-us N --threads N --read views|touch|told|nothing
 *
 * The main thread runs the page, a run each interval, in pairs of runs. For one of the two, drawn by chance, there is a reader: a thread
 * that has read all results of the run before, between the two, and holds them meanwhile; "told": the engine wakes it when the run ends.
 * Each run gives a line, "run READER ELAPSED PROCESSOR FAULTS": nanoseconds, the processor time and the page faults of the thread that runs. The last line,
 * "totals", tells what was read. Errors go to standard error; exit status 1. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <weft.h>

enum { READ_VIEWS, READ_TOUCH, READ_TOLD, READ_NOTHING };
static const char* const kinds[] = {"views", "touch", "told", "nothing"};

typedef struct Options {
  const char* page;
  int64_t pairs, interval_us, threads;
  int read;
} Options;

/* What the thread that reads is to do next. */
enum { WAIT, READ_NOW, LET_GO, END };

typedef struct Reader {
  weft_session* session;
  weft_events* events;
  const char** names;
  size_t count;
  int read;
  weft_view** views; /* of the last run that was read */
  int attached;                    /* of the main thread: there is a reader */
  weft_subscription* subscription; /* tells it when a run has ended */
  atomic_int ask;    /* WAIT ... */
  atomic_int wanted; /* whether the results of the run that goes on are to be read at its end */
  uint64_t reads, runs_read, last_run, bytes, sum;
} Reader;

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fail(weft_diagnostics* problems, const char* what) {
  const char* text = "";
  if (problems) weft_diagnostics_text(problems, &text);
  fprintf(stderr, "reader: %s: %s\n", what, text);
  exit(1);
}

/* ---- the thread that reads -------------------------------------------------------------------------------------------------------- */

static uint64_t sum_of(const weft_view_info* info) {
  const uint64_t* words = (const uint64_t*)info->data;
  uint64_t sum = 0;
  for (int64_t i = 0; i < info->bytes / 8; ++i) sum += words[i];
  return sum;
}

static void let_go(Reader* reader) {
  for (size_t i = 0; i < reader->count; ++i) {
    weft_view_release(reader->views[i]);
    reader->views[i] = NULL;
  }
}

static uint64_t look_at(Reader* reader, weft_view* view) {
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  if (!view || weft_view_get_info(view, &info) != WEFT_OK) return 0;
  reader->bytes += (uint64_t)info.bytes;
  if (reader->read == READ_TOUCH) reader->sum += sum_of(&info);
  else if (info.bytes > 0) reader->sum += *(const unsigned char*)info.data;
  return info.generation;
}

/* Takes the new values before it lets the old ones go, as a host does that always shows something. */
static void read_all(Reader* reader) {
  uint64_t run = 0;
  weft_view** fresh = calloc(reader->count, sizeof *fresh);
  weft_session_views(reader->session, reader->names, reader->count, fresh, NULL);
  for (size_t i = 0; i < reader->count; ++i) {
    const uint64_t one = look_at(reader, fresh[i]);
    if (one > run) run = one;
  }
  let_go(reader);
  memcpy(reader->views, fresh, reader->count * sizeof *fresh);
  free(fresh);
  reader->reads += 1;
  if (run > reader->last_run) reader->runs_read += 1;
  reader->last_run = run;
}

/* Whether a run has ended. */
static int run_ended(Reader* reader) {
  weft_event event = WEFT_EVENT_INIT;
  weft_sample sample = WEFT_SAMPLE_INIT;
  size_t events = 0, samples = 0;
  weft_events_poll(reader->events, &event, 1, &events, NULL);
  if (events == 0) return 0;
  weft_session_samples(reader->session, &sample, 1, &samples, NULL); /* the next run tells again */
  weft_view_release(sample.value);
  return 1;
}

static void* read_on(void* user) {
  Reader* reader = user;
  for (;;) {
    int32_t ready = 0;
    weft_events_wait(reader->events, -1, &ready, NULL);
    const int ended = run_ended(reader), asked = atomic_exchange(&reader->ask, WAIT);
    if (asked == END) return NULL;
    if (asked == READ_NOW || (asked == WAIT && ended && atomic_load(&reader->wanted))) read_all(reader);
    else if (asked == LET_GO || ended) let_go(reader);
  }
}

/* ---- the thread that runs --------------------------------------------------------------------------------------------------------- */

static void ask(Reader* reader, int what) {
  atomic_store(&reader->ask, what);
  weft_events_interrupt(reader->events, NULL);
}

/* Between two runs: has the next one read, or not. */
static void attach(Reader* reader, int attached) {
  weft_diagnostics* problems = NULL;
  const int told = reader->read == READ_TOLD, changes = reader->attached != attached;
  if (reader->read == READ_NOTHING || (!changes && (told || !attached))) return;
  reader->attached = attached;
  if (told && attached && weft_session_subscribe(reader->session, reader->names[0], NULL, &reader->subscription, &problems) != WEFT_OK) {
    fail(problems, "subscribe");
  }
  if (told && !attached) weft_subscription_close(reader->subscription);
  ask(reader, attached ? READ_NOW : LET_GO);
}

static void wait_until(int64_t ns) {
  const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
  }
}

/* Which of the runs have a reader: one of each pair. The same draw every time. */
static char* draw(int64_t pairs) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  char* with = calloc((size_t)pairs * 2 + 1, 1); /* after the last: none */
  for (int64_t pair = 0; pair < pairs; ++pair) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    with[2 * pair + (int64_t)(state >> 63)] = 1;
  }
  return with;
}

static void run_pairs(Reader* reader, const Options* options) {
  weft_diagnostics* problems = NULL;
  struct rusage before, after;
  char* with = draw(options->pairs);
  int64_t next = clock_ns(CLOCK_MONOTONIC);
  for (int64_t run = 0; run < 2 * options->pairs; ++run) {
    attach(reader, with[run]);
    atomic_store(&reader->wanted, with[run + 1]);
    next += options->interval_us * 1000;
    if (next < clock_ns(CLOCK_MONOTONIC)) next = clock_ns(CLOCK_MONOTONIC); /* who is late does not hurry to make up for it */
    wait_until(next);
    getrusage(RUSAGE_THREAD, &before);
    const int64_t began = clock_ns(CLOCK_MONOTONIC), worked = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (weft_session_run(reader->session, NULL, &problems) != WEFT_OK) fail(problems, "run");
    const int64_t processor = clock_ns(CLOCK_THREAD_CPUTIME_ID) - worked, elapsed = clock_ns(CLOCK_MONOTONIC) - began;
    getrusage(RUSAGE_THREAD, &after);
    printf("run %d %lld %lld %ld\n", with[run], (long long)elapsed, (long long)processor, after.ru_minflt - before.ru_minflt);
  }
  attach(reader, 0);
  free(with);
}

/* ---- from start to end ------------------------------------------------------------------------------------------------------------ */

static Options options_of(int argc, char** argv) {
  Options options = {NULL, 100, 10000, 0, READ_VIEWS};
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (argv[i][0] != '-') {
      options.page = argv[i];
      continue;
    }
    if (!strcmp(argv[i], "--pairs")) options.pairs = atoll(value);
    if (!strcmp(argv[i], "--interval-us")) options.interval_us = atoll(value);
    if (!strcmp(argv[i], "--threads")) options.threads = atoll(value);
    for (int kind = 0; !strcmp(argv[i], "--read") && kind <= READ_NOTHING; ++kind) {
      if (!strcmp(value, kinds[kind])) options.read = kind;
    }
    ++i;
  }
  if (!options.page || options.pairs < 1) {
    fprintf(stderr, "usage: reader PAGE [--pairs N] [--interval-us N] [--threads N] [--read views|touch|told|nothing]\n");
    exit(2);
  }
  return options;
}

static void list_results(Reader* reader) {
  weft_diagnostics* problems = NULL;
  weft_strings* names = NULL;
  if (weft_session_results(reader->session, &names, &problems) != WEFT_OK) fail(problems, "results");
  weft_strings_count(names, &reader->count);
  reader->names = calloc(reader->count, sizeof *reader->names);
  reader->views = calloc(reader->count, sizeof *reader->views);
  for (size_t i = 0; i < reader->count; ++i) weft_strings_get(names, i, &reader->names[i], NULL);
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  Reader reader = {.read = options.read};
  weft_runtime_options threads = WEFT_RUNTIME_OPTIONS_INIT;
  weft_runtime* runtime = NULL;
  weft_page* page = NULL;
  weft_diagnostics* problems = NULL;
  pthread_t thread;
  threads.threads = (int32_t)options.threads;
  if (weft_runtime_open(&threads, &runtime, &problems) != WEFT_OK) fail(problems, "runtime");
  if (weft_page_load_file(runtime, options.page, NULL, &page, &problems) != WEFT_OK) fail(problems, options.page);
  if (weft_session_open(page, NULL, &reader.session, &problems) != WEFT_OK) fail(problems, "session");
  if (weft_session_run(reader.session, NULL, &problems) != WEFT_OK) fail(problems, "run");
  list_results(&reader);
  if (weft_events_open(NULL, &reader.events, &problems) != WEFT_OK ||
      weft_events_add(reader.events, reader.session, WEFT_EVENT_BIT(WEFT_EVENT_VALUES), 1, &problems) != WEFT_OK) {
    fail(problems, "events");
  }
  if (pthread_create(&thread, NULL, read_on, &reader) != 0) return 1;
  run_pairs(&reader, &options);
  ask(&reader, END);
  pthread_join(thread, NULL);
  printf("totals %llu reads %llu runs %zu results %llu bytes %llu sum\n", (unsigned long long)reader.reads,
         (unsigned long long)reader.runs_read, reader.count, (unsigned long long)reader.bytes, (unsigned long long)reader.sum);
  weft_session_close(reader.session);
  weft_page_close(page);
  weft_runtime_close(runtime);
  return 0;
}
