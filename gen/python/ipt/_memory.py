"""The memory of arrays: NumPy's, pyopencl's, PyTorch's, CuPy's, and that of tensors through DLPack. Each kind has shape,
strides in bytes, itemsize, execute(plan, progress), which works from the lowest element on, and view(shape, strides), which
begins there."""
from __future__ import annotations

import ctypes
import math
import sys
from typing import Any, Iterator, Optional, Tuple, Union

import numpy

from . import _torch
from ._base import LARGEST, Context, Progress, context_for, ffi, integer, is_a, lib, listed, shown
from ._cuda import Addressed, CudaArray, CupyArray, TorchTensor, driver_stream, together  # noqa: F401
from ._layout import dense_strides, first_byte
from ._plan import Plan, refuse_elements
from ._torch import TracedTensor


class HostArray(Addressed):
    """A NumPy array. Subclasses stay what they are. writes: it will change."""

    def __init__(self, array: Any, writes: bool = True) -> None:
        refuse_elements(array, "array")
        self.readonly = not array.flags.writeable
        if self.readonly and writes:
            raise ValueError("array is read-only: set array.flags.writeable, or work on a copy (array.copy())")
        self.array, self._plain = array, numpy.ndarray.view(array, numpy.ndarray)
        self.shape, self.strides, self.itemsize = self._plain.shape, self._plain.strides, array.dtype.itemsize
        self.first = self._plain.__array_interface__["data"][0] + first_byte(self.shape, self.strides)

    @property
    def dtype(self) -> str:  # type: ignore[override]
        return self.array.dtype.name if self.array.dtype.isnative else str(self.array.dtype)

    def zeros(self, shape: Tuple[int, ...], dtype: str) -> Any:
        return numpy.zeros(shape, dtype)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Any:
        lowest = self._plain
        if any(stride < 0 for stride in self.strides):
            lowest = lowest[tuple(slice(None, None, -1 if stride < 0 else None) for stride in self.strides)]
        result = numpy.lib.stride_tricks.as_strided(lowest, shape, strides)
        if type(self.array) is not numpy.ndarray:
            result = result.view(type(self.array))
            result.__array_finalize__(self.array)
        return result


class DeviceArray:
    """A pyopencl array."""

    def __init__(self, array: Any) -> None:
        if array.dtype.hasobject:
            raise ValueError("array has Python objects: ipt moves numbers and records")
        if array.queue is None:
            raise ValueError("array has no queue: pass array.with_queue(queue)")
        self.array, self.shape, self.strides, self.itemsize = array, array.shape, array.strides, array.dtype.itemsize
        self._first = array.offset + first_byte(self.shape, self.strides)

    def context(self) -> Context:
        return context_for(self.array.queue.context, self.array.queue.device)

    def execute(self, plan: Plan, progress: Optional[Progress]) -> None:
        array = self.array
        array.add_event(plan.enqueue(array.queue, array.base_data, self._first, array.events))

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Any:
        array = self.array
        result = type(array)(array.queue, shape, array.dtype, allocator=array.allocator, data=array.base_data,
                             offset=self._first, strides=strides)
        for event in array.events:
            result.add_event(event)
        return result


_CPU, _CUDA, _OPENCL = 1, 2, 4  # of DLPack's devices
_TYPES = {0: "int", 1: "uint", 2: "float", 5: "complex"}  # of DLPack's codes, for names as NumPy has them
_DEVICES = {3: "CUDA's host memory", 7: "Vulkan", 8: "Metal", 10: "ROCm", 11: "ROCm's host memory",
            13: "CUDA's managed memory", 14: "oneAPI", 15: "WebGPU", 16: "Hexagon", 17: "MAIA"}
_READ_ONLY, _COPIED = 1, 2  # DLPack's flags
# Packages whose arrays never change. Their capsules are from before DLPack 1, which cannot say so.
_IMMUTABLE = {"jax": "JAX", "jaxlib": "JAX", "tensorflow": "TensorFlow", "pyarrow": "Arrow"}


class Tensor(Addressed):
    """A tensor of another package, imported through DLPack. The functions of this module return it for such objects.

    It exports the same memory, so `torch.from_dlpack(ipt.transpose_(t))` is a view of t's memory. ipt calls the
    producer's deleter once, when this object, all that share its memory and all consumers of its capsules are gone.
    shape, itemsize: as NumPy has them.
    donated: nothing else uses the producer's memory from now on, so it may change although the package's arrays are
    immutable, as JAX's are.
    stream: of CUDA, as an integer, on which ipt works; by default 1, CUDA's default stream. The producer orders its own work
    before it.
    """

    _import: Any = None

    def __init__(self, producer: Any, *, donated: bool = False, stream: Optional[int] = None) -> None:
        refuse_elements(producer, "array")
        if is_a(producer, type) or not hasattr(producer, "__dlpack__") or not hasattr(producer, "__dlpack_device__"):
            raise TypeError(f"array is a {type(producer).__name__}: numpy.ndarray, pyopencl.array.Array and objects with "
                            "__dlpack__ or __cuda_array_interface__ are possible (numpy.asarray makes an array of a buffer, "
                            "without a copy)")
        device = _device_of(producer)
        if device[0] not in (_CPU, _CUDA, _OPENCL):
            name = _DEVICES.get(device[0], "a device that ipt does not know")
            raise ValueError(f"array is on DLPack's device {device}, {name}: ipt takes memory of the host, CUDA and OpenCL, so "
                             "copy the array to the CPU first")
        if stream is not None and device[0] != _CUDA:
            raise ValueError("stream is for memory of CUDA: pass None")
        self._stream = 1 if stream is None else integer(stream, "stream", 1)
        package = next((_IMMUTABLE[name] for name in _packages(producer) if name in _IMMUTABLE), None)
        if package and not donated:
            raise ValueError(f"array is one of {package}, whose arrays are immutable: work on a copy (numpy.array), or pass "
                             "ipt.Tensor(array, donated=True) if nothing uses the array any more")
        if "torch" in _packages(producer) and producer.is_neg():
            raise ValueError("array is negative by a flag that DLPack does not know: pass array.resolve_neg()")
        options = {"stream": self._stream} if device[0] == _CUDA else {}
        try:
            capsule = producer.__dlpack__(max_version=(1, 0), **options)
        except TypeError:  # packages from before version 1
            capsule = producer.__dlpack__(**options)
        take = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(lib.ipt_dl_take_address())
        self._import = ffi.gc(ffi.cast("ipt_dl_import *", take(capsule)), lib.ipt_dl_release)
        its = self._import.plain
        if self._import.versioned:
            its = self._import.versioned
            if its.major != 1:
                raise ValueError(f"array is of version {its.major} of DLPack: ipt takes version 1 and earlier ones")
            if its.flags & _COPIED:
                raise ValueError("array was copied for DLPack: ipt would change the copy, so make one that you keep")
            if its.flags & _READ_ONLY and not donated:
                raise ValueError("array is read-only: work on a copy")
        if (its.tensor.device_type, its.tensor.device_id) != device:
            raise ValueError(f"array is on DLPack's device {device}, and its tensor is on another one")
        self._fill(its.tensor)

    def _fill(self, tensor: Any) -> None:
        bits = tensor.bits * tensor.lanes
        if bits == 0 or bits % 8:
            raise ValueError(f"array has elements of {bits} bits: ipt moves whole bytes")
        if tensor.ndim < 0 or tensor.ndim and not tensor.shape:
            raise ValueError(f"array has {tensor.ndim} axes in DLPack, and no shape")
        self.itemsize, self._tensor = bits // 8, tensor
        self.shape = tuple(tensor.shape[0:tensor.ndim])
        if any(length < 0 for length in self.shape):
            raise ValueError(f"array has the shape {self.shape} in DLPack: lengths are at least 0")
        if not tensor.data and 0 not in self.shape:
            raise ValueError("array has no memory: its pointer in DLPack is NULL")
        self.strides = dense_strides(self.shape, self.itemsize)
        if tensor.strides:
            self.strides = tuple(stride * self.itemsize for stride in tensor.strides[0:tensor.ndim])
        self._first = tensor.byte_offset + first_byte(self.shape, self.strides)
        if tensor.device_type == _CUDA:
            self.cuda = tensor.device_id

    @property
    def first(self) -> int:  # type: ignore[override]
        return int(ffi.cast("uintptr_t", self._tensor.data)) + self._first

    @property
    def dtype(self) -> str:  # type: ignore[override]
        return f"{_TYPES.get(self._tensor.code, 'type ')}{self._tensor.bits * self._tensor.lanes}"

    def stream(self) -> int:
        return driver_stream(self._stream)

    def made(self) -> "Tensor":
        """The tensor itself, unless __init__ has failed."""
        if self._import is None:
            raise ValueError("array is an ipt.Tensor without memory: its creation failed")
        return self

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.made().shape)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> "Tensor":
        other = Tensor.__new__(Tensor)
        other._import, other._tensor, other._first = self._import, self._tensor, self._first
        other.shape, other.strides, other.itemsize = shape, strides, self.itemsize
        other.cuda, other._stream = self.cuda, self._stream
        return other

    def _buffer(self) -> Any:
        return _pyopencl().Buffer.from_int_ptr(int(ffi.cast("intptr_t", self._tensor.data)), retain=True)

    def context(self) -> Optional[Context]:
        """For an OpenCL buffer: the context of its own OpenCL context."""
        if self._tensor.device_type != _OPENCL:
            return super().context()
        cl_context = self._buffer().get_info(_pyopencl().mem_info.CONTEXT)
        devices, number = cl_context.devices, self._tensor.device_id
        if len(devices) > 1 and not 0 <= number < len(devices):
            raise ValueError(f"array is on device {number} of DLPack, and its OpenCL context has {len(devices)} devices: "
                             "pass context=")
        return context_for(cl_context, devices[number] if len(devices) > 1 else devices[0])

    def execute(self, plan: Plan, progress: Optional[Progress]) -> None:
        if self._tensor.device_type != _OPENCL:
            super().execute(plan, progress)
            return
        cl = _pyopencl()
        context = plan.context._open()
        queue = cl.CommandQueue(
            cl.Context.from_int_ptr(int(ffi.cast("intptr_t", lib.ipt_context_cl_context(context))), retain=True),
            cl.Device.from_int_ptr(int(ffi.cast("intptr_t", lib.ipt_context_cl_device(context))), retain=True))
        plan.enqueue(queue, self._buffer(), self._first).wait()

    def _order(self, stream: int) -> None:
        if stream == 0:
            raise BufferError("stream is 0: DLPack names CUDA's default stream 1")
        if stream not in (-1, self._stream):
            context = context_for(cuda=self.cuda)._open()
            error = lib.ipt_py_cuda_follow(context, ffi.cast("void *", driver_stream(stream)), ffi.cast("void *", self.stream()))
            if error:
                raise BufferError(f"stream is {stream}: it cannot wait for ipt's work, by error {error} of CUDA")

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.made()._tensor.device_type, self._tensor.device_id

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        """A capsule of the same memory. Its consumer may outlive this object. The consumer's stream of CUDA waits for ipt's
        work. None: CUDA's default stream, -1: none."""
        if self.made().cuda is not None:
            self._order(1 if stream is None else integer(stream, "stream", -1))
        elif stream is not None:
            raise BufferError("stream is not None: all work on the tensor is complete, so there is nothing to wait for")
        if dl_device is not None and _integers(dl_device, "dl_device") != self.__dlpack_device__():
            raise BufferError(f"dl_device is {shown(dl_device)}: the tensor is on {self.__dlpack_device__()} and stays there")
        newest = () if max_version is None else _integers(max_version, "max_version")
        if copy:
            raise BufferError("copy is True: ipt exports the memory itself")
        tensor = ffi.new("ipt_dl_tensor *", self._tensor)
        shape = ffi.new("int64_t[]", self.shape)
        strides = ffi.new("int64_t[]", [stride // self.itemsize for stride in self.strides])
        tensor.ndim, tensor.shape, tensor.strides = len(self.shape), shape, strides
        tensor.byte_offset = self._first - first_byte(self.shape, self.strides)
        export = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
            lib.ipt_dl_export_address())
        return export(int(ffi.cast("intptr_t", self._import)), int(ffi.cast("intptr_t", tensor)),
                      1 if newest >= (1, 0) else 0)


def _packages(producer: Any) -> Iterator[str]:
    """The packages of an object's classes."""
    return (str(kind.__module__).partition(".")[0] for kind in type(producer).__mro__)


def _device_of(producer: Any) -> Tuple[int, int]:
    device = _integers(producer.__dlpack_device__(), "array's __dlpack_device__()")
    if len(device) != 2:
        raise TypeError(f"array's __dlpack_device__() is {shown(device)}: it must be two integers")
    return device[0], device[1]


def _integers(value: Any, name: str) -> Tuple[int, ...]:
    return tuple(integer(item, f"{name}[{place}]", -LARGEST) for place, item in enumerate(listed(value, name)))


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ImportError as error:
        raise ImportError("OpenCL tensors need pyopencl: pip install pyopencl") from error
    return pyopencl


Memory = Union[Addressed, DeviceArray, TracedTensor]


def memory_of(array: Any, writes: bool = True) -> Memory:
    """The array's memory. Raises for arrays that cannot change in place, with what would do. writes: it will change."""
    if _torch.traces(array):
        return TracedTensor(array)
    torch = sys.modules.get("torch")
    if torch is not None and is_a(array, torch.Tensor): # first, because calls on CUDA are short
        registered_now = _torch.register()
        return TracedTensor(array) if registered_now and _torch.traces(array) else TorchTensor(array)
    if is_a(array, (Tensor, CudaArray)):
        return array.made()
    if is_a(array, numpy.ndarray):
        return HostArray(array, writes)
    arrays, cupy = sys.modules.get("pyopencl.array"), sys.modules.get("cupy")
    if arrays is not None and is_a(array, arrays.Array):
        return DeviceArray(array)
    if cupy is not None and is_a(array, cupy.ndarray):
        return CupyArray(array)
    if not hasattr(array, "__dlpack__") and hasattr(array, "__cuda_array_interface__") and not is_a(array, type):
        return CudaArray(array)
    return Tensor(array)
