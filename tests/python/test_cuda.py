"""Arrays in CUDA's memory of packages that ipt does not know, through __cuda_array_interface__ and DLPack. Without a GPU
IPT_CUDA_LIBRARY names the stand-in of tests/cuda."""
import ctypes
import os
from ctypes import byref, c_int, c_uint32, c_uint64, c_void_p

import numpy
import pytest

import ipt
from test_ipt import Producer, capsule_name, make


class Driver:
    """Calls of CUDA's driver: a failure is an assertion."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ.get("IPT_CUDA_LIBRARY", "libcuda.so.1"))
        self.context = c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), 0)
        self.call("cuCtxPushCurrent_v2", self.context)

    def call(self, name, *arguments):
        assert getattr(self.library, name)(*arguments) == 0, name

    def stream(self):
        made = c_void_p()
        self.call("cuStreamCreate", byref(made), 1)
        return made.value

    def wait(self, stream):
        self.call("cuStreamSynchronize", c_void_p(stream))

    def gate(self, stream):
        """Lets a stream wait for a word of the host's memory, which is returned."""
        word, address = c_void_p(), c_uint64()
        self.call("cuMemHostAlloc", byref(word), ctypes.c_size_t(4), 3)
        self.call("cuMemHostGetDevicePointer_v2", byref(address), word, 0)
        opened = c_uint32.from_address(word.value)
        opened.value = 0
        self.call("cuStreamWaitValue32_v2", c_void_p(stream), address, c_uint32(1), 0)
        return opened


@pytest.fixture(scope="module", name="driver")
def cuda_driver():
    try:
        return Driver()
    except (OSError, AssertionError) as error:
        pytest.skip(f"no CUDA driver: {error}")


class Memory:
    """A copy of a NumPy array in CUDA's memory."""

    def __init__(self, driver, array, readonly=False, stream=None, **changes):
        self.driver, self.strides, self.shape, self.dtype = driver, array.strides, array.shape, array.dtype
        self.bytes = array.nbytes
        address = c_uint64()
        driver.call("cuMemAlloc_v2", byref(address), ctypes.c_size_t(max(self.bytes, 1)))
        self.address = address.value
        flat = numpy.frombuffer(array.tobytes("A"), "u1")
        driver.call("cuMemcpyHtoDAsync_v2", address, c_void_p(flat.ctypes.data), ctypes.c_size_t(self.bytes), None)
        driver.wait(None)
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (self.address, readonly),
                                         "strides": array.strides, "stream": stream, "version": 3, **changes}

    def get(self, shape, stream=None):
        """The memory's bytes as a C-contiguous array."""
        self.driver.wait(stream)
        found = numpy.empty(shape, self.dtype)
        self.driver.call("cuMemcpyDtoHAsync_v2", c_void_p(found.ctypes.data), c_uint64(self.address),
                         ctypes.c_size_t(self.bytes), None)
        self.driver.wait(None)
        return found

    def __del__(self):
        self.driver.call("cuMemFree_v2", c_uint64(self.address))


def exported(memory, **options):
    strides = [stride // memory.dtype.itemsize for stride in memory.strides]
    producer = Producer(memory.address, memory.shape, (2, 0), strides, bits=8 * memory.dtype.itemsize, **options)
    producer.memory = memory  # lives as long
    return producer


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "c8", "V3"])
def test_interface(driver, dtype):
    a = numpy.frombuffer(numpy.random.default_rng(1).bytes(30 * 40 * 5 * numpy.dtype(dtype).itemsize), dtype).reshape(30, 40, 5)
    memory, stream = Memory(driver, a), driver.stream()
    memory.__cuda_array_interface__["stream"] = stream
    result = ipt.permute_(memory, (2, 0, 1))
    its = result.__cuda_array_interface__
    assert isinstance(result, ipt.CudaArray) and its["shape"] == (5, 30, 40) and its["typestr"] == a.dtype.str
    assert its["data"] == (memory.address, False) and its["stream"] == stream and its["version"] == 3
    assert memory.get((5, 30, 40), stream).tobytes() == a.transpose(2, 0, 1).tobytes()
    for _ in range(2):  # the second finds its plan by the call
        result = ipt.permute_(result, (1, 2, 0))
        result = ipt.transpose_(ipt.rotate_(result, "rotate-90"), (1, 0, 2))
        result = ipt.permute_(ipt.rotate_(result, "flip-horizontal"), (2, 0, 1))
    assert result.shape == (5, 30, 40)
    assert memory.get((5, 30, 40), stream).tobytes() == a.transpose(2, 0, 1).tobytes()
    assert ipt.asorder_(result, "C") is result


def test_interface_of_reversed_axes(driver):
    a = make((6, 7))
    memory = Memory(driver, a)
    memory.__cuda_array_interface__.update(data=(memory.address + 5 * 28, False), strides=(-28, 4))
    result = ipt.ascontiguous_(memory)
    assert result.__cuda_array_interface__["data"][0] == memory.address
    assert (memory.get((6, 7)) == a[::-1]).all()


@pytest.mark.parametrize("error, words, changes", [
    (ValueError, "read-only: work on a copy", {"data": (4096, True)}), (ValueError, "knows no memory", {"data": (0, False)}),
    (ValueError, "mask", {"mask": 7}), (TypeError, "must be a sequence", {"data": 7}), (ValueError, "two items", {"data": (1,)}),
    (ValueError, "as many as shape", {"strides": (4,)}), (ValueError, "numbers and records", {"typestr": "|O"}),
    (TypeError, "data type", {"typestr": 7.5}), (ValueError, "stream is 0", {"stream": 0}), (TypeError, r"shape\[0\]", {"shape": (4.0, 5)}),
    (ValueError, r"shape\[0\] is -4", {"shape": (-4, 5)})])
def test_interfaces_that_are_refused(driver, error, words, changes):
    a = make((4, 5))
    memory = Memory(driver, a, **changes)
    with pytest.raises(error, match=words):
        ipt.transpose_(memory)
    assert (memory.get((4, 5)) == a).all()
    memory.__cuda_array_interface__ = [changes]
    with pytest.raises(TypeError, match="must be a dict"):
        ipt.transpose_(memory)


def test_work_is_enqueued(driver):
    """ipt returns before the stream has reached its work, and DLPack's consumers wait for it."""
    a = make((60, 50))
    stream, other = driver.stream(), driver.stream()
    plain = exported(Memory(driver, a))
    ipt.transpose_(ipt.Tensor(plain, stream=stream))  # compiles, which may wait
    for versioned in (False, True):
        memory = Memory(driver, a)
        producer = exported(memory, versioned=versioned)
        opened = driver.gate(stream)
        result = ipt.transpose_(ipt.Tensor(producer, stream=stream))
        assert producer.options["stream"] == stream
        assert (memory.get(a.shape) == a).all()
        capsule = result.__dlpack__(stream=other)
        opened.value = 1
        assert (memory.get((50, 60), other) == a.T).all()
        assert capsule_name(capsule) == b"dltensor" and result.__dlpack_device__() == (2, 0)
        del capsule, result
        assert producer.ends == 1


def test_dlpack_on_the_default_stream(driver):
    a = make((8, 9, 10))
    memory = Memory(driver, a)
    producer = exported(memory)
    result = ipt.permute_(producer, (2, 0, 1))
    assert producer.options["stream"] == 1 and result.shape == (10, 8, 9)
    for stream in (None, 1, -1):
        result.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="stream is 0"):
        result.__dlpack__(stream=0)
    assert (memory.get((10, 8, 9)) == a.transpose(2, 0, 1)).all()
    for flags, words in ((1, "read-only"), (2, "copied")):
        with pytest.raises(ValueError, match=words):
            ipt.transpose_(exported(memory, versioned=True, flags=flags))
    with pytest.raises(ValueError, match="stream is 0"):
        ipt.Tensor(producer, stream=0)
    with pytest.raises(ValueError, match="stream is for memory of CUDA"):
        ipt.Tensor(a, stream=1)


def test_immutable_arrays_on_cuda(driver):
    a = make((4, 5))
    memory = Memory(driver, a)
    kind = type("Array", (Producer,), {"__module__": "jaxlib._jax"})
    with pytest.raises(ValueError, match="JAX.*immutable.*donated"):
        ipt.transpose_(kind(memory.address, (4, 5), (2, 0)))
    ipt.transpose_(ipt.Tensor(kind(memory.address, (4, 5), (2, 0)), donated=True))
    assert (memory.get((5, 4)) == a.T).all()


def test_plans(driver):
    a = make((30, 40))
    source, target = Memory(driver, a), Memory(driver, numpy.zeros_like(a))
    with ipt.Context("cuda:0") as context, ipt.Plan((30, 40), 4, context=context) as plan:
        assert context.device.count("\n") > 1
        plan.execute(source, out=target)
        assert (source.get((30, 40)) == a).all() and (target.get((40, 30)) == a.T).all()
        plan.execute(exported(source))
        assert (source.get((40, 30)) == a.T).all()
        with pytest.raises(ValueError, match="1200 bytes, and the plan's arrays have 4800"):
            plan.execute(Memory(driver, make((30, 10))))
        with pytest.raises(ValueError, match="not contiguous"):
            plan.execute(Memory(driver, make((30, 40)), shape=(30, 30)))
        with pytest.raises(ValueError, match="progress"):
            plan.execute(source, lambda done, total: None)
        with pytest.raises(ValueError, match="different devices or streams"):
            plan.execute(source, out=Memory(driver, a, stream=driver.stream()))
    with pytest.raises(ValueError, match="out is for CUDA"):
        ipt.Plan((30, 40), 4).execute(a, out=a.copy())
    with pytest.raises(ipt.Error, match="IPT_DRIVER_CUDA"):
        ipt.Plan((30, 40), 4).execute(source)


def test_batches(driver):
    rng = numpy.random.default_rng(1)
    a, b = rng.random((70, 4, 4)) + 4 * numpy.eye(4), rng.random((70, 4, 2))
    stream = driver.stream()
    operands = {"A": Memory(driver, a), "B": Memory(driver, b), "pivots": Memory(driver, numpy.zeros((70, 4), "i4")),
                "info": Memory(driver, numpy.ones(70, "i4"))}
    for memory in operands.values():
        memory.__cuda_array_interface__["stream"] = stream
    result = ipt.batch("gesv", **operands)
    assert result.B is operands["B"]
    assert numpy.allclose(operands["B"].get(b.shape, stream), numpy.linalg.solve(a, b))
    assert not operands["info"].get((70,)).any()
    c = Memory(driver, numpy.ones((70, 4, 2)))
    x, y = Memory(driver, a), Memory(driver, b)
    ipt.batch("gemm", A=x, B=exported(y), C=c, alpha=2, beta=3)
    assert numpy.allclose(c.get((70, 4, 2)), 2 * a @ b + 3)
    with pytest.raises(ValueError, match="pass all operands"):
        ipt.batch("gemm", A=x, B=y)
    with pytest.raises(ValueError, match="different devices or streams"):
        ipt.batch("gemm", A=x, B=y, C=numpy.zeros((70, 4, 2)))
    with pytest.raises(ValueError, match="shares memory"):
        ipt.batch("gemm", A=x, B=x, C=x)


def test_graphs_keep_their_plans(driver):
    """A graph is launched after more other plans than the package keeps."""
    a, stream, graph, made = make((33, 44)), driver.stream(), c_void_p(), c_void_p()
    memory = Memory(driver, a, stream=stream)
    ipt.transpose_(memory)
    assert (memory.get((44, 33), stream) == a.T).all()
    driver.call("cuStreamBeginCapture_v2", c_void_p(stream), c_int(1))
    ipt.transpose_(memory)
    driver.call("cuStreamEndCapture", c_void_p(stream), byref(graph))
    driver.call("cuGraphInstantiateWithFlags", byref(made), graph, c_uint64(0))
    for length in range(2, 70):
        ipt.transpose_(Memory(driver, make((length, 3)), stream=stream))
    expected = memory.get((33, 44), stream)
    for _ in range(3):
        driver.call("cuGraphLaunch", made, c_void_p(stream))
        expected = expected.T.reshape(33, 44)
        assert (memory.get((33, 44), stream) == expected).all()
    driver.call("cuGraphExecDestroy", made)
    driver.call("cuGraphDestroy", graph)
