"""In-place transposition on OpenCL devices.

transpose, permute and asorder change the order of an array's elements in its own memory. They return the array with its
new shape or order: a view of the same memory. NumPy arrays, pyopencl arrays and objects with __dlpack__ are taken alike.
"""
from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any, Callable, Iterable, Optional, Sequence, Tuple

import numpy

from . import _ipt  # type: ignore[attr-defined]

__all__ = ["Context", "Error", "Plan", "Tensor", "asorder", "permute", "transpose", "version"]

_lib, _ffi = _ipt.lib, _ipt.ffi
Progress = Callable[[int, int], Any]
_KEPT_PLANS = 64


def _text(pointer: Any) -> str:
    return _ffi.string(pointer).decode("utf-8", "replace")


def _version() -> str:
    number = _lib.ipt_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


version = _version()
__version__ = version


class Error(RuntimeError):
    """A failure of ipt. Its text is ipt's sentence; `kind` is the result's, such as 'out of host or device memory'."""

    def __init__(self, result: int) -> None:
        self.result = int(result)
        self.kind = _text(_lib.ipt_result_string(result))
        super().__init__(_text(_lib.ipt_context_error(_ffi.NULL)) or self.kind)


def _check(result: int) -> None:
    if result:
        raise Error(result)


class Context:
    """A device with its compiled programs. Threads may share it.

    device: a part of the device's or platform's name; by default the environment's IPT_DEVICE, else a GPU, else any.
    cache: the folder of compiled programs, "" for none. cl_context, cl_device: pyopencl objects to work with.
    """

    def __init__(self, device: Optional[str] = None, *, cache: Optional[str] = None, cl_context: Any = None,
                 cl_device: Any = None) -> None:
        self._context = None
        desc = _ffi.new("ipt_context_desc *")
        name = _ffi.new("char[]", device.encode()) if device is not None else _ffi.NULL
        folder = _ffi.new("char[]", cache.encode()) if cache is not None else _ffi.NULL
        desc.device_name, desc.cache_dir = name, folder
        if cl_context is not None:
            cl_device = cl_device if cl_device is not None else cl_context.devices[0]
            desc.context = _ffi.cast("cl_context", cl_context.int_ptr)
        if cl_device is not None:
            desc.device = _ffi.cast("cl_device_id", cl_device.int_ptr)
        made = _ffi.new("ipt_context **")
        _check(_lib.ipt_context_create(desc, made))
        self._context = made[0]

    def _open(self) -> Any:
        if self._context is None:
            raise ValueError("the context is closed: create another one")
        return self._context

    @property
    def device(self) -> str:
        """Lines of text: the device's name, platform, version and memory."""
        text = _ffi.new("char[]", 4096)
        _check(_lib.ipt_device_describe(_lib.ipt_context_cl_device(self._open()), text, 4096))
        return _text(text)

    def wisdom(self) -> str:
        """The measured choices of all plans with measure=True, as text for import_wisdom."""
        capacity, needed = 4096, _ffi.new("size_t *")
        while True:  # other threads may measure more meanwhile
            text = _ffi.new("char[]", capacity)
            result = _lib.ipt_wisdom_export(self._open(), text, capacity, needed)
            if not result or needed[0] <= capacity:
                _check(result)
                return _text(text)
            capacity = needed[0]

    def import_wisdom(self, text: str) -> None:
        """Adds wisdom: later plans of these shapes use it."""
        _check(_lib.ipt_wisdom_import(self._open(), text.encode()))

    def close(self) -> None:
        """Releases the context. Plans keep what they need of it."""
        context, self._context = self._context, None
        if context is not None:
            _lib.ipt_context_destroy(context)

    def __enter__(self) -> "Context":
        self._open()
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_context", None) is not None:
            self.close()


_shared_lock = threading.Lock()
_shared: Optional[Context] = None


def _shared_context() -> Context:
    """The context of calls that name none. It lives as long as the process."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Context()
        return _shared


@_ffi.def_extern(name="ipt_progress", error=1)
def _on_progress(done: int, total: int, user: Any) -> int:
    call = _ffi.from_handle(user)
    try:
        return 1 if call["progress"](done, total) is False else 0
    except BaseException as exception:  # carried over the C functions, and raised after them
        call["exception"] = exception
        return 1


class Plan:
    """The permutation of arrays of one shape, ready to be executed any number of times.

    shape, axes: as numpy.transpose takes them; without axes all are reversed. itemsize: bytes of an element. batch:
    arrays, one after the other. max_workspace: bytes of device memory beside the arrays. max_device_memory: larger host
    arrays go in pieces. expression, expression_type: OpenCL C for the new value of each element x, such as "x * x" of
    "float". measure: time the best few plans on the device.
    """

    def __init__(self, shape: Sequence[int], itemsize: int, axes: Optional[Sequence[int]] = None, *,
                 context: Optional[Context] = None, batch: int = 1, max_workspace: int = 0, max_device_memory: int = 0,
                 expression: Optional[str] = None, expression_type: Optional[str] = None,
                 measure: bool = False) -> None:
        self._plan = None
        shape = tuple(int(length) for length in shape)
        axes = _checked_axes(axes, len(shape))
        if not shape or min(shape) < 1:
            raise ValueError(f"shape is {shape}: each axis has at least one element, and an array at least one axis")
        lengths, order = _joined(shape, axes)
        if len(lengths) > _lib.IPT_MAX_RANK:
            raise ValueError(f"shape is {shape}: at most {_lib.IPT_MAX_RANK} groups of axes can change places")
        desc = _ffi.new("ipt_plan_desc *")
        desc.rank = len(lengths)
        desc.shape[0:len(lengths)] = lengths
        desc.axes[0:len(order)] = order
        desc.elem_size = itemsize
        desc.batch = batch
        desc.max_workspace = max_workspace
        desc.max_device_memory = max_device_memory
        desc.flags = _lib.IPT_MEASURE if measure else 0
        kept = [_ffi.new("char[]", text.encode()) if text is not None else _ffi.NULL
                for text in (expression, expression_type)]
        desc.expression, desc.expression_type = kept
        self.shape = shape
        self.result_shape = tuple(shape[axis] for axis in axes)
        self.nbytes = int(numpy.prod(shape, dtype=object)) * itemsize * batch
        self.context = context if context is not None else _shared_context()
        made = _ffi.new("ipt_plan **")
        _check(_lib.ipt_plan_create(self.context._open(), desc, made))
        self._plan = made[0]

    def _open(self) -> Any:
        if self._plan is None:
            raise ValueError("the plan is closed: create another one")
        return self._plan

    @property
    def workspace(self) -> int:
        """Bytes of device memory that the plan holds beside the arrays."""
        return int(_lib.ipt_plan_workspace(self._open()))

    def describe(self) -> str:
        """The plan's passes and stages, in lines of text."""
        return _text(_lib.ipt_plan_describe(self._open()))

    def execute(self, memory: Any, progress: Optional[Progress] = None) -> None:
        """Permutes arrays in host memory: anything with a writable buffer of nbytes contiguous bytes.

        progress(done, total) is called with bytes on the way. If it returns False or raises, the execution ends: then
        the array is unchanged, or the error says that it is not.
        """
        with memoryview(memory) as view:
            if view.readonly:
                raise ValueError("memory is read-only: the plan works in place, so it needs a writable buffer")
            if not view.contiguous:
                raise ValueError("memory is not contiguous: copy it first, for example with numpy.ascontiguousarray")
            if view.nbytes != self.nbytes:
                raise ValueError(f"memory has {view.nbytes} bytes, and the plan's arrays have {self.nbytes}")
            # Released before an exception leaves: a traceback that kept it would end in a crash of CPython's collector.
            with _ffi.from_buffer(view, require_writable=True) as data:
                self._execute(data, progress)

    def _execute(self, data: Any, progress: Optional[Progress]) -> None:
        if progress is None:
            _check(_lib.ipt_plan_execute_host_with(self._open(), data, _ffi.NULL))
            return
        call = {"progress": progress, "exception": None}
        handle = _ffi.new_handle(call)
        options = _ffi.new("ipt_host_options *", {"progress": _lib.ipt_progress, "user": handle})
        result = _lib.ipt_plan_execute_host_with(self._open(), data, options)
        failure = Error(result) if result else None
        if call["exception"] is not None:
            raise call["exception"] from failure
        if failure is not None:
            raise failure

    def enqueue(self, queue: Any, buffer: Any, offset: int = 0, wait_for: Optional[Iterable[Any]] = None) -> Any:
        """Enqueues the plan for a pyopencl buffer on a pyopencl queue. Returns the pyopencl event of its end."""
        import pyopencl  # needed here only

        events = list(wait_for or ())
        waits = _ffi.new("cl_event[]", [_ffi.cast("cl_event", event.int_ptr) for event in events])
        event = _ffi.new("cl_event *")
        _check(_lib.ipt_plan_execute(self._open(), _ffi.cast("cl_command_queue", queue.int_ptr),
                                     _ffi.cast("cl_mem", buffer.int_ptr), offset, len(events),
                                     waits if events else _ffi.NULL, event))
        if event[0] == _ffi.NULL:  # nothing was to be moved
            return pyopencl.enqueue_marker(queue, wait_for=events)
        return pyopencl.Event.from_int_ptr(int(_ffi.cast("intptr_t", event[0])), retain=False)

    def close(self) -> None:
        """Releases the plan."""
        plan, self._plan = self._plan, None
        if plan is not None:
            _lib.ipt_plan_destroy(plan)

    def __enter__(self) -> "Plan":
        self._open()
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_plan", None) is not None:
            self.close()


def _checked_axes(axes: Optional[Sequence[int]], rank: int) -> Tuple[int, ...]:
    if axes is None:
        return tuple(reversed(range(rank)))
    named = tuple(int(axis) + rank if axis < 0 else int(axis) for axis in axes)
    if sorted(named) != list(range(rank)):
        raise ValueError(f"axes is {tuple(axes)}: it names each of the array's {rank} axes once")
    return named


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
    lengths = tuple(int(numpy.prod([shape[axis] for axis in group], dtype=object)) for group in source)
    return lengths, tuple(source.index(group) for group in groups)


_plans: "OrderedDict[tuple, Plan]" = OrderedDict()
_plans_lock = threading.Lock()


def _plan_for(shape: Tuple[int, ...], itemsize: int, axes: Tuple[int, ...], context: Optional[Context]) -> Plan:
    """The plan of an earlier call, or a new one. The last 64 are kept."""
    if context is None:
        context = _shared_context()
    key = (id(context), context._open(), shape, itemsize, axes)
    with _plans_lock:
        plan = _plans.pop(key, None)
        if plan is not None:
            _plans[key] = plan
            return plan
    plan = Plan(shape, itemsize, axes, context=context)
    with _plans_lock:
        _plans[key] = plan
        while len(_plans) > _KEPT_PLANS:
            _plans.popitem(last=False)
    return plan


_CPU, _OPENCL = 1, 4  # of DLPack's devices
_DEVICES = {2: "CUDA", 3: "CUDA's host memory", 7: "Vulkan", 8: "Metal", 10: "ROCm", 11: "ROCm's host memory",
            13: "CUDA's managed memory", 14: "oneAPI", 15: "WebGPU", 16: "Hexagon", 17: "MAIA"}
_READ_ONLY, _COPIED = 1, 2  # DLPack's flags


class Tensor:
    """A tensor of another package, imported through DLPack. The functions of this module return it for such objects.

    It exports the same memory, so `torch.from_dlpack(ipt.transpose(t))` is a view of t's memory. ipt calls the
    producer's deleter once, when this object, all that share its memory and all consumers of its capsules are gone.
    shape, itemsize: as NumPy has them.
    """

    def __init__(self, producer: Any) -> None:
        device = tuple(int(number) for number in producer.__dlpack_device__())
        if device[0] not in (_CPU, _OPENCL):
            name = _DEVICES.get(device[0], "a device that ipt does not know")
            raise ValueError(f"array is on DLPack's device {device}, {name}: ipt takes host memory and OpenCL buffers, so "
                             "copy the array to the CPU first")
        try:
            capsule = producer.__dlpack__(max_version=(1, 0))
        except TypeError:  # packages from before version 1
            capsule = producer.__dlpack__()
        take = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(_lib.ipt_dl_take_address())
        self._import = _ffi.gc(_ffi.cast("ipt_dl_import *", take(capsule)), _lib.ipt_dl_release)
        flags, its = 0, self._import.plain
        if self._import.versioned:
            its = self._import.versioned
            if its.major != 1:
                raise ValueError(f"array is of version {its.major} of DLPack: ipt takes version 1 and earlier ones")
            flags = its.flags
        if flags & _COPIED:
            raise ValueError("array was copied for DLPack: ipt would change the copy, so make one that you keep")
        if (its.tensor.device_type, its.tensor.device_id) != device:
            raise ValueError(f"array is on DLPack's device {device}, and its tensor is on another one")
        bits = its.tensor.bits * its.tensor.lanes
        if bits == 0 or bits % 8:
            raise ValueError(f"array has elements of {bits} bits: ipt moves whole bytes")
        self._tensor = its.tensor
        self.itemsize = bits // 8
        self.shape = tuple(its.tensor.shape[0:its.tensor.ndim])
        strides = tuple(its.tensor.strides[0:its.tensor.ndim]) if its.tensor.strides else _strides(self.shape, "C")
        self.flags = SimpleNamespace(c_contiguous=_is_dense(self.shape, strides, "C"),
                                     f_contiguous=_is_dense(self.shape, strides, "F"),
                                     writeable=not flags & _READ_ONLY)

    @property
    def size(self) -> int:
        return int(numpy.prod(self.shape, dtype=object))

    def _reshaped(self, shape: Tuple[int, ...], order: str) -> "Tensor":
        other = Tensor.__new__(Tensor)
        other._import, other._tensor, other.itemsize, other.shape = self._import, self._tensor, self.itemsize, shape
        strides = _strides(shape, order)
        other.flags = SimpleNamespace(c_contiguous=_is_dense(shape, strides, "C"),
                                      f_contiguous=_is_dense(shape, strides, "F"), writeable=True)
        return other

    def _memory(self) -> Any:
        first = _ffi.cast("char *", self._tensor.data) + self._tensor.byte_offset
        return _ffi.buffer(first, self.size * self.itemsize)

    def _buffer(self) -> Any:
        return _pyopencl().Buffer.from_int_ptr(int(_ffi.cast("intptr_t", self._tensor.data)), retain=True)

    def _context(self) -> Context:
        """A context of the buffer's own OpenCL context. The last 4 are kept."""
        cl = _pyopencl()
        cl_context = self._buffer().get_info(cl.mem_info.CONTEXT)
        devices, number = cl_context.devices, self._tensor.device_id
        if len(devices) > 1 and not 0 <= number < len(devices):
            raise ValueError(f"array is on device {number} of DLPack, and its OpenCL context has {len(devices)} devices: "
                             "pass context=")
        device = devices[number] if len(devices) > 1 else devices[0]
        key = (cl_context.int_ptr, device.int_ptr)
        with _plans_lock:
            context = _tensor_contexts.pop(key, None)
        if context is None:
            context = Context(cl_context=cl_context, cl_device=device)
        with _plans_lock:
            _tensor_contexts[key] = context
            while len(_tensor_contexts) > 4:
                _tensor_contexts.popitem(last=False)
        return context

    def _execute(self, plan: Plan, progress: Optional[Progress]) -> None:
        if self._tensor.device_type == _CPU:
            plan.execute(self._memory(), progress)
            return
        cl = _pyopencl()
        context = plan.context._open()
        queue = cl.CommandQueue(
            cl.Context.from_int_ptr(int(_ffi.cast("intptr_t", _lib.ipt_context_cl_context(context))), retain=True),
            cl.Device.from_int_ptr(int(_ffi.cast("intptr_t", _lib.ipt_context_cl_device(context))), retain=True))
        plan.enqueue(queue, self._buffer(), self._tensor.byte_offset).wait()

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._tensor.device_type, self._tensor.device_id

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        """A capsule of the same memory. Its consumer may outlive this object."""
        if stream is not None:
            raise BufferError("stream is not None: all work on the tensor is complete, so there is nothing to wait for")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"dl_device is {dl_device}: the tensor is on {self.__dlpack_device__()} and stays there")
        if copy:
            raise BufferError("copy is True: ipt exports the memory itself")
        rank = len(self.shape)
        tensor = _ffi.new("ipt_dl_tensor *", self._tensor)
        shape = _ffi.new("int64_t[]", self.shape)
        strides = _ffi.new("int64_t[]", _strides(self.shape, "C" if self.flags.c_contiguous else "F"))
        tensor.ndim, tensor.shape, tensor.strides = rank, shape, strides
        export = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
            _lib.ipt_dl_export_address())
        return export(int(_ffi.cast("intptr_t", self._import)), int(_ffi.cast("intptr_t", tensor)),
                    1 if max_version is not None and tuple(max_version) >= (1, 0) else 0)


_tensor_contexts: "OrderedDict[tuple, Context]" = OrderedDict()


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ImportError as error:
        raise ImportError("OpenCL tensors need pyopencl: pip install pyopencl") from error
    return pyopencl


def _strides(shape: Sequence[int], order: str) -> Tuple[int, ...]:
    """In elements, of a dense array."""
    strides, step = [], 1
    for length in reversed(shape) if order == "C" else shape:
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides) if order == "C" else strides)


def _is_dense(shape: Sequence[int], strides: Sequence[int], order: str) -> bool:
    """An axis of one element may have any stride."""
    return 0 in shape or all(length == 1 or stride == wanted
                             for length, stride, wanted in zip(shape, strides, _strides(shape, order)))


def _is_opencl(array: Any) -> bool:
    return hasattr(array, "base_data") and hasattr(array, "queue") and hasattr(array, "offset")


def _taken(array: Any) -> Any:
    """The array itself, or the tensor that it exports. Raises for arrays that cannot change in place, with what would do."""
    if isinstance(array, Tensor):
        pass
    elif not _is_opencl(array) and not isinstance(array, numpy.ndarray):
        if not hasattr(array, "__dlpack__") or not hasattr(array, "__dlpack_device__"):
            raise TypeError(f"array is a {type(array).__name__}: numpy.ndarray, pyopencl.array.Array and objects with "
                            "__dlpack__ are possible")
        array = Tensor(array)
    elif array.dtype.hasobject:
        raise ValueError("array has Python objects: ipt moves numbers and records")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("array is not contiguous, so a part of another one: work on the whole, or on a copy "
                         "(numpy.ascontiguousarray)")
    if not _is_opencl(array) and not array.flags.writeable:
        raise ValueError("array is read-only: work on a copy" if isinstance(array, Tensor) else
                         "array is read-only: set array.flags.writeable, or work on a copy (array.copy())")
    return array


def _move(array: Any, axes: Tuple[int, ...], order: str, context: Optional[Context],
          progress: Optional[Progress]) -> Any:
    """Moves the elements so that memory holds the axes in another sequence. axes: of the result's memory, in terms of
    the array's memory. order: of the result, C or F."""
    shape = tuple(array.shape) if array.flags.c_contiguous else tuple(reversed(array.shape))
    moved = tuple(shape[axis] for axis in axes)
    result_shape = moved if order == "C" else tuple(reversed(moved))
    is_tensor = isinstance(array, Tensor)
    if array.size and any(axis != place for place, axis in enumerate(axes)):
        if is_tensor and context is None and array.__dlpack_device__()[0] == _OPENCL:
            context = array._context()
        plan = _plan_for(shape, array.itemsize if is_tensor else array.dtype.itemsize, axes, context)
        if is_tensor:
            array._execute(plan, progress)
        elif _is_opencl(array):
            event = plan.enqueue(array.queue, array.base_data, array.offset, array.events)
            array.add_event(event)
        else:
            plan.execute(array.reshape(-1, order="A").view(numpy.uint8), progress)
    if is_tensor:
        return array._reshaped(result_shape, order)
    if _is_opencl(array):
        result = type(array)(array.queue, result_shape, array.dtype, order=order, data=array.base_data,
                             offset=array.offset)
        for event in array.events:
            result.add_event(event)
        return result
    return array.reshape(-1, order="A").reshape(result_shape, order=order)


def permute(array: Any, axes: Sequence[int], *, context: Optional[Context] = None,
            progress: Optional[Progress] = None) -> Any:
    """numpy.transpose(array, axes) in the array's own memory. Axis i of the result is axis axes[i] of the array.

    Returns the array with its new shape, a view of the same memory. `array` itself keeps its old shape and has the new
    sequence of elements, so use the result from now on. The order, C or Fortran, stays.
    """
    array = _taken(array)
    rank = len(array.shape)
    named = _checked_axes(axes, rank)
    if array.flags.c_contiguous:
        return _move(array, named, "C", context, progress)
    return _move(array, tuple(rank - 1 - named[rank - 1 - place] for place in range(rank)), "F", context, progress)


def transpose(array: Any, axes: Optional[Sequence[int]] = None, *, context: Optional[Context] = None,
              progress: Optional[Progress] = None) -> Any:
    """The same with all axes reversed, unless axes says otherwise: a matrix becomes its transpose.

    The tool's 'ipt transpose FILE.npy' exchanges the last two axes instead.
    """
    array = _taken(array)
    return permute(array, tuple(reversed(range(len(array.shape)))) if axes is None else axes, context=context,
                   progress=progress)


def asorder(array: Any, order: str, *, context: Optional[Context] = None, progress: Optional[Progress] = None) -> Any:
    """Stores the same array in C order ("C") or in Fortran order ("F"), in its own memory.

    Returns the array with the same shape and elements, a view of the same memory in the other order.
    """
    if order not in ("C", "F"):
        raise ValueError(f'order is {order!r}: "C" (the last axis is contiguous) and "F" (the first) are possible')
    array = _taken(array)
    if array.flags.c_contiguous if order == "C" else array.flags.f_contiguous:
        return array
    return _move(array, tuple(reversed(range(len(array.shape)))), order, context, progress)
