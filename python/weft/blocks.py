"""Blocks written in Python: a function of numpy arrays becomes a block that pages use like any other."""
from __future__ import annotations

import ctypes
import dataclasses
import inspect
import itertools
import json
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, NamedTuple

import numpy as np

from . import _host, _native
from .errors import Diagnostic, Error
from .values import NUMBERS, as_array, name_of, number_of, numpy_type, to_array

_STRING, _BFLOAT16, _RESOURCE = number_of("DT_STRING"), number_of("DT_BFLOAT16"), number_of("DT_RESOURCE")
_INVALID_ARGUMENT, _INTERNAL = 1, 12
_MOST_PORTS = 32  # of a host's block, on a side
_CODES = {_native.text(_native.lib.weft_status_name(code)): code for code in range(1, _INTERNAL + 1)}


class BlockError(Exception):
    """What a block written in Python raises where its input is wrong: the run ends with weft.Error at the block and this port."""

    def __init__(self, message: str, *, port: str = "", hint: str = "", code: str = "invalid_argument"):
        super().__init__(message)
        self.port, self.hint, self.code = port, hint, code


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a block that needs more than the name of its type.

    `type` is "DT_FLOAT", the name of a type attribute ("T"), or "" for any. `count` names the attribute that tells how many values a list
    port has: the function takes and gives a list for it. `doc` says its shape, and what it is.
    """

    type: str = "T"
    doc: str = ""
    count: str | None = None


@dataclasses.dataclass(frozen=True)
class Attr:
    """A setting of a block. `type`: "int", "float", "bool", "string", "type", "shape", "list(int)", "list(float)"; without a `default` it
    must be given; `allowed` are the strings or types that it may be, `minimum` the least int or length of a list."""

    type: str
    default: Any = None
    allowed: Sequence[str] = ()
    minimum: int | None = None
    doc: str = ""


class Input(NamedTuple):
    """What is known of an input before the run: what `shapes` is called with."""

    dtype: str  # "DT_FLOAT"
    shape: tuple[int, ...]
    value: np.ndarray | None = None  # of inputs in `shaped_by`


def attr_text(value: Any) -> str:
    """A value as pages write it in attributes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "{" + ",".join(map(attr_text, value)) + "}" if isinstance(value, (list, tuple)) else str(value)


def _size(given: Any) -> int:
    return _native.within("a size", int(given), c_int64)


def _attr_of(value: Any) -> Attr:
    """A default alone says the type."""
    if isinstance(value, Attr):
        return value
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        if isinstance(value, kind):
            return Attr(name, value)
    raise TypeError(f"{value!r} does not say its type: give weft.Attr(type, default)")


def _attr_value(kind: str, raw: _host.AttrValue) -> Any:
    numbers = [raw.list[i] for i in range(raw.list_count)] if raw.list else []
    if kind in ("int", "bool"):
        return bool(raw.number) if kind == "bool" else raw.number
    if kind in ("list(int)", "shape"):
        return tuple(numbers)
    if kind == "list(float)":
        return tuple(raw.reals[i] for i in range(raw.list_count))
    if kind == "list(type)":
        return tuple(map(name_of, numbers))
    return {"float": raw.real, "string": _native.text(raw.string), "type": name_of(raw.number) if raw.number else ""}.get(kind, _native.text(raw.text))


class _Ports:
    """Values of the ports of one side, lists expanded, as the function takes and gives them."""

    def __init__(self, ports: Mapping[str, str | Port]):
        self.named = {name: port if isinstance(port, Port) else Port(port) for name, port in ports.items()}

    def structs(self) -> ctypes.Array:
        encode, made = _native.encode, []
        for name, port in self.named.items():
            kind = _host.SINGLE if port.count is None else _host.LIST
            count = None if port.count is None else encode(port.count)
            made.append(_host.Port(encode(name), encode(port.type), kind, count, encode(port.doc)))
        return (_host.Port * len(made))(*made)

    def group(self, values: list, first: Any) -> list:
        """By port: a value, or a list of a list port."""
        parts = [values[first[i] : first[i + 1]] for i in range(len(self.named))]
        return [part if port.count is not None else part[0] for part, port in zip(parts, self.named.values())]

    def flatten(self, given: Any, what: str) -> list:
        """What the function gave, one item a value."""
        parts = [given] if len(self.named) == 1 else list(given)
        if len(parts) != len(self.named):
            raise BlockError(f"the function gave {len(parts)} {what}, the block has {len(self.named)} outputs", code="internal")
        flat: list = []
        for part, port in zip(parts, self.named.values()):
            flat += list(part) if port.count is not None else [part]
        return flat


class HostBlock:
    """A function as a block: its declaration, and the C functions that the engine calls. They live until the runtime has ended."""

    def __init__(self, name: str, function: Callable, inputs: Mapping, outputs: Mapping, *, types: Mapping[str, Sequence[str]] = {},
                 attrs: Mapping[str, Any] = {}, shapes: Callable | None = None, shaped_by: Sequence[str] = (), category: str | None = None,
                 aliases: Sequence[str] = (), flags: int = 0, summary: str | None = None):
        self.name, self.function, self.shapes = name, function, shapes
        self.inputs, self.outputs = _Ports(inputs), _Ports(outputs)
        self.attrs = {key: _attr_of(value) for key, value in attrs.items()}
        ports = [*self.inputs.named.values(), *self.outputs.named.values()]
        open_types = {port.type for port in ports if port.type and not port.type.startswith("DT_")}
        self.types = {key: _native.listed(types.get(key, NUMBERS)) for key in sorted(open_types)}
        self._plans: dict[int, tuple[dict[str, Any], set[int]]] = {}  # by number: attributes, and outputs whose shape the run tells
        self._numbers = itertools.count(1)
        text = inspect.getdoc(function) or ""
        head, _, rest = text.partition("\n\n")
        encode = _native.encode
        self.struct = _host.Block(flags=flags, name=encode(name), category=encode(category) if category else None,
                                  summary=encode(summary or " ".join(head.split()) or f"The Python function {name}."),
                                  details=encode(rest.strip()) if rest.strip() else None)
        self._fill(_native.listed(shaped_by), _native.listed(aliases))

    def _fill(self, shaped_by: list[str], aliases: list[str]) -> None:
        struct, encode = self.struct, _native.encode
        struct.inputs, struct.input_count = self.inputs.structs(), len(self.inputs.named)
        struct.outputs, struct.output_count = self.outputs.structs(), len(self.outputs.named)
        attrs = [_host.Attr(encode(name), encode(attr.type), encode(attr_text(attr.default)) if attr.default is not None else None,
                            encode("|".join(_native.listed(attr.allowed))) if attr.allowed else None,
                            ctypes.pointer(c_int64(_native.within("minimum", attr.minimum, c_int64))) if attr.minimum is not None else None,
                            encode(attr.doc))
                 for name, attr in self.attrs.items()]
        struct.attrs, struct.attr_count = (_host.Attr * len(attrs))(*attrs), len(attrs)
        types = [_host.TypeAttr(encode(name), (c_int32 * len(allowed))(*map(number_of, allowed)), len(allowed))
                 for name, allowed in self.types.items()]
        struct.types, struct.type_count = (_host.TypeAttr * len(types))(*types), len(types)
        names = list(self.inputs.named)
        struct.shaped_by, struct.shaped_by_count = (c_int32 * len(shaped_by))(*map(names.index, shaped_by)), len(shaped_by)
        struct.aliases, struct.alias_count = _native.array(aliases), len(aliases)
        struct.plan, struct.run = _host.PlanFunction(self._plan), _host.RunFunction(self._run)
        struct.free_parameters = _host.FreeFunction(lambda _user, number: self._plans.pop(number, None) and None)

    # ---- called by the engine --------------------------------------------------------------------------------------------------

    def attrs_of(self, call: Any) -> dict[str, Any]:
        return {name: _attr_value(attr.type, call.attrs[i]) for i, (name, attr) in enumerate(self.attrs.items())}

    def _plan(self, _user: int, call: Any, parameters: Any) -> int:
        def plan() -> int:
            raw = call.contents
            attrs, unknown = self.attrs_of(raw), set()
            shapes: list = [None] * raw.output_count
            if self.shapes is not None:
                known = [Input(name_of(value.dtype), tuple(value.shape[: value.rank]), _array(value).copy() if value.data else None)
                         for value in raw.inputs[: raw.input_count]]
                given = self.shapes(*self.inputs.group(known, raw.input_first), **attrs)
                shapes = self.outputs.flatten(given, "shapes")
            for index, shape in enumerate(shapes):
                sizes = None if shape is None else [-1 if size is None else _size(size) for size in shape]
                known = sizes is not None and min(sizes, default=0) >= 0
                rank, data = (-1, None) if sizes is None else (len(sizes), (c_int64 * len(sizes))(*sizes))
                status = (raw.set_shape if known else raw.set_unknown)(call, index, rank, data)
                if status:
                    return status
                if not known:
                    unknown.add(index)
            number = next(self._numbers)
            self._plans[number] = attrs, unknown
            parameters[0] = number
            return 0

        return _guarded(call, plan)

    def _run(self, _user: int, number: int, call: Any) -> int:
        buffers: list = []

        def run() -> int:
            raw = call.contents
            attrs, unknown = self._plans[number]
            values = [_strings(call, i, value) if value.dtype == _STRING else _array(value, buffers)
                      for i, value in enumerate(raw.inputs[: raw.input_count])]
            given = self.function(*self.inputs.group(values, raw.input_first), **attrs)
            results = self.outputs.flatten(given, "results")
            if len(results) != raw.output_count:
                raise BlockError(f"the function gave {len(results)} results, the block has {raw.output_count} outputs", code="internal")
            for index, result in enumerate(results):
                status = _give(call, index, result, index in unknown)
                if status:
                    return status
            values = given = results = result = None
            if _kept(buffers):
                raise BlockError(_KEPT, code="failed_precondition", hint=_KEEP_A_COPY)
            return 0

        return _guarded(call, run, buffers)


_KEPT = "the function kept an input beyond its call, where its memory is another's"
_KEEP_A_COPY = "keep a copy: x.copy()"


def _guarded(call: Any, body: Callable[[], int], buffers: Sequence = ()) -> int:
    """What `body` gives; what it raises, as a failure of the block. `buffers`: memory of inputs that nobody may hold afterwards."""
    try:
        return body()
    except BaseException as error:  # nothing may pass through the engine
        try:
            described = _described(error)
        except BaseException:  # also not what an exception raises that is asked what it says
            described = None
    try:  # the exception is gone, with what it held
        code, port, text, hint = described or (_INTERNAL, None, "the function raised what cannot say what it is", None)
        if _kept(buffers) and text != _KEPT:
            text, hint = f"{text}; and {_KEPT}", f"{hint}; {_KEEP_A_COPY}" if hint else _KEEP_A_COPY
        encoded = [None if part is None else part.replace("\0", "?").encode(errors="replace") for part in (port, text, hint)]
        return call.contents.fail(call, code, *encoded)
    except BaseException:
        return _INTERNAL


def _described(error: BaseException) -> tuple[int, str | None, str, str | None]:
    """Code, port, message and hint. The frames of the exception are cleared: they hold arrays over memory that is the engine's."""
    code, port, hint = _INTERNAL, None, None
    text = str(error)
    if isinstance(error, BlockError):
        code, port, hint = _CODES.get(error.code, _INTERNAL), error.port or None, error.hint or None
    else:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text, hint = f"{type(error).__name__}: {text}", f"raised in {frame.filename}, line {frame.lineno}"
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and not any(one is other for other in seen):
        seen.append(one)
        traceback.clear_frames(one.__traceback__)
        one = one.__cause__ or one.__context__
    return code, port, text, hint


def _array(value: _host.Value, buffers: list | None = None) -> np.ndarray:
    """An input over the engine's memory, not to be written; bfloat16 as a float32 copy."""
    shape = tuple(value.shape[: value.rank])
    if value.dtype == _RESOURCE:
        raise BlockError("a block written in Python cannot take a resource", code="unsupported")
    if value.count == 0 or not value.data:
        return np.empty(shape, np.float32 if value.dtype == _BFLOAT16 else numpy_type(value.dtype))
    kind = np.dtype(numpy_type(value.dtype))
    memory = (ctypes.c_uint8 * (value.count * kind.itemsize)).from_address(value.data)
    array = np.ndarray(shape, kind, memory)
    if value.dtype == _BFLOAT16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    array.flags.writeable = False
    if buffers is not None:
        buffers.append(memory)
    return array


def _kept(buffers: Sequence) -> bool:
    """Whether somebody holds memory of inputs: the list and getrefcount's argument do in any case."""
    return any(sys.getrefcount(buffers[i]) > 2 for i in range(len(buffers)))


def _strings(call: Any, index: int, value: _host.Value) -> np.ndarray:
    data, size, array = c_void_p(), c_size_t(), np.empty(value.count, np.object_)
    for element in range(value.count):
        call.contents.get_string(call, index, element, byref(data), byref(size))
        array[element] = ctypes.string_at(data, size.value) if size.value else b""
    return array.reshape(tuple(value.shape[: value.rank]))


def _give(call: Any, index: int, result: Any, unknown: bool) -> int:
    """Writes an output."""
    raw = call.contents
    value = raw.outputs[index]
    array = _converted(result, value.dtype, index)
    data = c_void_p(value.data)
    if unknown:
        status = raw.set_output(call, index, array.ndim, (c_int64 * array.ndim)(*array.shape), byref(data))
        if status:
            return status
    elif array.shape != tuple(value.shape[: value.rank]):
        raise BlockError(f"the function gave output {index} the shape {array.shape}, and planned {tuple(value.shape[: value.rank])}",
                         code="internal", hint="shapes tells what the function gives")
    if value.dtype == _STRING:
        for element, text in enumerate(array.ravel().tolist()):
            encoded = text if isinstance(text, bytes) else str(text).encode()
            status = raw.set_string(call, index, element, encoded, len(encoded))
            if status:
                return status
    elif array.size:
        memory = (ctypes.c_uint8 * array.nbytes).from_address(data.value)
        np.copyto(np.ndarray(array.shape, array.dtype, memory), array)
    return 0


def _converted(result: Any, dtype: int, index: int) -> np.ndarray:
    array, name = as_array(result), name_of(dtype)
    if dtype not in (_STRING, _BFLOAT16) and not np.can_cast(array.dtype, numpy_type(dtype), "same_kind"):
        raise BlockError(f"the function gave output {index} as {array.dtype}, which is no {name}", code="internal")
    try:
        return to_array(array, name)[0]
    except (TypeError, ValueError) as error:
        raise BlockError(f"the function gave output {index} wrong values: {error}", code="internal") from None


# ---- gradients -------------------------------------------------------------------------------------------------------------------------


def gradient_block(block: HostBlock, gradient: Callable) -> HostBlock:
    """The block that computes the gradient of another by a function of arrays; and the other's way to it.

    Of a block F(x) -> y it is FGrad(grad_y, x) -> grad_x: "grad_" before a port's name stands for the gradient of that port, as in the
    names of AddSymbolicGradients.
    """
    for ports in (block.inputs, block.outputs):
        if any(port.count is not None for port in ports.named.values()):
            raise ValueError("a gradient by a function needs a block without list ports")
    ports = {f"grad_{name}": port for name, port in block.outputs.named.items()}
    for name in block.inputs.named:
        if name in ports:
            raise ValueError(f"the input {name!r} has the name of an output's gradient: name it otherwise")
    ports |= block.inputs.named
    if len(ports) > _MOST_PORTS:
        raise ValueError(f"a gradient by a function needs {_MOST_PORTS} inputs and outputs or fewer, not {len(ports)}")
    back = HostBlock(block.name + "Grad", gradient, ports, {f"grad_{name}": port for name, port in block.inputs.named.items()},
                     types=block.types, attrs=block.attrs, shapes=_shapes_of_inputs(block), summary=f"The gradient of {block.name}.",
                     flags=_host.INTERNAL_BLOCK | _host.NOT_DIFFERENTIABLE)
    zeros = len(block.inputs.named)

    def zero_where_none(*arrays: np.ndarray, **attrs: Any) -> Any:
        given = gradient(*arrays, **attrs)
        parts = [given] if zeros == 1 else list(given)
        filled = [np.zeros_like(x) if part is None else part for part, x in zip(parts, arrays[-zeros:])]
        return filled[0] if zeros == 1 else filled

    back.function = zero_where_none
    block.struct.gradient = _host.GradientFunction(lambda _user, call: _guarded_gradient(block, back.name, call))
    return back


def _shapes_of_inputs(block: HostBlock) -> Callable:
    """The gradient of an input has the input's shape."""
    given, taken = len(block.outputs.named), len(block.inputs.named)

    def shapes(*inputs: Input, **_: Any) -> Any:
        found = [one.shape for one in inputs[given:]]
        return found[0] if taken == 1 else found

    return shapes


def _guarded_gradient(block: HostBlock, name: str, call: Any) -> int:
    try:
        return _add_gradient(block, name, call)
    except BaseException as error:  # nothing may pass through the engine
        try:
            return call.contents.fail(call, _INTERNAL, f"{type(error).__name__}: {error}".encode(errors="replace"), None)
        except BaseException:
            return _INTERNAL


def _add_gradient(block: HostBlock, name: str, call: Any) -> int:
    raw = call.contents
    encode = _native.encode

    def input_of(port: str, value: int) -> _host.GradientInput:
        return _host.GradientInput(encode(port), (c_int64 * 1)(value), 1)

    inputs = []
    for index, port in enumerate(block.outputs.named):
        value = raw.gradients[index]
        if value == 0:  # nothing depends on this output
            value = raw.add(call, b"ZerosLike", None, byref(input_of("x", raw.outputs[index])), 1)
        inputs.append(input_of("grad_" + port, value))
    inputs += [input_of(port, raw.inputs[index]) for index, port in enumerate(block.inputs.named)]
    texts = [f"{attr}_ = {_native.text(raw.attrs[i].text)};" for i, attr in enumerate(block.attrs) if raw.attrs[i].text]
    array = (_host.GradientInput * len(inputs))(*inputs)
    first = raw.add(call, encode(name), encode("".join(texts)), ctypes.cast(array, POINTER(_host.GradientInput)), len(inputs))
    for index in range(raw.input_count):
        if first and raw.wanted[index]:
            raw.set(call, index, raw.output(call, first, index))
    return 0


# ---- runtimes --------------------------------------------------------------------------------------------------------------------------

_blocks: dict[int, HostBlock] = {}  # of runtimes that have not ended, by the number given to them as `user`
_numbers = itertools.count(1)


@_host.EndFunction
def _release(user: int) -> None:
    _blocks.pop(user, None)


def add_both(runtime: Any, block: HostBlock, gradient: Callable) -> None:
    """Adds a block and that of its gradient, or none of them."""
    back = gradient_block(block, gradient)
    try:
        known = json.loads(_native.strings("weft_block_json", runtime, _native.encode(back.name))[0])["block"]
    except Error as error:
        if error.code != "not_found":
            raise
        known = None
    if known == back.name:  # no alias of another
        raise Error([Diagnostic("error", "already_exists", f"the name '{back.name}', of the gradient's block, is taken", block=block.name)])
    add(runtime, block)  # where it is refused, nothing was added
    add(runtime, back)


def add(runtime: Any, block: HostBlock) -> None:
    """Adds a block to a runtime that has loaded no page yet."""
    number = next(_numbers)
    block.struct.release, block.struct.user = _release, number
    _blocks[number] = block
    try:
        _native.call("weft_runtime_add_block", runtime, byref(block.struct))
    except BaseException:
        _blocks.pop(number, None)
        raise


__all__ = ["Attr", "BlockError", "HostBlock", "Input", "Port", "add", "add_both", "gradient_block"]
