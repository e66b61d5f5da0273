"""What all parts of the package share: the library, errors, checks of arguments, forks, and contexts."""
from __future__ import annotations

import itertools
import operator
import os
import reprlib
import sys
import threading
from collections import OrderedDict
from typing import Any, Callable, Iterable, Optional, Tuple

import numpy

from . import _ipt  # type: ignore[attr-defined]

lib: Any = _ipt.lib
ffi: Any = _ipt.ffi
Progress = Callable[[int, int], Any]
LARGEST = 256 ** ffi.sizeof("size_t") - 1
_MOST_AXES = 64  # of NumPy's arrays


def text_of(pointer: Any) -> str:
    return ffi.string(pointer).decode("utf-8", "replace")


class Error(RuntimeError):
    """A failure of ipt. Its text is ipt's sentence; `kind` is the result's, such as 'out of host or device memory'."""

    def __init__(self, result: int) -> None:
        self.result = int(result)
        self.kind = text_of(lib.ipt_result_string(result))
        super().__init__(text_of(lib.ipt_context_error(ffi.NULL)) or self.kind)


def check(result: int) -> None:
    if result:
        raise Error(result)


def shown(value: Any) -> str:
    """A value in a message: short, whatever it is."""
    try:
        return reprlib.repr(value)
    except Exception:  # a __repr__ may raise anything
        return f"a {type(value).__name__}"


def is_a(value: Any, kind: Any) -> bool:
    """isinstance, but for the true class: an object may claim any __class__, and a wrong one would crash C."""
    return issubclass(type(value), kind)


def integer(value: Any, name: str, least: int = 0) -> int:
    """An integer argument. Floats and truth values are refused: their rounding would hide a mistake."""
    if is_a(value, (bool, numpy.bool_)):
        raise TypeError(f"{name} is {shown(value)}: it must be an integer")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}: it must be an integer") from None
    if number < least:
        raise ValueError(f"{name} is {shown(number)}: it must be at least {least}")
    if number > LARGEST:
        raise ValueError(f"{name} is {shown(number)}: it must be at most {LARGEST}")
    return number


def listed(value: Any, name: str, most: int = _MOST_AXES) -> Tuple[Any, ...]:
    """The items of a sequence, such as lengths or axes."""
    try:
        items = tuple(itertools.islice(value, most + 1))
    except Exception as error:  # objects may raise anything
        raise TypeError(f"{name} is {shown(value)}: it must be a sequence") from error
    if len(items) > most:
        raise ValueError(f"{name} has more than {most} items")
    return items


def checked_axes(axes: Optional[Iterable[int]], rank: int) -> Tuple[int, ...]:
    """Axes from 0 up. None: all in reversed sequence."""
    if axes is None:
        return tuple(reversed(range(rank)))
    given = listed(axes, "axes")
    named = tuple(integer(axis, f"axes[{place}]", -LARGEST) for place, axis in enumerate(given))
    named = tuple(axis + rank if axis < 0 else axis for axis in named)
    if sorted(named) != list(range(rank)):
        raise ValueError(f"axes is {shown(given)}: it names each of the array's {rank} axes once")
    return named


def text(value: Any, name: str, errors: str = "strict") -> Any:
    """A char array for C. None: NULL."""
    if value is None:
        return ffi.NULL
    if not is_a(value, str):
        raise TypeError(f"{name} is {shown(value)}: it must be a string")
    if "\0" in value:
        raise ValueError(f"{name} is {shown(value)}: it has a NUL character, at which C would cut it off")
    return ffi.new("char[]", value.encode("utf-8", errors))


def checked_progress(progress: Any) -> Optional[Progress]:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is {shown(progress)}: it must be a function of done and total")
    return progress


# pyopencl's classes, and the types of their handles in C.
_HANDLES = {"Context": "cl_context", "Device": "cl_device_id", "CommandQueue": "cl_command_queue",
            "MemoryObjectHolder": "cl_mem", "Event": "cl_event"}


def handle(value: Any, kind: str, name: str) -> Any:
    """The OpenCL handle of a pyopencl object. OpenCL crashes on handles of another kind, so the class is checked."""
    cl = sys.modules.get("pyopencl")
    if cl is None or not is_a(value, getattr(cl, kind)):
        wanted = "Buffer" if kind == "MemoryObjectHolder" else kind
        raise TypeError(f"{name} is a {type(value).__name__}: it must be a pyopencl.{wanted}")
    return ffi.cast(_HANDLES[kind], value.int_ptr)


_used = False


def enter() -> None:
    """Precedes each use of OpenCL or CUDA. Its threads and locks do not survive a fork: a child would wait for ever. The native
    driver starts its threads anew, so its contexts work in a child."""
    global _used
    if lib.ipt_py_forked:
        raise RuntimeError("this process was forked from one that had used ipt, and OpenCL and CUDA do not work in such a child: "
                           "start processes by multiprocessing's 'spawn' or 'forkserver', or use ipt in the child only")
    _used = True


def _after_fork() -> None:
    if _used:
        lib.ipt_py_forked = 1  # nothing of the parent's is released in the child, either


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Context:
    """A device with its compiled programs. Threads may share it. A child by fork may not use it: see README.md.

    device: a part of the device's or platform's name, "opencl", "native", "cuda" or "cuda:1"; by default the
    environment's IPT_DEVICE, else a GPU of OpenCL, else this CPU by the native driver, which needs no OpenCL.
    cache: the folder of compiled programs, "" for none. cl_context, cl_device: pyopencl objects to work with.
    """

    _context: Any = None
    _native = False

    def __init__(self, device: Optional[str] = None, *, cache: Any = None, cl_context: Any = None,
                 cl_device: Any = None) -> None:
        desc = ffi.new("ipt_context_desc *")
        name = text(device, "device")
        folder = text(None if cache is None else os.fsdecode(cache), "cache", "surrogateescape")
        desc.device_name, desc.cache_dir = name, folder
        if cl_context is not None:
            desc.context = handle(cl_context, "Context", "cl_context")
            cl_device = cl_device if cl_device is not None else cl_context.devices[0]
        if cl_device is not None:
            desc.device = handle(cl_device, "Device", "cl_device")
        made = ffi.new("ipt_context **")
        if device is None or device.lower() != "native":
            enter()
        check(lib.ipt_context_create(desc, made))
        # Released with the last reference, also of a call that another thread is in.
        self._context = ffi.gc(made[0], lib.ipt_py_context_end)
        self._native = bool(lib.ipt_py_is_native(made[0]))

    def _open(self) -> Any:
        if not self._native:
            enter()
        if self._context is None:
            raise ValueError("the context is closed: create another one")
        return self._context

    @property
    def device(self) -> str:
        """Lines of text: the device's name, platform, version and memory."""
        description = ffi.new("char[]", 4096)
        check(lib.ipt_device_describe(lib.ipt_py_device(self._open()), description, 4096))
        return text_of(description)

    def wisdom(self) -> str:
        """The measured choices of all plans with measure=True, as text for import_wisdom."""
        context = self._open()
        capacity, needed = 4096, ffi.new("size_t *")
        while True:  # other threads may measure more meanwhile
            wisdom = ffi.new("char[]", capacity)
            result = lib.ipt_wisdom_export(context, wisdom, capacity, needed)
            if not result or needed[0] <= capacity:
                check(result)
                return text_of(wisdom)
            capacity = needed[0]

    def import_wisdom(self, wisdom: str) -> None:
        """Adds wisdom: later plans of these shapes use it."""
        if wisdom is None:
            raise TypeError("wisdom is None: it must be a string")
        context = self._open()
        check(lib.ipt_wisdom_import(context, text(wisdom, "wisdom")))

    def close(self) -> None:
        """Releases the context. Plans keep what they need of it."""
        self._context = None

    def __enter__(self) -> "Context":
        self._open()
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()


_contexts_lock = threading.Lock()
_contexts: "OrderedDict[Any, Context]" = OrderedDict()


def context_for(cl_context: Any = None, cl_device: Any = None, compiles: bool = False,
                cuda: Optional[int] = None) -> Context:
    """The context of calls that name none: that of the pyopencl objects, of which the last 4 are kept, that of a device
    of CUDA, or the default one. compiles: the call needs OpenCL, which the native driver does not replace."""
    key: Any = None if cl_context is None else (cl_context.int_ptr, cl_device.int_ptr)
    device = None
    if cuda is not None:
        key = device = f"cuda:{cuda}"
    if compiles and key is None and not os.environ.get("IPT_DEVICE"):
        key = device = "opencl"
    with _contexts_lock:
        context = _contexts.pop(key, None) or Context(device, cl_context=cl_context, cl_device=cl_device)
        _contexts[key] = context
        for other in [other for other in _contexts if isinstance(other, tuple)][:-4]:
            del _contexts[other]
    return context


def checked_context(context: Any) -> Optional[Context]:
    if context is not None and not is_a(context, Context):
        raise TypeError(f"context is {shown(context)}: it must be an ipt.Context")
    return context
