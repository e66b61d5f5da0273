"""Plans: the permutation of arrays of one shape."""
from __future__ import annotations

import math
import re
import sys
import threading
from collections import OrderedDict
from typing import Any, Dict, Iterable, Optional, Sequence, Tuple

import numpy

from ._base import (LARGEST, Context, Error, Progress, check, checked_axes, checked_context, checked_progress, context_for,
                    enter, ffi, handle, integer, is_a, lib, listed, shown, text, text_of)

_KEPT_PLANS = 64
_captured: list = []  # C plans whose workspace a graph of CUDA uses
_MOST_EVENTS = 65536
_PLACE = re.compile(r"\b(?:b|j|i\d?)\b")  # the names of places in an expression, and perhaps others

# Each move: are the axes swapped, is the result's first axis reversed, is its second. Rotations are clockwise.
MOVES = {"transpose": (True, False, False), "rotate-90": (True, False, True), "rotate-180": (False, True, True),
         "rotate-270": (True, True, False), "flip-horizontal": (False, False, True),
         "flip-vertical": (False, True, False), "antitranspose": (True, True, True)}
_MOVE_NUMBERS = {text_of(lib.ipt_move_string(number)): number for number in range(len(MOVES))}


def checked_move(move: Any) -> str:
    if not is_a(move, str) or move not in MOVES:
        raise ValueError(f"move is {shown(move)}: {', '.join(MOVES)} are possible")
    return move


@ffi.def_extern(name="ipt_progress", error=1, onerror=lambda kind, exception, trace: _keep(exception, trace))
def _on_progress(done: int, total: int, user: Any) -> int:
    call = ffi.from_handle(user)
    call["ended"] = call["progress"](done, total) is False
    return call["ended"]


def _keep(exception: Any, trace: Any) -> None:
    """Keeps the callback's exception for the end of the call. Ctrl-C may raise it in the first line of _on_progress
    already, where no try would see it."""
    ffi.from_handle(trace.tb_frame.f_locals["user"])["exception"] = exception


def with_progress(progress: Optional[Progress], call: Any) -> None:
    """Calls call(options) with ipt_host_options that report to progress, and raises what failed there or in C."""
    if progress is None:
        return check(call(ffi.NULL))
    state: Dict[str, Any] = {"progress": progress, "exception": None, "ended": False}
    user = ffi.new_handle(state)
    result = call(ffi.new("ipt_host_options *", {"progress": lib.ipt_progress, "user": user}))
    failure = Error(result) if result else None
    exception = state["exception"]
    if exception is None and result == lib.IPT_ERROR_CANCELLED and not state["ended"]:
        exception = KeyboardInterrupt()  # a second Ctrl-C came while the first was being kept
    if exception is not None:
        raise exception from failure
    if failure is not None:
        raise failure


class Plan:
    """The permutation of arrays of one shape, ready to be executed any number of times.

    shape, axes: as numpy.transpose takes them; without axes all are reversed. itemsize: bytes of an element. batch:
    arrays, batch_stride bytes apart (0: one after the other). max_workspace: bytes of device memory beside the arrays.
    max_device_memory: larger host arrays go in pieces. expression, expression_type: OpenCL C for the new value of each
    element x, such as "x * x" of "float". i0, i1 and so on (i, j) are the places of x along the axes of the result, b is
    the number of the array in the batch. measure: time the best few plans on the device.
    Instead of axes, a matrix may have a move: one of "transpose", "rotate-90" (clockwise), "rotate-180", "rotate-270",
    "flip-horizontal", "flip-vertical", "antitranspose". Its rows may have gaps: row_pitch bytes from one to the next
    before, and row_pitch_out after.
    """

    compiles = False  # unless it has an expression
    context: Any = None
    _plan: Any = None

    def __init__(self, shape: Sequence[int], itemsize: int, axes: Optional[Sequence[int]] = None, *,
                 move: Optional[str] = None, context: Optional[Context] = None, batch: int = 1, batch_stride: int = 0,
                 row_pitch: int = 0, row_pitch_out: int = 0, max_workspace: int = 0, max_device_memory: int = 0,
                 expression: Optional[str] = None, expression_type: Optional[str] = None,
                 measure: bool = False) -> None:
        self.shape = tuple(integer(length, f"shape[{place}]", 1) for place, length in enumerate(listed(shape, "shape")))
        if not self.shape:
            raise ValueError("shape is (): an array has at least one axis")
        context = checked_context(context)
        desc = ffi.new("ipt_plan_desc *")
        desc.elem_size = integer(itemsize, "itemsize", 1)
        desc.batch = integer(batch, "batch", 1)
        desc.batch_stride = integer(batch_stride, "batch_stride")
        desc.row_pitch = integer(row_pitch, "row_pitch")
        desc.row_pitch_out = integer(row_pitch_out, "row_pitch_out")
        desc.max_workspace = integer(max_workspace, "max_workspace")
        desc.max_device_memory = integer(max_device_memory, "max_device_memory")
        desc.flags = lib.IPT_MEASURE if measure else 0
        kept = [text(expression, "expression"), text(expression_type, "expression_type")]
        desc.expression, desc.expression_type = kept
        if move is None and not desc.row_pitch and not desc.row_pitch_out:
            self._fill_array(desc, checked_axes(axes, len(self.shape)), bool(_PLACE.search(expression or "")))
        else:
            self._fill_matrix(desc, axes, checked_move("transpose" if move is None else move))
        self.context = context if context is not None else context_for(compiles=expression is not None)
        made = ffi.new("ipt_plan **")
        check(lib.ipt_plan_create(self.context._open(), desc, made))
        # Released with the last reference, also of a call that another thread is in.
        self._plan = ffi.gc(made[0], lib.ipt_py_plan_end)

    def _fill_array(self, desc: Any, axes: Tuple[int, ...], named: bool) -> None:
        """named: the expression may name places along the axes, so they stay as they are."""
        self.result_shape = tuple(self.shape[axis] for axis in axes)
        self._fill_size(desc, math.prod(self.shape) * desc.elem_size)
        lengths, order = (self.shape, axes) if named else _joined(self.shape, axes)
        if len(lengths) > lib.IPT_MAX_RANK:
            raise ValueError(f"shape is {self.shape}: at most {lib.IPT_MAX_RANK} groups of axes can change places")
        desc.rank = len(lengths)
        desc.shape[0:len(lengths)] = lengths
        desc.axes[0:len(order)] = order

    def _fill_matrix(self, desc: Any, axes: Any, move: str) -> None:
        if axes is not None or len(self.shape) != 2:
            raise ValueError(f"shape is {self.shape} and axes is {shown(axes)}: a move or a row_pitch needs a matrix, so "
                             "two axes, and no axes=")
        rows, cols = self.shape
        self.result_shape = (cols, rows) if MOVES[move][0] else (rows, cols)
        # Bytes from the first row's beginning to the last one's end, before and after.
        before, after = ((shape[0] - 1) * (pitch or shape[1] * desc.elem_size) + shape[1] * desc.elem_size
                         for shape, pitch in ((self.shape, desc.row_pitch), (self.result_shape, desc.row_pitch_out)))
        stride = max(shape[0] * (pitch or shape[1] * desc.elem_size) for shape, pitch in
                     ((self.shape, desc.row_pitch), (self.result_shape, desc.row_pitch_out)))
        self._fill_size(desc, max(before, after), stride)
        desc.rows, desc.cols, desc.move = rows, cols, _MOVE_NUMBERS[move]

    def _fill_size(self, desc: Any, extent: int, stride: int = 0) -> None:
        """nbytes: from the first byte of the first array to the last byte of the last one."""
        self.nbytes = (desc.batch - 1) * (desc.batch_stride or stride or extent) + extent
        if self.nbytes > LARGEST:
            raise ValueError(f"shape is {self.shape}: the arrays have more than {LARGEST} bytes")

    def _open(self) -> Any:
        if self.context is None or not self.context._native:
            enter()
        if self._plan is None:
            raise ValueError("the plan is closed: create another one")
        return self._plan

    @property
    def workspace(self) -> int:
        """Bytes of device memory that the plan holds beside the arrays."""
        return int(lib.ipt_plan_workspace(self._open()))

    def describe(self) -> str:
        """The plan's passes and stages, in lines of text."""
        plan = self._open()
        return text_of(lib.ipt_plan_describe(plan))

    def execute(self, memory: Any, progress: Optional[Progress] = None, *, out: Any = None) -> None:
        """Permutes arrays in memory of nbytes contiguous bytes: anything with a writable buffer, and tensors, also those on
        CUDA. Work on CUDA's memory is enqueued on the package's current stream. There, out= is another array that gets the
        result, and memory stays.

        progress(done, total) is called with bytes on the way. If it returns False, the execution ends: then the array is
        unchanged, or the error says that it is not. An exception of progress, Ctrl-C included, ends it as well and is
        raised. Its __cause__ is ipt's error then, or None if the work was complete.
        """
        progress = checked_progress(progress)
        refuse_elements(memory, "memory")
        if not is_a(memory, numpy.ndarray) and (hasattr(memory, "__dlpack__") or hasattr(memory, "__cuda_array_interface__")):
            self._execute_tensors(memory, out, progress)
            return
        if out is not None:
            raise ValueError(_NO_OUT)
        if is_a(memory, numpy.ndarray):  # its buffer may lack a format: that of dates, say
            flat = numpy.ndarray.reshape(memory.view(numpy.ndarray), -1, order="A")
            if memory.size and not numpy.may_share_memory(flat, memory):
                raise ValueError(_NOT_CONTIGUOUS)
            memory = flat.view(numpy.uint8)
        with _buffer_of(memory) as view:
            if view.readonly:
                raise ValueError("memory is read-only: the plan works in place, so it needs a writable buffer")
            if not view.contiguous:
                raise ValueError(_NOT_CONTIGUOUS)
            if "O" in re.sub(":[^:]*:", "", view.format):
                raise ValueError("memory has Python objects: ipt moves numbers and records")
            if view.nbytes != self.nbytes:
                raise ValueError(f"memory has {view.nbytes} bytes, and the plan's arrays have {self.nbytes}")
            # Released before an exception leaves: a traceback that kept it would end in a crash of CPython's collector.
            with ffi.from_buffer(view, require_writable=True) as data:
                self._execute(data, progress)

    def _execute(self, data: Any, progress: Optional[Progress]) -> None:
        """The caller keeps the memory at data, nbytes bytes, alive and in its place."""
        plan = self._open()
        with_progress(progress, lambda options: lib.ipt_plan_execute_host_with(plan, data, options))

    def _execute_tensors(self, memory: Any, out: Any, progress: Optional[Progress]) -> None:
        from ._layout import is_dense  # these need this module
        from ._memory import Addressed, memory_of, together
        memories = [memory_of(tensor) for tensor in (memory, out) if tensor is not None]
        for its in memories:
            if not is_a(its, Addressed):
                raise TypeError(f"memory is a {type(memory).__name__}: enqueue takes OpenCL's buffers")
            if not is_dense(its.shape, its.strides, its.itemsize):
                raise ValueError(_NOT_CONTIGUOUS)
            nbytes = math.prod(its.shape) * its.itemsize
            if nbytes != self.nbytes:
                raise ValueError(f"memory has {nbytes} bytes, and the plan's arrays have {self.nbytes}")
        if out is None:
            memories[0].execute(self, progress)
            return
        device, stream = together(memories)
        if device is None:
            raise ValueError(_NO_OUT)
        self._enqueue(memories[0].first, memories[1].first, stream, progress)
        memories[1].changed()

    def _enqueue(self, source: int, target: Optional[int], stream: int, progress: Optional[Progress]) -> None:
        """On a stream of CUDA, in place unless there is a target."""
        if progress is not None:
            raise ValueError(NO_PROGRESS)
        plan, to = self._open(), ffi.cast("void *", stream)
        if target is None:
            check(lib.ipt_plan_execute_cuda(plan, source, to))
        else:
            check(lib.ipt_plan_execute_cuda_out_of_place(plan, source, target, to))
        keep_captured(plan, to)

    def enqueue(self, queue: Any, buffer: Any, offset: int = 0, wait_for: Optional[Iterable[Any]] = None) -> Any:
        """Enqueues the plan for a pyopencl buffer on a pyopencl queue. Returns the pyopencl event of its end."""
        queue_handle, buffer_handle = handle(queue, "CommandQueue", "queue"), handle(buffer, "MemoryObjectHolder", "buffer")
        offset = integer(offset, "offset")
        events = listed(() if wait_for is None else wait_for, "wait_for", _MOST_EVENTS)
        handles = [handle(event, "Event", f"wait_for[{place}]") for place, event in enumerate(events)]
        event = ffi.new("cl_event *")
        plan = self._open()
        check(lib.ipt_plan_execute(plan, queue_handle, buffer_handle, offset, len(events),
                                   ffi.new("cl_event[]", handles) if events else ffi.NULL, event))
        cl = sys.modules["pyopencl"]  # the queue is from there
        if event[0] == ffi.NULL:  # nothing was to be moved
            return cl.enqueue_marker(queue, wait_for=list(events))
        return cl.Event.from_int_ptr(int(ffi.cast("intptr_t", event[0])), retain=False)

    def close(self) -> None:
        """Releases the plan."""
        self._plan = None

    def __enter__(self) -> "Plan":
        self._open()
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()


NO_PROGRESS = "progress: work on CUDA's memory is enqueued at once, so there is none to report"
_NO_OUT = "out is for CUDA's memory: NumPy writes other host arrays, as in out[:] = array.transpose(axes)"
_NOT_CONTIGUOUS = "memory is not contiguous: copy it first, for example with numpy.ascontiguousarray"


def keep_captured(plan: Any, stream: Any) -> None:
    """A graph may be launched as long as the process lives, so the plans that it has captured stay."""
    if lib.ipt_py_cuda_captures(stream) and plan not in _captured:
        _captured.append(plan)


def _buffer_of(memory: Any) -> memoryview:
    try:
        return memoryview(memory)
    except TypeError:
        raise TypeError(f"memory is a {type(memory).__name__}: it must have a writable buffer, as numpy.ndarray and "
                        "bytearray have") from None


def refuse_elements(array: Any, name: str) -> None:
    """Refuses NumPy arrays whose memory is not all of their elements."""
    if is_a(array, numpy.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array: ipt would move its data and leave its mask, so pass {name}.data and "
                         f"{name}.mask one after the other")
    if is_a(array, numpy.ndarray) and array.dtype.hasobject:
        raise ValueError(f"{name} has Python objects: ipt moves numbers and records")


def _joined(shape: Sequence[int], axes: Sequence[int]) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
    """Leaves out axes of one element, and joins those that stay together. At least one axis remains."""
    groups: list = []  # of the result: lists of axes that follow one another in the source
    present = [axis for axis in range(len(shape)) if shape[axis] != 1]
    place = {axis: number for number, axis in enumerate(present)}
    for axis in (axis for axis in axes if axis in place):
        if groups and place[axis] == place[groups[-1][-1]] + 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if not groups:
        return (1,), (0,)
    source = sorted(groups)
    lengths = tuple(math.prod(shape[axis] for axis in group) for group in source)
    return lengths, tuple(source.index(group) for group in groups)


_kept: "OrderedDict[Any, Any]" = OrderedDict()
_kept_lock = threading.Lock()


def kept(kind: Any, context: Optional[Context], *arguments: Any, **options: Any) -> Any:
    """kind(*arguments, context=context, **options) of an earlier call, or a new one. The last 64 are kept."""
    if context is None:
        context = context_for(compiles=kind.compiles or options.get("expression") is not None)
    context._open()
    key = (kind, context, arguments, tuple(sorted(options.items())))
    with _kept_lock:
        plan = _kept.pop(key, None)
        if plan is not None:
            _kept[key] = plan
            return plan
    plan = kind(*arguments, context=context, **options)
    with _kept_lock:
        _kept[key] = plan
        while len(_kept) > _KEPT_PLANS:
            _kept.popitem(last=False)
    return plan
