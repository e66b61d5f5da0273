"""torch.compile, torch.export and fake tensors: ipt::store_ stands in the graph for a call. An operator must not return a
view of an argument that it changes, so the view is taken outside."""
from __future__ import annotations

import sys
from typing import Any, Sequence, Tuple

from ._base import is_a
from ._cuda import TorchTensor, refuse_grad

torch: Any = None  # the module, once the operator is registered


def register() -> bool:
    """Registers the operator if the program has imported PyTorch 2.4 or later. Returns whether it is new."""
    global torch
    if torch is not None:
        return False
    found = sys.modules.get("torch")
    if not hasattr(getattr(found, "library", None), "custom_op"):
        return False
    tag = getattr(found.Tag, "needs_exact_strides", found.Tag.needs_fixed_stride_order)  # type: ignore[union-attr]
    operator = found.library.custom_op(  # type: ignore[union-attr]
        "ipt::store_", _store, mutates_args=("array",), tags=(tag,),
        schema="(Tensor(a!) array, SymInt[] before, SymInt[] shape, SymInt[] strides, str order, bool gaps) -> ()")
    operator.register_fake(lambda *arguments: None)
    torch = found
    return True


def _store(array: Any, before: Sequence[int], shape: Sequence[int], strides: Sequence[int], order: str, gaps: bool) -> None:
    """Strides are of elements here. before: the array's when it was traced."""
    from ._functions import stored  # which needs this module
    if tuple(array.stride()) != tuple(before):
        raise RuntimeError(f"array has the strides {array.stride()}, and was traced with {tuple(before)}: call ipt outside "
                           "torch.compile")
    memory = TorchTensor(array)
    stored(array, memory, tuple(shape), tuple(stride * memory.itemsize for stride in strides), order, gaps, None, None)


def traces(array: Any) -> bool:
    """Whether a tensor has no memory yet, because torch.compile traces it or it is fake."""
    return torch is not None and is_a(array, torch.Tensor) and (
        torch.compiler.is_compiling() or type(array) not in (torch.Tensor, torch.nn.Parameter))


class TracedTensor:
    """A tensor whose memory comes later: a kind of memory without execute and view."""

    def __init__(self, tensor: Any) -> None:
        refuse_grad(torch, tensor)  # the rest shows when the operator runs
        self.array, self.itemsize, self.shape = tensor, tensor.element_size(), tuple(tensor.shape)
        self.strides = tuple(stride * self.itemsize for stride in tensor.stride())

    def stored(self, shape: Tuple[int, ...], strides: Tuple[int, ...], order: str, gaps: bool,
               result: Tuple[int, ...]) -> Any:
        """Puts the operator into the graph. result: the strides of the returned view."""
        before, strides, result = (tuple(stride // self.itemsize for stride in items)
                                   for items in (self.strides, strides, result))
        torch.ops.ipt.store_(self.array, before, shape, strides, order, gaps)
        return self.array.as_strided(shape, result)
