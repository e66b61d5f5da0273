"""The Python package against NumPy: in place, in host memory and in pyopencl arrays."""
import ctypes
import itertools
import sys
import threading
import time
import weakref

import numpy
import pytest

import ipt


def make(shape, dtype=numpy.float32, order="C"):
    count = int(numpy.prod(shape))
    return numpy.array(numpy.arange(count) % 251, dtype=dtype).reshape(shape).copy(order=order)


def same_memory(a, b):
    return a.__array_interface__["data"][0] == b.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16", "S3", [("x", "f4"), ("y", "u2")]])
def test_transposes_every_kind_of_element(dtype):
    bytes_each = numpy.dtype(dtype).itemsize
    raw = numpy.random.default_rng(1).integers(0, 255, 31 * 17 * bytes_each, dtype=numpy.uint8)
    a = raw.view(dtype).reshape(31, 17)
    expected = a.T.copy()
    b = ipt.transpose_(a)
    assert b.shape == (17, 31) and b.dtype == a.dtype and same_memory(a, b) and b.flags.c_contiguous
    assert b.tobytes() == expected.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axes", list(itertools.permutations(range(4))))
def test_permutes_as_numpy(axes, order):
    a = make((3, 4, 5, 6), order=order)
    expected = numpy.transpose(a, axes).copy()
    b = ipt.permute_(a, axes)
    assert b.shape == expected.shape and (b == expected).all() and same_memory(a, b)
    assert b.flags.c_contiguous if order == "C" else b.flags.f_contiguous


def test_negative_axes():
    a = make((3, 4, 5))
    expected = numpy.transpose(a, (-1, 0, 1)).copy()
    assert (ipt.permute_(a, (-1, 0, 1)) == expected).all()


@pytest.mark.parametrize("shape", [(7,), (5, 9), (4, 5, 6), (2, 3, 4, 5), (3, 1, 4)])
def test_asorder_keeps_the_array(shape):
    a = make(shape)
    expected = a.copy()
    f = ipt.asorder_(a, "F")
    assert f.shape == shape and f.flags.f_contiguous and (f == expected).all() and same_memory(a, f)
    c = ipt.asorder_(f, "C")
    assert c.flags.c_contiguous and (c == expected).all() and same_memory(a, c)


def test_asorder_that_is_right_already():
    a = make((3, 4))
    assert ipt.asorder_(a, "C") is a


def test_many_axes():
    a = make((2,) * 17)
    together = tuple(range(8, 17)) + tuple(range(8))
    expected = numpy.transpose(a, together).copy()
    assert (ipt.permute_(a, together) == expected).all()
    with pytest.raises(ValueError, match="at most 16 groups of axes"):
        ipt.transpose_(a)
    for axes in (tuple(reversed(range(16))), tuple(int(axis) for axis in numpy.random.default_rng(5).permutation(16))):
        a = make((2,) * 16)
        expected = numpy.transpose(a, axes).copy()
        assert (ipt.permute_(a, axes) == expected).all()


@pytest.mark.parametrize("shape", [(0, 3), (1, 5), (5, 1), (1, 1, 1), ()])
def test_nothing_to_move(shape):
    a = make(shape)
    b = ipt.transpose_(a)
    assert b.shape == tuple(reversed(shape)) and (b == a.T).all()


def test_refuses_a_part_of_an_array():
    a = make((8, 8))
    before = a.copy()
    with pytest.raises(ValueError, match="not contiguous.*copy"):
        ipt.transpose_(a[:, ::2])
    assert (a == before).all()


def test_refuses_read_only():
    a = make((4, 5))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only.*copy"):
        ipt.transpose_(a)


def test_refuses_other_objects():
    with pytest.raises(TypeError, match="list"):
        ipt.transpose_([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="objects"):
        ipt.transpose_(numpy.array([[None, 1], [2, 3]], dtype=object))


@pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 2), (1, 0, 2)])
def test_refuses_wrong_axes(axes):
    with pytest.raises(ValueError, match="once"):
        ipt.permute_(make((4, 5)), axes)


def test_refuses_wrong_order():
    with pytest.raises(ValueError, match="order"):
        ipt.asorder_(make((4, 5)), "K")


def test_errors_have_the_librarys_sentence():
    with pytest.raises(ipt.Error, match="no such device") as caught:
        ipt.Context("no such device")
    assert caught.value.result != 0 and caught.value.kind
    with pytest.raises(ipt.Error):
        ipt.Plan((30, 40), 4, expression="not OpenCL C (", expression_type="float")


def test_plan_executes_repeatedly_and_describes_itself():
    with ipt.Context() as context, ipt.Plan((60, 70), 8, context=context) as plan:
        assert "60" in plan.describe() and plan.result_shape == (70, 60) and plan.nbytes == 60 * 70 * 8
        assert plan.workspace >= 0 and "\n" in context.device
        for seed in range(3):
            a = numpy.random.default_rng(seed).random((60, 70))
            expected = a.T.copy()
            plan.execute(a)
            assert (a.reshape(70, 60) == expected).all()
    with pytest.raises(ValueError, match="closed"):
        plan.execute(make((60, 70), "f8"))
    with pytest.raises(ValueError, match="closed"):
        ipt.Plan((6, 7), 4, context=context)


def test_plan_takes_any_buffer_of_the_right_size():
    plan = ipt.Plan((3, 2), 1)
    data = bytearray(b"abcdef")
    plan.execute(data)
    assert data == b"acebdf"
    with pytest.raises(ValueError, match="bytes"):
        plan.execute(bytearray(5))
    with pytest.raises(ValueError, match="read-only"):
        plan.execute(b"abcdef")


def test_batch_and_expression():
    a = make((3, 20, 30))
    expected = numpy.transpose(a, (0, 2, 1)) * 2
    ipt.Plan((20, 30), 4, batch=3, expression="x * 2", expression_type="float").execute(a)
    assert (a.reshape(3, 30, 20) == expected).all()


def test_expression_names_places():
    a = make((2, 5, 6, 7))
    expected = numpy.transpose(a, (0, 2, 3, 1)) + numpy.array([0, 10, 20, 30, 40], a.dtype)
    ipt.Plan((2, 5, 6, 7), 4, (0, 2, 3, 1), expression="x + 10 * i3", expression_type="float").execute(a)
    assert (a.reshape(2, 6, 7, 5) == expected).all()


def test_texts_with_a_nul_are_refused():
    for text in ("x\0 + 1", "\0", "x + 1\0"):
        with pytest.raises(ValueError, match="^expression is .* NUL"):
            ipt.Plan((20, 30), 4, expression=text, expression_type="float")
    with pytest.raises(ValueError, match="^expression_type is .* NUL"):
        ipt.Plan((20, 30), 4, expression="x", expression_type="float\0x")
    with pytest.raises(ValueError, match="^device is .* NUL"):
        ipt.Context("p\0q")
    with pytest.raises(ValueError, match="^cache is .* NUL"):
        ipt.Context(cache="/nonexistent\0x")
    with ipt.Context() as context, pytest.raises(ValueError, match="^wisdom is .* NUL"):
        context.import_wisdom(context.wisdom() + "\0x")


def test_progress_ends_and_carries_exceptions():
# In pieces, so that there is progress to report.
    plan = ipt.Plan((600, 700), 4, max_device_memory=2000000)
    a = make((600, 700))
    expected = a.T.copy()
    seen = []
    plan.execute(a, progress=lambda done, total: seen.append((done, total)))
    assert (a.reshape(700, 600) == expected).all()
    assert seen == sorted(seen) and seen[-1][0] == seen[-1][1]
    with pytest.raises(ipt.Error):
        plan.execute(make((600, 700)), progress=lambda done, total: False)

    def fails(done, total):
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        plan.execute(make((600, 700)), progress=fails)


def test_progress_with_tqdm():
    tqdm = pytest.importorskip("tqdm")
    a = make((600, 700))
    expected = a.T.copy()
    with tqdm.tqdm(disable=True) as bar:
        ipt.transpose_(a, progress=lambda done, total: bar.update(done - bar.n) and None)
    assert (a.reshape(700, 600) == expected).all()


def test_wisdom_travels():
    with ipt.Context() as context:
        ipt.Plan((500, 300), 4, context=context, measure=True)
        text = context.wisdom()
    with ipt.Context() as other:
        other.import_wisdom(text)
        assert other.wisdom() == text
        with pytest.raises(ipt.Error):
            other.import_wisdom("not wisdom")


def test_threads_share_the_context():
    failures = []

    def work(seed):
        a = numpy.random.default_rng(seed).random((50 + seed, 40))
        for _ in range(5):
            expected = a.T.copy()
            a = ipt.transpose_(a)
            if not (a == expected).all():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_memory_lives_as_long_as_the_result():
    a = make((40, 30))
    expected = a.T.copy()
    alive = weakref.ref(a)
    b = ipt.transpose_(a)
    del a
    assert alive() is not None and (b == expected).all()
    del b
    assert alive() is None


def test_file_in_memory(tmp_path):
    mapped = numpy.memmap(tmp_path / "a.raw", dtype="f4", mode="w+", shape=(30, 50))
    mapped[:] = make((30, 50))
    expected = numpy.asarray(mapped).T.copy()
    ipt.transpose_(mapped)
    mapped.flush()
    assert (numpy.fromfile(tmp_path / "a.raw", "f4").reshape(50, 30) == expected).all()


def opencl_queue():
    cl = pytest.importorskip("pyopencl")
    try:
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.LogicError:
        devices = []
    if not devices:
        pytest.skip("pyopencl finds no device")
    context = cl.Context([devices[0]])
    return cl, cl.CommandQueue(context)


def test_pyopencl_array():
    cl, queue = opencl_queue()
    array_module = pytest.importorskip("pyopencl.array")
    before = make((30, 40, 5))
    with ipt.Context(cl_context=queue.context) as context:
        a = array_module.to_device(queue, before)
        b = ipt.permute_(a, (2, 0, 1), context=context)
        assert b.shape == (5, 30, 40) and b.base_data is a.base_data
        assert (b.get() == numpy.transpose(before, (2, 0, 1))).all()
        c = ipt.asorder_(b, "F", context=context)
        assert c.shape == (5, 30, 40) and (c.get() == numpy.transpose(before, (2, 0, 1))).all()


def test_pyopencl_buffer_and_events():
    cl, queue = opencl_queue()
    before = make((64, 100))
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 256 + before.nbytes)
    written = cl.enqueue_copy(queue, buffer, before, dst_offset=256, is_blocking=False)
    with ipt.Context(cl_context=queue.context) as context, ipt.Plan((64, 100), 4, context=context) as plan:
        event = plan.enqueue(queue, buffer, 256, wait_for=[written])
        after = numpy.empty((100, 64), numpy.float32)
        cl.enqueue_copy(queue, after, buffer, src_offset=256, wait_for=[event])
        assert (after == before.T).all()
        with pytest.raises(ipt.Error, match="buffer"):
            plan.enqueue(queue, buffer, 512)


def test_other_threads_run_during_an_execution():
    """Threads do not take the interpreter from one another within the switch interval, so the counter advances during a
    call only if the call releases it."""
    count, end = [0], threading.Event()

    def work():
        while not end.is_set():
            count[0] += 1
            time.sleep(0.001)

    def advances(call):
        before = count[0]
        call()
        return count[0] > before

    def busy():
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pass

    plan = ipt.Plan((2000, 3000), 8)
    a = make((2000, 3000), "f8")
    plan.execute(a)
    interval = sys.getswitchinterval()
    thread = threading.Thread(target=work)
    try:
        sys.setswitchinterval(1000)
        thread.start()
        if getattr(sys, "_is_gil_enabled", lambda: True)():
            assert not advances(busy)
        until = time.monotonic() + 60  # a busy machine may not run the other thread for a while
        while not advances(lambda: plan.execute(a)):
            assert time.monotonic() < until, "no other thread ran during any execution"
    finally:
        sys.setswitchinterval(interval)
        end.set()
        thread.join()


# DLPack's structs, for producers that no package offers: OpenCL buffers, and tensors that ipt refuses.
class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Plain(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))


class Producer:
    """A tensor of a package that knows DLPack. Counts the calls of its deleter."""
    made: list = []  # a deleter may be called after a test has dropped its producer

    def __init__(self, data, shape, device=(1, 0), strides=None, bits=32, lanes=1, offset=0, versioned=False, flags=0,
                 major=1, deleter=True):
        self.made.append(self)
        self.device, self.versioned, self.ends, self.capsule = device, versioned, 0, None
        self.managed = Versioned(major, 0, None, None, flags) if versioned else Plain()
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(shape))(*strides)
        tensor = self.managed.tensor
        tensor.data, tensor.device_type, tensor.device_id, tensor.ndim = data, device[0], device[1], len(shape)
        tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset = 2, bits, lanes, offset
        tensor.shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        if strides:
            tensor.strides = ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64))

        def end(managed):
            assert managed == ctypes.addressof(self.managed)
            self.ends += 1

        self.end = DELETER(end)
        if deleter:
            self.managed.deleter = ctypes.cast(self.end, ctypes.c_void_p)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if "max_version" in options and not self.versioned:
            raise TypeError("unexpected keyword arguments")
        self.options = options
        self.capsule = new_capsule(ctypes.addressof(self.managed), self.names()[0], None)
        return self.capsule

    def names(self):
        return (b"dltensor_versioned", b"used_dltensor_versioned") if self.versioned else (b"dltensor", b"used_dltensor")


def export(a, **options):
    options.setdefault("bits", 8 * a.itemsize)
    return Producer(a.ctypes.data, a.shape, strides=[stride // a.itemsize for stride in a.strides], **options)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dlpack_of_host_memory(versioned, order):
    a = make((30, 40, 5), order=order)
    before, memory = a.copy(), a.ctypes.data
    producer = export(a, versioned=versioned)
    result = ipt.permute_(producer, (2, 0, 1))
    assert isinstance(result, ipt.Tensor) and result.shape == (5, 30, 40) and result.itemsize == 4
    assert capsule_name(producer.capsule) == producer.names()[1] and producer.ends == 0
    b = numpy.from_dlpack(result)
    assert b.dtype == a.dtype and b.ctypes.data == memory and (b == numpy.transpose(before, (2, 0, 1))).all()
    assert b.flags.c_contiguous if order == "C" else b.flags.f_contiguous
    del result
    assert producer.ends == 0 and b[4, 29, 39] == before[29, 39, 4]
    del b
    assert producer.ends == 1


def test_dlpack_without_strides_and_with_an_offset():
    a = numpy.arange(1 + 6 * 7, dtype="f8")
    producer = Producer(a.ctypes.data, (6, 7), bits=64, offset=8, deleter=False)
    result = ipt.transpose_(producer)
    assert (a[1:].reshape(7, 6) == numpy.arange(1, 43).reshape(6, 7).T).all() and a[0] == 0
    assert ipt.asorder_(result, "F").shape == (7, 6) and ipt.asorder_(result, "C") is result


def test_dlpack_of_numpy():
    """A package's own capsules: numpy's, from behind an object that is no array."""
    class Hidden:
        def __init__(self, a):
            self.__dlpack_device__, self.__dlpack__ = a.__dlpack_device__, a.__dlpack__

    a = make((50, 60), "c8")
    before = a.copy()
    b = numpy.from_dlpack(ipt.transpose_(Hidden(a)))
    assert b.dtype == a.dtype and same_memory(a, b) and (b == before.T).all()
    alive = weakref.ref(a)
    del a
    assert (b == before.T).all() and alive() is not None
    del b
    assert alive() is None


def test_dlpack_results_share_the_import():
    a = make((20, 30), "i2")
    before = a.copy()
    producer = export(a)
    first = ipt.transpose_(producer)
    second = ipt.transpose_(first)
    unused = second.__dlpack__(max_version=(1, 1))
    assert first.shape == (30, 20) and second.shape == (20, 30) and (a == before).all()
    assert capsule_name(unused) == b"dltensor_versioned" and capsule_name(second.__dlpack__()) == b"dltensor"
    third = ipt.Tensor(second)  # like a package that knows only DLPack
    del first, second
    assert producer.ends == 0
    del third
    assert producer.ends == 0
    del unused
    assert producer.ends == 1


def test_dlpack_of_vectors_and_of_nothing_to_move():
    a = make((6, 4, 3), "u1")
    before = a.copy()
    ipt.transpose_(Producer(a.ctypes.data, (6, 4), bits=8, lanes=3))  # elements of three bytes
    assert (a.reshape(4, 6, 3) == before.transpose(1, 0, 2)).all()
    for shape in ((0, 5), (1, 5), ()):
        producer = export(make(shape))
        assert ipt.transpose_(producer).shape == shape[::-1]
        assert producer.ends == 1


@pytest.mark.parametrize("words, options", [
    ("Metal.*CPU first", {"device": (8, 0)}), ("does not know.*CPU first", {"device": (99, 3)}),
    ("read-only", {"versioned": True, "flags": 1}), ("copied", {"versioned": True, "flags": 2}),
    ("version 2", {"versioned": True, "major": 2}), ("4 bits", {"bits": 4}), ("0 bits", {"lanes": 0}),
    ("contiguous", {"strides": (80, 2)}), ("contiguous", {"strides": (0, 1)})])
def test_dlpack_refuses(words, options):
    a = make((20, 40))
    before = a.copy()
    producer = Producer(a.ctypes.data, (20, 40), **options)
    with pytest.raises(ValueError, match=words):
        ipt.transpose_(producer)
    assert (a == before).all() and producer.ends == (0 if producer.capsule is None else 1)


def test_dlpack_capsules_are_consumed_once():
    a = make((4, 5))
    producer = export(a)
    capsule = producer.__dlpack__()

    class Twice:
        __dlpack_device__ = producer.__dlpack_device__

        def __dlpack__(self):
            return capsule

    ipt.transpose_(Twice())
    with pytest.raises(ValueError, match="PyCapsule"):
        ipt.transpose_(Twice())
    assert producer.ends == 1
    with pytest.raises(BufferError, match="copy"):
        ipt.Tensor(export(a)).__dlpack__(copy=True)
    with pytest.raises(BufferError, match="stays"):
        ipt.Tensor(export(a)).__dlpack__(dl_device=(4, 0))
    with pytest.raises(BufferError, match="stream"):
        ipt.Tensor(export(a)).__dlpack__(stream=1)


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_of_an_opencl_buffer(versioned):
    cl, queue = opencl_queue()
    before = make((64, 100, 3), "f4")
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 256 + before.nbytes)
    cl.enqueue_copy(queue, buffer, before, dst_offset=256)
    producer = Producer(buffer.int_ptr, before.shape, device=(4, 0), offset=256, versioned=versioned)
    result = ipt.permute_(producer, (2, 0, 1))
    after = numpy.empty((3, 64, 100), "f4")
    cl.enqueue_copy(queue, after, buffer, src_offset=256)
    assert (after == before.transpose(2, 0, 1)).all()
    assert result.shape == after.shape and result.__dlpack_device__() == (4, 0) and producer.ends == 0
    assert buffer.get_info(cl.mem_info.REFERENCE_COUNT) == 1  # ipt references the tensor, not the buffer
    capsule = result.__dlpack__(max_version=(1, 0) if versioned else None)
    assert capsule_name(capsule) == producer.names()[0]
    with ipt.Context(cl_context=queue.context) as context:
        back = ipt.permute_(result, (1, 2, 0), context=context)
    cl.enqueue_copy(queue, before, buffer, src_offset=256)
    assert back.shape == before.shape and (before == after.transpose(1, 2, 0)).all()
    with ipt.Context() as elsewhere, pytest.raises(ipt.Error, match="context"):
        ipt.transpose_(back, context=elsewhere)
    del result, back
    assert producer.ends == 0
    del capsule
    assert producer.ends == 1


def test_dlpack_of_an_opencl_buffer_that_is_too_small():
    cl, queue = opencl_queue()
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 100)
    producer = Producer(buffer.int_ptr, (10, 20), device=(4, 0))
    with pytest.raises(ipt.Error, match="100 bytes"):
        ipt.transpose_(producer)
    assert producer.ends == 1
