"""Values: views of results as numpy arrays and DLPack capsules, and numpy arrays as values for the engine."""
from __future__ import annotations

import ctypes
import numbers
from collections.abc import Iterator, Mapping
from ctypes import POINTER, PYFUNCTYPE, byref, c_char_p, c_int64, c_void_p, pythonapi
from typing import Any

import numpy as np

from . import _native
from ._native import lib

# Element types: the name, its number in weft.h, and numpy's type. Quantized types are their integers; bfloat16, which numpy lacks, is seen
# as float32.
_TYPES = {
    "DT_FLOAT": (1, np.float32), "DT_DOUBLE": (2, np.float64), "DT_INT32": (3, np.int32), "DT_UINT8": (4, np.uint8),
    "DT_INT16": (5, np.int16), "DT_INT8": (6, np.int8), "DT_STRING": (7, np.object_), "DT_COMPLEX64": (8, np.complex64),
    "DT_INT64": (9, np.int64), "DT_BOOL": (10, np.bool_), "DT_QINT8": (11, np.int8), "DT_QUINT8": (12, np.uint8),
    "DT_QINT32": (13, np.int32), "DT_BFLOAT16": (14, np.uint16), "DT_QINT16": (15, np.int16), "DT_QUINT16": (16, np.uint16),
    "DT_UINT16": (17, np.uint16), "DT_COMPLEX128": (18, np.complex128), "DT_HALF": (19, np.float16), "DT_RESOURCE": (20, np.object_),
    "DT_UINT32": (22, np.uint32), "DT_UINT64": (23, np.uint64),
}
_NAMES = {number: name for name, (number, _) in _TYPES.items()}
# The type of an array that does not say another: the plain ones.
_FROM_NUMPY = {np.dtype(kind): name for name, (_, kind) in _TYPES.items() if not name.startswith(("DT_Q", "DT_BF", "DT_ST", "DT_RE"))}
_STRING, _RESOURCE, _BFLOAT16 = 7, 20, 14


NUMBERS = tuple(_FROM_NUMPY.values())  # the types that numpy has by the same name


def name_of(number: int) -> str:
    """The name of an element type by its number in weft.h."""
    return _NAMES[number]


def number_of(name: str) -> int:
    """The number in weft.h of an element type by its name."""
    if name not in _TYPES:
        raise ValueError(f"{name!r} is no element type; they are {', '.join(_TYPES)}")
    return _TYPES[name][0]


def numpy_type(number: int) -> type:
    """What an element type is in numpy, by its number in weft.h."""
    return _TYPES[_NAMES[number]][1]


class View:
    """A value of a page, read without a copy. It stays as it is, whatever runs next, and outlives its session.

    `numpy()` and `np.asarray(view)` share the engine's memory and are read-only; `np.from_dlpack(view)` and other DLPack readers do, too.
    Strings are arrays of bytes objects, and bfloat16 comes as float32: these two are copies.
    """

    __slots__ = ("_handle", "_info", "_array", "__weakref__")

    def __init__(self, handle: c_void_p | int):
        self._handle = handle
        self._info = _native.ViewInfo()
        self._array = None
        lib.weft_view_get_info(handle, byref(self._info))

    def __del__(self):
        if getattr(self, "_handle", None) and lib is not None:
            lib.weft_view_release(self._handle)

    @property
    def dtype(self) -> str:
        """The element type as pages write it: "DT_FLOAT"."""
        return _NAMES[self._info.dtype]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._info.shape[: self._info.rank])

    @property
    def generation(self) -> int:
        """The run that computed the value, counted from 1; 0 for variables."""
        return self._info.generation

    @property
    def stale(self) -> bool:
        """Whether the session's last run left it out, behind a Switch."""
        return bool(self._info.stale)

    @property
    def in_progress(self) -> bool:
        """Whether it is of the run that is paused, as far as that has come; else it is a result."""
        return bool(self._info.in_progress)

    @property
    def outdated_page(self) -> bool:
        """Whether it is of an earlier page than the one as it is now, which has faults."""
        return bool(self._info.outdated_page)

    @property
    def address(self) -> int:
        """Where the elements are; 0 for strings, resources and no elements."""
        return self._info.data or 0

    @property
    def __array_interface__(self) -> dict[str, Any]:
        info = self._info
        if not info.data or info.dtype == _BFLOAT16:
            raise AttributeError("this value has no memory that numpy can read")
        return {"version": 3, "shape": self.shape, "typestr": np.dtype(_TYPES[self.dtype][1]).str, "data": (info.data, True)}

    def numpy(self) -> np.ndarray:
        """The value as a read-only array."""
        info = self._info
        if info.dtype == _RESOURCE:
            raise TypeError("a resource handle has no elements that numpy can read")
        if info.dtype == _STRING:
            return self._strings()
        if not info.data:
            return np.empty(self.shape, _TYPES[self.dtype][1] if info.dtype != _BFLOAT16 else np.float32)
        if info.dtype == _BFLOAT16:
            bits = np.ctypeslib.as_array(ctypes.cast(info.data, POINTER(ctypes.c_uint16)), shape=(info.count,))
            return (bits.astype(np.uint32) << 16).view(np.float32).reshape(self.shape)
        return np.asarray(self)

    def _strings(self) -> np.ndarray:
        element, array = _native.Bytes(), np.empty(self._info.count, np.object_)
        for index in range(self._info.count):
            lib.weft_view_string(self._handle, index, byref(element))
            array[index] = ctypes.string_at(element.data, element.size) if element.size else b""
        return array.reshape(self.shape)

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        """A capsule that holds the value by itself; its memory must not be written."""
        tensor = POINTER(_native.DlManagedTensor)()
        _native.call("weft_view_dlpack", self._handle, byref(tensor))
        return _capsule_new(ctypes.cast(tensor, c_void_p), b"dltensor", _end_capsule)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def text(self, limit: int = 100) -> str:
        """The value as a person would write it, cut after `limit` elements."""
        return _native.strings("weft_view_text", self._handle, limit)[0]

    def __repr__(self) -> str:
        return f"<weft.View {self.text(8)}>"


_capsule_new = PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))
_capsule_is = PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", pythonapi))
_capsule_pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))


@PYFUNCTYPE(None, c_void_p)
def _end_capsule(capsule: int) -> None:
    """Ends a capsule that nobody took: who takes one renames it."""
    if _capsule_is(capsule, b"dltensor"):
        tensor = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), POINTER(_native.DlManagedTensor))
        tensor.contents.deleter(tensor)


class _Memory:
    """The memory of a value, as numpy reads it; it holds what the value belongs to."""

    def __init__(self, held: Any, address: int, shape: tuple[int, ...], type_text: str):
        self._held = held
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": type_text, "data": (address, True)}


class _Read:
    """The values of one run, in the engine's memory."""

    def __init__(self, handle: Any):
        self._handle = handle
        self.array, self._count = POINTER(_native.Result)(), ctypes.c_size_t()
        lib.weft_results_all(handle, byref(self.array), byref(self._count))

    def __len__(self) -> int:
        return self._count.value

    def __del__(self):
        if lib is not None:
            lib.weft_results_release(self._handle)

    def view(self, index: int) -> View:
        return View(_native.make("weft_results_view", self._handle, index))


_TYPE_TEXTS = {number: np.dtype(kind).str for number, kind in _TYPES.values() if number not in (_STRING, _RESOURCE, _BFLOAT16)}


class Results(Mapping):
    """The values that a run left, by name ("loss.output"), as numpy arrays. They stay as they are, whatever runs next.

    They are read in one call; an array is made when it is asked for. Handles (of queues, say) have no elements that numpy could hold, and are
    not among them: `handles` names them, and `view` shows them.
    """

    def __init__(self, *handles: Any):
        """Of what weft_session_read_results gave for each session; of several that have a value the first counts."""
        self._index: dict[str, tuple[_Read, int]] = {}
        self._handles: dict[str, tuple[_Read, int]] = {}
        for read in map(_Read, handles):
            for index, result in enumerate(read.array[: len(read)] if len(read) else []):
                if not result.code:
                    found = self._handles if result.dtype == _RESOURCE else self._index
                    found.setdefault(_native.text(result.name), (read, index))

    def __getitem__(self, name: str) -> np.ndarray:
        read, index = self._index[name]
        result = read.array[index]
        type_text = _TYPE_TEXTS.get(result.dtype)
        if type_text is None or not result.data:  # texts, bfloat16, no elements
            return read.view(index).numpy()
        return np.asarray(_Memory(read, result.data, tuple(result.shape[: result.rank]) if result.rank else (), type_text))

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def handles(self) -> list[str]:
        """The names of the handles that the run left."""
        return list(self._handles)

    def view(self, name: str) -> View:
        """The view behind a value or a handle: its type in the page, its run, its text, DLPack."""
        read, index = self._index[name] if name in self._index else self._handles[name]
        return read.view(index)

    def types(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The type and shape of each value, as the run left it."""
        types = {}
        for name, (read, index) in self._index.items():
            result = read.array[index]
            types[name] = (_NAMES[result.dtype], tuple(result.shape[: result.rank]) if result.rank else ())
        return types

    def __repr__(self) -> str:
        return f"<weft.Results {', '.join(self._index)}>"


def as_array(value: Any) -> np.ndarray:
    """What numpy makes of a value; but strings are objects: its own types for them lose zero bytes at their ends."""
    array = np.asarray(value)
    return np.array(value, object) if array.dtype.kind in "SU" and not isinstance(value, np.ndarray) else array


def _plain(array: np.ndarray) -> np.ndarray:
    """Python's numbers as float32, int32 or int64."""
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64 and array.size and -(2**31) <= array.min() and array.max() < 2**31:
        return array.astype(np.int32)
    return array


def _check_objects(array: np.ndarray, needed: tuple[type, ...], what: str) -> None:
    for kind in set(map(type, array.ravel().tolist())):
        if not issubclass(kind, needed):
            raise TypeError(f"{what}, found {kind.__name__}")


def _check_whole(array: np.ndarray, kind: type, dtype: str) -> None:
    """Checks that an integer type, or bool, has all the numbers."""
    low, high = (0, 1) if kind is np.bool_ else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    integers = array.dtype.kind in "iu"
    if integers and (not array.size or (low <= int(array.min()) and int(array.max()) <= high)):
        return  # without arrays of its own
    flat = array.ravel()
    if integers:
        fit = (flat >= low) & (flat <= high)
    else:
        with np.errstate(invalid="ignore"):
            fit = (flat % 1 == 0) & (flat >= low) & (flat < float(high + 1))
    if not fit.all():
        raise ValueError(f"{dtype} needs whole numbers from {low} to {high}, found {flat[~fit][0]}")


def _numbers(array: np.ndarray, dtype: str) -> np.ndarray:
    """An array of numbers as one of types that numpy computes with."""
    if array.dtype.kind == "O":
        _check_objects(array, (numbers.Number, np.bool_), f"{dtype} needs numbers")
    elif array.dtype.kind in "Mm":  # times are counts of their unit
        return array.astype(np.int64)
    elif array.dtype.kind == "V" and not issubclass(array.dtype.type, np.void):  # of other packages: the bfloat16 of JAX, say
        return array.astype(np.float32)
    elif array.dtype.kind not in "biufc":
        raise TypeError(f"{dtype} needs numbers, found numpy's {array.dtype}")
    return array


def _cast(array: np.ndarray, kind: type, dtype: str) -> np.ndarray:
    """Numbers as another type. They may round to a floating type; nothing else of them is lost."""
    array = _numbers(array, dtype)
    to = np.dtype(kind).kind
    if array.dtype.kind == "c" and to != "c":
        raise TypeError(f"{dtype} needs real numbers, found {array.dtype}")
    if to in "biu" and not np.can_cast(array.dtype, kind, "safe"):
        _check_whole(array, kind, dtype)
    return array.astype(kind, copy=False)


def to_array(value: Any, dtype: str | None) -> tuple[np.ndarray, int]:
    """A value as a contiguous array and the number of its type. Python's numbers become float32, int32 or int64, and bool.

    Raises TypeError or ValueError where the type `dtype` does not have the values; floating types round.
    """
    array = as_array(value)
    if dtype is None:
        array = array if isinstance(value, (np.ndarray, np.generic)) else _plain(array)
        dtype = "DT_STRING" if array.dtype.kind in "SUO" else _FROM_NUMPY.get(array.dtype.newbyteorder("="))
        if dtype is None:
            raise TypeError(f"Weft has no element type for numpy's {array.dtype}")
    elif dtype not in _TYPES:
        raise ValueError(f"{dtype!r} is no element type; they are {', '.join(_TYPES)}")
    number, kind = _TYPES[dtype]
    if number == _RESOURCE:
        raise TypeError("a resource handle cannot be given")
    if number == _STRING:
        if array.dtype.kind == "O":
            _check_objects(array, (str, bytes), "strings are str or bytes")
    elif number == _BFLOAT16:
        array = _to_bfloat16(_cast(array, np.float32, dtype))
    else:
        if array.dtype.kind == "f" and np.dtype(kind).kind in "iu" and isinstance(value, (list, tuple)):
            array = np.array(value, object)  # of integers that int64 and uint64 only have together numpy makes floats
        array = _cast(array, kind, dtype)
    return np.require(array, requirements="C"), number


def _to_bfloat16(array: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(array).view(np.uint32).astype(np.uint64)
    rounded = np.where(np.isnan(array), bits | 0x400000, bits + 0x7FFF + ((bits >> 16) & 1))  # ties to even
    return (rounded >> 16).astype(np.uint16).reshape(array.shape)  # which ascontiguousarray changes for a scalar


def to_buffer(array: np.ndarray, number: int) -> tuple[_native.Buffer, Any]:
    """The array as the engine takes it, and what must be kept while that reads it."""
    shape = (c_int64 * array.ndim)(*array.shape)
    if number == _STRING:
        texts = [element if isinstance(element, bytes) else str(element).encode() for element in array.ravel().tolist()]
        elements = (_native.Bytes * len(texts))(*[(ctypes.cast(text, c_void_p), len(text)) for text in texts])
        kept, address, size = (texts, elements), ctypes.cast(elements, c_void_p), ctypes.sizeof(elements)
    else:
        kept, address, size = array, c_void_p(array.ctypes.data), array.nbytes
    return _native.Buffer(dtype=number, rank=array.ndim, shape=shape, data=address, bytes=size), (kept, shape)
