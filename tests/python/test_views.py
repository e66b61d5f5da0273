"""Views and parts of arrays against NumPy: dense views, reversed axes, regions with gaps, rotations."""
import numpy
import pytest

import ipt
from test_ipt import Producer, make, opencl_queue, same_memory

MOVES = {
    "transpose": lambda a, i, j: numpy.swapaxes(a, i, j),
    "rotate-90": lambda a, i, j: numpy.rot90(a, -1, (i, j)),  # clockwise; numpy rotates counterclockwise
    "rotate-180": lambda a, i, j: numpy.rot90(a, 2, (i, j)),
    "rotate-270": lambda a, i, j: numpy.rot90(a, 1, (i, j)),
    "flip-horizontal": lambda a, i, j: numpy.flip(a, j),
    "flip-vertical": lambda a, i, j: numpy.flip(a, i),
    "antitranspose": lambda a, i, j: numpy.flip(numpy.swapaxes(a, i, j), (i, j)),
}


def test_nchw_from_a_view_of_nhwc():
    nhwc = make((2, 15, 17, 3))
    expected = numpy.ascontiguousarray(nhwc.transpose(0, 3, 1, 2))
    nchw = ipt.asorder_(nhwc.transpose(0, 3, 1, 2), "C")
    assert nchw.shape == (2, 3, 15, 17) and nchw.flags.c_contiguous and same_memory(nchw, nhwc)
    assert (nchw == expected).all() and (nhwc.reshape(-1) == expected.reshape(-1)).all()  # the base array has changed
    back = ipt.ascontiguous_(nchw.transpose(0, 2, 3, 1))
    assert (back == expected.transpose(0, 2, 3, 1)).all() and same_memory(back, nhwc)


def test_a_dense_part_leaves_the_rest():
    base = make((9, 6, 7))
    before = base.copy()
    part = ipt.ascontiguous_(base[2:5].transpose(2, 0, 1))
    assert (part == before[2:5].transpose(2, 0, 1)).all() and part.flags.c_contiguous
    assert (base[:2] == before[:2]).all() and (base[5:] == before[5:]).all()


def test_views_at_the_end_of_a_chain():
    a = make((4, 5, 6))
    view = a.reshape(20, 6).T.reshape(6, 4, 5)[:, ::-1].transpose(1, 0, 2)
    expected = view.copy()
    assert (ipt.ascontiguous_(ipt.asorder_(a.reshape(20, 6).T, "C").reshape(6, 4, 5)[:, ::-1]) == expected.transpose(1, 0, 2)).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("shape, axes", [((5, 8), (0, 1)), ((6, 6), (1, 0)), ((7, 5, 3), (0, 1)), ((3, 7, 5), (1, 2)),
                                         ((2, 4, 5, 3), (1, 2)), ((2, 4, 5, 3), (-2, -3)), ((1, 9), (0, 1))])
def test_rotate(shape, axes, move, order):
    a = make(shape, order=order)
    expected = MOVES[move](a, *axes).copy()
    b = ipt.rotate_(a, move, axes)
    assert b.shape == expected.shape and (b == expected).all() and numpy.shares_memory(a, b)
    assert b.flags.c_contiguous if order == "C" else b.flags.f_contiguous


def test_rotations_are_clockwise():
    assert ipt.rotate_(numpy.array([[1, 2], [3, 4]]), "rotate-90").tolist() == [[3, 1], [4, 2]]


@pytest.mark.parametrize("move", MOVES)
def test_regions_of_pictures(move):
    picture = make((40, 50, 3), "u1")
    before = picture.copy()
    region = picture[5:25, 10:30]
    expected = MOVES[move](region, 0, 1).copy()
    b = ipt.rotate_(region, move)
    assert (b == expected).all() and (picture[5:25, 10:30] == expected).all()
    picture[5:25, 10:30] = before[5:25, 10:30]
    assert (picture == before).all()


def test_regions_that_are_no_squares():
    base = make((20, 30))
    before = base.copy()
    b = ipt.rotate_(base[:10, 5:25], "rotate-180")
    assert (b == before[:10, 5:25][::-1, ::-1]).all() and (base[10:] == before[10:]).all() and (base[:, :5] == before[:, :5]).all()
    with pytest.raises(ValueError, match="squares"):
        ipt.transpose_(base[:10, 5:25])
    with pytest.raises(ValueError, match="gaps"):
        ipt.ascontiguous_(base[:10, 5:25])
    with pytest.raises(ValueError, match="gaps between the elements of its rows"):
        ipt.rotate_(base[:, :20:2], "rotate-180")


def test_batches_with_gaps():
    base = make((8, 5, 6))
    before = base.copy()
    b = ipt.permute_(base[::2], (0, 2, 1))
    assert b.shape == (4, 6, 5) and (b == before[::2].transpose(0, 2, 1)).all() and (base[1::2] == before[1::2]).all()


@pytest.mark.parametrize("view", [lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[::-1, ::-1], lambda a: a.T[::-1],
                                  lambda a: a.T[:, ::-1], lambda a: a.T[::-1, ::-1]])
def test_reversed_axes(view):
    a = make((11, 6))
    expected = view(a).copy()
    b = ipt.ascontiguous_(view(a))
    assert b.flags.c_contiguous and (b == expected).all() and same_memory(a, b)


@pytest.mark.parametrize("words, view", [
    ("overlap", lambda a: numpy.lib.stride_tricks.as_strided(a, (4, 6), (4, 8))),
    ("overlap", lambda a: numpy.lib.stride_tricks.as_strided(a, (4, 6), (0, 4))),
    ("overlap", lambda a: numpy.lib.stride_tricks.sliding_window_view(a.reshape(-1), 5, writeable=True)),
    ("neighbours in memory", lambda a: a.reshape(2, 3, 20)[::-1, :, ::-1]),
    ("read-only", lambda a: numpy.broadcast_to(a, (3, 10, 12)))])
def test_refuses_views(words, view):
    a = make((10, 12))
    before = a.copy()
    with pytest.raises(ValueError, match=words):
        ipt.ascontiguous_(view(a))
    assert (a == before).all()


def test_results_keep_the_class_and_the_memory_alive():
    class Unit(numpy.ndarray):
        unit = None

        def __array_finalize__(self, other):
            self.unit = getattr(other, "unit", None)

    a = make((5, 8)).view(Unit)
    a.unit = "m"
    expected = a.T.copy()
    b = ipt.rotate_(ipt.transpose_(a)[::-1], "flip-vertical")
    del a
    assert type(b) is Unit and b.unit == "m" and (b == expected).all()


def random_view(rng):
    """A view of a new array, and which of the array's elements it has."""
    rank = int(rng.integers(1, 6))
    shape = [int(length) for length in rng.integers(1, [0, 40, 30, 12, 8, 6][rank], rank)]
    if rank > 1 and rng.random() < 0.4:
        place = int(rng.integers(0, rank - 1))
        shape[place + 1] = shape[place]
    whole = [length + int(rng.integers(0, 3)) * (rng.random() < 0.15) for length in shape]
    dtype = numpy.dtype(str(rng.choice(["u1", "i2", "f4", "f8", "c16", "S3"])))
    base = rng.integers(0, 255, int(numpy.prod(whole)) * dtype.itemsize, dtype="u1").view(dtype).reshape(whole)
    part = tuple(slice(0, length) for length in shape)
    inside = numpy.zeros(whole, bool)
    inside[part] = True
    view = base[part].transpose(rng.permutation(rank))
    if rng.random() < 0.3:
        view = view[tuple(slice(None, None, -1 if rng.random() < 0.4 else None) for _ in shape)]
    return base, inside, view


def test_random_views():
    rng, right = numpy.random.default_rng(3), 0
    for _ in range(600):
        base, inside, view = random_view(rng)
        before, rank = base.copy(), view.ndim
        kind = int(rng.integers(0, 3))
        axes = tuple(rng.permutation(rank))
        move, place = str(rng.choice(list(MOVES))), int(rng.integers(0, max(rank - 1, 1)))
        try:
            if kind == 0:
                expected, result = view.copy(), ipt.asorder_(view, "CF"[place % 2])
                assert result.flags.c_contiguous if place % 2 == 0 else result.flags.f_contiguous
            elif kind == 1:
                expected = view.transpose(axes).copy()
                result = ipt.permute_(view, axes)
            elif rank > 1:
                expected = MOVES[move](view, place, place + 1).copy()
                result = ipt.rotate_(view, move, (place, place + 1))
            else:
                continue
        except ValueError:
            assert base.tobytes() == before.tobytes()
            continue
        right += 1
        assert result.shape == expected.shape and result.tobytes() == expected.tobytes() and numpy.shares_memory(result, base)
        assert base[~inside].tobytes() == before[~inside].tobytes()
    assert right > 300


def test_views_of_tensors():
    a = make((4, 6, 3))
    expected = numpy.ascontiguousarray(a.transpose(2, 0, 1))
    producer = Producer(a.ctypes.data, (3, 4, 6), strides=(1, 18, 3), versioned=True)
    b = numpy.from_dlpack(ipt.ascontiguous_(producer))
    assert b.flags.c_contiguous and (b == expected).all() and b.ctypes.data == a.ctypes.data
    c = numpy.from_dlpack(ipt.rotate_(Producer(a.ctypes.data, (3, 4, 6), versioned=True), "rotate-90", (1, 2)))
    assert (c == numpy.rot90(expected, -1, (1, 2))).all()
    square = make((6, 9))
    before = square.copy()
    d = numpy.from_dlpack(ipt.transpose_(Producer(square.ctypes.data, (6, 6), strides=(9, 1), versioned=True)))
    assert d.strides == (36, 4) and (d == before[:, :6].T).all() and (square[:, 6:] == before[:, 6:]).all()


def test_views_of_pyopencl_arrays():
    cl, queue = opencl_queue()
    arrays = pytest.importorskip("pyopencl.array")
    before = make((12, 9, 5))
    a = arrays.to_device(queue, before)
    b = ipt.ascontiguous_(a.transpose((2, 0, 1)))
    assert b.flags.c_contiguous and (b.get() == before.transpose(2, 0, 1)).all() and b.base_data is a.base_data
    a = arrays.to_device(queue, before)
    assert (ipt.rotate_(a[::-1], "rotate-90").get() == numpy.rot90(before[::-1], -1)).all()
    square = arrays.to_device(queue, make((8, 12)))
    whole = square.get()
    part = ipt.transpose_(square[:, 4:])
    whole[:, 4:] = whole[:, 4:].T
    assert part.shape == (8, 8) and (square.get() == whole).all()


def test_plans_of_moves_and_pitches():
    base = make((6, 10))
    before = base.copy()
    with ipt.Plan((6, 6), 4, row_pitch=40, row_pitch_out=40) as plan:
        assert plan.nbytes == 5 * 40 + 24
        plan.execute(base.reshape(-1)[:56])
    assert (base[:, :6] == before[:, :6].T).all() and (base[:, 6:] == before[:, 6:]).all()
    a = make((3, 5, 7))
    expected = numpy.rot90(a, 1, (1, 2)).copy()
    plan = ipt.Plan((5, 7), 4, move="rotate-270", batch=3)
    plan.execute(a)
    assert plan.result_shape == (7, 5) and (a.reshape(3, 7, 5) == expected).all()
    with pytest.raises(ValueError, match="needs a matrix"):
        ipt.Plan((2, 3, 4), 4, move="rotate-90")
    with pytest.raises(ValueError, match="rotate-45.*rotate-90"):
        ipt.Plan((3, 4), 4, move="rotate-45")
