"""ipt.batch: each ready action against NumPy, with layouts and options. Two types an action: PoCL compiles each for seconds."""
import numpy
import pytest

import ipt


def numbers(dtype, *shape, seed=1):
    rng = numpy.random.default_rng(seed)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if numpy.dtype(dtype).kind == "c" else real).astype(dtype)


def close(a, b):
    return numpy.allclose(a, b, rtol=0, atol=1e-3 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) == 4 else 1e-9)


def systems(dtype):
    return numbers(dtype, 40, 5, 5) + 6 * numpy.eye(5, dtype=dtype), numbers(dtype, 40, 5, 2, seed=2)


def planes(a):
    """The same array with a plane for each component."""
    return numpy.moveaxis(numpy.moveaxis(a, 0, -1).copy(), -1, 0)


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_solves(dtype):
    a, b = systems(dtype)
    x = numpy.linalg.solve(a, b)
    lu, right = a.copy(), b.copy()
    result = ipt.batch("gesv", A=lu, B=right)
    assert result.B is right and result.A is lu and close(right, x)
    assert result.info.shape == (40,) and not result.info.any() and result.pivots.shape == (40, 5)
    factors = ipt.batch("getrf", A=a.copy())
    assert (factors.A == lu).all() and (factors.pivots == result.pivots).all()
    assert close(ipt.batch("getrs", A=factors.A, pivots=factors.pivots, B=b.copy()).B, x)
    assert close(ipt.batch("getri", A=a.copy()).A, numpy.linalg.inv(a))


@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_positive_definite_systems(dtype):
    a, b = systems(dtype)
    a = (a @ a.conj().swapaxes(1, 2)).astype(dtype)
    factor = ipt.batch("potrf", A=a.copy())
    assert close(numpy.tril(factor.A), numpy.linalg.cholesky(a)) and not factor.info.any()
    x = numpy.linalg.solve(a, b)
    assert close(ipt.batch("posv", A=a.copy(), B=b.copy()).B, x)
    assert close(ipt.batch("potrs", A=factor.A, B=b.copy()).B, x)
    lower = numpy.tril(factor.A)
    assert close(ipt.batch("trsm", A=lower, B=b.copy()).B, numpy.linalg.solve(lower, b))
    upper = lower.swapaxes(1, 2).copy()
    assert close(ipt.batch("trsm", A=upper, B=b.copy(), options="upper").B, numpy.linalg.solve(upper, b))


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_products(dtype):
    a, b, c = numbers(dtype, 30, 3, 4), numbers(dtype, 30, 4, 5, seed=2), numbers(dtype, 30, 3, 5, seed=3)
    assert close(ipt.batch("gemm", A=a, B=b).C, a @ b)
    assert close(ipt.batch("gemm", A=planes(a), B=b, C=planes(c)).C, a @ b)
    turned = a.conj().swapaxes(1, 2).copy()
    assert close(ipt.batch("gemm", A=turned, B=b, options=("transpose-a", "conjugate-a")).C, a @ b)
    assert close(ipt.batch("gemv", A=a, x=b[:, :, 0].copy()).y, numpy.einsum("eij,ej->ei", a, b[:, :, 0]))
    x, y = numbers(dtype, 6, 7, 9), numbers(dtype, 6, 7, 9, seed=2)
    assert close(ipt.batch("dot", x=x, y=y).r, (x * y).sum(-1))
    if dtype != "c16":  # an argument has 16 bytes at most
        expected = 2 * (a @ b) + 3 * c
        assert close(ipt.batch("gemm", A=a, B=b, C=c, alpha=2, beta=3).C, expected) and close(c, expected)


def test_elements_with_gaps_and_alone():
    base = numbers("f8", 10, 6, 4, 4)
    before = base.copy()
    x = numpy.linalg.inv(base[:, 2])
    assert close(ipt.batch("getri", A=base[:, 2]).A, x) and close(base[:, 2], x)
    base[:, 2] = before[:, 2]
    assert (base == before).all()
    assert close(ipt.batch("getri", A=before[0, 0].copy()).A, numpy.linalg.inv(before[0, 0]))
    assert ipt.batch("getri", A=numpy.zeros((0, 4, 4))).info.shape == (0,)


def test_singular_elements():
    a, _ = systems("f8")
    a[7] = 0
    info = ipt.batch("getrf", A=a).info
    assert info[7] == 1 and not numpy.delete(info, 7).any()


@pytest.mark.parametrize("error, words, action, options", [
    (ValueError, "action is 'svd': dot, gemv", "svd", {}),
    (TypeError, "needs the operand B", "posv", {"A": numpy.eye(3)}),
    (TypeError, "no operand C: its operands are A, B, info", "posv", {"C": numpy.eye(3)}),
    (TypeError, "A: array is a list", "potrf", {"A": [[1.0]]}),
    (ValueError, "type int64", "potrf", {"A": numpy.eye(3, dtype="i8")}),
    (ValueError, "type >f8", "potrf", {"A": numpy.eye(3, dtype=">f8")}),
    (ValueError, "the same of", "posv", {"A": numpy.eye(3), "B": numpy.eye(3, dtype="f4")}),
    (ValueError, "3 is needed in place of 4", "potrf", {"A": numpy.zeros((2, 3, 4))}),
    (ValueError, "those of the batch", "posv", {"A": numpy.zeros((2, 3, 3)), "B": numpy.zeros((3, 3, 1))}),
    (ValueError, "in place of 0", "potrf", {"A": numpy.zeros((2, 0, 0))}),
    (ValueError, "has 1 axes: it needs 2", "potrf", {"A": numpy.zeros(3)}),
    (ValueError, "row by row", "potrf", {"A": numpy.zeros((2, 3, 3)).swapaxes(1, 2)}),
    (ValueError, "read-only", "potrf", {"A": numpy.broadcast_to(numpy.eye(3), (2, 3, 3))}),
    (ValueError, "masked", "potrf", {"A": numpy.ma.masked_array(numpy.eye(3))}),
    (ValueError, "options has 'lower'", "trsm", {"options": ["lower"]})])
def test_refuses(error, words, action, options):
    with pytest.raises(error, match=words):
        ipt.batch(action, **options)


def test_refuses_operands_that_overlap():
    a = numpy.ones((4, 3, 3))
    with pytest.raises(ValueError, match="shares memory"):
        ipt.batch("posv", A=a, B=a[:, :, :1])
    with pytest.raises(ValueError, match="shares memory"):
        ipt.batch("gemm", A=a, B=a.copy(), C=a)
    assert (a == 1).all() and close(ipt.batch("gemm", A=a, B=a).C, a @ a)
