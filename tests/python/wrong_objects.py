"""Throws wrong objects at every argument of the package: wrong_objects.py SEED CASES. Each is refused in a sentence or
taken; a refusal changes no array. It runs in a process of its own, as a crash would end it: the last line printed names
the case. First comes each kind of object at each argument, then CASES random combinations."""
import array
import collections
import ctypes
import datetime
import decimal
import fractions
import io
import itertools
import mmap
import random
import sys
import types

import numpy

import ipt

try:
    import pyopencl as cl
    import pyopencl.array
    cl_context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(cl_context)
except Exception:  # no pyopencl, or no device
    cl = None


class Own(Exception):
    """What an object raises by itself, which may pass."""


class Hostile:
    """Raises whatever is done with it."""
    def __repr__(self):
        raise Own("repr")

    __str__ = __index__ = __int__ = __iter__ = __len__ = __bool__ = __eq__ = __call__ = __fspath__ = __repr__
    __hash__ = None

    def __getitem__(self, item):
        raise Own("item")


class Attributes:
    """Has each attribute and method, all of them wrong."""
    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__dlpack__", "__dlpack_device__", "__array_interface__", "__cuda_array_interface__"):
            raise AttributeError(name)
        return lambda *ignored, **named: self


class Liar:
    """Says that it is of another class."""
    int_ptr, devices = 4711, []

    def __init__(self, kind):
        self.kind = kind

    __class__ = property(lambda self: self.kind)


class Dlpack:
    def __init__(self, device, capsule):
        self.__dlpack_device__, self.__dlpack__ = lambda: device, lambda **options: capsule


class Interface:
    """Of CUDA, without any memory."""
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (6, 7), "typestr": "<f4", "data": (0, False), "version": 3, **changes}


class Masked(numpy.ma.MaskedArray):
    pass


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


kept = []


def tensor(device, ndim, shape, data=None, bits=32):
    """A tensor of DLPack whose fields contradict one another."""
    lengths = (ctypes.c_int64 * 4)(*shape) if shape else None
    made = DLTensor(data=data, device_type=device, ndim=ndim, bits=bits, lanes=1)
    if lengths is not None:
        made.shape = ctypes.cast(lengths, ctypes.POINTER(ctypes.c_int64))
    kept.extend((made, lengths))
    new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi))
    return Dlpack((device, 0), new_capsule(ctypes.addressof(made), b"dltensor", None))


def read_only(a):
    a.flags.writeable = False
    return a


def overlapping():
    return numpy.lib.stride_tricks.as_strided(numpy.zeros(40, "f4"), (6, 7), (8, 4))


# Each function creates a new object, because some objects are changed or consumed.
KINDS = {
    "None": lambda: None, "True": lambda: True, "numpy.bool": lambda: numpy.True_, "0": lambda: 0, "-1": lambda: -1,
    "1": lambda: 1, "7": lambda: 7, "2**31": lambda: 2**31, "2**63": lambda: 2**63, "2**64": lambda: 2**64,
    "10**5000": lambda: 10**5000, "1.9": lambda: 1.9, "nan": lambda: float("nan"), "inf": lambda: float("inf"),
    "1j": lambda: 1j, "numpy.float32": lambda: numpy.float32(2), "numpy.int8": lambda: numpy.int8(2),
    "Decimal": lambda: decimal.Decimal(2), "Fraction": lambda: fractions.Fraction(2), "date": lambda: datetime.date(1, 1, 1),
    "''": lambda: "", "'C'": lambda: "C", "'\\0'": lambda: "x\0y", "surrogate": lambda: "\udcff", "long text": lambda: "x" * 10**5,
    "bytes": lambda: b"1234", "bytearray": lambda: bytearray(24), "memoryview": lambda: memoryview(bytearray(168)),
    "read-only memoryview": lambda: memoryview(bytes(168)), "strided memoryview": lambda: memoryview(bytearray(336))[::2],
    "array.array": lambda: array.array("f", range(42)), "mmap": lambda: mmap.mmap(-1, 168), "closed mmap": lambda: closed(),
    "ctypes": lambda: (ctypes.c_float * 42)(), "ctypes pointer": lambda: ctypes.c_void_p(8), "py_object": lambda: (ctypes.py_object * 21)(),
    "()": lambda: (), "(1, 0)": lambda: (1, 0), "(0.0, 1.0)": lambda: (0.0, 1.0), "(2**70,)": lambda: (2**70,), "(0, 3)": lambda: (0, 3),
    "(2**40, 2**40)": lambda: (2**40, 2**40), "('a', None)": lambda: ("a", None), "nested": lambda: [[1, 2], [3, 4]],
    "set": lambda: {0, 1}, "dict": lambda: {"a": 1}, "range": lambda: range(100), "endless": lambda: itertools.count(), "generator": lambda: (i for i in (1, 0)),
    "object": object, "type": lambda: numpy.ndarray, "Tensor type": lambda: ipt.Tensor, "module": lambda: ipt, "function": lambda: print,
    "lambda": lambda: lambda *ignored: False, "file": io.BytesIO, "namespace": types.SimpleNamespace, "Hostile": Hostile, "Attributes": Attributes,
    "Liar ndarray": lambda: Liar(numpy.ndarray), "Liar Context": lambda: Liar(ipt.Context), "Liar Tensor": lambda: Liar(ipt.Tensor),
    "unmade Context": lambda: ipt.Context.__new__(ipt.Context), "unmade Plan": lambda: ipt.Plan.__new__(ipt.Plan),
    "unmade Tensor": lambda: ipt.Tensor.__new__(ipt.Tensor), "closed Context": lambda: closed_context(),
    "read-only array": lambda: read_only(numpy.zeros((6, 7), "f4")), "frombuffer": lambda: numpy.frombuffer(bytes(168), "f4").reshape(6, 7),
    "broadcast": lambda: numpy.broadcast_to(numpy.zeros(7, "f4"), (6, 7)), "overlapping": overlapping,
    "zero-strided": lambda: numpy.lib.stride_tricks.as_strided(numpy.zeros(7, "f4"), (6, 7), (0, 4)),
    "masked": lambda: numpy.ma.masked_array(numpy.zeros((6, 7), "f4"), numpy.eye(6, 7)), "masked without a mask": lambda: Masked(numpy.zeros((6, 7), "f4")),
    "objects": lambda: numpy.full((6, 7), None), "record of objects": lambda: numpy.zeros((6, 7), [("a", "O"), ("b", "f4")]),
    "matrix": lambda: numpy.matrix(numpy.zeros((6, 7), "f4")), "recarray": lambda: numpy.zeros((6, 7), [("a", "u1"), ("b", ">f4")]).view(numpy.recarray),
    "big-endian": lambda: numpy.zeros((6, 7), ">f4"), "dates": lambda: numpy.zeros((6, 7), "M8[s]"), "text": lambda: numpy.zeros((6, 7), "U3"),
    "V0": lambda: numpy.zeros((6, 7), "V0"), "0-d": lambda: numpy.zeros((), "f4"), "empty": lambda: numpy.zeros((0, 7), "f4"),
    "64 axes": lambda: numpy.zeros((1,) * 32), "odd address": lambda: numpy.zeros(169, "u1")[1:].view("f4").reshape(6, 7),
    "scalar": lambda: numpy.float64(3), "every other": lambda: numpy.zeros((6, 14), "f4")[:, ::2], "reversed": lambda: numpy.zeros((6, 7), "f4")[::-1],
    "interface: no memory": Interface, "interface: a list": lambda: Interface(shape=[6, "7"]), "interface: no type": lambda: Interface(typestr=b"\xff"),
    "interface: data": lambda: Interface(data=Hostile()), "interface: text": lambda: Interface(data="ab"), "interface: large": lambda: Interface(shape=(2**62, 2**62)),
    "dlpack: no capsule": lambda: Dlpack((1, 0), 42), "dlpack: no device": lambda: Dlpack(None, 42), "dlpack: text": lambda: Dlpack("ab", 42),
    "dlpack: NULL": lambda: tensor(1, 2, (6, 7)), "dlpack: negative": lambda: tensor(1, 2, (-6, 7), 64), "dlpack: -1 axes": lambda: tensor(1, -1, (6, 7), 64),
    "dlpack: no shape": lambda: tensor(1, 2, (), 64), "dlpack: huge": lambda: tensor(1, 2, (2**62, 2**62), 64), "dlpack: OpenCL NULL": lambda: tensor(4, 2, (6, 7)),
    "dlpack: no bits": lambda: tensor(1, 2, (6, 7), 64, 0),
}
if cl:
    KINDS.update({
        "cl.Context": lambda: cl_context, "cl.Device": lambda: cl_context.devices[0], "cl.Platform": lambda: cl_context.devices[0].platform,
        "cl.CommandQueue": lambda: queue, "cl.Buffer": lambda: cl.Buffer(cl_context, 0, 168), "cl.Event": lambda: cl.enqueue_marker(queue),
        "cl.UserEvent": lambda: complete(cl.UserEvent(cl_context)), "[cl.Buffer]": lambda: [cl.Buffer(cl_context, 0, 168)],
        "cl.Program": lambda: cl.Program(cl_context, "kernel void k(void) {}"), "cl.Sampler": lambda: cl.Sampler(cl_context, False, cl.addressing_mode.NONE, cl.filter_mode.NEAREST),
        "read-only buffer": lambda: cl.Buffer(cl_context, cl.mem_flags.READ_ONLY, 168), "other context": lambda: cl.CommandQueue(cl.Context(cl_context.devices)),
        "cl array": lambda: pyopencl.array.zeros(queue, (6, 7), "f4"), "cl array, no queue": lambda: pyopencl.array.zeros(queue, (6, 7), "f4").with_queue(None),
        "cl array, strided": lambda: pyopencl.array.zeros(queue, (6, 14), "f4")[:, ::2], "unmade cl.Buffer": lambda: cl.Buffer.__new__(cl.Buffer),
        "Liar Buffer": lambda: Liar(cl.Buffer), "Liar Device": lambda: Liar(cl.Device), "Liar array": lambda: Liar(pyopencl.array.Array)})


def closed():
    memory = mmap.mmap(-1, 168)
    memory.close()
    return memory


def closed_context():
    context = ipt.Context()
    context.close()
    return context


def complete(event):
    event.set_status(cl.command_execution_status.COMPLETE)
    return event


plan = ipt.Plan((6, 7), 4)
cl_plan = cl and ipt.Plan((6, 7), 4, context=ipt.Context(cl_context=cl_context))


def exported(**options):
    return ipt.Tensor(numpy.zeros((6, 7), "f4")).__dlpack__(**options)


# Functions, and valid arguments of each. A refusal must not change arrays.
FUNCTIONS = {
    "transpose": (ipt.transpose_, {"array": "A", "axes": (1, 0), "context": None, "progress": None}),
    "permute": (ipt.permute_, {"array": "A", "axes": (1, 0), "context": None, "progress": None}),
    "rotate": (ipt.rotate_, {"array": "A", "move": "rotate-90", "axes": (0, 1), "context": None, "progress": None}),
    "asorder": (ipt.asorder_, {"array": "A", "order": "F", "context": None, "progress": None}),
    "ascontiguous": (ipt.ascontiguous_, {"array": "AT", "context": None, "progress": None}),
    "Plan": (ipt.Plan, {"shape": (6, 7), "itemsize": 4, "axes": None, "move": None, "context": None, "batch": 1, "batch_stride": 0,
                        "row_pitch": 0, "row_pitch_out": 0, "max_workspace": 0, "max_device_memory": 0, "expression": None,
                        "expression_type": None, "measure": False}),
    "Plan.execute": (plan.execute, {"memory": "A", "progress": None, "out": None}),
    "Context": (ipt.Context, {"device": None, "cache": None, "cl_context": None, "cl_device": None}),
    "import_wisdom": (ipt.Context().import_wisdom, {"wisdom": ""}),
    "Tensor": (ipt.Tensor, {"producer": "A", "donated": False, "stream": None}),
    "Tensor.__dlpack__": (exported, {"stream": None, "max_version": None, "dl_device": None, "copy": None}),
    "batch": (ipt.batch, {"action": "posv", "options": (), "alpha": None, "beta": None, "context": None, "progress": None, "A": "A3", "B": "B3",
                          "info": None}),
}
if cl:
    FUNCTIONS["Plan.enqueue"] = (cl_plan.enqueue, {"queue": queue, "buffer": cl.Buffer(cl_context, 0, 168), "offset": 0, "wait_for": ()})


def valid(value):
    if value == "A":
        return numpy.arange(42, dtype="f4").reshape(6, 7)
    if value == "AT":
        return numpy.arange(42, dtype="f4").reshape(6, 7).T
    if value == "A3":
        return numpy.tile(numpy.eye(3) * 2, (5, 1, 1))
    return numpy.ones((5, 3, 2)) if value == "B3" else value


ALLOWED = (TypeError, ValueError, BufferError, ipt.Error, Own)
outcomes = collections.Counter()


def throw(function, wrong):
    """Calls a function with the kinds of objects that `wrong` names for some arguments."""
    print(function, wrong, flush=True)
    call, arguments = FUNCTIONS[function]
    given = {name: KINDS[wrong[name]]() if name in wrong else valid(value) if isinstance(value, str) else value
             for name, value in arguments.items()}
    arrays = [(name, array, array.copy()) for name, array in given.items() if type(array) is numpy.ndarray and not array.dtype.hasobject]
    try:
        call(**given)
        outcomes["taken"] += 1
    except ALLOWED as error:
        outcomes[type(error).__name__] += 1
        if not isinstance(error, Own) and not str(error):
            print("no words:", function, wrong, repr(error))
# An exception from progress may arrive at the end of the work.
        for name, array, before in arrays:
            if array.tobytes() != before.tobytes() and "progress" not in wrong:
                print("changed:", function, wrong, name, repr(error))
    except BaseException as error:
        print("unexpected:", function, wrong, repr(error)[:300])


for name in FUNCTIONS:
    for argument in FUNCTIONS[name][1]:
        for kind in KINDS:
            throw(name, {argument: kind})
rng = random.Random(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    name = rng.choice(list(FUNCTIONS))
    named = [argument for argument in FUNCTIONS[name][1] if rng.random() < 0.5]
    throw(name, {argument: rng.choice(list(KINDS)) for argument in named})
a = numpy.arange(42, dtype="f4").reshape(6, 7)
b = a.T.copy()
assert (ipt.transpose_(a) == b).all(), "ipt no longer works after all this"
print(len(KINDS), "kinds,", sum(outcomes.values()), "calls:", dict(outcomes))
