# The CUDA driver: `run.sh quick [CASES] [SEED] [TESTS] [EXECUTIONS]` runs its tests on the stand-in, which computes by an OpenCL
# device; `run.sh real` on the first device of CUDA; `run.sh opencl FOLDER` makes a libOpenCL.so.1 there whose device is that of
# CUDA, for the library's own tests. TESTS is a pattern, EXECUTIONS those of the stress. To be run from the repository's root.
set -eu
unset IPT_DEVICE
mode=${1:-}
cases=${2:-40}
seed=${3:-1}
tests=${4:-*}
executions=${5:-1000}
out=build/cuda
compiler=${CC:-gcc}
flags="-std=gnu11 -O1 -g -Wall -Wextra -Wpedantic -Werror -Wno-deprecated-declarations -I. -Itests/support"
mkdir -p "$out"
case $mode in
quick)
    sh tests/devices/usable.sh build/ipt > "$out/device" 2>&1 || {
        sh tests/skipped.sh note "the CUDA driver" "no OpenCL device, on which the stand-in computes"
        exit 0
    }
    $compiler $flags -fPIC -shared -o "$out/stand_in.so" tests/cuda/stand_in.c -lOpenCL -lpthread
    $compiler $flags -o "$out/cuda" tests/cuda/cuda.c -lcmocka -lpthread -ldl -lm
    IPT_CUDA_LIBRARY="$PWD/$out/stand_in.so" IPT_NVRTC_LIBRARY="$PWD/$out/stand_in.so" IPT_CACHE_DIR=none \
        "$out/cuda" "$cases" "$seed" "$tests" "$executions"
    ;;
real)
    $compiler $flags -o "$out/cuda" tests/cuda/cuda.c -lcmocka -lpthread -ldl -lm
    "$out/cuda" "$cases" "$seed" "$tests" "$executions"
    ;;
opencl)
    mkdir -p "$2"
    $compiler $flags -Wno-unused-function -fPIC -shared -Wl,-soname,libOpenCL.so.1 -o "$2/libOpenCL.so.1" tests/cuda/opencl.c \
        -ldl -lpthread
    ;;
*)
    echo "usage: run.sh quick|real|opencl [CASES|FOLDER] [SEED] [TESTS] [EXECUTIONS]" >&2
    exit 2
    ;;
esac
