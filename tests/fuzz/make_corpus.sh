# Regenerates the fuzzers' initial inputs with the real writers: ipt's and the tool's, NumPy for .npy headers, Pillow for
# encoded pictures. Run it from the repository's root after a format has changed.
set -eu
here=tests/fuzz
out=build/fuzz/make
mkdir -p $out
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
for target in cache journal wisdom plan pictures encoded words actions; do
    tool=
    [ $target = journal ] && tool="-Dmmap=copied_map -Dmunmap=copied_unmap -Dmsync=copied_sync gen/tool/store/journal.c gen/tool/base/system.c gen/tool/base/text.c"
    [ $target = cache ] && tool="tests/support/fake_cl.c"
    [ $target = actions ] && tool="gen/tool/command/batch_spec.c gen/tool/base/numbers.c gen/tool/base/text.c gen/tool/base/system.c"
    [ $target = pictures ] && tool="gen/tool/picture/netpbm.c gen/tool/picture/exif.c gen/tool/npy/npy.c gen/tool/base/numbers.c"
    [ $target = encoded ] && tool="gen/tool/picture/stb.c gen/tool/picture/picture.c gen/tool/picture/picture_check.c gen/tool/picture/jpeg_check.c"
    [ $target = words ] && tool="gen/tool/command/command_line.c gen/tool/command/same_files.c gen/tool/command/options.c gen/tool/base/axes.c gen/tool/base/shape.c gen/tool/bench/bench_shapes.c gen/tool/bench/bench_result.c gen/tool/command/batch_spec.c gen/tool/base/numbers.c gen/tool/base/text.c gen/tool/base/system.c gen/tool/offline/offline_target.c gen/tool/offline/offline_ptx.c"
    ${CC:-gcc} -std=c99 -O1 -DIPT_NO_NATIVE -I. -DFUZZ_MAKE_CORPUS -o $out/$target $here/$target.c $tool -ldl -lpthread
    rm -rf $here/corpus/$target
    mkdir -p $here/corpus/$target
    $out/$target $here/corpus/$target
done
rm -rf $here/corpus/npy
mkdir -p $here/corpus/npy
${PYTHON:-/usr/bin/python3} - $here/corpus/npy << 'END'
import io, struct, sys, warnings
import numpy
from numpy.lib import format
warnings.simplefilter("ignore")

def write(name, text):
    with open(sys.argv[1] + "/" + name, "wb") as file:
        file.write(text)

def seed(name, dtype, shape, fortran=False, version=(1, 0)):
    file = io.BytesIO()
    array = numpy.lib.stride_tricks.as_strided(numpy.zeros(1, dtype), shape, [0] * len(shape))
    header = format.header_data_from_array_1_0(array)
    header["fortran_order"] = fortran
    file.write(format.magic(*version))
    text = repr(header).encode("utf-8")
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text) + 1)
    file.write(length + text + b"\n")
    write(name, file.getvalue())

def whole(name, array):
    file = io.BytesIO()
    numpy.save(file, array)
    write(name, file.getvalue())

whole("saved", numpy.arange(6, dtype="<f4").reshape(2, 3))
whole("saved_fortran", numpy.asfortranarray(numpy.arange(12, dtype=">i2").reshape(3, 4)))
for kind in "?", "i1", "<u8", ">f8", "c16", "f16", "S5", "U7", "V3", "<M8[ns]", "m8[25us]":
    seed("type_" + "".join(c for c in kind if c.isalnum()), kind, (3, 40))
seed("structured", [("a", "<i4"), ("b", "f8", (2, 3)), (("title", "c"), "S3")], (5, 7))
seed("nested", [("a", [("b", "u1"), ("c", [("d", "<f2", 4)])])], (9, 11), version=(2, 0))
seed("names", [("\u00e4", "<i4")], (2, 2), version=(3, 0))
seed("three", "f4", (2, 3, 400), fortran=True)
seed("one", "f4", (9,))
seed("none", "f4", ())
seed("empty", "f4", (3, 0, 5))
seed("many", "u1", (1,) * 32)
seed("large", "u1", (2 ** 31, 2 ** 31 - 1), version=(2, 0))
for name, text in (("python_2", b"{u'descr': '<f4', u'fortran_order': False, u'shape': (3L, 40L), }\n"),
                   ("too_large", b"{'descr': '<f8', 'fortran_order': True, 'shape': (4294967296, 4294967296), }\n"),
                   ("objects", b"{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }\n")):
    write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
END
${PYTHON:-/usr/bin/python3} - $here/corpus/encoded << 'END'
import io, random, struct, sys
from PIL import Image

kinds = ["png", "jpeg", "bmp", "tga"]  # in the target's order
random.seed(1)

def seed(kind, name, picture, **options):
    file = io.BytesIO()
    picture.save(file, kind, **options)
    with open(sys.argv[1] + "/" + kind + "_" + name, "wb") as out:
        out.write(bytes([kinds.index(kind)]) + file.getvalue())

def noise(mode, width, height):
    if mode == "I;16":
        return Image.frombytes(mode, (width, height), bytes(random.choices(range(256), k=2 * width * height)))
    colours = Image.frombytes("RGBA", (width, height), bytes(random.choices(range(0, 256, 51), k=4 * width * height)))
    return colours.quantize(7) if mode == "P" else colours.convert(mode)

for mode in "1", "L", "LA", "P", "RGB", "RGBA", "I;16":
    seed("png", mode.replace(";", ""), noise(mode, 9, 5))
seed("png", "few_bits", noise("P", 9, 5), bits=4)
seed("png", "transparent", noise("L", 9, 5), transparency=51)
seed("png", "transparent_palette", noise("P", 9, 5), transparency=bytes([0, 99]))
seed("png", "one", noise("RGB", 1, 1))
for mode in "L", "RGB", "CMYK":
    seed("jpeg", mode, noise(mode, 18, 9), quality=30)
    seed("jpeg", mode + "_progressive", noise(mode, 18, 9), quality=30, progressive=True)
for subsampling in 0, 1, 2:
    seed("jpeg", "sampling_%d" % subsampling, noise("RGB", 17, 17), quality=30, subsampling=subsampling)
seed("jpeg", "restarts", noise("L", 33, 9), quality=30, restart_marker_blocks=2)
seed("jpeg", "optimised", noise("RGB", 9, 9), quality=30, optimize=True)
for mode in "1", "L", "P", "RGB", "RGBA":
    seed("bmp", mode, noise(mode, 5, 3))
for mode in "L", "LA", "P", "RGB", "RGBA":
    seed("tga", mode, noise(mode, 9, 3))
    seed("tga", mode + "_packed", Image.new(mode, (9, 3), 51 if mode in "LP" else None), compression="tga_rle")
END
for folder in $here/corpus/*; do
    echo "$folder: $(ls $folder | wc -l) seeds"
done
