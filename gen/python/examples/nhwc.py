"""A batch of pictures, NHWC as decoders write it, becomes NCHW for a network, in the same memory: bytes first, so that the
conversion to floats reads them in the network's order. Without PyTorch or a GPU it works on the CPU."""
import ipt
import numpy

try:
    import torch
except ImportError:
    torch = None


def to_nchw(pictures):
    return ipt.permute_(pictures, (0, 3, 1, 2))


def main():
    pictures = numpy.random.default_rng(1).integers(0, 256, (8, 120, 160, 3), "u1")
    expected = pictures.transpose(0, 3, 1, 2).copy()
    if torch is not None:
        batch = torch.from_numpy(pictures).to("cuda" if torch.cuda.is_available() else "cpu")
        planes = to_nchw(batch)
        assert planes.is_contiguous() and planes.data_ptr() == batch.data_ptr()
        inputs = planes.float() / 255  # on CUDA behind ipt's work, on the same stream
        assert torch.equal((inputs * 255).round().to(torch.uint8).cpu(), torch.from_numpy(expected))
    else:
        planes = to_nchw(pictures)
        assert planes.flags.c_contiguous and numpy.shares_memory(planes, pictures) and (planes == expected).all()
    print("nhwc: right")


if __name__ == "__main__":
    main()
