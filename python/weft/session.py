"""Sessions: what runs a page, and what its runs left."""
from __future__ import annotations

import dataclasses
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from ctypes import byref, c_int32, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from .debug import Breakpoint, Debugging
from .edits import Renames, renamed
from .errors import CancelledError
from .values import Results, View, to_array, to_buffer
from .watching import EventCallback, Subscription, Watching

if TYPE_CHECKING:
    from .page import Page

UNTIL_STOPPED = _native.UNTIL_STOPPED
_SLICE_MS = 50  # how often a waiting main thread looks for Ctrl-C
_LONGEST_MS = 1 << 62


@dataclasses.dataclass(frozen=True)
class SessionInfo:
    """How a session is."""

    state: str  # "idle", "running", "paused"
    pause_reason: str  # "", "asked", "reached", "stepped", "breakpoint"
    runs: int  # that succeeded
    steps_left: int  # of the current run; -1: until stopped
    seconds: float  # since the run or start in progress began; where idle, what the last one took
    mode: str  # the last that was set: "edit", "freeze", "step", "run"
    last_status: str  # how the last run or start ended: "ok", or a code such as "cancelled"
    start: int  # the number of the run or start in progress, or was the last; for `cancel`
    outdated_page: bool = False  # runs and results are of an earlier page than the one as it is now, which has faults
    loops: bool = False  # its block on the page as it is now is to run until it is stopped (INFINITE_LOOP)


# Arrays that the engine reads or writes, by the number given to it as `user`: kept until it gives them back, on any of its threads.
_bound: dict[int, Any] = {}


@_native.ReleaseFunction
def _release(user: int, _data: int) -> None:
    _bound.pop(user, None)


def _close_session(handle: c_void_p, *called: Any) -> None:
    """`called`, what the engine calls while the session runs, lives until its last run has ended."""
    code = _native.lib.weft_session_close(handle)
    if _native.text(_native.lib.weft_status_name(code)) == "failed_precondition":  # the page waits for what this thread is in
        threading.Thread(target=lambda *_: _native.lib.weft_session_close(handle), args=called).start()


class Session(Watching, Debugging):
    """A plan of what to evaluate, run against its page's state. Made by `Page.session`; closes as a context manager.

    One run is in progress at a time; reading, feeding, pausing and cancelling work from any thread meanwhile.
    """

    def __init__(self, page: Page, session: str | None = None, *, fetch: Iterable[str] = (), operations: Iterable[str] = (),
                 keep: str = "all"):
        if keep not in ("all", "asked"):
            raise ValueError(f"keep is 'all' or 'asked', not {keep!r}")
        fetches, effects = _native.listed(fetch), _native.listed(operations)
        options = _native.SessionOptions(keep_asked=keep == "asked", session=_native.encode(session) if session is not None else None)
        options.fetches, options.fetch_count = _native.array(fetches), len(fetches)
        options.operations, options.operation_count = _native.array(effects), len(effects)
        self._take(page, _native.make("weft_session_open", page._handle, byref(options)))

    def _take(self, page: Page, handle: c_void_p) -> None:
        self._page = page
        # What is fed and bound, by names as the page has them: calls of `run` that feed a value give it back.
        self._fed: dict[str, tuple[np.ndarray, int]] = {}
        self._inputs: dict[str, np.ndarray] = {}
        self._outputs: dict[str, np.ndarray] = {}
        self._fed_for_run: list[str] = []  # and only for the run in progress
        page._opened.add(self)
        self._handle = handle
        self._breakpoints: set[Breakpoint] = set()
        self._subscriptions: dict[int, Subscription] = {}
        self._last_tag = 0
        self._on_event = EventCallback(self)
        self._close = weakref.finalize(self, _close_session, self._handle, page._told, self._on_event)

    @property
    def page(self) -> Page:
        return self._page

    def close(self) -> None:
        """Cancels what runs, waits until it has ended, and ends the session. What it left stays readable through views and arrays.

        A block's `shapes` that its page waits for does not wait: the session ends when the page has been planned.
        """
        self._close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- running ----

    def run(self, steps: int = 1, *, feeds: Mapping[str, Any] | None = None, deadline: float | None = None,
            interval: float | None = None) -> Session:
        """Runs `steps` times (UNTIL_STOPPED: until stopped) and returns the session.

        `feeds` replaces values such as "x.output" for this call only. `deadline` is in seconds from now, `interval` the least time from
        the start of one run to that of the next. A run that fails or is cancelled leaves variables and results as they were, and raises
        Error or CancelledError. Ctrl-C cancels the run and raises KeyboardInterrupt. Called on the main thread it also returns where a
        breakpoint pauses the run (`info.state`); elsewhere it waits until another thread has resumed that.
        """
        self._fed_for_run = []
        try:
            for name, value in (feeds or {}).items():
                self._give("weft_session_feed", name, *to_array(value, None))
                self._fed_for_run.append(name)
            options = run_options(steps, deadline, interval)
            if threading.current_thread() is threading.main_thread():
                _native.call("weft_session_start", self._handle, byref(options))
                wait_interruptibly(self)
            else:  # signals go to the main thread: nothing can interrupt this one
                _native.call("weft_session_run", self._handle, byref(options))
        finally:
            self._take_back(self._fed_for_run)
        return self

    def _take_back(self, names: list[str]) -> None:
        for name in names:
            if name in self._fed:
                self._give("weft_session_feed", name, *self._fed[name])
            elif name in self._inputs:
                self._bind("weft_session_bind_input", name, self._inputs[name])
            else:
                _native.call("weft_session_unbind", self._handle, _native.encode(name))
                if name in self._outputs:  # which that has ended as well
                    self._bind("weft_session_bind_output", name, self._outputs[name])

    def _follow(self, renames: Renames) -> None:
        self._fed = {renamed(name, renames): value for name, value in self._fed.items()}
        self._inputs = {renamed(name, renames): array for name, array in self._inputs.items()}
        self._outputs = {renamed(name, renames): array for name, array in self._outputs.items()}
        self._fed_for_run[:] = [renamed(name, renames) for name in self._fed_for_run]

    def start(self, steps: int = UNTIL_STOPPED, *, deadline: float | None = None, interval: float | None = None,
              until: str | None = None) -> None:
        """Starts to run on a thread of the session's own and returns at once. `until`: pauses before this block."""
        options = run_options(steps, deadline, interval, until)
        _native.call("weft_session_start", self._handle, byref(options))

    def wait(self, timeout: float | None = None) -> str:
        """Waits at most `timeout` seconds until the session is idle or paused; gives its state. Raises what ended its last run or start."""
        return wait_for("weft_session_wait", self._handle, timeout)

    def pause(self) -> None:
        """Asks what runs to pause before its next block or run; `wait` waits for it."""
        _native.call("weft_session_pause", self._handle)

    def resume(self) -> None:
        """Lets what is paused continue."""
        _native.call("weft_session_resume", self._handle, _native.GO_ON)

    def step_block(self) -> None:
        """Lets what is paused run one block."""
        _native.call("weft_session_resume", self._handle, _native.STEP_BLOCK)

    def step_run(self) -> None:
        """Lets what is paused continue to the end of its run."""
        _native.call("weft_session_resume", self._handle, _native.STEP_RUN)

    def stop(self) -> None:
        """Ends running after the current run."""
        _native.call("weft_session_stop", self._handle)

    def cancel(self, start: int | None = None) -> None:
        """Ends the current run, also inside a long block. From any thread. `start`: only where it is this one (`info.start`)."""
        if start is None:
            _native.call("weft_session_cancel", self._handle)
        else:
            _native.call("weft_session_cancel_start", self._handle, start)

    @property
    def info(self) -> SessionInfo:
        info = _native.SessionInfo()
        _native.call("weft_session_get_info", self._handle, byref(info))
        return SessionInfo(_native.name_of(_native.STATES, info.state), _native.name_of(_native.PAUSE_REASONS, info.pause_reason), info.runs,
                           info.steps_left, info.elapsed_ns / 1e9, _native.name_of(_native.MODES, info.mode),
                           _native.text(_native.lib.weft_status_name(info.last_status)), info.start, bool(info.outdated_page), bool(info.loops))

    def set_mode(self, mode: str, *, interval: float | None = None, deadline: float | None = None, until: str | None = None) -> None:
        """Sets one of enuSpace's modes: "edit" (nothing runs), "freeze" (paused), "step" (one run, then paused), "run" (until another)."""
        if mode not in _native.MODES:
            raise ValueError(f"mode is one of {', '.join(_native.MODES)}, not {mode!r}")
        options = run_options(1, deadline, interval, until)
        _native.call("weft_session_set_mode", self._handle, _native.MODES.index(mode), byref(options))

    @property
    def paused_at(self) -> tuple[str, str]:
        """The block that runs next where the session is paused, "" between two runs; and what a breakpoint says."""
        block, reason = _native.strings("weft_session_paused_at", self._handle)
        return block, reason

    # ---- values in ----

    def feed(self, name: str, value: Any, dtype: str | None = None) -> None:
        """Replaces a value such as "x.output" in the runs to come by a copy of `value`. `dtype`: for types that numpy lacks."""
        array, number = to_array(value, dtype)
        self._give("weft_session_feed", name, array, number)
        self._inputs.pop(name, None)
        self._fed[name] = (array.copy(), number)

    def _give(self, function: str, name: str, array: np.ndarray, number: int) -> None:
        buffer, kept = to_buffer(array, number)
        _native.call(function, self._handle, _native.encode(name), byref(buffer))
        del kept

    def bind_input(self, name: str, array: np.ndarray) -> None:
        """Has each run read `array` as it then is, without a copy. Write it between runs. It stays with the block; see `unbind`."""
        self._bind("weft_session_bind_input", name, array)
        self._fed.pop(name, None)
        self._inputs[name] = array

    def bind_output(self, name: str, array: np.ndarray) -> None:
        """Has each run that succeeds write the value to `array`. Read it between runs. It stays with the block; see `unbind`."""
        if not array.flags.writeable:
            raise ValueError("an array that cannot be written cannot be an output")
        self._bind("weft_session_bind_output", name, array)
        self._outputs[name] = array

    def _bind(self, function: str, name: str, array: np.ndarray) -> None:
        same, number = to_array(array, None)
        if same is not array:
            raise ValueError("only a contiguous array in the machine's byte order can be bound")
        buffer, kept = to_buffer(array, number)
        user = id(kept)
        buffer.release, buffer.user = _release, user
        _bound[user] = (kept, array)
        try:
            _native.call(function, self._handle, _native.encode(name), byref(buffer))
        except BaseException:
            _bound.pop(user, None)
            raise

    def unbind(self, name: str) -> None:
        """Ends what was fed or bound under this name: what the page calls the value now, or what it was called when it was given.

        What is fed or bound follows renames. While the page has no such block, nothing is fed and nothing written, and runs go on; it is as
        before when a block with that id is back.
        """
        _native.call("weft_session_unbind", self._handle, _native.encode(name))
        for given in (self._fed, self._inputs, self._outputs):
            given.pop(name, None)

    # ---- values out ----

    def view(self, name: str) -> View:
        """The value that the last run left under a name: "loss.output", "split.output[1]", one element "w.result_ref[0][2]"."""
        return View(_native.make("weft_session_view", self._handle, _native.encode(name)))

    def __getitem__(self, name: str) -> np.ndarray:
        """The value as a read-only array that shares the engine's memory."""
        return self.view(name).numpy()

    def names(self) -> list[str]:
        """The names of all values that the session keeps."""
        return _native.strings("weft_session_results", self._handle)

    def results(self, names: Iterable[str] | None = None) -> Results:
        """The values of these names, or of all, as one run left them, read in one call. Those that no run has computed are left out: before
        the first run there are none.

        Raises Error where none of the `names` can be read.
        """
        if names is None:
            return Results(_native.make("weft_session_read_results", self._handle, None, 0))
        wanted = _native.listed(names)
        if not wanted:
            return Results()
        found = Results(_native.make("weft_session_read_results", self._handle, _native.array(wanted), len(wanted)))
        if not len(found) and not found.handles:  # says what is wrong with each
            handles = (c_void_p * len(wanted))()
            _native.call("weft_session_views", self._handle, _native.array(wanted), len(wanted), handles)
        return found


def wait_for(function: str, handle: c_void_p, timeout: float | None) -> str:
    """Calls a function that waits for a handle: for `timeout` seconds, or in slices, for Ctrl-C, until nothing runs. Gives the state."""
    state = c_int32()
    while True:
        _native.call(function, handle, _SLICE_MS if timeout is None else int(max(0, min(timeout * 1000, _LONGEST_MS))), byref(state))
        name = _native.name_of(_native.STATES, state.value)
        if timeout is not None or name != "running":
            return name


def wait_interruptibly(running: Any) -> None:
    """Waits for a session or the run of a page. Ctrl-C cancels it, and raises KeyboardInterrupt when it has ended."""
    try:
        running.wait()
    except KeyboardInterrupt:
        running.cancel()
        try:
            running.wait()
        except CancelledError:
            pass
        raise


def interruptibly(work: Callable[[], None], cancel: Callable[[], None] | None = None) -> None:
    """Does work that may be long. On the main thread, which alone sees Ctrl-C, another does it, and Ctrl-C cancels it; work that nothing
    cancels is left behind.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    raised: list[BaseException] = []
    ended = threading.Event()  # (a join that Ctrl-C interrupts takes a thread that works for one that has ended, in Python 3.11)

    def do() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=do, daemon=cancel is None)
    try:
        thread.start()
        while not ended.wait(_SLICE_MS / 1000):
            pass
    except KeyboardInterrupt:
        while cancel is not None and thread.ident is not None and not ended.is_set():  # a cancel that comes before the work has begun does nothing
            cancel()
            ended.wait(_SLICE_MS / 1000)
        raise
    if raised:
        raise raised.pop()  # its frames hold the list
    return None


def nanoseconds(seconds: float | None) -> int:
    """A time in seconds as the engine takes it, for which 0 is none."""
    return 0 if seconds is None else _native.units(seconds, 10**9)


def run_options(steps: int, deadline: float | None, interval: float | None, until: str | None = None) -> _native.RunOptions:
    for what, seconds in (("deadline", deadline), ("interval", interval)):
        if seconds is not None and not 0 < seconds < 9e9:
            raise ValueError(f"{what} is a number of seconds greater than 0, not {seconds}")
    return _native.RunOptions(steps=steps, deadline_ns=nanoseconds(deadline), interval_ns=nanoseconds(interval),
                              until_block=_native.encode(until) if until is not None else None)


__all__ = ["Session", "SessionInfo", "UNTIL_STOPPED"]
