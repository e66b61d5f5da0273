"""PyTorch's batches of small products and decompositions, as lines for figures 8 to 11 of Ha et al. 2013.

vendor_batch.py [--device cuda|cpu] [--megabytes 256] [FIGURE ...] > FILE.csv; then VENDOR=FILE.csv make figure NAME=s004-fig10.
FIGURE: s004-fig8, s004-fig9, s004-fig10, s004-fig11-posv, s004-fig11-potrf, s004-fig11-getrf; all by default. The values
are GB/s of bytes read and written (figures 8 and 9) and GFLOP/s, counted as tests/bench/batch.c counts them. A result that is
wrong ends the program. Needs the package torch.
"""
import argparse
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("vendor_batch.py needs the package torch: pip install torch")

ROUNDS = 7
SLOW_SECONDS = 0.1  # an execution that takes longer is measured once
SIDES = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
LENGTHS = [2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 256, 512]


def seconds_once(device, call):
    """Seconds of one call, by the device's clock where it has one."""
    if device.type != "cuda":
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000


def seconds_of(device, call):
    """The median of several rounds, after one that does not count."""
    seconds_once(device, call)
    seconds = [seconds_once(device, call)]
    while len(seconds) < ROUNDS and seconds[0] < SLOW_SECONDS:
        seconds.append(seconds_once(device, call))
    return sorted(seconds)[len(seconds) // 2]


def numbers(device, kind, *shape):
    return torch.rand(shape, dtype=kind, device=device) - 0.5


def definite(device, kind, count, n):
    """Symmetric matrices whose diagonals dominate."""
    a = numbers(device, kind, count, n, n)
    a = (a + a.transpose(1, 2)) / 2
    return a + n * torch.eye(n, dtype=kind, device=device)


def check(what, got, expected):
    """Ends the program unless the first and last elements agree up to rounding."""
    for e in (0, -1):
        size = expected[e].abs().max().item() + 1
        most = 100 * torch.finfo(expected.dtype).eps * size * max(expected[e].numel() ** 0.5, 1)
        if not (got[e] - expected[e]).abs().max().item() <= most:
            sys.exit(f"vendor_batch.py: {what}: an element is wrong")


def dot(device, kind, count, n):
    x, y = numbers(device, kind, count, n), numbers(device, kind, count, n)
    check("dot", (x * y).sum(-1), torch.stack([x[0] @ y[0], x[-1] @ y[-1]]))
    return "torch (x * y).sum", lambda: (x * y).sum(-1)


def gemv(device, kind, count, n):
    a, x = numbers(device, kind, count, n, n), numbers(device, kind, count, n, 1)
    check("gemv", torch.matmul(a, x), torch.stack([a[0] @ x[0], a[-1] @ x[-1]]))
    return "torch.matmul", lambda: torch.matmul(a, x)


def gemm(device, kind, count, n):
    a, b = numbers(device, kind, count, n, n), numbers(device, kind, count, n, n)
    c = torch.empty_like(a)
    torch.bmm(a, b, out=c)
    check("gemm", c, torch.stack([a[0] @ b[0], a[-1] @ b[-1]]))
    return "torch.bmm", lambda: torch.bmm(a, b, out=c)


def posv(device, kind, count, n):
    a, b = definite(device, kind, count, n), numbers(device, kind, count, n, 1)

    def solve():
        lower, info = torch.linalg.cholesky_ex(a)
        return torch.cholesky_solve(b, lower), info

    x, info = solve()
    check("posv", torch.matmul(a[[0, -1]], x[[0, -1]]), b[[0, -1]])
    if info.any():
        sys.exit("vendor_batch.py: posv: an info is not 0")
    return "torch cholesky_ex + cholesky_solve", solve


def potrf(device, kind, count, n):
    a = definite(device, kind, count, n)
    lower, info = torch.linalg.cholesky_ex(a)
    check("potrf", lower[[0, -1]] @ lower[[0, -1]].transpose(1, 2), a[[0, -1]])
    if info.any():
        sys.exit("vendor_batch.py: potrf: an info is not 0")
    return "torch cholesky_ex", lambda: torch.linalg.cholesky_ex(a)


def getrf(device, kind, count, n):
    a = numbers(device, kind, count, n, n)
# Adds a large value to each row, in a column that depends on the element: no matrix is singular, and LU exchanges rows.
    column = (torch.arange(n, device=device) + torch.arange(count, device=device)[:, None]) % n
    a.scatter_add_(2, column[:, :, None], torch.full((count, n, 1), n, dtype=kind, device=device))
    lu, pivots, info = torch.linalg.lu_factor_ex(a)
    p, lower, upper = torch.lu_unpack(lu[[0, -1]], pivots[[0, -1]])
    check("getrf", p @ lower @ upper, a[[0, -1]])
    if info.any():
        sys.exit("vendor_batch.py: getrf: an info is not 0")
    return "torch lu_factor_ex", lambda: torch.linalg.lu_factor_ex(a)


# Figure: the action, its sides, the values of an element's operands, its operations (None: the figure shows bytes).
FIGURES = {
    "s004-fig8": (dot, LENGTHS, lambda n: 2 * n + 1, None),
    "s004-fig9": (gemv, SIDES, lambda n: n * n + 2 * n, None),
    "s004-fig10": (gemm, SIDES, lambda n: 3 * n * n, lambda n: 2 * n**3),
    "s004-fig11-posv": (posv, SIDES, lambda n: n * n + n, lambda n: n**3 / 3 + 2 * n * n),
    "s004-fig11-potrf": (potrf, SIDES, lambda n: n * n, lambda n: n**3 / 3),
    "s004-fig11-getrf": (getrf, SIDES, lambda n: n * n + n, lambda n: 2 * n**3 / 3),
}


def measure(figure, device, megabytes):
    action, sides, values, operations = FIGURES[figure]
    for kind in (torch.float64, torch.float32):
        name_of_kind = "double" if kind == torch.float64 else "float"
        bytes_of_value = torch.finfo(kind).bits // 8
        for n in sides:
            count = max(2, (megabytes << 20) // (values(n) * bytes_of_value))
            name, call = action(device, kind, count, n)
            work = operations(n) if operations else values(n) * bytes_of_value
            rate = work * count / seconds_of(device, call) * 1e-9
            print(f"{figure},{n},{name_of_kind},{name},{rate:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("figures", nargs="*", metavar="FIGURE")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("vendor_batch.py: torch finds no CUDA device; --device cpu measures the CPU")
    for figure in given.figures:
        if figure not in FIGURES:
            sys.exit(f"vendor_batch.py: {figure}: not one of {', '.join(FIGURES)}")
    torch.backends.cuda.matmul.allow_tf32 = False
    print("figure,side,type,name,value")
    for figure in given.figures or FIGURES:
        measure(figure, torch.device(given.device), given.megabytes)


if __name__ == "__main__":
    main()
