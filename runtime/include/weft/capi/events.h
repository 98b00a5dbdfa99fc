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

/**
 * A queue of events, of any number of sessions and pages. It is bounded: where it is full, the oldest event of the lowest priority is
 * dropped (values and progress first, then prints; errors, states and edits last), and a WEFT_EVENT_GAP in its place tells how many of
 * which kinds.
 */
typedef struct weft_events weft_events;

/** Kinds of events. */
enum {
  WEFT_EVENT_STATE = 0,    /* the session became idle, running or paused */
  WEFT_EVENT_RUN = 1,      /* a run began or ended; of many between two polls the last is delivered */
  WEFT_EVENT_PROGRESS = 2, /* a block began or ended; of each block the last is delivered */
  WEFT_EVENT_ERROR = 3,    /* a run failed */
  WEFT_EVENT_PRINT = 4,    /* what a Print block or a warning says */
  WEFT_EVENT_VALUES = 5,   /* samples of subscriptions are ready; not again before they are taken */
  WEFT_EVENT_GAP = 6,      /* events were dropped */
  WEFT_EVENT_EDITED = 7    /* the page was edited: of pages (weft_events_add_page, weft_page_on_event), not of sessions */
};
#define WEFT_EVENT_KINDS 8

/** Sets of kinds: WEFT_EVENT_BIT(WEFT_EVENT_ERROR) | WEFT_EVENT_BIT(WEFT_EVENT_PRINT). Progress of blocks costs each of them some tens of
 *  nanoseconds; the others cost nothing between two runs. */
#define WEFT_EVENT_BIT(kind) (1u << (kind))
#define WEFT_ALL_EVENTS 0xffu

/** How far a run or a block is. */
enum {
  WEFT_NO_PROGRESS = 0,
  WEFT_BEGAN = 1,
  WEFT_ENDED = 2,
  WEFT_SKIPPED = 3, /* a Switch left the block out */
  WEFT_FAILED = 4,
  WEFT_ENDED_CANCELLED = 5
};

/** An event. Texts are empty where there is nothing to say. */
typedef struct weft_event {
  uint32_t size;
  int32_t kind;          /* WEFT_EVENT_STATE ... */
  uint64_t seq;          /* grows with every event of a queue or callback; dropped ones have numbers, too */
  uint64_t source;       /* what the host calls the session or page; 0 of a gap */
  int64_t t_ns;          /* when, on the machine's monotonic clock */
  uint64_t run;          /* counted from 1; 0 where there is none */
  uint64_t merged;       /* runs, progress, values: earlier ones that this one stands for besides itself */
  double fraction;       /* progress: of the run's steps that are done, going back in loops; negative: unknown */
  int32_t progress;      /* runs, progress: WEFT_BEGAN ... */
  int32_t state;         /* state: WEFT_IDLE, WEFT_RUNNING, WEFT_PAUSED */
  int32_t pause_reason;  /* state: WEFT_NOT_PAUSED ... */
  int32_t code;          /* errors, and runs that failed: a weft_status */
  const char* page;
  const char* session;
  const char* block;     /* state: the one that runs next; a breakpoint on values: the one that computed them */
  const char* port;      /* errors */
  const char* pointer;   /* errors: JSON pointer into the page; as block and port that of the cause, where a run fails for a fault of the page */
  const char* text;      /* errors: the message; prints: the text; state: what a breakpoint says; edited: what changed, as JSON */
  const char* hint;      /* errors: the likely fix */
  uint64_t dropped[WEFT_EVENT_KINDS + 1]; /* gaps: how many, by kind; the last is 0 */
  uint64_t start;        /* of which run or start: see weft_session_info; 0 of values and gaps */
  int32_t phase;         /* errors: WEFT_PHASE_NONE ... */
  int32_t severity;      /* errors: WEFT_ERROR; prints: WEFT_NOTE */
  const char* needed;    /* errors: as in weft_diagnostic */
  const char* found;     /* errors */
  const char* causes;    /* errors: what it came from, a line each as people read them, the nearest first */
  uint64_t revision;     /* edited: how many edits the page has had (weft_page_edits) */
  uint32_t outdated_page; /* runs: not 0: of an earlier page than the one as it is now, which has faults (weft_session_faults) */
  uint32_t reserved;
} weft_event;
#define WEFT_EVENT_INIT \
  {sizeof(weft_event), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {0}, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0}

typedef struct weft_events_options {
  uint32_t size;
  uint32_t most_events; /* that wait to be polled; 0: 1024 */
  size_t most_bytes;    /* of their texts; 0: a megabyte. As many again for those that weft_events_replay gives */
  uint64_t most_history; /* events that were polled and are kept for weft_events_replay; 0: 1024 */
} weft_events_options;
#define WEFT_EVENTS_OPTIONS_INIT {sizeof(weft_events_options), 0, 0, 0}

/**
 * Makes a queue. `options` may be NULL. It needs no runtime, and may outlive all.
 * Errors: none. Owner: the caller, of `events`. Threads: any.
 */
WEFT_API weft_status weft_events_open(const weft_events_options* options, weft_events** events, weft_diagnostics** problems);

/**
 * Ends the handle. Sessions that feed the queue continue without it; waits for it end.
 * Errors: none. Owner: takes the handle. Threads: any.
 */
WEFT_API weft_status weft_events_close(weft_events* events);

/**
 * Has a session's events of some kinds (a set, as above) put into the queue from now on, with `source` in them. First comes its present
 * state, where states are among the kinds; where a run is in progress, its progress follows up to now (in loops: from now on), then what changes.
 * Errors: WEFT_INVALID_ARGUMENT for an empty set or unknown kinds; WEFT_ALREADY_EXISTS where the session feeds this queue.
 * Owner: the session keeps the queue alive, until it is removed or the session closed. Threads: any.
 */
WEFT_API weft_status weft_events_add(weft_events* events, weft_session* session, uint32_t kinds, uint64_t source,
                                     weft_diagnostics** problems);

/**
 * The session feeds the queue no more; what it has put there stays.
 * Errors: WEFT_NOT_FOUND where it does not. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_events_remove(weft_events* events, weft_session* session, weft_diagnostics** problems);

/**
 * Has a WEFT_EVENT_EDITED put into the queue for each edit of a page from now on, with `source` in it.
 * Errors: WEFT_ALREADY_EXISTS where the page feeds this queue. Owner: the page keeps the queue alive, until it is removed or the page is closed
 * with its sessions. Threads: any.
 */
WEFT_API weft_status weft_events_add_page(weft_events* events, weft_page* page, uint64_t source, weft_diagnostics** problems);

/**
 * The page feeds the queue no more; what it has put there stays.
 * Errors: WEFT_NOT_FOUND where it does not. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_events_remove_page(weft_events* events, weft_page* page, weft_diagnostics** problems);

/**
 * Takes the next events, at most `capacity`, into an array, and says how many. Each has its size set like the first. Does not wait.
 * Errors: none. Owner: texts are the queue's, and live until the next poll of it. Threads: any, one at a time.
 */
WEFT_API weft_status weft_events_poll(weft_events* events, weft_event* array, size_t capacity, size_t* count, weft_diagnostics** problems);

/**
 * Events that were polled already, once more: for a host that lost them, or a second one that joins. Gives those from the number
 * `from_seq` on that are kept, at most `capacity`, and says how many; what was not polled yet is not among them. `*missed` (may be NULL)
 * gets how many numbers from there on up to the first of them are lost: 0 where nothing is. Numbers that are missing between two events
 * are of events that were dropped; a WEFT_EVENT_GAP tells of those.
 * Errors: none. Owner: texts are the queue's, and live until the next replay of it. Threads: any, one at a time.
 */
WEFT_API weft_status weft_events_replay(weft_events* events, uint64_t from_seq, weft_event* array, size_t capacity, size_t* count,
                                        uint64_t* missed, weft_diagnostics** problems);

/**
 * Waits until there are events, at most timeout_ms (negative: for ever); `ready` is 0 where there are none.
 * Errors: none. Owner: nothing. Threads: any; waits.
 */
WEFT_API weft_status weft_events_wait(weft_events* events, int64_t timeout_ms, int32_t* ready, weft_diagnostics** problems);

/**
 * Ends a wait for the queue in progress, or the next one.
 * Errors: none. Owner: nothing. Threads: any.
 */
WEFT_API weft_status weft_events_interrupt(weft_events* events, weft_diagnostics** problems);

/**
 * A file descriptor that is readable while there may be events, for poll, select and event loops.
 * Errors: WEFT_RESOURCE_EXHAUSTED where the process may have no more. Owner: the queue's; not to be read or closed. Threads: any.
 */
WEFT_API weft_status weft_events_fd(weft_events* events, int32_t* fd, weft_diagnostics** problems);

/** Called with an event, which lives until the call returns. */
typedef void (*weft_event_callback)(void* user, const weft_event* event);

/**
 * Has a callback called with a session's events of some kinds from now on, in place of the one before; NULL for none. Runs and the
 * progress of a block come at most every interval_ns (0: a tenth of a second; negative: all).
 * Errors: WEFT_INVALID_ARGUMENT for an empty set or unknown kinds. Owner: nothing; `user` must live until the callback was replaced and
 * no call of it is in progress, or weft_session_close has returned. Threads: any; called on the thread that runs the session, prints also on
 * others.
 */
WEFT_API weft_status weft_session_on_event(weft_session* session, weft_event_callback callback, void* user, uint32_t kinds,
                                           int64_t interval_ns, weft_diagnostics** problems);

/**
 * Has a callback called with a WEFT_EVENT_EDITED for each edit of a page from now on, in place of the one before; NULL for none. Edits that
 * several threads make at once are delivered in any order: `revision` says which was first.
 * Errors: none. Owner: nothing; `user` must live until the callback was replaced and no call of it is in progress. Threads: any; called on the
 * thread that edits, before weft_page_edit returns.
 */
WEFT_API weft_status weft_page_on_event(weft_page* page, weft_event_callback callback, void* user, weft_diagnostics** problems);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CAPI_EVENTS_H_ */
