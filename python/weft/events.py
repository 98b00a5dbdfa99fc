"""What runs report: queues of events that the program drains, and callbacks."""
from __future__ import annotations

import dataclasses
import itertools
import threading
import time
import weakref
from collections.abc import Iterator
from ctypes import byref, c_int32, c_size_t, c_uint64, sizeof
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from .session import Session

_SLICE = 0.05  # seconds: how often a waiting thread looks for Ctrl-C
_MOST_POLLED = 256
_sources = itertools.count(1)  # numbers of what feeds queues: an id may come again


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that a run did. Texts are empty, and numbers 0, where there is nothing to say."""

    kind: str  # "state", "run", "progress", "error", "print", "values", "gap"
    seq: int  # grows with every event of a queue; dropped ones have numbers, too
    source: Session | None  # whose event it is; None of a gap
    seconds: float  # when, on time.monotonic's clock
    run: int = 0  # counted from 1
    merged: int = 0  # runs, progress, values: earlier ones that this one stands for besides itself
    fraction: float = -1.0  # progress: of the run's steps that are done; negative: unknown
    progress: str = ""  # runs, progress: "began", "ended", "skipped", "failed", "cancelled"
    state: str = ""  # state: "idle", "running", "paused"
    pause_reason: str = ""  # state: "asked", "reached", "stepped", "breakpoint"
    code: str = ""  # errors, and runs that failed: "invalid_argument" ...
    page: str = ""
    session: str = ""
    block: str = ""  # state: the one that runs next
    port: str = ""
    pointer: str = ""  # errors: JSON pointer into the page
    text: str = ""  # errors: the message; prints: the text; state: what a breakpoint says
    hint: str = ""
    dropped: dict[str, int] = dataclasses.field(default_factory=dict)  # gaps: how many, by kind
    start: int = 0  # of which run or start: see SessionInfo; 0 of values and gaps
    phase: str = ""  # errors: "load", "connect", "compile", "run"
    needed: str = ""  # errors: what the port takes
    found: str = ""  # errors: what it was given
    causes: str = ""  # errors: what it came from, a line each


def event_of(raw: _native.Event, source: Session | None) -> Event:
    text, kind = _native.text, _native.name_of(_native.EVENT_KINDS, raw.kind)
    dropped = {name: count for name, count in zip(_native.EVENT_KINDS, raw.dropped) if count} if kind == "gap" else {}
    is_state = kind == "state"
    return Event(kind, raw.seq, source, raw.t_ns / 1e9, raw.run, raw.merged, raw.fraction,
                 _native.name_of(_native.PROGRESS, raw.progress) if kind in ("run", "progress") else "",
                 _native.name_of(_native.STATES, raw.state) if is_state else "",
                 _native.name_of(_native.PAUSE_REASONS, raw.pause_reason) if is_state else "",
                 text(_native.lib.weft_status_name(raw.code)) if raw.code else "",
                 text(raw.page), text(raw.session), text(raw.block), text(raw.port), text(raw.pointer), text(raw.text), text(raw.hint), dropped,
                 raw.start, _native.name_of(_native.PHASES, raw.phase), text(raw.needed), text(raw.found), text(raw.causes))


def bits_of(kinds: tuple[str, ...]) -> int:
    """The set of these kinds; of none: all but progress and values, which cost time or memory."""
    bits = 0
    for kind in kinds or ("state", "run", "error", "print"):
        if kind not in _native.EVENT_KINDS:
            raise ValueError(f"{kind!r} is no kind of event; they are {', '.join(_native.EVENT_KINDS)}")
        bits |= 1 << _native.EVENT_KINDS.index(kind)
    return bits


class Events:
    """A queue of events, of any number of sessions.

    It is bounded: where it is full, the events of the lowest priority are dropped, and an event "gap" tells how many of which kinds did.

        with session.events("state", "error") as events:
            session.start(1000)
            for event in events:            # waits for more; Ctrl-C, or events.interrupt(), ends it
                print(event.kind, event.state, event.text)
                if event.state == "idle":
                    break

    `events.fileno()` is readable while there may be events: for select, and for asyncio's add_reader.
    """

    def __init__(self, most_events: int = 0, most_bytes: int = 0, most_history: int = 0):
        for what, most in (("most_events", most_events), ("most_bytes", most_bytes), ("most_history", most_history)):
            if most < 0:
                raise ValueError(f"{what} is 0 (the default) or more, not {most}")
        options = _native.EventsOptions(most_events=most_events, most_bytes=most_bytes, most_history=most_history)
        self._handle = _native.make("weft_events_open", byref(options))
        self._sources: dict[int, weakref.ref[Session]] = {}
        self._interrupted = threading.Event()
        self._lock = threading.Lock()  # polls take turns: texts of one live until the next
        self._close = weakref.finalize(self, _native.lib.weft_events_close, self._handle)

    def add(self, session: Session, *kinds: str) -> Events:
        """Has a session's events put here from now on: of these kinds, or all but "progress" and "values". Its state comes first."""
        number = next(_sources)
        self._sources[number] = weakref.ref(session)
        _native.call("weft_events_add", self._handle, session._handle, bits_of(kinds), number)
        return self

    def remove(self, session: Session) -> None:
        """The session puts no more here; what it has put stays."""
        _native.call("weft_events_remove", self._handle, session._handle)

    def poll(self, most: int = _MOST_POLLED) -> list[Event]:
        """Takes the events that are there, at most so many. Does not wait."""
        if most < 1:
            raise ValueError(f"needs to take 1 event or more, not {most}")
        raw, count = (_native.Event * most)(), c_size_t()
        raw[0].size = sizeof(_native.Event)
        with self._lock:
            _native.call("weft_events_poll", self._handle, raw, most, byref(count))
            return [event_of(one, self._source(one.source)) for one in raw[: count.value]]

    def replay(self, from_seq: int = 1, most: int = _MOST_POLLED) -> tuple[list[Event], int]:
        """Events that were polled already, from a number on, once more; and how many from there on up to the first of them are lost."""
        if most < 1:
            raise ValueError(f"needs to take 1 event or more, not {most}")
        if not 0 <= from_seq < 1 << 64:
            raise ValueError(f"the numbers of events are 0 or more, not {from_seq}")
        raw, count, missed = (_native.Event * most)(), c_size_t(), c_uint64()
        raw[0].size = sizeof(_native.Event)
        with self._lock:
            _native.call("weft_events_replay", self._handle, from_seq, raw, most, byref(count), byref(missed))
            return [event_of(one, self._source(one.source)) for one in raw[: count.value]], missed.value

    def _source(self, number: int) -> Session | None:
        session = self._sources.get(number)
        return session() if session is not None else None

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most `timeout` seconds for events; False where there are none, because of the time or `interrupt`."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._interrupted.is_set():
            left = _SLICE if end is None else min(_SLICE, end - time.monotonic())
            ready = c_int32()
            _native.call("weft_events_wait", self._handle, max(0, round(left * 1000)), byref(ready))
            if ready.value:
                return True
            if end is not None and time.monotonic() >= end:
                return False
        self._interrupted.clear()
        return False

    def __iter__(self) -> Iterator[Event]:
        """Events as they come, until `interrupt`."""
        while self.wait():
            yield from self.poll()

    def interrupt(self) -> None:
        """Ends a wait or an iteration in progress, or the next one. From any thread."""
        self._interrupted.set()
        _native.call("weft_events_interrupt", self._handle)

    def fileno(self) -> int:
        """A file descriptor that is readable while there may be events; not to be read or closed."""
        fd = c_int32()
        _native.call("weft_events_fd", self._handle, byref(fd))
        return fd.value

    def close(self) -> None:
        """Ends the queue; sessions continue without it."""
        with self._lock:  # not while the texts of a poll are read
            self._close()

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
