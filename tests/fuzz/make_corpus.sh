# Regenerates the fuzzers' initial inputs with the real writers: ipt's and the tool's, and NumPy for .npy headers. To be run
# from the repository's root after a format has changed.
set -eu
here=tests/fuzz
out=build/fuzz/make
mkdir -p $out
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
for target in cache journal wisdom plan pictures actions; do
    tool=
    [ $target = journal ] && tool="-Dmmap=copied_map -Dmunmap=copied_unmap -Dmsync=copied_sync gen/tool/journal.c gen/tool/system.c gen/tool/text.c"
    [ $target = actions ] && tool="gen/tool/batch_spec.c gen/tool/numbers.c gen/tool/text.c gen/tool/system.c"
    [ $target = pictures ] && tool="gen/tool/netpbm.c gen/tool/exif.c gen/tool/npy.c gen/tool/numbers.c"
    ${CC:-gcc} -std=c99 -O1 -I. -DFUZZ_MAKE_CORPUS -o $out/$target $here/$target.c $tool -ldl -lpthread
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
for folder in $here/corpus/*; do
    echo "$folder: $(ls $folder | wc -l) seeds"
done
