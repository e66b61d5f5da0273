# The tree in a folder whose name has a space, an umlaut, $, ' and :, as a user's clone may. Runs the parts that such a name
# can break: the reporting library in LD_PRELOAD, and the compile matrix. Usage, from the repository's root:
# tests/compile/odd_path.sh FOLDER TESTS LIBRARY
set -eu
[ $# -eq 3 ] || { echo "usage: tests/compile/odd_path.sh FOLDER TESTS LIBRARY"; exit 2; }
rm -rf "$1"
odd="$1/ü \$HOME 'q:c"
mkdir -p "$odd/build"
cp -Rp gen tests ipt.h ipt_kernels.h "$2" "$3" "$odd"
cd "$odd"
PATTERNS='told*' sh tests/devices/told.sh "./$(basename "$2")" "$(basename "$3")" gpu-smallest
sh tests/compile/compile_matrix.sh gen/library sample
