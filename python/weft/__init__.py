"""Weft: block graphs from Python.

    import weft
    results = weft.load("graphs/xor.page.json").run(2000)
    results["loss.output"]                      # a numpy array that shares the engine's memory

    page = weft.load("page.json")
    with page.session(fetch=["y.output"]) as session:
        session.run(feeds={"x.output": array})  # Ctrl-C ends it
        session["y.output"]

    page.set_input("w.initvalues", [1.0, 2.0])  # edits; page.undo() takes them back

What fails raises weft.Error, which has code, message, hint, block and port.
"""
from ._native import lib as _lib
from .blocks import Attr, BlockError, Input, Port
from .debug import Breakpoint
from .edits import Changes, literal
from .errors import CancelledError, Diagnostic, Error
from .events import Event, Events
from .inspect import PortType
from .page import CaseResult, Page, Runtime, SnapshotInfo, TestReport, codes, default_runtime, load
from .page_run import PageRun
from .session import UNTIL_STOPPED, Session, SessionInfo
from .sharded import ShardedInfo, ShardedProgress, ShardedRun
from .values import Results, View
from .watching import Sample, Subscription

__version__ = _lib.weft_version().decode()
__all__ = ["Attr", "BlockError", "Breakpoint", "CancelledError", "CaseResult", "Changes", "Diagnostic", "Error", "Event", "Events", "Input", "Page",
           "PageRun", "Port", "PortType", "Results", "Runtime", "Sample", "Session", "SessionInfo", "ShardedInfo", "ShardedProgress",
           "ShardedRun", "SnapshotInfo", "Subscription", "TestReport", "UNTIL_STOPPED",
           "View", "codes", "default_runtime", "literal", "load"]
