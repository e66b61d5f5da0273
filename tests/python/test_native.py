"""The native driver: this CPU without OpenCL."""
import os
import subprocess
import sys

import ipt
import numpy
import pytest


@pytest.fixture(scope="module", name="context")
def native_context():
    return ipt.Context("native")


def test_describes_itself(context):
    assert context.device.startswith("native: this CPU\n")


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "c16", "S3"])
def test_transposes(context, dtype):
    generator = numpy.random.default_rng(1)
    for shape, axes in [((317, 123), (1, 0)), ((1000, 3), (1, 0)), ((40, 50, 3), (2, 0, 1)), ((9, 8, 7, 6), (3, 2, 1, 0))]:
        array = generator.bytes(numpy.dtype(dtype).itemsize * int(numpy.prod(shape)))
        array = numpy.frombuffer(bytearray(array), dtype).reshape(shape)
        expected = array.transpose(axes).tobytes()
        assert ipt.transpose_(array, axes, context=context).tobytes() == expected


def test_what_needs_a_compiler_says_so(context):
    with pytest.raises(ipt.Error, match="OpenCL device"):
        ipt.Plan((30, 40), 4, expression="x + 1", expression_type="uint", context=context)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_children_by_fork_go_on():
    """Without any OpenCL library, as on a machine without OpenCL."""
    code = """
import os
import ipt, numpy
def work():
    array = numpy.arange(3000000).reshape(1000, 3000)
    return bool((ipt.transpose_(array.copy()) == array.T).all())
assert work()
pid = os.fork()
if pid == 0:
    os._exit(0 if work() else 1)
assert os.waitpid(pid, 0)[1] == 0 and work()
print("done")
"""
    environment = dict(os.environ, IPT_DEVICE="native")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.stdout == "done\n", done.stderr
