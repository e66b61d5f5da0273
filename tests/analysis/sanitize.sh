# The library under sanitizers: `sanitize.sh [PART...]`, to be run from the repository's root. By default all parts:
#   address   the tests on the OpenCL stub, with clang's address and undefined behaviour sanitizers
#   threads   the tests with several threads, with clang's thread sanitizer: data races, inverted lock sequences
#   memory    misuse, and calls that fail in turn (every 16th), under valgrind, which also detects uninitialised reads
#   device    tests on a device (PoCL), with the address and undefined behaviour sanitizers
# SOURCES names another folder with ipt.h and ipt_kernels.h. Fails if any part fails; build/sanitize has the logs.
set -u
out=build/sanitize
failed=0
clang=${CLANG:-$(command -v clang)} || { echo "no clang is installed" >&2; exit 2; }
# Dwarf 4: valgrind 3.19 cannot read all of clang's default format.
flags="-std=c99 -O1 -g -gdwarf-4 -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -I${SOURCES:-.} -I. -Itests/support"
address="-fsanitize=address,undefined -fno-sanitize-recover=all"
stub="test expect folders meter fake_cl test_trust test_misuse test_threads"
device="test expect folders process meter test_plan test_execution test_host test_cut test_cache"
TMPDIR=$(mktemp -d) || exit 2
IPT_CACHE_DIR=
export TMPDIR IPT_CACHE_DIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM

# build NAME FLAGS FILE...: a program of these files and tests/analysis/sanitize_main.c, two files at a time.
build() {
    name=$1
    own=$2
    shift 2
    mkdir -p $out/$name
    for file in sanitize_main "$@"; do
        echo $file
    done | xargs -P 2 -I FILE sh -c "$clang $flags $own -DIPT_NO_NATIVE -c -o $out/$name/FILE.o tests/*/FILE.c" || return 1
    objects=$out/$name/sanitize_main.o
    for file in "$@"; do
        objects="$objects $out/$name/$file.o"
    done
    $clang $own -o $out/$name/tests $objects -lcmocka -lOpenCL -ldl -lpthread -lm
}

# check NAME SECONDS COMMAND...: prints the result and the first error.
check() {
    name=$1
    seconds=$2
    log=$out/$1.log
    shift 2
    begun=$(date +%s)
    timeout $seconds "$@" > $log 2>&1
    code=$?
    printf '%-8s %4d tests good, %4d s: ' $name $(grep -c '^\[       OK \]' $log) $(($(date +%s) - begun))
    if [ $code -eq 0 ]; then
        echo good
        return
    fi
    [ $code -ne 124 ] || echo "no end within $seconds s" >> $log
    echo "failed, see $log"
    grep -m 12 -E 'Sanitizer|runtime error|ERROR|LINE|fake OpenCL|definitely lost|no end within|^ *#[0-5] ' $log
    failed=1
}

part() {
    case $1 in
    address)
        build address "$address" $stub || exit 2
        ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 check address 240 $out/address/tests
        ;;
    threads)
        build threads -fsanitize=thread $stub || exit 2
        TSAN_OPTIONS=halt_on_error=1:detect_deadlocks=1:second_deadlock_stack=1 \
            check threads 120 $out/threads/tests 'threads*'
        ;;
    memory)
        build memory "" $stub || exit 2
        check memory-m 180 valgrind -q --leak-check=full --error-exitcode=9 $out/memory/tests 'misuse*'
        IPT_TEST_STRIDE=16 check memory-t 180 valgrind -q --leak-check=full --error-exitcode=9 \
            $out/memory/tests trust_each_call_fails
        ;;
    device)
        build device "$address -DSANITIZE_DEVICE" $device || exit 2
        ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=tests/analysis/sanitize.supp:print_suppressions=0 \
            check device 300 $out/device/tests '-cut_?e*' # without cut_memory, which measures, and cut_resume, which takes minutes
        ;;
    *)
        echo "$1 is none of: address threads memory device" >&2
        exit 2
        ;;
    esac
}

[ $# -gt 0 ] || set -- address threads memory device
for name in "$@"; do
    part $name
done
exit $failed
