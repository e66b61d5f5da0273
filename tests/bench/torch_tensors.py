"""ipt.permute_ against PyTorch's own way, x.copy_(x.permute(axes).contiguous()), in one process: time and peak memory.

torch_tensors.py [TENSORS [MEGABYTES [SEED]]]: 60 random tensors up to 4096 MB, and weights of experts, pages of keys and
values, and pictures. torch_tensors.py --full: weights fill 95 % of the GPU. Needs the package ipt, and PyTorch; without a GPU
it works on the CPU.
"""
import subprocess
import sys
import time

import torch

import ipt

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
ROUNDS = 7
# The name, the shape, the axes and the type.
MODELS = [("weights of experts, E x N x K", (64, 2048, 1408), (0, 2, 1), torch.bfloat16),
          ("weights of experts, 8 x 14336 x 4096", (8, 14336, 4096), (0, 2, 1), torch.bfloat16),
          ("weights of experts, fp8", (128, 1536, 4096), (0, 2, 1), torch.float8_e4m3fn),
          ("pages of keys, NHD to HND", (8192, 16, 8, 128), (0, 2, 1, 3), torch.bfloat16),
          ("pages of keys, 64 tokens", (2048, 64, 32, 128), (0, 2, 1, 3), torch.float16),
          ("pages of keys, fp8", (8192, 32, 8, 128), (0, 2, 1, 3), torch.float8_e4m3fn),
          ("pictures, NCHW to NHWC", (64, 3, 512, 512), (0, 2, 3, 1), torch.float32),
          ("pictures, NHWC to NCHW", (256, 224, 224, 3), (0, 3, 1, 2), torch.float16),
          ("features, NCHW to NHWC", (32, 256, 56, 56), (0, 2, 3, 1), torch.float32),
          ("features, NHWC to NCHW", (32, 56, 56, 256), (0, 3, 1, 2), torch.bfloat16)]


def used():
    """Bytes of the GPU that all processes use, as nvidia-smi says. None: the GPU does not say it."""
    if not GPU:
        return None
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    run = subprocess.run(asked, capture_output=True, text=True, check=False)
    try:
        return int(run.stdout.splitlines()[torch.cuda.current_device()]) << 20
    except (ValueError, IndexError):
        free, whole = torch.cuda.mem_get_info()
        return whole - free


def random(shape, dtype, seed):
    count = 1
    for length in shape:
        count *= length
    size = torch.empty(0, dtype=dtype).element_size()
    generator = torch.Generator(DEVICE).manual_seed(seed)
    found = torch.empty(count * size, dtype=torch.uint8, device=DEVICE)
    piece = 1 << 28 # a random number takes more memory than its byte
    for first in range(0, found.numel(), piece):
        found[first:first + piece].random_(0, 256, generator=generator)
    return found.view(dtype).reshape(shape)


def with_ipt(x, axes):
    return ipt.permute_(x, axes)


def with_torch(x, axes):
    moved = x.permute(axes)
    return x.view(moved.shape).copy_(moved.contiguous())


def checksum(x):
    """Of bits with their places, by pieces."""
    bits, total, piece = x.reshape(-1).view(torch.uint8), 0, 1 << 26
    for first in range(0, bits.numel(), piece):
        part = bits[first:first + piece].long()
        total += int((part * (torch.arange(part.numel(), device=DEVICE) % 8191 + first % 8191)).sum())
    return total


def once(call, x, axes):
    """Seconds of a call, and its result."""
    if GPU:
        torch.cuda.synchronize()
    begin = time.perf_counter()
    result = call(x, axes)
    if GPU:
        torch.cuda.synchronize()
    return time.perf_counter() - begin, result


def measure(shape, axes, dtype, seed):
    """The median seconds of ipt and of torch, and the shares of the tensor that they add to the memory: what torch's allocator
    counts, and what nvidia-smi does."""
    found = []
    before = random(shape, dtype, seed)
    expected = before.permute(axes).contiguous()
    size = before.numel() * before.element_size()
    for call in (with_ipt, with_torch):
        x = before.clone()
        if GPU:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        allocated, at_first = torch.cuda.memory_allocated() if GPU else 0, used()
        _, result = once(call, x, axes)
        allocated = torch.cuda.max_memory_allocated() - allocated if GPU else 0
        at_last = used()
        if not torch.equal(result.view(torch.uint8), expected.view(torch.uint8)):
            raise SystemExit(f"{shape} {axes} {dtype}: {call.__name__} is wrong")
        found.append([[], allocated / size, (at_last - at_first) / size if GPU else 0, x, call])
    for _ in range(ROUNDS): # in turns
        for its in found:
            its[0].append(once(its[4], its[3], axes)[0])
    return [(sorted(its[0])[ROUNDS // 2], its[1], its[2]) for its in found], size


def drawn(generator, low, high):
    return int(low * (high / low) ** float(torch.rand((), generator=generator)))


def random_tensors(count, most, seed):
    generator = torch.Generator().manual_seed(seed)
    types = [torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex128]
    found = []
    while len(found) < count:
        rank = 2 + int(torch.randint(3, (), generator=generator))
        shape = tuple(drawn(generator, 8, (0, 0, 20000, 1500, 300)[rank]) for _ in range(rank))
        axes = tuple(torch.randperm(rank, generator=generator).tolist())
        dtype = types[int(torch.randint(len(types), (), generator=generator))]
        size = torch.empty(0, dtype=dtype).element_size()
        for length in shape:
            size *= length
        if most / 4096 < size <= most and list(axes) != sorted(axes):
            found.append((f"{'x'.join(map(str, shape))} {str(dtype)[6:]} {','.join(map(str, axes))}", shape, axes, dtype))
    return found


def compare(count, most, seed):
    ahead, worst, rows = 0, 0.0, []
    tensors = random_tensors(count, most, seed) + (MODELS if most >= 2 << 30 else [])
    random((1 << 20,), torch.uint8, 0)
    for number, (name, shape, axes, dtype) in enumerate(tensors):
        ((mine, _, memory), (theirs, allocated, their_memory)), size = measure(shape, axes, dtype, seed + number)
        ahead += mine < theirs
        rows.append(theirs / mine)
        if size >= 256 << 20: # CUDA gives memory by 2 MB
            worst = max(worst, memory)
        print(f"{name:44} {size / 1e6:8.1f} MB {1e6 * mine:9.1f} us, torch {1e6 * theirs:9.1f} us, {theirs / mine:5.2f}; more memory "
              f"{100 * memory:5.1f} %, torch {100 * allocated:5.1f} % ({100 * their_memory:.1f} %)", flush=True)
    rows.sort()
    print(f"ipt is ahead in {ahead} of {len(rows)}; torch's time to ipt's {rows[0]:.2f} to {rows[-1]:.2f}, median "
          f"{rows[len(rows) // 2]:.2f}; ipt adds at most {100 * worst:.2f} % to tensors of 256 MB and more")


def fill():
    """bfloat16 weights E x N x K on a GPU that is 95 % full."""
    free, whole = torch.cuda.mem_get_info()
    experts, n, k = 64, 4096, 0
    k = int(0.95 * whole - (whole - free)) // (2 * experts * n) // 8 * 8
    x = random((experts, n, k), torch.bfloat16, 5)
    print(f"{experts} x {n} x {k} bfloat16, {x.numel() * 2 / 1e9:.1f} GB; the GPU is {100 * used() / whole:.1f} % full")
    before = [checksum(x[e].t().contiguous()) for e in range(experts)]
    torch.cuda.empty_cache()
    try:
        x.view(experts, k, n).copy_(x.permute(0, 2, 1).contiguous())
        print("torch: it fitted")
    except torch.OutOfMemoryError as error:
        print("torch:", str(error).split(". ")[0])
    torch.cuda.empty_cache()
    at_first = used()
    seconds, result = once(with_ipt, x, (0, 2, 1))
    print(f"ipt: {1e3 * seconds:.1f} ms with its first plan; {(used() - at_first) / (1 << 20):.0f} MB more; the GPU is "
          f"{100 * used() / whole:.1f} % full")
    right = before == [checksum(result[e]) for e in range(experts)] and result.shape == (experts, k, n)
    ipt.permute_(result, (0, 2, 1))
    print("ipt:", "right" if right else "WRONG", f"{1e3 * once(with_ipt, x, (0, 2, 1))[0]:.1f} ms again")
    if not right:
        raise SystemExit(1)


if sys.argv[1:] == ["--full"]:
    fill()
else:
    given = [int(argument) for argument in sys.argv[1:]]
    tensors, megabytes, first_seed = given + [60, 4096, 1][len(given):]
    compare(tensors, megabytes << 20, first_seed)
