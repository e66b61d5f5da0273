"""Batches: one ready action of linear algebra on each of very many small matrices."""
from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Dict, Iterable, NamedTuple, Optional, Sequence, Tuple

import numpy

from ._base import (Context, Progress, check, checked_context, checked_progress, ffi, is_a, lib, listed, shown, text_of)
from ._cuda import Addressed, together
from ._layout import spans_of
from ._memory import memory_of
from ._plan import NO_PROGRESS, keep_captured, kept, with_progress


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

    def execute(self, addresses: Sequence[int], cuda: bool, stream: int, argument: Any, progress: Optional[Progress]) -> None:
        value = ffi.NULL if argument is None else ffi.from_buffer(argument)
        if not cuda:
            memory = ffi.new("void *[]", [ffi.cast("void *", address) for address in addresses])
            with_progress(progress, lambda options: lib.ipt_batch_execute_host(self._batch, memory, value, options))
            return
        if progress is not None:
            raise ValueError(NO_PROGRESS)
        to = ffi.cast("void *", stream)
        check(lib.ipt_batch_execute_cuda_with(self._batch, ffi.new("unsigned long long[]", addresses), value, to))
        keep_captured(self._batch, to)


def batch(action: str, *, options: Iterable[str] = (), alpha: Optional[complex] = None, beta: Optional[complex] = None,
          context: Optional[Context] = None, progress: Optional[Progress] = None, **operands: Any) -> SimpleNamespace:
    """Runs a ready action on each of many small matrices, in place: batch("posv", A=a, B=b).

    Operands are NumPy arrays, PyTorch tensors or CuPy arrays of float32, float64, complex64 or complex128, named as in the
    table of README.md. On CUDA the work is enqueued on the package's current stream, and nothing waits. Their last axes are those of a matrix or vector; all axes before them are of the batch, the same for all operands. Written
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
    arrays = dict(operands)
    memories = {name: _memory_of(name, array) for name, array in operands.items() if array is not None}
    dtype, lead, lengths = _lengths(action, specified, memories)
    kind = _TYPES[dtype]
    if scaled:
        argument = numpy.array([1 if alpha is None else alpha, 0 if beta is None else beta], dtype)
    for operand in specified:
        if operand.name not in memories:
            shape = lead + tuple(lengths[length] for length in _own(operand))
            arrays[operand.name] = next(iter(memories.values())).zeros(shape, _dtype(operand, dtype))
            memories[operand.name] = _memory_of(operand.name, arrays[operand.name])
    placed = [memories[operand.name] for operand in specified]
    _check_written(action, specified, placed)
    device, stream = together(placed)
    count = math.prod(lead)
    if count:
        described = tuple(_described(operand, its, lengths, kind, len(lead)) for operand, its in zip(specified, placed))
        plan = kept(_Batch, context or placed[0].context(), number=number, options=flags, count=count, operands=described,
                    argument=_SCALED[kind] if scaled else "")
        try:
            plan.execute([its.first for its in placed], device is not None, stream, argument, progress)
        finally:
            for operand, its in zip(specified, placed):
                if operand.access != "r":
                    its.changed()
    return SimpleNamespace(**{name: arrays[name] for name in names})


def _memory_of(name: str, array: Any) -> Addressed:
    try:
        memory = memory_of(array, writes=False)
    except (TypeError, ValueError) as error:
        raise (TypeError if is_a(error, TypeError) else ValueError)(f"{name}: {error}") from error
    if not is_a(memory, Addressed):
        raise TypeError(f"{name} is a {type(array).__name__}: it must be a NumPy array, or a tensor of the host or CUDA that "
                        "no graph traces")
    return memory  # type: ignore[return-value]


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
    return "int32" if operand.name in ("pivots", "info") else dtype


def _lengths(action: str, specified: Tuple[_Operand, ...],
             operands: Dict[str, Addressed]) -> Tuple[str, Tuple[int, ...], Dict[str, int]]:
    """The type of the numbers, the shape of the batch, and the length for each letter, from the given operands."""
    dtype, lead, lengths = None, None, {"1": 1}
    for operand in specified:
        name, array = operand.name, operands.get(operand.name)
        if array is None:
            if operand.access == "r" or operand.access == "b":
                raise TypeError(f"{action} needs the operand {name}")
            continue
        own = _own(operand)
        if len(array.shape) < len(own):
            raise ValueError(f"{name} has {len(array.shape)} axes: it needs {len(own)}, and those of the batch before them")
        dtype = dtype or (array.dtype if _dtype(operand, None) is None else None)
        if array.dtype != _dtype(operand, dtype) or array.dtype not in (*_TYPES, "int32"):
            raise ValueError(f"{name} has the type {array.dtype}: pivots and info are int32, and all others the same of "
                             f"{', '.join(_TYPES)}")
        rank = len(array.shape) - len(own)
        if lead is None:
            lead = array.shape[:rank]
        if array.shape[:rank] != lead:
            raise ValueError(f"{name} has the shape {array.shape}: the axes before the last {len(own)} are those of the "
                             f"batch, {lead}")
        for letter, length in zip(own, array.shape[rank:]):
            if length < 1 or lengths.setdefault(letter, length) != length:
                raise ValueError(f"{name} has the shape {array.shape}: {lengths.get(letter, 1)} is needed in place of {length}")
    assert dtype is not None and lead is not None  # each action reads an operand
    return dtype, lead, lengths


def _check_written(action: str, specified: Tuple[_Operand, ...], arrays: Any) -> None:
    for place, (operand, array) in enumerate(zip(specified, arrays)):
        if operand.access == "r":
            continue
        if array.readonly:
            raise ValueError(f"{operand.name} is read-only, and {action} writes it: work on a copy ({operand.name}.copy())")
        if any(_meet(array, other) for number, other in enumerate(arrays) if number != place):
            raise ValueError(f"{operand.name} shares memory with another operand, and {action} writes it: copy one of them")


def _meet(a: Addressed, b: Addressed) -> bool:
    """Whether the bytes from the first to the last element of two arrays overlap."""
    ends = [its.first + its.itemsize + sum(abs(stride) * (length - 1) for length, stride in zip(its.shape, its.strides))
            for its in (a, b)]
    return 0 not in a.shape and 0 not in b.shape and a.first < ends[1] and b.first < ends[0]


def _described(operand: _Operand, array: Addressed, lengths: Dict[str, int], kind: str, axes: int) -> Tuple[Any, ...]:
    """A row of _Batch's operands. Elements one after the other, or a plane for each component, both with gaps."""
    size, count = array.itemsize, math.prod(array.shape[:axes])
    elements = spans_of(array.shape[:axes], array.strides[:axes])
    components = spans_of(array.shape[axes:], array.strides[axes:])
    most = math.prod(array.shape[axes:])
    step = elements[0].stride if elements else most * size
    inner = components[0].stride if components else size
    layout = None
    if len(elements) <= 1 and len(components) <= 1 and not (step % size or inner % size or array.first % numpy.dtype(array.dtype).alignment):
        if inner == size and step >= most * size:
            layout, stride = lib.IPT_LAYOUT_ELEMENTS, step // size
        elif step == size and inner >= count * size:
            layout, stride = lib.IPT_LAYOUT_PLANES, inner // size
    if layout is None:
        raise ValueError(f"{operand.name} has the strides {array.strides}: its matrices lie row by row, or its components in "
                         "planes of all matrices, so copy it (numpy.ascontiguousarray)")
    kind = "int" if _dtype(operand, None) is not None else kind
    return operand.name, kind, lengths[operand.rows], lengths[operand.cols], _ACCESS[operand.access], layout, stride
