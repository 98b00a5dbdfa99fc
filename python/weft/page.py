"""Pages and the runtimes that they live in."""
from __future__ import annotations

import dataclasses
import json
import os
import sys
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping
from ctypes import byref
from typing import Any, Union

import numpy as np

from . import _host, _native, blocks as host_blocks
from .edits import Edits, Renames, renamed
from .errors import Diagnostic
from .inspect import Inspecting
from .page_run import PageRun
from .session import Session, interruptibly, nanoseconds
from .sharded import ShardedRun
from .values import Results, View, to_array, to_buffer


@dataclasses.dataclass(frozen=True)
class CaseResult:
    """How a case of a case file went."""

    verdict: str  # "passed", "failed", "skipped"
    file: str
    pointer: str  # JSON pointer of the case in the file
    name: str
    block: str  # empty for a page
    message: str  # what failed, one finding a line


@dataclasses.dataclass(frozen=True)
class TestReport:
    """How the cases of a run went."""

    passed: int
    failed: int
    skipped: int
    cases: list[CaseResult]


class Runtime:
    """The blocks, threads and memory that pages share.

    `threads`: how many work at the same time (0, and most: one a processor).
    `memory_limit`: bytes that all pages hold together: values, strings, state, texts, graphs and plans (0: four fifths of the machine's).
    `page_memory_limit`: the same of one page (0: all that there is).
    `call_deadline`: seconds that a call may take which loads, checks, edits or plans a page (0: any); else it ends as cancelled.
    `allow_blocks`, `refuse_blocks`: names of blocks or categories ("io_ops"). Where blocks are allowed, no others run; refused ones never do.
    They hold for blocks that Weft brings and that compute something.

    `messages`: joins the job of the launcher of MPI that has started this process (mpirun, srun); "auto" takes the library of messages that is built
    against the launcher's MPI, and without a launcher this process is rank 0 of 1; other texts name a library. Blocks of collectives and
    `Page.sharded` then work on all `ranks` together. A process joins once. `job_deadline`: seconds that a rank is waited for without
    progress (0: 120); then the job ends, which `on_job_end` is told why, on any thread, instead of standard error. As a context manager the
    runtime ends the job where it is left by an exception that is not known to be that of all ranks (`Error.all_ranks`).
    """

    def __init__(self, threads: int = 0, memory_limit: int = 0, call_deadline: float = 0, *, allow_blocks: Iterable[str] = (),
                 refuse_blocks: Iterable[str] = (), page_memory_limit: int = 0, messages: str | os.PathLike | None = None,
                 job_deadline: float = 0, on_job_end: Callable[[str], None] | None = None):
        allowed, refused = _native.listed(allow_blocks), _native.listed(refuse_blocks)
        options = _native.RuntimeOptions(threads=threads, memory_limit=memory_limit, call_deadline_ns=_native.units(call_deadline, 10**9),
                                         allowed_block_count=len(allowed), refused_block_count=len(refused),
                                         page_memory_limit=page_memory_limit,
                                         job_deadline_ns=_native.units(job_deadline, 10**9) if messages is not None else 0)
        options.allowed_blocks, options.refused_blocks = _native.array(allowed), _native.array(refused)
        if messages is not None:
            options.messages = _native.encode(messages)
        if on_job_end is not None:
            options.job_ends = _native.JobEndsFunction(lambda _user, why: on_job_end(_native.text(why)))
            _told_of_job.append(options.job_ends)
        opened: list[Any] = []
        interruptibly(lambda: opened.append(_native.make("weft_runtime_open", byref(options))))
        self._handle = opened[0]
        info = _native.JobInfo()
        _native.call("weft_runtime_get_job", self._handle, byref(info))
        self._job = info.rank, info.ranks, _native.text(info.library)
        self._close = weakref.finalize(self, _native.lib.weft_runtime_close, self._handle)

    def load(self, source: Any, **options: Any) -> Page:
        """Loads a page into this runtime; see weft.load."""
        return load(source, runtime=self, **options)

    def blocks(self) -> list[dict[str, Any]]:
        """All blocks with their ports, attributes and help, sorted by name."""
        return json.loads(_native.strings("weft_blocks_json", self._handle)[0])

    def blocks_hash(self) -> str:
        """Another where `blocks` gives something else: for who keeps that."""
        return _native.strings("weft_blocks_hash", self._handle)[0]

    def block(self, name: str) -> dict[str, Any]:
        """One block, by its name or an alias."""
        return json.loads(_native.strings("weft_block_json", self._handle, _native.encode(name))[0])

    def block_markdown(self, name: str) -> str:
        """The page of the block reference about one block, by its name or an alias, as Markdown."""
        return _native.strings("weft_block_markdown", self._handle, _native.encode(name))[0]

    def add_block(self, name: str | None = None, *, inputs: Mapping[str, Any], outputs: Mapping[str, Any], gradient: Callable | None = None,
                  types: Mapping[str, Iterable[str]] | None = None, attrs: Mapping[str, Any] | None = None,
                  shapes: Callable | None = None, shaped_by: Iterable[str] = (), category: str | None = None,
                  aliases: Iterable[str] = (), stateful: bool = False, differentiable: bool = True) -> Callable[[Callable], Callable]:
        """Makes a function of numpy arrays a block of this runtime, which must not have loaded a page yet.

            @runtime.add_block(inputs={"x": "T"}, outputs={"y": "T"}, types={"T": ["DT_FLOAT", "DT_DOUBLE"]}, attrs={"factor": 2.0},
                               shapes=lambda x, factor: x.shape, gradient=lambda dy, x, factor: factor * dy)
            def Scale(x, factor):
                "Multiplies by a factor."
                return factor * x

        Ports are named with their types: "DT_FLOAT", the name of a type attribute that the inputs decide, whose types are in `types` (any
        numbers where it is not there), or a weft.Port. The function is called with the inputs in order, which it must neither write nor
        keep, and the attributes by name; it gives the output, or a tuple of all. `attrs` have defaults, or are weft.Attr.

        `shapes` is called with a weft.Input for each input, and attributes by name, and gives the shape of the output, or a list of all; a
        size of None, or None, is what the run will tell. It raises weft.BlockError for what the block cannot take. Without it the run tells
        all. It sees the values of inputs in `shaped_by`.

        `gradient` is called with the gradients of the outputs, then the inputs, and attributes by name; it gives the gradient of the input,
        or a tuple of all, with None where there is none. It becomes a block that palettes do not show: of F(x) -> y it is
        FGrad(grad_y, x) -> grad_x, as traces and breakpoints tell it. `stateful`: the same inputs may give another output.
        """
        def add(function: Callable) -> Callable:
            flags = (_host.STATEFUL if stateful else 0) | (0 if differentiable else _host.NOT_DIFFERENTIABLE)
            made = host_blocks.HostBlock(name or function.__name__, function, inputs, outputs, types=types or {}, attrs=attrs or {},
                                         shapes=shapes, shaped_by=shaped_by, category=category, aliases=aliases, flags=flags)
            if gradient is not None:
                host_blocks.add_both(self._handle, made, gradient)
            else:
                host_blocks.add(self._handle, made)
            return function

        return add

    def add_library(self, path: str | os.PathLike) -> None:
        """Adds the blocks of a shared library (weft/capi/library.h); before the first page is loaded."""
        _native.call("weft_runtime_add_library", self._handle, _native.encode(path))

    def test(self, path: str | os.PathLike, *, blocks: Iterable[str] = (), deadline: float | None = None) -> TestReport:
        """Runs the cases of a case file, or of all in a folder, with this runtime's blocks; or only those of some blocks.

        At the `deadline`, in seconds from now, and after `cancel_tests` it raises CancelledError. Ctrl-C raises KeyboardInterrupt.
        """
        cases: list[CaseResult] = []

        def report(_user: int, ended: Any) -> None:
            case, text = ended.contents, _native.text
            cases.append(CaseResult(_native.name_of(_host.VERDICTS, case.verdict), text(case.file), text(case.pointer), text(case.name),
                                    text(case.block), text(case.message)))

        if deadline is not None and not 0 < deadline < 9e9:
            raise ValueError(f"deadline is a number of seconds greater than 0, not {deadline}")
        names, totals = _native.listed(blocks), _host.TestTotals()
        options = _host.TestOptions(report=_host.ReportFunction(report), deadline_ns=nanoseconds(deadline))
        if names:
            options.blocks, options.block_count = _native.array(names), len(names)
        arguments = (self._handle, _native.encode(path), byref(options), byref(totals))
        interruptibly(lambda: _native.call("weft_runtime_test", *arguments), self.cancel_tests)
        return TestReport(totals.passed, totals.failed, totals.skipped, cases)

    def cancel_tests(self) -> None:
        """Ends the calls of `test` in progress, also inside a long block. From any thread."""
        _native.call("weft_runtime_cancel_tests", self._handle)

    # ---- the job ----

    @property
    def rank(self) -> int:
        """Of this process in its job: 0 to `ranks` - 1."""
        return self._job[0]

    @property
    def ranks(self) -> int:
        """The processes of the job; 1 where this one is alone."""
        return self._job[1]

    @property
    def message_library(self) -> str:
        """What moves messages between them: "Open MPI v4.1.4"; empty where none is open."""
        return self._job[2]

    def rank_names(self) -> list[str]:
        """Each rank with its machine, "rank 2 (node7)"."""
        return _native.strings("weft_runtime_rank_names", self._handle)

    def abort_job(self, why: str) -> None:
        """Ends all processes of the job at once: for a rank that has failed alone. Where this process is alone it does nothing."""
        _native.call("weft_runtime_abort_job", self._handle, _native.encode(why))

    def _end_job_after(self, error: BaseException | None) -> None:
        """Ends the job after what this rank alone has failed with: the others would wait for it."""
        if error is None or getattr(error, "all_ranks", False) or (isinstance(error, SystemExit) and not error.code) or self.ranks == 1:
            return
        traceback.print_exception(type(error), error, error.__traceback__)
        self.abort_job("was interrupted" if isinstance(error, KeyboardInterrupt) else f"failed: {type(error).__name__}: {error}")

    def close(self) -> None:
        """Ends this handle; pages stay. With the last of them the runtime leaves its job, which waits for the other ranks to leave it."""
        self._close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        self._end_job_after(error)
        self.close()


_told_of_job: list[Any] = []  # what the engine calls when the job ends, until the process does
_default: Runtime | None = None


def default_runtime() -> Runtime:
    """The runtime of pages that were loaded without one: made at its first use, with a thread a processor."""
    global _default
    if _default is None:
        _default = Runtime()
    return _default


def codes() -> dict[str, list[dict[str, Any]]]:
    """All numbers and names that the engine gives, with what they mean, for who translates them: "codes", "event_kinds" and others."""
    return json.loads(_native.lib.weft_codes_json())


def _print(text: str) -> None:
    print(text, file=sys.stderr)


_Folders = Union[str, os.PathLike, Iterable[Union[str, os.PathLike]]]


def load(source: str | os.PathLike | bytes | Mapping[str, Any], *, runtime: Runtime | None = None, name: str | None = None,
         folder: str | os.PathLike | None = None, allow: _Folders = (), write: _Folders = (), keep_faulty: bool = False,
         on_print: Callable[[str], None] | None = _print,
         on_file: Callable[[str, str, str, bool], bool] | None = None) -> Page:
    """Loads a page: a path, the bytes of a page, or a page as a dict. Raises Error with all its faults as `diagnostics`.

    Names of files on the page start in `folder` (of a path: its own). It reads that and the folders of `allow`, and writes and reads those of
    `write`: by default it writes nothing. `keep_faulty` loads a page in spite of its errors, to be looked at and edited. `on_print` gets what
    Print blocks say, on the threads that run.

    `on_file(name, path, access, allowed)` sees each access of the page to a file before the file is opened, and refuses it where it gives
    something false or raises: `name` as the page has it, the real `path`, `access` "read" or "write", and whether the folders allow it. It
    is called on any thread and must not use the page.
    """
    runtime = runtime if runtime is not None else default_runtime()
    return Page(runtime, source, name, folder, allow, write, keep_faulty, on_print, on_file)


@dataclasses.dataclass(frozen=True)
class SnapshotInfo:
    """What a snapshot holds."""

    variables: int
    resources: int  # queues, readers, random streams and the like
    bytes: int  # of the file


class Page(Edits, Inspecting):
    """A loaded page and the state that its blocks keep: variables, queues, random streams. Closes as a context manager."""

    def __init__(self, runtime: Runtime, source: Any, name: str | None, folder: Any, allow: _Folders, write: _Folders, keep_faulty: bool,
                 on_print: Callable[[str], None] | None, on_file: Callable[[str, str, str, bool], bool] | None = None):
        def printed(_user: int, text: bytes) -> None:
            on_print(_native.text(text))

        def may_use(_user: int, name: bytes, path: bytes, access: int, allowed: int) -> int:
            return 1 if on_file(_native.text(name), _native.text(path), "write" if access else "read", allowed != 0) else 0

        options = _native.PageOptions(keep_faulty=keep_faulty, name=_native.encode(name) if name is not None else None,
                                      folder=_native.encode(folder) if folder is not None else None)
        readable, writable = _native.listed(allow), _native.listed(write)
        options.allowed_folders, options.allowed_count = _native.array(readable), len(readable)
        options.write_folders, options.write_count = _native.array(writable), len(writable)
        options.print = _native.PrintFunction(printed) if on_print is not None else _native.PrintFunction()
        options.file_access = _native.FileAccessFunction(may_use) if on_file is not None else _native.FileAccessFunction()
        if isinstance(source, Mapping):
            source = json.dumps(source).encode()
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            self._handle = _native.make("weft_page_load", runtime._handle, data, len(data), byref(options))
        else:
            self._handle = _native.make("weft_page_load_file", runtime._handle, _native.encode(source), byref(options))
        self._runtime = runtime
        self._sessions: dict[tuple, Session] = {}  # that `run` made, by their ids and fetches
        self._opened: weakref.WeakSet[Session] = weakref.WeakSet()
        self._told = options.print, options.file_access  # which the engine calls until the last session has ended
        self._close = weakref.finalize(self, _native.lib.weft_page_close, self._handle)

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    def close(self) -> None:
        """Ends the sessions that `run` made, and this handle; other sessions continue."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._close()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _follow(self, renames: Renames) -> None:
        ids = dict(renames)
        self._sessions = {(ids.get(id, id), *(renamed(name, renames) for name in names)): session
                          for (id, *names), session in self._sessions.items()}
        for session in list(self._opened):
            session._follow(renames)

    # ---- running ----

    def session(self, session: str | None = None, *, fetch: Iterable[str] = (), operations: Iterable[str] = (),
                keep: str = "all") -> Session:
        """Opens a session: of a ClientSession block by its id, of the page's first, or of the values in `fetch`.

        `operations` are blocks to run for their effect. `keep="asked"` keeps only what is fetched, which lets plans fuse and reuse memory.
        """
        return Session(self, session, fetch=fetch, operations=operations, keep=keep)

    def run(self, steps: int = 1, *, feeds: Mapping[str, Any] | None = None, fetch: Iterable[str] = (), session: str | None = None,
            deadline: float | None = None) -> Results:
        """Runs the page `steps` times and gives what the last run left, by name: `page.run()["loss.output"]` is an array.

        With `fetch` only these values are computed and given. The page's variables keep their values from call to call. Ctrl-C ends a
        long run, and one of `weft.UNTIL_STOPPED` (-1) steps, which nothing else ends but `deadline`.
        """
        names = _native.listed(fetch)
        key = (session, *names)
        if key not in self._sessions:
            self._sessions[key] = Session(self, session, fetch=names, keep="asked" if names else "all")
        return self._sessions[key].run(steps, feeds=feeds, deadline=deadline).results(names or None)

    def open_run(self, *, keep: str = "all") -> PageRun:
        """All sessions of the page, to be run together, as an editor's Run button wants it; see weft.PageRun. `keep` as for `session`."""
        return PageRun(self, keep=keep)

    def sharded(self, session: str | None = None, *, shards: int = 1, reduce: str = "mean", fetch: Iterable[str] = (),
                operations: Iterable[str] = (), cut: Iterable[str] = (), whole: Iterable[str] = (), settings: str = "") -> ShardedRun:
        """Cuts a session into shards, which all ranks of the runtime's job compute together; see weft.ShardedRun.

        `session`, `fetch` and `operations` as for `session`. `shards`: as many as ranks, or more. `reduce`: how gradients, and what is fetched, of the
        shards become one, "mean" or "sum". `cut` names outputs to cut besides Placeholders that are fed, readers and queues; `whole`
        those that are not. `settings` is text that all ranks need alike, such as the number of steps. All ranks call it; one that has
        another page, session or options is named, and refused on all.
        """
        return ShardedRun(self, session, shards=shards, reduce=reduce, fetch=fetch, operations=operations, cut=cut, whole=whole,
                          settings=settings)

    # ---- the page itself ----

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All that is wrong or odd with the page as it is now."""
        return _native.diagnostics(_native.make("weft_page_diagnostics", self._handle))

    @property
    def blocks(self) -> list[str]:
        """The ids of the page's blocks."""
        return _native.strings("weft_page_blocks", self._handle)

    @property
    def sessions(self) -> list[str]:
        """The ids of the page's ClientSession blocks."""
        return _native.strings("weft_page_sessions", self._handle)

    def to_json(self) -> str:
        """The page as canonical Weft JSON; of a canonical file that was not edited: the same text."""
        return _native.strings("weft_page_write", self._handle)[0]

    def variable(self, block: str) -> np.ndarray:
        """The value of a variable, as the last run that succeeded left it."""
        return View(_native.make("weft_page_get_variable", self._handle, _native.encode(block))).numpy()

    def set_variable(self, block: str, value: Any, dtype: str | None = None) -> None:
        """Replaces the value of a variable; runs in progress see it in their next one."""
        buffer, kept = to_buffer(*to_array(value, dtype))
        _native.call("weft_page_set_variable", self._handle, _native.encode(block), byref(buffer))
        del kept

    def hold_memory(self, count: int) -> None:
        """Counts so many bytes that the program holds for the page in its memory limit, in place of those before; 0 gives them back.

        Raises resource_exhausted where the limit has no room for them.
        """
        _native.call("weft_page_hold_memory", self._handle, count)

    # ---- its state in a file ----

    def save_state(self, path: str | os.PathLike, *, patience: float = 10) -> SnapshotInfo:
        """Saves all state to a file, as it is between two runs: variables, queues, readers, random counters.

        The file is there as a whole or as it was before, whenever the process or the machine ends. Runs in progress are waited for, for
        `patience` seconds at most, while no other begins.
        """
        return self._snapshot("weft_page_save_state", path, patience)

    def restore_state(self, path: str | os.PathLike, *, partial: bool = False, patience: float = 10) -> SnapshotInfo:
        """Makes the page's state that of a file; all of it or, where that fails, nothing. `partial` takes what fits the page."""
        return self._snapshot("weft_page_restore_state", path, patience, partial)

    def _snapshot(self, function: str, path: str | os.PathLike, patience: float, partial: bool = False) -> SnapshotInfo:
        options = _native.SnapshotOptions(partial=partial, patience_ms=_native.units(patience, 1000) if patience > 0 else -1)
        info = _native.SnapshotInfo()
        _native.call(function, self._handle, _native.encode(path), byref(options), byref(info))
        return SnapshotInfo(info.variables, info.resources, info.bytes)


__all__ = ["CaseResult", "Page", "Runtime", "SnapshotInfo", "TestReport", "codes", "default_runtime", "load"]
