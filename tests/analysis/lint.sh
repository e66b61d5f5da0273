# clang's OpenCL lint over every kernel for every class of parameters. Arguments: the program that writes the texts, a folder.
# CLANG in the environment selects a clang, from 14 up; the default is `clang`.
set -eu
clang=${CLANG:-clang}
command -v "$clang" > /dev/null || { sh tests/skipped.sh note check-lint "$clang is not installed"; exit 0; }
rm -rf "$2"
mkdir -p "$2"
count=$("$1" "$2")
# One compiler process lints many texts, because starting it takes longer than the lint. All classes of a kernel have
# one argument list, so a class may leave an argument unused.
headers=$("$clang" -print-resource-dir)/include
lint() { # the target, the standard, then find's condition
    triple=$1 standard=$2
    shift 2
    find "$folder" "$@" -print0 | xargs -0 -n 100 -P 2 "$clang" -cc1 -triple "$triple" -x cl "-cl-std=$standard" \
        -cl-ext=+cl_khr_subgroups,+cl_khr_fp16 -Dcl_intel_subgroups -fdeclare-opencl-builtins -finclude-default-header \
        -internal-isystem "$headers" -Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter -fsyntax-only
}
folder=$2
lint spir64 CL1.2 -name '*.cl' ! -name '*_later.cl' ! -name '*_ptx.cl'
lint nvptx64 CL1.2 -name '*_ptx.cl'
lint spir64 CL2.0 -name '*_later.cl'
lint spir64 CL3.0 -name '*_later.cl'
# As CUDA C++: every text that a device of NVIDIA may have. EACH in the environment: one of so many texts.
find "$folder" -name '*_ptx.cl' | sort | awk "NR % ${EACH:-8} == 0" > "$folder/cuda"
xargs -a "$folder/cuda" -n 100 -P 2 "$clang" -cc1 -triple nvptx64-nvidia-cuda -aux-triple x86_64-unknown-linux-gnu -x cuda \
    -fcuda-is-device -std=c++20 -w -include tests/cuda/clang.cuh -include gen/kernels/parts/cuda.cl -fsyntax-only
# As HIP, for AMD's GPUs with sub-groups of 64 and of 32: syntax only, ipt has no driver for it.
find "$folder" -name '*.cl' ! -name '*_ptx.cl' -print0 | xargs -0 grep -L '^#define IPT_SUB_GROUP 3' | sort |
    awk "NR % $((${EACH:-8} * 10)) == 0" > "$folder/hip"
hip() { # a processor
    xargs -a "$folder/hip" -n 100 -P 2 "$clang" -cc1 -triple amdgcn-amd-amdhsa -aux-triple x86_64-unknown-linux-gnu -x hip \
        -target-cpu "$1" -fcuda-is-device -std=c++20 -w -include tests/cuda/hip.cuh -include gen/kernels/parts/cuda.cl -fsyntax-only
}
hip gfx90a
if echo | "$clang" -cc1 -triple amdgcn-amd-amdhsa -target-cpu gfx1100 -x c -fsyntax-only - 2> /dev/null; then hip gfx1100; else hip gfx1030; fi
echo "lint: $count specialised kernels passed, $(wc -l < "$folder/cuda") of them as CUDA C++, and $(wc -l < "$folder/hip") as HIP"
