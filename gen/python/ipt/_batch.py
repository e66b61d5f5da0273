"""Batches: one ready action of linear algebra on each of very many small matrices."""
from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Dict, Iterable, NamedTuple, Optional, Tuple

import numpy

from ._base import (Context, Progress, check, checked_context, checked_progress, ffi, is_a, lib, listed, shown, text_of)
from ._layout import spans_of
from ._plan import kept, refuse_elements, with_progress


class _Operand(NamedTuple):
    """Of an action: lengths are letters, or "1". access: r, w or b (both)."""
    name: str
    rows: str
    cols: str
    access: str


def _operands_of(text: str) -> Tuple[_Operand, ...]:
    """ipt.h's list, such as "A:nnb info:11w"."""
    return tuple(_Operand(name, *letters) for name, letters in (word.split(":") for word in text.split()))


# Number and operands of each action.
_ACTIONS = {text_of(lib.ipt_action_string(number)): (number, _operands_of(text_of(text)))
            for number, text in enumerate(lib.ipt_py_operands) if number}
_OPTIONS = {"transpose-a": lib.IPT_TRANSPOSE_A, "transpose-b": lib.IPT_TRANSPOSE_B, "conjugate-a": lib.IPT_CONJUGATE_A,
            "conjugate-b": lib.IPT_CONJUGATE_B, "upper": lib.IPT_UPPER, "unit": lib.IPT_UNIT}
_TYPES = {"float32": "float", "float64": "double", "complex64": "float2", "complex128": "double2"}
_SCALED = {"float": "float2", "double": "double2", "float2": "float4", "double2": "double4"}
_ACCESS = {"r": lib.IPT_READ, "w": lib.IPT_WRITE, "b": lib.IPT_READ_WRITE}


class _Batch:
    """The plan of a batch. operands: name, type, rows, cols, access, layout, stride of each."""

    compiles = False  # each driver has the ready actions

    def __init__(self, *, number: int, options: int, count: int, operands: Tuple[Tuple[Any, ...], ...], argument: str,
                 context: Context) -> None:
        array = ffi.new("ipt_batch_operand[]", len(operands))
        texts = []  # C copies them only when the plan is made
        for its, (name, kind, rows, cols, access, layout, stride) in zip(array, operands):
            texts += [ffi.new("char[]", name.encode()), ffi.new("char[]", kind.encode())]
            its.name, its.type = texts[-2:]
            its.rows, its.cols, its.access, its.layout, its.stride = rows, cols, access, layout, stride
        texts.append(ffi.new("char[]", argument.encode()))
        desc = ffi.new("ipt_batch_desc *", {"count": count, "operands": array, "operand_count": len(operands),
                                            "ready": number, "options": options})
        if argument:
            desc.argument_type = texts[-1]
        made = ffi.new("ipt_batch **")
        check(lib.ipt_batch_create(context._open(), desc, made))
        self._batch = ffi.gc(made[0], lib.ipt_py_batch_end)

    def execute(self, arrays: Iterable[Any], argument: Any, progress: Optional[Progress]) -> None:
        memory = ffi.new("void *[]", [ffi.cast("void *", array.__array_interface__["data"][0]) for array in arrays])
        value = ffi.NULL if argument is None else ffi.from_buffer(argument)
        with_progress(progress, lambda options: lib.ipt_batch_execute_host(self._batch, memory, value, options))


def batch(action: str, *, options: Iterable[str] = (), alpha: Optional[complex] = None, beta: Optional[complex] = None,
          context: Optional[Context] = None, progress: Optional[Progress] = None, **operands: Any) -> SimpleNamespace:
    """Runs a ready action on each of many small matrices, in place: batch("posv", A=a, B=b).

    Operands are NumPy arrays of float32, float64, complex64 or complex128, named as in the table of README.md. Their
    last axes are those of a matrix or vector; all axes before them are of the batch, the same for all operands. Written
    operands that are not given are created. Returns all of them by name, such as .B and .info: an element that is
    singular or not positive definite has the number of its first bad pivot in info, else 0.
    options: "transpose-a", "transpose-b", "conjugate-a", "conjugate-b", "upper", "unit". alpha, beta: dot, gemv and gemm
    compute alpha * product + beta * its former value.
    """
    if not is_a(action, str) or action not in _ACTIONS:
        raise ValueError(f"action is {shown(action)}: {', '.join(_ACTIONS)} are possible")
    number, specified = _ACTIONS[action]
    context, progress = checked_context(context), checked_progress(progress)
    flags = _flags(options)
    names = [operand.name for operand in specified]
    for name in operands:
        if name not in names:
            raise TypeError(f"{action} has no operand {name}: its operands are {', '.join(names)}")
    argument, scaled = None, alpha is not None or beta is not None
    swapped = [name for name, flag in (("A", "transpose-a"), ("B", "transpose-b")) if flags & _OPTIONS[flag]]
    specified = tuple(operand._replace(rows=operand.cols, cols=operand.rows) if operand.name in swapped else
                      operand._replace(access="b") if scaled and operand.access == "w" else operand
                      for operand in specified)
    dtype, lead, lengths = _lengths(action, specified, operands)
    kind = _TYPES[dtype.name]
    if scaled:
        argument = numpy.array([1 if alpha is None else alpha, 0 if beta is None else beta], dtype)
    arrays = [operands[operand.name] if operands.get(operand.name) is not None else
              numpy.zeros(lead + tuple(lengths[length] for length in _own(operand)), _dtype(operand, dtype))
              for operand in specified]
    _check_written(action, specified, arrays)
    count = math.prod(lead)
    if count:
        described = tuple(_described(operand, array, lengths, kind, len(lead)) for operand, array in zip(specified, arrays))
        kept(_Batch, context, number=number, options=flags, count=count, operands=described,
             argument=_SCALED[kind] if scaled else "").execute(arrays, argument, progress)
    return SimpleNamespace(**dict(zip(names, arrays)))


def _flags(options: Any) -> int:
    flags = 0
    for option in (options,) if is_a(options, str) else listed(options, "options"):
        if not is_a(option, str) or option not in _OPTIONS:
            raise ValueError(f"options has {shown(option)}: {', '.join(_OPTIONS)} are possible")
        flags |= _OPTIONS[option]
    return flags


def _own(operand: _Operand) -> Tuple[str, ...]:
    """The letters of the axes that an operand has behind those of the batch."""
    return tuple(letter for place, letter in enumerate((operand.rows, operand.cols)) if letter != "1")


def _dtype(operand: _Operand, dtype: Any) -> Any:
    return numpy.dtype(numpy.intc) if operand.name in ("pivots", "info") else dtype


def _lengths(action: str, specified: Tuple[_Operand, ...],
             operands: Dict[str, Any]) -> Tuple[Any, Tuple[int, ...], Dict[str, int]]:
    """The type of the numbers, the shape of the batch, and the length for each letter, from the given operands."""
    dtype, lead, lengths = None, None, {"1": 1}
    for operand in specified:
        name, array = operand.name, operands.get(operand.name)
        if array is None:
            if operand.access == "r" or operand.access == "b":
                raise TypeError(f"{action} needs the operand {name}")
            continue
        if not is_a(array, numpy.ndarray):
            raise TypeError(f"{name} is a {type(array).__name__}: it must be a numpy.ndarray")
        refuse_elements(array, name)
        own = _own(operand)
        if array.ndim < len(own):
            raise ValueError(f"{name} has {array.ndim} axes: it needs {len(own)}, and those of the batch before them")
        dtype = dtype or (array.dtype if _dtype(operand, None) is None else None)
        if array.dtype != _dtype(operand, dtype) or not array.dtype.isnative or array.dtype.name not in (*_TYPES, "int32"):
            raise ValueError(f"{name} has the type {array.dtype}: pivots and info are int32, and all others the same of "
                             f"{', '.join(_TYPES)}")
        if lead is None:
            lead = array.shape[:array.ndim - len(own)]
        if array.shape[:array.ndim - len(own)] != lead:
            raise ValueError(f"{name} has the shape {array.shape}: the axes before the last {len(own)} are those of the "
                             f"batch, {lead}")
        for letter, length in zip(own, array.shape[array.ndim - len(own):]):
            if length < 1 or lengths.setdefault(letter, length) != length:
                raise ValueError(f"{name} has the shape {array.shape}: {lengths.get(letter, 1)} is needed in place of {length}")
    assert dtype is not None and lead is not None  # each action reads an operand
    return dtype, lead, lengths


def _check_written(action: str, specified: Tuple[_Operand, ...], arrays: Any) -> None:
    for place, (operand, array) in enumerate(zip(specified, arrays)):
        if operand.access == "r":
            continue
        if not array.flags.writeable:
            raise ValueError(f"{operand.name} is read-only, and {action} writes it: work on a copy ({operand.name}.copy())")
        if any(numpy.may_share_memory(array, other) for number, other in enumerate(arrays) if number != place):
            raise ValueError(f"{operand.name} shares memory with another operand, and {action} writes it: copy one of them")


def _described(operand: _Operand, array: Any, lengths: Dict[str, int], kind: str, axes: int) -> Tuple[Any, ...]:
    """A row of _Batch's operands. Elements one after the other, or a plane for each component, both with gaps."""
    size, count = array.dtype.itemsize, math.prod(array.shape[:axes])
    elements = spans_of(array.shape[:axes], array.strides[:axes])
    components = spans_of(array.shape[axes:], array.strides[axes:])
    most = math.prod(array.shape[axes:])
    step = elements[0].stride if elements else most * size
    inner = components[0].stride if components else size
    layout = None
    if len(elements) <= 1 and len(components) <= 1 and not (step % size or inner % size) and array.flags.aligned:
        if inner == size and step >= most * size:
            layout, stride = lib.IPT_LAYOUT_ELEMENTS, step // size
        elif step == size and inner >= count * size:
            layout, stride = lib.IPT_LAYOUT_PLANES, inner // size
    if layout is None:
        raise ValueError(f"{operand.name} has the strides {array.strides}: its matrices lie row by row, or its components in "
                         "planes of all matrices, so copy it (numpy.ascontiguousarray)")
    kind = "int" if _dtype(operand, None) is not None else kind
    return operand.name, kind, lengths[operand.rows], lengths[operand.cols], _ACCESS[operand.access], layout, stride
