"""The Python package against NumPy: in place, in host memory and in pyopencl arrays."""
import itertools
import threading
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
    b = ipt.transpose(a)
    assert b.shape == (17, 31) and b.dtype == a.dtype and same_memory(a, b) and b.flags.c_contiguous
    assert b.tobytes() == expected.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axes", list(itertools.permutations(range(4))))
def test_permutes_as_numpy(axes, order):
    a = make((3, 4, 5, 6), order=order)
    expected = numpy.transpose(a, axes).copy()
    b = ipt.permute(a, axes)
    assert b.shape == expected.shape and (b == expected).all() and same_memory(a, b)
    assert b.flags.c_contiguous if order == "C" else b.flags.f_contiguous


def test_negative_axes():
    a = make((3, 4, 5))
    expected = numpy.transpose(a, (-1, 0, 1)).copy()
    assert (ipt.permute(a, (-1, 0, 1)) == expected).all()


@pytest.mark.parametrize("shape", [(7,), (5, 9), (4, 5, 6), (2, 3, 4, 5), (3, 1, 4)])
def test_asorder_keeps_the_array(shape):
    a = make(shape)
    expected = a.copy()
    f = ipt.asorder(a, "F")
    assert f.shape == shape and f.flags.f_contiguous and (f == expected).all() and same_memory(a, f)
    c = ipt.asorder(f, "C")
    assert c.flags.c_contiguous and (c == expected).all() and same_memory(a, c)


def test_asorder_that_is_right_already():
    a = make((3, 4))
    assert ipt.asorder(a, "C") is a


def test_many_axes_that_stay_together():
    a = make((2,) * 10)
    axes = tuple(range(5, 10)) + tuple(range(5))
    expected = numpy.transpose(a, axes).copy()
    assert (ipt.permute(a, axes) == expected).all()
    with pytest.raises(ValueError, match="groups of axes"):
        ipt.transpose(a)


@pytest.mark.parametrize("shape", [(0, 3), (1, 5), (5, 1), (1, 1, 1), ()])
def test_nothing_to_move(shape):
    a = make(shape)
    b = ipt.transpose(a)
    assert b.shape == tuple(reversed(shape)) and (b == a.T).all()


def test_refuses_a_part_of_an_array():
    a = make((8, 8))
    before = a.copy()
    with pytest.raises(ValueError, match="not contiguous.*copy"):
        ipt.transpose(a[:, ::2])
    assert (a == before).all()


def test_refuses_read_only():
    a = make((4, 5))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only.*copy"):
        ipt.transpose(a)


def test_refuses_other_objects():
    with pytest.raises(TypeError, match="list"):
        ipt.transpose([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="objects"):
        ipt.transpose(numpy.array([[None, 1], [2, 3]], dtype=object))


@pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 2), (1, 0, 2)])
def test_refuses_wrong_axes(axes):
    with pytest.raises(ValueError, match="once"):
        ipt.permute(make((4, 5)), axes)


def test_refuses_wrong_order():
    with pytest.raises(ValueError, match="order"):
        ipt.asorder(make((4, 5)), "K")


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


def test_progress_ends_and_carries_exceptions():
    # In pieces: only then does the bus show how far the work is.
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
        ipt.transpose(a, progress=lambda done, total: bar.update(done - bar.n) and None)
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
            a = ipt.transpose(a)
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
    b = ipt.transpose(a)
    del a
    assert alive() is not None and (b == expected).all()
    del b
    assert alive() is None


def test_file_in_memory(tmp_path):
    mapped = numpy.memmap(tmp_path / "a.raw", dtype="f4", mode="w+", shape=(30, 50))
    mapped[:] = make((30, 50))
    expected = numpy.asarray(mapped).T.copy()
    ipt.transpose(mapped)
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
        b = ipt.permute(a, (2, 0, 1), context=context)
        assert b.shape == (5, 30, 40) and b.base_data is a.base_data
        assert (b.get() == numpy.transpose(before, (2, 0, 1))).all()
        c = ipt.asorder(b, "F", context=context)
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
