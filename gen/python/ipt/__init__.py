"""In-place transposition on OpenCL devices.

transpose_, permute_, rotate_, asorder_ and ascontiguous_ change the order of an array's elements in its own memory. They
return the array with its new shape or order: a view of the same memory. Use the result from then on: other views, the
given one included, see the bytes in their new sequence. NumPy arrays, PyTorch tensors, CuPy and pyopencl arrays, and
objects with __dlpack__ or __cuda_array_interface__ are taken alike. batch runs an action of linear algebra on each of many
small matrices.
"""
from __future__ import annotations

from . import _torch
from ._base import Context, Error, lib as _lib
from ._batch import batch
from ._cuda import CudaArray
from ._functions import ascontiguous_, asorder_, permute_, rotate_, transpose_
from ._memory import Tensor
from ._plan import Plan

__all__ = ["Context", "CudaArray", "Error", "Plan", "Tensor", "ascontiguous_", "asorder_", "batch", "permute_", "rotate_",
           "transpose_", "version"]

_torch.register()


def __getattr__(name: str) -> object:
    if f"{name}_" in __all__:
        raise AttributeError(f"ipt has no {name}: it is {name}_ now, because it changes the array in place")
    raise AttributeError(f"module 'ipt' has no attribute {name!r}")


def _version() -> str:
    number = _lib.ipt_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


version = _version()
__version__ = version
