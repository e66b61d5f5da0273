#!/bin/sh
# The demonstration of `make demo`. It transposes a picture and a NumPy file in place, compares every result with an
# independent one, and compares the speed with a plain copy on the same device.
# Run it from the repository's root by `make demo`. It writes to build/demo/ only.
set -eu

ipt=build/ipt
out=build/demo
width=1600 height=1067   # the picture
rows=3001 cols=2003      # the NumPy file: both prime, the hardest kind of shape

fail() {
    echo "demo: $*" >&2
    exit 1
}

step() {
    printf '\n== %s\n' "$*"
}

for program in $ipt build/examples/make_picture build/examples/04_rgb_planes; do
    [ -x "$program" ] || fail "$program is missing: run 'make demo' in the repository's root"
done
rm -rf "$out"
mkdir -p "$out"

# NumPy computes the independent results. The first Python on the PATH may lack it.
python=
for candidate in "${PYTHON:-python3}" python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2> /dev/null; then
        python=$candidate
        break
    fi
done

step "The device"
sh tests/devices/usable.sh $ipt || fail "no device can be used"
$ipt devices

step "A picture of $width x $height pixels, transposed in place as a matrix of 3-byte elements"
build/examples/make_picture $width $height "$out/picture.ppm" || fail "make_picture failed"
tail -c $((width * height * 3)) "$out/picture.ppm" > "$out/pixels.raw" # without its header
cp "$out/pixels.raw" "$out/transposed.raw"
$ipt transpose "$out/transposed.raw" --raw "${height}x${width}:3" || fail "the picture was not transposed"
{ printf 'P6\n%d %d\n255\n' $height $width && cat "$out/transposed.raw"; } > "$out/transposed.ppm"
if cmp -s "$out/pixels.raw" "$out/transposed.raw"; then fail "the picture did not change"; fi

cp "$out/transposed.raw" "$out/back.raw"
$ipt transpose "$out/back.raw" --raw "${width}x${height}:3" || fail "the picture was not transposed back"
cmp "$out/pixels.raw" "$out/back.raw" || fail "the picture transposed twice differs from the original"
echo "Transposed twice, the picture equals the original, byte for byte."
if [ -n "$python" ]; then
    "$python" - "$out/pixels.raw" "$out/transposed.raw" $height $width << 'END' || fail "NumPy's transposed picture differs"
import sys, numpy
before, after = (numpy.fromfile(name, numpy.uint8) for name in sys.argv[1:3])
rows, cols = map(int, sys.argv[3:])
sys.exit(not numpy.array_equal(after.reshape(cols, rows, 3), before.reshape(rows, cols, 3).swapaxes(0, 1)))
END
    echo "The transposed picture equals NumPy's result, byte for byte."
fi
rm "$out/pixels.raw" "$out/transposed.raw" "$out/back.raw"

step "The pixels to three colour planes and back, in place, with red and blue swapped in between"
build/examples/04_rgb_planes "$out/picture.ppm" "$out/swapped.ppm" || fail "the example 04_rgb_planes failed"

if [ -n "$python" ]; then
    step "A NumPy file of $rows x $cols float64"
    "$python" - "$out/matrix.npy" $rows $cols << 'END' || fail "NumPy did not write its file"
import sys, numpy
rows, cols = map(int, sys.argv[2:])
numpy.save(sys.argv[1], numpy.random.default_rng(1).standard_normal((rows, cols)))
END
    cp "$out/matrix.npy" "$out/transposed.npy"
    $ipt transpose "$out/transposed.npy" || fail "the NumPy file was not transposed"
    "$python" - "$out/matrix.npy" "$out/transposed.npy" << 'END' || fail "NumPy's transposed matrix differs"
import sys, numpy
before, after = map(numpy.load, sys.argv[1:])
sys.exit(not numpy.array_equal(after, before.swapaxes(0, 1)))
END
    echo "NumPy loads the result, which equals NumPy's own transpose of the original."
    rm "$out/matrix.npy"
fi

step "The speed, against a plain copy on the same OpenCL device"
: > "$out/speeds.txt"
# Three kinds of shape: with many divisors, prime in both directions, long and narrow.
shapes="4096x3072:4 4099x3079:4 2000003x7:4"
IPT_DEVICE=${IPT_DEVICE:-opencl} $ipt devices > /dev/null 2>&1 || {
    shapes=
    echo "Skipped: there is no OpenCL device." | tee "$out/speeds.txt"
}
for shape in $shapes; do
    $ipt bench $shape > "$out/bench.txt" || fail "the measurement of $shape failed"
    cat "$out/bench.txt"
    awk -v shape="${shape%:*}" '
        /^in place / { speed = $(NF - 1) }
        /^ratio / { part = sprintf(", %.0f %% of the speed of a plain copy", 100 * $5) }
        END { if (speed == "") exit 1; printf "  %s floats: %.1f GB/s%s\n", shape, speed, part }
    ' "$out/bench.txt" >> "$out/speeds.txt" || fail "the measurement of $shape cannot be read"
    rm "$out/bench.txt"
done

step "Summary"
echo "ipt transposed a picture of $width x $height pixels in place. Every byte is correct."
echo "ipt converted the pixels to colour planes and, with red and blue swapped, back to pixels."
if [ -n "$python" ]; then
    echo "ipt transposed a NumPy file of $rows x $cols numbers in place. NumPy confirms every one."
else
    echo "The NumPy file was skipped: no Python with NumPy was found (on Debian and Ubuntu, install python3-numpy)."
fi
echo "The speed in bytes read and written per second, with the data in device memory:"
cat "$out/speeds.txt"
echo "View the pictures $out/picture.ppm, $out/transposed.ppm and $out/swapped.ppm."
