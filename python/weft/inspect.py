"""What an editor shows of a page, whether it can run or not."""
from __future__ import annotations

import dataclasses
import json
from ctypes import byref, c_int64
from typing import Any

from . import _native
from .errors import Diagnostic, Error
from .values import name_of


@dataclasses.dataclass(frozen=True)
class PortType:
    """The type and shape of a port as far as they are known before a run."""

    dtype: str | None  # "DT_FLOAT"; None: not known, or the port carries no tensor
    shape: tuple[int, ...] | None  # -1 for each size that only a run can tell; None: not even how many
    variable: bool  # it stands for a variable, or a handle of one

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else ",".join("?" if size < 0 else str(size) for size in self.shape)
        return f"{self.dtype or '?'} [{sizes}]"


class Inspecting:
    """What is known of a page without a run. It is kept until the next edit: asking port by port costs little."""

    _handle: Any

    def block(self, id: str) -> dict[str, Any]:
        """A block as the page file spells it."""
        return json.loads(_native.strings("weft_page_block_json", self._handle, _native.encode(id))[0])

    def wires(self) -> list[tuple[str, str]]:
        """All wires: from "x.output" to "sum.x", or "pack.values[2]"."""
        return [(source, to) for source, to in json.loads(_native.strings("weft_page_wires_json", self._handle)[0])]

    def layout(self, auto: bool = False) -> dict[str, tuple[float, float]]:
        """Where blocks stand: as the page says or, with `auto`, in layers from left to right. `set_key(None, "layout", ...)` makes it the page's."""
        how = _native.LAYOUT_AUTO if auto else _native.LAYOUT_PAGE
        places = json.loads(_native.strings("weft_page_layout_json", self._handle, how)[0])
        return {id: (x, y) for id, (x, y) in places.items()}

    def picture(self, auto: bool = False) -> str:
        """The page as an SVG picture, faults included: blocks where the page says or, with `auto` or where it says nothing, in layers."""
        return _native.strings("weft_page_picture", self._handle, _native.LAYOUT_AUTO if auto else _native.LAYOUT_PAGE)[0]

    def port_type(self, port: str) -> PortType:
        """The type and shape of an output, or of what an input has."""
        shape = (c_int64 * 254)()
        found = _native.PortType(shape=shape, capacity=len(shape))
        _native.call("weft_page_port_type", self._handle, _native.encode(port), byref(found))
        return PortType(name_of(found.dtype) if found.dtype else None, tuple(shape[: found.rank]) if found.rank >= 0 else None, bool(found.variable))

    def types(self) -> dict[str, PortType]:
        """Those of all outputs, by their names."""
        found = json.loads(_native.strings("weft_page_types_json", self._handle)[0])
        return {name: PortType(type.get("dtype"), tuple(type["shape"]) if "shape" in type else None, type.get("variable", False))
                for name, type in found.items()}

    def why_not(self, block: str) -> list[Diagnostic]:
        """Why a block is not planned: its faults, or those of the nearest blocks that it depends on. Empty where it can run."""
        return _native.diagnostics(_native.make("weft_page_why_not", self._handle, _native.encode(block)))

    def plan(self, session: str | None = None) -> dict[str, Any]:
        """What a session would do: its steps with their inputs and outputs, and its memory."""
        return json.loads(_native.strings("weft_page_plan_json", self._handle, _native.encode(session) if session is not None else None)[0])

    def check_wire(self, source: str, to: str) -> Error | None:
        """Why a wire would not fit; None where it does."""
        try:
            _native.call("weft_page_check_wire", self._handle, _native.encode(source), _native.encode(to))
        except Error as error:
            return error
        return None

    def inputs_for(self, source: str) -> list[str]:
        """The inputs that a wire from an output may go to, by types; for highlighting while it is dragged."""
        return _native.strings("weft_page_inputs_for", self._handle, _native.encode(source))

    def outputs_for(self, to: str) -> list[str]:
        """The outputs that may feed an input."""
        return _native.strings("weft_page_outputs_for", self._handle, _native.encode(to))
