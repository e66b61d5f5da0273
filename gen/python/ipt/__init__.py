"""In-place transposition on OpenCL devices.

transpose, permute, rotate, asorder and ascontiguous change the order of an array's elements in its own memory. They
return the array with its new shape or order: a view of the same memory. Use the result from then on: other views, the
given one included, see the bytes in their new sequence. NumPy arrays, pyopencl arrays and objects with __dlpack__ are
taken alike. batch runs an action of linear algebra on each of many small matrices.
"""
from __future__ import annotations

from ._base import Context, Error, lib as _lib
from ._batch import batch
from ._functions import ascontiguous, asorder, permute, rotate, transpose
from ._memory import Tensor
from ._plan import Plan

__all__ = ["Context", "Error", "Plan", "Tensor", "ascontiguous", "asorder", "batch", "permute", "rotate", "transpose",
           "version"]


def _version() -> str:
    number = _lib.ipt_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


version = _version()
__version__ = version
