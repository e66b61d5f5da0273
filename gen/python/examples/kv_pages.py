"""Pages of a KV cache change from NHD (token, head, element) to HND, which another attention kernel reads: some pages one
after the other, then all pages in one call. Without PyTorch or a GPU it works on the CPU."""
import ipt
import numpy

try:
    import torch
except ImportError:
    torch = None


def pages_to_hnd(cache, pages):
    """Of a cache pages x tokens x heads x elements, the pages of a list. Returns their views."""
    return [ipt.permute_(cache[page], (1, 0, 2)) for page in pages]


def cache_to_hnd(cache):
    """All pages. Returns the cache as pages x heads x tokens x elements."""
    return ipt.permute_(cache, (0, 2, 1, 3))


def main():
    if torch is not None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        cache = torch.randn(12, 16, 8, 64, device=device).to(torch.bfloat16)
        before, equal = cache.clone(), torch.equal
    else:
        cache = numpy.random.default_rng(1).random((12, 16, 8, 64)).astype("f2")
        before, equal = cache.copy(), numpy.array_equal
    for page, moved in zip((3, 7), pages_to_hnd(cache, (3, 7))):
        assert moved.shape == (8, 16, 64) and equal(moved, before[page].swapaxes(0, 1))
    assert equal(cache[:3], before[:3])  # the other pages stay
    cache[:] = before
    assert equal(cache_to_hnd(cache), before.swapaxes(1, 2))
    print("kv_pages: right")


if __name__ == "__main__":
    main()
