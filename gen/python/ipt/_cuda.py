"""Arrays in CUDA's memory: PyTorch's tensors, which may also be in host memory, and CuPy's arrays. See _memory for what a
kind of memory has. Work is enqueued on the package's current stream: nothing waits."""
from __future__ import annotations

import sys
from typing import Any, Optional, Tuple

from ._base import Context, Progress, check, context_for, ffi, lib
from ._layout import first_byte
from ._plan import Plan


def _enqueue(plan: Plan, address: int, stream: int, progress: Optional[Progress]) -> None:
    if progress is not None:
        raise ValueError("progress: work on CUDA's memory is enqueued at once, so there is none to report")
    check(lib.ipt_plan_execute_cuda(plan._open(), address, ffi.cast("void *", stream)))


class TorchTensor:
    """A tensor of PyTorch."""

    def __init__(self, tensor: Any) -> None:
        torch = sys.modules["torch"]
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise ValueError(f"array is a tensor of layout {tensor.layout}: ipt moves strided tensors of plain elements")
        if tensor.device.type not in ("cpu", "cuda"):
            raise ValueError(f"array is on {tensor.device}: ipt takes tensors of the CPU and of CUDA")
        if tensor.requires_grad and tensor.is_leaf and torch.is_grad_enabled():
            raise ValueError("array is a leaf that requires grad, and would change in place: use torch.no_grad() or "
                             "array.data")
        self.cuda = tensor.device.index if tensor.device.type == "cuda" else None
        self.array, self.itemsize, self.shape = tensor, tensor.element_size(), tuple(tensor.shape)
        self.strides = tuple(stride * self.itemsize for stride in tensor.stride())
        self._first = tensor.data_ptr() + first_byte(self.shape, self.strides)

    def context(self) -> Optional[Context]:
        return None if self.cuda is None else context_for(cuda=self.cuda)

    def execute(self, plan: Plan, progress: Optional[Progress]) -> None:
        torch = sys.modules["torch"]
        if self.cuda is not None:
            _enqueue(plan, self._first, torch.cuda.current_stream(self.cuda).cuda_stream, progress)
        else:
            plan._execute(ffi.cast("void *", self._first), progress)
        torch.autograd.graph.increment_version(self.array)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Any:
        steps = tuple(stride // self.itemsize for stride in strides)
        return self.array.as_strided(shape, steps, self.array.storage_offset())


class CupyArray:
    """An array of CuPy."""

    def __init__(self, array: Any) -> None:
        self.cuda = array.device.id
        self.array, self.shape, self.strides, self.itemsize = array, array.shape, array.strides, array.dtype.itemsize
        self._first = first_byte(self.shape, self.strides)

    def context(self) -> Context:
        return context_for(cuda=self.cuda)

    def execute(self, plan: Plan, progress: Optional[Progress]) -> None:
        cuda = sys.modules["cupy"].cuda
        with self.array.device:
            _enqueue(plan, self.array.data.ptr + self._first, cuda.get_current_stream().ptr, progress)

    def view(self, shape: Tuple[int, ...], strides: Tuple[int, ...]) -> Any:
        return sys.modules["cupy"].ndarray(shape, self.array.dtype, self.array.data + self._first, strides)
