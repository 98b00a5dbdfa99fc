"""The part of weft.h that a host's blocks are declared by and called through. Not for users."""
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

from . import _native

SINGLE, LIST, TUPLE = range(3)
STATEFUL, ELEMENTWISE, NOT_DIFFERENTIABLE, INTERNAL_BLOCK = 1, 2, 4, 8
VERDICTS = ("passed", "failed", "skipped")


class Port(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("list", c_int32), ("list_attr", c_char_p), ("doc", c_char_p)]


class Attr(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("default_text", c_char_p), ("allowed", c_char_p), ("minimum", POINTER(c_int64)),
                ("doc", c_char_p)]


class TypeAttr(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtypes", POINTER(c_int32)), ("dtype_count", c_size_t)]


class Value(ctypes.Structure):
    _fields_ = [("dtype", c_int32), ("rank", c_int32), ("shape", POINTER(c_int64)), ("count", c_int64), ("data", c_void_p)]


class AttrValue(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("number", c_int64), ("real", c_double), ("string", c_char_p),
                ("list", POINTER(c_int64)), ("reals", POINTER(c_double)), ("list_count", c_size_t)]


class PlanCall(ctypes.Structure):
    pass


class RunCall(ctypes.Structure):
    pass


class GradientCall(ctypes.Structure):
    pass


class GradientInput(ctypes.Structure):
    _fields_ = [("port", c_char_p), ("values", POINTER(c_int64)), ("count", c_size_t)]


def _fail(call: type) -> type:
    return CFUNCTYPE(c_int32, POINTER(call), c_int32, c_char_p, c_char_p, c_char_p)


def _set_shape(call: type) -> type:
    return CFUNCTYPE(c_int32, POINTER(call), c_size_t, c_int32, POINTER(c_int64))


PlanCall._fields_ = [
    ("size", c_uint32), ("reserved", c_uint32), ("inputs", POINTER(Value)), ("outputs", POINTER(Value)), ("input_count", c_size_t),
    ("output_count", c_size_t), ("input_first", POINTER(c_uint32)), ("output_first", POINTER(c_uint32)), ("attrs", POINTER(AttrValue)),
    ("attr_count", c_size_t), ("set_shape", _set_shape(PlanCall)), ("set_scratch", CFUNCTYPE(c_int32, POINTER(PlanCall), c_int64)),
    ("fail", _fail(PlanCall)), ("engine", c_void_p), ("set_unknown", _set_shape(PlanCall))]
RunCall._fields_ = [
    ("size", c_uint32), ("reserved", c_uint32), ("inputs", POINTER(Value)), ("outputs", POINTER(Value)), ("input_count", c_size_t),
    ("output_count", c_size_t), ("input_first", POINTER(c_uint32)), ("output_first", POINTER(c_uint32)), ("scratch", c_void_p),
    ("scratch_bytes", c_int64), ("parallel", c_void_p), ("cancelled", CFUNCTYPE(c_int32, POINTER(RunCall))),
    ("get_string", CFUNCTYPE(c_int32, POINTER(RunCall), c_size_t, c_int64, POINTER(c_void_p), POINTER(c_size_t))),
    ("set_string", CFUNCTYPE(c_int32, POINTER(RunCall), c_size_t, c_int64, c_char_p, c_size_t)), ("fail", _fail(RunCall)),
    ("engine", c_void_p), ("set_output", CFUNCTYPE(c_int32, POINTER(RunCall), c_size_t, c_int32, POINTER(c_int64), POINTER(c_void_p)))]
GradientCall._fields_ = [
    ("size", c_uint32), ("reserved", c_uint32), ("inputs", POINTER(c_int64)), ("outputs", POINTER(c_int64)),
    ("gradients", POINTER(c_int64)), ("wanted", POINTER(c_uint8)), ("input_dtypes", POINTER(c_int32)), ("output_dtypes", POINTER(c_int32)),
    ("input_count", c_size_t), ("output_count", c_size_t), ("input_first", POINTER(c_uint32)), ("output_first", POINTER(c_uint32)),
    ("attrs", POINTER(AttrValue)), ("attr_count", c_size_t),
    ("add", CFUNCTYPE(c_int64, POINTER(GradientCall), c_char_p, c_char_p, POINTER(GradientInput), c_size_t)),
    ("output", CFUNCTYPE(c_int64, POINTER(GradientCall), c_int64, c_size_t)),
    ("constant", CFUNCTYPE(c_int64, POINTER(GradientCall), POINTER(_native.Buffer))),
    ("scalar", CFUNCTYPE(c_int64, POINTER(GradientCall), c_int64, c_double)),
    ("set", CFUNCTYPE(c_int32, POINTER(GradientCall), c_size_t, c_int64)),
    ("fail", CFUNCTYPE(c_int32, POINTER(GradientCall), c_int32, c_char_p, c_char_p)), ("engine", c_void_p)]

PlanFunction = CFUNCTYPE(c_int32, c_void_p, POINTER(PlanCall), POINTER(c_void_p))
RunFunction = CFUNCTYPE(c_int32, c_void_p, c_void_p, POINTER(RunCall))
GradientFunction = CFUNCTYPE(c_int32, c_void_p, POINTER(GradientCall))
FreeFunction = CFUNCTYPE(None, c_void_p, c_void_p)
EndFunction = CFUNCTYPE(None, c_void_p)


class Block(_native.Sized):
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("name", c_char_p), ("category", c_char_p), ("summary", c_char_p), ("details", c_char_p),
        ("aliases", POINTER(c_char_p)), ("alias_count", c_size_t), ("inputs", POINTER(Port)), ("input_count", c_size_t),
        ("outputs", POINTER(Port)), ("output_count", c_size_t), ("attrs", POINTER(Attr)), ("attr_count", c_size_t),
        ("types", POINTER(TypeAttr)), ("type_count", c_size_t), ("shaped_by", POINTER(c_int32)), ("shaped_by_count", c_size_t),
        ("plan", PlanFunction), ("run", RunFunction), ("free_parameters", FreeFunction), ("release", EndFunction), ("user", c_void_p),
        ("gradient", GradientFunction)]


class Case(_native.Sized):
    _fields_ = [("size", c_uint32), ("verdict", c_int32), ("file", c_char_p), ("pointer", c_char_p), ("name", c_char_p),
                ("block", c_char_p), ("message", c_char_p)]


ReportFunction = CFUNCTYPE(None, c_void_p, POINTER(Case))


class TestOptions(_native.Sized):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("blocks", POINTER(c_char_p)), ("block_count", c_size_t),
                ("report", ReportFunction), ("user", c_void_p), ("deadline_ns", c_int64)]


class TestTotals(_native.Sized):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("passed", c_uint64), ("failed", c_uint64), ("skipped", c_uint64)]


STRUCTS = {"weft_port": Port, "weft_attr": Attr, "weft_type_attr": TypeAttr, "weft_value": Value, "weft_attr_value": AttrValue,
           "weft_plan_call": PlanCall, "weft_run_call": RunCall, "weft_gradient_call": GradientCall, "weft_gradient_input": GradientInput,
           "weft_block": Block, "weft_case": Case, "weft_test_options": TestOptions, "weft_test_totals": TestTotals}

_native.add_functions({
    "weft_runtime_add_block": (c_void_p, POINTER(Block)),
    "weft_runtime_add_library": (c_void_p, c_char_p),
    "weft_runtime_cancel_tests": (c_void_p,),
    "weft_runtime_test": (c_void_p, c_char_p, POINTER(TestOptions), POINTER(TestTotals)),
})
