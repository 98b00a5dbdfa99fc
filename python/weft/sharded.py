"""Training of a page whose batch is cut into shards, which the processes of a job share."""
from __future__ import annotations

import dataclasses
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from ctypes import byref, c_double, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from .errors import Error
from .session import interruptibly
from .values import View, to_array, to_buffer

if TYPE_CHECKING:
    from .page import Page

_REDUCTIONS = ("mean", "sum")
# What a collective call gives only after the ranks have agreed on how it ended. Other codes may be of this rank alone: failed_precondition of a call
# that is refused before it talks to the others, resource_exhausted and internal of an exception, cancelled of a link that is closed.
_AGREED = ("invalid_argument", "not_found", "already_exists", "out_of_range", "unsupported", "data_loss", "aborted", "permission_denied")


@dataclasses.dataclass(frozen=True)
class ShardedInfo:
    """How far a run in shards has come."""

    shards: int
    own_shards: range  # of this rank
    steps: int  # that the page has behind it, those before a loaded snapshot included
    last_status: str  # how the last step ended, or what ended the run: "ok", or a code such as "cancelled"
    all_failed: bool  # it failed on all ranks alike
    in_progress: bool  # a thread steps, saves or loads


@dataclasses.dataclass(frozen=True)
class ShardedProgress:
    """How steps have gone since the last time that somebody asked."""

    steps: int  # as in ShardedInfo
    step_ms: float  # of a whole step on this rank, as the mean; 0 where there was none
    compute_ms: list[float]  # by rank: of a step until the rank waits for the others
    slowest: int  # the rank that computes longest


def _close_sharded(handle: c_void_p, *called: Any) -> None:
    """`called`, what the engine calls while the run steps, lives until its last step has ended."""
    code = _native.lib.weft_sharded_close(handle)
    if _native.text(_native.lib.weft_status_name(code)) == "failed_precondition":  # this thread steps
        threading.Thread(target=lambda *_: _native.lib.weft_sharded_close(handle), args=called).start()


class ShardedRun:
    """A session of a page, cut into shards. Closes as a context manager; made by `Page.sharded`.

        with weft.Runtime(messages="auto") as runtime, runtime.load("net.page.json") as page:  # mpirun -n 4 python3 train.py
            with page.sharded(shards=8, fetch=["loss.output"], operations=["train"]) as run:
                for x, labels in batches:  # of the whole batch, on every rank
                    run.step(feeds={"x.output": x, "labels.output": labels})
                    run["loss.output"]

    A step computes each shard of this rank once, joins their gradients with those of the other ranks, and updates the variables once, on every
    rank alike: the bits do not depend on the number of ranks. All ranks make the same calls of `step`, `run`, `progress`, `save`, `load`,
    `save_newest` and `resume` in the same order, one at a time; other calls work from any thread meanwhile. The page is not edited.

    Errors whose `all_ranks` is true have failed on all ranks alike. After a step that failed otherwise the run is over, and to close it ends the
    job: the other ranks wait for this one. One run of a page is open at a time: close it, and open the next.

    In a job of several processes any exception that leaves the `with` ends the whole job, although no step has failed and all ranks raise it
    alike: nothing tells this rank that the others do not wait for it. Errors whose `all_ranks` is true and SystemExit with status 0 end
    nothing. Catch inside the `with` what all ranks raise alike, such as the end of their data:

            with page.sharded(shards=8) as run:
                try:
                    train(run)
                except EndOfData:  # on every rank after the same step
                    run.save_newest("run1")
    """

    def __init__(self, page: Page, session: str | None = None, *, shards: int = 1, reduce: str = "mean", fetch: Iterable[str] = (),
                 operations: Iterable[str] = (), cut: Iterable[str] = (), whole: Iterable[str] = (), settings: str = ""):
        if reduce not in _REDUCTIONS:
            raise ValueError(f"reduce is 'mean' or 'sum', not {reduce!r}")
        options = _native.ShardedOptions(shards=shards, reduce=_REDUCTIONS.index(reduce), settings=_native.encode(settings),
                                         session=_native.encode(session) if session is not None else None)
        for values, counted, texts in (("fetches", "fetch_count", fetch), ("operations", "operation_count", operations),
                                       ("cut", "cut_count", cut), ("whole", "whole_count", whole)):
            listed = _native.listed(texts)
            setattr(options, values, _native.array(listed))
            setattr(options, counted, len(listed))
        self._page, self._handle = page, None
        opened: list[c_void_p] = []
        self._with_others(lambda: opened.append(_native.make("weft_sharded_open", page._handle, byref(options))))
        self._handle = opened[0]
        self._close = weakref.finalize(self, _close_sharded, self._handle, page._told)

    @property
    def page(self) -> Page:
        return self._page

    def close(self) -> None:
        """Ends the run. After a step that failed on this rank alone, in a job of several processes, it ends the job."""
        self._close()

    def __enter__(self) -> ShardedRun:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        self._page.runtime._end_job_after(error)
        self.close()

    def _with_others(self, work: Callable[[], None]) -> None:
        """Does what fails on all ranks alike, or is refused on this one alone; Ctrl-C leaves it to itself."""
        try:
            if self._page.runtime.ranks == 1:
                work()
            else:
                interruptibly(work)
        except Error as error:
            error.all_ranks = self._agreed(error)
            raise

    def _agreed(self, error: Error) -> bool:
        """Whether a collective call's failure is known to be that of all ranks."""
        if error.code == "invalid_argument" and error.port in ("path", "folder") and not error.block:
            return False  # an empty name, seen before the others are
        if self._ended_alone():
            return False
        return error.code in _AGREED or (error.code == "failed_precondition" and self._refused_on_all())

    def _ended_alone(self) -> bool:
        """Whether the run is over on this rank and may go on on others: one that was closed, or that alone could not take a snapshot."""
        if self._handle is None:
            return False
        try:
            info = self.info
        except Error:
            return True
        return info.last_status != "ok" and not info.all_failed

    def _refused_on_all(self) -> bool:
        try:
            if self._handle is not None:
                return self.info.all_failed
            _native.call("weft_page_edits", self._page._handle, byref(c_uint64()))
            return True  # a page that takes calls is refused by agreement
        except Error:
            return False

    # ---- steps ----

    def feed(self, name: str, value: Any, dtype: str | None = None) -> None:
        """Replaces a value such as "x.output" in the steps to come by a copy of `value`: on every rank the same, of one that is cut the whole batch.

        What is fed before the first step decides what is cut, and is compared among the ranks then; the same values may be fed anew later.
        `dtype`: for types that numpy lacks.
        """
        buffer, kept = to_buffer(*to_array(value, dtype))
        _native.call("weft_sharded_feed", self._handle, _native.encode(name), byref(buffer))
        del kept

    def step(self, *, feeds: Mapping[str, Any] | None = None, results: bool = True) -> ShardedRun:
        """One step, and returns the run. `feeds` is as `feed`: it holds until it is fed anew. `results`: joins what is fetched, too.

        Raises Error for what the page's blocks report, and CancelledError after `cancel`: the run is then over. Ctrl-C ends the step and raises
        KeyboardInterrupt.
        """
        return self.run(feeds=feeds, results=results)

    def run(self, steps: int = 1, *, feeds: Mapping[str, Any] | None = None, results: bool = True) -> ShardedRun:
        """As many steps; `results`: the last one joins what is fetched. Else as `step`."""
        for name, value in (feeds or {}).items():
            self.feed(name, value)

        def work() -> None:
            for left in range(steps, 0, -1):
                _native.call("weft_sharded_step", self._handle, results and left == 1)

        try:
            interruptibly(work, self.cancel)
        except Error as error:
            error.all_ranks = self.info.all_failed
            raise
        return self

    def cancel(self) -> None:
        """Ends the step in progress of this rank, or the next one; the run is over. From any thread."""
        _native.call("weft_sharded_cancel", self._handle)

    @property
    def info(self) -> ShardedInfo:
        info = _native.ShardedInfo()
        _native.call("weft_sharded_get_info", self._handle, byref(info))
        return ShardedInfo(info.shards, range(info.first_shard, info.first_shard + info.shard_count), info.steps,
                           _native.text(_native.lib.weft_status_name(info.last_status)), bool(info.all_failed), bool(info.in_progress))

    @property
    def where(self) -> str:
        """What this rank does now: "step 17, shard 5, block 'conv'"."""
        return _native.strings("weft_sharded_where", self._handle)[0]

    def progress(self) -> ShardedProgress:
        """How steps have gone since the last time. All ranks ask after the same step."""
        times, computed = _native.ShardedTimes(), (c_double * self._page.runtime.ranks)()
        self._with_others(lambda: _native.call("weft_sharded_progress", self._handle, byref(times), computed, len(computed)))
        return ShardedProgress(times.steps, times.step_ms, list(computed), times.slowest)

    # ---- values out ----

    def view(self, name: str) -> View:
        """What the last step with results has joined under a name that is fetched: "loss.output", or one element of it."""
        return View(_native.make("weft_sharded_view", self._handle, _native.encode(name)))

    def __getitem__(self, name: str) -> np.ndarray:
        """The value as a read-only array that shares the engine's memory. Values of variables are `page.variable`."""
        return self.view(name).numpy()

    def names(self) -> list[str]:
        """The names of what the last step with results has joined; none before."""
        return _native.strings("weft_sharded_results", self._handle)

    def results(self) -> dict[str, np.ndarray]:
        """All that the last step with results has joined, by name."""
        return {name: self[name] for name in self.names()}

    # ---- snapshots ----

    def save(self, path: str | os.PathLike) -> None:
        """Saves variables, readers, queues, and the random streams of all shards to a file of rank 0; all ranks call it after the same step."""
        self._with_others(lambda: _native.call("weft_sharded_save", self._handle, _native.encode(path)))

    def load(self, path: str | os.PathLike) -> None:
        """Takes the state of such a file, which rank 0 alone needs to see; before the first step, on any number of ranks."""
        self._with_others(lambda: _native.call("weft_sharded_load", self._handle, _native.encode(path)))

    def save_newest(self, folder: str | os.PathLike) -> None:
        """As `save`, to a folder for the snapshots of one run, which is made where it is missing; the newest two stay.

        Raises Error (failed_precondition) for a folder that another run writes to, and for one with snapshots that is not the one which this run
        last saved to or resumed from.
        """
        self._with_others(lambda: _native.call("weft_sharded_save_newest", self._handle, _native.encode(folder)))

    def resume(self, folder: str | os.PathLike) -> str | None:
        """Takes the newest whole snapshot of such a folder, as `load`; gives its file, None where the folder has none.

        Raises Error (failed_precondition) for a folder that another run writes to.
        """
        taken: list[str] = []
        self._with_others(lambda: taken.extend(_native.strings("weft_sharded_resume", self._handle, _native.encode(folder))))
        return taken[0] or None


__all__ = ["ShardedInfo", "ShardedProgress", "ShardedRun"]
