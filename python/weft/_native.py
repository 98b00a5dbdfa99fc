"""The C interface (weft.h) over ctypes: the library, its structs, its functions, and its failures as exceptions. Not for users."""
from __future__ import annotations

import ctypes
import operator
import os
import pathlib
from collections.abc import Iterable
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_uint8, c_void_p
from typing import SupportsIndex

from .errors import CancelledError, Diagnostic, Error

ABI = (1, 1)  # the interface that this package needs: this major number, this minor number or a greater one
UNTIL_STOPPED = -1
IDLE, RUNNING, PAUSED = range(3)
GO_ON, STEP_BLOCK, STEP_RUN = range(3)
EDIT_APPLY, EDIT_STRICT, EDIT_TRY, EDIT_OPEN_INPUTS = range(4)
MODES = ("edit", "freeze", "step", "run")
LAYOUT_PAGE, LAYOUT_AUTO = range(2)
BREAK_BEFORE, BREAK_NOT_FINITE, BREAK_CONDITION = range(3)
CANCELLED = 9
SEVERITIES = ("error", "warning", "note")
PHASES = ("", "load", "connect", "compile", "run")
STATES = ("idle", "running", "paused")
PAUSE_REASONS = ("", "asked", "reached", "stepped", "breakpoint")
EVENT_KINDS = ("state", "run", "progress", "error", "print", "values", "gap", "edited")
PROGRESS = ("", "began", "ended", "skipped", "failed", "cancelled")
REDUCTIONS = ("each", "last", "mean", "min_max", "decimate", "histogram")

PrintFunction = CFUNCTYPE(None, c_void_p, c_char_p)
FileAccessFunction = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_char_p, c_int32, c_int32)
ReleaseFunction = CFUNCTYPE(None, c_void_p, c_void_p)
JobEndsFunction = CFUNCTYPE(None, c_void_p, c_char_p)


def name_of(names: tuple[str, ...], number: int) -> str:
    """A name for a number of the interface; a newer library may have more of them."""
    return names[number] if 0 <= number < len(names) else f"unknown {number}"


# The least and the greatest number of each integer type.
_LIMITS = {**{kind: (-(1 << 8 * ctypes.sizeof(kind) - 1), (1 << 8 * ctypes.sizeof(kind) - 1) - 1) for kind in (c_int32, c_int64)},
           **{kind: (0, (1 << 8 * ctypes.sizeof(kind)) - 1) for kind in (c_uint32, c_uint64, c_size_t)}}


def within(what: str, number: SupportsIndex, kind: type) -> int:
    """A number that an integer type has; ctypes itself takes any, and drops the bits that have no place."""
    low, high = _LIMITS[kind]
    found = operator.index(number)
    if not low <= found <= high:
        raise ValueError(f"{what} is a number from {low} to {high}, not {found}")
    return found


class Sized(ctypes.Structure):
    """A struct that begins with its size; a new one is what its WEFT_..._INIT gives."""

    _integers: dict[str, type]  # the fields with a range

    def __init_subclass__(cls):
        cls._integers = {name: kind for name, kind in cls._fields_ if kind in _LIMITS}

    def __init__(self, **fields):
        for name, value in fields.items():
            if name in self._integers:
                within(name, value, self._integers[name])
        super().__init__(size=ctypes.sizeof(self), **fields)


class DiagnosticStruct(Sized):
    _fields_ = [("size", c_uint32), ("severity", c_int32), ("code", c_int32), ("reserved", c_uint32), ("message", c_char_p),
                ("hint", c_char_p), ("page", c_char_p), ("pointer", c_char_p), ("block", c_char_p), ("port", c_char_p), ("phase", c_int32),
                ("causes", c_uint32), ("needed", c_char_p), ("found", c_char_p)]


class RuntimeOptions(Sized):
    _fields_ = [("size", c_uint32), ("threads", c_int32), ("memory_limit", c_int64), ("call_deadline_ns", c_int64),
                ("allowed_blocks", POINTER(c_char_p)), ("allowed_block_count", c_size_t), ("refused_blocks", POINTER(c_char_p)),
                ("refused_block_count", c_size_t), ("page_memory_limit", c_int64), ("messages", c_char_p), ("job_deadline_ns", c_int64),
                ("job_ends", JobEndsFunction), ("job_user", c_void_p)]


class JobInfo(Sized):
    _fields_ = [("size", c_uint32), ("rank", c_int32), ("ranks", c_int32), ("reserved", c_uint32), ("library", c_char_p)]


class RuntimeInfo(Sized):
    _fields_ = [("size", c_uint32), ("threads", c_int32), ("memory_limit", c_int64), ("memory_used", c_int64)]


class PageOptions(Sized):
    _fields_ = [("size", c_uint32), ("keep_faulty", c_uint32), ("name", c_char_p), ("folder", c_char_p),
                ("allowed_folders", POINTER(c_char_p)), ("allowed_count", c_size_t), ("stall_limit_ms", c_int64), ("print", PrintFunction),
                ("user", c_void_p), ("write_folders", POINTER(c_char_p)), ("write_count", c_size_t),
                ("file_access", FileAccessFunction), ("file_user", c_void_p)]


class PageRunOptions(Sized):
    _fields_ = [("size", c_uint32), ("keep_asked", c_uint32)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Buffer(Sized):
    _fields_ = [("size", c_uint32), ("dtype", c_int32), ("rank", c_int32), ("reserved", c_uint32), ("shape", POINTER(c_int64)),
                ("data", c_void_p), ("bytes", c_int64), ("release", ReleaseFunction), ("user", c_void_p)]


class SessionOptions(Sized):
    _fields_ = [("size", c_uint32), ("keep_asked", c_uint32), ("session", c_char_p), ("fetches", POINTER(c_char_p)),
                ("fetch_count", c_size_t), ("operations", POINTER(c_char_p)), ("operation_count", c_size_t)]


class ShardedOptions(Sized):
    _fields_ = [("size", c_uint32), ("shards", c_int32), ("reduce", c_int32), ("reserved", c_uint32), ("session", c_char_p),
                ("fetches", POINTER(c_char_p)), ("fetch_count", c_size_t), ("operations", POINTER(c_char_p)), ("operation_count", c_size_t),
                ("cut", POINTER(c_char_p)), ("cut_count", c_size_t), ("whole", POINTER(c_char_p)), ("whole_count", c_size_t),
                ("settings", c_char_p)]


class ShardedInfo(Sized):
    _fields_ = [("size", c_uint32), ("shards", c_int32), ("first_shard", c_int32), ("shard_count", c_int32), ("steps", c_uint64),
                ("last_status", c_int32), ("all_failed", c_uint32), ("in_progress", c_uint32), ("reserved", c_uint32)]


class ShardedTimes(Sized):
    _fields_ = [("size", c_uint32), ("ranks", c_int32), ("slowest", c_int32), ("reserved", c_uint32), ("steps", c_uint64),
                ("step_ms", c_double)]


class RunOptions(Sized):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("steps", c_int64), ("deadline_ns", c_int64), ("interval_ns", c_int64),
                ("until_block", c_char_p)]


class SessionInfo(Sized):
    _fields_ = [("size", c_uint32), ("state", c_int32), ("pause_reason", c_int32), ("mode", c_int32), ("last_status", c_int32),
                ("outdated_page", c_uint32), ("runs", c_uint64), ("steps_left", c_int64), ("elapsed_ns", c_int64), ("start", c_uint64),
                ("loops", c_uint32), ("reserved", c_uint32)]


class ViewInfo(Sized):
    _fields_ = [("size", c_uint32), ("dtype", c_int32), ("rank", c_int32), ("stale", c_uint32), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("count", c_int64), ("bytes", c_int64), ("data", c_void_p), ("generation", c_uint64),
                ("in_progress", c_uint32), ("outdated_page", c_uint32)]


class PortType(Sized):
    _fields_ = [("size", c_uint32), ("dtype", c_int32), ("rank", c_int32), ("variable", c_uint32), ("shape", POINTER(c_int64)),
                ("capacity", c_size_t)]


class Result(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("code", c_int32), ("dtype", c_int32), ("rank", c_int32), ("stale", c_uint32),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("count", c_int64), ("bytes", c_int64), ("data", c_void_p),
                ("generation", c_uint64)]


class Event(Sized):
    _fields_ = [("size", c_uint32), ("kind", c_int32), ("seq", c_uint64), ("source", c_uint64), ("t_ns", c_int64), ("run", c_uint64),
                ("merged", c_uint64), ("fraction", c_double), ("progress", c_int32), ("state", c_int32), ("pause_reason", c_int32),
                ("code", c_int32), ("page", c_char_p), ("session", c_char_p), ("block", c_char_p), ("port", c_char_p),
                ("pointer", c_char_p), ("text", c_char_p), ("hint", c_char_p), ("dropped", c_uint64 * (len(EVENT_KINDS) + 1)),
                ("start", c_uint64), ("phase", c_int32), ("severity", c_int32), ("needed", c_char_p), ("found", c_char_p),
                ("causes", c_char_p), ("revision", c_uint64), ("outdated_page", c_uint32), ("reserved", c_uint32)]


class EventsOptions(Sized):
    _fields_ = [("size", c_uint32), ("most_events", c_uint32), ("most_bytes", c_size_t), ("most_history", c_uint64)]


class SubscriptionOptions(Sized):
    _fields_ = [("size", c_uint32), ("reduction", c_int32), ("interval_ns", c_int64), ("max_bytes", c_int64), ("every", c_uint64),
                ("bins", c_int64), ("most_pending", c_uint64), ("tag", c_uint64)]


class Sample(Sized):
    _fields_ = [("size", c_uint32), ("code", c_int32), ("tag", c_uint64), ("first_run", c_uint64), ("run", c_uint64), ("runs", c_uint64),
                ("dropped", c_uint64), ("t_ns", c_int64), ("stride", c_int64), ("value", c_void_p), ("high", c_void_p),
                ("lowest", c_double), ("highest", c_double), ("not_finite", c_int64)]


class BreakpointOptions(Sized):
    _fields_ = [("size", c_uint32), ("kind", c_int32), ("block", c_char_p), ("port", c_char_p), ("condition", c_char_p),
                ("from_hit", c_uint64), ("once", c_uint32), ("reserved", c_uint32)]


class BreakpointInfo(Sized):
    _fields_ = [("size", c_uint32), ("enabled", c_uint32), ("hits", c_uint64), ("paused", c_uint32), ("reserved", c_uint32)]


class SnapshotOptions(Sized):
    _fields_ = [("size", c_uint32), ("partial", c_uint32), ("patience_ms", c_int64)]


class SnapshotInfo(Sized):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("variables", c_uint64), ("resources", c_uint64), ("bytes", c_int64)]


EventFunction = CFUNCTYPE(None, c_void_p, POINTER(Event))


class DlTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class DlManagedTensor(ctypes.Structure):
    pass


DlDeleter = CFUNCTYPE(None, POINTER(DlManagedTensor))
DlManagedTensor._fields_ = [("dl_tensor", DlTensor), ("manager_ctx", c_void_p), ("deleter", DlDeleter)]

HANDLE, OUT, TEXT, STRING_ARRAY = c_void_p, POINTER(c_void_p), c_char_p, POINTER(c_char_p)

# Functions that end in `problems`, without that; all return a status.
FAILING = {
    "weft_runtime_open": (POINTER(RuntimeOptions), OUT),
    "weft_runtime_get_info": (HANDLE, POINTER(RuntimeInfo)),
    "weft_blocks_json": (HANDLE, OUT),
    "weft_blocks_hash": (HANDLE, OUT),
    "weft_block_json": (HANDLE, TEXT, OUT),
    "weft_block_markdown": (HANDLE, TEXT, OUT),
    "weft_page_load": (HANDLE, c_char_p, c_size_t, POINTER(PageOptions), OUT),
    "weft_page_load_file": (HANDLE, TEXT, POINTER(PageOptions), OUT),
    "weft_page_diagnostics": (HANDLE, OUT),
    "weft_page_write": (HANDLE, OUT),
    "weft_page_blocks": (HANDLE, OUT),
    "weft_page_sessions": (HANDLE, OUT),
    "weft_page_get_variable": (HANDLE, TEXT, OUT),
    "weft_page_set_variable": (HANDLE, TEXT, POINTER(Buffer)),
    "weft_page_hold_memory": (HANDLE, c_int64),
    "weft_page_block_json": (HANDLE, TEXT, OUT),
    "weft_page_wires_json": (HANDLE, OUT),
    "weft_page_layout_json": (HANDLE, c_int32, OUT),
    "weft_page_picture": (HANDLE, c_int32, OUT),
    "weft_page_port_type": (HANDLE, TEXT, POINTER(PortType)),
    "weft_page_types_json": (HANDLE, OUT),
    "weft_page_why_not": (HANDLE, TEXT, OUT),
    "weft_page_plan_json": (HANDLE, TEXT, OUT),
    "weft_page_check_wire": (HANDLE, TEXT, TEXT),
    "weft_page_inputs_for": (HANDLE, TEXT, OUT),
    "weft_page_outputs_for": (HANDLE, TEXT, OUT),
    "weft_page_edits": (HANDLE, POINTER(c_uint64)),
    "weft_name_renamed": (TEXT, TEXT, TEXT, OUT),
    "weft_page_edit": (HANDLE, TEXT, c_int32, OUT),
    "weft_page_undo": (HANDLE, OUT),
    "weft_page_redo": (HANDLE, OUT),
    "weft_page_history": (HANDLE, POINTER(c_size_t), POINTER(c_size_t)),
    "weft_page_file_path": (HANDLE, TEXT, c_int32, OUT),
    "weft_page_read_file": (HANDLE, TEXT, OUT),
    "weft_page_write_file": (HANDLE, TEXT, c_char_p, c_size_t),
    "weft_page_run_open": (HANDLE, POINTER(PageRunOptions), OUT),
    "weft_page_run_sessions": (HANDLE, OUT),
    "weft_page_run_session": (HANDLE, TEXT, OUT),
    "weft_page_run_start": (HANDLE, POINTER(RunOptions)),
    "weft_page_run_all": (HANDLE, POINTER(RunOptions)),
    "weft_page_run_wait": (HANDLE, c_int64, POINTER(c_int32)),
    "weft_page_run_stop": (HANDLE,),
    "weft_page_run_cancel": (HANDLE,),
    "weft_page_run_view": (HANDLE, TEXT, OUT),
    "weft_page_run_results": (HANDLE, OUT),
    "weft_session_open": (HANDLE, POINTER(SessionOptions), OUT),
    "weft_session_run": (HANDLE, POINTER(RunOptions)),
    "weft_session_start": (HANDLE, POINTER(RunOptions)),
    "weft_session_wait": (HANDLE, c_int64, POINTER(c_int32)),
    "weft_session_pause": (HANDLE,),
    "weft_session_resume": (HANDLE, c_int32),
    "weft_session_stop": (HANDLE,),
    "weft_session_cancel": (HANDLE,),
    "weft_session_cancel_start": (HANDLE, c_uint64),
    "weft_session_get_info": (HANDLE, POINTER(SessionInfo)),
    "weft_session_paused_at": (HANDLE, OUT),
    "weft_session_view": (HANDLE, TEXT, OUT),
    "weft_session_views": (HANDLE, STRING_ARRAY, c_size_t, OUT),
    "weft_session_results": (HANDLE, OUT),
    "weft_session_read_results": (HANDLE, STRING_ARRAY, c_size_t, OUT),
    "weft_results_view": (HANDLE, c_size_t, OUT),
    "weft_session_set_mode": (HANDLE, c_int32, POINTER(RunOptions)),
    "weft_view_text": (HANDLE, c_int64, OUT),
    "weft_view_dlpack": (HANDLE, POINTER(POINTER(DlManagedTensor))),
    "weft_session_feed": (HANDLE, TEXT, POINTER(Buffer)),
    "weft_session_bind_input": (HANDLE, TEXT, POINTER(Buffer)),
    "weft_session_bind_output": (HANDLE, TEXT, POINTER(Buffer)),
    "weft_session_unbind": (HANDLE, TEXT),
    "weft_events_open": (POINTER(EventsOptions), OUT),
    "weft_events_add": (HANDLE, HANDLE, c_uint32, c_uint64),
    "weft_events_remove": (HANDLE, HANDLE),
    "weft_events_add_page": (HANDLE, HANDLE, c_uint64),
    "weft_events_remove_page": (HANDLE, HANDLE),
    "weft_page_on_event": (HANDLE, EventFunction, c_void_p),
    "weft_subscription_name": (HANDLE, OUT),
    "weft_events_poll": (HANDLE, POINTER(Event), c_size_t, POINTER(c_size_t)),
    "weft_events_replay": (HANDLE, c_uint64, POINTER(Event), c_size_t, POINTER(c_size_t), POINTER(c_uint64)),
    "weft_events_wait": (HANDLE, c_int64, POINTER(c_int32)),
    "weft_events_interrupt": (HANDLE,),
    "weft_events_fd": (HANDLE, POINTER(c_int32)),
    "weft_session_on_event": (HANDLE, EventFunction, c_void_p, c_uint32, c_int64),
    "weft_session_subscribe": (HANDLE, TEXT, POINTER(SubscriptionOptions), OUT),
    "weft_session_samples": (HANDLE, POINTER(Sample), c_size_t, POINTER(c_size_t)),
    "weft_subscription_samples": (HANDLE, POINTER(Sample), c_size_t, POINTER(c_size_t)),
    "weft_session_break": (HANDLE, POINTER(BreakpointOptions), OUT),
    "weft_breakpoint_enable": (HANDLE, c_int32),
    "weft_breakpoint_get_info": (HANDLE, POINTER(BreakpointInfo)),
    "weft_session_lease": (HANDLE, c_int64),
    "weft_session_heartbeat": (HANDLE,),
    "weft_session_faults": (HANDLE, OUT),
    "weft_session_override": (HANDLE, TEXT, POINTER(Buffer)),
    "weft_page_save_state": (HANDLE, TEXT, POINTER(SnapshotOptions), POINTER(SnapshotInfo)),
    "weft_page_restore_state": (HANDLE, TEXT, POINTER(SnapshotOptions), POINTER(SnapshotInfo)),
    "weft_runtime_get_job": (HANDLE, POINTER(JobInfo)),
    "weft_runtime_rank_names": (HANDLE, OUT),
    "weft_runtime_abort_job": (HANDLE, TEXT),
    "weft_sharded_open": (HANDLE, POINTER(ShardedOptions), OUT),
    "weft_sharded_feed": (HANDLE, TEXT, POINTER(Buffer)),
    "weft_sharded_step": (HANDLE, c_int32),
    "weft_sharded_cancel": (HANDLE,),
    "weft_sharded_get_info": (HANDLE, POINTER(ShardedInfo)),
    "weft_sharded_where": (HANDLE, OUT),
    "weft_sharded_progress": (HANDLE, POINTER(ShardedTimes), POINTER(c_double), c_size_t),
    "weft_sharded_results": (HANDLE, OUT),
    "weft_sharded_view": (HANDLE, TEXT, OUT),
    "weft_sharded_save": (HANDLE, TEXT),
    "weft_sharded_load": (HANDLE, TEXT),
    "weft_sharded_save_newest": (HANDLE, TEXT),
    "weft_sharded_resume": (HANDLE, TEXT, OUT),
}
# The others: what they return, and what they take.
PLAIN = {
    "weft_abi_version": (c_uint32,),
    "weft_version": (c_char_p,),
    "weft_status_name": (c_char_p, c_int32),
    "weft_codes_json": (c_char_p,),
    "weft_strings_count": (c_int32, HANDLE, POINTER(c_size_t)),
    "weft_strings_get": (c_int32, HANDLE, c_size_t, POINTER(c_void_p), POINTER(c_size_t)),
    "weft_strings_all": (c_int32, HANDLE, POINTER(POINTER(c_char_p)), POINTER(c_size_t)),
    "weft_strings_release": (c_int32, HANDLE),
    "weft_results_all": (c_int32, HANDLE, POINTER(POINTER(Result)), POINTER(c_size_t)),
    "weft_results_release": (c_int32, HANDLE),
    "weft_diagnostics_count": (c_int32, HANDLE, POINTER(c_size_t)),
    "weft_diagnostics_get": (c_int32, HANDLE, c_size_t, POINTER(DiagnosticStruct)),
    "weft_diagnostics_release": (c_int32, HANDLE),
    "weft_runtime_close": (c_int32, HANDLE),
    "weft_page_run_close": (c_int32, HANDLE),
    "weft_page_close": (c_int32, HANDLE),
    "weft_session_close": (c_int32, HANDLE),
    "weft_sharded_close": (c_int32, HANDLE),
    "weft_view_get_info": (c_int32, HANDLE, POINTER(ViewInfo)),
    "weft_view_string": (c_int32, HANDLE, c_int64, POINTER(Bytes)),
    "weft_view_release": (c_int32, HANDLE),
    "weft_events_close": (c_int32, HANDLE),
    "weft_subscription_close": (c_int32, HANDLE),
    "weft_breakpoint_close": (c_int32, HANDLE),
}


_integers: dict[str, list[tuple[int, type]]] = {}  # by function: places and types of its integers


def _declare(library: ctypes.CDLL, functions: dict[str, tuple]) -> None:
    for name, argtypes in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = c_int32, (*argtypes, OUT)
        _integers[name] = [(place, kind) for place, kind in enumerate(argtypes) if kind in _LIMITS]


def _load() -> ctypes.CDLL:
    """The library of the package, by the empty one that lets the loader choose its build; $WEFT_LIBRARY names another library."""
    path = os.environ.get("WEFT_LIBRARY") or str(pathlib.Path(__file__).parent / "lib/libweft-python.so")
    library = ctypes.CDLL(path)
    major, minor = divmod(library.weft_abi_version(), 1 << 16)
    if major != ABI[0] or minor < ABI[1]:  # before functions are looked for that another one may lack
        raise ImportError(f"{path} has interface {major}.{minor}, this package needs {ABI[0]}.{ABI[1]} or a later {ABI[0]}.x")
    _declare(library, FAILING)
    for name, (restype, *argtypes) in PLAIN.items():
        function = getattr(library, name)
        function.restype, function.argtypes = restype, argtypes
    return library


lib = _load()


def add_functions(functions: dict[str, tuple]) -> None:
    """Functions as those of FAILING, declared elsewhere."""
    _declare(lib, functions)
    FAILING.update(functions)


def text(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


def diagnostics(handle: c_void_p) -> list[Diagnostic]:
    """The findings of a list, which is released."""
    count, found, one, index = c_size_t(), [], DiagnosticStruct(), 0

    def take(causes: tuple[Diagnostic, ...] = ()) -> Diagnostic:
        return Diagnostic(name_of(SEVERITIES, one.severity), text(lib.weft_status_name(one.code)), text(one.message), text(one.hint),
                          text(one.page), text(one.pointer), text(one.block), text(one.port), name_of(PHASES, one.phase), text(one.needed),
                          text(one.found), causes)

    lib.weft_diagnostics_count(handle, byref(count))
    while index < count.value:
        lib.weft_diagnostics_get(handle, index, byref(one))
        causes, first, index = [], index, index + 1 + one.causes
        for cause in range(first + 1, min(index, count.value)):
            lib.weft_diagnostics_get(handle, cause, byref(one))
            causes.append(take())
        lib.weft_diagnostics_get(handle, first, byref(one))
        found.append(take(tuple(causes)))
    lib.weft_diagnostics_release(handle)
    return found


def failure(status: int, problems: c_void_p) -> Error:
    found = diagnostics(problems) if problems else []
    if not found:
        found = [Diagnostic("error", text(lib.weft_status_name(status)), f"the engine says {text(lib.weft_status_name(status))}")]
    return (CancelledError if status == CANCELLED else Error)(found)


def call(name: str, *arguments) -> None:
    """Calls a function of FAILING; raises Error."""
    for place, kind in _integers[name]:
        within(f"an argument of {name}", arguments[place], kind)
    problems = c_void_p()
    status = getattr(lib, name)(*arguments, byref(problems))
    if status:
        raise failure(status, problems)


def make(name: str, *arguments) -> c_void_p:
    """Calls a function of FAILING whose last argument is a new handle; gives that."""
    handle = c_void_p()
    call(name, *arguments, byref(handle))
    return handle


def strings(name: str, *arguments) -> list[str]:
    """Calls a function of FAILING that gives texts; gives them."""
    handle = make(name, *arguments)
    pointers, count = POINTER(c_char_p)(), c_size_t()
    lib.weft_strings_all(handle, byref(pointers), byref(count))
    texts = [pointer.decode("utf-8", "replace") for pointer in pointers[: count.value]]
    lib.weft_strings_release(handle)
    return texts


def encode(value: str | os.PathLike | bytes) -> bytes:
    """Text for the library, which ends it at a zero byte."""
    data = os.fsencode(value) if isinstance(value, os.PathLike) else value.encode() if isinstance(value, str) else bytes(value)
    if b"\0" in data:
        raise ValueError("text must not hold a zero byte")
    return data


def listed(texts: str | os.PathLike | bytes | Iterable) -> list:
    """The texts of an argument that takes several, where one may be given alone."""
    return [texts] if isinstance(texts, (str, bytes, os.PathLike)) else list(texts)


def units(seconds: float, second: int) -> int:
    """A time in units of which a second has so many. Only none is 0, by which the engine means something else."""
    return int(seconds * second) or (seconds > 0) - (seconds < 0)


def array(values) -> ctypes.Array:
    """A C array of texts."""
    return (c_char_p * len(values))(*[encode(value) for value in values])
