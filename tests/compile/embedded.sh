#!/bin/sh
# Kernels in a header, for a target without a compiler: the tool generates the header, and a program that includes the
# header runs. Usage, from the repository root: tests/compile/embedded.sh TOOL FOLDER
set -eu
[ $# -eq 2 ] || { echo "usage: tests/compile/embedded.sh TOOL FOLDER"; exit 2; }
tool=$1 folder=$2
mkdir -p "$folder"
cat > "$folder/embedded.action" << 'END'
operand x float 3x1 read planes
operand y float 3x1 read-write
argument float
functions
/* "thirds" on several lines, \ and ??(  */
float third(float x)
{
    return x / 3;
}
action
for (uint i = 0; i < x_ROWS; ++i)
    y(i, 0) += a * third(x(i, 0));
END
"$tool" precompile 1000x777:4 777x1000:4 24x20:4 --action "$folder/embedded.action" --action gemm:float:2x3x4:scaled \
    --embed "$folder/embedded_kernels.h"
# embedded_clX replaces every function of OpenCL except two.
sed -n '/^#define IPT_ENTRY_POINT_LIST/,/^$/s/^ *X([^,]*[ *,]*\(cl[A-Z][A-Za-z]*\),.*/#define embedded_\1 \1/p' ipt.h |
    grep -v -e WithSource -e clGetDeviceInfo > "$folder/embedded_entry_points.h"
for compiler in "gcc -std=c99" "g++ -x c++ -std=c++11"; do
    command -v "${compiler%% *}" > /dev/null || { sh tests/skipped.sh note embedded "${compiler%% *} is not installed"; continue; }
    $compiler -Wall -Wextra -Wpedantic -Werror -I. -Itests/support -I"$folder" -o "$folder/embedded" tests/compile/embedded.c -lOpenCL -lpthread
    "$folder/embedded"
done
