"""Whole pages that run: all sessions of a page, as an editor's Run button wants them."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from .session import Session, run_options, wait_for, wait_interruptibly
from .values import Results, View

if TYPE_CHECKING:
    from .page import Page


class _SessionOfRun(Session):
    """A session that belongs to the run of a page: it ends with that, not when it is closed."""

    def __init__(self, run: PageRun, handle: c_void_p):
        self._take(run.page, handle)
        self._run = run  # which is not to end while its session is used


def _close_run(handle: c_void_p, *called: Any) -> None:
    """`called`, what the engine calls while the sessions run, lives until their last runs have ended."""
    code = _native.lib.weft_page_run_close(handle)
    if _native.text(_native.lib.weft_status_name(code)) == "failed_precondition":  # this thread runs one of the sessions
        threading.Thread(target=lambda *_: _native.lib.weft_page_run_close(handle), args=called).start()


class PageRun:
    """All sessions of a page: those that loop run beside one another, the others in turn, in page order. Closes as a context manager.

        with page.open_run() as run:
            run.start()                         # in the background; sessions that loop run until they are stopped
            run["loss.output"]                  # of whichever session computed it
            run.stop()
            run.wait()

    The sessions are those that the page has when this is made. Made by `Page.open_run`.
    """

    def __init__(self, page: Page, *, keep: str = "all"):
        if keep not in ("all", "asked"):
            raise ValueError(f"keep is 'all' or 'asked', not {keep!r}")
        options = _native.PageRunOptions(keep_asked=keep == "asked")
        self._page = page
        self._handle = _native.make("weft_page_run_open", page._handle, byref(options))
        self._ids = self.sessions  # when they were opened
        self._opened: dict[int, Session] = {}  # by their places
        called: list[Any] = [page._told]
        self._called = called
        self._close = weakref.finalize(self, _close_run, self._handle, called)

    @property
    def page(self) -> Page:
        return self._page

    @property
    def sessions(self) -> list[str]:
        """The ids of the sessions, in page order, as the page calls them now; of a page without a ClientSession "default"."""
        return _native.strings("weft_page_run_sessions", self._handle)

    def session(self, id: str | None = None) -> Session:
        """One of the sessions, or the first: for events, breakpoints, subscriptions, feeds and pauses. It ends with the run of the page.

        `id`: as the page calls it now, or did when the run was opened.
        """
        ids = self.sessions
        place = 0 if id is None else next((known.index(id) for known in (ids, self._ids) if id in known), -1)
        if place not in self._opened:
            handle = _native.make("weft_page_run_session", self._handle, _native.encode(ids[0] if id is None else id))
            self._opened[place] = _SessionOfRun(self, handle)
            self._called.append(self._opened[place]._on_event)
        return self._opened[place]

    def close(self) -> None:
        """Cancels what runs, waits until it has ended, and ends the sessions. What they left stays readable through views and arrays."""
        self._close()

    def __enter__(self) -> PageRun:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- running ----

    def run(self, steps: int | None = None, *, deadline: float | None = None, interval: float | None = None) -> PageRun:
        """Runs the page and returns when all sessions have ended: each `steps` times or, for None, once, and those that loop until they are
        stopped.

        `deadline` is in seconds from now, `interval` the least time from the start of one run of a session to that of its next. A session
        that fails cancels the others, and raises Error; CancelledError where it was cancelled. Ctrl-C cancels and raises
        KeyboardInterrupt.
        """
        options = _options(steps, deadline, interval)
        if threading.current_thread() is not threading.main_thread():  # signals go to the main thread: nothing can interrupt this one
            _native.call("weft_page_run_all", self._handle, options)
            return self
        _native.call("weft_page_run_start", self._handle, options)
        wait_interruptibly(self)
        return self

    def start(self, steps: int | None = None, *, deadline: float | None = None, interval: float | None = None) -> None:
        """Starts to run the page as `run` does, and returns at once."""
        _native.call("weft_page_run_start", self._handle, _options(steps, deadline, interval))

    def wait(self, timeout: float | None = None) -> str:
        """Waits at most `timeout` seconds until all sessions have ended; gives "idle" or "running". Raises what ended the last run."""
        return wait_for("weft_page_run_wait", self._handle, timeout)

    def stop(self) -> None:
        """Ends running after the runs in progress, which keep their results."""
        _native.call("weft_page_run_stop", self._handle)

    def cancel(self) -> None:
        """Ends the runs in progress, also inside a long block. From any thread."""
        _native.call("weft_page_run_cancel", self._handle)

    # ---- values out ----

    def view(self, name: str) -> View:
        """The value under a name, of the first session that has one."""
        return View(_native.make("weft_page_run_view", self._handle, _native.encode(name)))

    def __getitem__(self, name: str) -> np.ndarray:
        """The value as a read-only array that shares the engine's memory."""
        return self.view(name).numpy()

    def names(self) -> list[str]:
        """The names of all values that the sessions keep, each once."""
        return _native.strings("weft_page_run_results", self._handle)

    def results(self, names: Iterable[str] | None = None) -> Results:
        """The values of these names, or of all: those of a session as one run of it left them. Those that no run has computed are left out.

        Raises Error where none of the `names` can be read.
        """
        wanted = None if names is None else _native.listed(names)
        if wanted == []:
            return Results()
        listed = (None, 0) if wanted is None else (_native.array(wanted), len(wanted))
        found = Results(*[_native.make("weft_session_read_results", self.session(id)._handle, *listed) for id in self.sessions])
        if wanted and not len(found) and not found.handles:
            self.view(wanted[0])  # says what is wrong with it
        return found


def _options(steps: int | None, deadline: float | None, interval: float | None) -> Any:
    """Without `steps` each session runs as often as the page says, for which the engine's number is 0."""
    return byref(run_options(0 if steps is None else steps, deadline, interval))


__all__ = ["PageRun"]
