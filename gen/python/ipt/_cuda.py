"""Memory that has an address: what its kinds share, PyTorch's tensors, CuPy's arrays, and other arrays of CUDA. See _memory
for what a kind of memory has. Work on CUDA's memory is enqueued on a stream: nothing waits."""
from __future__ import annotations

import sys
from typing import Any, Iterable, Optional, Tuple

import numpy

from ._base import LARGEST, Context, Progress, context_for, ffi, integer, is_a, lib, listed, shown
from ._layout import dense_strides, first_byte
from ._plan import Plan


class Addressed:
    """cuda: the number of the device of CUDA, or None: the host's memory. first: the address of the lowest element.
    dtype: the name of the elements' type, as NumPy has it."""

    cuda: Optional[int] = None
    readonly = False
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # in bytes
    itemsize: int
    first: int
    dtype: str

    def context(self) -> Optional[Context]:
        return None if self.cuda is None else context_for(cuda=self.cuda)

    def stream(self) -> int:
        """That of the work on CUDA's memory, as CUDA's driver takes it."""
        raise NotImplementedError

    def changed(self) -> None:
        """Tells the package that its memory has changed."""

    def zeros(self, shape: Tuple[int, ...], dtype: str) -> Any:
        """A new array of the same package, on the same device."""
        raise ValueError(f"ipt cannot create an array beside a {type(self).__name__}: pass all operands")

    def execute(self, plan: Plan, progress: Optional[Progress]) -> None:
        try:
            if self.cuda is None:
                plan._execute(ffi.cast("void *", self.first), progress)
            else:
                plan._enqueue(self.first, None, self.stream(), progress)
        finally:
            self.changed()


def together(memories: Iterable[Addressed]) -> Tuple[Optional[int], int]:
    """The device that memories share, and their stream."""
    found = {(memory.cuda, 0 if memory.cuda is None else memory.stream()) for memory in memories}
    if len(found) > 1:
        raise ValueError("arrays are on different devices or streams: use arrays of one package and one device")
    return found.pop()


class TorchTensor(Addressed):
    """A tensor of PyTorch, on its device's current stream."""

    def __init__(self, tensor: Any) -> None:
        check_tensor(sys.modules["torch"], tensor)
        if tensor.is_cuda:
            self.cuda = tensor.get_device()
        self.array, self.shape, size = tensor, tuple(tensor.shape), tensor.element_size()
        self.itemsize, self.strides = size, tuple([stride * size for stride in tensor.stride()])
        self.first = tensor.data_ptr() + first_byte(self.shape, self.strides)

    @property
    def dtype(self) -> str:  # type: ignore[override]
        return str(self.array.dtype).partition(".")[2]

    def stream(self) -> int:
        torch = sys.modules["torch"]
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None) # without an object, which takes microseconds
        return torch.cuda.current_stream(self.cuda).cuda_stream if raw is None else raw(self.cuda)

    def changed(self) -> None:
        if not self.array.is_inference():  # such tensors have no version
            sys.modules["torch"].autograd.graph.increment_version(self.array)

    def zeros(self, shape: Tuple[int, ...], dtype: str) -> Any:
        torch = sys.modules["torch"]
        return torch.zeros(shape, dtype=getattr(torch, dtype), device=self.array.device)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Any:
        size = self.itemsize
        return self.array.as_strided(shape, [stride // size for stride in strides])


def check_tensor(torch: Any, tensor: Any) -> None:
    """Refuses tensors whose bytes alone are not what they are."""
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise ValueError(f"array is a tensor of layout {tensor.layout}: ipt moves strided tensors of plain elements")
    if not tensor.is_cuda and not tensor.is_cpu:
        raise ValueError(f"array is on {tensor.device}: ipt takes tensors of the CPU and of CUDA")
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError("array is conjugate or negative by a flag: pass array.resolve_conj() or array.resolve_neg()")
    refuse_grad(torch, tensor)


def refuse_grad(torch: Any, tensor: Any) -> None:
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError("array requires grad, and autograd cannot follow a change of its memory: use torch.no_grad() or "
                         "array.detach()")


class CupyArray(Addressed):
    """An array of CuPy, on its device's current stream."""

    def __init__(self, array: Any) -> None:
        self.cuda = array.device.id
        self.array, self.shape, self.strides, self.itemsize = array, array.shape, array.strides, array.dtype.itemsize
        self.dtype = array.dtype.name
        self.first = array.data.ptr + first_byte(self.shape, self.strides)

    def stream(self) -> int:
        with self.array.device:
            return sys.modules["cupy"].cuda.get_current_stream().ptr

    def zeros(self, shape: Tuple[int, ...], dtype: str) -> Any:
        with self.array.device:
            return sys.modules["cupy"].zeros(shape, dtype)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Any:
        lowest = self.array.data + first_byte(self.shape, self.strides)
        return sys.modules["cupy"].ndarray(shape, self.array.dtype, lowest, strides)


class CudaArray(Addressed):
    """An array of another package with __cuda_array_interface__, such as numba's. The functions of this module return it
    for such objects, and packages take it: numba.cuda.as_cuda_array(ipt.transpose_(a)) is a view of a's memory. ipt works
    on the stream that the interface names, by default CUDA's default stream."""

    def __init__(self, producer: Any) -> None:
        its = producer.__cuda_array_interface__
        if not is_a(its, dict) or not {"shape", "typestr", "data"} <= set(its):
            raise TypeError(f"array's __cuda_array_interface__ is {shown(its)}: it must be a dict with shape, typestr and data")
        if its.get("mask") is not None:
            raise ValueError("array has a mask, which ipt would leave: pass its data and its mask one after the other")
        dtype = numpy.dtype(its["typestr"])
        if dtype.hasobject or not dtype.itemsize:
            raise ValueError(f"array has elements of type {dtype}: ipt moves numbers and records")
        self._owner, self._typestr, self.itemsize = producer, its["typestr"], dtype.itemsize
        self.dtype = dtype.name if dtype.isnative else str(dtype)
        self.shape = tuple(integer(length, f"shape[{place}]") for place, length in enumerate(listed(its["shape"], "shape")))
        self.strides = dense_strides(self.shape, self.itemsize)
        if its.get("strides") is not None:
            self.strides = tuple(integer(stride, f"strides[{place}]", -LARGEST)
                                 for place, stride in enumerate(listed(its["strides"], "strides")))
        data = listed(its["data"], "data")
        if len(data) != 2 or len(self.strides) != len(self.shape):
            raise ValueError(f"array's __cuda_array_interface__ is {shown(its)}: data has two items, and strides as many as shape")
        if data[1]:
            raise ValueError("array is read-only: work on a copy")
        stream = its.get("stream")
        self._stream = 1 if stream is None else integer(stream, "stream", 1)
        self.first = integer(data[0], "data[0]") + first_byte(self.shape, self.strides)
        number = 0 if 0 in self.shape else lib.ipt_py_cuda_device(self.first)
        if number < 0:
            raise ValueError(f"array is at the address {self.first:#x}: CUDA knows no memory there")
        self.cuda = number

    def stream(self) -> int:
        return driver_stream(self._stream)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> "CudaArray":
        other = CudaArray.__new__(CudaArray)
        other.__dict__.update(self.__dict__, shape=shape, strides=strides)
        return other

    def made(self) -> "CudaArray":
        """The array itself, unless __init__ has failed."""
        if self.cuda is None:
            raise ValueError("array is an ipt.CudaArray without memory: its creation failed")
        return self

    @property
    def __cuda_array_interface__(self) -> Any:
        first = self.made().first - first_byte(self.shape, self.strides)
        return {"shape": self.shape, "typestr": self._typestr, "strides": self.strides, "data": (first, False),
                "stream": self._stream, "version": 3}


def driver_stream(stream: int) -> int:
    """A stream as CUDA's driver takes it. Interfaces name the default stream 1."""
    return 0 if stream == 1 else stream
