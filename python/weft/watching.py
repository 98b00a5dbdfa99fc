"""What a session shows while it runs: events, and values as often and as short as they are wanted."""
from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable
from ctypes import byref, c_size_t, c_void_p, sizeof
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from .errors import Diagnostic, Error
from .events import Event, Events, bits_of, event_of
from .values import View

if TYPE_CHECKING:
    from .session import Session

_MOST_TAKEN = 64


@dataclasses.dataclass(frozen=True)
class Sample:
    """What a subscription delivers of one run or of several."""

    name: str  # the value's
    run: int  # the last run that it speaks of, counted from 1
    first_run: int
    runs: int  # how many computed the value
    dropped: int  # samples of the subscription that gave way so far
    seconds: float  # when, on time.monotonic's clock
    view: View | None  # "histogram": how many elements lie in each bin; None where `error` says why there is no value
    high_view: View | None = None  # "min_max": the greatest of each element, `view` has the least
    stride: int = 1  # more than 1: only every so many elements, of shape [n]
    lowest: float = 0.0  # "histogram": where the first bin begins
    highest: float = 0.0  # "histogram": where the last bin ends
    not_finite: int = 0  # "histogram": elements in no bin
    error: Error | None = None  # why there is no value; delivered once

    @property
    def value(self) -> np.ndarray | None:
        """The value as a read-only array."""
        return self.view.numpy() if self.view is not None else None

    @property
    def high(self) -> np.ndarray | None:
        """"min_max": the greatest of each element."""
        return self.high_view.numpy() if self.high_view is not None else None


def _sample(raw: _native.Sample, name: str) -> Sample:
    error = None
    if raw.code:
        code = _native.text(_native.lib.weft_status_name(raw.code))
        block, _, port = name.partition(".")
        error = Error([Diagnostic("error", code, f"'{name}' has no value: {code}", block=block, port=port)])
    return Sample(name, raw.run, raw.first_run, raw.runs, raw.dropped, raw.t_ns / 1e9, View(raw.value) if raw.value else None,
                  View(raw.high) if raw.high else None, raw.stride, raw.lowest, raw.highest, raw.not_finite, error)


def _take(function: str, handle: c_void_p, most: int, subscriptions: dict[int, Subscription]) -> list[Sample]:
    if most < 1:
        raise ValueError(f"needs to take 1 sample or more, not {most}")
    raw, count = (_native.Sample * most)(), c_size_t()
    raw[0].size = sizeof(_native.Sample)
    _native.call(function, handle, raw, most, byref(count))
    taken = raw[: count.value]
    names = {tag: subscriptions[tag].name for tag in {one.tag for one in taken} if tag in subscriptions}
    return [_sample(one, names.get(one.tag, "")) for one in taken]


class Subscription:
    """A value that is delivered as it changes; made by `Session.subscribe`.

    Lives as long as the session, until it is closed; closes as a context manager.
    """

    def __init__(self, session: Session, name: str, options: _native.SubscriptionOptions):
        self._name = name
        self._tag = options.tag
        self._all = session._subscriptions
        self._handle = _native.make("weft_session_subscribe", session._handle, _native.encode(name), byref(options))
        self._all[self._tag] = self
        self._close = weakref.finalize(self, _native.lib.weft_subscription_close, self._handle)

    @property
    def name(self) -> str:
        """The value's, as the page calls it now; the last one where an edit took it from the page or the subscription is closed."""
        if self._close.alive:
            self._name = _native.strings("weft_subscription_name", self._handle)[0]
        return self._name

    def samples(self, most: int = _MOST_TAKEN) -> list[Sample]:
        """Takes what is ready, at most so many, the oldest first. Does not wait: an event "values" tells when to come."""
        return _take("weft_subscription_samples", self._handle, most, self._all)

    def close(self) -> None:
        """Ends the subscription; samples that were not taken are gone."""
        self._close()
        self._all.pop(self._tag, None)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Watching:
    """What a session shows while it runs."""

    _handle: Any
    _subscriptions: dict[int, Subscription]  # by tag
    _last_tag: int
    _on_event: EventCallback

    def events(self, *kinds: str, most_events: int = 0, most_bytes: int = 0) -> Events:
        """A queue of this session's events, of these kinds or of all but "progress" and "values"; see weft.Events."""
        return Events(most_events, most_bytes).add(self, *kinds)

    def on_event(self, callback: Callable[[Event], None] | None, *kinds: str, interval: float | None = None) -> None:
        """Has `callback` called with events of these kinds, in place of the one before; None for none.

        It is called on the thread that runs the session (prints also on others): the run waits for it, and a callback that raises is reported by
        sys.unraisablehook. Runs and the progress of a block come at most every `interval` seconds: 0.1 where it is None; 0: all.
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"a callback is a function of an event, or None, not {callback!r}")
        bits = bits_of(kinds)
        nanoseconds = 0 if interval is None else -1 if interval <= 0 else _native.units(interval, 10**9)
        before, self._on_event.callback = self._on_event.callback, callback
        try:
            if callback is None:
                _native.call("weft_session_on_event", self._handle, _native.EventFunction(), None, 0, 0)
            else:
                _native.call("weft_session_on_event", self._handle, self._on_event.function, None, bits, nanoseconds)
        except BaseException:
            self._on_event.callback = before
            raise

    def subscribe(self, name: str, reduction: str = "last", *, interval: float = 0, max_bytes: int = 0, every: int = 1, bins: int = 64,
                  most_pending: int = 0) -> Subscription:
        """Subscribes to a value such as "loss.output" or "w.ref[0][2]".

        `reduction` says what becomes of the values between two deliveries: "each" delivers all, "last" the last one, "mean" and "min_max"
        reduce each element over the runs, "decimate" delivers one of every `every` runs, "histogram" counts the elements of the last one
        in `bins` bins. `interval` is the least time between two deliveries, in seconds; values longer than `max_bytes` are thinned;
        `most_pending` samples wait to be taken, then the oldest gives way.
        """
        if reduction not in _native.REDUCTIONS:
            raise ValueError(f"{reduction!r} is no reduction; they are {', '.join(_native.REDUCTIONS)}")
        for what, number in (("every", every), ("most_pending", most_pending)):
            if number < 0:
                raise ValueError(f"{what} is 0 (the default) or more, not {number}")
        self._last_tag += 1
        options = _native.SubscriptionOptions(reduction=_native.REDUCTIONS.index(reduction), interval_ns=int(interval * 1e9),
                                              max_bytes=max_bytes, every=every, bins=bins, most_pending=most_pending, tag=self._last_tag)
        return Subscription(self, name, options)

    def samples(self, most: int = _MOST_TAKEN) -> list[Sample]:
        """Takes the samples of all subscriptions that are ready, at most so many. Does not wait: an event "values" tells when to come."""
        return _take("weft_session_samples", self._handle, most, self._subscriptions)


class EventCallback:
    """The one C function of a session that its callbacks are called by; it lives as long as the engine may call it."""

    def __init__(self, session: Any):
        reference = weakref.ref(session)
        self.callback: Callable[[Event], None] | None = None

        def deliver(_user: int, raw: Any) -> None:
            callback = self.callback
            if callback is not None:
                callback(event_of(raw.contents, reference()))

        self.function = _native.EventFunction(deliver)


__all__ = ["EventCallback", "Sample", "Subscription", "Watching"]
