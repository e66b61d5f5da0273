"""How the memory of a view is arranged anew: the arguments of a plan, from the view's shape and strides alone."""
from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._plan import MOVES

_SMALL = 16  # bytes: larger elements of a reversed axis are rows

_MOVE_NAMES = {flags: name for name, flags in MOVES.items()}
_COPY = "work on the whole array, or on a copy (numpy.ascontiguousarray)"


class Span(NamedTuple):
    """Neighbouring axes of a view that follow one another in memory, as if they were one. stride < 0: reversed."""
    length: int
    stride: int
    lengths: Tuple[int, ...]


class Arrangement(NamedTuple):
    """plan: arguments of Plan besides the itemsize; None: nothing moves. strides: the result's, in bytes."""
    plan: Optional[Dict[str, Any]]
    strides: Tuple[int, ...]


def dense_strides(shape: Sequence[int], itemsize: int) -> Tuple[int, ...]:
    """Of a C-contiguous array, in bytes."""
    strides, step = [], itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def first_byte(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Of the lowest element, counted from the first: negative for reversed axes."""
    if 0 in shape or not strides or min(strides) >= 0:
        return 0
    return sum(min(0, stride) * (length - 1) for length, stride in zip(shape, strides))


def order_of(shape: Sequence[int], strides: Sequence[int]) -> str:
    """The order of a view's memory: F if its axes lie there in reversed sequence. Else C."""
    steps = [abs(stride) for length, stride in zip(shape, strides) if length > 1]
    return "F" if len(steps) > 1 and 0 not in shape and all(a < b for a, b in zip(steps, steps[1:])) else "C"


def arrange(shape: Sequence[int], strides: Sequence[int], itemsize: int, order: str, gaps: bool) -> Arrangement:
    """Stores a view's elements in C or F order, within the bytes that they take. gaps: may there be gaps among them.

    The bytes begin at the lowest element, see first_byte. Raises ValueError if ipt has no such plan.
    """
    if order == "F":
        plan, result = arrange(shape[::-1], strides[::-1], itemsize, "C", gaps)
        return Arrangement(plan, result[::-1])
    if 0 in shape or itemsize == 0:
        return Arrangement(None, dense_strides(shape, itemsize))
    spans = spans_of(shape, strides)
    memory = sorted(spans, key=lambda span: -abs(span.stride))
    extents = _extents(memory, itemsize)
    if extents[0] == math.prod(shape) * itemsize:
        return Arrangement(_plan(spans, memory, itemsize, True), dense_strides(shape, itemsize))
    if not gaps:
        raise ValueError(f"array is not contiguous: it is a part of another one, with gaps between its elements: {_COPY}")
    batch = memory[0]
    has_batch = spans[0] == batch and batch.stride > 0 and extents[1] == _bytes(memory[1:], itemsize)
    if has_batch:  # gaps between the arrays of a batch only
        plan = _plan(spans[1:], memory[1:], itemsize, True, batch)
        steps = [batch.stride, *dense_strides([span.length for span in spans[1:]], itemsize)]
    else:
        plan = _plan(spans, memory, itemsize, False)
        steps = [abs(span.stride) for span in memory]
    found = iter([step for span, stride in zip(spans, steps) for step in dense_strides(span.lengths, stride)])
    return Arrangement(plan, tuple(next(found) if length > 1 else itemsize for length in shape))


def _bytes(spans: Sequence[Span], itemsize: int) -> int:
    return math.prod(span.length for span in spans) * itemsize


def is_dense(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether there are no gaps among a view's elements. Raises ValueError if they overlap."""
    memory = sorted(spans_of(shape, strides), key=lambda span: -abs(span.stride))
    return 0 in shape or _extents(memory, itemsize)[0] == math.prod(shape) * itemsize


def spans_of(shape: Sequence[int], strides: Sequence[int]) -> List[Span]:
    spans: List[Span] = []
    for length, stride in zip(shape, strides):
        if length == 1:
            continue
        if spans and spans[-1].stride == stride * length:
            spans[-1] = Span(spans[-1].length * length, stride, spans[-1].lengths + (length,))
        else:
            spans.append(Span(length, stride, (length,)))
    return spans


def _extents(memory: Sequence[Span], itemsize: int) -> List[int]:
    """Bytes from the first to the last of all spans, of all but the first, and so on to a single element."""
    extents = [itemsize]
    for span in reversed(memory):
        if abs(span.stride) < extents[0]:
            raise ValueError(f"array is not contiguous: its elements overlap or interleave: {_COPY}")
        extents.insert(0, abs(span.stride) * (span.length - 1) + extents[0])
    return extents


def _plan(spans: Sequence[Span], memory: Sequence[Span], itemsize: int, is_dense: bool,
          batch: Optional[Span] = None) -> Optional[Dict[str, Any]]:
    """spans: of the result's memory. memory: the same, sorted as they lie there now."""
    is_reversed = any(span.stride < 0 for span in spans)
    if list(spans) == list(memory) and not is_reversed:
        return None
    if is_dense and not is_reversed:
        plan: Dict[str, Any] = {"shape": tuple(span.length for span in memory),
                                "axes": tuple(memory.index(span) for span in spans)}
    else:
        plan = _matrix_plan(spans, memory, itemsize, is_dense)
    if batch and "batch" in plan:
        raise ValueError(_TOO_MANY)
    if batch:
        plan.update(batch=batch.length, batch_stride=batch.stride)
    return plan


_TOO_MANY = ("array's reversed axes or gaps are not those of two axes that are neighbours in memory: permute it and reverse "
             "it one after the other, or " + _COPY)


def _matrix_plan(spans: Sequence[Span], memory: Sequence[Span], itemsize: int, is_dense: bool) -> Dict[str, Any]:
    """One or two neighbouring spans are swapped or reversed. A span before them is a batch, and one after them an
    element. Gaps of the source stay those of the result, so it has the same lengths."""
    if not is_dense and [span.length for span in spans] != [span.length for span in memory]:
        raise ValueError("array is not contiguous: of a part of another array ipt moves squares, and reverses axes. Other "
                         "results need other memory: " + _COPY)
    first, last, unit = 0, len(spans), itemsize
    if spans[-1] == memory[-1] and spans[-1].stride == itemsize:
        last, unit = last - 1, itemsize * spans[-1].length
    if last > 1 and spans[0] == memory[0] and spans[0].stride > 0:
        first = 1
    moved, source = spans[first:last], memory[first:last]
    plan: Dict[str, Any] = {}
    batch = spans[0] if first else None
    if len(moved) > 2:
        raise ValueError(_TOO_MANY)
    pitch = abs(source[0].stride)
    if len(moved) == 2 and abs(source[1].stride) == unit:
        flags = moved[0] != source[0], moved[0].stride < 0, moved[1].stride < 0
        plan.update(itemsize=unit, shape=(source[0].length, source[1].length), move=_MOVE_NAMES[flags])
    elif len(moved) == 2:
        raise ValueError(f"array is not contiguous: there are gaps between the elements of its rows: {_COPY}")
    elif batch and pitch == unit <= _SMALL:
        plan.update(itemsize=unit, shape=(batch.length, moved[0].length), move="flip-horizontal")
        pitch, batch = batch.stride, None
    else:
        plan.update(itemsize=itemsize, shape=(moved[0].length, unit // itemsize), move="flip-vertical")
    if batch:
        plan.update(batch=batch.length, batch_stride=batch.stride)
    if not is_dense:
        plan.update(row_pitch=pitch, row_pitch_out=pitch)
    return plan
