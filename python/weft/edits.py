"""Edits of a loaded page: small changes, each of which can be taken back."""
from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from ctypes import byref, c_size_t, c_uint64
from typing import Any

from . import _native
from .values import name_of, to_array


def literal(value: Any, dtype: str | None = None) -> dict[str, Any]:
    """A value as pages write it: {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}. `dtype`: for types that numpy lacks."""
    array, number = to_array(value, dtype)
    if name_of(number) == "DT_BFLOAT16":
        array = to_array(value, "DT_FLOAT")[0]
    return {"dtype": name_of(number), "shape": list(array.shape), "values": [_element(element) for element in array.ravel().tolist()]}


def _element(element: Any) -> Any:
    if isinstance(element, complex):
        return [_element(element.real), _element(element.imag)]
    if isinstance(element, float) and not math.isfinite(element):
        return "nan" if math.isnan(element) else "inf" if element > 0 else "-inf"
    return element.decode() if isinstance(element, bytes) else element


Renames = Sequence[tuple[str, str]]  # blocks that one edit has renamed: from, to


def renamed(name: str, renames: Renames) -> str:
    """The name of a value as it is after the renames of an edit."""
    for old, new in renames:
        now = _native.strings("weft_name_renamed", *map(_native.encode, (name, old, new)))[0]
        if now != name:
            return now
    return name


@dataclasses.dataclass(frozen=True)
class Changes:
    """What is different on a page after edits, by ids."""

    edits: int = 0  # of the page so far
    added: list[str] = dataclasses.field(default_factory=list)
    removed: list[str] = dataclasses.field(default_factory=list)
    changed: list[str] = dataclasses.field(default_factory=list)  # wires, values, attributes or other keys
    renamed: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # from, to; may be changed besides
    moved: list[str] = dataclasses.field(default_factory=list)  # on the drawing
    keys: list[str] = dataclasses.field(default_factory=list)  # of the page: "page" is its name


class Edits:
    """What edits a page. All edits of a call are made, or none; sessions take them up at their next run, and variables keep their values.

    Each method gives the edits that take its own back, for `edit`; `undo` and `redo` keep them in order by themselves.
    """

    _handle: Any
    _changes: Changes = Changes()

    def _follow(self, renames: Renames) -> None:
        """An edit was made that has renamed these blocks."""

    def edit(self, *edits: Mapping[str, Any], strict: bool = False, open_inputs: bool = False) -> list[dict[str, Any]]:
        """Makes edits as weft/capi/edit.h writes them: {"op": "connect", "from": "a.z", "to": "y.x"}.

        A page may have errors in between (`diagnostics`); with `strict`, edits that bring a new one are refused; with `open_inputs`, those
        that bring another one than an input without a wire or a value, as a block has that was just added. What they changed is in
        `changes`.
        """
        mode = _native.EDIT_OPEN_INPUTS if open_inputs else _native.EDIT_STRICT if strict else _native.EDIT_APPLY
        inverse = self._make("weft_page_edit", json.dumps(edits).encode(), mode)
        return json.loads(inverse)

    def try_edit(self, *edits: Mapping[str, Any]) -> Changes:
        """Raises what `edit` with `strict` would; makes nothing, and gives what would be different."""
        return self._apply("weft_page_edit", json.dumps(edits).encode(), _native.EDIT_TRY)[1]

    @property
    def changes(self) -> Changes:
        """What the last call of `edit`, `undo` or `redo` changed."""
        return self._changes

    @property
    def edits(self) -> int:
        """Counts the calls that changed the page: what was read of it is out of date where the number is another."""
        count = c_uint64()
        _native.call("weft_page_edits", self._handle, byref(count))
        return count.value

    def _apply(self, function: str, *arguments: Any) -> tuple[str, Changes]:
        edits, changes = _native.strings(function, self._handle, *arguments)
        changed = json.loads(changes)
        return edits, Changes(**{**changed, "renamed": [(old, new) for old, new in changed["renamed"]]})

    @property
    def history(self) -> tuple[int, int]:
        """How many calls of `undo` and of `redo` there are left."""
        undo, redo = c_size_t(), c_size_t()
        _native.call("weft_page_history", self._handle, byref(undo), byref(redo))
        return undo.value, redo.value

    def undo(self) -> bool:
        """Takes the last edits back that were not; False where there are none. The page keeps the last 1,000."""
        return self._step("weft_page_undo", self.history[0])

    def redo(self) -> bool:
        """Makes again what `undo` took back last; False where there is nothing."""
        return self._step("weft_page_redo", self.history[1])

    def _step(self, function: str, left: int) -> bool:
        if left:
            self._make(function)
        return left > 0

    def _make(self, function: str, *arguments: Any) -> str:
        edits, self._changes = self._apply(function, *arguments)
        if self._changes.renamed:
            self._follow(self._changes.renamed)
        return edits

    def add(self, id: str, block: str, inputs: Mapping[str, Any] | None = None, attrs: str | Mapping[str, Any] | None = None,
            layout: Sequence[float] | None = None) -> list[dict[str, Any]]:
        """Adds a block. An input is a wire ("x.output"), a value, or a list of either."""
        new: dict[str, Any] = {"id": id, "block": block}
        if attrs is not None:
            new["attrs"] = attrs
        if inputs:
            new["inputs"] = {port: _input(value) for port, value in inputs.items()}
        edit: dict[str, Any] = {"op": "add", "block": new}
        if layout is not None:
            edit["layout"] = list(layout)
        return self.edit(edit)

    def remove(self, block: str) -> list[dict[str, Any]]:
        """Removes a block with the wires that come from it."""
        return self.edit({"op": "remove", "block": block})

    def connect(self, source: str, to: str) -> list[dict[str, Any]]:
        """Draws a wire from an output ("x.output") to an input ("sum.x", "pack.values[2]")."""
        return self.edit({"op": "connect", "from": source, "to": to})

    def disconnect(self, to: str) -> list[dict[str, Any]]:
        """Takes away what an input has."""
        return self.edit({"op": "disconnect", "to": to})

    def set_input(self, port: str, value: Any) -> list[dict[str, Any]]:
        """Gives an input ("c.value") a value, or a wire, or a list."""
        return self.edit({"op": "set", "input": port, "value": _input(value)})

    def set_attr(self, block: str, attr: str, value: Any) -> list[dict[str, Any]]:
        """Sets an attribute; None is its default."""
        return self.edit({"op": "set", "block": block, "attr": attr, "value": value})

    def rename(self, block: str, to: str) -> list[dict[str, Any]]:
        """Gives a block another id; its wires follow."""
        return self.edit({"op": "rename", "block": block, "to": to})

    def move(self, block: str, x: float, y: float) -> list[dict[str, Any]]:
        """Gives a block another place on the drawing."""
        return self.edit({"op": "move", "block": block, "layout": [x, y]})

    def set_key(self, block: str | None, key: str, value: Any) -> list[dict[str, Any]]:
        """Sets what the engine does not look at: a note or a colour of a block, or, for None, a key of the page. None as the value ends it.

        The page's name is its key "page", and its layout as a whole "layout".
        """
        edit = {"op": "set", "key": key, "value": value}
        return self.edit(edit if block is None else {**edit, "block": block})


def _input(value: Any) -> Any:
    """A wire as it is, a written literal as it is, a list of wires as it is; other values as literals."""
    if isinstance(value, (str, Mapping)):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, (str, Mapping)) for item in value):
        return list(value)
    return literal(value)
