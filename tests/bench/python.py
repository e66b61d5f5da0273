"""Time and peak memory of ipt.transpose_, NumPy's copy and fastremap on one matrix, each in a process of its own.

python.py [ROWS COLS]: floats, 9000 x 7001 by default. Needs the package ipt, NumPy and fastremap.
"""
import importlib
import resource
import subprocess
import sys
import time

import numpy

ROUNDS = 5


def with_ipt(ipt, a):
    return ipt.transpose_(a)


def with_numpy(_, a):
    return numpy.ascontiguousarray(a.T)


def with_fastremap(fastremap, a):
    return fastremap.asfortranarray(a)  # moves the bytes as a transposition does


CALLS = {"ipt": with_ipt, "numpy": with_numpy, "fastremap": with_fastremap}


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(name, rows, cols):
    """Prints the median time of a call, and the share of the matrix that it adds to the peak of the process' memory."""
    module, call = importlib.import_module(name), CALLS[name]
# Finds the device and compiles, which must not count: uses a smaller shape and another element size.
    call(module, numpy.zeros((rows // 8, cols), "u1"))
    matrix = numpy.random.default_rng(1).random((rows, cols), dtype="f4")
    before = peak_bytes()
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        result = call(module, matrix)
        seconds.append(time.perf_counter() - start)
        matrix = result.reshape(-1, order="A").reshape(rows, cols)  # C order again, with any values
        del result
    print(sorted(seconds)[ROUNDS // 2], (peak_bytes() - before) / matrix.nbytes)


def main():
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    rows, cols = sys.argv[1:3] if len(sys.argv) == 3 else ("9000", "7001")
    first = None
    for name in CALLS:
        run = subprocess.run([sys.executable, __file__, "--one", name, rows, cols], capture_output=True, text=True,
                             check=False)
        if run.returncode:
            print(f"{name}: {run.stderr.strip().splitlines()[-1]}")
            continue
        seconds, extra = map(float, run.stdout.split())
        first = first or seconds
        print(f"{name:10} {1e3 * seconds:8.1f} ms, {seconds / first:5.2f} of ipt's; "
              f"peak memory beside the matrix: {100 * extra:.1f} % of it")


main()
