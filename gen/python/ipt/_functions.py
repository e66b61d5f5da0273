"""The functions that change the order of an array's elements in its own memory."""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

from ._base import Context, Progress, checked_axes, checked_context, checked_progress, integer, is_a, listed, shown
from ._layout import arrange, order_of
from ._memory import CudaArray, Memory, Tensor, TracedTensor, memory_of
from ._plan import MOVES, Plan, checked_move, kept


_MOST_CALLS = 256
# Of earlier calls on CUDA's memory: the plan, and the result's shape and strides. Such a call enqueues microseconds of
# work, less than Python takes to find its plan.
_calls: Dict[Any, Tuple[Plan, Tuple[int, ...], Tuple[int, ...]]] = {}


def _call_of(memory: Memory, axes: Any) -> Any:
    """The key of a permutation in _calls; None: it is not kept there."""
    if getattr(memory, "cuda", None) is None or type(axes) not in (tuple, list) or any(type(axis) is not int for axis in axes):
        return None
    return memory.cuda, memory.shape, memory.strides, memory.itemsize, tuple(axes)


def stored(array: Any, memory: Memory, shape: Tuple[int, ...], strides: Tuple[int, ...], order: str, gaps: bool,
            context: Optional[Context], progress: Optional[Progress], call: Any = None) -> Any:
    """Stores the view of array's memory with shape and strides in C or F order there. Returns it. call: see _call_of."""
    context, progress = checked_context(context), checked_progress(progress)
    arranged = arrange(shape, strides, memory.itemsize, order, gaps)
    if is_a(memory, TracedTensor):
        if context is not None or progress is not None:
            raise ValueError("context and progress are not possible within torch.compile: leave them out")
        return memory.stored(shape, strides, order, gaps, arranged.strides)
    if arranged.plan is not None:
        options = {"itemsize": memory.itemsize, **arranged.plan}
        plan = kept(Plan, context or memory.context(), **options)
        memory.execute(plan, progress)
        if call is not None and context is None:
            if len(_calls) >= _MOST_CALLS:
                _calls.clear()
            _calls[call] = plan, shape, arranged.strides
    elif shape == tuple(memory.shape) and arranged.strides == tuple(memory.strides):
        return memory if is_a(memory, (Tensor, CudaArray)) else array
    return memory.view(shape, arranged.strides)


def permute_(array: Any, axes: Sequence[int], *, context: Optional[Context] = None,
            progress: Optional[Progress] = None) -> Any:
    """numpy.transpose(array, axes) in the array's own memory. Axis i of the result is axis axes[i] of the array.

    Returns the array with its new shape, a view of the same memory. `array` itself keeps its old shape and has the new
    sequence of elements, so use the result from now on. Fortran order stays; all others become C order. Of a part of
    another array, with gaps between its rows, squares can be transposed.
    """
    memory = memory_of(array)
    call = _call_of(memory, axes)
    ready = _calls.get(call) if call is not None and context is None and progress is None else None
    if ready is not None:
        memory.execute(ready[0], None)
        return memory.view(*ready[1:])
    named = checked_axes(axes, len(memory.shape))
    shape, strides = (tuple(items[axis] for axis in named) for items in (memory.shape, memory.strides))
    return stored(array, memory, shape, strides, order_of(memory.shape, memory.strides), True, context, progress, call)


def transpose_(array: Any, axes: Optional[Sequence[int]] = None, *, context: Optional[Context] = None,
              progress: Optional[Progress] = None) -> Any:
    """permute_ with all axes reversed, unless axes says otherwise: a matrix becomes its transpose.

    The tool's `ipt transpose FILE.npy` differs for more than two axes: it swaps the last two and keeps the others.
    """
    memory = memory_of(array)
    named = tuple(reversed(range(len(memory.shape)))) if axes is None else axes
    return permute_(memory if is_a(memory, (Tensor, CudaArray)) else array, named, context=context, progress=progress)


def rotate_(array: Any, move: str, axes: Sequence[int] = (0, 1), *, context: Optional[Context] = None,
           progress: Optional[Progress] = None) -> Any:
    """Rotates or reflects the matrices of two neighbouring axes, such as the rows and columns of a picture.

    move: "rotate-90" (clockwise), "rotate-180", "rotate-270" (90 degrees counterclockwise), "flip-horizontal" (the
    columns in reversed sequence), "flip-vertical" (the rows), "transpose", "antitranspose" (along the other diagonal).
    Returns the array with its new shape, as permute_ does. Within a part of another array, moves that swap the axes need
    squares.
    """
    memory = memory_of(array)
    swapped, *flipped = MOVES[checked_move(move)]
    rank = len(memory.shape)
    pair = [axis + rank if axis < 0 else axis
            for axis in (integer(axis, f"axes[{place}]", -rank) for place, axis in enumerate(listed(axes, "axes")))]
    if len(set(pair)) != 2 or len(pair) != 2 or max(pair) >= rank:
        raise ValueError(f"axes is {shown(axes)}: it names two of the array's {rank} axes")
    shape, strides = list(memory.shape), list(memory.strides)
    if swapped:
        for items in (shape, strides):
            items[pair[0]], items[pair[1]] = items[pair[1]], items[pair[0]]
    for axis, is_reversed in zip(pair, flipped):
        strides[axis] *= -1 if is_reversed else 1
    return stored(array, memory, tuple(shape), tuple(strides), order_of(memory.shape, memory.strides), True, context,
                   progress)


def asorder_(array: Any, order: str, *, context: Optional[Context] = None, progress: Optional[Progress] = None) -> Any:
    """Stores the same array in C order ("C") or in Fortran order ("F"), in its own memory.

    Returns the array with the same shape and elements, a view of the same memory in the other order. `array` may be a
    view with permuted axes: asorder_(nhwc.transpose(0, 3, 1, 2), "C") is NCHW in nhwc's memory. At most two neighbouring
    axes may be reversed, as those of x[::-1] are.
    """
    if not is_a(order, str) or order not in ("C", "F"):
        raise ValueError(f'order is {shown(order)}: "C" (the last axis is contiguous) and "F" (the first) are possible')
    memory = memory_of(array)
    return stored(array, memory, tuple(memory.shape), tuple(memory.strides), order, False, context, progress)


def ascontiguous_(array: Any, *, context: Optional[Context] = None, progress: Optional[Progress] = None) -> Any:
    """asorder_(array, "C"): numpy.ascontiguousarray of a view in the memory of its base."""
    return asorder_(array, "C", context=context, progress=progress)
