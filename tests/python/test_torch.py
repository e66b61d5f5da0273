"""PyTorch's tensors: on the CPU, and on CUDA where there is a GPU. IPT_TEST_SEED: other random tensors."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ipt

torch = pytest.importorskip("torch")

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
TYPES = [getattr(torch, name) for name in ("uint8", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
                                           "bool", "int64", "float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)]
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU of CUDA for torch")
needs_operator = pytest.mark.skipif(not hasattr(torch.library, "custom_op"), reason="torch is older than 2.4")


@pytest.fixture(name="device", params=DEVICES)
def each_device(request):
    return request.param


def bits(tensor):
    """A tensor's elements as bytes: not all types can be compared."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(bits(a), bits(b))


def random(shape, dtype=torch.float32, device="cpu", seed=0):
    count = torch.empty(0, dtype=dtype).element_size()
    for length in shape:
        count *= length
    generator = torch.Generator().manual_seed(seed)
    found = torch.randint(0, 2 if dtype == torch.bool else 256, (count,), generator=generator, dtype=torch.uint8)
    return found.to(device).view(dtype).reshape(shape)


def check_permuted(tensor, axes):
    expected, data = bits(tensor.permute(axes)), tensor.data_ptr()
    shape = tuple(tensor.shape[axis] for axis in axes)
    result = ipt.permute_(tensor, axes)
    assert result.shape == shape and result.dtype == tensor.dtype and result.data_ptr() == data
    assert torch.equal(bits(result), expected), (shape, axes, tensor.dtype)


def test_random_tensors(device):
    """60 tensors against torch's permute and contiguous."""
    numbers = torch.Generator().manual_seed(int(os.environ.get("IPT_TEST_SEED", "1")))

    def number(below):
        return int(torch.randint(below, (1,), generator=numbers))

    for case in range(60):
        rank = 1 + number(5)
        most = (4000, 300, 60, 24, 12)[rank - 1]
        shape = [1 + number(most) for _ in range(rank)]
        axes = torch.randperm(rank, generator=numbers).tolist()
        check_permuted(random(shape, TYPES[number(len(TYPES))], device, case), axes)


def test_views_of_a_storage(device):
    """The rest of the storage stays."""
    base = random((9, 30, 20), device=device)
    before = base.clone()
    check_permuted(base[3:5], (2, 0, 1))
    assert same(base[:3], before[:3]) and same(base[5:], before[5:])
    nhwc = random((2, 11, 13, 3), torch.bfloat16, device)
    expected = nhwc.permute(0, 3, 1, 2).contiguous()
    nchw = ipt.ascontiguous_(nhwc.permute(0, 3, 1, 2))
    assert nchw.is_contiguous() and same(nchw, expected) and nchw.data_ptr() == nhwc.data_ptr()
    square = random((40, 50), device=device)
    expected = square.clone()
    expected[5:25, 10:30] = expected[5:25, 10:30].t().clone()
    ipt.transpose_(square[5:25, 10:30])
    assert same(square, expected)


def test_moves(device):
    for move, expected in {"rotate-90": lambda x: torch.rot90(x, -1), "flip-vertical": lambda x: x.flip(0),
                           "antitranspose": lambda x: torch.rot90(x, 2).t()}.items():
        x = random((31, 47), torch.bfloat16, device)
        wanted = expected(x).clone()
        assert same(ipt.rotate_(x, move), wanted)
    x = random((6, 7, 8), device=device)
    wanted = x.clone()
    result = ipt.asorder_(x, "F")
    assert same(result, wanted) and result.stride() == (1, 6, 42)


def test_refuses():
    for wrong, words in ((torch.ones(3, 1).expand(3, 4), "overlap"), (torch.ones(3, 4, requires_grad=True), "requires grad"),
                         (torch.ones(3, 4, requires_grad=True) * 2, "requires grad"),
                         (torch._neg_view(torch.ones(3, 4)), "flag"), (torch.ones(3, 4, dtype=torch.complex64).conj(), "flag"),
                         (torch.eye(3).to_sparse(), "layout"), (torch.ones(3, 4, device="meta"), "on meta")):
        with pytest.raises(ValueError, match=words):
            ipt.transpose_(wrong)


def test_modes_without_gradients(device):
    leaf = torch.ones(3, 4, requires_grad=True, device=device)
    with torch.no_grad():
        assert ipt.transpose_(leaf).shape == (4, 3)
    with torch.inference_mode():
        assert ipt.transpose_(torch.ones(3, 4, device=device)).shape == (4, 3)


def test_versions(device):
    """A backward pass that needs the former elements raises."""
    weight, x = torch.ones(5, 7, device=device, requires_grad=True), random((5, 7), torch.uint8, device).float()
    loss = (weight * x).sum()
    version = x._version
    ipt.transpose_(x)
    assert x._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    version = x._version
    with torch.no_grad(), ipt.Plan((5, 7), 4, context=ipt.Context("cuda") if device == "cuda" else None) as plan:
        plan.execute(x)
    assert x._version > version


def test_results_have_a_gradient(device):
    """Only the elements of a detached tensor move, and autograd records what follows."""
    x = random((4, 6), torch.uint8, device).float()
    weight = torch.ones(6, 4, device=device, requires_grad=True)
    y = ipt.transpose_(x)
    (weight * y).sum().backward()
    assert torch.equal(weight.grad, y)


def test_plans(device):
    context = ipt.Context("cuda") if device == "cuda" else None
    x = random((30, 40), torch.float16, device)
    expected = x.t().clone()
    with ipt.Plan((30, 40), 2, context=context) as plan:
        if device == "cuda":
            out = torch.empty(40, 30, dtype=torch.float16, device=device)
            version = out._version
            plan.execute(x, out=out)
            assert same(out, expected) and same(x.t(), expected) and out._version > version
        plan.execute(x)
        assert same(x.view(40, 30), expected)
        with pytest.raises(ValueError, match="not contiguous"):
            plan.execute(random((30, 80), torch.float16, device)[:, ::2])


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
def test_batches(device, dtype):
    a = random((50, 4, 4), torch.uint8, device).to(dtype) / 256 + 4 * torch.eye(4, dtype=dtype, device=device)
    b = random((50, 4, 2), torch.uint8, device).to(dtype) / 256
    expected = torch.linalg.solve(a, b)
    lu, right = a.clone(), b.clone()
    versions = lu._version, right._version
    result = ipt.batch("gesv", A=lu, B=right)
    assert result.B is right and torch.allclose(right, expected, atol=1e-4) and not result.info.any()
    assert result.info.device.type == device and result.pivots.dtype == torch.int32
    assert lu._version > versions[0] and right._version > versions[1]
    version = a._version
    product = ipt.batch("gemm", A=a, B=b).C
    assert torch.allclose(product, a @ b, atol=1e-4) and product.device == a.device and a._version == version
    with pytest.raises(ValueError, match="shares memory"):
        ipt.batch("gemm", A=a, B=b, C=a[:, :, :2])
    with pytest.raises(ValueError, match="type float16"):
        ipt.batch("getri", A=torch.eye(3, dtype=torch.float16, device=device))


CALLS = {"permute": lambda x: ipt.permute_(x, (1, 0)), "transpose": ipt.transpose_, "rotate": lambda x: ipt.rotate_(x, "rotate-90"),
         "order": lambda x: ipt.asorder_(x, "F"), "view": lambda x: ipt.ascontiguous_(x.t()),
         "inside": lambda x: ipt.permute_(x * 2, (1, 0)) + 1}


@needs_operator
@pytest.mark.parametrize("call", CALLS)
def test_compiled_without_a_break(device, call):
    torch._dynamo.reset()
    compiled = torch.compile(CALLS[call], backend="aot_eager", fullgraph=True)
    for rows in (5, 6, 7):
        x = random((rows, 9), torch.uint8, device).float()
        other, version = x.clone(), x._version
        result, expected = compiled(x), CALLS[call](other)
        assert torch.equal(result, expected) and result.stride() == expected.stride() and torch.equal(x, other)
        assert call == "inside" or result.data_ptr() == x.data_ptr() and x._version > version


@needs_operator
def test_compiled_to_machine_code(device):
    torch._dynamo.reset()
    compiled = torch.compile(CALLS["inside"], fullgraph=True)
    x = random((5, 9), torch.uint8, device).float()
    try:
        result = compiled(x)
    except Exception as error:  # no compiler of C++ or Triton
        if "compile" not in str(error).lower() and "triton" not in str(error).lower():
            raise
        pytest.skip(f"torch's inductor does not work here: {str(error)[:200]}")
    assert torch.equal(result, x.t() * 2 + 1)


@needs_operator
def test_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        fake = torch.empty(64, 256, 14, 14, device="cpu")
        result = ipt.permute_(fake, (0, 2, 3, 1))
        assert result.shape == (64, 14, 14, 256) and result.is_contiguous()
        with pytest.raises(TypeError, match="no graph traces"):
            ipt.batch("getri", A=torch.empty(5, 3, 3))
    program = torch.export.export(Permutes(), (torch.arange(15.0).reshape(3, 5),))
    assert torch.equal(program.module()(torch.arange(15.0).reshape(3, 5)), torch.arange(15.0).reshape(3, 5).t() + 1)


class Permutes(torch.nn.Module):
    def forward(self, x):
        return ipt.permute_(x.clone(), (1, 0)) + 1


@needs_operator
@pytest.mark.parametrize("first", ["torch", "ipt"])
def test_the_sequence_of_imports(first):
    """ipt imports no torch by itself, and finds it later."""
    code = f"""
import {first}, sys
assert "{first}" == "torch" or "torch" not in sys.modules
import ipt, torch
x = torch.arange(6.0).reshape(2, 3)
if "{first}" == "ipt":
    ipt.transpose_(x.clone())
compiled = torch.compile(lambda x: ipt.permute_(x, (1, 0)), backend="eager", fullgraph=True)
assert torch.equal(compiled(x), torch.arange(6.0).reshape(2, 3).t())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_cuda
def test_streams():
    """Each stream's work follows that of its stream alone."""
    streams = [torch.cuda.Stream() for _ in range(4)]
    for _ in range(5):
        results = []
        for number, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                x = random((700 + number, 900), device="cuda", seed=number)
                expected = x.t().contiguous()
                for _ in range(3):
                    y = ipt.transpose_(x)
                    x = ipt.transpose_(y)
                results.append((ipt.transpose_(x), expected))
        torch.cuda.synchronize()
        for result, expected in results:
            assert same(result, expected)


@needs_cuda
def test_nothing_waits():
    """ipt enqueues behind a long kernel and returns before it ends."""
    x = random((2000, 3000), device="cuda")
    expected = x.t().contiguous()
    y = x.clone()
    ipt.transpose_(y)
    matrices = random((1000, 4, 4), torch.uint8, "cuda").float() + 1000 * torch.eye(4, device="cuda")
    ipt.batch("getri", A=matrices.clone())
    a = matrices.clone()
    torch.cuda.synchronize()
    torch.cuda._sleep(2_000_000_000)
    end = torch.cuda.Event()
    end.record()
    result = ipt.transpose_(x)
    inverse = ipt.batch("getri", A=a).A
    assert not end.query(), "a call has waited for the stream"
    torch.cuda.synchronize()
    assert same(result, expected)
    assert torch.allclose(inverse @ matrices, torch.eye(4, device="cuda").expand(1000, 4, 4), atol=1e-3)


@needs_cuda
def test_tensors_freed_right_after_the_call():
    """Their memory goes to the next tensor of the stream, behind ipt's work."""
    sums = []
    for number in range(50):
        x = torch.full((1000, 1001), number, dtype=torch.float32, device="cuda")
        y = ipt.transpose_(x)
        sums.append(y.sum())
        del x, y
        torch.full((1000, 1001), -1.0, device="cuda")
    assert [int(value) for value in sums] == [number * 1001000 for number in range(50)]


@needs_cuda
def test_graphs():
    """A graph permutes at each launch, also after the package has dropped the plan."""
    x = random((600, 500), device="cuda")
    y = x.clone()
    ipt.transpose_(y)  # plans and compiles before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = ipt.transpose_(x)
        total = result * 2
    for length in range(2, 80):
        ipt.transpose_(torch.ones(length, 3, device="cuda"))
    for seed in range(4):
        before = random((600, 500), torch.uint8, "cuda", seed).float() if seed % 2 else random((600, 500), device="cuda", seed=seed)
        x.copy_(before)
        graph.replay()
        torch.cuda.synchronize()
        assert same(result, before.t()) and same(total, before.t() * 2)


def test_benchmark():
    """Four small tensors, as the benchmark measures them."""
    script = Path(__file__).resolve().parents[1] / "bench" / "torch_tensors.py"
    run = subprocess.run([sys.executable, str(script), "4", "1"], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and re.search(r"^ipt is ahead in \d of 4; ", run.stdout, re.M), run.stdout + run.stderr
