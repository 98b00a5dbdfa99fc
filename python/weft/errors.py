"""What goes wrong, as Python sees it: one exception with a code and a place, and the findings of a page."""
from __future__ import annotations

import dataclasses
from typing import Sequence


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One finding about a page. Texts are empty where there is nothing to say."""

    severity: str  # "error", "warning", "note"
    code: str  # "invalid_argument", "not_found", ...
    message: str  # what was needed and what was found
    hint: str = ""  # the likely fix
    page: str = ""
    pointer: str = ""  # JSON pointer into the page
    block: str = ""
    port: str = ""
    phase: str = ""  # what the engine was at: "load", "connect", "compile", "run"; empty for what is no work on a page
    needed: str = ""  # the types that the port takes, and shapes where it needs some: "DT_FLOAT [C]", "DT_INT32|DT_INT64", "DT_FLOAT []|[?]", "DT_FLOAT_REF"
    found: str = ""  # what it was given
    causes: tuple[Diagnostic, ...] = ()  # what it came from, the nearest first

    def __str__(self) -> str:
        place = ".".join(part for part in (self.block, self.port) if part)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class Error(Exception):
    """A call of the engine failed.

    `code` is one of invalid_argument, not_found, already_exists, out_of_range, failed_precondition, unsupported, resource_exhausted,
    data_loss, cancelled, aborted, permission_denied, internal; `diagnostics` are all findings, the failure first. `all_ranks`: all ranks of the
    job are known to have failed alike (weft.ShardedRun), so that none waits for this one.
    """

    all_ranks = False

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        super().__init__(str(first))
        self.code: str = first.code
        self.message: str = first.message
        self.hint: str = first.hint
        self.page: str = first.page
        self.pointer: str = first.pointer
        self.block: str = first.block
        self.port: str = first.port
        self.phase: str = first.phase
        self.needed: str = first.needed
        self.found: str = first.found
        self.causes: tuple[Diagnostic, ...] = first.causes

    def __reduce__(self):
        return type(self), (self.diagnostics,)


class CancelledError(Error):
    """The run was cancelled, or its deadline passed. Variables are as they were before it."""
