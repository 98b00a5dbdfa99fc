"""Breakpoints, and values of a run that is paused."""
from __future__ import annotations

import weakref
from ctypes import byref
from typing import TYPE_CHECKING, Any

from . import _native
from .values import to_array, to_buffer

if TYPE_CHECKING:
    from .session import Session


class Breakpoint:
    """Where, or when, runs of a session are paused; made by `break_before`, `break_if` and `break_not_finite`.

    Lives as long as the session, until it is closed; closes as a context manager.
    """

    def __init__(self, session: Session, options: _native.BreakpointOptions):
        self._handle = _native.make("weft_session_break", session._handle, byref(options))
        self._close = weakref.finalize(self, _native.lib.weft_breakpoint_close, self._handle)
        self._all = session._breakpoints
        self._all.add(self)

    def _info(self) -> _native.BreakpointInfo:
        info = _native.BreakpointInfo()
        _native.call("weft_breakpoint_get_info", self._handle, byref(info))
        return info

    @property
    def hits(self) -> int:
        """How often it came true."""
        return self._info().hits

    @property
    def pauses(self) -> bool:
        """Whether the session is paused by it now."""
        return bool(self._info().paused)

    @property
    def enabled(self) -> bool:
        """Whether it is on; may be set."""
        return bool(self._info().enabled)

    @enabled.setter
    def enabled(self, on: bool) -> None:
        _native.call("weft_breakpoint_enable", self._handle, 1 if on else 0)

    def close(self) -> None:
        """Removes it. A run that is paused by it stays so."""
        self._close()
        self._all.discard(self)

    def __enter__(self) -> Breakpoint:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Debugging:
    """Breakpoints of a session, and what can be seen and changed while it is paused."""

    _handle: Any
    _breakpoints: set[Breakpoint]

    def _break(self, from_hit: int, once: bool, **fields: Any) -> Breakpoint:
        texts = {name: _native.encode(value) if isinstance(value, str) else value for name, value in fields.items()}
        return Breakpoint(self, _native.BreakpointOptions(from_hit=from_hit, once=once, **texts))

    def break_before(self, block: str, *, from_hit: int = 1, once: bool = False) -> Breakpoint:
        """Pauses before a block runs, from the `from_hit`th time on; `once`: only the first such time.

        `session.wait()` then gives "paused", `session.paused_at` where, `session["x.z"]` shows values, and `resume` continues.
        """
        return self._break(from_hit, once, kind=_native.BREAK_BEFORE, block=block)

    def break_not_finite(self, block: str | None = None, port: str | None = None, *, from_hit: int = 1, once: bool = False) -> Breakpoint:
        """Pauses after a block (None: any) whose output (None: any) holds a NaN or an infinity."""
        return self._break(from_hit, once, kind=_native.BREAK_NOT_FINITE, block=block, port=port)

    def break_if(self, condition: str, *, from_hit: int = 1, once: bool = False) -> Breakpoint:
        """Pauses where a condition holds: "run >= 100", "loss.output < 0.5", "w.ref[0][2] == 0"; without indices any element does."""
        return self._break(from_hit, once, kind=_native.BREAK_CONDITION, condition=condition)

    def lease(self, seconds: float) -> None:
        """For debuggers that may be lost: breakpoints and pauses hold only so long from now or from the last `heartbeat`. 0: for ever."""
        _native.call("weft_session_lease", self._handle, _native.units(seconds, 1000))

    def heartbeat(self) -> None:
        """The lease begins anew."""
        _native.call("weft_session_heartbeat", self._handle)

    def override(self, name: str, value: Any, dtype: str | None = None) -> None:
        """While the session is paused within a run: replaces a value that it has computed, for the blocks that come after in this run.

        To replace a value in every run: `feed`. `dtype`: for types that numpy lacks.
        """
        buffer, kept = to_buffer(*to_array(value, dtype))
        _native.call("weft_session_override", self._handle, _native.encode(name), byref(buffer))
        del kept


__all__ = ["Breakpoint", "Debugging"]
