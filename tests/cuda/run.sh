# The CUDA driver: `run.sh quick [CASES] [SEED] [TESTS] [EXECUTIONS]` runs its tests and the tool's on the stand-in, which
# computes by an OpenCL device, and some of the library's tests in build/cuda/ipt_tests; `run.sh sanitize` its tests under
# clang's sanitizers; `run.sh real` on the first device of CUDA. TESTS is a pattern, EXECUTIONS those of the stress. To be run
# from the repository's root, with the tool in build/ipt.
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
quick | sanitize)
    sh tests/devices/usable.sh build/ipt > "$out/device" 2>&1 || {
        sh tests/skipped.sh note "the CUDA driver" "no OpenCL device, on which the stand-in computes"
        exit 0
    }
    $compiler $flags -fPIC -shared -o "$out/stand_in.so" tests/cuda/stand_in.c -lOpenCL -lpthread
    export IPT_CUDA_LIBRARY="$PWD/$out/stand_in.so" IPT_NVRTC_LIBRARY="$PWD/$out/stand_in.so" IPT_CACHE_DIR=none
    if [ "$mode" = quick ]; then
        $compiler $flags -o "$out/cuda" tests/cuda/cuda.c -lcmocka -lpthread -ldl -lm
        "$out/cuda" "$cases" "$seed" "$tests" "$executions"
        sh tests/cuda/tool.sh build/ipt "$out/tool"
        SUBJECTS=registers sh tests/cuda/suite.sh build/cuda/ipt_tests "$out/suite"
        build/cuda/walk columns quick > "$out/walked" 2> "$out/walked.log" || { cat "$out/walked" "$out/walked.log"; exit 1; }
        tail -n 1 "$out/walked"
        build/drivers 6 3 1 > "$out/drivers" || { cat "$out/drivers"; exit 1; }
        tail -n 1 "$out/drivers"
        exit 0
    fi
    # Neither the stand-in nor OpenCL is instrumented.
    for sanitizer in address,undefined thread; do
        ${CLANG:-clang} -std=gnu11 -O1 -g -fsanitize=$sanitizer -fno-sanitize-recover=all -I. -Itests/support \
            -w -DIPT_NO_NATIVE -o "$out/sanitized" tests/cuda/cuda.c -lcmocka -lpthread -ldl -lm
        ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS="halt_on_error=1" \
            "$out/sanitized" $((cases / 8)) "$seed" "$tests" "$executions"
    done
    echo "cuda: sanitizers passed"
    ;;
real)
    $compiler $flags -o "$out/cuda" tests/cuda/cuda.c -lcmocka -lpthread -ldl -lm
    "$out/cuda" "$cases" "$seed" "$tests" "$executions"
    ;;
*)
    echo "usage: run.sh quick|sanitize|real [CASES] [SEED] [TESTS] [EXECUTIONS]" >&2
    exit 2
    ;;
esac
