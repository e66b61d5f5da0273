"""Objects that ipt refuses: each in a sentence, with nothing changed and no crash."""
import mmap
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy
import pytest

import ipt
from test_ipt import export, make, opencl_queue


def test_wrong_objects_at_every_argument():
    """IPT_TEST_WRONG: more random combinations. IPT_TEST_SEED: others."""
    cases, seed = os.environ.get("IPT_TEST_WRONG", "500"), os.environ.get("IPT_TEST_SEED", "1")
    done = subprocess.run([sys.executable, str(Path(__file__).with_name("wrong_objects.py")), seed, cases], text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = done.stdout.splitlines() or ["nothing"]
    assert done.returncode == 0, f"ended with {done.returncode} at: {lines[-1]}\n{done.stderr[-2000:]}"
    wrong = [line for line in lines if line.startswith(("unexpected:", "no words:", "changed:"))]
    assert not wrong, "\n".join(wrong)
    assert int(lines[-1].split()[0]) >= 50, lines[-1]


@pytest.mark.parametrize("call, words", [
    (lambda: ipt.permute_(make((2, 3)), (1.9, 0.2)), r"axes\[0\] is 1.9: it must be an integer"),
    (lambda: ipt.permute_(make((2, 3)), (True, False)), r"axes\[0\] is True"),
    (lambda: ipt.rotate_(make((2, 3)), "rotate-90", (0.0, 1.0)), r"axes\[0\] is 0.0"),
    (lambda: ipt.Plan((10.7, 3), 4), r"shape\[0\] is 10.7"), (lambda: ipt.Plan((3, True), 4), r"shape\[1\] is True"),
    (lambda: ipt.Plan((3, 4), 4.0), "itemsize is 4.0"), (lambda: ipt.Plan((3, 4), 4, batch=1.5), "batch is 1.5"),
    (lambda: ipt.Plan((3, 4), 4, context="nvidia"), "context is 'nvidia': it must be an ipt.Context"),
    (lambda: ipt.transpose_(make((2, 3)), progress=7), "progress is 7: it must be a function"),
    (lambda: ipt.Plan((3, 4), 4, expression=4), "expression is 4: it must be a string")])
def test_types_of_arguments(call, words):
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("call, words", [
    (lambda: ipt.Plan((100, 200), 4, batch=0), "batch is 0: it must be at least 1"),
    (lambda: ipt.Plan((100, 0), 4), r"shape\[1\] is 0: it must be at least 1"), (lambda: ipt.Plan((), 4), "at least one axis"),
    (lambda: ipt.Plan((3, 4), 0), "itemsize is 0"), (lambda: ipt.Plan((3, 4), 4, max_workspace=-1), "max_workspace is -1"),
    (lambda: ipt.Plan((2**40, 2**40), 4), "more than"), (lambda: ipt.Plan((2**70, 2), 4), "at most"),
    (lambda: ipt.Plan((2, 3), 4, expression="x \0 + 1", expression_type="float"), "NUL"),
    (lambda: ipt.Context(cache="a\0b"), "NUL"), (lambda: ipt.Plan((3, 4), 4, axes=range(100)), "more than 64 items")])
def test_values_of_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_plans_of_one_element_take_numpys_integers():
    plan = ipt.Plan(numpy.array([3, 2]), numpy.int8(1), batch=numpy.uint64(1))
    data = bytearray(b"abcdef")
    plan.execute(data)
    assert data == b"acebdf"


def test_pieces_of_memory_without_a_format():
    dates = numpy.arange(0, 6, dtype="M8[s]")
    ipt.Plan((2, 3), 8).execute(dates)
    assert (dates.reshape(3, 2) == numpy.arange(0, 6, dtype="M8[s]").reshape(2, 3).T).all()
    memory = mmap.mmap(-1, 6)
    memory[:] = b"abcdef"
    ipt.Plan((3, 2), 1).execute(memory)
    assert memory[:] == b"acebdf"
    with pytest.raises(ValueError, match="objects"):
        ipt.Plan((2, 3), 8).execute(numpy.full((2, 3), None))
    with pytest.raises(ValueError, match="masked"):
        ipt.Plan((2, 3), 8).execute(numpy.ma.zeros((2, 3)))
    with pytest.raises(TypeError, match="memory is a list"):
        ipt.Plan((2, 3), 8).execute([1, 2])


@pytest.mark.parametrize("mask", [numpy.ma.nomask, numpy.eye(4, 5)])
def test_masked_arrays(mask):
    a = numpy.ma.masked_array(make((4, 5)), mask)
    for call in (ipt.transpose_, ipt.ascontiguous_, lambda a: ipt.rotate_(a, "rotate-90"), ipt.Tensor):
        with pytest.raises(ValueError, match="masked array.*leave its mask"):
            call(a)
    assert (a.data == make((4, 5))).all()


def test_read_only_memory(tmp_path):
    make((4, 5)).tofile(tmp_path / "a.raw")
    for a in (numpy.frombuffer(bytes(80), "f4").reshape(4, 5), numpy.broadcast_to(make((5,)), (4, 5)),
              numpy.memmap(tmp_path / "a.raw", "f4", "r", shape=(4, 5))):
        with pytest.raises(ValueError, match="read-only"):
            ipt.transpose_(a)
        with pytest.raises(ValueError, match="read-only"):
            ipt.Tensor(a)
    private = numpy.memmap(tmp_path / "a.raw", "f4", "c", shape=(4, 5))
    assert (ipt.transpose_(private) == make((4, 5)).T).all()


@pytest.mark.parametrize("package", ["jaxlib._jax", "jax", "tensorflow.python.framework.ops", "pyarrow.lib"])
def test_arrays_of_immutable_packages(package):
    """Their capsules say nothing about being read-only."""
    kind = type("Array", (type(export(make((1, 1)))),), {"__module__": package})
    a = make((4, 5))
    before = a.copy()
    array = kind(a.ctypes.data, (4, 5))
    with pytest.raises(ValueError, match="immutable.*donated"):
        ipt.transpose_(array)
    assert (a == before).all() and array.capsule is None
    assert (numpy.from_dlpack(ipt.transpose_(ipt.Tensor(array, donated=True))) == before.T).all()


def test_jax():
    numbers = pytest.importorskip("jax.numpy")
    x = numbers.arange(12.0).reshape(3, 4)
    before = numpy.array(x)
    with pytest.raises(ValueError, match="JAX.*immutable"):
        ipt.transpose_(x)
    assert (numpy.array(x) == before).all()
    assert (numpy.array(numbers.from_dlpack(ipt.transpose_(ipt.Tensor(x, donated=True)))) == before.T).all()


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(2 * 5 * 7 * 3.0).reshape(2, 5, 7, 3)
    expected = x.permute(0, 3, 1, 2).contiguous()
    y = torch.from_dlpack(ipt.ascontiguous_(x.permute(0, 3, 1, 2)))
    assert y.is_contiguous() and torch.equal(y, expected) and y.data_ptr() == x.data_ptr()
    for wrong in (torch.ones(3, 1).expand(3, 4), torch.ones(3, 4, requires_grad=True), torch._neg_view(torch.ones(3, 4)),
                  torch.ones(3, 4, dtype=torch.complex64).conj(), torch.eye(3).to_sparse(), torch.ones(3, 4, device="meta")):
        with pytest.raises((ValueError, BufferError)):
            ipt.transpose_(wrong)


def test_tensors_that_contradict_themselves():
    a = make((4, 5))
    for words, change in (("NULL", {"data": None}), ("no shape", {"ndim": -1}), ("lengths", {"shape": (-4, 5)})):
        producer = export(a)
        if "shape" in change:
            producer.shape[0] = -4
        else:
            setattr(producer.managed.tensor, *change.popitem())
        with pytest.raises(ValueError, match=words):
            ipt.transpose_(producer)
        assert producer.ends == 1
    with pytest.raises(TypeError, match="__dlpack_device__"):
        ipt.transpose_(types.SimpleNamespace(__dlpack__=lambda: None, __dlpack_device__=lambda: (1.0, 0)))


def test_pyopencl_objects_of_another_kind():
    cl, queue = opencl_queue()
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 24000)
    for options in ({"cl_context": queue}, {"cl_device": queue.context}, {"cl_context": queue.context, "cl_device": queue},
                    {"cl_device": 4711}, {"cl_context": 0}):
        with pytest.raises(TypeError, match="must be a pyopencl"):
            ipt.Context(**options)
    plan = ipt.Plan((60, 100), 4, context=ipt.Context(cl_context=queue.context))
    marker = cl.enqueue_marker(queue)
    for arguments in ((queue, queue), (queue, queue.context), (buffer, buffer), (queue, buffer, 0, [buffer]),
                      (queue, buffer, 0, marker), (queue, buffer, 0, [marker, queue]), (queue, buffer, 0, 7),
                      (queue, make((60, 100))), (None, buffer), (queue, 4711), (queue, buffer, 1.5)):
        with pytest.raises(TypeError, match="must be"):
            plan.enqueue(*arguments)
    plan.enqueue(queue, buffer, 0, (event for event in [marker])).wait()


def test_pyopencl_arrays_find_their_context():
    cl, queue = opencl_queue()
    arrays = pytest.importorskip("pyopencl.array")
    before = make((30, 40))
    for _ in range(2):
        assert (ipt.transpose_(arrays.to_device(queue, before)).get() == before.T).all()
    other = cl.CommandQueue(cl.Context(queue.context.devices))
    assert (ipt.transpose_(arrays.to_device(other, before)).get() == before.T).all()
    with pytest.raises(ValueError, match="with_queue"):
        ipt.transpose_(arrays.to_device(queue, before).with_queue(None))
    with pytest.raises(ipt.Error, match="context"):
        ipt.transpose_(arrays.to_device(queue, before), context=ipt.Context())


def test_former_names():
    for name in ("transpose", "permute", "rotate", "asorder", "ascontiguous"):
        with pytest.raises(AttributeError, match=f"ipt has no {name}: it is {name}_ now"):
            getattr(ipt, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ipt.nothing
