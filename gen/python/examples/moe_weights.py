"""Weights of a mixture of experts, E x N x K in a safetensors file, become E x K x N on a GPU that has no room for a second
tensor: the file is read by pieces into the tensor, which is then transposed in its own memory. The same in the file itself.

moe_weights.py [FILE NAME]: by default a small file that it makes and checks. Without PyTorch or a GPU it works on the CPU.
"""
import json
import os
import sys
import tempfile

import ipt
import numpy

try:
    import torch
except ImportError:
    torch = None

PIECE = 64 << 20  # bytes
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "U8": 1, "I8": 1}


def header_of(path):
    """The tensors by name, and the place of their first byte."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length)), 8 + length


def load(path, name):
    """A tensor of the file as bytes, E x N x K x the element's, read by pieces to the GPU if there is one."""
    header, start = header_of(path)
    its = header[name]
    first, end = its["data_offsets"]
    shape = (*its["shape"], BYTES[its["dtype"]])
    on_gpu = torch is not None and torch.cuda.is_available()
    whole = torch.empty(shape, dtype=torch.uint8, device="cuda") if on_gpu else numpy.empty(shape, "u1")
    flat, piece = whole.reshape(-1), numpy.empty(min(PIECE, end - first), "u1")
    with open(path, "rb") as file:
        file.seek(start + first)
        for place in range(0, end - first, PIECE):
            part = piece[:min(PIECE, end - first - place)]
            if file.readinto(part) != part.size:
                raise EOFError(f"{path} is shorter than its header says")
            flat[place:place + part.size] = torch.from_numpy(part) if on_gpu else part
    return whole


def transpose_in_file(path, name):
    """N and K change places in the file, and in its header, whose length stays."""
    header, start = header_of(path)
    its = header[name]
    shape = (*its["shape"], BYTES[its["dtype"]])
    mapped = numpy.memmap(path, "u1", "r+", start + its["data_offsets"][0], shape)
    its["shape"] = ipt.permute_(mapped, (0, 2, 1, 3)).shape[:3]
    mapped.flush()
    with open(path, "r+b") as file:
        file.seek(8)
        file.write(json.dumps(header, separators=(",", ":")).encode().ljust(start - 8))


def check():
    weights = numpy.random.default_rng(1).integers(0, 1 << 16, (4, 48, 80), "u2")
    data = [b"other", weights.tobytes(), b"tensors"]
    header = json.dumps({"experts": {"dtype": "BF16", "shape": weights.shape, "data_offsets": [5, 5 + weights.nbytes]}},
                        separators=(",", ":")).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        with open(path, "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header + b"".join(data))
        result = ipt.permute_(load(path, "experts"), (0, 2, 1, 3))
        result = result.cpu().numpy() if hasattr(result, "cpu") else result
        assert (result.view("u2")[..., 0] == weights.transpose(0, 2, 1)).all()
        transpose_in_file(path, "experts")
        assert header_of(path)[0]["experts"]["shape"] == [4, 80, 48] and load(path, "experts").shape == (4, 80, 48, 2)
        with open(path, "rb") as file:
            assert file.read()[8 + len(header):] == data[0] + result.tobytes() + data[2]
    print("moe_weights: right")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(sys.argv[2], tuple(ipt.permute_(load(*sys.argv[1:]), (0, 2, 1, 3)).shape[:3]))
    else:
        check()
